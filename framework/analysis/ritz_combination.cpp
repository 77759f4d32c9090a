#include <voussoir/framework/analysis/ritz_combination.hpp>

#include <cmath>

#include <voussoir/backends/error.hpp>
#include <voussoir/framework/detail/dense_algebra.hpp>

namespace voussoir {

RitzCombination ritz_combination(std::span<const double> mass, std::span<const double> stiffness) {
  const auto count = static_cast<Eigen::Index>(std::llround(std::sqrt(static_cast<double>(mass.size()))));
  if (static_cast<std::size_t>(count * count) != mass.size() || mass.size() != stiffness.size())
    throw Error(ErrorCode::misuse, "products of vectors with two matrices must be square and of the same size");
  if (count == 0) return {};
  const detail::Spectrum spectrum = detail::spectrum_of(Eigen::Map<const Eigen::MatrixXd>(mass.data(), count, count));
  constexpr double dependent = 1e-10;
  Eigen::Index first = 0;
  while (first < count && !(spectrum.values[first] > dependent * spectrum.values[count - 1])) ++first;
  if (first == count) return {};
  Eigen::MatrixXd basis = spectrum.vectors.rightCols(count - first);
  for (Eigen::Index c = 0; c < basis.cols(); ++c) basis.col(c) /= std::sqrt(spectrum.values[first + c]);
  const Eigen::MatrixXd energy = Eigen::Map<const Eigen::MatrixXd>(stiffness.data(), count, count);
  const detail::Spectrum ritz = detail::spectrum_of(detail::congruent(energy, basis));
  const Eigen::MatrixXd combination = detail::product(basis, ritz.vectors);
  RitzCombination result;
  result.values.assign(ritz.values.data(), ritz.values.data() + ritz.values.size());
  result.coefficients.assign(combination.data(), combination.data() + combination.size());
  return result;
}

}  // namespace voussoir
