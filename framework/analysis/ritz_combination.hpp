#pragma once
#include <span>
#include <vector>

namespace voussoir {

/// How vectors are combined to Ritz vectors.
struct RitzCombination {
  std::vector<double> values;        ///< Ritz values, ascending
  std::vector<double> coefficients;  ///< a column of as many numbers as there were vectors for each Ritz vector
};

/// Ritz vectors that are orthonormal in the mass, of vectors with these products XᵀMX and XᵀKX, which are symmetric.
/// Vectors that depend on others to 1e-10 of their squares are left out.
RitzCombination ritz_combination(std::span<const double> mass, std::span<const double> stiffness);

}  // namespace voussoir
