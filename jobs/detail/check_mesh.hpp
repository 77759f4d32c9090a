#pragma once
#include <vector>

#include <voussoir/jobs/check_job.hpp>

// What can be wrong with a mesh, whatever is asked of it.

namespace voussoir::detail {

/// Elements that their own program refuses (inside out, material numbers that make no sense) and blocks whose numbers
/// are missing.
void find_refused_elements(const Domain& domain, const InstanceNumbers& names, std::vector<Finding>& findings);
/// Elements of one shape on the same nodes.
void find_duplicate_elements(const Domain& domain, const InstanceNumbers& names, std::vector<Finding>& findings);
/// Nodes at one place that no element and no equation joins.
void find_coincident_nodes(const Domain& domain, const InstanceNumbers& names, std::vector<Finding>& findings);
/// Nodes that neither an element nor an equation uses. Nodes from index `own` on belong to the reader. Returns how
/// many.
std::int64_t find_unused_nodes(const Domain& domain, const InstanceNumbers& names, std::int32_t own,
                               std::vector<Finding>& findings);
/// Elements that are badly shaped though they can be computed.
void judge_quality(const Domain& domain, const InstanceNumbers& names, const MeshQuality& quality,
                   std::vector<Finding>& findings);

/// "4 7 9 … (12 in all)"
std::string list_of(const std::vector<std::string>& names, std::int64_t count);

}  // namespace voussoir::detail
