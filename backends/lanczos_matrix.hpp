#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

namespace voussoir {

/// The Lanczos matrix implied by the CG coefficients (Saad, section 6.7.3): its eigenvalues approach those of the
/// preconditioned matrix, the extreme ones first.
struct LanczosMatrix {
  std::vector<double> diagonal;      ///< diagonal entries, one per iteration
  std::vector<double> side_squared;  ///< squares of the off-diagonal entries, one fewer

  /// Appends an iteration of CG: its step length `alpha`, that of the iteration before, and the factor `beta` of the
  /// previous direction in the current one.
  void add(double alpha, double previous_alpha, double beta) {
    if (!diagonal.empty()) side_squared.push_back(beta / (previous_alpha * previous_alpha));
    diagonal.push_back(1 / alpha + (diagonal.empty() ? 0 : beta / previous_alpha));
  }

  /// The number of eigenvalues below x: negative pivots of T − x I (Sturm sequence).
  std::size_t below(double x) const {
    std::size_t count = 0;
    double pivot = 1;
    for (std::size_t i = 0; i < diagonal.size(); ++i) {
      pivot = diagonal[i] - x - (i > 0 ? side_squared[i - 1] / pivot : 0.0);
      if (pivot == 0) pivot = -std::numeric_limits<double>::min();
      if (pivot < 0) ++count;
    }
    return count;
  }

  /// Eigenvalue number `index` (from 0, ascending), by bisection between Gershgorin's bounds.
  double eigenvalue(std::size_t index) const {
    double low = 0, high = 0;
    for (std::size_t i = 0; i < diagonal.size(); ++i) {
      const double radius =
          (i > 0 ? std::sqrt(side_squared[i - 1]) : 0) + (i < side_squared.size() ? std::sqrt(side_squared[i]) : 0);
      low = i == 0 ? diagonal[i] - radius : std::min(low, diagonal[i] - radius);
      high = i == 0 ? diagonal[i] + radius : std::max(high, diagonal[i] + radius);
    }
    low = std::max(low, 0.0);  // the matrix is positive definite as long as CG runs
    for (int step = 0; step < 80 && high - low > 1e-13 * high; ++step) {
      const double middle = 0.5 * (low + high);
      (below(middle) > index ? high : low) = middle;
    }
    return 0.5 * (low + high);
  }
};

}  // namespace voussoir
