#pragma once
#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace voussoir {

/// A side of a shape: a face of a solid, an edge of a plane shape, an end of a line.
struct ShapeFace {
  std::string shape;       ///< "tri3", "quad8", "line2", …; empty for the end of a line, a single node
  std::vector<int> nodes;  ///< local nodes, from 0, in the order of that shape, so that the normal points outwards
};

/// The topology of a shape: its nodes, faces and edges, and its VTK cell type.
///
/// Nodes are ordered as in Abaqus and CalculiX decks, and `faces[i]` is their face number i + 1 (S1, S2, …). Where the
/// manuals list a face's nodes in reverse, the order is corrected here so that the normal always points outwards: by
/// the right-hand rule for a triangle or quadrilateral; to the right of an edge traversed from its first node to its
/// second.
struct ShapeTopology {
  std::string name;                                    ///< "hex8", …
  int dim = 0;                                         ///< dimension of the reference cell
  int nodes = 0;                                       ///< number of nodes, mid-side nodes included
  int order = 1;                                       ///< 1 linear, 2 quadratic
  int corners = 0;                                     ///< the first `corners` nodes are vertices
  std::vector<ShapeFace> faces;                        ///< sides in the order of S1, S2, …
  std::vector<std::vector<int>> edges;                 ///< nodes of each edge: both ends, then the mid-side node
  int vtk_type = 0;                                    ///< VTK cell type
  std::vector<int> vtk_order;                          ///< VTK's node i is node vtk_order[i] here
  std::vector<std::array<double, 3>> reference_nodes;  ///< coordinates in the reference cell, unused ones 0
};

/// The topology of a shape by name. An unknown name is an Error (not_found) that lists the known ones.
const ShapeTopology& shape_topology(std::string_view name);

/// The topologies of all shapes, in ascending dimension.
std::span<const ShapeTopology> all_shape_topologies();

}  // namespace voussoir
