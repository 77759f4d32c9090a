#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include <voussoir/partition/graph_partitioner.hpp>

namespace voussoir {

/// The nodes of each vertex of an ElementGraph: those of its element, or of all elements of its group.
struct VertexNodes {
  std::vector<std::int64_t> first{0};  ///< first node of each vertex in `node`, and the number of entries
  std::vector<std::int32_t> node;      ///< indices in the domain, ascending and each once for a vertex

  /// The nodes of one vertex.
  std::span<const std::int32_t> of(std::int32_t vertex) const {
    const auto v = static_cast<std::size_t>(vertex);
    return std::span(node).subspan(static_cast<std::size_t>(first[v]),
                                   static_cast<std::size_t>(first[v + 1] - first[v]));
  }
};

/// The nodes of the vertices of a graph of this domain's elements.
VertexNodes vertex_nodes(const Domain& domain, const ElementGraph& graph);

/// Base class of methods that need to know the nodes of the elements, which are not in the dual graph.
/// DomainPartitioner passes them.
class MeshPartitioner : public GraphPartitioner {
 public:
  /// Returns the part, from 0, of each vertex; as GraphPartitioner::partition() otherwise.
  virtual std::vector<std::int32_t> divide(const ElementGraph& graph, const VertexNodes& nodes, int parts) const = 0;
  /// Error (misuse): without the nodes there is nothing to divide.
  std::vector<std::int32_t> partition(const ElementGraph& graph, int parts) const final;
};

}  // namespace voussoir
