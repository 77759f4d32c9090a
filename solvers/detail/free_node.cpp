#include <voussoir/solvers/detail/free_node.hpp>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <vector>

#include <voussoir/framework/model/free_motion.hpp>

namespace voussoir::detail {
namespace {

/// Resistance below this fraction of the node's stiffness is rounding.
constexpr double no_resistance = 1e-12;

/// The free equations of the node that an equation belongs to.
std::vector<std::int32_t> free_equations_beside(const AnalysisModel& model, std::int32_t equation) {
  const auto first = model.first_equation();
  const auto after = std::upper_bound(first.begin(), first.end(), equation);
  std::vector<std::int32_t> equations;
  if (after == first.begin() || after == first.end()) return equations;
  for (std::int32_t e = *(after - 1); e < *after; ++e)
    if (model.is_free(e)) equations.push_back(e);
  return equations;
}

/// Combines motions so that each is largest in an unknown of its own, in which the others are zero.
void separate(Eigen::MatrixXd& motions) {
  for (Eigen::Index k = 0; k < motions.cols(); ++k) {
    Eigen::Index row = 0, column = 0;
    motions.rightCols(motions.cols() - k).cwiseAbs().maxCoeff(&row, &column);
    motions.col(k).swap(motions.col(k + column));
    motions.col(k) /= motions(row, k);
    for (Eigen::Index j = 0; j < motions.cols(); ++j)
      if (j != k) motions.col(j) -= motions(row, j) * motions.col(k);
  }
}

}  // namespace

void require_resistance(const LinearSOE& soe, std::int32_t equation) {
  const AnalysisModel& model = soe.model();
  const std::vector<std::int32_t> equations = free_equations_beside(model, equation);
  const auto n = static_cast<Eigen::Index>(equations.size());
  if (n == 0) return;
  Eigen::MatrixXd stiffness(n, n);
  Vector x = model.make_vector(), y = model.make_vector();
  std::vector<double> unit(static_cast<std::size_t>(model.equation_count()), 0.0);
  for (Eigen::Index j = 0; j < n; ++j) {
    double& own = unit[static_cast<std::size_t>(equations[static_cast<std::size_t>(j)])];
    own = 1;
    x.from_host(unit);
    own = 0;
    soe.matrix().apply(x, y);
    const std::vector<double> image = y.to_host();
    for (Eigen::Index i = 0; i < n; ++i)
      stiffness(i, j) = image[static_cast<std::size_t>(equations[static_cast<std::size_t>(i)])];
  }
  if (!stiffness.allFinite()) return;
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> found(stiffness);
  const double most = found.eigenvalues().cwiseAbs().maxCoeff();
  Eigen::MatrixXd free(n, 0);
  for (Eigen::Index k = 0; k < n; ++k) {
    if (std::abs(found.eigenvalues()[k]) > no_resistance * most) continue;
    free.conservativeResize(n, free.cols() + 1);
    free.col(free.cols() - 1) = found.eigenvectors().col(k);
  }
  separate(free);
  std::vector<FreeMotion> motions;
  for (Eigen::Index k = 0; k < free.cols(); ++k) {
    for (Eigen::Index i = 0; i < n; ++i)
      unit[static_cast<std::size_t>(equations[static_cast<std::size_t>(i)])] = free(i, k);
    motions.push_back(describe_motion(model, unit));
  }
  require_no_free_motion(motions);
}

}  // namespace voussoir::detail
