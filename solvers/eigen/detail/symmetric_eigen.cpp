#include <voussoir/solvers/eigen/detail/symmetric_eigen.hpp>

#include <Eigen/Eigenvalues>

#include <voussoir/backends/error.hpp>

namespace voussoir::detail {

SymmetricEigen symmetric_eigen(const Eigen::MatrixXd& matrix) {
  if (!matrix.allFinite())
    throw Error(ErrorCode::not_finite, "a projected matrix of the eigen-solver has a value that is not finite");
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(matrix);
  return {solver.eigenvalues(), solver.eigenvectors()};
}

}  // namespace voussoir::detail
