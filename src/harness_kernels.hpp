// The few kernels the harness itself needs, on either backend: start together, fill inputs, check
// outputs.
#pragma once

#include <cstdint>

#include "arbench/case.hpp"
#include "arbench/peers.hpp"
#include "arbench/queue.hpp"
#include "clocks.hpp"

namespace arbench {

/// Exact inputs: small integers that differ by rank, position and salt, whose sums over up to 16
/// ranks are exact in every dtype and every order of adding. `narrow` (-1..2 instead of -3..4)
/// leaves room for a second op on the result.
struct Pattern {
  std::uint32_t salt;
  bool narrow;
};

/// Counters in device memory, one per check.
struct CheckResult {
  unsigned long long wrong;  ///< elements (or bytes) that differ
  unsigned long long first;  ///< lowest index that differs; ~0 when none
};

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
  /// Compares with ==, element by element, with factor * the sum over all ranks; `ranks` 0: with
  /// rank `rank`'s input.
  void (*check)(Queue&, Dtype, const void* data, std::uint64_t count, int rank, int ranks,
                float factor, Pattern, CheckResult*);
  /// Counts bytes that are not `byte`.
  void (*check_bytes)(Queue&, const void* data, std::uint64_t bytes, int byte, CheckResult*);
};

const HarnessKernels& harness_kernels(Backend backend);
void register_harness_kernels(Backend backend, const HarnessKernels& kernels);

}  // namespace arbench
