// The registry that micro_kernels.cu fills before main() starts, once per backend it is compiled
// for. Function-local, so that the order in which files register does not matter.
#include "micro_kernels.hpp"

namespace arbench {
namespace {

MicroKernels& registered(Backend backend) {
  static MicroKernels kernels[2];
  return kernels[static_cast<std::size_t>(backend)];
}

}  // namespace

void register_micro_kernels(Backend backend, const MicroKernels& kernels) {
  registered(backend) = kernels;
}

const MicroKernels& micro_kernels(Backend backend) { return registered(backend); }

}  // namespace arbench
