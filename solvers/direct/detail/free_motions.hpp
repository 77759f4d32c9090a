#pragma once
#include <cstdint>
#include <vector>
#include <voussoir/solvers/direct/symmetric_matrix.hpp>

namespace voussoir::detail {

/// Motions that a matrix does not resist.
struct FreeMotions {
  std::vector<std::int32_t> equation;  ///< one for each motion; holding them stops all
  std::vector<double> basis;           ///< orthonormal, one vector of n numbers for each
};

/// Tells free motions from merely soft ones.
///
/// A small pivot alone proves nothing: the tip of a slender cantilever has one, and that of a free body may be far
/// above rounding where the motion hardly moves its equation. What tells them apart is the energy of the motion that
/// belongs to the pivot. So the matrix is projected on those motions (Rayleigh-Ritz), and the motions whose stiffness
/// is below `tolerance` are free. `motions` holds one vector for each candidate equation. `lost`, where it is not
/// empty, is added to the tolerance: Σ lost · x², the energy that rounding may have left of a motion x.
FreeMotions find_free_motions(const SymmetricCsr& matrix, const std::vector<std::int32_t>& candidates,
                              const std::vector<double>& motions, double tolerance,
                              const std::vector<double>& lost = {});

}  // namespace voussoir::detail
