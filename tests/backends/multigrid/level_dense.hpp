#pragma once
#include <Eigen/Core>
#include <vector>

#include <voussoir/backends/backend.hpp>
#include <voussoir/backends/multigrid.hpp>

// Matrices and vectors of multigrid's levels, to and from dense ones: what the services give is compared with these.

namespace voussoir::levels {

using Dense = Eigen::MatrixXd;

/// Blocks of a dense matrix in which there is a number.
LevelMatrix level_matrix(const Backend& backend, const Dense& dense, int height, int width);
LevelVector level_vector(const Backend& backend, const Dense& dense, bool single);
/// Without values: they are to be written.
LevelVector empty_vector(const Backend& backend, int rows, int columns, bool single);

/// Numbers in whichever precision there is.
template <class Holder>
std::vector<double> numbers_of(const Holder& holder) {
  if (holder.single_value.empty()) {
    const auto value = holder.value.read_host();
    return {value.begin(), value.end()};
  }
  const auto value = holder.single_value.read_host();
  return {value.begin(), value.end()};
}

Dense dense_of(const LevelMatrix& a);
Dense dense_of(const LevelDiagonal& d);
Dense dense_of(const DenseInverse& d);
Dense dense_of(const LevelVector& x);

void expect_near(const Dense& found, const Dense& expected, double tolerance);

/// Numbers in about `share` of the blocks.
Dense sparse_blocks(int rows, int columns, int height, int width, double share, unsigned seed);
/// A symmetric positive definite matrix with numbers in some of its blocks.
Dense positive_blocks(int rows, int size, double share, unsigned seed);
Dense random_dense(int rows, int columns, unsigned seed);
/// Tridiagonal (−1, 2, −1).
Dense path(int nodes);

}  // namespace voussoir::levels
