#include <voussoir/solvers/eigen/detail/completeness.hpp>

#include <algorithm>
#include <cmath>

#include <voussoir/backends/number_text.hpp>

namespace voussoir::detail {

double limit_above(std::span<const double> values, int count, double next) {
  auto last = static_cast<std::size_t>(count) - 1;
  while (last + 1 < values.size() && values[last + 1] - values[last] <= same_eigenvalue * std::abs(values[last + 1]))
    ++last;
  const double above = last + 1 < values.size() ? values[last + 1] : next;
  const double value = values[last];
  if (!(value > 0)) return std::isfinite(above) ? 0.5 * above : 1.0;
  const double step = std::isfinite(above) ? 0.5 * (above - value) : value;
  return value + std::clamp(step, 0.5 * same_eigenvalue * value, 1e-3 * value);
}

namespace {

std::string frequency_text(double eigenvalue) { return short_number(frequency_of(eigenvalue), 6) + " Hz"; }

std::string counted_modes(std::int64_t count) { return std::to_string(count) + (count == 1 ? " mode" : " modes"); }

}  // namespace

std::string sturm_statement(std::int64_t found, std::int64_t counted, double from, double limit) {
  const std::string where =
      from > 0 ? "between " + frequency_text(from) + " and " + frequency_text(limit) : "below " + frequency_text(limit);
  const std::string numbers = std::to_string(found) + " of " + std::to_string(counted) + " " + where;
  if (found == counted) return "verified: " + numbers;
  if (found < counted)
    return "INCOMPLETE: " + numbers + " were found; the Sturm count says that " + counted_modes(counted - found) +
           (counted - found == 1 ? " is missing" : " are missing");
  return "CONTRADICTORY: " + counted_modes(found) + " were found " + where +
         ", where the Sturm count says that there are " + std::to_string(counted);
}

std::string probe_statement(std::int64_t found, std::int64_t missing, int vectors, double limit) {
  const std::string numbers = std::to_string(found) + " found below " + frequency_text(limit) + ", by " +
                              std::to_string(vectors) + " random vectors";
  if (missing == 0) return "probe found none missing: " + numbers;
  return "INCOMPLETE: a probe found " + counted_modes(missing) + " more that did not converge: " + numbers;
}

std::string loose_statement(std::int64_t found, double tolerance, double limit) {
  return "not checked for modes that were missed: " + std::to_string(found) + " found below " + frequency_text(limit) +
         " with a tolerance of " + short_number(tolerance, 3) + ", and a probe needs " +
         short_number(probe_tolerance, 3) + " or less; give a smaller tolerance, or check by a Sturm count";
}

}  // namespace voussoir::detail
