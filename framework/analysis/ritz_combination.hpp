#pragma once
#include <span>
#include <vector>

namespace voussoir {

/// How vectors are combined into Ritz vectors.
struct RitzCombination {
  std::vector<double> values;        ///< Ritz values, ascending
  std::vector<double> coefficients;  ///< a column of as many numbers as there were vectors for each Ritz vector
};

/// M-orthonormal Ritz vectors from vectors X with the symmetric products XᵀMX and XᵀKX. Vectors that depend linearly on
/// others, to 1e-10 of their squared norms, are left out.
RitzCombination ritz_combination(std::span<const double> mass, std::span<const double> stiffness);

}  // namespace voussoir
