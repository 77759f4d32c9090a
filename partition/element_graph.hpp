#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include <voussoir/framework/domain/domain.hpp>

namespace voussoir {

/// Elements as a graph: what a GraphPartitioner cuts. A vertex is an element, or a group of elements that must stay
/// together; an edge joins neighbours.
///
/// Two elements are neighbours where they share a face (an edge in the plane), that is, as many nodes as the smaller of
/// their smallest faces has. Bars, beams and springs are neighbours of whatever shares a node with them. The neighbours
/// of vertex v are column[row_start[v]] … column[row_start[v+1] − 1]; every edge is in both rows.
struct ElementGraph {
  std::vector<std::int64_t> row_start{0};       ///< of each vertex in `column`; one more entry ends the list
  std::vector<std::int32_t> column;             ///< neighbours
  std::vector<std::int32_t> shared_nodes;       ///< per edge: what cutting it adds to the interface, about
  std::vector<double> weight;                   ///< per vertex: work, in any unit
  std::vector<std::array<double, 3>> centroid;  ///< per vertex
  std::vector<std::int32_t> vertex;             ///< per element of the domain, block by block: its vertex

  std::int32_t vertices() const { return static_cast<std::int32_t>(weight.size()); }  ///< number of vertices
  std::int64_t elements() const { return static_cast<std::int64_t>(vertex.size()); }  ///< of the domain
};

/// The graph of a domain's elements, each a vertex of weight 1, or of the weights given (one for each element, block by
/// block). Throws Error (bad_input) for a wrong number of weights and for negative ones.
ElementGraph element_graph(const Domain& domain, std::vector<double> weights = {});

/// The graph in which the elements of each group are one vertex. `group` has a number for each element; elements with
/// the same number ≥ 0 belong together, and −1 is a single element.
ElementGraph merged(const ElementGraph& graph, const std::vector<std::int32_t>& group);

}  // namespace voussoir
