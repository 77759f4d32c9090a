// MacNeal and Harder, "A proposed standard set of problems to test finite element accuracy" (1985): the patch test for
// solids. A unit cube of seven irregular hexahedra, one inside; also cut into tetrahedra and wedges, and with mid-side
// nodes.
#include <algorithm>
#include <map>

#include <voussoir/framework/domain/shape_topology.hpp>

#include "validation/support.hpp"

namespace voussoir::validation {
namespace {

using Cell = std::vector<int>;  // corner nodes, from 0: the inner hexahedron's 0…7, the cube's 8…15

const std::vector<Position>& corners() {
  static const std::vector<Position> x = {
      {.249, .342, .192}, {.826, .288, .288}, {.850, .649, .263}, {.273, .750, .230},
      {.320, .186, .643}, {.677, .305, .683}, {.788, .693, .644}, {.165, .745, .702},
      {0, 0, 0},          {1, 0, 0},          {1, 1, 0},          {0, 1, 0},
      {0, 0, 1},          {1, 0, 1},          {1, 1, 1},          {0, 1, 1}};
  return x;
}

/// The inner hexahedron, and one between each of its faces and the face of the cube.
std::vector<Cell> hexahedra() {
  std::vector<Cell> cells{{0, 1, 2, 3, 4, 5, 6, 7}};
  for (const ShapeFace& face : shape_topology("hex8").faces) {
    Cell cell = face.nodes;
    for (int n : face.nodes) cell.push_back(n + 8);
    cells.push_back(cell);
  }
  return cells;
}

/// Two wedges per hexahedron, cut so that neighbours agree on diagonals: inner, lower and upper cell across z; the four
/// at the sides around the cube.
std::vector<Cell> wedges() {
  std::vector<Cell> cells;
  const std::vector<Cell> hex = hexahedra();
  for (std::size_t i = 0; i < hex.size(); ++i) {
    Cell h = hex[i];
    if (i >= 3) h = {h[0], h[3], h[7], h[4], h[1], h[2], h[6], h[5]};
    cells.push_back({h[0], h[1], h[2], h[4], h[5], h[6]});
    cells.push_back({h[0], h[2], h[3], h[4], h[6], h[7]});
  }
  return cells;
}

/// Tetrahedra from the least node of each hexahedron to the faces that it is not on, whose diagonals start at their own
/// least node: neighbours agree.
std::vector<Cell> tetrahedra() {
  std::vector<Cell> cells;
  for (const Cell& h : hexahedra()) {
    const int top = *std::min_element(h.begin(), h.end());
    for (const ShapeFace& face : shape_topology("hex8").faces) {
      Cell f;
      for (int n : face.nodes) f.push_back(h[n]);
      if (std::find(f.begin(), f.end(), top) != f.end()) continue;
      std::rotate(f.begin(), std::min_element(f.begin(), f.end()), f.end());
      // The face's normal points away from `top`, so seen from there it runs the other way.
      cells.push_back({f[0], f[2], f[1], top});
      cells.push_back({f[0], f[3], f[2], top});
    }
  }
  return cells;
}

void patch(const std::string& type) {
  SCOPED_TRACE(type);
  Domain domain;
  for (std::size_t i = 0; i < corners().size(); ++i)
    domain.add_node(static_cast<Id>(i) + 1, corners()[i][0], corners()[i][1], corners()[i][2]);
  ElementBlock& block = domain.add_block("cube", type);
  block.set_material(elastic(1e6, 0.25));
  const ShapeTopology& shape = shape_topology(block.type().shape());
  const std::vector<Cell> cells = shape.corners == 8 ? hexahedra() : shape.corners == 6 ? wedges() : tetrahedra();
  std::map<std::pair<int, int>, Id> middle;
  Id id = 1;
  for (const Cell& cell : cells) {
    std::vector<Id> nodes(shape.nodes);
    for (int i = 0; i < shape.corners; ++i) nodes[i] = cell[i] + 1;
    for (const auto& edge : shape.edges) {
      if (edge.size() < 3) break;
      const int a = std::min(cell[edge[0]], cell[edge[1]]), b = std::max(cell[edge[0]], cell[edge[1]]);
      auto [it, fresh] = middle.try_emplace({a, b}, static_cast<Id>(domain.node_count()) + 1);
      if (fresh)
        domain.add_node(it->second, 0.5 * (corners()[a][0] + corners()[b][0]),
                        0.5 * (corners()[a][1] + corners()[b][1]), 0.5 * (corners()[a][2] + corners()[b][2]));
      nodes[edge[2]] = it->second;
    }
    block.add(id++, nodes);
  }
  const auto field = [](const Position& p) {
    const auto [x, y, z] = p;
    return std::vector<double>{1e-3 * (2 * x + y + z) / 2, 1e-3 * (x + 2 * y + z) / 2, 1e-3 * (x + y + 2 * z) / 2};
  };
  const std::vector<std::int32_t> outside = skin(domain);
  for (std::int32_t n : outside) {
    const Position p = position(domain, n);
    EXPECT_TRUE(*std::min_element(p.begin(), p.end()) == 0 || *std::max_element(p.begin(), p.end()) == 1)
        << "the cells fit together";
  }
  prescribe_field(domain, outside, {"ux", "uy", "uz"}, field);
  const StepResult result = solve(domain);
  for (std::int32_t n = 0; n < domain.node_count(); ++n)
    for (int k = 0; k < 3; ++k) EXPECT_NEAR(result.unknowns.at(n, k), field(position(domain, n))[k], 1e-15);
  const PointField& points = result.points.at(0);
  double volume = 0;
  for (std::int32_t e = 0; e < block.size(); ++e)
    for (int q = 0; q < points.points; ++q) {
      volume += points.at(e, q, "volume");
      for (const char* s : {"sxx", "syy", "szz"}) EXPECT_NEAR(points.at(e, q, s), 2000, 2e-9) << s;
      for (const char* s : {"sxy", "syz", "sxz"}) EXPECT_NEAR(points.at(e, q, s), 400, 2e-9) << s;
    }
  EXPECT_NEAR(volume, 1, 1e-13);
  EXPECT_NEAR(result.energy, 0.5 * (3 * 2000 * 1e-3 + 2 * 3 * 400 * 0.5e-3), 1e-11);
}

TEST(SolidPatch, Hex8) {
  for (const char* form : {"", ".full", ".incompatible", ".bbar", ".reduced"}) patch(std::string("solid.hex8") + form);
}
TEST(SolidPatch, Hex20) {
  patch("solid.hex20");
  patch("solid.hex20.reduced");
}
TEST(SolidPatch, Tetrahedra) {
  patch("solid.tet4");
  patch("solid.tet10");
}
TEST(SolidPatch, Wedges) {
  patch("solid.wedge6");
  patch("solid.wedge15");
}

}  // namespace
}  // namespace voussoir::validation
