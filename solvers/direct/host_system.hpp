#pragma once
#include <span>

#include <voussoir/backends/operator.hpp>
#include <voussoir/solvers/direct/symmetric_matrix.hpp>

namespace voussoir {

/// The upper triangle of a backend's matrix, by single entries, for direct solvers. `place` gives each equation's
/// number in the result, −1 for those to leave out; numbers ascend with equations. Empty: all equations, in order.
SymmetricCsr upper_triangle(const HostMatrix& matrix, std::span<const std::int32_t> place);

}  // namespace voussoir
