#pragma once
#include <string>

#include <voussoir/framework/domain/domain.hpp>
#include <voussoir/framework/io/job/detail/json.hpp>
#include <voussoir/framework/io/job/job.hpp>

// Bodies with large displacements and plastic bodies in steps of job files: which analyses take them.

namespace voussoir::job {

/// Why a body is solved in increments, for messages: "the sections have large displacements"; empty if it need not be.
std::string reason_for_increments(const Domain& domain);
/// Error if the body is solved in increments, for an analysis that has none.
void refuse_increments(const Json& analysis, const Domain& domain);
/// Error unless all elements take large displacements, if some have them, or if that is all that makes a step of
/// nonlinear statics nonlinear.
void check_large_displacements(const Json& analysis, const Domain& domain, Procedure procedure);
/// Error for plastic elements that explicit dynamics does not take.
void check_explicit_plasticity(const Json& analysis, const Domain& domain);
/// Error for elements that only explicit dynamics takes.
void require_no_explicit_elements(const Json& analysis, const Domain& domain);

}  // namespace voussoir::job
