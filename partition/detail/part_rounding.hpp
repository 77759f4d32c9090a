#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include <Eigen/Core>

#include <voussoir/solvers/direct/host_system.hpp>

// Rounding errors of a reduced part, told from its springs: what a part resists must be a support of the user's.

namespace voussoir::detail {

/// Those of some motions and their combinations under which each row of a matrix has no force but the rounding of its
/// own terms: a soft spring is seen in the row of its node, however large the part is. Of each, the entries of
/// `boundary`.
std::vector<std::vector<double>> unresisted_motions(const SymmetricCsr& rows,
                                                    const std::vector<std::vector<double>>& motions,
                                                    std::span<const std::int32_t> boundary);

/// Makes a symmetric matrix map motions to zero that it maps to rounding errors. These would look like soft supports to
/// those who search for free motions.
void clear_rounding(Eigen::MatrixXd& matrix, std::vector<std::vector<double>> motions);

}  // namespace voussoir::detail
