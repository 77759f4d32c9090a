#include <voussoir/framework/mesh/block_mesh.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <voussoir/backends/error.hpp>
#include <voussoir/backends/number_text.hpp>
#include <voussoir/framework/mesh/detail/brick.hpp>

namespace voussoir {
namespace {

using Point = BlockMesh::Point;
using detail::corner_of;

Point operator-(const Point& a, const Point& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }
double dot(const Point& a, const Point& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
Point cross(const Point& a, const Point& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
double length(const Point& a) { return std::sqrt(dot(a, a)); }
/// base + factor · direction
Point along(Point base, double factor, const Point& direction) {
  for (int k = 0; k < 3; ++k) base[k] += factor * direction[k];
  return base;
}

constexpr double most_cells = 1e6;  // along one edge

}  // namespace

BlockMesh::BlockMesh(int dim, double tolerance) : dim_(dim), tolerance_(tolerance) {
  if (dim != 2 && dim != 3)
    throw Error(ErrorCode::misuse, "a block mesh has 2 or 3 dimensions, not " + std::to_string(dim));
  if (!(tolerance > 0)) throw Error(ErrorCode::misuse, "the tolerance of a block mesh must be positive");
}

std::int32_t BlockMesh::known_vertex(const Point& x) const {
  std::array<std::int64_t, 3> key;
  for (int k = 0; k < 3; ++k) {
    if (!(std::abs(x[k]) < 1e9 * tolerance_))
      throw Error(ErrorCode::bad_input, "a coordinate of a corner is " + std::to_string(x[k]) +
                                            ", too large for a tolerance of " + std::to_string(tolerance_));
    key[k] = std::llround(x[k] / tolerance_);
  }
  // Neighbouring keys too, since two corners that should be one may be rounded apart.
  for (int n = 0; n < 27; ++n) {
    const auto it = vertex_at_.find({key[0] + n % 3 - 1, key[1] + n / 3 % 3 - 1, key[2] + n / 9 - 1});
    if (it != vertex_at_.end()) return it->second;
  }
  return -1;
}

std::int32_t BlockMesh::vertex(const Point& x) {
  std::int32_t found = known_vertex(x);
  if (found < 0) {
    found = static_cast<std::int32_t>(vertices_.size());
    vertices_.push_back(x);
    vertex_at_[{std::llround(x[0] / tolerance_), std::llround(x[1] / tolerance_), std::llround(x[2] / tolerance_)}] =
        found;
  }
  return found;
}

void BlockMesh::add_block(const std::vector<Point>& corners, const std::string& part) {
  const std::size_t wanted = std::size_t{1} << dim_;
  if (corners.size() != wanted)
    throw Error(ErrorCode::misuse, "a block of a mesh of dimension " + std::to_string(dim_) + " has " +
                                       std::to_string(wanted) + " corners, not " + std::to_string(corners.size()));
  Block block{};
  for (std::size_t i = 0; i < corners.size(); ++i) {
    block.corners[i] = vertex(corners[i]);
    if (std::count(block.corners.begin(), block.corners.begin() + static_cast<std::ptrdiff_t>(i), block.corners[i]) > 0)
      throw Error(ErrorCode::bad_input, "two corners of a block coincide", "part '" + part + "'");
  }
  const auto known = std::find(parts_.begin(), parts_.end(), part);
  block.part = static_cast<std::int32_t>(known - parts_.begin());
  if (known == parts_.end()) {
    parts_.push_back(part);
    coarseness_.push_back(1);
  }
  blocks_.push_back(block);
  lines_known_ = false;
}

void BlockMesh::add_box(const Point& lower, const Point& upper, const std::string& part) {
  std::vector<Point> corners(std::size_t{1} << dim_);
  for (int n = 0; n < 1 << dim_; ++n)
    corners[corner_of(n & 1, n >> 1 & 1, n >> 2)] = {(n & 1) ? upper[0] : lower[0], (n & 2) ? upper[1] : lower[1],
                                                     (n & 4) ? upper[2] : lower[2]};
  add_block(corners, part);
}

void BlockMesh::add_arc(const Point& a, const Point& b, const Point& axis_point, const Point& axis_direction) {
  const std::int32_t i = known_vertex(a), j = known_vertex(b);
  if (i < 0 || j < 0 || i == j)
    throw Error(ErrorCode::misuse, "an arc needs two corners of blocks that were added before");
  const double size = length(axis_direction);
  if (!(size > 0)) throw Error(ErrorCode::misuse, "the axis of an arc is zero");
  arcs_[{std::min(i, j), std::max(i, j)}] = {axis_point, along({0, 0, 0}, 1 / size, axis_direction)};
  lines_known_ = false;
}

/// The corners of one side of a brick: (0, 0), (1, 0), (0, 1), (1, 1) in its other two directions.
std::array<std::int32_t, 4> BlockMesh::side_corners(const Block& block, int axis, int end) const {
  std::array<std::int32_t, 4> result{-1, -1, -1, -1};
  const int b = axis == 0 ? 1 : 0, c = axis == 2 ? 1 : 2;
  for (int n = 0; n < (dim_ == 3 ? 4 : 2); ++n) {
    std::array<int, 3> o{};
    o[axis] = end, o[b] = n & 1;
    if (dim_ == 3) o[c] = n >> 1;
    result[n] = block.corners[corner_of(o[0], o[1], o[2])];
  }
  return result;
}

BlockMesh::Pieces BlockMesh::pieces() const {
  Pieces all;
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    const Block& block = blocks_[b];
    for (int axis = 0; axis < dim_; ++axis) {
      for (int n = 0; n < 1 << (dim_ - 1); ++n) {
        const auto [from, to] = detail::brick_edge(axis, n);
        const std::int32_t i = block.corners[from], j = block.corners[to];
        all.edges[{std::min(i, j), std::max(i, j)}] = block.line[axis];
      }
      for (int end = 0; end < 2; ++end) {
        auto key = side_corners(block, axis, end);
        std::sort(key.begin(), key.end());
        auto& face = all.faces.try_emplace(key, Pieces::Face{static_cast<std::int32_t>(b), axis, end, 0}).first->second;
        if (++face.count > 2)
          throw Error(ErrorCode::bad_input, "three blocks share one face", "part '" + parts_[block.part] + "'");
      }
    }
  }
  return all;
}

void BlockMesh::name_sides_where(const std::string& name,
                                 const std::function<bool(double x, double y, double z)>& inside) {
  std::vector<char> marked(vertices_.size());
  for (std::size_t v = 0; v < vertices_.size(); ++v)
    marked[v] = inside(vertices_[v][0], vertices_[v][1], vertices_[v][2]);
  std::vector<Side> found;
  for (const auto& [corners, face] : pieces().faces)
    if (face.count == 1 &&
        std::all_of(corners.begin(), corners.end(), [&](std::int32_t v) { return v < 0 || marked[v]; }))
      found.push_back({face.block, face.axis, face.end});
  if (found.empty())
    throw Error(ErrorCode::bad_input, "no face of a block on the boundary of the body is there", "side '" + name + "'");
  sides_.emplace_back(name, std::move(found));
}

Point BlockMesh::on_edge(std::int32_t a, std::int32_t b, double t) const {
  if (a > b) return on_edge(b, a, 1 - t);  // one way to compute it, so that neighbours get the same bits
  const auto it = arcs_.find({a, b});
  const Point &p = vertices_[a], &q = vertices_[b];
  if (it == arcs_.end() || t == 0 || t == 1) return along(along({0, 0, 0}, 1 - t, p), t, q);
  const auto& [origin, axis] = it->second;
  const double hp = dot(p - origin, axis), hq = dot(q - origin, axis);
  const Point rp = along(p - origin, -hp, axis), rq = along(q - origin, -hq, axis);
  const double sine = dot(axis, cross(rp, rq)), cosine = dot(rp, rq);
  const double angle = t * std::atan2(sine, cosine), radius = (1 - t) * length(rp) + t * length(rq);
  const Point u = along({0, 0, 0}, 1 / length(rp), rp), v = cross(axis, u);
  return along(along(along(origin, (1 - t) * hp + t * hq, axis), radius * std::cos(angle), u), radius * std::sin(angle),
               v);
}

void BlockMesh::find_lines() {
  if (lines_known_) return;
  if (blocks_.empty()) throw Error(ErrorCode::misuse, "the mesh has no blocks; call add_block() first");
  std::map<std::array<std::int32_t, 2>, std::int32_t> edges;
  std::vector<std::int32_t> parent;
  const auto root = [&](std::int32_t e) {
    while (parent[e] != e) e = parent[e] = parent[parent[e]];
    return e;
  };
  const auto edge_of = [&](const Block& block, int axis, int n) {
    const auto [from, to] = detail::brick_edge(axis, n);
    const std::int32_t i = block.corners[from], j = block.corners[to];
    const auto [it, is_new] =
        edges.try_emplace({std::min(i, j), std::max(i, j)}, static_cast<std::int32_t>(parent.size()));
    if (is_new) parent.push_back(it->second);
    return it->second;
  };
  for (const Block& block : blocks_)
    for (int axis = 0; axis < dim_; ++axis)
      for (int n = 0; n < 1 << (dim_ - 1); ++n) {
        const std::int32_t a = root(edge_of(block, axis, 0)), b = root(edge_of(block, axis, n));
        parent[std::max(a, b)] = std::min(a, b);
      }
  std::vector<std::int32_t> line(parent.size(), -1);
  lines_.clear();
  for (std::size_t e = 0; e < parent.size(); ++e) {
    std::int32_t& number = line[root(static_cast<std::int32_t>(e))];
    if (number < 0) {
      number = static_cast<std::int32_t>(lines_.size());
      lines_.emplace_back();
    }
  }
  for (Block& block : blocks_)
    for (int axis = 0; axis < dim_; ++axis) block.line[axis] = line[root(edge_of(block, axis, 0))];

  std::vector<int> members(lines_.size(), 0);
  for (const auto& [ends, e] : edges) {
    constexpr int pieces = 16;  // an arc is measured by chords
    double sum = 0;
    for (int i = 0; i < pieces; ++i)
      sum += length(on_edge(ends[0], ends[1], (i + 1.0) / pieces) - on_edge(ends[0], ends[1], double(i) / pieces));
    lines_[line[root(e)]].length += sum;
    ++members[line[root(e)]];
  }
  std::vector<double> coarseness(lines_.size(), std::numeric_limits<double>::infinity());
  for (const Block& block : blocks_)
    for (int axis = 0; axis < dim_; ++axis)
      coarseness[block.line[axis]] = std::min(coarseness[block.line[axis]], coarseness_[block.part]);
  for (std::size_t l = 0; l < lines_.size(); ++l) lines_[l].length /= members[l] * coarseness[l];
  lines_known_ = true;
}

void BlockMesh::set_coarseness(const std::string& part, double factor) {
  const auto known = std::find(parts_.begin(), parts_.end(), part);
  if (known == parts_.end() || !(factor > 0))
    throw Error(ErrorCode::misuse, "the coarseness must be positive, and the part must have blocks",
                "part '" + part + "'");
  coarseness_[known - parts_.begin()] = factor;
  lines_known_ = false;
}

void BlockMesh::refine_to_size(double size) {
  if (!(size > 0)) throw Error(ErrorCode::bad_input, "the cell size must be positive");
  find_lines();
  for (Line& line : lines_) {
    // A hair less than the quotient, so that 0.3 / 0.1 is three cells.
    const double cells = std::ceil(line.length / size * (1 - 1e-9));
    if (!(cells <= most_cells))
      throw Error(ErrorCode::bad_input, "cells of size " + short_number(size, 6) + " are too many; make them larger");
    line.cells = std::max(1, static_cast<int>(cells));
  }
}

void BlockMesh::refine_to_nodes(std::int64_t nodes, const std::string& shape) {
  if (nodes < 1) throw Error(ErrorCode::bad_input, "the number of nodes must be positive");
  const ShapeTopology& topology = checked_shape(shape);
  find_lines();
  const Pieces all = pieces();
  // Lines of equal length are cut together, which keeps a symmetric body symmetric.
  std::vector<std::size_t> order(lines_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return lines_[a].length < lines_[b].length; });
  std::vector<std::vector<std::size_t>> groups;
  for (std::size_t l : order) {
    lines_[l].cells = 1;
    if (groups.empty() || lines_[l].length > lines_[groups.back().front()].length * (1 + 1e-6)) groups.emplace_back();
    groups.back().push_back(l);
  }
  const auto wanted = static_cast<double>(nodes);
  double now = count_nodes(topology, all);
  const auto cell_length = [&](const std::vector<std::size_t>& group) {
    return lines_[group.front()].length / lines_[group.front()].cells;
  };
  const auto change = [&](const std::vector<std::size_t>& group, int by) {
    for (std::size_t l : group) lines_[l].cells += by;
  };
  while (now < wanted) {
    const auto& longest = *std::max_element(
        groups.begin(), groups.end(), [&](const auto& a, const auto& b) { return cell_length(a) < cell_length(b); });
    if (lines_[longest.front()].cells >= most_cells)
      throw Error(ErrorCode::bad_input, std::to_string(nodes) + " nodes are too many; request fewer");
    change(longest, 1);
    const double next = count_nodes(topology, all);
    if (next > wanted) {
      change(longest, -1);
      break;
    }
    now = next;
  }
  // The longest would be too much: one more cell wherever that comes nearest, once for each group.
  while (now < wanted && !groups.empty()) {
    std::size_t best = 0;
    double nearest = 0;
    for (std::size_t g = 0; g < groups.size(); ++g) {
      change(groups[g], 1);
      const double next = count_nodes(topology, all);
      change(groups[g], -1);
      if (g == 0 || std::abs(next - wanted) < std::abs(nearest - wanted)) best = g, nearest = next;
    }
    if (std::abs(nearest - wanted) >= std::abs(now - wanted)) break;
    change(groups[best], 1);
    now = nearest;
    groups.erase(groups.begin() + static_cast<std::ptrdiff_t>(best));
  }
}

double BlockMesh::count_nodes(const ShapeTopology& shape, const Pieces& pieces) const {
  // Corners, edges, faces and insides of cells. Quadratic shapes have a node on every edge; tetrahedra and triangles on
  // the diagonals too, which go through the middle of every face and cell; wedges on those of their triangles.
  double corners = static_cast<double>(vertices_.size()), edges = 0, faces = 0, bases = 0, insides = 0;
  const auto cells = [&](std::int32_t line) { return static_cast<double>(lines_[line].cells); };
  for (const auto& [ends, line] : pieces.edges) {
    corners += cells(line) - 1;
    edges += cells(line);
  }
  const auto add_face = [&](double n, double m, double& bucket) {
    corners += (n - 1) * (m - 1);
    edges += n * (m - 1) + (n - 1) * m;
    faces += n * m;
    bucket += n * m;
  };
  double unused = 0;
  if (dim_ == 3)
    for (const auto& [key, face] : pieces.faces) {
      const Block& block = blocks_[face.block];
      add_face(cells(block.line[face.axis == 0 ? 1 : 0]), cells(block.line[face.axis == 2 ? 1 : 2]),
               face.axis == 2 ? bases : unused);
    }
  for (const Block& block : blocks_) {
    const double n = cells(block.line[0]), m = cells(block.line[1]);
    if (dim_ == 2) {
      add_face(n, m, unused);
      continue;
    }
    const double k = cells(block.line[2]);
    corners += (n - 1) * (m - 1) * (k - 1);
    edges += n * (m - 1) * (k - 1) + (n - 1) * m * (k - 1) + (n - 1) * (m - 1) * k;
    faces += (n - 1) * m * k + n * (m - 1) * k + n * m * (k - 1);
    bases += n * m * (k - 1);
    insides += n * m * k;
  }
  if (shape.order == 1) return corners;
  if (shape.corners == 6) return corners + edges + bases;
  const bool simplex = shape.corners == shape.dim + 1;
  return corners + edges + (simplex ? faces + insides : 0);
}

const ShapeTopology& BlockMesh::checked_shape(const std::string& shape) const {
  const ShapeTopology& topology = shape_topology(shape);
  if (topology.dim != dim_)
    throw Error(ErrorCode::bad_input,
                "elements of shape '" + shape + "' do not fill a body of dimension " + std::to_string(dim_) +
                    "; take " +
                    (dim_ == 3 ? "hex8, hex20, tet4, tet10, wedge6 or wedge15" : "quad4, quad8, tri3 or tri6"));
  return topology;
}

std::int64_t BlockMesh::node_count(const std::string& shape) const {
  const ShapeTopology& topology = checked_shape(shape);
  if (!lines_known_) throw Error(ErrorCode::misuse, "call refine_to_size() or refine_to_nodes() before");
  return static_cast<std::int64_t>(std::min(count_nodes(topology, pieces()), 9e18));
}

}  // namespace voussoir
