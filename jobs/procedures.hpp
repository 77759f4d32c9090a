#pragma once
#include <functional>
#include <memory>
#include <string>

#include <voussoir/backends/registry.hpp>
#include <voussoir/framework/io/job/job.hpp>
#include <voussoir/solvers/static_problem.hpp>

// Analysis procedures by name: run_job() uses them to solve the steps of a job.
//
//   VSR_REGISTER(procedures, "mine", "what it does in one line",
//                ProcedureFactory{[](const Domain& domain, std::shared_ptr<Backend> backend,
//                                    const StaticOptions& options) { … }});
//
// A step of a job file names it by "procedure": "mine".

namespace voussoir {

/// Creates the analysis for consecutive steps with the same constraints.
struct ProcedureFactory {
  std::function<std::unique_ptr<StaticAnalysis>(const Domain& domain, std::shared_ptr<Backend> backend,
                                                const StaticOptions& options)>
      make;  ///< creates an analysis of `domain` on `backend`; must not return null
};
/// The registry of procedures: "static", "heat" and those of users.
Registry<ProcedureFactory>& procedures();

/// The name of a step's procedure: JobStep::procedure_name, else "static" or "heat".
std::string procedure_name(const JobStep& step);

}  // namespace voussoir
