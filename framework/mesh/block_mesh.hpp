#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <voussoir/framework/domain/domain.hpp>
#include <voussoir/framework/domain/shape_topology.hpp>

// Meshes of bodies that can be put together from a few bricks: for benchmarks, studies and first steps.

namespace voussoir {

/// A body of bricks (or of quadrilaterals, in a plane), each of which is cut into cells of about equal size, and each
/// cell filled with elements.
///
///   BlockMesh body(3);
///   body.add_block({{0, 0, 0}, {2, 0, 0}, {2, 1, 0}, {0, 1, 0}, {0, 0, 1}, {2, 0, 1}, {2, 1, 1}, {0, 1, 1}}, "beam");
///   body.name_sides_where("wall", [](double x, double, double) { return x == 0; });
///   body.refine_to_size(0.1);
///   body.fill(domain, "solid.hex8");
///
/// Blocks whose corners coincide are connected there. Opposite edges of a block are divided into the same number
/// of cells, and so on through all bricks that touch, so that every mesh conforms. Edges are straight, or arcs about an
/// axis; what is inside a brick follows its twelve edges (transfinite interpolation), mid-side nodes too.
class BlockMesh {
 public:
  using Point = std::array<double, 3>;

  /// `dim` is 3 or 2. Corners nearer than `tolerance` are one.
  explicit BlockMesh(int dim, double tolerance = 1e-6);

  /// A brick by its 8 corners (4 in a plane) in the order of a hex8 (quad4). Bricks of one part become one element
  /// block of the domain.
  void add_block(const std::vector<Point>& corners, const std::string& part);
  /// The box between two corners.
  void add_box(const Point& lower, const Point& upper, const std::string& part);
  /// Makes the edge between two corners of blocks an arc about an axis, the shorter one; if the ends differ in
  /// their distance from the axis, a spiral.
  void add_arc(const Point& a, const Point& b, const Point& axis_point, const Point& axis_direction);
  /// Names the faces of blocks on the boundary of the body for all of whose corners `inside(x, y, z)` is
  /// so. The domain gets a surface and a node set of that name. A name that catches nothing is an Error.
  void name_sides_where(const std::string& name, const std::function<bool(double x, double y, double z)>& inside);

  /// Lets the cells of a part be `factor` times as long as others, where no finer part is cut along with it.
  void set_coarseness(const std::string& part, double factor);
  /// Cuts edges so that cells are about `size` long, or shorter.
  void refine_to_size(double size);
  /// Makes cells smaller, the longest first, until a mesh of this shape ("hex20") has about `nodes` nodes. No mesh is
  /// coarser than its bricks.
  void refine_to_nodes(std::int64_t nodes, const std::string& shape);
  /// Nodes of a mesh of this shape, as the edges are cut now.
  std::int64_t node_count(const std::string& shape) const;

  /// Adds the nodes, one element block for each part, and a surface and a node set for each name to a domain. The shape
  /// of the element type decides how cells are filled: hexahedra, tetrahedra (six in a cell), wedges (two in a cell,
  /// along the third direction of the bricks, if these agree on it); quadrilaterals, triangles.
  ///
  /// Nodes and elements are numbered along the longest direction of the body, so that neighbours have near numbers.
  /// Throws Error (bad_input) for shapes that do not fill the cells and for meshes that are too large.
  void fill(Domain& domain, const std::string& type) const;

 private:
  struct Block {
    std::array<std::int32_t, 8> corners;
    std::int32_t part;
    std::array<std::int32_t, 3> line;  // the family of parallel edges in each of its directions
  };
  struct Arc {
    Point axis_point, axis_direction;
  };
  /// Edges that are divided alike.
  struct Line {
    double length = 0;  // mean of its edges, in units of how long cells may be
    int cells = 1;
  };
  struct Side {
    std::int32_t block;
    int axis, end;
  };
  /// The vertices, edges, faces and blocks of the body, each with its interior nodes: for counting and numbering nodes.
  struct Pieces {
    std::map<std::array<std::int32_t, 2>, std::int32_t> edges;  // by ascending corners → line
    /// A face of a block, shared by at most two blocks.
    struct Face {
      std::int32_t block;
      int axis, end;
      int count;  // of the blocks that have it
    };
    std::map<std::array<std::int32_t, 4>, Face> faces;  // by ascending corners
  };
  class Filler;

  std::int32_t vertex(const Point& x);
  std::int32_t known_vertex(const Point& x) const;
  Pieces pieces() const;
  void find_lines();
  Point on_edge(std::int32_t a, std::int32_t b, double t) const;
  const ShapeTopology& checked_shape(const std::string& shape) const;
  double count_nodes(const ShapeTopology& shape, const Pieces& pieces) const;
  std::array<std::int32_t, 4> side_corners(const Block& block, int axis, int end) const;

  int dim_;
  double tolerance_;
  std::vector<Point> vertices_;
  std::map<std::array<std::int64_t, 3>, std::int32_t> vertex_at_;
  std::vector<Block> blocks_;
  std::vector<std::string> parts_;
  std::vector<double> coarseness_;  // of each part
  std::map<std::array<std::int32_t, 2>, Arc> arcs_;
  std::vector<std::pair<std::string, std::vector<Side>>> sides_;
  std::vector<Line> lines_;
  bool lines_known_ = false;
};

}  // namespace voussoir
