#pragma once
#include <string>
#include <vector>

#include <voussoir/framework/analysis/results.hpp>

namespace voussoir {

/// Values extrapolated from the points of each element to its nodes and averaged over all elements of these fields,
/// whatever their material; NaN at nodes that none of them has. Every field must have every name. For viewers that know
/// one value per node; nodal_values() keeps materials apart.
NodalField nodal_mean(const Domain& domain, const std::vector<const PointField*>& fields,
                      const std::vector<std::string>& names);

}  // namespace voussoir
