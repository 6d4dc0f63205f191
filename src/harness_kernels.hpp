// The few kernels the harness itself needs, on either backend: start together, fill inputs, check
// outputs.
#pragma once

#include <cstdint>

#include "arbench/case.hpp"
#include "arbench/peers.hpp"
#include "arbench/queue.hpp"
#include "clocks.hpp"

namespace arbench {

/// What inputs hold; all of them differ by rank, position and salt.
/// exact: small integers (-3..4), whose sums over up to 16 ranks are exact in every dtype and every
/// order of adding. narrow: -1..2, which leaves room for a second op on the result. random: values in
/// (0, 1), negated at half of the positions on all ranks, so that nothing cancels and a legal error is
/// a few units in the last place of the sum. special: at each position +-0, subnormals, the largest
/// and smallest numbers, an overflow, infinities or NaN, shared out over `ranks` so that every order
/// of adding comes to the same sum.
enum class Data : std::uint32_t { exact, narrow, random, special };

struct Pattern {
  std::uint32_t salt = 0;
  Data data = Data::exact;
  int ranks = 2;
};

/// What an array is compared with.
struct Wanted {
  Pattern pattern;
  int rank = 0;              ///< its input, if `ranks` is 0
  int ranks = 0;             ///< the sum over so many
  float factor = 1;          ///< times this; exact data only
  bool rounds_once = false;  ///< sums in fp32: see Algorithm::rounds_once
};

/// Counters in device memory, one per check. The errors of random data against fp64 are floats' bits.
struct CheckResult {
  unsigned long long wrong;           ///< elements (or bytes) that differ
  unsigned long long first;           ///< lowest index that differs; ~0 when none
  unsigned long long max_ulp_bits;    ///< in units in the last place of the sum
  unsigned long long max_error_bits;  ///< absolute
  unsigned long long hash;            ///< of the bits of all elements
};
inline constexpr CheckResult kNothingWrong{0, ~0ull, 0, 0, 0};

/// How a sample starts.
struct Start {
  std::uint32_t gate = 0;    ///< the host opens it
  Stamps* stamps = nullptr;  ///< of the launch's ranks, in device memory; may be null
  int late_rank = -1;        ///< starts late_ns after the others
  std::uint64_t late_ns = 0;
};

struct HarnessKernels {
  /// Waits until the host opens the gate, then a barrier over all ranks, so that they start together.
  void (*start)(Queue&, const Peers&, const Start&, int grid_ranks);
  /// Stamps the end of what start() stamped the start of.
  void (*end)(Queue&, const Peers&, Stamps* stamps, int grid_ranks);
  /// compare_clocks() and measure_sm_clock() of clocks.hpp.
  void (*compare_clocks)(Queue&, const Peers&, std::uint32_t turn, ClockOffset* result);
  void (*measure_sm_clock)(Queue&, SmClock* result);
  /// A barrier over all ranks, and nothing else. Takes turns with start() on the same signals.
  void (*meet)(Queue&, const Peers&, int grid_ranks);
  /// Reads `bytes`, a multiple of 16, past the first-level caches.
  void (*sweep)(Queue&, void* data, std::uint64_t bytes);
  /// Writes rank `rank`'s exact input, `count` elements.
  void (*fill)(Queue&, Dtype, void* data, std::uint64_t count, int rank, Pattern);
  /// Compares element by element: with ==, where a NaN equals a NaN and +0 equals -0; sums of random
  /// data within what rounding allows. Random data have errors and a hash in the result, too.
  void (*check)(Queue&, Dtype, const void* data, std::uint64_t count, const Wanted&, CheckResult*);
  /// Counts bytes that are not `byte`.
  void (*check_bytes)(Queue&, const void* data, std::uint64_t bytes, int byte, CheckResult*);
};

const HarnessKernels& harness_kernels(Backend backend);
void register_harness_kernels(Backend backend, const HarnessKernels& kernels);

}  // namespace arbench
