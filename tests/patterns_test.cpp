// The data that verification uses, and how far it lets a sum be off.
#include "patterns.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace arbench {
namespace {

template <class T>
class Patterns : public testing::Test {};
using Dtypes = testing::Types<float, F16, BF16>;
TYPED_TEST_SUITE(Patterns, Dtypes);

TEST(Ulp, IsTheDistanceOfNeighbours) {
  EXPECT_EQ(ulp_at<float>(1.0), 0x1p-23);
  EXPECT_EQ(ulp_at<F16>(1.0), 0x1p-10);
  EXPECT_EQ(ulp_at<BF16>(1.0), 0x1p-7);
  EXPECT_EQ(ulp_at<BF16>(-1.999), 0x1p-7);
  EXPECT_EQ(ulp_at<BF16>(2.0), 0x1p-6);
  // Subnormal numbers are equally far apart.
  EXPECT_EQ(ulp_at<float>(0.0), 0x1p-149);
  EXPECT_EQ(ulp_at<F16>(0x1p-20), 0x1p-24);
  EXPECT_EQ(ulp_at<BF16>(0x1p-130), 0x1p-133);
}

TEST(LegalError, IsHalfAUnitPerAdditionOrARoundingAtTheEnd) {
  EXPECT_EQ(legal_error<BF16>(1.0, 2, false), 0x1p-8);
  EXPECT_EQ(legal_error<BF16>(-1.0, 8, false), 7 * 0x1p-8);
  EXPECT_EQ(legal_error<BF16>(1.0, 2, true), 0x1p-8 + 0x1p-24);
  EXPECT_EQ(legal_error<F16>(1.0, 8, true), 0x1p-11 + 7 * 0x1p-24);
  EXPECT_EQ(legal_error<float>(1.0, 8, true), 7 * 0x1p-24);
  EXPECT_EQ(legal_error<float>(1.0, 8, false), 7 * 0x1p-24);
  EXPECT_EQ(legal_error<BF16>(1.9, 2, false), 0x1p-7);  // a partial sum may pass 2
}

TYPED_TEST(Patterns, RandomDataDoNotCancelAndDifferByRankPositionAndSalt) {
  int negative = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const float first = input_value<TypeParam>(0, i, {7, Data::random, 8});
    EXPECT_NE(first, 0);
    EXPECT_LE(std::abs(first), 1);
    for (int rank = 1; rank < 8; ++rank)
      EXPECT_EQ(std::signbit(first),
                std::signbit(input_value<TypeParam>(rank, i, {7, Data::random, 8})));
    negative += first < 0;
  }
  EXPECT_GT(negative, 400);
  EXPECT_LT(negative, 600);
  const float one = input_value<TypeParam>(0, 3, {7, Data::random, 8});
  EXPECT_NE(one, input_value<TypeParam>(1, 3, {7, Data::random, 8}));
  EXPECT_NE(one, input_value<TypeParam>(0, 4, {7, Data::random, 8}));
  EXPECT_NE(one, input_value<TypeParam>(0, 3, {8, Data::random, 8}));
}

/// Any order of adding is legal, whether it rounds after each addition or once, and a sum that lacks a rank is not.
TYPED_TEST(Patterns, LegalErrorsAllowAnyOrderAndNoMissingRank) {
  const auto rounded = [](float x) { return to_float(from_float<TypeParam>(x)); };
  int caught = 0;
  for (std::uint64_t i = 0; i < 4000; ++i) {
    const Pattern pattern{11, Data::random, 8};
    const double exact = sum_of_inputs<TypeParam>(i, 8, pattern);
    float once = 0, forwards = 0, backwards = 0, lacking = 0;
    for (int k = 0; k < 8; ++k) {
      once += input_value<TypeParam>(k, i, pattern);
      forwards = rounded(forwards + input_value<TypeParam>(k, i, pattern));
      backwards = rounded(backwards + input_value<TypeParam>(7 - k, i, pattern));
      if (k != 5) lacking += input_value<TypeParam>(k, i, pattern);
    }
    EXPECT_LE(std::abs(rounded(once) - exact), legal_error<TypeParam>(exact, 8, true));
    EXPECT_LE(std::abs(forwards - exact), legal_error<TypeParam>(exact, 8, false));
    EXPECT_LE(std::abs(backwards - exact), legal_error<TypeParam>(exact, 8, false));
    caught += std::abs(rounded(lacking) - exact) > legal_error<TypeParam>(exact, 8, false);
  }
  EXPECT_GT(caught, 3600);
}

bool same(float a, float b) { return a == b || (std::isnan(a) && std::isnan(b)); }

TYPED_TEST(Patterns, SpecialDataHaveOneSumInEveryOrder) {
  const auto rounded = [](float x) { return to_float(from_float<TypeParam>(x)); };
  int infinite = 0, nan = 0, zero = 0, subnormal = 0;
  const double least = std::ldexp(1.0, Format<TypeParam>::kLeastExponent);
  for (const int ranks : {2, 3, 5, 8})
    for (std::uint64_t i = 0; i < 1000; ++i) {
      const Pattern pattern{5, Data::special, ranks};
      const float wanted = rounded(static_cast<float>(sum_of_inputs<TypeParam>(i, ranks, pattern)));
      float once = input_value<TypeParam>(0, i, pattern), forwards = once;
      float backwards = input_value<TypeParam>(ranks - 1, i, pattern);
      for (int k = 1; k < ranks; ++k) {
        const float value = input_value<TypeParam>(k, i, pattern);
        EXPECT_TRUE(same(value, rounded(value))) << value;
        once += value;
        forwards = rounded(forwards + value);
        backwards = rounded(backwards + input_value<TypeParam>(ranks - 1 - k, i, pattern));
      }
      for (const float sum : {rounded(once), forwards, backwards})
        EXPECT_TRUE(same(sum, wanted)) << "position " << i << ": " << sum << " not " << wanted;
      infinite += std::isinf(wanted);
      nan += std::isnan(wanted);
      zero += wanted == 0;
      subnormal += wanted != 0 && std::abs(wanted) < least;
    }
  for (const int count : {infinite, nan, zero, subnormal}) EXPECT_GT(count, 400);
}

TEST(Hash, TellsElementsAndTheirPlacesApart) {
  EXPECT_NE(hash_of(1, 0), hash_of(2, 0));
  EXPECT_NE(hash_of(1, 0), hash_of(1, 1));
  EXPECT_NE(hash_of(1, 0) + hash_of(2, 1), hash_of(2, 0) + hash_of(1, 1));
  EXPECT_NE(hash_of(0, 0), 0u);
}

}  // namespace
}  // namespace arbench
