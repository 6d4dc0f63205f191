#include "probe_kernel.hpp"

namespace {
__global__ void probe() {}
}  // namespace

const void* arbench_probe_kernel() { return reinterpret_cast<const void*>(&probe); }
