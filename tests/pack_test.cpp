// Conversions and sums bit by bit, against patterns written down by hand.
#include "arbench/pack.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>

namespace arbench {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::uint16_t f16(float value) { return from_float<F16>(value).bits; }
std::uint16_t bf16(float value) { return from_float<BF16>(value).bits; }
float of_f16(int bits) { return to_float(F16{static_cast<std::uint16_t>(bits)}); }
float of_bf16(int bits) { return to_float(BF16{static_cast<std::uint16_t>(bits)}); }

using PackWords = std::array<std::uint32_t, 4>;
PackWords words(const Pack& pack) {
  return {pack.word[0], pack.word[1], pack.word[2], pack.word[3]};
}

TEST(F16, BecomesTheFloatOfItsBits) {
  EXPECT_EQ(of_f16(0x3c00), 1.0f);
  EXPECT_EQ(of_f16(0xc000), -2.0f);
  EXPECT_EQ(of_f16(0x3555), 0.333251953125f);
  EXPECT_EQ(of_f16(0x7bff), 65504.0f);
  EXPECT_EQ(of_f16(0x0400), 0x1p-14f);
  EXPECT_EQ(of_f16(0x03ff), 0x1.ff8p-15f);
  EXPECT_EQ(of_f16(0x0001), 0x1p-24f);
  EXPECT_EQ(of_f16(0x8001), -0x1p-24f);
  EXPECT_EQ(of_f16(0x7c00), kInfinity);
  EXPECT_EQ(of_f16(0xfc00), -kInfinity);
  EXPECT_TRUE(std::isnan(of_f16(0x7c01)));
  EXPECT_TRUE(std::isnan(of_f16(0xffff)));
}

TEST(F16, RoundsToNearestAndTiesToEven) {
  EXPECT_EQ(f16(1.0f), 0x3c00);
  EXPECT_EQ(f16(2048.0f), 0x6800);
  EXPECT_EQ(f16(2049.0f), 0x6800);
  EXPECT_EQ(f16(2049.002f), 0x6801);
  EXPECT_EQ(f16(2050.0f), 0x6801);
  EXPECT_EQ(f16(2051.0f), 0x6802);
  EXPECT_EQ(f16(-2051.0f), 0xe802);
  EXPECT_EQ(f16(0x1.ffdp0f), 0x3fff);
  EXPECT_EQ(f16(0x1.ffep0f), 0x4000);
}

TEST(F16, RoundsSubnormals) {
  EXPECT_EQ(f16(0x1p-14f), 0x0400);
  EXPECT_EQ(f16(0x1.ff8p-15f), 0x03ff);
  EXPECT_EQ(f16(0x1.ffcp-15f), 0x0400);  // a tie that becomes the least normal number
  EXPECT_EQ(f16(0x1p-24f), 0x0001);
  EXPECT_EQ(f16(0x1.8p-24f), 0x0002);
  EXPECT_EQ(f16(0x1.4p-23f), 0x0002);
  EXPECT_EQ(f16(0x1p-25f), 0x0000);
  EXPECT_EQ(f16(0x1.000002p-25f), 0x0001);
  EXPECT_EQ(f16(-0x1p-24f), 0x8001);
  EXPECT_EQ(f16(0x1p-149f), 0x0000);
}

TEST(F16, OverflowsFrom65520On) {
  EXPECT_EQ(f16(65504.0f), 0x7bff);
  EXPECT_EQ(f16(65519.996f), 0x7bff);
  EXPECT_EQ(f16(65520.0f), 0x7c00);
  EXPECT_EQ(f16(-65520.0f), 0xfc00);
  EXPECT_EQ(f16(3.4028235e38f), 0x7c00);
  EXPECT_EQ(f16(kInfinity), 0x7c00);
  EXPECT_EQ(f16(-kInfinity), 0xfc00);
}

TEST(BF16, BecomesTheFloatOfItsBits) {
  EXPECT_EQ(of_bf16(0x3f80), 1.0f);
  EXPECT_EQ(of_bf16(0xc000), -2.0f);
  EXPECT_EQ(of_bf16(0x7f7f), 0x1.fep127f);
  EXPECT_EQ(of_bf16(0x0001), 0x1p-133f);
  EXPECT_EQ(of_bf16(0xff80), -kInfinity);
  EXPECT_TRUE(std::isnan(of_bf16(0x7f81)));
}

TEST(BF16, RoundsToNearestAndTiesToEven) {
  EXPECT_EQ(bf16(1.0f), 0x3f80);
  EXPECT_EQ(bf16(256.0f), 0x4380);
  EXPECT_EQ(bf16(257.0f), 0x4380);
  EXPECT_EQ(bf16(257.00003f), 0x4381);
  EXPECT_EQ(bf16(258.0f), 0x4381);
  EXPECT_EQ(bf16(259.0f), 0x4382);
  EXPECT_EQ(bf16(-259.0f), 0xc382);
  EXPECT_EQ(bf16(0x1.ffp0f), 0x4000);
}

TEST(BF16, RoundsSubnormalsAndOverflows) {
  EXPECT_EQ(bf16(0x1p-126f), 0x0080);
  EXPECT_EQ(bf16(0x1p-133f), 0x0001);
  EXPECT_EQ(bf16(0x1p-134f), 0x0000);
  EXPECT_EQ(bf16(0x1.8p-133f), 0x0002);
  EXPECT_EQ(bf16(0x1.fefffep127f), 0x7f7f);
  EXPECT_EQ(bf16(0x1.ffp127f), 0x7f80);
  EXPECT_EQ(bf16(-kInfinity), 0xff80);
}

TEST(Conversions, KeepTheSignOfZero) {
  EXPECT_EQ(f16(0.0f), 0x0000);
  EXPECT_EQ(f16(-0.0f), 0x8000);
  EXPECT_EQ(f16(-0x1p-26f), 0x8000);
  EXPECT_EQ(bf16(-0.0f), 0x8000);
  EXPECT_EQ(bits_of(of_f16(0x8000)), 0x80000000u);
  EXPECT_EQ(bits_of(of_bf16(0x8000)), 0x80000000u);
}

TEST(Conversions, LeaveANanANan) {
  EXPECT_EQ(f16(std::numeric_limits<float>::quiet_NaN()), 0x7fff);
  EXPECT_EQ(bf16(std::numeric_limits<float>::quiet_NaN()), 0x7fff);
  EXPECT_EQ(f16(float_of(0x7f800001u)), 0x7fff);  // its payload is in the bits that are cut off
  EXPECT_EQ(bf16(float_of(0x7f800001u)), 0x7fff);
  EXPECT_EQ(bf16(float_of(0xffffffffu)), 0x7fff);
}

TEST(Conversions, GiveBackAllPatterns) {
  for (int bits = 0; bits <= 0xffff; ++bits) {
    const bool f16_nan = (bits & 0x7fff) > 0x7c00, bf16_nan = (bits & 0x7fff) > 0x7f80;
    EXPECT_EQ(f16(of_f16(bits)), f16_nan ? 0x7fff : bits);
    EXPECT_EQ(bf16(of_bf16(bits)), bf16_nan ? 0x7fff : bits);
    EXPECT_EQ(std::isnan(of_f16(bits)), f16_nan) << bits;
    EXPECT_EQ(std::isnan(of_bf16(bits)), bf16_nan) << bits;
  }
}

TEST(Sum, RoundsOnce) {
  // 2048 + 1 + 1 = 2050; rounded after each addition it would stay 2048. With bf16: 256, 258.
  Sum<F16> f16_sum(Pack{{0x68006800u, 0, 0, 0x00006800u}});
  Sum<BF16> bf16_sum(Pack{{0x43804380u, 0, 0, 0x00004380u}});
  for (int i = 0; i < 2; ++i) {
    f16_sum.add(Pack{{0x3c003c00u, 0, 0, 0x3c003c00u}});
    bf16_sum.add(Pack{{0x3f803f80u, 0, 0, 0x3f803f80u}});
  }
  EXPECT_EQ(words(f16_sum.rounded()), (PackWords{0x68016801u, 0, 0, 0x40006801u}));
  EXPECT_EQ(words(bf16_sum.rounded()), (PackWords{0x43814381u, 0, 0, 0x40004381u}));
}

TEST(Sum, AddsInTheOrderOfTheCalls) {
  const Pack big{{0x4b800000u, 0, 0, 0}}, one{{0x3f800000u, 0, 0, 0}};  // 2^24 and 1
  Sum<float> big_first(big), big_last(one);
  big_first.add(one);
  big_first.add(one);
  big_last.add(one);
  big_last.add(big);
  EXPECT_EQ(words(big_first.rounded()), (PackWords{0x4b800000u, 0, 0, 0}));
  EXPECT_EQ(words(big_last.rounded()), (PackWords{0x4b800001u, 0, 0, 0}));
}

TEST(Sum, KeepsNegativeZeroUnlessItStartsFromNothing) {
  const Pack zeros{{0x80008000u, 0x80008000u, 0x80008000u, 0x80008000u}};
  Sum<F16> first(zeros), empty;
  first.add(zeros);
  empty.add(zeros);
  EXPECT_EQ(words(first.rounded()), words(zeros));
  EXPECT_EQ(words(empty.rounded()), PackWords{});
}

TEST(Packs, HoldAllElements) {
  EXPECT_EQ(packs_of<F16>(0), 0u);
  EXPECT_EQ(packs_of<F16>(1), 1u);
  EXPECT_EQ(packs_of<BF16>(8), 1u);
  EXPECT_EQ(packs_of<BF16>(9), 2u);
  EXPECT_EQ(packs_of<float>(4), 1u);
  EXPECT_EQ(packs_of<float>(5), 2u);
}

/// 32 bytes without a type, as device memory is.
template <class T>
class Memory {
 public:
  using Elements = std::array<T, 32 / sizeof(T)>;
  explicit Memory(const Elements& elements) { std::memcpy(bytes, elements.data(), 32); }
  Elements elements() const {
    Elements elements;
    std::memcpy(elements.data(), bytes, 32);
    return elements;
  }
  alignas(16) unsigned char bytes[32];
};

TEST(Packs, LoadZerosBehindTheLastElement) {
  const Memory<std::uint16_t> halves({9, 9, 9, 9, 9, 9, 9, 9, 1, 2, 3, 4, 5, 6, 7, 8});
  const auto loaded = [&](std::uint64_t count) {
    return words(load_pack<F16>(halves.bytes, 1, count));
  };
  EXPECT_EQ(loaded(8), PackWords{});
  EXPECT_EQ(loaded(9), (PackWords{1, 0, 0, 0}));
  EXPECT_EQ(loaded(11), (PackWords{0x00020001u, 3, 0, 0}));
  EXPECT_EQ(loaded(15), (PackWords{0x00020001u, 0x00040003u, 0x00060005u, 7}));
  EXPECT_EQ(loaded(16), (PackWords{0x00020001u, 0x00040003u, 0x00060005u, 0x00080007u}));
  const Memory<float> floats({1, 2, 3, 4, 5, 6, 7, 8});
  EXPECT_EQ(words(load_pack<float>(floats.bytes, 0, 3)),
            (PackWords{0x3f800000u, 0x40000000u, 0x40400000u, 0}));
}

TEST(Packs, StoreNothingBehindTheLastElement) {
  using Halves = std::array<std::uint16_t, 16>;
  const auto stored = [](std::uint64_t count) {
    Memory<std::uint16_t> halves({9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9});
    store_pack<BF16>(halves.bytes, 1, count,
                     Pack{{0x00020001u, 0x00040003u, 0x00060005u, 0x00080007u}});
    return halves.elements();
  };
  EXPECT_EQ(stored(8), (Halves{9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9}));
  EXPECT_EQ(stored(9), (Halves{9, 9, 9, 9, 9, 9, 9, 9, 1, 9, 9, 9, 9, 9, 9, 9}));
  EXPECT_EQ(stored(15), (Halves{9, 9, 9, 9, 9, 9, 9, 9, 1, 2, 3, 4, 5, 6, 7, 9}));
  EXPECT_EQ(stored(16), (Halves{9, 9, 9, 9, 9, 9, 9, 9, 1, 2, 3, 4, 5, 6, 7, 8}));
  Memory<float> floats({9, 9, 9, 9, 9, 9, 9, 9});
  store_pack<float>(floats.bytes, 0, 3, Pack{{0x3f800000u, 0x40000000u, 0x40400000u, 0}});
  EXPECT_EQ(floats.elements(), (std::array<float, 8>{1, 2, 3, 9, 9, 9, 9, 9}));
}

}  // namespace
}  // namespace arbench
