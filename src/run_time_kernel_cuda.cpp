// Kernels compiled at run time, loaded into the process that launches them.
#include <cuda_runtime.h>

#include <map>
#include <mutex>
#include <tuple>

#include "arbench/algorithm.hpp"
#include "run_time_code.hpp"

namespace arbench {
namespace {

std::string current_architecture() {
  int device = 0, major = 0, minor = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
  cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device);
  return "sm_" + std::to_string(major) + std::to_string(minor);
}

/// A cubin holds one kernel. It stays loaded until the process ends.
cudaKernel_t load(const std::string& toolkit, const std::string& cubin) {
  cudaLibrary_t library = nullptr;
  cudaKernel_t kernel = nullptr;
  cudaError_t error =
      cudaLibraryLoadData(&library, cubin.data(), nullptr, nullptr, 0, nullptr, nullptr, 0);
  if (error == cudaSuccess) error = cudaLibraryEnumerateKernels(&kernel, 1, library);
  if (error == cudaSuccess && kernel != nullptr) return kernel;
  cudaGetLastError();
  throw Refused("this driver does not load what " + toolkit +
                " made: " + cudaGetErrorString(error));
}

}  // namespace

/// A kernel of a library belongs to no context: one handle serves all devices of its architecture.
const void* run_time_kernel(const std::string& toolkit, const std::string& instance) {
  static std::mutex mutex;
  static std::map<std::tuple<std::string, std::string, std::string>, cudaKernel_t> loaded;
  const std::string architecture = current_architecture();
  const std::lock_guard lock(mutex);
  cudaKernel_t& kernel = loaded[{toolkit, instance, architecture}];
  if (kernel == nullptr) {
    const RunTimeCode* code = run_time_code(toolkit, instance, architecture);
    if (code == nullptr || code->cubin.empty())
      throw Refused("no code of " + toolkit + " for " + architecture);
    kernel = load(toolkit, code->cubin);
  }
  return kernel;
}

}  // namespace arbench
