#pragma once
#include <map>
#include <string>
#include <vector>

#include <voussoir/framework/analysis/detail/compact_field.hpp>

namespace voussoir::detail {

/// Nodal values of each material by superconvergent patch recovery (Zienkiewicz and Zhu, Int. J. Numer. Meth. Engng 33,
/// 1992): around each corner node a polynomial of the elements' order is fitted to the values at the points of the
/// elements that meet there, and gives the values at the nodes. Nodes on the boundary take the polynomials of the
/// fuller patches beside them. Better than averages of what elements carry to their nodes, which hide the error of
/// quadratic elements on regular meshes.
std::map<std::string, CompactField> patch_values(const Domain& domain, const std::vector<PointField>& points,
                                                 const std::vector<std::string>& names);

}  // namespace voussoir::detail
