#pragma once
#include <string>
#include <vector>

#include <voussoir/backends/unknown_set.hpp>
#include <voussoir/framework/domain/domain.hpp>

namespace voussoir {

/// The unknowns of the nodes of a domain. A node has the unknowns of all elements that use it, in any combination, such
/// as ux, uy and uz of a solid and T of a heat element on the same nodes.
struct NodeUnknowns {
  /// The names of all unknowns, indexed by UnknownSet. If the list of one element type begins with the lists of all
  /// others, its order is used; otherwise displacements and rotations come first, then the others in the order of the
  /// blocks.
  std::vector<std::string> names;
  std::vector<UnknownSet> of_node;  ///< one set per node of the domain; empty if no element uses the node
};

/// Collects the unknowns of all nodes. More than UnknownSet::most names are an Error (bad_input).
NodeUnknowns node_unknowns(const Domain& domain);

}  // namespace voussoir
