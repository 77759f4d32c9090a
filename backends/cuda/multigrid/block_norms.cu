#include <voussoir/backends/cuda/multigrid/block_norms.hpp>

namespace voussoir::cuda {

namespace {

constexpr int threads = 256;

/// A thread per row.
__global__ void __launch_bounds__(threads)
    measure_diagonal(LevelPattern rows, int size, const double* value, double* norm) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
  if (row >= rows.rows) return;
  const std::int32_t n = rows.length(row);
  const std::int32_t k = find_block(rows.columns_of(row), n, static_cast<std::int32_t>(row));
  norm[row] = k < 0 ? 0 : sqrt(block_norm2(value + (rows.start[row] * size + k) * size, n, size));
}

}  // namespace

void enqueue_diagonal_norms(const LevelPattern& rows, int size, const double* value, double* norm,
                            cudaStream_t stream) {
  launch(measure_diagonal, grid_for(rows.rows, threads), stream, rows, size, value, norm);
}

}  // namespace voussoir::cuda
