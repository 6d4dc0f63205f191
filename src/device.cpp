#include "device.hpp"

#include <stdexcept>

namespace arbench {

std::unique_ptr<Device> Device::open(Backend backend, int id, bool share) {
#ifdef ARBENCH_CUDA
  if (backend == Backend::cuda) return open_cuda_device(id, share);
#else
  if (backend == Backend::cuda) throw std::logic_error("this build has no CUDA backend");
#endif
  return open_host_device(id, share);
}

}  // namespace arbench
