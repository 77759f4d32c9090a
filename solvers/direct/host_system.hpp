#pragma once
#include <span>

#include <voussoir/backends/operator.hpp>
#include <voussoir/solvers/direct/symmetric_matrix.hpp>

namespace voussoir {

/// The upper triangle of a backend's matrix as single entries, for direct solvers. `place` has the number of each
/// equation in the result, or −1 to omit it; numbers ascend with equations. Empty for all equations in order.
SymmetricCsr upper_triangle(const HostMatrix& matrix, std::span<const std::int32_t> place);

}  // namespace voussoir
