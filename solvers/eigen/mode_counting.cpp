#include <voussoir/solvers/eigen/mode_counting.hpp>

#include <cmath>
#include <limits>

#include <voussoir/solvers/eigen/detail/completeness.hpp>
#include <voussoir/solvers/eigen/detail/eigen_rules.hpp>

namespace voussoir {

bool are_equal_eigenvalues(double a, double b) { return std::abs(b - a) <= detail::same_eigenvalue * std::abs(b); }

double counting_limit(std::span<const double> values, int count) {
  return detail::limit_above(values, count, std::numeric_limits<double>::infinity());
}

std::string counted_statement(std::int64_t found, std::int64_t counted, double from, double limit) {
  return detail::sturm_statement(found, counted, from, limit);
}

double first_trial_shift(double largest_ratio, std::int64_t free_equations) {
  return detail::first_shift(largest_ratio, free_equations);
}

int largest_dimension(const Domain& domain) { return detail::dimension_of(domain); }

std::int64_t countable_equations(int dimension) { return detail::affordable_equations(dimension); }

}  // namespace voussoir
