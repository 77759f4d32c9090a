#pragma once
#include <cstdint>

#include <voussoir/framework/analysis/linear_soe.hpp>

namespace voussoir::detail {

/// Throws an Error (singular) that names the node, if the node of this equation can move in some direction without any
/// resistance while all other nodes are fixed: no element, or too few of them, are attached to it. For preconditioners
/// that cannot invert what they find there.
void require_resistance(const LinearSOE& soe, std::int32_t equation);

}  // namespace voussoir::detail
