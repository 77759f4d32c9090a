#pragma once
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <voussoir/framework/analysis/results.hpp>

namespace voussoir::detail {

/// Nodal values of one material, at the nodes that it touches: a model of many materials has them all without an array
/// over all nodes for each.
struct CompactField {
  std::vector<std::int32_t> nodes;  ///< ascending
  std::size_t width = 0;
  std::vector<double> values;

  /// Those of a node that the material touches.
  const double* at(std::int32_t node) const {
    return &values[width *
                   static_cast<std::size_t>(std::lower_bound(nodes.begin(), nodes.end(), node) - nodes.begin())];
  }
};

/// What nodal_values() gives, by material.
std::map<std::string, CompactField> compact_nodal_values(const Domain& domain, const std::vector<PointField>& points,
                                                         const std::vector<std::string>& names);

}  // namespace voussoir::detail
