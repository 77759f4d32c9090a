#pragma once
#include <functional>
#include <string>
#include <vector>

#include <voussoir/framework/analysis/results.hpp>
#include <voussoir/framework/io/job/job.hpp>
#include <voussoir/solvers/static_problem.hpp>

namespace voussoir {

/// The progress of a job.
struct JobProgress {
  std::size_t step = 0;   ///< from 0
  std::size_t steps = 1;  ///< of the job
  std::string step_name;  ///< of that step
  Progress analysis;      ///< of the analysis that runs
};

/// What a job found.
struct JobResult {
  std::vector<StepResult> steps;       ///< in the order of Job::steps; empty where `finished` took them
  std::vector<StageTime> stage_times;  ///< summed by stage over all steps
  std::vector<std::string> notes;      ///< of the analyses
  std::string backend;                 ///< as it describes itself
  std::int64_t equations = 0;          ///< unknowns of the largest system
  std::int64_t free_equations = 0;     ///< of them, solved for
  std::string matrix;                  ///< of the last system, as it describes itself
  std::size_t backend_bytes = 0;       ///< peak memory of the backend
  int threads = 0;                     ///< host threads that the backend uses; 0 if it does not specify a number
};

/// Solves the steps of a job, in order, on one backend. Steps with the same constraints are solved together. The job's
/// domains are given the supports of each step in turn. Sums of forces leave out the nodes of Job::rotation_nodes.
///
/// `finished` takes the result of each step as soon as it is there, so that tables and pictures can be written and the
/// memory let go; an Error from it stops the job. Without it the results are returned. `observer` is called while the
/// job works; returning false stops it.
///
/// A step that fails throws what the analysis threw (NotConverged, singular, cancelled …), after `finished` was called
/// for all steps before it.
JobResult run_job(Job& job, const StaticOptions& options, const std::function<bool(const JobProgress&)>& observer = {},
                  const std::function<void(std::size_t step, StepResult)>& finished = {});

}  // namespace voussoir
