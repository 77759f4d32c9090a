#include <voussoir/framework/mesh/detail/cell_filling.hpp>

#include <utility>

namespace voussoir::detail {
namespace {

using Offset = CellOffset;
using Corners = std::vector<Offset>;  // of one element in its cell, 0 or 1 in each direction

/// The nodes of an element in its cell, in steps of half a cell where the shape is quadratic.
std::vector<Offset> with_mid_sides(const ShapeTopology& shape, const Corners& corners) {
  std::vector<Offset> nodes(shape.nodes);
  for (int i = 0; i < shape.corners; ++i)
    for (int a = 0; a < 3; ++a) nodes[i][a] = corners[i][a] * shape.order;
  if (shape.order == 2)
    for (const auto& edge : shape.edges)
      for (int a = 0; a < 3; ++a) nodes[edge[2]][a] = (nodes[edge[0]][a] + nodes[edge[1]][a]) / 2;
  return nodes;
}

/// Six tetrahedra that share a corner of the cell: it forms pyramids with the three sides that it does not touch, and
/// each of these sides is cut along a diagonal. Where the shared corner is the one with the lowest number, and so for
/// the diagonals, neighbouring cells agree on how their common side is cut, however the bricks are turned.
std::vector<Corners> tetrahedra(int corner, int diagonals) {
  const Offset v{corner & 1, corner >> 1 & 1, corner >> 2};
  std::vector<Corners> all;
  for (int axis = 0; axis < 3; ++axis) {
    const int b = (axis + 1) % 3, c = (axis + 2) % 3;
    std::array<Offset, 4> side;
    for (int n = 0; n < 4; ++n) {
      side[n][axis] = 1 - v[axis];
      side[n][b] = n == 1 || n == 2;
      side[n][c] = n >= 2;
    }
    const int m = diagonals >> axis & 1;  // which of the two diagonals: from side[m] to side[m + 2]
    for (int half = 0; half < 2; ++half) {
      Corners t{v, side[m], side[(m + 1 + half) % 4], side[(m + 2 + half) % 4]};
      Offset d[3];
      for (int i = 0; i < 3; ++i)
        for (int a = 0; a < 3; ++a) d[i][a] = t[i + 1][a] - t[0][a];
      const int volume = d[0][0] * (d[1][1] * d[2][2] - d[1][2] * d[2][1]) -
                         d[0][1] * (d[1][0] * d[2][2] - d[1][2] * d[2][0]) +
                         d[0][2] * (d[1][0] * d[2][1] - d[1][1] * d[2][0]);
      if (volume < 0) std::swap(t[2], t[3]);
      all.push_back(std::move(t));
    }
  }
  return all;
}

}  // namespace

std::vector<std::vector<std::vector<Offset>>> ways_to_fill(const ShapeTopology& shape) {
  const Corners square = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}};
  const std::vector<Corners> triangles = {{square[0], square[1], square[2]}, {square[0], square[2], square[3]}};
  std::vector<std::vector<Corners>> ways;
  if (shape.dim == 3 && shape.corners == 4) {
    for (int corner = 0; corner < 8; ++corner)
      for (int diagonals = 0; diagonals < 8; ++diagonals) ways.push_back(tetrahedra(corner, diagonals));
  } else {
    ways.push_back(shape.corners == 3 || shape.corners == 6 ? triangles : std::vector<Corners>{square});
    if (shape.dim == 3)
      for (Corners& element : ways[0]) {
        const std::size_t count = element.size();
        for (std::size_t i = 0; i < count; ++i) element.push_back({element[i][0], element[i][1], 1});
      }
  }
  std::vector<std::vector<std::vector<Offset>>> result;
  for (const auto& way : ways) {
    result.emplace_back();
    for (const Corners& element : way) result.back().push_back(with_mid_sides(shape, element));
  }
  return result;
}

}  // namespace voussoir::detail
