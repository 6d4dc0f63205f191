// What this machine has, as recorded facts: options, sweep and doctor reason about these, not about
// a driver.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace arbench {

struct Gpu {
  int device = 0;
  std::string name;
  std::string pci_bus_id;
  int major = 0, minor = 0;  ///< compute capability
  int multiprocessors = 0;
  std::uint64_t memory_bytes = 0, free_bytes = 0, l2_bytes = 0;
  bool has_code = false;  ///< this binary holds a cubin or PTX that runs on it
  std::string
      code;  ///< "sm_90 cubin", "compute_120 PTX", or what the driver said when it found none
  int link_generation = 0, link_width = 0;  ///< PCIe now (idle links may read low); 0 unknown
  int max_link_generation = 0, max_link_width = 0;  ///< of this GPU in this slot; 0 unknown
  int own_link_generation = 0;                      ///< of this GPU in any slot; 0 unknown
  int nvlinks = -1;                                 ///< that are up; -1 unknown
  double memory_bytes_per_second = 0;               ///< peak of its memory bus; 0 unknown
  // Settings of the user (nvml.hpp), read before anything of this program ran on it. -1 or 0: unknown.
  int persistence = -1, sm_locked = -1;  ///< 0 no, 1 yes
  double power_limit_w = 0, default_power_limit_w = 0;
  int sm_mhz = 0, max_sm_mhz = 0;
};

struct Machine {
  bool built_with_cuda = false;
  int build_toolkit = 0;         ///< CUDART_VERSION of this build (12080), 0 without CUDA
  int driver_cuda = 0;           ///< highest CUDA the driver supports (13010), 0 without a driver
  int runtime = 0;               ///< cudaRuntimeGetVersion
  std::string driver;            ///< "590.48.01", empty unknown
  std::string cuda_error;        ///< why no device answers; empty if some do
  bool virtual_machine = false;  ///< a hypervisor runs it, and shows links of its own
  bool mps = false;  ///< an MPS server answers, so that processes on one GPU run together
  std::vector<std::string>
      architectures;     ///< what this build was compiled for: "sm_90", "sm_120", "compute_120"
  int nccl_header = 0;   ///< NCCL_VERSION_CODE of the header built against, 0 without
  int nccl_library = 0;  ///< ncclGetVersion of the library opened, 0 if none
  int nccl_toolkit = 0;  ///< CUDA that the library was built with (13000), 0 unknown
  std::string nccl_path, nccl_error;
  std::vector<Gpu> gpus;
  std::vector<std::vector<bool>>
      peer_access;  ///< [from][to] cudaDeviceCanAccessPeer; the diagonal is true
};

/// "gen 5 x16"
inline std::string link_text(int generation, int width) {
  return "gen " + std::to_string(generation) + " x" + std::to_string(width);
}

/// What cuda_error begins with when the asking itself failed (hung or crashed), so that nothing is
/// known.
inline constexpr std::string_view kDiscovery = "device discovery";

/// What is known of the build without asking the machine.
Machine built_machine();

/// Asks driver, devices, NVML and NCCL what they are. `nccl_lib` is the path of --nccl-lib, or
/// empty. Never throws for what is absent or broken: that becomes cuda_error, nccl_error or
/// Gpu::code. Guarantee: the calling process holds no CUDA context and has loaded no driver library
/// afterwards, so it may fork workers: forked children do the asking and at most 20 s are given to
/// each. REQUIRES: no other thread runs yet, since a fork keeps only the calling thread.
Machine discover(const std::string& nccl_lib);

}  // namespace arbench
