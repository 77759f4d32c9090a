#pragma once
#include <voussoir/backends/cuda/multigrid/level_rows.hpp>

namespace voussoir::cuda {

/// The Frobenius norm of a block of a row with n blocks, squared.
__device__ inline double block_norm2(const double* block, std::int64_t n, int size) {
  double sum = 0;
  for (int r = 0; r < size; ++r)
    for (int c = 0; c < size; ++c) sum += block[r * n * size + c] * block[r * n * size + c];
  return sum;
}

/// Enqueues the norms of the diagonal blocks of a square matrix; 0 where there is none. Inside a section.
void enqueue_diagonal_norms(const LevelPattern& rows, int size, const double* value, double* norm, cudaStream_t stream);

}  // namespace voussoir::cuda
