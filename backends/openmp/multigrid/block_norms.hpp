#pragma once
#include <vector>

#include <voussoir/backends/openmp/multigrid/services.hpp>

namespace voussoir::cpu {

/// The Frobenius norm of a block of a row with n blocks, squared.
inline double block_norm2(const double* block, std::int64_t n, int size) {
  double sum = 0;
  for (int r = 0; r < size; ++r)
    for (int c = 0; c < size; ++c) sum += block[r * n * size + c] * block[r * n * size + c];
  return sum;
}

/// The norms of the diagonal blocks of a square matrix; 0 where there is none.
std::vector<double> diagonal_norms(const LevelRows<const double>& a, int size, int threads);

}  // namespace voussoir::cpu
