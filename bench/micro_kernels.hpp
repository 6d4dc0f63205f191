// The kernels that only the micro-benchmarks need, on either backend.
#pragma once

#include <cstdint>

#include "arbench/case.hpp"
#include "arbench/peers.hpp"
#include "arbench/queue.hpp"

namespace arbench {

/// Arrays of `packs` packs, 16 bytes each, in the memory of one device.
struct PackArrays {
  const void* left;
  const void* right;
  void* sum;
  std::uint64_t packs;
};

/// Round trips that one launch can count: each is one step of the call's ticket.
inline constexpr std::uint32_t kMaxTrips = 4095;

struct MicroKernels {
  /// Ranks 0 and 1 of `peers`, one launch each: `trips` times a flag word goes from rank 0 to rank
  /// 1 and back. Waits are bounded by peers.timeout_ns; a launch that gave up records the fault.
  /// REQUIRES: trips <= kMaxTrips, the launches of both ranks resident together.
  void (*ping_pong)(Queue&, const Peers&, std::uint32_t trips);
  /// sum = left + right, fp32 inside, rounded once.
  void (*pack_add)(Queue&, Dtype, Geometry, const PackArrays&);
  /// Does nothing, with the arguments that an allreduce kernel has.
  void (*empty)(Queue&);
};

const MicroKernels& micro_kernels(Backend backend);
void register_micro_kernels(Backend backend, const MicroKernels& kernels);

}  // namespace arbench
