#pragma once
#include <cstdint>
#include <cstring>
#include <memory>

#include <voussoir/backends/cuda/runtime/memory.hpp>
#include <voussoir/backends/multigrid.hpp>

namespace voussoir::cuda {

/// The pattern of block rows, as kernels see it.
struct LevelPattern {
  std::int32_t rows = 0;
  const std::int64_t* start = nullptr;
  const std::int32_t* column = nullptr;

  __device__ std::int32_t length(std::int64_t row) const {
    return static_cast<std::int32_t>(start[row + 1] - start[row]);
  }
  __device__ const std::int32_t* columns_of(std::int64_t row) const { return column + start[row]; }
};

/// Inside a section.
inline LevelPattern pattern_of(const LevelMatrix& a) { return {a.rows, a.start.read_device(), a.column.read_device()}; }

/// The first of `count` ascending columns that is not below this one.
__device__ inline std::int32_t lower_block(const std::int32_t* columns, std::int32_t count, std::int32_t wanted) {
  std::int32_t low = 0, high = count;
  while (low < high) {
    const std::int32_t middle = (low + high) / 2;
    if (columns[middle] < wanted)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/// Which of them is this one, or −1.
__device__ inline std::int32_t find_block(const std::int32_t* columns, std::int32_t count, std::int32_t wanted) {
  const std::int32_t k = lower_block(columns, count, wanted);
  return k < count && columns[k] == wanted ? k : -1;
}

/// Blocks of a row on average, at least one.
inline std::int64_t mean_length(const LevelMatrix& a) {
  return a.rows == 0 || a.blocks() <= a.rows ? 1 : (a.blocks() + a.rows - 1) / a.rows;
}

/// The launch of a kernel with a warp for each of `rows` rows, `warps` of them in a block.
inline Grid grid_of_warps(std::int64_t rows, int warps) { return {(rows + warps - 1) / warps, 32 * warps, 0}; }

/// Copies one number of the device to the host. Inside a section; waits.
template <class Number>
Number fetch_total(const std::shared_ptr<DeviceMemory>& memory, const Number* number) {
  const CudaMemory& cuda = cuda_memory(memory);
  copy_async(cuda.results(), number, sizeof(Number), cuda.stream());
  synchronize(cuda.stream());
  Number value;
  std::memcpy(&value, cuda.results(), sizeof value);
  return value;
}

}  // namespace voussoir::cuda
