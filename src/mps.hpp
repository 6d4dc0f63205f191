// Whether a CUDA MPS control daemon answers, without CUDA. Thread safety: pure but for the socket
// it opens.
#pragma once

#include <string>

namespace arbench {

/// $CUDA_MPS_PIPE_DIRECTORY, or its documented default /tmp/nvidia-mps.
std::string mps_pipe_directory();

/// True if somebody listens at `pipe_directory`/control, which is where the CUDA driver itself
/// looks for the daemon when it starts (man nvidia-cuda-mps-control). Does not block. How sure: a
/// daemon that listens may still refuse this user or this device, so where the driver can be asked
/// (cudaDevAttrMpsEnabled) its word comes first.
bool mps_daemon_listens(const std::string& pipe_directory);

}  // namespace arbench
