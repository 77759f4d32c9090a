#pragma once
#include <voussoir/framework/io/job/detail/actions.hpp>
#include <voussoir/framework/io/job/detail/json.hpp>
#include <voussoir/framework/io/job/job.hpp>

// Tables and histories that the steps of a job file ask for.

namespace voussoir::job {

/// Reads "print" of a step into its tables, or that of the job (`root`) if the step has none. Where a job has a
/// structural and a thermal model, its "print" may name results that the step does not have; they are left out. The
/// procedure and the domain of `step` are there already.
void read_prints(const Json& json, const Json& root, Model& model, JobStep& step);

/// Reads "histories" of a step. JobStep::modal must hold a DynamicStep with its times.
void read_histories(const Json& json, Model& model, JobStep& step);

}  // namespace voussoir::job
