#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <string>

#include <voussoir/framework/domain/domain.hpp>

// Structured meshes of boxes, rectangles and bars: for tests, benchmarks, studies and first models.

namespace voussoir {

/// The definition of a structured mesh. A box is divided into cells[0] × cells[1] × cells[2] equal cells along x, y and
/// z, and every cell is filled with elements; `map` can then transform the box to an arch, a ring or a twisted bar.
///
///   BoxMesh beam;
///   beam.type = "solid.hex8";
///   beam.cells = {40, 4, 4};
///   beam.upper = {10, 1, 1};
///   ElementBlock& block = add_box_mesh(domain, beam);   // domain.prescribe("xmin", "all"); …
///
/// A cell has one hexahedron, two wedges (extruded along z) or six tetrahedra; one quadrilateral or two triangles; one
/// line. The mesh is conforming for every shape. Plane shapes lie at z = lower[2], lines also at y = lower[1]; `cells`
/// and `upper` are ignored in the other directions.
struct BoxMesh {
  /// Element type, whose shape determines how cells are filled: line2/3, tri3/6, quad4/8, tet4/10, wedge6/15, hex8/20.
  std::string type = "solid.hex8";
  std::array<int, 3> cells{1, 1, 1};     ///< number of cells along x, y, z; positive
  std::array<double, 3> lower{0, 0, 0};  ///< the corner of the box with the smallest coordinates
  std::array<double, 3> upper{1, 1, 1};  ///< the corner of the box with the largest coordinates
  /// Maps a point of the box to its final position; empty for no mapping. Called once for every node, mid-side nodes
  /// included, so that quadratic elements follow curved boundaries.
  std::function<std::array<double, 3>(double x, double y, double z)> map;
  /// Whether mid-side nodes are placed half-way between the mapped ends of their edge, so that edges stay straight.
  bool straight_edges = false;
  /// Moves every corner node inside the box at random by up to this fraction of a cell in each direction, before
  /// mapping. Mid-side nodes stay in the middle of their edges. Below 0.25 no element turns inside out.
  double distortion = 0;
  /// Seed of the distortion. The same seed gives the same mesh on every machine.
  std::uint64_t seed = 1;
  /// Name of the element block.
  std::string block = "box";
  /// Prefix of the names of sets and surfaces, for domains with several boxes.
  std::string set_prefix;
};

/// Adds the nodes and a block of elements of a structured mesh and returns the block. Node sets and surfaces "xmin",
/// "xmax", "ymin", … contain the sides of the box in the directions that the shape has, wherever `map` moves them.
///
/// Ids continue those of the domain, from 1 in an empty one. Nodes and elements are numbered line by line and layer by
/// layer, with the layers along the direction with the most cells, which keeps the bandwidth small.
///
/// Throws Error (bad_input) for a mesh without cells, a box without extent or a shape that fills no cells; the domain
/// is then unchanged.
ElementBlock& add_box_mesh(Domain& domain, const BoxMesh& mesh);

}  // namespace voussoir
