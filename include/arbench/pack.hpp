// 16 bytes of elements, and their sum: fp32 accumulation, one rounding to nearest even at the end.
#pragma once

#include <cstdint>
#include <cstring>

#include "arbench/target.hpp"

#ifdef __CUDACC__
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#endif

namespace arbench {

/// IEEE 754 binary16 and bfloat16 as bits, so that both machines store the same thing.
struct F16 {
  std::uint16_t bits;
};
struct BF16 {
  std::uint16_t bits;
};

/// The unit of all transfers: one 16-byte access per thread.
struct alignas(16) Pack {
  std::uint32_t word[4];
};

template <class T>
inline constexpr int kPerPack = static_cast<int>(sizeof(Pack) / sizeof(T));

/// Packs that hold `count` elements of T, the last one perhaps in part.
template <class T>
ARBENCH_SHARED_INLINE std::uint64_t packs_of(std::uint64_t count) {
  return (count + kPerPack<T> - 1) / kPerPack<T>;
}

inline namespace ARBENCH_PORT {

ARBENCH_SHARED_INLINE std::uint32_t bits_of(float value) {
  std::uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

ARBENCH_SHARED_INLINE float float_of(std::uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

ARBENCH_SHARED_INLINE float to_float(float value) { return value; }
ARBENCH_SHARED_INLINE float to_float(BF16 value) {
  return float_of(static_cast<std::uint32_t>(value.bits) << 16);
}

#ifdef __CUDACC__

__host__ __device__ __forceinline__ float to_float(F16 value) {
  return __half2float(__ushort_as_half(value.bits));
}
template <class T>
__host__ __device__ __forceinline__ T from_float(float value);
template <>
__host__ __device__ __forceinline__ float from_float<float>(float value) {
  return value;
}
template <>
__host__ __device__ __forceinline__ F16 from_float<F16>(float value) {
  return {__half_as_ushort(__float2half_rn(value))};
}
template <>
__host__ __device__ __forceinline__ BF16 from_float<BF16>(float value) {
  return {__bfloat16_as_ushort(__float2bfloat16_rn(value))};
}

#else

/// Exact: every binary16 is a float, subnormals too.
inline float to_float(F16 value) {
  const std::uint32_t sign = static_cast<std::uint32_t>(value.bits & 0x8000u) << 16;
  const std::uint32_t magnitude = value.bits & 0x7fffu;
  if (magnitude >= 0x7c00u) return float_of(sign | 0x7f800000u | (magnitude & 0x3ffu) << 13);
  if (magnitude >= 0x0400u) return float_of(sign | ((magnitude << 13) + (112u << 23)));
  const float subnormal = static_cast<float>(magnitude) * 0x1p-24f;
  return float_of(sign | bits_of(subnormal));
}

template <class T>
T from_float(float value);
template <>
inline float from_float<float>(float value) {
  return value;
}
template <>
inline BF16 from_float<BF16>(float value) {
  const std::uint32_t bits = bits_of(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return {0x7fff};  // a NaN must not round up to infinity
  return {static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16)};
}
template <>
inline F16 from_float<F16>(float value) {
  const std::uint32_t bits = bits_of(value);
  const auto sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000u);
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return {0x7fff};
  if (magnitude >= 0x477ff000u) return {static_cast<std::uint16_t>(sign | 0x7c00u)};  // >= 65520
  if (magnitude < 0x38800000u) {  // below 2^-14: adding 0.5 lets the float unit round at 2^-24
    const std::uint32_t rounded = bits_of(float_of(magnitude) + 0.5f) - bits_of(0.5f);
    return {static_cast<std::uint16_t>(sign | rounded)};
  }
  const std::uint32_t rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1u);
  return {static_cast<std::uint16_t>(sign | ((rounded - (112u << 23)) >> 13))};
}

#endif

/// The fp32 sum of packs of T, added in the order of the calls.
template <class T>
class Sum {
 public:
  ARBENCH_SHARED_INLINE Sum() {
    ARBENCH_UNROLL
    for (int i = 0; i < kPerPack<T>; ++i) lane_[i] = 0;
  }
  ARBENCH_SHARED_INLINE explicit Sum(const Pack& first) {
    ARBENCH_UNROLL
    for (int i = 0; i < kPerPack<T>; ++i) lane_[i] = lane_of(first, i);
  }
  ARBENCH_SHARED_INLINE void add(const Pack& pack) {
    ARBENCH_UNROLL
    for (int i = 0; i < kPerPack<T>; ++i) lane_[i] += lane_of(pack, i);
  }
  /// Rounds each lane once.
  ARBENCH_SHARED_INLINE Pack rounded() const {
    Pack pack;
    ARBENCH_UNROLL
    for (int w = 0; w < 4; ++w) pack.word[w] = word_of(w);
    return pack;
  }

 private:
  static ARBENCH_SHARED_INLINE float lane_of(const Pack& pack, int i) {
    if constexpr (sizeof(T) == 4) {
      return float_of(pack.word[i]);
    } else {
      return to_float(T{static_cast<std::uint16_t>(pack.word[i / 2] >> (i % 2 * 16))});
    }
  }
  ARBENCH_SHARED_INLINE std::uint32_t word_of(int w) const {
    if constexpr (sizeof(T) == 4) {
      return bits_of(lane_[w]);
    } else {
      const std::uint32_t low = from_float<T>(lane_[2 * w]).bits;
      const std::uint32_t high = from_float<T>(lane_[2 * w + 1]).bits;
      return low | high << 16;
    }
  }

  float lane_[kPerPack<T>];
};

/// T's bits, for a pack's words.
ARBENCH_SHARED_INLINE std::uint32_t element_bits(float value) { return bits_of(value); }
template <class T>
ARBENCH_SHARED_INLINE std::uint32_t element_bits(T value) {
  return value.bits;
}

/// The pack that an array of `count` elements ends within; what lies behind the last element reads as
/// zero. All indices into the pack are constants, so that it stays in registers.
template <class T>
ARBENCH_SHARED_INLINE Pack load_tail(const void* base, std::uint64_t first, std::uint64_t count) {
  constexpr int kPerWord = static_cast<int>(4 / sizeof(T));
  Pack pack{};
  ARBENCH_UNROLL
  for (int k = 0; k < kPerPack<T>; ++k)
    if (first + k < count)
      pack.word[k / kPerWord] |= element_bits(static_cast<const T*>(base)[first + k])
                                 << (k % kPerWord * 16);
  return pack;
}

/// Pack `i` of an array of `count` elements, see load_tail(). `whole`: the caller knows that no pack
/// is a partial one.
template <class T, bool whole = false>
ARBENCH_SHARED_INLINE Pack load_pack(const void* base, std::uint64_t i, std::uint64_t count) {
  if constexpr (!whole)
    if (i * kPerPack<T> + kPerPack < T >> count) return load_tail<T>(base, i * kPerPack<T>, count);
  return static_cast<const Pack*>(base)[i];
}

template <class T>
ARBENCH_SHARED_INLINE void store_tail(void* base, std::uint64_t first, std::uint64_t count,
                                      const Pack& pack) {
  ARBENCH_UNROLL
  for (int k = 0; k < kPerPack<T>; ++k)
    if (first + k < count) {
      if constexpr (sizeof(T) == 4) {
        static_cast<T*>(base)[first + k] = float_of(pack.word[k]);
      } else {
        static_cast<T*>(base)[first + k] =
            T{static_cast<std::uint16_t>(pack.word[k / 2] >> (k % 2 * 16))};
      }
    }
}

/// Writes pack `i` of an array of `count` elements and nothing behind the last element.
template <class T, bool whole = false>
ARBENCH_SHARED_INLINE void store_pack(void* base, std::uint64_t i, std::uint64_t count,
                                      const Pack& pack) {
  if constexpr (!whole)
    if (i * kPerPack<T> + kPerPack < T >> count)
      return store_tail<T>(base, i * kPerPack<T>, count, pack);
  static_cast<Pack*>(base)[i] = pack;
}

}  // namespace ARBENCH_PORT
}  // namespace arbench
