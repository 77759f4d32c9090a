#pragma once
#include <voussoir/framework/domain/domain.hpp>

// Nodes whose unknowns are generalised coordinates: amplitudes of modes, such as those of a superelement. Rigid motions
// do not move them, whatever their position is. In a Domain they are hidden rotation nodes that refer to themselves.

namespace voussoir {

/// Declares the unknowns of a node to be generalised coordinates: they are neither displacements nor rotations, do not
/// take part in rigid motions, and are not shown in results.
inline void set_generalised_node(Domain& domain, Id node) { domain.set_rotation_node(node, node, true); }

/// Whether the unknowns of a node, by index, are generalised coordinates.
inline bool is_generalised_node(const Domain& domain, std::int32_t node) {
  const RotationNode* const rotation = domain.rotation_node(node);
  return rotation && rotation->reference == node;
}

}  // namespace voussoir
