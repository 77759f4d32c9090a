#pragma once
#include <cstdint>
#include <vector>

#include <voussoir/framework/domain/domain.hpp>

namespace voussoir {

/// Groups of multi-point equations that must be in the same part because they share a node that no element uses, such
/// as the reference node of a rigid body.
struct EquationGroups {
  std::vector<std::int32_t> of_equation;  ///< group of each equation of the domain, from 0
  std::int32_t count = 0;                 ///< number of groups
  std::vector<char> has_elements;         ///< per node of the domain: whether an element uses it
};

/// The groups of the multi-point equations of a domain.

EquationGroups equation_groups(const Domain& domain);

}  // namespace voussoir
