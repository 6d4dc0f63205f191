// The machine a file is compiled for, as macros. The only other header that asks is port.hpp.
#pragma once

#ifdef __CUDACC__
#define ARBENCH_DEVICE __device__ __forceinline__
#define ARBENCH_SHARED_INLINE __host__ __device__ __forceinline__
#define ARBENCH_PORT port_cuda
#else
#define ARBENCH_DEVICE inline
#define ARBENCH_SHARED_INLINE inline
#define ARBENCH_PORT port_host
#endif
#ifdef __CUDA_ARCH__
#define ARBENCH_UNROLL _Pragma("unroll")
#else
#define ARBENCH_UNROLL
#endif
