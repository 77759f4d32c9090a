#pragma once
#include <cstdint>
#include <vector>

#include <voussoir/framework/domain/domain.hpp>

namespace voussoir {

/// Multi-point equations that belong in one part: nodes that no element uses, such as the reference nodes of rigid
/// bodies, are in no part by themselves and go where the equations are that name them.
struct EquationGroups {
  std::vector<std::int32_t> of_equation;  ///< a number per equation, from 0; equal where they share such a node
  std::int32_t count = 0;                 ///< of groups
  std::vector<char> has_elements;         ///< per node: an element uses it
};

EquationGroups equation_groups(const Domain& domain);

}  // namespace voussoir
