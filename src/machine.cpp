#include "machine.hpp"

#include <chrono>
#include <exception>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>

#include "forked.hpp"
#include "machine_json.hpp"
#include "mps.hpp"
#include "nccl_library.hpp"
#include "nvml.hpp"
#include "versions.hpp"

#ifdef ARBENCH_CUDA
#include <cuda_runtime_api.h>

#include "probe_kernel.hpp"
#endif

#ifndef ARBENCH_ARCHITECTURES
#define ARBENCH_ARCHITECTURES ""
#endif

namespace arbench {
namespace {

constexpr std::chrono::seconds kDeadline{20};

std::vector<std::string> built_architectures() {
  std::vector<std::string> all;
  std::istringstream list(ARBENCH_ARCHITECTURES);
  for (std::string one; std::getline(list, one, ';');)
    if (!one.empty()) all.push_back(one);
  return all;
}

/// x86 kernels list the flag where CPUID says so.
bool runs_under_hypervisor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("flags")) return (line + ' ').find(" hypervisor ") != std::string::npos;
  return false;
}

#ifdef ARBENCH_CUDA

std::string text_of(cudaError_t error) {
  return std::string(cudaGetErrorName(error)) + ": " + cudaGetErrorString(error);
}

/// 0 for an attribute that this runtime or driver does not know.
int attribute(cudaDeviceAttr which, int device) {
  int value = 0;
  return cudaDeviceGetAttribute(&value, which, device) == cudaSuccess ? value : 0;
}

/// Makes a context on the device, loads the probe kernel and runs it once. Sets has_code, code,
/// free_bytes.
void try_probe_kernel(Gpu& gpu, const std::vector<std::string>& architectures) {
  const void* kernel = arbench_probe_kernel();
  cudaFuncAttributes found{};
  cudaError_t error = cudaSetDevice(gpu.device);
  if (error == cudaSuccess) error = cudaFuncGetAttributes(&found, kernel);
  if (error == cudaSuccess) error = cudaLaunchKernel(kernel, dim3(1), dim3(1), nullptr, 0, nullptr);
  if (error == cudaSuccess) error = cudaDeviceSynchronize();
  gpu.has_code = error == cudaSuccess;
  gpu.code = gpu.has_code ? code_text(found.binaryVersion, found.ptxVersion, architectures)
                          : text_of(error);
  std::size_t free = 0, total = 0;
  if (cudaMemGetInfo(&free, &total) == cudaSuccess) gpu.free_bytes = free;
  cudaGetLastError();  // one device's failure is not the next one's
}

void set_settings(Gpu& gpu, const GpuSettings& found) {
  const auto flag = [](std::optional<bool> value) { return value ? static_cast<int>(*value) : -1; };
  gpu.persistence = flag(found.persistence);
  gpu.sm_locked = flag(found.sm_locked);
  gpu.power_limit_w = found.power_limit_w;
  gpu.default_power_limit_w = found.default_power_limit_w;
  gpu.sm_mhz = found.sm_mhz;
  gpu.max_sm_mhz = found.max_sm_mhz;
}

Gpu gpu_facts(int device, const Nvml& nvml, const std::vector<std::string>& architectures) {
  Gpu gpu;
  gpu.device = device;
  cudaDeviceProp properties{};
  if (cudaGetDeviceProperties(&properties, device) == cudaSuccess) {
    gpu.name = properties.name;
    gpu.memory_bytes = properties.totalGlobalMem;
  }
  char bus_id[32] = {};
  if (cudaDeviceGetPCIBusId(bus_id, sizeof bus_id, device) == cudaSuccess) gpu.pci_bus_id = bus_id;
  gpu.major = attribute(cudaDevAttrComputeCapabilityMajor, device);
  gpu.minor = attribute(cudaDevAttrComputeCapabilityMinor, device);
  gpu.multiprocessors = attribute(cudaDevAttrMultiProcessorCount, device);
  gpu.l2_bytes = static_cast<std::uint64_t>(attribute(cudaDevAttrL2CacheSize, device));
  // Before the probe kernel wakes link and clocks, so that "now" is what other tools show too.
  const PcieLink link = nvml.link(gpu.pci_bus_id);
  gpu.link_generation = link.generation;
  gpu.link_width = link.width;
  gpu.max_link_generation = link.max_generation;
  gpu.max_link_width = link.max_width;
  gpu.own_link_generation = link.own_generation;
  gpu.nvlinks = nvml.nvlinks(gpu.pci_bus_id).value_or(-1);
  set_settings(gpu, nvml.settings(gpu.pci_bus_id));
  // Two transfers per clock. In kHz and bits: by attribute, since CUDA 13's properties lack the clock.
  gpu.memory_bytes_per_second = 2.0 * 1e3 * attribute(cudaDevAttrMemoryClockRate, device) *
                                attribute(cudaDevAttrGlobalMemoryBusWidth, device) / 8;
  try_probe_kernel(gpu, architectures);
  return gpu;
}

std::vector<std::vector<bool>> peer_matrix(int devices) {
  std::vector<std::vector<bool>> matrix(devices, std::vector<bool>(devices, true));
  for (int from = 0; from < devices; ++from)
    for (int to = 0; to < devices; ++to) {
      int can = 0;
      if (from == to) continue;
      matrix[from][to] = cudaDeviceCanAccessPeer(&can, from, to) == cudaSuccess && can != 0;
    }
  return matrix;
}

/// The driver's own word (cudaDevAttrMpsEnabled, "contexts created on this device will be shared
/// via MPS"; by number, for toolkits that have no name for it), else whether the daemon listens.
bool mps_answers(int devices) {
  constexpr auto kMpsEnabled = static_cast<cudaDeviceAttr>(133);
  for (int device = 0; device < devices; ++device) {
    int enabled = 0;
    if (cudaDeviceGetAttribute(&enabled, kMpsEnabled, device) != cudaSuccess)
      return mps_daemon_listens(mps_pipe_directory());
    if (!enabled) return false;
  }
  return devices > 0;
}

void cuda_facts(Machine& machine, const Nvml& nvml) {
  cudaRuntimeGetVersion(&machine.runtime);
  cudaDriverGetVersion(&machine.driver_cuda);
  int devices = 0;
  const cudaError_t error = cudaGetDeviceCount(&devices);
  if (machine.driver_cuda == 0) {
    machine.cuda_error = "no CUDA driver: libcuda.so.1 does not load";
    return;
  }
  if (error != cudaSuccess) {
    machine.cuda_error = text_of(error) + " (the driver supports CUDA " +
                         cuda_text(machine.driver_cuda) + ", this build is " +
                         cuda_text(machine.build_toolkit) + ")";
    return;
  }
  if (devices == 0) machine.cuda_error = "the driver shows no device";
  for (int device = 0; device < devices; ++device)
    machine.gpus.push_back(gpu_facts(device, nvml, machine.architectures));
  machine.peer_access = peer_matrix(devices);
  machine.mps = mps_answers(devices);
}

#else

void cuda_facts(Machine& machine, const Nvml&) { machine.cuda_error = "this build has no CUDA"; }

#endif

std::string driver_facts_text(Machine machine) {
  const Nvml nvml;
  machine.driver = nvml.driver_version();
  cuda_facts(machine, nvml);
  // A device name or driver text that is not UTF-8 must not cost the other facts.
  return machine_to_json(machine).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string nccl_facts_text(const std::string& nccl_lib) {
  const NcclLibrary library = open_nccl(nccl_lib);
  const nlohmann::json facts{{"path", library.path},
                             {"version", library.version},
                             {"toolkit", library ? nccl_toolkit(library.path) : 0},
                             {"error", library.error}};
  return facts.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string driver_from_proc() {
  std::ifstream file("/proc/driver/nvidia/version");
  return driver_in_proc(std::string{std::istreambuf_iterator<char>(file), {}});
}

}  // namespace

Machine built_machine() {
  Machine machine;
  machine.architectures = built_architectures();
  machine.virtual_machine = runs_under_hypervisor();
#ifdef ARBENCH_CUDA
  machine.built_with_cuda = true;
  machine.build_toolkit = CUDART_VERSION;
#endif
#ifdef ARBENCH_NCCL
  machine.nccl_header = NCCL_VERSION_CODE;
#endif
  return machine;
}

Machine discover(const std::string& nccl_lib) {
  const Machine built = built_machine();
  Machine machine = built;
  const Answer devices =
      ask_child(std::string(kDiscovery), kDeadline, [&] { return driver_facts_text(built); });
  if (devices.error.empty())
    machine = machine_from_json(nlohmann::json::parse(devices.text));
  else
    machine.cuda_error = devices.error;
  if (machine.driver.empty()) machine.driver = driver_from_proc();

  // A child of its own: a broken NCCL must not cost what is known of the devices.
  const Answer nccl =
      ask_child("opening NCCL", kDeadline, [&] { return nccl_facts_text(nccl_lib); });
  machine.nccl_error = nccl.error;
  if (nccl.error.empty()) {
    const auto facts = nlohmann::json::parse(nccl.text);
    facts.at("path").get_to(machine.nccl_path);
    facts.at("version").get_to(machine.nccl_library);
    facts.at("toolkit").get_to(machine.nccl_toolkit);
    facts.at("error").get_to(machine.nccl_error);
  }
  return machine;
}

}  // namespace arbench
