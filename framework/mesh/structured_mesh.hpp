#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <string>

#include <voussoir/framework/domain/domain.hpp>

// Structured meshes of boxes, rectangles and bars: for tests, benchmarks, studies and first steps.

namespace voussoir {

/// The definition of a structured mesh. A box is divided into cells[0] × cells[1] × cells[2] equal cells along x, y and
/// z, and every cell is filled with elements; `map` then bends the box into something else (an arch, a ring, a twisted
/// bar).
///
///   BoxMesh beam;
///   beam.type = "solid.hex8";
///   beam.cells = {40, 4, 4};
///   beam.upper = {10, 1, 1};
///   ElementBlock& block = add_box_mesh(domain, beam);   // domain.prescribe("xmin", "all"); …
///
/// A cell has one hexahedron, two wedges (extruded along z) or six tetrahedra; one quadrilateral or two triangles;
/// one line. Neighbouring cells are conforming for every shape. Plane shapes are at z = lower[2], lines also at y =
/// lower[1]; `cells` and `upper` are ignored in the other directions.
struct BoxMesh {
  /// Element type, whose shape decides how cells are filled: line2/3, tri3/6, quad4/8, tet4/10, wedge6/15, hex8/20.
  std::string type = "solid.hex8";
  std::array<int, 3> cells{1, 1, 1};
  std::array<double, 3> lower{0, 0, 0};
  std::array<double, 3> upper{1, 1, 1};
  /// Maps a point of the box; empty: no mapping. Called once for every node, mid-side nodes included, so that
  /// quadratic elements follow the curve.
  std::function<std::array<double, 3>(double x, double y, double z)> map;
  /// True puts mid-side nodes half-way between the mapped ends of their edge instead: straight edges.
  bool straight_edges = false;
  /// Moves every corner node inside the box by up to this fraction of a cell in each direction, before mapping.
  /// Mid-side nodes stay in the middle of their edges. Below 0.25 no element turns inside out.
  double distortion = 0;
  /// The same seed gives the same distortion on every machine.
  std::uint64_t seed = 1;
  /// Name of the element block.
  std::string block = "box";
  /// Put before the names of sets and surfaces, for domains with several boxes.
  std::string set_prefix;
};

/// Adds the nodes and a block of elements of a structured mesh. Node sets and surfaces "xmin", "xmax", "ymin", … hold
/// the sides of the box (as many as the shape has directions), whatever `map` made of them.
///
/// Ids count on from those that the domain has, from 1 in an empty one. Nodes and elements are numbered line by line
/// and layer by layer, layers following the direction with the most cells, so that neighbours have near numbers.
///
/// Throws Error (bad_input) for a mesh without cells, a box without extent or a shape that fills no cells, and before
/// the domain is touched.
ElementBlock& add_box_mesh(Domain& domain, const BoxMesh& mesh);

}  // namespace voussoir
