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

// Meshes of bodies that can be composed of a few hexahedral blocks: for benchmarks, studies and first models.

namespace voussoir {

/// A body composed of hexahedral blocks (quadrilaterals in a plane). Each block is divided into cells of about equal
/// size, and each cell is filled with elements.
///
///   BlockMesh body(3);
///   body.add_block({{0, 0, 0}, {2, 0, 0}, {2, 1, 0}, {0, 1, 0}, {0, 0, 1}, {2, 0, 1}, {2, 1, 1}, {0, 1, 1}}, "beam");
///   body.name_sides_where("wall", [](double x, double, double) { return x == 0; });
///   body.refine_to_size(0.1);
///   body.fill(domain, "solid.hex8");
///
/// Blocks whose corners coincide are connected there. Opposite edges of a block have the same number of cells, and so
/// on through all blocks that touch, so that the mesh is conforming. Edges are straight, or arcs about an axis; the
/// nodes inside a block, mid-side nodes included, follow from its twelve edges by transfinite interpolation.
class BlockMesh {
 public:
  using Point = std::array<double, 3>;  ///< x, y, z; z = 0 in a plane

  /// `dim` is 3 or 2. Corners closer than `tolerance` are the same corner.
  explicit BlockMesh(int dim, double tolerance = 1e-6);

  /// Adds a block by its 8 corners (4 in a plane) in the node order of a hex8 (quad4). All blocks of one part become
  /// one ElementBlock of the domain.
  void add_block(const std::vector<Point>& corners, const std::string& part);
  /// Adds a block with edges parallel to the axes, by two opposite corners.
  void add_box(const Point& lower, const Point& upper, const std::string& part);
  /// Makes the edge between two corners of blocks the shorter arc about an axis; if the ends have different distances
  /// from the axis, a spiral.
  void add_arc(const Point& a, const Point& b, const Point& axis_point, const Point& axis_direction);
  /// Names the boundary faces of blocks for all of whose corners `inside(x, y, z)` is true. The domain gets a surface
  /// and a node set of that name. It is an Error if there is no such face.
  void name_sides_where(const std::string& name, const std::function<bool(double x, double y, double z)>& inside);

  /// Makes the cells of a part `factor` times as long as others, except along edges shared with a finer part.
  void set_coarseness(const std::string& part, double factor);
  /// Divides edges so that cells are about `size` long, or shorter.
  void refine_to_size(double size);
  /// Divides edges, the longest cells first, until a mesh of this shape ("hex20") has about `nodes` nodes. Every block
  /// has at least one cell.
  void refine_to_nodes(std::int64_t nodes, const std::string& shape);
  /// Number of nodes of a mesh of this shape with the present division.
  std::int64_t node_count(const std::string& shape) const;

  /// Adds the nodes, one element block for each part, and a surface and a node set for each name to a domain. The shape
  /// of the element type determines how cells are filled: hexahedra, tetrahedra (six per cell), wedges (two per cell,
  /// extruded along the third direction of the blocks, which must agree); quadrilaterals, triangles.
  ///
  /// Nodes and elements are numbered along the longest direction of the body, which keeps the bandwidth small. Throws
  /// Error (bad_input) for shapes that do not fill the cells and for meshes that are too large.
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
      std::int32_t block;  ///< a block that has the face
      int axis,            ///< the block's direction normal to the face
          end;             ///< 0 or 1: at the start or the end of that direction
      int count;           ///< number of blocks that have it
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
