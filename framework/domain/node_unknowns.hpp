#pragma once
#include <string>
#include <vector>

#include <voussoir/backends/unknown_set.hpp>
#include <voussoir/framework/domain/domain.hpp>

namespace voussoir {

/// Which unknowns the elements of a domain give to its nodes. A node has the unknowns of all elements that use it, in
/// any combination: ux, uy and uz of a solid and T of a heat element on the same nodes, for instance.
struct NodeUnknowns {
  /// All names. Where one list of an element type begins with all others, it is taken as it is; else displacements and
  /// rotations come first, then the others in the order of the blocks.
  std::vector<std::string> names;
  std::vector<UnknownSet> of_node;  ///< per node of the domain; empty sets where no element uses the node
};

/// Throws Error (bad_input) where there are more than UnknownSet::most names.
NodeUnknowns node_unknowns(const Domain& domain);

}  // namespace voussoir
