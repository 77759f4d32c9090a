#pragma once
#include <voussoir/framework/model/divided_numberer.hpp>

// Methods that divide nodes without a graph.

namespace voussoir::detail {

/// Ranges of the given order with the shares that are asked for.
std::vector<std::int32_t> divide_contiguously(const NodesToDivide& nodes);
/// Recursive bisection by planes across the longest extent.
std::vector<std::int32_t> divide_by_coordinates(const NodesToDivide& nodes);

}  // namespace voussoir::detail
