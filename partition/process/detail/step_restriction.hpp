#pragma once
#include <functional>
#include <span>

#include <voussoir/framework/domain/node_unknowns.hpp>
#include <voussoir/framework/io/job/job.hpp>

namespace voussoir::detail {

/// Copies everything but the domains of a job to that of a part, restricted to the nodes of the part: indices of the
/// whole job's nodes, ascending. The part's domains must be there already.
void restrict_steps(const Job& whole, std::span<const std::int32_t> nodes, Job& part);

/// Throws Error (bad_input) if a support, a motion or an initial value of a step, or a load of a domain, names an
/// unknown that its node does not have. A part alone cannot distinguish this from an unknown of another part.
/// `unknowns_of` gives the unknowns of the nodes of each domain.
void check_step_unknowns(const Job& job, const std::function<const NodeUnknowns&(std::size_t domain)>& unknowns_of);

}  // namespace voussoir::detail
