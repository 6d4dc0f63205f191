// The values of Pattern, their sums, and how far a sum of random values may be off, for both machines.
#pragma once

#include <cstdint>

#include "arbench/pack.hpp"
#include "harness_kernels.hpp"

namespace arbench {
inline namespace ARBENCH_PORT {

/// Bits that look random in all three (multiply-xorshift mixing).
ARBENCH_SHARED_INLINE std::uint32_t mixed(std::uint32_t stream, std::uint64_t i,
                                          std::uint32_t salt) {
  std::uint32_t x = static_cast<std::uint32_t>(i ^ (i >> 32)) * 0x9e3779b1u;
  x ^= (stream + 1u) * 0x85ebca77u;
  x ^= salt * 0xc2b2ae3du;
  x ^= x >> 15;
  x *= 0x2c1b3c6du;
  x ^= x >> 12;
  x *= 0x297a2d39u;
  x ^= x >> 15;
  return x;
}

inline constexpr std::uint32_t kAllRanks = 0xffu;  ///< the stream of what ranks have in common

/// How T spends its bits.
template <class T>
struct Format;
template <>
struct Format<float> {
  static constexpr int kBits = 24,
                       kLeastExponent = -126;  ///< of the significand; of a normal number
  static constexpr float kLargest = 0x1.fffffep127f, kSmallest = 0x1p-149f;
};
template <>
struct Format<BF16> {
  static constexpr int kBits = 8, kLeastExponent = -126;
  static constexpr float kLargest = 0x1.fep127f, kSmallest = 0x1p-133f;
};
template <>
struct Format<F16> {
  static constexpr int kBits = 11, kLeastExponent = -14;
  static constexpr float kLargest = 65504.0f, kSmallest = 0x1p-24f;
};

ARBENCH_SHARED_INLINE double power_of_two(int exponent) {
  const std::uint64_t bits = static_cast<std::uint64_t>(exponent + 1023) << 52;
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/// The unit in the last place of T at a finite `value`.
template <class T>
ARBENCH_SHARED_INLINE double ulp_at(double value) {
  std::uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  const int exponent = static_cast<int>(bits >> 52 & 0x7ffu) - 1023;
  const int least = Format<T>::kLeastExponent;
  return power_of_two((exponent < least ? least : exponent) - Format<T>::kBits + 1);
}

/// What special data have at position i: one of eight kinds, told by the position.
template <class T>
ARBENCH_SHARED_INLINE float special_value(int rank, std::uint64_t i, Pattern pattern) {
  using F = Format<T>;
  const std::uint32_t shared = mixed(kAllRanks, i, pattern.salt);
  const std::uint32_t own = mixed(static_cast<std::uint32_t>(rank), i, pattern.salt);
  const int one = static_cast<int>((shared >> 4) % static_cast<std::uint32_t>(pattern.ranks));
  const int next = (one + 1) % pattern.ranks;
  const float sign = (shared & 8u) != 0 ? -1.0f : 1.0f;
  const float infinity = float_of(0x7f800000u);
  const float small = static_cast<float>(static_cast<int>(own & 7u) - 3);
  switch (shared & 7u) {
    case 0:
      return (own & 1u) != 0 ? -0.0f : 0.0f;
    case 1:
      return small * F::kSmallest;
    case 2:
      return rank == one ? sign * F::kLargest : sign * 0.0f;
    case 3:  // the sum overflows
      return rank == one || rank == next ? sign * F::kLargest : 0.0f;
    case 4:
      return rank == one ? sign * infinity : small;
    case 5:  // the sum is a NaN
      return rank == one ? infinity : rank == next ? -infinity : small;
    case 6:
      return rank == one ? float_of(0x7fc00000u) : small;
    default: {  // the smallest normal number less the smallest of all
      const float normal = static_cast<float>(power_of_two(F::kLeastExponent));
      return rank == one ? sign * normal : rank == next ? -sign * F::kSmallest : 0.0f;
    }
  }
}

/// Rank `rank`'s input at position i, a value that T holds.
template <class T>
ARBENCH_SHARED_INLINE float input_value(int rank, std::uint64_t i, Pattern pattern) {
  const std::uint32_t own = mixed(static_cast<std::uint32_t>(rank), i, pattern.salt);
  switch (pattern.data) {
    case Data::exact:
      return static_cast<float>(static_cast<int>(own & 7u) - 3);
    case Data::narrow:
      return static_cast<float>(static_cast<int>(own & 3u) - 1);
    case Data::special:
      return special_value<T>(rank, i, pattern);
    default: {
      const float size = (static_cast<float>(own >> 9) + 0.5f) * 0x1p-23f;
      const bool negative = (mixed(kAllRanks, i, pattern.salt) & 1u) != 0;
      return to_float(from_float<T>(negative ? -size : size));
    }
  }
}

template <class T>
ARBENCH_SHARED_INLINE double sum_of_inputs(std::uint64_t i, int ranks, Pattern pattern) {
  double sum = 0;
  for (int r = 0; r < ranks; ++r) sum += static_cast<double>(input_value<T>(r, i, pattern));
  return sum;
}

/// By how much a sum of numbers of one sign may be off. Each addition rounds by half a unit of the
/// type it is done in, at a partial sum that the roundings before made larger than the exact one by
/// less than 1/16. A sum in fp32 is rounded to T at the end.
template <class T>
ARBENCH_SHARED_INLINE double legal_error(double sum, int ranks, bool rounds_once) {
  const double largest = (sum < 0 ? -sum : sum) * 1.0625;
  const int additions = ranks - 1;
  if (!rounds_once) return 0.5 * additions * ulp_at<T>(largest);
  const double in_fp32 = 0.5 * additions * ulp_at<float>(largest);
  if (sizeof(T) == sizeof(float)) return in_fp32;
  const double before = (sum < 0 ? -sum : sum) + in_fp32;
  return in_fp32 + 0.5 * ulp_at<T>(before);
}

/// Summed over all elements it tells arrays apart whose elements differ or lie elsewhere.
ARBENCH_SHARED_INLINE std::uint64_t hash_of(std::uint32_t bits, std::uint64_t i) {
  std::uint64_t x = (i + 1) * 0x9e3779b97f4a7c15ull ^ (bits + 1ull) * 0xd6e8feb86659fd93ull;
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93ull;
  return x ^ x >> 29;
}

}  // namespace ARBENCH_PORT
}  // namespace arbench
