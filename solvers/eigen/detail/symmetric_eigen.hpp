#pragma once
#include <Eigen/Core>

namespace voussoir::detail {

/// Eigenvalues, ascending, and eigenvectors, one per column, of a small symmetric matrix.
struct SymmetricEigen {
  Eigen::VectorXd values;
  Eigen::MatrixXd vectors;
};
/// Reads the lower triangle. Throws Error (not_finite) for a matrix with a NaN or an infinity.
SymmetricEigen symmetric_eigen(const Eigen::MatrixXd& matrix);

}  // namespace voussoir::detail
