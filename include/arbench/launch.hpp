// launch<K>(): runs a kernel struct on a queue of the machine this file is compiled for.
//
// A kernel is a POD struct (its members are its arguments) with
//   static constexpr bool kSpecialised;   // compile it for n = 2, 4, 8 too, N is then known when it runs
//   template <class T, int N, class Exec> void operator()(const Exec&, const Peers&) const;   // N = 0: p.ranks
#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <typeinfo>

#include "arbench/case.hpp"
#include "arbench/peers.hpp"
#include "arbench/port.hpp"
#include "arbench/queue.hpp"
#ifdef __CUDACC__
#include "arbench/cuda_queue.hpp"
#endif

namespace arbench {

/// "arbench::kernel_entry<arbench::OneShotPull, arbench::BF16, 8>": what NVRTC is asked for. Both
/// backends give the same name.
std::string instance_name(const std::type_info& kernel, const std::type_info& element, int ranks);

/// The code that a launch runs: what a toolkit made of the kernel at run time; null: the build's own.
struct Code {
  const void* kernel = nullptr;
};

/// What `toolkit` made of the instance, loaded for the current device. Throws Refused when it made
/// nothing, or when the driver does not load it. Only in builds with CUDA.
const void* run_time_kernel(const std::string& toolkit, const std::string& instance);

inline namespace ARBENCH_PORT {

/// Calls f.operator()<T, N>() for the element type and the rank count.
template <bool specialised, class F>
auto with_types(Dtype dtype, int ranks, F f) {
  const auto with_ranks = [&]<class T>() {
    if constexpr (specialised) {
      if (ranks == 2) return f.template operator()<T, 2>();
      if (ranks == 4) return f.template operator()<T, 4>();
      if (ranks == 8) return f.template operator()<T, 8>();
    }
    return f.template operator()<T, 0>();
  };
  switch (dtype) {
    case Dtype::f16:
      return with_ranks.template operator()<F16>();
    case Dtype::bf16:
      return with_ranks.template operator()<BF16>();
    default:
      return with_ranks.template operator()<float>();
  }
}

/// The instance of K that a case launches.
template <class K>
std::string instance_of(const Case& point) {
  return with_types<K::kSpecialised>(point.dtype, point.ranks(), [&]<class T, int N>() {
    return instance_name(typeid(K), typeid(T), N);
  });
}

#ifdef __CUDACC__

inline void check_launch(cudaError_t error) {
  if (error == cudaSuccess) return;
  cudaGetLastError();  // not left behind for an unrelated call
  throw std::runtime_error(std::string("kernel launch: ") + cudaGetErrorString(error));
}

/// REQUIRES, for another toolkit than the build's: the device is current, and no kernel waits on it.
template <class K>
Code code_of(const Case& point) {
  if (point.toolkit.empty()) return {};
  return {run_time_kernel(point.toolkit, instance_of<K>(point))};
}

template <class K, class T, int N>
const void* entry_of(Code code) {
  return code.kernel ? code.kernel : reinterpret_cast<const void*>(&kernel_entry<K, T, N>);
}

/// Enqueues one launch. `grid_ranks` > 1: that many ranks, from peers.first_rank on, in one
/// cooperative launch. `code` is that of the case whose dtype and ranks these are.
template <class K>
void launch(Queue& queue, const K& kernel, const Peers& peers, Dtype dtype, Geometry shape,
            int grid_ranks = 1, Code code = {}) {
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(shape.blocks), static_cast<unsigned>(grid_ranks));
  config.blockDim = dim3(static_cast<unsigned>(shape.threads));
  config.stream = static_cast<CudaQueue&>(queue).stream();
  cudaLaunchAttribute cooperative{};
  cooperative.id = cudaLaunchAttributeCooperative;
  cooperative.val.cooperative = 1;
  config.attrs = &cooperative;
  config.numAttrs = grid_ranks > 1 ? 1 : 0;
  with_types<K::kSpecialised>(dtype, peers.ranks, [&]<class T, int N>() {
    void* arguments[] = {const_cast<K*>(&kernel), const_cast<Peers*>(&peers)};  // only read
    check_launch(cudaLaunchKernelExC(&config, entry_of<K, T, N>(code), arguments));
  });
}

/// Blocks of K that one multiprocessor of the current device holds at once. Throws as code_of() does.
template <class K>
int blocks_per_multiprocessor(const Case& point, int threads) {
  const Code code = code_of<K>(point);
  return with_types<K::kSpecialised>(point.dtype, point.ranks(), [&]<class T, int N>() {
    int blocks = 0;
    check_launch(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, entry_of<K, T, N>(code),
                                                               threads, 0));
    return blocks;
  });
}

#else

/// One launch on host threads: blocks x threads of them for each of `ranks` ranks.
struct HostLaunch {
  Geometry shape;
  int first_rank = 0;
  int ranks = 1;
  std::function<void(const Exec&)> body;
};

/// Queue of the host backend.
class HostQueue : public Queue {
 public:
  virtual void enqueue(HostLaunch launch) = 0;
};

/// The host compiler's alone.
template <class K>
Code code_of(const Case&) {
  return {};
}

template <class K>
void launch(Queue& queue, const K& kernel, const Peers& peers, Dtype dtype, Geometry shape,
            int grid_ranks = 1, Code = {}) {
  static_cast<HostQueue&>(queue).enqueue({shape, peers.first_rank, grid_ranks, [=](const Exec& ex) {
                                            with_types<K::kSpecialised>(
                                                dtype, peers.ranks, [&]<class T, int N>() {
                                                  kernel.template operator()<T, N>(ex, peers);
                                                });
                                          }});
}

/// Host threads are not scarce in the way that multiprocessors are; the limit keeps a team small.
template <class K>
int blocks_per_multiprocessor(const Case&, int threads) {
  return threads > 8 ? 64 / threads : 8;
}

#endif

}  // namespace ARBENCH_PORT
}  // namespace arbench
