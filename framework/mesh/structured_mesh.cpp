#include <voussoir/framework/mesh/structured_mesh.hpp>

#include <algorithm>
#include <vector>

#include <voussoir/backends/error.hpp>
#include <voussoir/backends/splitmix64.hpp>
#include <voussoir/framework/domain/shape_topology.hpp>

namespace voussoir {
namespace {

using Offset = std::array<int, 3>;
using CellCorners = std::vector<Offset>;  // corners of one element in its cell, 0 or 1 in each direction

/// The elements of one cell by their corners, in the order of the shape's nodes.
std::vector<CellCorners> fill_cell(const ShapeTopology& shape) {
  // Both triangles contain the diagonal (0,0)–(1,1), and so do those of the neighbours: the mesh conforms.
  const std::vector<CellCorners> triangles = {{{0, 0, 0}, {1, 0, 0}, {1, 1, 0}}, {{0, 0, 0}, {1, 1, 0}, {0, 1, 0}}};
  const CellCorners square = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}};
  const auto extruded = [](CellCorners corners) {
    const std::size_t count = corners.size();
    for (std::size_t i = 0; i < count; ++i) corners.push_back({corners[i][0], corners[i][1], 1});
    return corners;
  };
  if (shape.dim == 1) return {{{0, 0, 0}, {1, 0, 0}}};
  if (shape.dim == 2 && shape.corners == 3) return triangles;
  if (shape.dim == 2 && shape.corners == 4) return {square};
  if (shape.dim == 3 && shape.corners == 8) return {extruded(square)};
  if (shape.dim == 3 && shape.corners == 6) return {extruded(triangles[0]), extruded(triangles[1])};
  if (shape.dim == 3 && shape.corners == 4) {
    // Kuhn's six tetrahedra: each walks from (0,0,0) to (1,1,1) along the axes in another order.
    std::vector<CellCorners> all;
    Offset axes{0, 1, 2};
    do {
      CellCorners tetrahedron{{0, 0, 0}};
      for (int axis : axes) {
        Offset next = tetrahedron.back();
        next[axis] = 1;
        tetrahedron.push_back(next);
      }
      const bool even = (axes[1] - axes[0] + 3) % 3 == 1;
      if (!even) std::swap(tetrahedron[1], tetrahedron[2]);
      all.push_back(std::move(tetrahedron));
    } while (std::next_permutation(axes.begin(), axes.end()));
    return all;
  }
  throw Error(ErrorCode::bad_input, "structured meshes are not available for the shape '" + shape.name + "'");
}

/// A number in [−1, 1) that depends on its arguments alone.
double noise(std::uint64_t seed, std::uint64_t counter) {
  return symmetric_unit(splitmix64(seed * splitmix_increment + (counter + 1) * 0xD1342543DE82EF95ull));
}

/// Everything happens on a lattice: the corners of cells, with the half-way points between where the shape is
/// quadratic.
class Lattice {
 public:
  Lattice(const BoxMesh& mesh, const ShapeTopology& shape) : mesh_(mesh), shape_(shape), step_(shape.order) {
    for (int a = 0; a < 3; ++a) {
      const std::string direction(1, static_cast<char>('x' + a));
      if (a >= shape.dim) continue;
      if (mesh.cells[a] < 1)
        throw Error(ErrorCode::bad_input,
                    "the number of cells along " + direction + " is " + std::to_string(mesh.cells[a]) +
                        "; at least 1 is needed",
                    where());
      if (!(mesh.upper[a] > mesh.lower[a]))
        throw Error(ErrorCode::bad_input, "the box has no extent along " + direction + "; upper must exceed lower",
                    where());
      cells_[a] = mesh.cells[a];
    }
    if (!(mesh.distortion >= 0 && mesh.distortion < 0.5))
      throw Error(ErrorCode::bad_input, "the distortion is outside 0 … 0.5 of a cell", where());

    elements_ = fill_cell(shape);
    std::stable_sort(axes_.begin(), axes_.end(), [&](int a, int b) { return cells_[a] > cells_[b]; });
    double points = 1, elements = static_cast<double>(elements_.size());
    for (int a = 0; a < 3; ++a) {
      points_[a] = a < shape.dim ? std::int64_t{cells_[a]} * step_ + 1 : 1;
      points *= static_cast<double>(points_[a]);
      elements *= cells_[a];
    }
    if (points > INT32_MAX || elements > INT32_MAX)
      throw Error(ErrorCode::bad_input, "the mesh is too large: a domain has at most 2^31 − 1 nodes and elements",
                  where());
    choose_points();
  }

  ElementBlock& fill(Domain& domain) {
    const std::int32_t before = domain.node_count();
    add_nodes(domain);
    first_id_ = domain.node_id(before);
    ElementBlock& block = domain.add_block(mesh_.block, mesh_.type);
    block_index_ = static_cast<std::int32_t>(domain.block_count()) - 1;
    add_elements(block);
    add_sides(domain);
    return block;
  }

 private:
  std::string where() const { return "structured mesh '" + mesh_.block + "'"; }

  std::int64_t point(const std::array<std::int64_t, 3>& p) const {
    return (p[axes_[0]] * points_[axes_[1]] + p[axes_[1]]) * points_[axes_[2]] + p[axes_[2]];
  }

  /// Visits (x, y, z) indices in the order of numbering.
  template <class Visit>
  void for_each(const std::array<std::int64_t, 3>& count, Visit visit) const {
    std::array<std::int64_t, 3> p;
    for (std::int64_t i = 0; i < count[axes_[0]]; ++i)
      for (std::int64_t j = 0; j < count[axes_[1]]; ++j)
        for (std::int64_t k = 0; k < count[axes_[2]]; ++k) {
          p[axes_[0]] = i, p[axes_[1]] = j, p[axes_[2]] = k;
          visit(p);
        }
  }

  std::array<std::int64_t, 3> cell_counts() const { return {cells_[0], cells_[1], cells_[2]}; }

  /// Finds the points of the lattice that are nodes of some element; linear shapes use all.
  void choose_points() {
    // Offsets of each element's nodes in its cell; a mid-side node lies between the ends of its edge.
    for (const CellCorners& corners : elements_) {
      std::vector<Offset> nodes(shape_.nodes);
      for (int i = 0; i < shape_.corners; ++i)
        for (int a = 0; a < 3; ++a) nodes[i][a] = corners[i][a] * step_;
      if (step_ == 2)
        for (const auto& edge : shape_.edges)
          for (int a = 0; a < 3; ++a) nodes[edge[2]][a] = (nodes[edge[0]][a] + nodes[edge[1]][a]) / 2;
      has_inner_nodes_ = static_cast<int>(nodes.size()) > shape_.corners + static_cast<int>(shape_.edges.size());
      if (step_ == 2 && has_inner_nodes_) add_inner_nodes(nodes);
      offsets_.push_back(std::move(nodes));
    }
    if (step_ == 1) return;
    std::array<bool, 8> kinds{};  // by the directions in which a point is half-way
    for (const auto& nodes : offsets_)
      for (const Offset& o : nodes) kinds[(o[0] & 1) | (o[1] & 1) << 1 | (o[2] & 1) << 2] = true;
    node_.assign(points_[0] * points_[1] * points_[2], -1);
    std::int32_t next = 0;
    std::size_t place = 0;
    for_each(points_, [&](const auto& p) {
      if (kinds[(p[0] & 1) | (p[1] & 1) << 1 | (p[2] & 1) << 2]) node_[place] = next++;
      ++place;
    });
  }

  /// Nodes inside faces and in the centre lie in the middle of the corners.
  void add_inner_nodes(std::vector<Offset>& nodes) const {
    const auto middle = [&](int node, const std::vector<int>& corners, std::size_t count) {
      Offset sum{};
      for (std::size_t i = 0; i < count; ++i)
        for (int a = 0; a < 3; ++a) sum[a] += nodes[corners[i]][a];
      for (int a = 0; a < 3; ++a) nodes[node][a] = sum[a] / static_cast<int>(count);
    };
    std::vector<char> known(nodes.size(), 0);
    for (int i = 0; i < shape_.corners; ++i) known[i] = 1;
    for (const auto& edge : shape_.edges)
      for (const int node : edge) known[node] = 1;
    for (const ShapeFace& face : shape_.faces)
      if (face.nodes.size() == 9) {
        middle(face.nodes[8], face.nodes, 4);
        known[face.nodes[8]] = 1;
      }
    std::vector<int> corners;
    for (int i = 0; i < shape_.corners; ++i) corners.push_back(i);
    for (std::size_t n = 0; n < nodes.size(); ++n)
      if (!known[n]) middle(static_cast<int>(n), corners, corners.size());
  }

  std::int64_t node(std::int64_t point) const { return step_ == 1 ? point : node_[point]; }

  /// A corner of cells in the box, distorted.
  std::array<double, 3> corner(const std::array<std::int64_t, 3>& p) const {
    std::array<double, 3> x{mesh_.lower};
    bool inside = mesh_.distortion > 0;
    for (int a = 0; a < shape_.dim; ++a) {
      const std::int64_t i = p[a] / step_;
      // The last plane lies exactly where the user put it.
      x[a] = i == cells_[a] ? mesh_.upper[a]
                            : mesh_.lower[a] + (mesh_.upper[a] - mesh_.lower[a]) * (static_cast<double>(i) / cells_[a]);
      inside = inside && i > 0 && i < cells_[a];
    }
    if (inside)
      for (int a = 0; a < shape_.dim; ++a)
        x[a] += mesh_.distortion * (mesh_.upper[a] - mesh_.lower[a]) / cells_[a] *
                noise(mesh_.seed, 3 * static_cast<std::uint64_t>(point(p)) + a);
    return x;
  }

  std::array<double, 3> mapped(const std::array<double, 3>& x) const {
    return mesh_.map ? mesh_.map(x[0], x[1], x[2]) : x;
  }

  std::array<double, 3> position(const std::array<std::int64_t, 3>& p) const {
    if (step_ == 1) return mapped(corner(p));
    // A half-way point lies between the corners that it reaches by going down, and up, wherever it is half-way.
    std::array<std::int64_t, 3> low, high;
    for (int a = 0; a < 3; ++a) low[a] = p[a] - (p[a] & 1), high[a] = p[a] + (p[a] & 1);
    if (low == high) return mapped(corner(p));
    std::vector<std::array<std::int64_t, 3>> ends = {low, high};
    if (has_inner_nodes_) ends = corners_around(low, high);
    std::vector<std::array<double, 3>> x;
    for (const auto& end : ends) x.push_back(mesh_.straight_edges ? mapped(corner(end)) : corner(end));
    // Pair by pair: the mean of equal numbers is exact, so that sides stay where the user put them.
    for (std::size_t count = x.size() / 2; count > 0; count /= 2)
      for (std::size_t i = 0; i < count; ++i)
        for (int a = 0; a < 3; ++a) x[i][a] = 0.5 * (x[2 * i][a] + x[2 * i + 1][a]);
    return mesh_.straight_edges ? x[0] : mapped(x[0]);
  }

  /// Corners whose mean a point half-way between is: those of the edge, the face or the cell that it is the middle of.
  /// Triangles have an edge across the cell, so that wedges go down and up in x and y at once.
  std::vector<std::array<std::int64_t, 3>> corners_around(const std::array<std::int64_t, 3>& low,
                                                          const std::array<std::int64_t, 3>& high) const {
    std::vector<std::array<std::int64_t, 3>> corners;
    for (int which = 0; which < 8; ++which) {
      const bool up[3] = {(which & 1) != 0, (which & 2) != 0, (which & 4) != 0};
      if (shape_.corners == 6 && up[0] != up[1]) continue;
      std::array<std::int64_t, 3> p;
      for (int a = 0; a < 3; ++a) p[a] = up[a] ? high[a] : low[a];
      corners.push_back(p);  // a direction that is not half-way counts all of its corners twice
    }
    return corners;
  }

  void add_nodes(Domain& domain) const {
    std::vector<double> coordinates;
    coordinates.reserve(
        3 * (step_ == 1 ? points_[0] * points_[1] * points_[2] : *std::max_element(node_.begin(), node_.end()) + 1));
    std::size_t place = 0;
    for_each(points_, [&](const auto& p) {
      if (node(static_cast<std::int64_t>(place++)) < 0) return;
      const auto x = position(p);
      coordinates.insert(coordinates.end(), x.begin(), x.end());
    });
    domain.add_nodes({}, coordinates);
  }

  void add_elements(ElementBlock& block) const {
    // The distance of each node from the first point of its cell is the same in all cells.
    std::vector<std::int64_t> distance;
    for (const auto& nodes : offsets_)
      for (const Offset& o : nodes) distance.push_back(point({o[0], o[1], o[2]}));
    // A few portions: memory for the ids of a quarter of the mesh, and few reallocations.
    const std::size_t total = distance.size() * cells_[0] * cells_[1] * static_cast<std::size_t>(cells_[2]);
    const std::size_t portion = std::max<std::size_t>(total / 4, 1 << 20);
    std::vector<Id> ids;
    ids.reserve(std::min(total, portion + distance.size()));
    for_each(cell_counts(), [&](const auto& c) {
      const std::int64_t first = point({c[0] * step_, c[1] * step_, c[2] * step_});
      for (std::int64_t d : distance) ids.push_back(first_id_ + node(first + d));
      if (ids.size() >= portion) {
        block.add_many({}, ids);
        ids.clear();
      }
    });
    block.add_many({}, ids);
  }

  void add_sides(Domain& domain) const {
    for (int axis = 0; axis < shape_.dim; ++axis)
      for (int end = 0; end < 2; ++end) {
        const std::string name = mesh_.set_prefix + static_cast<char>('x' + axis) + (end ? "max" : "min");
        // Only the layer at this side is visited.
        std::vector<Id> nodes;
        auto layer = points_;
        layer[axis] = 1;
        for_each(layer, [&](auto p) {
          p[axis] = end ? points_[axis] - 1 : 0;
          if (const std::int64_t n = node(point(p)); n >= 0) nodes.push_back(first_id_ + n);
        });
        domain.add_node_set(name, nodes);

        std::vector<std::array<std::int32_t, 2>> sides;  // (element of the cell, face) that lie on this side
        for (std::size_t e = 0; e < elements_.size(); ++e)
          for (std::size_t f = 0; f < shape_.faces.size(); ++f) {
            const auto& local = shape_.faces[f].nodes;
            if (std::all_of(local.begin(), local.end(), [&](int n) { return offsets_[e][n][axis] == end * step_; }))
              sides.push_back({static_cast<std::int32_t>(e), static_cast<std::int32_t>(f)});
          }
        std::vector<FaceRef> faces;
        auto cells = cell_counts();
        cells[axis] = 1;
        for_each(cells, [&](auto c) {
          c[axis] = end ? cells_[axis] - 1 : 0;
          const std::int64_t cell = (c[axes_[0]] * cells_[axes_[1]] + c[axes_[1]]) * cells_[axes_[2]] + c[axes_[2]];
          for (const auto& [e, f] : sides)
            faces.push_back(
                {block_index_, static_cast<std::int32_t>(cell * static_cast<std::int64_t>(elements_.size()) + e), f});
        });
        domain.add_surface(name, faces);
      }
  }

  const BoxMesh& mesh_;
  const ShapeTopology& shape_;
  int step_;  // points of the lattice per cell and direction
  bool has_inner_nodes_ = false;
  std::array<int, 3> cells_{1, 1, 1};
  std::array<std::int64_t, 3> points_{1, 1, 1};
  std::array<int, 3> axes_{0, 1, 2};  // slowest first
  std::vector<CellCorners> elements_;
  std::vector<std::vector<Offset>> offsets_;  // per element of a cell, per node
  std::vector<std::int32_t> node_;            // per point, or −1; empty where every point is a node
  Id first_id_ = 1;
  std::int32_t block_index_ = 0;
};

}  // namespace

ElementBlock& add_box_mesh(Domain& domain, const BoxMesh& mesh) {
  const ElementType& type = ElementLibrary::instance().find(mesh.type);
  if (type.shape().empty())
    throw Error(ErrorCode::bad_input, "elements of type '" + mesh.type + "' have no shape that can fill a box",
                "structured mesh '" + mesh.block + "'");
  for (std::size_t b = 0; b < domain.block_count(); ++b)
    if (domain.block(b).name() == mesh.block)
      throw Error(ErrorCode::bad_input, "a block of this name exists; set BoxMesh::block",
                  "structured mesh '" + mesh.block + "'");
  return Lattice(mesh, shape_topology(type.shape())).fill(domain);
}

}  // namespace voussoir
