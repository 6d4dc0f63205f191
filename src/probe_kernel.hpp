// The kernel that shows whether this binary holds code for a device.
#pragma once

/// Address of a kernel without parameters that does nothing, for cudaFuncGetAttributes and
/// cudaLaunchKernel. Taking it makes no CUDA context.
const void* arbench_probe_kernel();
