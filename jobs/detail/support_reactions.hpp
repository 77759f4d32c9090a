#pragma once
#include <vector>

#include <voussoir/jobs/summary.hpp>

namespace voussoir::detail {

/// The reactions of each support: of every node set all of whose nodes are held, and of the held nodes that are in no
/// such set (one by one where they are few). Sets may share nodes, which then count in each of them; sets of the same
/// nodes are listed once.
std::vector<SupportReaction> support_reactions(const Job& job, const Domain& domain, const StepResult& result);

}  // namespace voussoir::detail
