// Conversions and packs, against bit patterns.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

#include "arbench/port.hpp"

namespace arbench {
namespace {

TEST(F16, RoundsToNearestEven) {
  EXPECT_EQ(from_float<F16>(1.0f).bits, 0x3c00);
  EXPECT_EQ(from_float<F16>(-2.0f).bits, 0xc000);
  EXPECT_EQ(from_float<F16>(1.00048828125f).bits, 0x3c00);  // half way, down to even
  EXPECT_EQ(from_float<F16>(1.00146484375f).bits, 0x3c02);  // half way, up to even
  EXPECT_EQ(from_float<F16>(65519.0f).bits, 0x7bff);
  EXPECT_EQ(from_float<F16>(65520.0f).bits, 0x7c00);
  EXPECT_EQ(from_float<F16>(-0.0f).bits, 0x8000);
}

TEST(F16, KeepsSubnormals) {
  EXPECT_EQ(from_float<F16>(0x1p-24f).bits, 0x0001);
  EXPECT_EQ(from_float<F16>(0x1p-25f).bits, 0x0000);    // half way, down to even
  EXPECT_EQ(from_float<F16>(0x1.8p-24f).bits, 0x0002);  // half way, up to even
  EXPECT_EQ(from_float<F16>(0x1.ff8p-15f).bits, 0x03ff);
  EXPECT_EQ(to_float(F16{0x0001}), 0x1p-24f);
  EXPECT_EQ(to_float(F16{0x83ff}), -0x1.ff8p-15f);
}

TEST(BF16, RoundsToNearestEven) {
  EXPECT_EQ(from_float<BF16>(1.0f).bits, 0x3f80);
  EXPECT_EQ(from_float<BF16>(1.00390625f).bits, 0x3f80);  // half way, down to even
  EXPECT_EQ(from_float<BF16>(1.01171875f).bits, 0x3f82);  // half way, up to even
  EXPECT_EQ(from_float<BF16>(257.0f).bits, 0x4380);       // 256
  EXPECT_EQ(from_float<BF16>(std::numeric_limits<float>::max()).bits, 0x7f80);
}

TEST(Conversions, KeepNaNAndInfinity) {
  EXPECT_TRUE(std::isnan(to_float(from_float<F16>(std::nanf("")))));
  EXPECT_TRUE(std::isnan(to_float(from_float<BF16>(float_of(0x7f800001)))));
  EXPECT_EQ(from_float<F16>(-INFINITY).bits, 0xfc00);
  EXPECT_EQ(from_float<BF16>(-INFINITY).bits, 0xff80);
}

TEST(Conversions, EveryPatternComesBack) {
  for (unsigned bits = 0; bits < 65536; ++bits) {
    const F16 half{static_cast<std::uint16_t>(bits)};
    const BF16 brain{static_cast<std::uint16_t>(bits)};
    if (!std::isnan(to_float(half))) {
      ASSERT_EQ(from_float<F16>(to_float(half)).bits, bits);
    }
    if (!std::isnan(to_float(brain))) {
      ASSERT_EQ(from_float<BF16>(to_float(brain)).bits, bits);
    }
  }
}

/// 256 + 1 + 1 is 258 when rounded once; rounding after each add would stay at 256.
TEST(Sum, RoundsOnce) {
  const BF16 large[8] = {{0x4380}}, one[8] = {{0x3f80}};
  Sum<BF16> sum(load_pack<BF16>(large, 0, 1));
  sum.add(load_pack<BF16>(one, 0, 1));
  sum.add(load_pack<BF16>(one, 0, 1));
  EXPECT_EQ(sum.rounded().word[0], 0x4381u);
}

TEST(Packs, CountThePartialOne) {
  EXPECT_EQ(packs_of<BF16>(0), 0u);
  EXPECT_EQ(packs_of<BF16>(8), 1u);
  EXPECT_EQ(packs_of<BF16>(9), 2u);
  EXPECT_EQ(packs_of<float>(5), 2u);
}

TEST(Packs, TailReadsZerosAndWritesNothingBehind) {
  alignas(16) std::array<BF16, 16> from{}, to{};
  for (int i = 0; i < 16; ++i) from[i].bits = static_cast<std::uint16_t>(i + 1);
  const Pack tail = load_pack<BF16>(from.data(), 1, 11);  // elements 8, 9 and 10
  EXPECT_EQ(tail.word[0], 0x000a0009u);
  EXPECT_EQ(tail.word[1], 0x0000000bu);
  EXPECT_EQ(tail.word[2], 0u);
  to.fill({0xeeee});
  store_pack<BF16>(to.data(), 1, 11, tail);
  EXPECT_EQ(to[7].bits, 0xeeee);
  EXPECT_EQ(to[8].bits, 9);
  EXPECT_EQ(to[10].bits, 11);
  EXPECT_EQ(to[11].bits, 0xeeee);
}

}  // namespace
}  // namespace arbench
