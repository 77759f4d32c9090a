#ifndef EIGEN_MPL2_ONLY
#define EIGEN_MPL2_ONLY
#endif
#include <Eigen/Dense>
#include <span>
#include <voussoir/backends/error.hpp>
#include <voussoir/solvers/direct/detail/free_motions.hpp>

namespace voussoir::detail {

FreeMotions find_free_motions(const SymmetricCsr& matrix, const std::vector<std::int32_t>& candidates,
                              const std::vector<double>& motions, double tolerance, const std::vector<double>& lost) {
  const Eigen::Index n = matrix.n, count = static_cast<Eigen::Index>(candidates.size());
  Eigen::MatrixXd q = Eigen::Map<const Eigen::MatrixXd>(motions.data(), n, count);
  for (Eigen::Index c = 0; c < count; ++c) {
    const double size = q.col(c).norm();
    if (!std::isfinite(size)) {
      throw Error(ErrorCode::singular, "factorisation without pivoting broke down; use the direct method mumps",
                  "equation " + std::to_string(candidates[c]));
    }
    if (size > 0) q.col(c) /= size;
  }
  q = Eigen::HouseholderQR<Eigen::MatrixXd>(q).householderQ() * Eigen::MatrixXd::Identity(n, count);

  Eigen::MatrixXd product(n, count);
  for (Eigen::Index c = 0; c < count; ++c) {
    multiply(matrix, std::span<const double>(q.col(c).data(), static_cast<std::size_t>(n)),
             std::span<double>(product.col(c).data(), static_cast<std::size_t>(n)));
  }
  const Eigen::MatrixXd projected = q.transpose() * product;
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> ritz(0.5 * (projected + projected.transpose()));

  std::vector<Eigen::Index> free;
  for (Eigen::Index c = 0; c < count; ++c) {
    double floor = tolerance;
    if (!lost.empty())
      floor += (q * ritz.eigenvectors().col(c)).cwiseAbs2().dot(Eigen::Map<const Eigen::VectorXd>(lost.data(), n));
    if (std::abs(ritz.eigenvalues()(c)) <= floor) free.push_back(c);
  }
  FreeMotions found;
  if (free.empty()) return found;
  const Eigen::Index dimension = static_cast<Eigen::Index>(free.size());
  const Eigen::MatrixXd basis = q * ritz.eigenvectors()(Eigen::all, free);
  found.basis.assign(basis.data(), basis.data() + basis.size());

  // Among the candidates, those equations that the free motions move most and most independently.
  Eigen::MatrixXd moved(dimension, count);
  for (Eigen::Index c = 0; c < count; ++c) moved.col(c) = basis.row(candidates[c]).transpose();
  const Eigen::ColPivHouseholderQR<Eigen::MatrixXd> choice(moved);
  for (Eigen::Index c = 0; c < dimension; ++c) {
    found.equation.push_back(candidates[choice.colsPermutation().indices()(c)]);
  }
  return found;
}

}  // namespace voussoir::detail
