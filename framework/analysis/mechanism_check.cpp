#include <voussoir/framework/analysis/mechanism_check.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <voussoir/framework/analysis/detail/no_stiffness.hpp>
#include <voussoir/framework/detail/dense_algebra.hpp>
#include <voussoir/framework/model/unrestrained_unknowns.hpp>

namespace voussoir {
namespace {

/// The diagonal of the matrix as a vector. Where dependent unknowns hand their stiffness on, what it was summed from:
/// the sum may have cancelled to nothing but rounding errors, below lost_in_rounding.
Vector diagonal_of(const LinearSOE& soe) {
  const AnalysisModel& model = soe.model();
  Backend& backend = model.backend();
  const BlockDiagonal diagonal = soe.sparse_matrix()
                                     ? backend.block_diagonal(*soe.sparse_matrix(), 1)
                                     : backend.block_diagonal(model.device_model(), *soe.element_operator(), 1);
  std::vector<double> values;
  for (int d = 0; d < backend.devices(); ++d) {
    const auto part = diagonal.blocks[static_cast<std::size_t>(d)].read_host();
    const auto owned = static_cast<std::ptrdiff_t>(diagonal.layout->owned(d));
    values.insert(values.end(), part.begin(), part.begin() + owned);
  }
  if (!model.constraints().dependent.empty()) {
    const std::vector<double> summed = stiffness_handed_on(model);
    for (std::size_t e = 0; e < values.size(); ++e)
      values[e] = std::max(values[e], lost_in_rounding / detail::no_stiffness * summed[e]);
  }
  Vector result = model.make_vector();
  result.from_host(values);
  return result;
}

}  // namespace

MechanismReport find_mechanisms(const LinearSOE& soe, const RigidClusters& clusters) {
  const AnalysisModel& model = soe.model();
  Backend& backend = model.backend();
  MechanismReport verdict;
  if (!model.device_model().symmetric()) {
    verdict.note =
        "mechanisms that the load does not excite were not excluded: the matrix is not symmetric; a direct "
        "solver finds them";
    return verdict;
  }
  if (!clusters.undecided().empty())
    verdict.note = "mechanisms that the load does not excite were not excluded: " + clusters.undecided() +
                   "; a direct solver finds them";
  const auto count = static_cast<Eigen::Index>(clusters.motions().size());
  if (count == 0) return verdict;

  Vector motions = model.make_vector(static_cast<int>(count)), image = model.make_vector(static_cast<int>(count));
  {
    std::vector<double> values(static_cast<std::size_t>(model.equation_count()) * static_cast<std::size_t>(count));
    for (std::size_t e = 0; e < static_cast<std::size_t>(model.equation_count()); ++e)
      for (std::size_t c = 0; c < static_cast<std::size_t>(count); ++c)
        values[e * static_cast<std::size_t>(count) + c] = clusters.motions()[c][e];
    motions.from_host(values);
  }
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  RowMajor stiffness(count, count), size(count, count);
  const auto entries = [&](RowMajor& m) { return std::span<double>(m.data(), static_cast<std::size_t>(m.size())); };
  soe.matrix().apply(motions, image);
  backend.block_dot(motions, image, entries(stiffness));
  backend.multiply(diagonal_of(soe), motions, image);
  backend.block_dot(motions, image, entries(size));

  // The pencil (stiffness, size), in a basis in which size is the unit matrix. Directions that do not move count for
  // nothing.
  const Eigen::MatrixXd symmetric = 0.5 * (size + size.transpose());
  const detail::Spectrum extent = detail::spectrum_of(symmetric);
  std::vector<Eigen::Index> kept;
  for (Eigen::Index i = 0; i < count; ++i)
    if (extent.values[i] > 1e-10 * extent.values[count - 1]) kept.push_back(i);
  if (kept.empty() || !stiffness.allFinite()) return verdict;
  const Eigen::MatrixXd basis =
      extent.vectors(Eigen::all, kept) *
      extent.values(kept).cwiseMax(std::numeric_limits<double>::min()).cwiseSqrt().cwiseInverse().asDiagonal();
  const detail::Spectrum ritz =
      detail::spectrum_of(detail::congruent(0.5 * (stiffness + stiffness.transpose()), basis));
  if (!(std::abs(ritz.values[0]) <= detail::no_stiffness)) return verdict;

  const Eigen::VectorXd mix = basis * ritz.vectors.col(0);
  verdict.motion.assign(static_cast<std::size_t>(model.equation_count()), 0.0);
  double square = 0;
  for (std::size_t e = 0; e < verdict.motion.size(); ++e) {
    for (Eigen::Index c = 0; c < count; ++c)
      verdict.motion[e] += mix[c] * clusters.motions()[static_cast<std::size_t>(c)][e];
    square += verdict.motion[e] * verdict.motion[e];
  }
  for (double& v : verdict.motion) v /= std::sqrt(square);
  return verdict;
}

}  // namespace voussoir
