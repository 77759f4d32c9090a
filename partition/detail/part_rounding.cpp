#include <voussoir/partition/detail/part_rounding.hpp>

#include <cmath>
#include <limits>

#include <Eigen/SVD>

#include <voussoir/partition/coarse_space.hpp>

namespace voussoir::detail {

std::vector<std::vector<double>> unresisted_motions(const SymmetricCsr& rows,
                                                    const std::vector<std::vector<double>>& motions,
                                                    std::span<const std::int32_t> boundary) {
  constexpr double rounding = 100 * std::numeric_limits<double>::epsilon();
  const std::size_t n = rows.row_start.size() - 1;
  SymmetricCsr sizes = rows;
  for (double& value : sizes.value) value = std::abs(value);
  Eigen::MatrixXd motion(static_cast<Eigen::Index>(n), static_cast<Eigen::Index>(motions.size()));
  Eigen::MatrixXd force = motion;
  for (std::size_t k = 0; k < motions.size(); ++k) {
    const auto c = static_cast<Eigen::Index>(k);
    motion.col(c) = Eigen::Map<const Eigen::VectorXd>(motions[k].data(), motion.rows());
    multiply(rows, motions[k], {force.col(c).data(), n});
  }
  const Eigen::VectorXd largest = motion.cwiseAbs().rowwise().maxCoeff();
  Eigen::VectorXd terms(motion.rows());
  multiply(sizes, {largest.data(), n}, {terms.data(), n});
  for (Eigen::Index i = 0; i < terms.size(); ++i) force.row(i) /= terms(i) > 0 ? terms(i) : 1.0;
  const Eigen::JacobiSVD<Eigen::MatrixXd> combinations(force, Eigen::ComputeThinU | Eigen::ComputeThinV);
  std::vector<std::vector<double>> found;
  for (Eigen::Index k = 0; k < combinations.matrixV().cols(); ++k) {
    if ((force * combinations.matrixV().col(k)).cwiseAbs().maxCoeff() > rounding) continue;
    const Eigen::VectorXd whole = motion * combinations.matrixV().col(k);
    std::vector<double>& one = found.emplace_back();
    for (const std::int32_t b : boundary) one.push_back(whole(b));
  }
  return found;
}

void clear_rounding(Eigen::MatrixXd& matrix, std::vector<std::vector<double>> motions) {
  Eigen::VectorXd unit(matrix.rows());  // in these units, all diagonal entries are about 1
  for (Eigen::Index i = 0; i < unit.size(); ++i)
    unit(i) = matrix(i, i) > 0 ? std::exp2(std::round(0.5 * std::log2(matrix(i, i)))) : 1.0;
  for (auto& motion : motions)
    for (std::size_t i = 0; i < motion.size(); ++i) motion[i] *= unit(static_cast<Eigen::Index>(i));
  Eigen::MatrixXd scaled = unit.cwiseInverse().asDiagonal() * matrix * unit.cwiseInverse().asDiagonal();
  for (const std::vector<double>& one : orthonormal_basis(std::move(motions))) {
    const Eigen::Map<const Eigen::VectorXd> motion(one.data(), matrix.rows());
    for (int pass = 0; pass < 2; ++pass) {  // the second takes what the first leaves
      const Eigen::VectorXd force = scaled * motion;
      scaled -= motion * force.transpose() + (force - motion.dot(force) * motion) * motion.transpose();
    }
  }
  matrix = unit.asDiagonal() * (0.5 * (scaled + scaled.transpose())) * unit.asDiagonal();
}

}  // namespace voussoir::detail
