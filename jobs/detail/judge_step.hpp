#pragma once
#include <voussoir/framework/analysis/error_estimate.hpp>
#include <voussoir/jobs/summary.hpp>

namespace voussoir::detail {

/// Nodes that the loads of the step act on, ascending; `loads` may be null.
std::vector<std::int32_t> loaded_nodes(const JobStep& step, const LoadCase* loads);

/// How far the numbers of a step can be trusted: gives its summary the estimate of the error with the worst elements,
/// and a hint where the largest stress (heat flux) has no limit. `loaded` are the loaded_nodes(). The summary has its
/// ranges already.
void judge_step(const Job& job, const JobStep& step, const StepResult& result, const ErrorEstimate& estimate,
                const std::vector<std::int32_t>& loaded, StepSummary& summary);

}  // namespace voussoir::detail
