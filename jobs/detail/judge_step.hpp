#pragma once
#include <voussoir/framework/analysis/error_estimate.hpp>
#include <voussoir/jobs/summary.hpp>

namespace voussoir::detail {

/// How far the numbers of a step can be trusted: gives its summary the estimate of the error with the worst elements,
/// and a hint where the largest stress (heat flux) has no limit. The summary has its ranges already.
void judge_step(const Job& job, const JobStep& step, const LoadCase* loads, const StepResult& result,
                const ErrorEstimate& estimate, StepSummary& summary);

}  // namespace voussoir::detail
