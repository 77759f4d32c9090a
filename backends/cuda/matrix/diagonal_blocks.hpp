#pragma once
#include <cstdint>

#include <voussoir/backends/cuda/runtime/runtime.hpp>
#include <voussoir/backends/operator.hpp>

namespace voussoir::cuda {

/// The blocks of a BlockDiagonal on one device; one of the two pointers is null.
struct DiagonalBlocks {
  const double* whole = nullptr;
  const float* single = nullptr;

  __device__ double at(std::int64_t place) const { return whole ? whole[place] : static_cast<double>(single[place]); }
  /// Inside a section of the device.
  static DiagonalBlocks of(const BlockDiagonal& diagonal, int device) {
    DiagonalBlocks blocks;
    if (diagonal.single_blocks.empty())
      blocks.whole = diagonal.blocks[static_cast<std::size_t>(device)].read_device();
    else
      blocks.single = diagonal.single_blocks[static_cast<std::size_t>(device)].read_device();
    return blocks;
  }
};

/// z = block · r for one block row of B equations.
template <int B>
__device__ inline void multiply_block(const DiagonalBlocks& blocks, std::int64_t row, const double (&r)[B],
                                      double (&z)[B]) {
#pragma unroll
  for (int i = 0; i < B; ++i) {
    double sum = 0;
#pragma unroll
    for (int j = 0; j < B; ++j) sum += blocks.at(row * (B * B) + i * B + j) * r[j];
    z[i] = sum;
  }
}

/// Calls work(integral constant) for block sizes 1 to 6.
template <class Work>
void for_block_size(int size, const Work& work) {
  switch (size) {
    case 1:
      return work(std::integral_constant<int, 1>{});
    case 2:
      return work(std::integral_constant<int, 2>{});
    case 3:
      return work(std::integral_constant<int, 3>{});
    case 4:
      return work(std::integral_constant<int, 4>{});
    case 5:
      return work(std::integral_constant<int, 5>{});
    default:
      return work(std::integral_constant<int, 6>{});
  }
}

}  // namespace voussoir::cuda
