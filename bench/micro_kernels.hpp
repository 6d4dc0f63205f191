// Kernels of the micro-benchmarks, on either backend.
#pragma once

#include <cstdint>

#include "arbench/case.hpp"
#include "arbench/peers.hpp"
#include "arbench/queue.hpp"

namespace arbench {

struct MicroKernels {
  /// One launch that does nothing.
  void (*empty)(Queue&);
  /// Ranks 0 and 1, in one launch, send a flag to and fro `trips` < kStepsPerCall times.
  void (*ping_pong)(Queue&, const Peers&, int trips);
  /// to[i] = a[i] + b[i] over `packs` packs.
  void (*add)(Queue&, Dtype, const void* a, const void* b, void* to, std::uint64_t packs);
};

const MicroKernels& micro_kernels(Backend backend);
void register_micro_kernels(Backend backend, const MicroKernels& kernels);

}  // namespace arbench
