#pragma once
#include <array>
#include <vector>

#include <voussoir/framework/domain/shape_topology.hpp>

namespace voussoir::detail {

/// A node's place in its cell: 0 or 1 in each direction; 0, 1 or 2 where shapes are quadratic.
using CellOffset = std::array<int, 3>;

/// Ways to fill a cell with elements of a shape, each a list of elements by the places of their nodes. All shapes but
/// tetrahedra have one. Way 8 · corner + diagonals of tetrahedra has six that share this corner of the cell (bit a: at
/// the upper end of direction a); bit a of `diagonals` tells which diagonal cuts the opposite side across direction a.
std::vector<std::vector<std::vector<CellOffset>>> ways_to_fill(const ShapeTopology& shape);

}  // namespace voussoir::detail
