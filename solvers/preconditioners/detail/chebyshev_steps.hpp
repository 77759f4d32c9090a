#pragma once
#include <cmath>
#include <vector>

namespace voussoir::detail {

/// A step of an iteration for A x = b with an approximate inverse M: d = beta d + alpha M (b − A x), x += d.
struct IterationStep {
  double alpha = 1;
  double beta = 0;
};

/// The steps of Chebyshev's iteration for eigenvalues of MA in [low, high]: Saad, Iterative Methods for Sparse Linear
/// Systems, 2nd edition, algorithm 12.1.
inline std::vector<IterationStep> chebyshev_steps(double low, double high, int count) {
  const double centre = (high + low) / 2, half = (high - low) / 2, sigma = centre / half;
  std::vector<IterationStep> steps{{1 / centre, 0}};
  double rho = 1 / sigma;
  while (static_cast<int>(steps.size()) < count) {
    const double next = 1 / (2 * sigma - rho);
    steps.push_back({2 * next / half, next * rho});
    rho = next;
  }
  return steps;
}

/// Guaranteed error reduction of `count` steps for eigenvalues in [low, high]: Chebyshev's polynomial.
inline double chebyshev_reduction(double low, double high, int count) {
  return std::cosh(count * std::acosh((high + low) / (high - low)));
}

}  // namespace voussoir::detail
