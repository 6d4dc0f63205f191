// NCCL as opened at run time, so that one binary meets any NCCL and runs without one.
// Thread safety: opening is not; a library once opened is a plain value that may be copied between
// threads.
#pragma once

#include <string>
#include <vector>

#ifdef ARBENCH_NCCL
#include <nccl.h>
#endif

namespace arbench {

/// An opened libnccl.so.2, or why there is none. It stays open until the process ends: NCCL's own
/// threads run code in it, so closing it is never safe.
struct NcclLibrary {
  void* handle = nullptr;
  std::string path;   ///< the file that was loaded, links resolved
  int version = 0;    ///< ncclGetVersion, 22809 for 2.28.9; 0 without a library
  std::string error;  ///< one line; empty if the library can be used

  explicit operator bool() const { return handle != nullptr; }
};

/// Opens the first of: `nccl_lib` (--nccl-lib); $ARBENCH_NCCL_LIB; libnccl.so.2 where the loader
/// looks; the wheels of nccl_wheels(). A path from the first two that cannot be used is an error,
/// never replaced by another. A library that lacks a function arbench needs counts as one that
/// cannot be opened. Never throws. Loading NCCL makes no CUDA context, but brings its own CUDA
/// runtime into the process.
NcclLibrary open_nccl(const std::string& nccl_lib = {});

/// Existing files .../site-packages/nvidia/nccl/lib/libnccl.so.2 (pip's nvidia-nccl-cu12 and -cu13)
/// of $VIRTUAL_ENV, $CONDA_PREFIX, the python3 on $PATH, pyenv, the user and the system, in that
/// order. Runs no python: folders are enough.
std::vector<std::string> nccl_wheels();

/// The CUDA toolkit that the library in this file was built with, 13000 for 13.0; 0 where it does not say. NCCL itself has
/// no function for it.
int nccl_toolkit(const std::string& path);

#ifdef ARBENCH_NCCL
/// NCCL's functions with the types of the header built against. Those marked optional may be null.
struct NcclApi {
  decltype(&ncclGetVersion) get_version = nullptr;
  decltype(&ncclGetUniqueId) get_unique_id = nullptr;
  decltype(&ncclCommInitRank) comm_init_rank = nullptr;
  decltype(&ncclAllReduce) all_reduce = nullptr;
  decltype(&ncclCommDestroy) comm_destroy = nullptr;
  decltype(&ncclCommAbort) comm_abort = nullptr;
  decltype(&ncclCommGetAsyncError) comm_get_async_error = nullptr;
  decltype(&ncclGetErrorString) get_error_string = nullptr;
  decltype(&ncclCommInitRankConfig) comm_init_rank_config = nullptr;  ///< optional, 2.14
  decltype(&ncclGetLastError) get_last_error = nullptr;               ///< optional, 2.13
  decltype(&ncclCommFinalize) comm_finalize = nullptr;                ///< optional, 2.14
};

/// REQUIRES: `library` is open.
NcclApi nccl_api(const NcclLibrary& library);
#endif

}  // namespace arbench
