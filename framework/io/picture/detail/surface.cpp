#include <voussoir/framework/io/picture/detail/surface.hpp>

#include <algorithm>
#include <cmath>

#include <voussoir/framework/domain/detail/boundary_faces.hpp>
#include <voussoir/framework/domain/shape_topology.hpp>

namespace voussoir::picture {

Direction unit(const Direction& a) {
  const double size = std::sqrt(dot(a, a));
  return size > 0 ? Direction{a[0] / size, a[1] / size, a[2] / size} : Direction{0, 0, 1};
}

namespace {

constexpr double smooth_cosine = 0.8;  // polygons whose normals differ by less than 37° are one smooth surface

/// A triangle or quadrilateral as polygons whose corners are its nodes, `nodes` in the order of `shape`.
void add_face(const ShapeTopology& shape, const std::vector<std::int32_t>& nodes, std::int32_t block,
              std::int32_t element, Surface& surface) {
  const int corners = shape.corners;
  if (shape.order == 1) {
    Surface::Polygon polygon{{-1, -1, -1, -1}, corners, block, element, (1U << corners) - 1};
    std::copy_n(nodes.begin(), corners, polygon.nodes.begin());
    surface.polygons.push_back(polygon);
    return;
  }
  // Edge i runs from corner i to the next, so that its midside node lies behind corner i.
  const auto corner = [&](int i) { return nodes[i % corners]; };
  const auto middle = [&](int i) { return nodes[shape.edges[(i + corners) % corners][2]]; };
  const bool centre = shape.nodes > 2 * corners;
  Surface::Polygon inner{{-1, -1, -1, -1}, corners, block, element, 0};
  for (int i = 0; i < corners; ++i) {
    if (centre)
      surface.polygons.push_back(
          {{corner(i), middle(i), nodes[2 * corners], middle(i - 1)}, 4, block, element, 0b1001});
    else
      surface.polygons.push_back({{middle(i - 1), corner(i), middle(i), -1}, 3, block, element, 0b011});
    inner.nodes[i] = middle(i);
  }
  if (!centre) surface.polygons.push_back(inner);
}

/// Lines and plane elements, which are seen as they are.
void add_block(const ElementBlock& block, std::int32_t index, Surface& surface) {
  const std::string& name = block.type().shape();
  if (name.empty()) {  // springs between two nodes
    if (block.nodes_per_element() == 2)
      for (std::int32_t e = 0; e < block.size(); ++e)
        surface.bars.push_back({block.nodes(e)[0], block.nodes(e)[1], index, e});
    return;
  }
  const ShapeTopology& shape = shape_topology(name);
  for (std::int32_t e = 0; e < block.size(); ++e) {
    const auto nodes = block.nodes(e);
    if (shape.dim == 1) {
      const std::int32_t middle = shape.order == 2 ? nodes[2] : nodes[1];
      surface.bars.push_back({nodes[0], middle, index, e});
      if (shape.order == 2) surface.bars.push_back({middle, nodes[1], index, e});
    } else if (shape.dim == 2) {
      add_face(shape, {nodes.begin(), nodes.end()}, index, e, surface);
    }
  }
}

/// Of solids, the faces that no other element hides.
void add_faces(const Domain& domain, Surface& surface) {
  std::vector<std::int32_t> nodes;
  for (const FaceRef& f : detail::boundary_faces(domain)) {
    const ElementBlock& block = domain.block(f.block);
    const ShapeTopology& shape = shape_topology(block.type().shape());
    if (shape.dim != 3) continue;
    const ShapeFace& face = shape.faces[f.face];
    nodes.clear();
    for (const int local : face.nodes) nodes.push_back(block.nodes(f.element)[local]);
    add_face(shape_topology(face.shape), nodes, f.block, f.element, surface);
  }
}

Direction normal(const Surface::Polygon& polygon, const std::vector<double>& position) {
  Direction sum{0, 0, 0};
  const auto at = [&](int i) { return &position[3 * static_cast<std::size_t>(polygon.nodes[i % polygon.corners])]; };
  for (int i = 0; i < polygon.corners; ++i) {  // Newell's sum, right for warped polygons too
    const double *p = at(i), *q = at(i + 1);
    sum[0] += (p[1] - q[1]) * (p[2] + q[2]);
    sum[1] += (p[2] - q[2]) * (p[0] + q[0]);
    sum[2] += (p[0] - q[0]) * (p[1] + q[1]);
  }
  return unit(sum);
}

void find_normals(Surface& surface, const std::vector<Direction>& flat, std::size_t nodes) {
  std::vector<std::int32_t> first(nodes + 1, 0), members;
  for (const auto& polygon : surface.polygons)
    for (int i = 0; i < polygon.corners; ++i) ++first[polygon.nodes[i] + 1];
  for (std::size_t n = 0; n < nodes; ++n) first[n + 1] += first[n];
  members.resize(first.back());
  std::vector<std::int32_t> next(first.begin(), first.end() - 1);
  for (std::size_t p = 0; p < surface.polygons.size(); ++p)
    for (int i = 0; i < surface.polygons[p].corners; ++i)
      members[next[surface.polygons[p].nodes[i]]++] = static_cast<std::int32_t>(p);
  surface.normals.assign(4 * surface.polygons.size(), {0, 0, 1});
  for (std::size_t p = 0; p < surface.polygons.size(); ++p)
    for (int i = 0; i < surface.polygons[p].corners; ++i) {
      const std::int32_t n = surface.polygons[p].nodes[i];
      Direction sum{0, 0, 0};
      for (std::int32_t m = first[n]; m < first[n + 1]; ++m)
        if (const Direction& other = flat[members[m]]; dot(flat[p], other) > smooth_cosine)
          for (int k = 0; k < 3; ++k) sum[k] += other[k];
      surface.normals[4 * p + i] = unit(sum);
    }
}

void find_edges(Surface& surface, const std::vector<Direction>& flat) {
  struct Half {
    std::int32_t a, b, polygon;
  };
  std::vector<Half> halves;
  for (std::size_t p = 0; p < surface.polygons.size(); ++p) {
    const auto& polygon = surface.polygons[p];
    for (int i = 0; i < polygon.corners; ++i) {
      if ((polygon.sides >> i & 1U) == 0) continue;
      const std::int32_t a = polygon.nodes[i], b = polygon.nodes[(i + 1) % polygon.corners];
      halves.push_back({std::min(a, b), std::max(a, b), static_cast<std::int32_t>(p)});
    }
  }
  std::sort(halves.begin(), halves.end(), [](const Half& x, const Half& y) {
    return std::array{x.a, x.b, x.polygon} < std::array{y.a, y.b, y.polygon};
  });
  for (std::size_t i = 0; i < halves.size();) {
    std::size_t end = i + 1;
    while (end < halves.size() && halves[end].a == halves[i].a && halves[end].b == halves[i].b) ++end;
    bool sharp = end - i != 2;
    if (!sharp) {
      const std::int32_t p = halves[i].polygon, q = halves[i + 1].polygon;
      sharp = dot(flat[p], flat[q]) < smooth_cosine || surface.polygons[p].block != surface.polygons[q].block;
    }
    surface.edges.push_back({halves[i].a, halves[i].b, sharp});
    i = end;
  }
}

}  // namespace

Surface find_polygons(const Domain& domain) {
  Surface surface;
  for (std::size_t b = 0; b < domain.block_count(); ++b)
    add_block(domain.block(b), static_cast<std::int32_t>(b), surface);
  add_faces(domain, surface);
  return surface;
}

void find_edges_and_normals(Surface& surface, const std::vector<double>& position) {
  std::vector<Direction> flat(surface.polygons.size());
  for (std::size_t p = 0; p < flat.size(); ++p) flat[p] = normal(surface.polygons[p], position);
  find_normals(surface, flat, position.size() / 3);
  surface.edges.clear();
  find_edges(surface, flat);
  for (const Surface::Bar& bar : surface.bars) surface.edges.push_back({bar.a, bar.b, true});
}

Surface find_surface(const Domain& domain, const std::vector<double>& position) {
  Surface surface = find_polygons(domain);
  find_edges_and_normals(surface, position);
  return surface;
}

}  // namespace voussoir::picture
