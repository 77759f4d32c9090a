#pragma once
#include <functional>
#include <string>
#include <vector>

#include <voussoir/framework/analysis/results.hpp>
#include <voussoir/framework/io/job/job.hpp>
#include <voussoir/jobs/prediction.hpp>
#include <voussoir/jobs/run_checkpoints.hpp>
#include <voussoir/jobs/step_receiver.hpp>
#include <voussoir/partition/step_balancer.hpp>
#include <voussoir/solvers/static_problem.hpp>

namespace voussoir {

/// The progress of a job.
struct JobProgress {
  std::size_t step = 0;   ///< index of the step that is being solved, from 0
  std::size_t steps = 1;  ///< number of steps of the job
  std::string step_name;  ///< JobStep::name of that step
  Progress analysis;      ///< progress of its analysis
  double left = -1;       ///< estimated seconds that the step still takes, where they can be guessed
};

/// The results of a job.
struct JobResult {
  /// In the order of Job::steps; empty if they were passed on. Steps of modes and of mode superposition have the state
  /// that came last, with the unknowns alone of a frequency step without tables.
  std::vector<StepResult> steps;
  std::vector<std::string> faults;     ///< modes whose residuals are too large, or that are missing
  std::vector<StageTime> stage_times;  ///< times by stage, summed over all steps
  std::vector<std::string> notes;      ///< Analysis::notes() of all analyses
  std::string backend;                 ///< Backend::describe()
  std::int64_t equations = 0;          ///< equations of the largest system
  std::int64_t free_equations = 0;     ///< equations of the largest system that are solved for
  std::string matrix;                  ///< Operator::describe() of the last system's matrix
  std::size_t backend_bytes = 0;       ///< peak memory on the backend's devices
  int threads = 0;                     ///< host threads that the backend uses; 0 if it does not specify a number
  RunPrediction prediction;            ///< times that the cost model predicts, if the user has a profile
};

/// Solves the steps of a job, in order, on one backend. Consecutive steps with the same constraints are solved
/// together. Changes the supports of the job's domains: those of each step are applied in turn. Sums of forces do not
/// include the nodes of Job::rotation_nodes.
///
/// `finished` receives the result of each step (of steps of modes and of mode superposition the last state) as soon as
/// it is available, so that files can be written and the memory released; an Error that it throws stops the job.
/// Without `finished` the results are returned. `observer` is called while the job is running; returning false stops it
/// with an Error (cancelled).
///
/// If a step fails, the Error of its analysis (NotConverged, singular, cancelled …) is thrown after `finished` was
/// called for all steps before it.
JobResult run_job(Job& job, const StaticOptions& options, const std::function<bool(const JobProgress&)>& observer = {},
                  const std::function<void(std::size_t step, StepResult)>& finished = {});
/// The same for jobs with any kind of steps: modes, and what is superposed of them, are passed on too. Modes that are
/// not exact or not complete are JobResult::faults; superposing them is an Error (not_converged).
///
/// With `checkpoints`, dynamic and transient heat steps are saved while they run. When `observer` asks them to stop,
/// the current increment is finished and saved first. Steps that are complete in the checkpoints are not run again, and
/// the one that was interrupted is continued; all other steps are computed again.
JobResult run_job(Job& job, const StaticOptions& options, const std::function<bool(const JobProgress&)>& observer,
                  StepReceiver& receiver, RunCheckpoints* checkpoints = nullptr);
/// The same, where `balancing` says when the models of steps over time are divided again over the devices, and how the
/// devices are measured; with a numbering that measures their speeds (`divided,speeds=measured`).
JobResult run_job(Job& job, const StaticOptions& options, const std::function<bool(const JobProgress&)>& observer,
                  StepReceiver& receiver, RunCheckpoints* checkpoints, const StepBalancer::Options& balancing);

}  // namespace voussoir
