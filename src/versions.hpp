// Version numbers and architecture names as CUDA, NCCL and the driver spell them, and NVIDIA's
// compatibility rules over them. Pure functions: nothing here asks the machine.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace arbench {

/// 12080 -> "12.8" (CUDART_VERSION and cudaDriverGetVersion: 1000 x major + 10 x minor).
std::string cuda_text(int version);
/// 22809 -> "2.28.9"; also NCCL's older form, 2708 -> "2.7.8" (NCCL_VERSION in nccl.h).
std::string nccl_text(int version);
int cuda_major(int version);
int nccl_major(int version);

/// The Linux driver that came with a toolkit: 12080 -> "570.26". That one and all later support all
/// of it, PTX too. Empty for a version not in the table.
std::string driver_of_toolkit(int version);
/// The oldest driver branch that runs a toolkit's cubins by minor version compatibility: 12 -> 525,
/// 13 -> 580. 0 for a major not in the table.
int oldest_branch_of_major(int major);

/// The CUDA toolkit that NCCL was built with, out of its file's bytes, which hold "NCCL version
/// 2.28.9+cuda13.0": 13000. 0 if there is no such text.
int toolkit_in_nccl(std::string_view bytes);

/// "590.48.01" out of the text of /proc/driver/nvidia/version, empty if there is none.
std::string driver_in_proc(std::string_view text);

/// True if one of `architectures` ("sm_90", "sm_120a", "compute_120") is a cubin that runs on
/// compute capability major.minor: same major, minor not above; with suffix a only the very same
/// one (CUDA C++ Programming Guide, "Binary Compatibility" and "Architecture-Specific Features").
bool holds_cubin(const std::vector<std::string>& architectures, int major, int minor);
/// The same for PTX: any capability not above; suffix a only the very same one, suffix f only its
/// family.
bool holds_ptx(const std::vector<std::string>& architectures, int major, int minor);

/// What cudaFuncAttributes says about a loaded kernel in words: "sm_90 cubin" or "compute_80 PTX".
/// The driver reports a JIT result's own binary version, so `architectures` decides whether it was
/// in the binary.
std::string code_text(int binary_version, int ptx_version,
                      const std::vector<std::string>& architectures);

}  // namespace arbench
