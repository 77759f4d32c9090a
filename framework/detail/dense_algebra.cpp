#include <voussoir/framework/detail/dense_algebra.hpp>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/QR>

namespace voussoir::detail {

Spectrum spectrum_of(const Eigen::MatrixXd& symmetric) {
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(symmetric);
  return {eigen.eigenvalues(), eigen.eigenvectors()};
}

Eigen::VectorXd eigenvalues_of(const Eigen::MatrixXd& symmetric) {
  return Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(symmetric, Eigen::EigenvaluesOnly).eigenvalues();
}

bool is_definite(const Eigen::MatrixXd& symmetric) {
  return Eigen::LLT<Eigen::MatrixXd>(symmetric).info() == Eigen::Success;
}

Eigen::Index column_rank(const Eigen::MatrixXd& matrix, double threshold) {
  Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr(matrix);
  qr.setThreshold(threshold);
  return qr.rank();
}

Eigen::MatrixXd product(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) { return a * b; }

Eigen::MatrixXd transposed_product(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) { return a.transpose() * b; }

Eigen::MatrixXd congruent(const Eigen::MatrixXd& matrix, const Eigen::MatrixXd& basis) {
  return basis.transpose() * matrix * basis;
}

}  // namespace voussoir::detail
