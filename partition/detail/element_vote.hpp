#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include <voussoir/partition/mesh_partitioner.hpp>

namespace voussoir::detail {

/// What is known of the parts before the elements are given away: one of the two lists, the other is empty.
struct KnownParts {
  std::vector<std::int32_t> of_node;    ///< of each node of the domain that an element uses
  std::vector<std::int32_t> of_vertex;  ///< of each vertex of the graph
};

/// The part of each vertex of a graph of elements. It goes to the part that has most of its nodes; of several, to the
/// one that it adds fewest nodes to, or else to the lightest. Vertices at the boundaries then change parts where that
/// makes the interface smaller or the balance better, up to 3 % above the shares. No part is empty: there must be at
/// least as many vertices as shares. `near` says which vertices are neighbours; with `connected`, they connect the
/// vertices of each part, for which `near` must be connected.
std::vector<std::int32_t> parts_of_elements(const ElementGraph& graph, const VertexNodes& nodes,
                                            std::span<const double> shares, const KnownParts& known,
                                            const ElementGraph& near, bool connected);

}  // namespace voussoir::detail
