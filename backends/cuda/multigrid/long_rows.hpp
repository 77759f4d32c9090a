#pragma once
#include <cstdint>

#include <voussoir/backends/cuda/runtime/runtime.hpp>

namespace voussoir::cuda {

/// Threads of a block that looks for long rows.
inline constexpr int search_threads = 256;

/// The launch of a kernel that looks for long rows: a few blocks find them, so that nobody has to know before whether
/// there are any.
inline Grid grid_of_search(std::int64_t rows) {
  const std::int64_t blocks = grid_for(rows, search_threads).blocks;
  return {blocks < 528 ? blocks : 528, search_threads, 0};
}

/// Calls work(row) by all threads of a block for rows of which is_long(row) says so: each block looks through some rows
/// at a time, a thread for each. All threads of all blocks call.
template <class IsLong, class Work>
__device__ void for_long_rows(std::int64_t rows, IsLong is_long, Work work) {
  VSR_SHARED bool chosen[search_threads];
  VSR_SHARED int any;
  for (std::int64_t base = static_cast<std::int64_t>(blockIdx.x) * search_threads; base < rows;
       base += static_cast<std::int64_t>(gridDim.x) * search_threads) {
    const std::int64_t row = base + threadIdx.x;
    const bool own = row < rows && is_long(row);
    if (threadIdx.x == 0) any = 0;
    __syncthreads();
    chosen[threadIdx.x] = own;
    if (own) any = 1;  // all write the same
    __syncthreads();
    const bool look = any != 0;
    for (int i = 0; look && i < search_threads; ++i)
      if (chosen[i]) work(base + i);
    __syncthreads();
  }
}

}  // namespace voussoir::cuda
