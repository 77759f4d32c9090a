#pragma once
#include <array>
#include <cstddef>

namespace voussoir::detail {

/// Symmetric tensors side by side: component i (xx yy zz xy yz xz) of lane l is of[i][l].
struct LaneTensors {
  static constexpr std::size_t lanes = 8;
  double of[6][lanes];

  void set(std::size_t lane, const double* tensor) {
    for (std::size_t i = 0; i < 6; ++i) of[i][lane] = tensor[i];
  }
  std::array<double, 3> diagonal(std::size_t lane) const { return {of[0][lane], of[1][lane], of[2][lane]}; }

  /// Turns each tensor to its principal axes, the largest value first. Jacobi's rotations (Golub and Van Loan, Matrix
  /// Computations, section 8.5): unlike the roots of the characteristic cubic, they lose no digits where two values are
  /// alike, as in every uniaxial stress. A lane's result does not depend on its neighbours.
  void diagonalize();
};

}  // namespace voussoir::detail
