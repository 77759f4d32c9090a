#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <voussoir/backends/cost_model/cost_model.hpp>
#include <voussoir/framework/io/job/job.hpp>
#include <voussoir/jobs/memory_estimate.hpp>
#include <voussoir/jobs/prediction.hpp>
#include <voussoir/solvers/static_problem.hpp>

// Predicted time and memory of a job before anything is solved.

namespace voussoir {

/// One way to solve a model: solver, storage and number of devices, with its predictions.
struct StrategyPlan {
  std::string solver;                        ///< "direct", "cg+amg", …
  std::string storage;                       ///< "bsr", "csr", "element", "matrix-free"
  int devices = 1;                           ///< devices that share the work
  std::vector<StagePrediction> stages;       ///< all stages of all steps of the model
  std::optional<double> seconds;             ///< their sum; nothing if one of them is unknown
  std::optional<double> set_up_seconds;      ///< pattern, assembly, preconditioner or factor, once
  std::optional<double> iteration_seconds;   ///< one iteration, or one solve with the factor of a direct solver
  std::optional<IterationAssumption> count;  ///< iterations per right-hand side; nothing for direct solvers
  double memory = 0;                         ///< peak memory in bytes: MemoryEstimate::total()
  bool fits = true;                          ///< whether so much memory is free on this machine
  bool chosen = false;                       ///< whether `auto` takes it
};

/// The plan of one model of a job on one backend.
struct ModelPlan {
  std::size_t domain = 0;    ///< index in Job::domains
  std::string procedure;     ///< of its steps: "linear statics", …
  std::size_t steps = 0;     ///< right-hand sides
  std::size_t matrices = 0;  ///< different matrices: steps with other supports have another one
  bool linear = true;        ///< false where Newton's method iterates, whose number of iterations is unknown
  ModelShape shape;          ///< sizes of the model
  std::vector<StrategyPlan> strategies;  ///< the fastest first; unknown times last
  std::string chosen_solver,             ///< what `auto` takes
      chosen_storage,                    ///< what `auto` takes
      reason;                            ///< why
  std::vector<std::string> notes;        ///< what is not predicted, and assumptions
};

/// The plan of a job on one backend.
struct BackendPlan {
  std::string backend;            ///< Backend::name(), or the specification of one that cannot be opened
  std::string device;             ///< Backend::describe(); why it cannot be used otherwise
  bool usable = true;             ///< whether it could be opened
  bool is_assumption = false;     ///< whether the times are made of built-in rates
  std::string profile_note;       ///< date and file of the profile, or why there is none
  std::vector<ModelPlan> models;  ///< one entry per domain with steps
};

/// The result of plan_job().
struct JobPlan {
  std::string name,                   ///< Job::name
      title,                          ///< Job::title
      source;                         ///< Job::source
  std::vector<BackendPlan> backends;  ///< in the order of the request
  std::vector<std::string> notes;     ///< remarks on the whole job
};

/// Predicts time and memory of a job on some backends (specifications for Backend::open()) for every combination of
/// solver and storage that `voussoir check` estimates the memory of. Nothing is solved and no matrix is made. Where the
/// user has no profile of a backend, built-in rates are used and BackendPlan::is_assumption is set; a backend that
/// cannot be opened is reported as such. Steps of natural modes and of what is superposed of them are not predicted:
/// a note says so.
JobPlan plan_job(const Job& job, const std::vector<std::string>& backends, const StaticOptions& options = {});

/// A plan as a JSON document.
std::string to_json(const JobPlan& plan);

/// Predicted seconds by stage of one way to solve a model, as plan_job() computes them.
StrategyPlan predict_strategy(const CostModel& model, const ModelShape& shape, const std::string& solver,
                              const std::string& storage, std::size_t matrices, std::size_t steps,
                              double relative_tolerance, int devices = 1);

/// Predicts the stages of a job with the user's profile of a backend and the given options. Without a profile only the
/// note is set.
RunPrediction predict_run(const Job& job, const std::shared_ptr<Backend>& backend, const StaticOptions& options);

}  // namespace voussoir
