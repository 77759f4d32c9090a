#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <set>

#include <voussoir/framework/analysis/detail/corner_angles.hpp>
#include <voussoir/framework/domain/shape_topology.hpp>

namespace voussoir::detail {
namespace {

using Vector3 = std::array<double, 3>;

double dot(const Vector3& a, const Vector3& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
Vector3 cross(const Vector3& a, const Vector3& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
Vector3 unit(Vector3 a) {
  const double size = std::sqrt(dot(a, a));
  if (size > 0)
    for (double& x : a) x /= size;
  return a;
}
double angle_between(const Vector3& a, const Vector3& b) {
  return std::atan2(std::sqrt(dot(cross(a, b), cross(a, b))), dot(a, b)) * 180 / std::numbers::pi;
}

/// Bends of at least this many degrees are corners, whatever is beside them; bends of less than `least` never are.
constexpr double surely = 60, least = 25;
/// Unless a neighbour bends nearly as much: then both are facets of a curve.
double judged(double bend, double neighbour) {
  return bend >= surely || (bend >= least && neighbour < 0.5 * bend) ? bend : 0;
}

const ShapeTopology* shape_of(const ElementBlock& block) {
  const std::string& name = block.type().shape();
  if (name.empty()) return nullptr;
  const ShapeTopology& shape = shape_topology(name);
  return shape.dim >= 2 && shape.nodes == block.nodes_per_element() ? &shape : nullptr;
}

Vector3 position(const Domain& domain, std::int32_t node) {
  const double* p = &domain.coordinates()[3 * static_cast<std::size_t>(node)];
  return {p[0], p[1], p[2]};
}

/// The direction in which an element's edge leaves its corner `from` (local) towards `to`, along its parabola.
Vector3 leaving(const Domain& domain, const ShapeTopology& shape, std::span<const std::int32_t> nodes, int from,
                int to) {
  const Vector3 a = position(domain, nodes[from]), b = position(domain, nodes[to]);
  Vector3 d{b[0] - a[0], b[1] - a[1], b[2] - a[2]};
  for (const auto& edge : shape.edges)
    if (edge.size() == 3 && ((edge[0] == from && edge[1] == to) || (edge[0] == to && edge[1] == from))) {
      const Vector3 m = position(domain, nodes[edge[2]]);
      for (int k = 0; k < 3; ++k) d[k] = 4 * m[k] - 3 * a[k] - b[k];
    }
  return d;
}

/// The corners that edges of the element join with a corner.
std::vector<int> partners(const ShapeTopology& shape, int corner) {
  std::vector<int> result;
  for (const auto& edge : shape.edges) {
    if (edge[0] == corner) result.push_back(edge[1]);
    if (edge[1] == corner) result.push_back(edge[0]);
  }
  return result;
}

}  // namespace

std::vector<ElementRef> elements_around(const Domain& domain, std::int32_t node, int rings) {
  std::vector<char> near(domain.node_count(), 0);
  near[node] = 1;
  std::vector<ElementRef> found;
  for (int ring = 0; ring < rings; ++ring) {
    found.clear();
    for (std::size_t b = 0; b < domain.block_count(); ++b) {
      const ElementBlock& block = domain.block(b);
      if (!shape_of(block)) continue;
      for (std::int32_t e = 0; e < block.size(); ++e) {
        const auto nodes = block.nodes(e);
        if (std::any_of(nodes.begin(), nodes.end(), [&](std::int32_t n) { return near[n] != 0; }))
          found.push_back({static_cast<std::int32_t>(b), e});
      }
    }
    for (const ElementRef& e : found)
      for (const std::int32_t n : domain.block(e.block).nodes(e.element)) near[n] = 1;
  }
  return found;
}

Neighbourhood::Neighbourhood(const Domain& domain, std::int32_t node, const std::vector<ElementRef>& pool)
    : domain_(domain), node_(node) {
  std::set<std::int32_t> near;
  const auto collect = [&](const auto& wanted, std::vector<ElementRef>& found) {
    for (const ElementRef& ref : pool) {
      const ElementBlock& block = domain.block(ref.block);
      if (dim_ > 0 && shape_of(block)->dim != dim_) continue;
      const auto nodes = block.nodes(ref.element);
      if (std::any_of(nodes.begin(), nodes.end(), wanted)) found.push_back(ref);
    }
  };
  collect([&](std::int32_t n) { return n == node; }, at_node_);
  for (const ElementRef& e : at_node_) dim_ = std::max(dim_, shape_of(domain.block(e.block))->dim);
  if (dim_ == 0) return;
  for (const ElementRef& e : at_node_)
    for (const std::int32_t n : domain.block(e.block).nodes(e.element)) near.insert(n);
  collect([&](std::int32_t n) { return near.contains(n); }, around_);

  // Faces with a node that is near belong to elements that were collected: those that come once are on the boundary.
  struct Found {
    NearFace face;
    int count = 0;
  };
  std::map<std::vector<std::int32_t>, Found> faces;
  for (const ElementRef& ref : around_) {
    const ElementBlock& block = domain.block(ref.block);
    const ShapeTopology& shape = *shape_of(block);
    const auto nodes = block.nodes(ref.element);
    for (const ShapeFace& local : shape.faces) {
      if (std::none_of(local.nodes.begin(), local.nodes.end(), [&](int i) { return near.contains(nodes[i]); }))
        continue;
      NearFace face;
      const int corners = shape_topology(local.shape).corners;
      for (std::size_t i = 0; i < local.nodes.size(); ++i) {
        face.nodes.push_back(nodes[local.nodes[i]]);
        if (static_cast<int>(i) < corners) face.corners.push_back(nodes[local.nodes[i]]);
      }
      std::vector<std::int32_t> key = face.corners;
      std::sort(key.begin(), key.end());
      Found& found = faces[key];
      if (++found.count > 1) continue;
      const Vector3 a = position(domain, face.corners[0]), b = position(domain, face.corners[1]);
      if (corners == 2) {  // to the right of an edge
        face.normal = unit({b[1] - a[1], a[0] - b[0], 0});
      } else {
        const Vector3 c = position(domain, face.corners[2]), d = position(domain, face.corners.back());
        const Vector3 across = corners == 4 ? Vector3{d[0] - b[0], d[1] - b[1], d[2] - b[2]}
                                            : Vector3{c[0] - b[0], c[1] - b[1], c[2] - b[2]};
        const Vector3 along = corners == 4 ? Vector3{c[0] - a[0], c[1] - a[1], c[2] - a[2]}
                                           : Vector3{b[0] - a[0], b[1] - a[1], b[2] - a[2]};
        face.normal = unit(cross(along, across));
      }
      found.face = std::move(face);
    }
  }
  for (auto& [key, found] : faces)
    if (found.count == 1) faces_.push_back(std::move(found.face));
}

std::vector<const NearFace*> Neighbourhood::faces() const {
  std::vector<const NearFace*> result;
  for (const NearFace& face : faces_)
    if (std::find(face.nodes.begin(), face.nodes.end(), node_) != face.nodes.end()) result.push_back(&face);
  return result;
}

double Neighbourhood::angle_in_plane(std::int32_t node) const {
  double sum = 0;
  for (const ElementRef& ref : around_) {
    const ElementBlock& block = domain_.block(ref.block);
    const ShapeTopology& shape = *shape_of(block);
    const auto nodes = block.nodes(ref.element);
    for (int c = 0; c < shape.corners; ++c) {
      if (nodes[c] != node) continue;
      const auto others = partners(shape, c);
      sum += angle_between(leaving(domain_, shape, nodes, c, others[0]), leaving(domain_, shape, nodes, c, others[1]));
    }
  }
  return sum;
}

double Neighbourhood::re_entrant_angle() const {
  if (dim_ == 3) return re_entrant_edge();
  const auto here = faces();
  if (dim_ != 2 || here.size() < 2) return 0;  // inside the body
  const double bend = angle_in_plane(node_) - 180;
  double neighbour = 0;
  for (const NearFace* face : here)
    for (const std::int32_t n : face->corners)
      if (n != node_) neighbour = std::max(neighbour, angle_in_plane(n) - 180);
  return bend > 0 ? judged(bend, neighbour) : 0;
}

double Neighbourhood::re_entrant_edge() const {
  // Edges of the boundary, by their ends, with the angle of the body around them.
  struct Edge {
    double angle = 0;
    bool here = false;  // has the node, as an end or as its midside node
  };
  std::map<std::pair<std::int32_t, std::int32_t>, Edge> edges;
  const auto key = [](std::int32_t a, std::int32_t b) { return std::pair{std::min(a, b), std::max(a, b)}; };
  for (const NearFace& face : faces_)
    for (std::size_t i = 0; i < face.corners.size(); ++i)
      edges[key(face.corners[i], face.corners[(i + 1) % face.corners.size()])];
  for (const ElementRef& ref : around_) {
    const ElementBlock& block = domain_.block(ref.block);
    const ShapeTopology& shape = *shape_of(block);
    const auto nodes = block.nodes(ref.element);
    for (const auto& edge : shape.edges) {
      const auto found = edges.find(key(nodes[edge[0]], nodes[edge[1]]));
      if (found == edges.end()) continue;
      for (const int local : edge) found->second.here = found->second.here || nodes[local] == node_;
      // The two faces of the element at this edge leave it along two other edges of its first end.
      const Vector3 along = unit(leaving(domain_, shape, nodes, edge[0], edge[1]));
      std::vector<Vector3> sides;
      for (const ShapeFace& face : shape.faces) {
        const auto has = [&](int local) {
          return std::find(face.nodes.begin(), face.nodes.end(), local) != face.nodes.end();
        };
        if (!has(edge[0]) || !has(edge[1])) continue;
        for (const int other : partners(shape, edge[0])) {
          if (other == edge[1] || !has(other)) continue;
          Vector3 side = leaving(domain_, shape, nodes, edge[0], other);
          const double part = dot(side, along);
          for (int k = 0; k < 3; ++k) side[k] -= part * along[k];
          sides.push_back(side);
        }
      }
      if (sides.size() == 2) found->second.angle += angle_between(sides[0], sides[1]);
    }
  }
  double worst = 0;
  for (const auto& [ends, edge] : edges) {
    const double bend = edge.angle - 180;
    if (!edge.here || bend < least) continue;
    // Facets of a curve meet in edges that run side by side.
    const auto direction = [&](const std::pair<std::int32_t, std::int32_t>& e) {
      const Vector3 a = position(domain_, e.first), b = position(domain_, e.second);
      return unit({b[0] - a[0], b[1] - a[1], b[2] - a[2]});
    };
    double neighbour = 0;
    for (const auto& [other_ends, other] : edges) {
      const bool touches = other_ends.first == ends.first || other_ends.first == ends.second ||
                           other_ends.second == ends.first || other_ends.second == ends.second;
      if (!touches && std::abs(dot(direction(ends), direction(other_ends))) > 0.9)
        neighbour = std::max(neighbour, other.angle - 180);
    }
    worst = std::max(worst, judged(bend, neighbour));
  }
  return worst;
}

}  // namespace voussoir::detail
