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
  std::vector<int> nodes;  ///< local nodes, from 0, in the order of that shape; its normal points out of the body
};

/// What a mesh needs to know of a shape: its sides, edges, and how VTK writes it.
///
/// Nodes are ordered as in Abaqus and CalculiX decks, and `faces[i]` is their face number i + 1 (S1, S2, …). Where
/// their list of a face's nodes is reversed, it is corrected here so that the normal always points outwards:
/// the normal of a triangle or quadrilateral by the right-hand rule; to the right of an edge traversed from its first
/// node to its second.
struct ShapeTopology {
  std::string name;                                    ///< "hex8", …
  int dim = 0;                                         ///< dimension of the reference cell
  int nodes = 0;                                       ///< all, middle nodes included
  int order = 1;                                       ///< 1 linear, 2 quadratic
  int corners = 0;                                     ///< the first `corners` nodes are vertices
  std::vector<ShapeFace> faces;                        ///< in the order of S1, S2, …
  std::vector<std::vector<int>> edges;                 ///< two ends, then the middle node of a quadratic edge
  int vtk_type = 0;                                    ///< VTK cell type
  std::vector<int> vtk_order;                          ///< VTK's node i is node vtk_order[i] here
  std::vector<std::array<double, 3>> reference_nodes;  ///< coordinates in the reference cell, unused ones 0
};

/// The topology of a shape by name; throws not_found, naming the shapes that exist.
const ShapeTopology& shape_topology(std::string_view name);

/// Every shape, in ascending dimension.
std::span<const ShapeTopology> all_shape_topologies();

}  // namespace voussoir
