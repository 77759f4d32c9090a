#pragma once
// Macros for kernel functions. A kernel is compiled by g++ for the OpenMP backend, by nvcc for the CUDA backend, and by
// NVRTC from its text, so kernel headers include nothing of the standard library.
//
//   VSR_FN            a small function, always inlined
//   VSR_LARGE_FN      a large function, not inlined
//   VSR_APART_FN      a function that compilers for GPUs do not inline: compiled alone, more of it becomes constant
//   VSR_ROLLED        before a loop that must not be unrolled, because its sums would no longer fit in registers
//   VSR_UNROLLED      before a short loop to be unrolled, so that its indices become constants
//   VSR_ALL_UNROLLED  before a loop that a compiler for GPUs unrolls whatever its length
#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
#define VSR_FN __host__ __device__ __forceinline__
#define VSR_LARGE_FN __host__ __device__ inline
#define VSR_APART_FN __host__ __device__ __noinline__
#else
#define VSR_FN inline __attribute__((always_inline))
#define VSR_LARGE_FN inline __attribute__((noinline))
#define VSR_APART_FN VSR_FN
#endif

#if defined(__CUDACC__) || defined(__CUDACC_RTC__) || defined(__clang__)
#define VSR_ROLLED _Pragma("unroll 1")
#define VSR_UNROLLED _Pragma("unroll")
#define VSR_ALL_UNROLLED _Pragma("unroll")
#else
#define VSR_ROLLED _Pragma("GCC unroll 1")
#define VSR_UNROLLED _Pragma("GCC unroll 16")
#define VSR_ALL_UNROLLED
#endif
