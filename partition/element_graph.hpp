#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include <voussoir/framework/domain/domain.hpp>

namespace voussoir {

/// The dual graph of a mesh, which a GraphPartitioner divides. A vertex is an element, or a group of elements that must
/// stay together; an edge connects neighbours.
///
/// Two elements are neighbours if they share a face (an edge in the plane), that is, as many nodes as the smaller of
/// their smallest faces has. Bars, beams and springs are neighbours of every element that shares a node with them. The
/// neighbours of vertex v are column[row_start[v]] … column[row_start[v+1] − 1]; every edge is stored in both rows.
struct ElementGraph {
  std::vector<std::int64_t> row_start{0};  ///< first entry of each vertex in `column`, and the number of entries
  std::vector<std::int32_t> column;        ///< neighbours of all vertices, row by row
  std::vector<std::int32_t> shared_nodes;  ///< nodes shared across each edge, parallel to `column`: its cost if cut
  std::vector<double> weight;              ///< computational cost of each vertex, in any unit
  std::vector<std::array<double, 3>> centroid;  ///< mean position of each vertex
  std::vector<std::int32_t> vertex;             ///< vertex of each element of the domain, block by block

  std::int32_t vertices() const { return static_cast<std::int32_t>(weight.size()); }  ///< number of vertices
  std::int64_t elements() const { return static_cast<std::int64_t>(vertex.size()); }  ///< number of elements
};

/// The dual graph of a domain with one vertex per element. `weights` has one entry per element, block by block; empty
/// for 1 each. A wrong number of weights and negative ones are an Error (bad_input).
ElementGraph element_graph(const Domain& domain, std::vector<double> weights = {});

/// The graph in which each group of elements is one vertex. `group` has an entry for each element: elements with the
/// same number ≥ 0 belong together, and −1 stands for a single element.
ElementGraph merged(const ElementGraph& graph, const std::vector<std::int32_t>& group);

}  // namespace voussoir
