#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

// Just enough of CUDA for the kernels of this folder to be compiled by a plain C++ compiler and run on the CPU: threads
// of a block are fibers that take turns at barriers, blocks follow each other. Slow, but exact, and on every machine:
// the tests run the CUDA backend's own code with it where there is no GPU. What is not here must not be used in
// kernels.

// NOLINTBEGIN(readability-identifier-naming, bugprone-reserved-identifier): the names are CUDA's
#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __constant__ static const
#define __grid_constant__

struct dim3 {
  unsigned x = 1, y = 1, z = 1;
};

enum cudaError_t { cudaSuccess = 0, cudaErrorMemoryAllocation = 2, cudaErrorNotSupported = 801 };
enum cudaMemcpyKind { cudaMemcpyDefault = 4 };
using cudaStream_t = struct VsrEmulatedStream*;
using cudaEvent_t = struct VsrEmulatedEvent*;

namespace voussoir::cuda::emulation {

/// Where the running thread stands.
struct Place {
  dim3 thread, block, block_size, grid_size;
};
extern thread_local Place place;

/// Runs `body` once for every thread of every block. Blocks follow each other, but `cluster` of them, neighbours along
/// x, run at the same time; grid.x is a multiple of it.
void run(dim3 grid, dim3 block, std::size_t shared_bytes, void (*body)(void*), void* argument, unsigned cluster = 1);
/// The dynamic shared memory of the running block.
void* dynamic_shared();
void block_barrier();
/// Waits for all threads of all blocks of the running cluster.
void cluster_barrier();
/// Where a place in the running block's dynamic shared memory lies in block `rank` of its cluster.
const void* in_block(const void* shared, int rank);
void warp_barrier(unsigned mask);
/// The value that lane `source` of the running warp hands over; every lane of `mask` must call.
std::uint64_t exchange(unsigned mask, std::uint64_t mine, int source);
/// The lanes of `mask` in the running warp that say yes, a bit for each; every one of them must call.
unsigned ballot(unsigned mask, bool yes);
int lane();
/// Memory counted against a small limit, so that lack of it can be tested. Null where there is none left.
void* allocate(std::size_t bytes);
void release(void* pointer);
std::size_t free_bytes();
std::size_t total_bytes();

template <class T>
T exchange_value(unsigned mask, T value, int source) {
  static_assert(sizeof(T) <= sizeof(std::uint64_t));
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  bits = exchange(mask, bits, source);
  std::memcpy(&value, &bits, sizeof(T));
  return value;
}

}  // namespace voussoir::cuda::emulation

#define threadIdx (::voussoir::cuda::emulation::place.thread)
#define blockIdx (::voussoir::cuda::emulation::place.block)
#define blockDim (::voussoir::cuda::emulation::place.block_size)
#define gridDim (::voussoir::cuda::emulation::place.grid_size)

inline void __syncthreads() { ::voussoir::cuda::emulation::block_barrier(); }
inline void __syncwarp(unsigned mask = 0xffffffffu) { ::voussoir::cuda::emulation::warp_barrier(mask); }
inline void __threadfence() {}
inline void __threadfence_block() {}
template <class T>
T __shfl_sync(unsigned mask, T value, int source, int width = 32) {
  const int lane = ::voussoir::cuda::emulation::lane();
  return ::voussoir::cuda::emulation::exchange_value(mask, value, lane / width * width + source % width);
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int bits, int width = 32) {
  const int lane = ::voussoir::cuda::emulation::lane(), source = lane ^ bits;
  return ::voussoir::cuda::emulation::exchange_value(mask, value, source / width == lane / width ? source : lane);
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32) {
  const int lane = ::voussoir::cuda::emulation::lane(), source = lane + static_cast<int>(delta);
  return ::voussoir::cuda::emulation::exchange_value(mask, value, source / width == lane / width ? source : lane);
}
template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32) {
  const int lane = ::voussoir::cuda::emulation::lane(), source = lane - static_cast<int>(delta);
  return ::voussoir::cuda::emulation::exchange_value(mask, value, source >= lane / width * width ? source : lane);
}
inline unsigned __ballot_sync(unsigned mask, int predicate) {
  return ::voussoir::cuda::emulation::ballot(mask, predicate != 0);
}
inline int __any_sync(unsigned mask, int predicate) { return __ballot_sync(mask, predicate) != 0; }
inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __ffs(int x) { return __builtin_ffs(x); }
template <class T>
T __ldg(const T* p) {
  return *p;
}
template <class T, class U>
T atomicAdd(T* p, U value) {
  const T old = *p;
  *p = static_cast<T>(old + value);
  return old;
}
template <class T, class U>
T atomicMin(T* p, U value) {
  const T old = *p;
  if (static_cast<T>(value) < old) *p = static_cast<T>(value);
  return old;
}
template <class T, class U>
T atomicMax(T* p, U value) {
  const T old = *p;
  if (static_cast<T>(value) > old) *p = static_cast<T>(value);
  return old;
}
template <class T, class U>
T atomicOr(T* p, U value) {
  const T old = *p;
  *p = static_cast<T>(old | value);
  return old;
}
template <class T, class U>
T atomicExch(T* p, U value) {
  const T old = *p;
  *p = static_cast<T>(value);
  return old;
}
template <class T>
T atomicCAS(T* p, T expected, T value) {
  const T old = *p;
  if (old == expected) *p = value;
  return old;
}
// NOLINTEND(readability-identifier-naming, bugprone-reserved-identifier)
