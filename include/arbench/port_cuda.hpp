// The GPU's Exec. Include port.hpp, not this.
#pragma once

#ifndef __CUDACC_RTC__
#include <cuda_runtime.h>
#endif

#include <cuda/atomic>

#include "arbench/peers.hpp"

namespace arbench {
inline namespace port_cuda {

class Exec {
 public:
  static constexpr std::uint32_t kPollsPerCheck = 1024;
  static constexpr bool kThreadPerRank = true;  ///< blocks have kMinGpuThreads threads or more

  /// A grid launch lays its ranks along y.
  __device__ explicit Exec(int first_rank) : rank_(first_rank + static_cast<int>(blockIdx.y)) {}

  __device__ int thread() const { return static_cast<int>(threadIdx.x); }
  __device__ int threads() const { return static_cast<int>(blockDim.x); }
  __device__ int block() const { return static_cast<int>(blockIdx.x); }
  __device__ int blocks() const { return static_cast<int>(gridDim.x); }
  __device__ int rank() const { return rank_; }

  __device__ void sync_block() const { __syncthreads(); }
  __device__ bool sync_block_any(bool flag) const { return __syncthreads_or(flag); }

  __device__ void store_release(std::uint32_t* word, std::uint32_t value) const {
    cuda::atomic_ref<std::uint32_t, cuda::thread_scope_system>(*word).store(
        value, cuda::memory_order_release);
  }
  /// Relaxed: a load whose value was used before the last __syncthreads() has been performed, no
  /// fence can add to that.
  __device__ void store_after_loads(std::uint32_t* word, std::uint32_t value) const {
    cuda::atomic_ref<std::uint32_t, cuda::thread_scope_system>(*word).store(
        value, cuda::memory_order_relaxed);
  }
  __device__ std::uint32_t load_acquire(const std::uint32_t* word) const {
    return cuda::atomic_ref<std::uint32_t, cuda::thread_scope_system>(
               *const_cast<std::uint32_t*>(word))
        .load(cuda::memory_order_acquire);
  }
  __device__ Pack load_inline(const Pack* pack) const {
    Pack v;
    asm volatile("ld.volatile.global.v4.u32 {%0,%1,%2,%3}, [%4];"
                 : "=r"(v.word[0]), "=r"(v.word[1]), "=r"(v.word[2]), "=r"(v.word[3])
                 : "l"(pack)
                 : "memory");
    return v;
  }
  __device__ void store_inline(Pack* pack, const Pack& v) const {
    asm volatile("st.volatile.global.v4.u32 [%0], {%1,%2,%3,%4};" ::"l"(pack), "r"(v.word[0]),
                 "r"(v.word[1]), "r"(v.word[2]), "r"(v.word[3])
                 : "memory");
  }
  __device__ std::uint32_t load_word(const std::uint32_t* word) const {
    return *static_cast<const volatile std::uint32_t*>(word);
  }
  __device__ void store_word(std::uint32_t* word, std::uint32_t value) const { *word = value; }
  __device__ void add_local(unsigned long long* word, unsigned long long value) const {
    atomicAdd(word, value);
  }
  __device__ void min_local(unsigned long long* word, unsigned long long value) const {
    atomicMin(word, value);
  }
  __device__ void max_local(unsigned long long* word, unsigned long long value) const {
    if (*static_cast<volatile unsigned long long*>(word) < value) atomicMax(word, value);
  }
  __device__ bool claim_local(std::uint32_t* word) const { return atomicExch(word, 1u) == 0; }
  __device__ std::uint32_t host_word(const std::uint32_t* word) const {
    return *static_cast<const volatile std::uint32_t*>(word);
  }
  __device__ void set_host_word(std::uint32_t* word, std::uint32_t value) const {
    *static_cast<volatile std::uint32_t*>(word) = value;
    __threadfence_system();  // for the host, which has no acquire towards the device
  }
  __device__ std::uint64_t cycles() const { return static_cast<std::uint64_t>(clock64()); }
  __device__ void relax() const {}
  __device__ std::uint64_t now_ns() const {
    std::uint64_t ns;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(ns));
    return ns;
  }

 private:
  int rank_;
};

/// Every kernel of the program.
template <class K, class T, int N>
__global__ void __launch_bounds__(kMaxThreads)
    kernel_entry(const __grid_constant__ K kernel, const __grid_constant__ Peers peers) {
  kernel.template operator()<T, N>(Exec(peers.first_rank), peers);
}

}  // namespace port_cuda
}  // namespace arbench
