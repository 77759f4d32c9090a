#include <voussoir/framework/response/spectral_combination.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include <voussoir/backends/error.hpp>
#include <voussoir/backends/number_text.hpp>
#include <voussoir/framework/response/detail/coordinate_product.hpp>

namespace voussoir {
namespace {

using detail::tile_entries;

constexpr const char* combination_place = "modal combination";

/// Correlations of all coordinates, row by row: CQC's for the modes; residuals, and everything in SRSS, are
/// independent.
std::vector<double> correlations(const ModalSystem& modes, std::span<const double> coordinates,
                                 ModalCombination combination) {
  const std::size_t n = coordinates.size();
  std::vector<double> matrix(n * n);
  for (std::size_t i = 0; i < n; ++i) matrix[i * n + i] = 1;
  if (combination != ModalCombination::cqc) return matrix;
  for (std::size_t i = 0; i < modes.modes(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      if (coordinates[i] == 0 || coordinates[j] == 0) continue;  // a rigid mode that does not respond has no ratio
      matrix[i * n + j] = matrix[j * n + i] =
          cqc_correlation(modes.omegas()[i], modes.damping_ratio(i), modes.omegas()[j], modes.damping_ratio(j));
    }
  return matrix;
}

/// Σ_i Σ_j ρ_ij r_i r_j of 8 entries; `rows` are the r_i.
void quadratic_form(const std::vector<double>& matrix, std::size_t n, const double* rows, bool diagonal, double* out) {
  double total[tile_entries] = {};
  for (std::size_t i = 0; i < n; ++i) {
    const double* ri = rows + i * tile_entries;
    double sum[tile_entries] = {};
    for (std::size_t j = 0; !diagonal && j < i; ++j) {
      const double rho = 2 * matrix[i * n + j];
      for (std::size_t e = 0; e < tile_entries; ++e) sum[e] += rho * rows[j * tile_entries + e];
    }
    for (std::size_t e = 0; e < tile_entries; ++e) total[e] += ri[e] * (ri[e] + sum[e]);
  }
  // The form is positive semi-definite; where modes cancel, rounding may leave a little less than zero.
  for (std::size_t e = 0; e < tile_entries; ++e) out[e] = std::sqrt(std::max(total[e], 0.0));
}

}  // namespace

double cqc_correlation(double omega_i, double ratio_i, double omega_j, double ratio_j) {
  const auto valid = [](double omega, double ratio) {
    return std::isfinite(omega) && omega > 0 && std::isfinite(ratio) && ratio >= 0;
  };
  if (!valid(omega_i, ratio_i) || !valid(omega_j, ratio_j))
    throw Error(ErrorCode::bad_input,
                "CQC needs positive frequencies and damping ratios that are not negative; a pair of modes has ω = " +
                    short_number(omega_i, 6) + ", ζ = " + short_number(ratio_i, 6) +
                    " and ω = " + short_number(omega_j, 6) + ", ζ = " + short_number(ratio_j, 6),
                combination_place);
  if (ratio_i == 0 && ratio_j == 0) return omega_i == omega_j ? 1 : 0;
  // From the lower to the higher frequency, so that the result does not depend on the order, to the last bit.
  if (omega_i > omega_j || (omega_i == omega_j && ratio_i > ratio_j)) {
    std::swap(omega_i, omega_j);
    std::swap(ratio_i, ratio_j);
  }
  const double r = omega_i / omega_j;  // ≤ 1, times ζ_i: the formula with i and j exchanged
  const double difference = (1 - r) * (1 + r);
  return 8 * std::sqrt(ratio_i * ratio_j) * (ratio_j + r * ratio_i) * r * std::sqrt(r) /
         (difference * difference + 4 * ratio_i * ratio_j * r * (1 + r * r) +
          4 * (ratio_i * ratio_i + ratio_j * ratio_j) * r * r);
}

std::vector<double> spectral_coordinates(const ModalSystem& modes, std::span<const double> participation,
                                         const ResponseSpectrum& spectrum) {
  if (participation.size() != modes.modes())
    throw Error(
        ErrorCode::misuse,
        std::to_string(participation.size()) + " participation factors for " + std::to_string(modes.modes()) + " modes",
        "response spectrum");
  std::vector<double> coordinates(modes.modes());
  for (std::size_t i = 0; i < modes.modes(); ++i) {
    const std::string mode = "mode " + std::to_string(i + 1);
    const double omega = modes.omegas()[i];
    if (!std::isfinite(participation[i]))
      throw Error(ErrorCode::not_finite, "the participation factor of " + mode + " is not finite", "response spectrum");
    if (participation[i] == 0) continue;
    if (!(omega > 0))
      throw Error(ErrorCode::bad_input,
                  mode + " is rigid and participates: a spectrum has no value for it; support the structure",
                  "response spectrum");
    try {
      coordinates[i] = participation[i] * spectrum.at_frequency(omega / (2 * std::numbers::pi)) / omega / omega;
    } catch (const Error& error) {
      throw Error(error.code(), mode + ": " + error.text(), error.where());
    }
  }
  return coordinates;
}

std::vector<double> combine_modes(const ModalSystem& modes, const ModalValues& values,
                                  std::span<const double> coordinates, ModalCombination combination) {
  const std::size_t n = coordinates.size(), entries = values.entries();
  if (n < modes.modes() || values.columns() != n)
    throw Error(ErrorCode::misuse,
                std::to_string(modes.modes()) + " modes, " + std::to_string(n) + " coordinates and " +
                    std::to_string(values.columns()) + " columns of modal values do not fit",
                combination_place);
  const std::vector<double> matrix = correlations(modes, coordinates, combination);
  std::vector<double> result(entries);
  const bool parallel = static_cast<double>(entries) * static_cast<double>(n) * static_cast<double>(n) > 1e6;
  detail::for_each_index((entries + tile_entries - 1) / tile_entries, parallel, [&](std::size_t tile) {
    const std::size_t first = tile * tile_entries;
    std::vector<double> rows(n * tile_entries);
    detail::pack_tile(
        values, [&](std::size_t e) { return first + e; }, rows.data());
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t e = 0; e < tile_entries; ++e) rows[i * tile_entries + e] *= coordinates[i];
    double combined[tile_entries] = {};
    if (combination == ModalCombination::absolute_sum) {
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t e = 0; e < tile_entries; ++e) combined[e] += std::abs(rows[i * tile_entries + e]);
    } else {
      quadratic_form(matrix, n, rows.data(), combination == ModalCombination::srss, combined);
    }
    for (std::size_t e = 0; e < tile_entries && first + e < entries; ++e) {
      if (!std::isfinite(combined[e]))
        throw Error(ErrorCode::not_finite, "entry " + std::to_string(first + e + 1) + " is not finite",
                    combination_place);
      result[first + e] = combined[e];
    }
  });
  return result;
}

std::vector<double> combine_directions(std::span<const std::vector<double>> directions,
                                       DirectionalCombination combination) {
  if (directions.empty() || directions.size() > 3)
    throw Error(ErrorCode::misuse, std::to_string(directions.size()) + " directions; there can be one to three",
                combination_place);
  for (const auto& direction : directions)
    if (direction.size() != directions[0].size())
      throw Error(ErrorCode::misuse, "the directions have different numbers of entries", combination_place);
  const double share = combination == DirectionalCombination::hundred_forty ? 0.4 : 0.3;
  std::vector<double> result(directions[0].size());
  for (std::size_t e = 0; e < result.size(); ++e) {
    double squares = 0, sum = 0, largest = 0;
    for (const auto& direction : directions) {
      const double value = std::abs(direction[e]);
      squares += value * value;
      sum += value;
      largest = std::max(largest, value);
    }
    // 100 % of the largest and a share of the others is the largest of all such sums.
    result[e] = combination == DirectionalCombination::srss ? std::sqrt(squares) : largest + share * (sum - largest);
  }
  return result;
}

}  // namespace voussoir
