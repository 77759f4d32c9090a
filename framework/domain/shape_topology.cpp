#include <voussoir/backends/error.hpp>
#include <voussoir/framework/domain/shape_topology.hpp>

namespace voussoir {

namespace {

using Edges = std::vector<std::vector<int>>;
using Nodes = std::vector<std::array<double, 3>>;

ShapeTopology make(std::string name, int dim, int corners, int vtk_type, Nodes vertices, Edges edges,
                   std::vector<ShapeFace> faces) {
  ShapeTopology t;
  t.name = std::move(name);
  t.dim = dim;
  t.corners = corners;
  t.vtk_type = vtk_type;
  t.edges = std::move(edges);
  t.faces = std::move(faces);
  t.reference_nodes = std::move(vertices);
  t.order = t.edges.front().size() == 3 ? 2 : 1;
  if (t.order == 2) {
    t.reference_nodes.resize(corners + t.edges.size());
    for (const auto& edge : t.edges)
      for (int k = 0; k < 3; ++k)
        t.reference_nodes[edge[2]][k] = 0.5 * (t.reference_nodes[edge[0]][k] + t.reference_nodes[edge[1]][k]);
  }
  t.nodes = static_cast<int>(t.reference_nodes.size());
  // VTK numbers corners and edges of all shapes as Abaqus does.
  for (int i = 0; i < t.nodes; ++i) t.vtk_order.push_back(i);
  return t;
}

/// A shape with further nodes inside its faces or itself, where VTK has them in an order of its own.
ShapeTopology with_inner(ShapeTopology t, const Nodes& inner, const std::vector<int>& vtk_inner) {
  t.reference_nodes.insert(t.reference_nodes.end(), inner.begin(), inner.end());
  t.nodes = static_cast<int>(t.reference_nodes.size());
  t.vtk_order.insert(t.vtk_order.end(), vtk_inner.begin(), vtk_inner.end());
  return t;
}

using Shapes = std::vector<ShapeTopology>;

void add_lines(Shapes& all) {
  const Nodes line = {{-1, 0, 0}, {1, 0, 0}};
  all.push_back(make("line2", 1, 2, 3, line, {{0, 1}}, {{"", {0}}, {"", {1}}}));
  all.push_back(make("line3", 1, 2, 21, line, {{0, 1, 2}}, {{"", {0}}, {"", {1}}}));
}

void add_plane_shapes(Shapes& all) {
  const Nodes triangle = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
  all.push_back(make("tri3", 2, 3, 5, triangle, {{0, 1}, {1, 2}, {2, 0}},
                     {{"line2", {0, 1}}, {"line2", {1, 2}}, {"line2", {2, 0}}}));
  all.push_back(make("tri6", 2, 3, 22, triangle, {{0, 1, 3}, {1, 2, 4}, {2, 0, 5}},
                     {{"line3", {0, 1, 3}}, {"line3", {1, 2, 4}}, {"line3", {2, 0, 5}}}));

  const Nodes square = {{-1, -1, 0}, {1, -1, 0}, {1, 1, 0}, {-1, 1, 0}};
  const Edges edges = {{0, 1, 4}, {1, 2, 5}, {2, 3, 6}, {3, 0, 7}};
  const std::vector<ShapeFace> faces = {
      {"line3", {0, 1, 4}}, {"line3", {1, 2, 5}}, {"line3", {2, 3, 6}}, {"line3", {3, 0, 7}}};
  all.push_back(make("quad4", 2, 4, 9, square, {{0, 1}, {1, 2}, {2, 3}, {3, 0}},
                     {{"line2", {0, 1}}, {"line2", {1, 2}}, {"line2", {2, 3}}, {"line2", {3, 0}}}));
  all.push_back(make("quad8", 2, 4, 23, square, edges, faces));
  all.push_back(with_inner(make("quad9", 2, 4, 28, square, edges, faces), {{0, 0, 0}}, {8}));
}

void add_tetrahedra(Shapes& all) {
  const Nodes tetrahedron = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  all.push_back(make("tet4", 3, 4, 10, tetrahedron, {{0, 1}, {1, 2}, {2, 0}, {0, 3}, {1, 3}, {2, 3}},
                     {{"tri3", {0, 2, 1}}, {"tri3", {0, 1, 3}}, {"tri3", {1, 2, 3}}, {"tri3", {2, 0, 3}}}));
  all.push_back(make("tet10", 3, 4, 24, tetrahedron, {{0, 1, 4}, {1, 2, 5}, {2, 0, 6}, {0, 3, 7}, {1, 3, 8}, {2, 3, 9}},
                     {{"tri6", {0, 2, 1, 6, 5, 4}},
                      {"tri6", {0, 1, 3, 4, 8, 7}},
                      {"tri6", {1, 2, 3, 5, 9, 8}},
                      {"tri6", {2, 0, 3, 6, 7, 9}}}));
}

void add_wedges(Shapes& all) {
  const Nodes wedge = {{0, 0, -1}, {1, 0, -1}, {0, 1, -1}, {0, 0, 1}, {1, 0, 1}, {0, 1, 1}};
  all.push_back(make("wedge6", 3, 6, 13, wedge,
                     {{0, 1}, {1, 2}, {2, 0}, {3, 4}, {4, 5}, {5, 3}, {0, 3}, {1, 4}, {2, 5}},
                     {{"tri3", {0, 2, 1}},
                      {"tri3", {3, 4, 5}},
                      {"quad4", {0, 1, 4, 3}},
                      {"quad4", {1, 2, 5, 4}},
                      {"quad4", {2, 0, 3, 5}}}));
  const Edges edges = {{0, 1, 6},  {1, 2, 7},  {2, 0, 8},  {3, 4, 9}, {4, 5, 10},
                       {5, 3, 11}, {0, 3, 12}, {1, 4, 13}, {2, 5, 14}};
  all.push_back(make("wedge15", 3, 6, 26, wedge, edges,
                     {{"tri6", {0, 2, 1, 8, 7, 6}},
                      {"tri6", {3, 4, 5, 9, 10, 11}},
                      {"quad8", {0, 1, 4, 3, 6, 13, 9, 12}},
                      {"quad8", {1, 2, 5, 4, 7, 14, 10, 13}},
                      {"quad8", {2, 0, 3, 5, 8, 12, 11, 14}}}));
  all.push_back(with_inner(make("wedge18", 3, 6, 32, wedge, edges,
                                {{"tri6", {0, 2, 1, 8, 7, 6}},
                                 {"tri6", {3, 4, 5, 9, 10, 11}},
                                 {"quad9", {0, 1, 4, 3, 6, 13, 9, 12, 15}},
                                 {"quad9", {1, 2, 5, 4, 7, 14, 10, 13, 16}},
                                 {"quad9", {2, 0, 3, 5, 8, 12, 11, 14, 17}}}),
                           {{0.5, 0, 0}, {0.5, 0.5, 0}, {0, 0.5, 0}}, {15, 16, 17}));
}

void add_hexahedra(Shapes& all) {
  const Nodes cube = {{-1, -1, -1}, {1, -1, -1}, {1, 1, -1}, {-1, 1, -1},
                      {-1, -1, 1},  {1, -1, 1},  {1, 1, 1},  {-1, 1, 1}};
  all.push_back(make("hex8", 3, 8, 12, cube,
                     {{0, 1}, {1, 2}, {2, 3}, {3, 0}, {4, 5}, {5, 6}, {6, 7}, {7, 4}, {0, 4}, {1, 5}, {2, 6}, {3, 7}},
                     {{"quad4", {0, 3, 2, 1}},
                      {"quad4", {4, 5, 6, 7}},
                      {"quad4", {0, 1, 5, 4}},
                      {"quad4", {1, 2, 6, 5}},
                      {"quad4", {2, 3, 7, 6}},
                      {"quad4", {3, 0, 4, 7}}}));
  const Edges edges = {{0, 1, 8},  {1, 2, 9},  {2, 3, 10}, {3, 0, 11}, {4, 5, 12}, {5, 6, 13},
                       {6, 7, 14}, {7, 4, 15}, {0, 4, 16}, {1, 5, 17}, {2, 6, 18}, {3, 7, 19}};
  all.push_back(make("hex20", 3, 8, 25, cube, edges,
                     {{"quad8", {0, 3, 2, 1, 11, 10, 9, 8}},
                      {"quad8", {4, 5, 6, 7, 12, 13, 14, 15}},
                      {"quad8", {0, 1, 5, 4, 8, 17, 12, 16}},
                      {"quad8", {1, 2, 6, 5, 9, 18, 13, 17}},
                      {"quad8", {2, 3, 7, 6, 10, 19, 14, 18}},
                      {"quad8", {3, 0, 4, 7, 11, 16, 15, 19}}}));
  // Centre, then the faces in their order; VTK has x = −1, x = 1, y = −1, y = 1, z = −1, z = 1, centre.
  all.push_back(with_inner(make("hex27", 3, 8, 29, cube, edges,
                                {{"quad9", {0, 3, 2, 1, 11, 10, 9, 8, 21}},
                                 {"quad9", {4, 5, 6, 7, 12, 13, 14, 15, 22}},
                                 {"quad9", {0, 1, 5, 4, 8, 17, 12, 16, 23}},
                                 {"quad9", {1, 2, 6, 5, 9, 18, 13, 17, 24}},
                                 {"quad9", {2, 3, 7, 6, 10, 19, 14, 18, 25}},
                                 {"quad9", {3, 0, 4, 7, 11, 16, 15, 19, 26}}}),
                           {{0, 0, 0}, {0, 0, -1}, {0, 0, 1}, {0, -1, 0}, {1, 0, 0}, {0, 1, 0}, {-1, 0, 0}},
                           {26, 24, 23, 25, 21, 22, 20}));
}

Shapes make_all() {
  Shapes all;
  add_lines(all);
  add_plane_shapes(all);
  add_tetrahedra(all);
  add_wedges(all);
  add_hexahedra(all);
  return all;
}

}  // namespace

std::span<const ShapeTopology> all_shape_topologies() {
  static const std::vector<ShapeTopology> all = make_all();
  return all;
}

const ShapeTopology& shape_topology(std::string_view name) {
  std::string known;
  for (const ShapeTopology& t : all_shape_topologies()) {
    if (t.name == name) return t;
    known += (known.empty() ? "" : ", ") + t.name;
  }
  throw Error(ErrorCode::not_found, "there is no shape \"" + std::string(name) + "\"; the shapes are " + known);
}

}  // namespace voussoir
