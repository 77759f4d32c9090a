#pragma once
#include <cstdint>
#include <span>
#include <vector>
#include <voussoir/solvers/direct/symmetric_matrix.hpp>

namespace voussoir::detail {

/// An elimination order by nested dissection (METIS): order[k] is the equation eliminated k-th. Equations of `last`
/// come last, in the order given. Empty where this build has no METIS, or the graph is too large for its 32-bit
/// numbers.
std::vector<std::int32_t> nested_dissection(const SymmetricCsr& matrix, std::span<const std::int32_t> last = {});

}  // namespace voussoir::detail
