#pragma once
#include <cstdint>

#include <voussoir/backends/cuda/runtime/runtime.hpp>

// Sums in a fixed order. How a sum is cut depends on its length alone, never on the device, so the same input gives the
// same bits on every GPU: threads of a block stride over its share, lanes add by halves, warps in order, and the
// blocks' sums are added by one block in the same way.

namespace voussoir::cuda {

inline constexpr int sum_threads = 256;  ///< threads per block of kernels that sum
/// Most blocks, and so partial sums, of kernels that sum over a vector: four for each multiprocessor of a large GPU.
inline constexpr int most_sum_blocks = 528;

/// The launch of a kernel that strides over `count` items, `per_thread` of them at a time.
inline Grid grid_for_sum(std::int64_t count, int per_thread = 2) {
  const std::int64_t share = static_cast<std::int64_t>(sum_threads) * per_thread;
  const std::int64_t blocks = (count + share - 1) / share;
  return {blocks < 1 ? 1 : blocks > most_sum_blocks ? most_sum_blocks : blocks, sum_threads, 0};
}

/// Sum over the lanes of a warp, in every lane.
__device__ inline double sum_of_warp(double value) {
  for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(0xffffffffu, value, step);
  return value;
}

/// Sums of `Count` values per thread over a block of `Threads` (a multiple of 32), in every thread. All threads call.
template <int Threads, int Count>
__device__ inline void sum_block(double (&values)[Count]) {
  VSR_SHARED double sums[Count][Threads / 32];
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  for (int k = 0; k < Count; ++k) {
    values[k] = sum_of_warp(values[k]);
    if (lane == 0) sums[k][warp] = values[k];
  }
  __syncthreads();
  for (int k = 0; k < Count; ++k) {
    double total = 0;
    for (int w = 0; w < Threads / 32; ++w) total += sums[k][w];
    values[k] = total;
  }
  __syncthreads();
}
template <int Threads>
__device__ inline double sum_block(double value) {
  double values[1] = {value};
  sum_block<Threads, 1>(values);
  return values[0];
}

/// Sum of `count` partial sums, in every thread of a block. All threads call.
template <int Threads>
__device__ inline double add_partials(const double* partials, int count) {
  double sum = 0;
  for (int i = static_cast<int>(threadIdx.x); i < count; i += Threads) sum += partials[i];
  return sum_block<Threads>(sum);
}

/// True in all threads of the block that calls it last of all blocks of the kernel: it sees what the others have
/// written before. `counter` is 0 before the kernel and after it (CudaMemory::counter()). All threads call.
__device__ inline bool is_last_block(unsigned* counter) {
  VSR_SHARED unsigned order;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    order = atomicAdd(counter, 1u);
    if (order + 1 == gridDim.x) *counter = 0;
  }
  __syncthreads();
  const bool last = order + 1 == gridDim.x;
  if (last) __threadfence();
  __syncthreads();
  return last;
}

/// Ends a kernel of many blocks that leaves one sum: `partials` has room for one value per block, *result gets the
/// total. `share` is the thread's. All threads of all blocks call.
template <int Threads>
__device__ inline void finish_sum(double share, double* partials, unsigned* counter, double* result) {
  const double sum = sum_block<Threads>(share);
  if (threadIdx.x == 0) partials[blockIdx.x] = sum;
  if (!is_last_block(counter)) return;
  const double total = add_partials<Threads>(partials, static_cast<int>(gridDim.x));
  if (threadIdx.x == 0) *result = total;
}

}  // namespace voussoir::cuda
