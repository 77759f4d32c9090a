#include <algorithm>
#include <cmath>

#include <voussoir/backends/error.hpp>
#include <voussoir/framework/mesh/block_mesh.hpp>
#include <voussoir/framework/mesh/detail/brick.hpp>
#include <voussoir/framework/mesh/detail/cell_filling.hpp>

// How the cells of bricks become nodes and elements.

namespace voussoir {
using detail::CellOffset;
using detail::corner_of;

class BlockMesh::Filler {
 public:
  Filler(const BlockMesh& mesh, const ShapeTopology& shape)
      : mesh_(mesh), shape_(shape), step_(shape.order), ways_(detail::ways_to_fill(shape)), pieces_(mesh.pieces()) {
    if (shape.corners == 6) check_layers();
  }

  void fill(Domain& domain, const std::string& type) {
    number_points();
    place_points();
    rank_points();
    order_cells();
    make_elements();
    add_to(domain, type);
  }

 private:
  int dim() const { return mesh_.dim_; }
  std::int64_t cells(const Block& block, int axis) const {
    return axis < dim() ? mesh_.lines_[block.line[axis]].cells : 1;
  }
  /// Points along an axis less one.
  std::int64_t steps(const Block& block, int axis) const { return axis < dim() ? cells(block, axis) * step_ : 0; }

  /// Two wedges in a cell must be cut alike in all layers of cells, whichever brick they are in.
  void check_layers() const {
    std::vector<char> across(mesh_.lines_.size()), along(mesh_.lines_.size());
    for (const Block& block : mesh_.blocks_) across[block.line[0]] = across[block.line[1]] = along[block.line[2]] = 1;
    bool fits = true;
    for (std::size_t l = 0; l < across.size(); ++l) fits = fits && !(across[l] && along[l]);
    std::map<std::array<std::int32_t, 4>, std::array<std::int32_t, 2>> diagonal;
    for (const Block& block : mesh_.blocks_)
      for (int end = 0; end < 2; ++end) {
        auto key = mesh_.side_corners(block, 2, end);
        const std::array<std::int32_t, 2> ends{std::min(key[0], key[3]), std::max(key[0], key[3])};
        std::sort(key.begin(), key.end());
        fits = fits && diagonal.try_emplace(key, ends).first->second == ends;
      }
    if (!fits)
      throw Error(ErrorCode::bad_input,
                  "this body cannot be meshed with wedges, since its blocks are not stacked in one "
                  "direction; use hexahedra or tetrahedra");
  }

  // --- numbers of points: corners, then those inside edges, inside sides and inside bricks ---------------------------

  void number_points() {
    std::int64_t next = static_cast<std::int64_t>(mesh_.vertices_.size());
    double expected = static_cast<double>(next), elements = 0;
    for (const auto& [ends, line] : pieces_.edges) {
      first_on_edge_[ends] = next;
      next += std::int64_t{mesh_.lines_[line].cells} * step_ - 1;
    }
    for (const Block& block : mesh_.blocks_) {  // all counts fit into 64 bits once the product of doubles is small
      double points = 1, cells_here = 1;
      for (int a = 0; a < dim(); ++a)
        points *= static_cast<double>(steps(block, a) + 1), cells_here *= static_cast<double>(cells(block, a));
      expected += points;
      elements += cells_here * static_cast<double>(ways_[0].size());
    }
    if (expected > INT32_MAX || elements > INT32_MAX)
      throw Error(ErrorCode::bad_input,
                  "the mesh is too large: a domain has at most 2^31 − 1 nodes and elements; use larger elements");
    if (dim() == 3)
      for (const auto& [corners, face] : pieces_.faces) {
        const Block& block = mesh_.blocks_[face.block];
        first_on_face_[corners] = next;
        next += (steps(block, face.axis == 0 ? 1 : 0) - 1) * (steps(block, face.axis == 2 ? 1 : 2) - 1);
      }
    std::int64_t cell = 0, lattice = 0;
    for (const Block& block : mesh_.blocks_) {
      first_inside_.push_back(next);
      first_cell_.push_back(cell);
      first_point_.push_back(lattice);
      std::int64_t inside = 1, in_block = 1, points = 1;
      for (int a = 0; a < dim(); ++a) {
        inside *= steps(block, a) - 1;
        in_block *= cells(block, a);
        points *= steps(block, a) + 1;
      }
      next += inside;
      cell += in_block;
      lattice += points;
    }
    points_ = next;
    first_cell_.push_back(cell);
    first_point_.push_back(lattice);
  }

  /// The number of a point of a brick's lattice.
  std::int64_t number(std::size_t b, const std::array<std::int64_t, 3>& p) const {
    const Block& block = mesh_.blocks_[b];
    std::array<int, 3> end{};  // 0, 1: at this end; −1: between
    int inner[3], count = 0;
    for (int a = 0; a < dim(); ++a) {
      end[a] = p[a] == 0 ? 0 : p[a] == steps(block, a) ? 1 : -1;
      if (end[a] < 0) inner[count++] = a;
    }
    if (count == 0) return block.corners[corner_of(end[0], end[1], end[2])];
    if (count == 1) {
      const int a = inner[0];
      end[a] = 0;
      const std::int32_t from = block.corners[corner_of(end[0], end[1], end[2])];
      end[a] = 1;
      const std::int32_t to = block.corners[corner_of(end[0], end[1], end[2])];
      return first_on_edge_.at({std::min(from, to), std::max(from, to)}) + (from < to ? p[a] : steps(block, a) - p[a]) -
             1;
    }
    if (count == 2 && dim() == 3) {
      // Counted from the side's lowest corner, first towards the lower of its two neighbours.
      const int axis = 3 - inner[0] - inner[1];
      auto corners = mesh_.side_corners(block, axis, end[axis]);
      const int low = static_cast<int>(std::min_element(corners.begin(), corners.end()) - corners.begin());
      const std::int64_t n[2] = {steps(block, inner[0]), steps(block, inner[1])};
      std::int64_t q[2] = {p[inner[0]], p[inner[1]]};
      if (low & 1) q[0] = n[0] - q[0];
      if (low & 2) q[1] = n[1] - q[1];
      const bool swap = corners[low ^ 2] < corners[low ^ 1];
      std::sort(corners.begin(), corners.end());
      return first_on_face_.at(corners) +
             (swap ? (q[1] - 1) + (q[0] - 1) * (n[1] - 1) : (q[0] - 1) + (q[1] - 1) * (n[0] - 1));
    }
    std::int64_t place = 0;
    for (int a = dim() - 1; a >= 0; --a) place = place * (steps(block, a) - 1) + p[a] - 1;
    return first_inside_[b] + place;
  }

  template <class Visit>
  void for_each_point(const Block& block, Visit visit) const {
    std::array<std::int64_t, 3> p;
    for (p[2] = 0; p[2] <= steps(block, 2); ++p[2])
      for (p[1] = 0; p[1] <= steps(block, 1); ++p[1])
        for (p[0] = 0; p[0] <= steps(block, 0); ++p[0]) visit(p);
  }

  // --- where they lie ------------------------------------------------------------------------------------------------

  void place_points() {
    position_.assign(3 * points_, 0);
    std::vector<char> known(points_, 0);
    lattice_.resize(first_point_.back());
    std::size_t place = 0;
    for (std::size_t b = 0; b < mesh_.blocks_.size(); ++b) {
      const Block& block = mesh_.blocks_[b];
      const int edges = 1 << (dim() - 1);
      std::vector<Point> curve[3][4];
      for (int a = 0; a < dim(); ++a)
        for (int n = 0; n < edges; ++n) {
          const auto [from, to] = detail::brick_edge(a, n);
          const std::int64_t count = steps(block, a);
          for (std::int64_t i = 0; i <= count; ++i)
            curve[a][n].push_back(mesh_.on_edge(block.corners[from], block.corners[to],
                                                static_cast<double>(i) / static_cast<double>(count)));
        }
      for_each_point(block, [&](const auto& p) {
        const std::int64_t n = number(b, p);
        lattice_[place++] = static_cast<std::int32_t>(n);
        if (known[n]) return;
        known[n] = 1;
        double* x = &position_[3 * n];
        double t[3] = {0, 0, 0};
        for (int a = 0; a < dim(); ++a) t[a] = static_cast<double>(p[a]) / static_cast<double>(steps(block, a));
        // Edges blended in each direction, less the corners that are then counted dim − 1 times too often.
        for (int a = 0; a < dim(); ++a) {
          const int first = a == 0 ? 1 : 0, second = a == 2 ? 1 : 2;
          for (int e = 0; e < edges; ++e) {
            double weight = e & 1 ? t[first] : 1 - t[first];
            if (dim() == 3) weight *= e & 2 ? t[second] : 1 - t[second];
            for (int k = 0; k < 3; ++k) x[k] += weight * curve[a][e][p[a]][k];
          }
        }
        for (int c = 0; c < 1 << dim(); ++c) {
          double weight = dim() - 1;
          for (int a = 0; a < dim(); ++a) weight *= c >> a & 1 ? t[a] : 1 - t[a];
          const Point& corner = mesh_.vertices_[block.corners[corner_of(c & 1, c >> 1 & 1, c >> 2)]];
          for (int k = 0; k < 3; ++k) x[k] -= weight * corner[k];
        }
      });
    }
    round_positions();
  }

  /// To twelve digits of the body's size: what differs by rounding becomes alike, and files stay short.
  void round_positions() {
    double largest = 0;
    for (double x : position_) largest = std::max(largest, std::abs(x));
    if (!(largest > 0)) return;
    const double scale = std::pow(10.0, 12 - std::floor(std::log10(largest)));
    for (double& x : position_) x = std::round(x * scale) / scale + 0.0;  // no −0
  }

  /// Numbers all points along the longest direction of the body, then the second, then the third.
  void rank_points() {
    Point low{1e300, 1e300, 1e300}, high{-1e300, -1e300, -1e300};
    for (std::int64_t n = 0; n < points_; ++n)
      for (int k = 0; k < 3; ++k) {
        low[k] = std::min(low[k], position_[3 * n + k]);
        high[k] = std::max(high[k], position_[3 * n + k]);
      }
    std::array<int, 3> axes{0, 1, 2};
    std::stable_sort(axes.begin(), axes.end(), [&](int a, int b) { return high[a] - low[a] > high[b] - low[b]; });
    const double size = high[axes[0]] - low[axes[0]];
    std::vector<std::pair<std::uint64_t, std::int32_t>> order(points_);
    for (std::int64_t n = 0; n < points_; ++n) {
      std::uint64_t key = 0;
      for (int a : axes)  // an odd offset, since nice numbers are often half-way between two others
        key = key << 21 | static_cast<std::uint64_t>((position_[3 * n + a] - low[a]) / size * (1 << 20) + 0.3769);
      order[n] = {key, static_cast<std::int32_t>(n)};
    }
    std::sort(order.begin(), order.end());
    std::vector<std::int32_t> rank(points_);
    std::vector<double> sorted(position_.size());
    for (std::int64_t i = 0; i < points_; ++i) {
      rank[order[i].second] = static_cast<std::int32_t>(i);
      std::copy_n(&position_[3 * std::size_t(order[i].second)], 3, &sorted[3 * i]);
    }
    position_ = std::move(sorted);
    for (std::int32_t& n : lattice_) n = rank[n];
  }

  // --- cells and elements --------------------------------------------------------------------------------------------

  struct Cell {
    std::size_t block;
    std::array<std::int64_t, 3> place;
  };
  Cell cell(std::int64_t index) const {
    const std::size_t b = std::upper_bound(first_cell_.begin(), first_cell_.end(), index) - first_cell_.begin() - 1;
    const Block& block = mesh_.blocks_[b];
    const std::int64_t i = index - first_cell_[b], n = cells(block, 0), m = cells(block, 1);
    return {b, {i % n, i / n % m, i / n / m}};
  }
  std::int64_t cell_index(std::size_t b, const std::array<std::int64_t, 3>& place) const {
    const Block& block = mesh_.blocks_[b];
    return first_cell_[b] + (place[2] * cells(block, 1) + place[1]) * cells(block, 0) + place[0];
  }
  std::int32_t point(const Cell& cell, const CellOffset& offset) const {
    const Block& block = mesh_.blocks_[cell.block];
    std::array<std::int64_t, 3> p;
    for (int a = 0; a < 3; ++a) p[a] = cell.place[a] * step_ + offset[a];
    return lattice_[first_point_[cell.block] + (p[2] * (steps(block, 1) + 1) + p[1]) * (steps(block, 0) + 1) + p[0]];
  }
  std::int32_t corner(const Cell& cell, int c) const {
    return point(cell, {(c & 1) * step_, (c >> 1 & 1) * step_, (c >> 2) * step_});
  }

  const std::vector<std::vector<CellOffset>>& way(const Cell& cell) const {
    if (ways_.size() == 1) return ways_[0];
    int low = 0;
    for (int c = 1; c < 8; ++c)
      if (corner(cell, c) < corner(cell, low)) low = c;
    int diagonals = 0;
    for (int axis = 0; axis < 3; ++axis) {
      const int b = (axis + 1) % 3, c = (axis + 2) % 3, base = (low >> axis & 1 ? 0 : 1) << axis;
      const std::int32_t around[4] = {corner(cell, base), corner(cell, base | 1 << b),
                                      corner(cell, base | 1 << b | 1 << c), corner(cell, base | 1 << c)};
      if (std::min(around[1], around[3]) < std::min(around[0], around[2])) diagonals |= 1 << axis;
    }
    return ways_[8 * low + diagonals];
  }

  void order_cells() {
    const std::int64_t count = first_cell_.back();
    cell_order_.resize(mesh_.parts_.size());
    for (std::int64_t i = 0; i < count; ++i) {
      const Cell c = cell(i);
      std::int32_t low = corner(c, 0);
      for (int n = 1; n < 1 << dim(); ++n) low = std::min(low, corner(c, n));
      cell_order_[mesh_.blocks_[c.block].part].push_back(static_cast<std::uint64_t>(low) << 32 |
                                                         static_cast<std::uint64_t>(i));
    }
    for (auto& part : cell_order_) std::sort(part.begin(), part.end());
  }

  void make_elements() {
    first_element_.resize(first_cell_.back());
    connectivity_.resize(cell_order_.size());
    index_.assign(points_, -1);
    for (std::size_t part = 0; part < cell_order_.size(); ++part) {
      std::int32_t next = 0;
      connectivity_[part].reserve(cell_order_[part].size() * ways_[0].size() * shape_.nodes);
      for (std::uint64_t entry : cell_order_[part]) {
        const auto i = static_cast<std::int64_t>(entry & 0xffffffffu);
        const Cell c = cell(i);
        first_element_[i] = next;
        next += static_cast<std::int32_t>(ways_[0].size());
        for (const auto& element : way(c))
          for (const CellOffset& o : element) {
            connectivity_[part].push_back(point(c, o));
            index_[connectivity_[part].back()] = 0;
          }
      }
    }
    nodes_ = 0;
    for (std::int32_t& i : index_)
      if (i == 0) i = nodes_++;
  }

  // --- into the domain -----------------------------------------------------------------------------------------------

  void add_to(Domain& domain, const std::string& type) {
    std::vector<double> coordinates(3 * std::size_t(nodes_));
    for (std::int64_t n = 0; n < points_; ++n)
      if (index_[n] >= 0) std::copy_n(&position_[3 * n], 3, &coordinates[3 * std::size_t(index_[n])]);
    const std::int32_t before = domain.node_count();
    domain.add_nodes({}, coordinates);
    const Id first = domain.node_id(before);
    const auto first_block = static_cast<std::int32_t>(domain.block_count());
    for (std::size_t part = 0; part < connectivity_.size(); ++part) {
      std::vector<Id> ids(connectivity_[part].size());
      for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = first + index_[connectivity_[part][i]];
      domain.add_block(mesh_.parts_[part], type).add_many({}, ids);
    }
    for (const auto& [name, sides] : mesh_.sides_) {
      std::vector<FaceRef> faces;
      std::vector<Id> nodes;
      for (const Side& side : sides) add_side(side, first_block, first, faces, nodes);
      std::sort(nodes.begin(), nodes.end());
      nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
      domain.add_surface(name, faces);
      domain.add_node_set(name, nodes);
    }
  }

  void add_side(const Side& side, std::int32_t first_block, Id first, std::vector<FaceRef>& faces,
                std::vector<Id>& nodes) const {
    const Block& block = mesh_.blocks_[side.block];
    std::array<std::int64_t, 3> count{cells(block, 0), cells(block, 1), cells(block, 2)};
    const std::int64_t layer = side.end ? count[side.axis] - 1 : 0;
    count[side.axis] = 1;
    std::array<std::int64_t, 3> p;
    for (p[2] = 0; p[2] < count[2]; ++p[2])
      for (p[1] = 0; p[1] < count[1]; ++p[1])
        for (p[0] = 0; p[0] < count[0]; ++p[0]) {
          Cell c{static_cast<std::size_t>(side.block), p};
          c.place[side.axis] = layer;
          const auto& elements = way(c);
          const std::int32_t base = first_element_[cell_index(c.block, c.place)];
          for (std::size_t e = 0; e < elements.size(); ++e)
            for (std::size_t f = 0; f < shape_.faces.size(); ++f) {
              const auto& local = shape_.faces[f].nodes;
              if (!std::all_of(local.begin(), local.end(),
                               [&](int n) { return elements[e][n][side.axis] == side.end * step_; }))
                continue;
              faces.push_back(
                  {first_block + block.part, base + static_cast<std::int32_t>(e), static_cast<std::int32_t>(f)});
              for (int n : local) nodes.push_back(first + index_[point(c, elements[e][n])]);
            }
        }
  }

  const BlockMesh& mesh_;
  const ShapeTopology& shape_;
  int step_;  // points of the lattice per cell and direction
  std::vector<std::vector<std::vector<CellOffset>>> ways_;
  Pieces pieces_;
  std::map<std::array<std::int32_t, 2>, std::int64_t> first_on_edge_;
  std::map<std::array<std::int32_t, 4>, std::int64_t> first_on_face_;
  std::vector<std::int64_t> first_inside_, first_cell_, first_point_;
  std::int64_t points_ = 0;
  std::vector<double> position_;
  std::vector<std::int32_t> lattice_;                   // points of each brick, brick by brick
  std::vector<std::vector<std::uint64_t>> cell_order_;  // of each part: lowest point, cell
  std::vector<std::int32_t> first_element_;             // of each cell, within its part
  std::vector<std::vector<std::int32_t>> connectivity_;
  std::vector<std::int32_t> index_;  // of each point among the nodes; −1: no node
  std::int32_t nodes_ = 0;
};

void BlockMesh::fill(Domain& domain, const std::string& type) const {
  const ElementType& element = ElementLibrary::instance().find(type);
  if (element.shape().empty())
    throw Error(ErrorCode::bad_input, "elements of type '" + type + "' have no shape that can fill a body");
  const ShapeTopology& shape = checked_shape(element.shape());
  if (!lines_known_) throw Error(ErrorCode::misuse, "call refine_to_size() or refine_to_nodes() before");
  for (std::size_t b = 0; b < domain.block_count(); ++b)
    if (std::find(parts_.begin(), parts_.end(), domain.block(b).name()) != parts_.end())
      throw Error(ErrorCode::bad_input, "the domain has a block of this name; give the part another one",
                  "part '" + domain.block(b).name() + "'");
  Filler(*this, shape).fill(domain, type);
}

}  // namespace voussoir
