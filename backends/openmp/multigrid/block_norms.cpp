#include <voussoir/backends/openmp/multigrid/block_norms.hpp>

#include <algorithm>
#include <cmath>

namespace voussoir::cpu {

std::vector<double> diagonal_norms(const LevelRows<const double>& a, int size, int threads) {
  std::vector<double> norm(static_cast<std::size_t>(a.rows), 0.0);
#pragma omp parallel for num_threads(threads) schedule(static)
  for (std::int32_t i = 0; i < a.rows; ++i) {
    const std::int32_t n = a.length(i);
    const std::int32_t* columns = a.column + a.start[i];
    const std::int32_t* found = std::lower_bound(columns, columns + n, i);
    if (found != columns + n && *found == i)
      norm[static_cast<std::size_t>(i)] =
          std::sqrt(block_norm2(a.value + a.start[i] * size * size + (found - columns) * size, n, size));
  }
  return norm;
}

}  // namespace voussoir::cpu
