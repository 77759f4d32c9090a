#pragma once
#include <optional>
#include <string>
#include <vector>

#include <voussoir/backends/cost_model/cost_model.hpp>
#include <voussoir/framework/io/job/heat_job.hpp>
#include <voussoir/jobs/prediction.hpp>

// Predicted time and memory of a heat job on a grid before anything is computed.

namespace voussoir {

/// One way to compute a heat job, with its predictions.
struct HeatSchemePlan {
  std::string scheme;                        ///< "douglas", …, "stationary"
  double time_step = 0;                      ///< of transient schemes: that of the job, or what explicit ones allow
  double steps = 0;                          ///< steps with that time step, or assumed iterations
  std::optional<double> step_seconds;        ///< one step, or one iteration
  std::optional<double> set_up_seconds;      ///< memory, initial temperatures and matrices
  std::optional<double> seconds;             ///< all steps and the set-up; files are not counted
  std::optional<IterationAssumption> count;  ///< where iterations are assumed
  double memory = 0;                         ///< bytes of all fields
  bool fits = true;                          ///< whether so much memory is free on this machine
  bool chosen = false;                       ///< whether the job asks for it
  std::string note;                          ///< why steps differ from those of the job; may be empty
};

/// The plan of a heat job on one backend.
struct HeatBackendPlan {
  std::string backend;                  ///< Backend::name(), or the specification of one that cannot be opened
  std::string device;                   ///< Backend::describe(); why it cannot be used otherwise
  bool usable = true;                   ///< whether it could be opened
  bool is_assumption = false;           ///< whether the times are made of built-in rates
  std::string profile_note;             ///< date and file of the profile, or why there is none
  std::vector<HeatSchemePlan> schemes;  ///< the fastest first; unknown times last
};

/// The result of plan_heat_job().
struct HeatPlan {
  std::string name,                       ///< HeatJob::name
      title,                              ///< HeatJob::title
      source;                             ///< the file, as it was named
  std::int64_t nodes = 0;                 ///< of the grid
  std::vector<HeatBackendPlan> backends;  ///< in the order of the request
  std::vector<std::string> notes;         ///< remarks on the job
};

/// Predicts time and memory of a heat job on some backends (specifications for Backend::open()) for every scheme that
/// fits the job: its own, and the others that would reach the same time. Steady states are predicted for stationary
/// jobs alone. Nothing is computed. Without a profile of a backend, built-in rates are used.
HeatPlan plan_heat_job(const HeatJob& job, const std::vector<std::string>& backends, const std::string& source);

/// A plan as a JSON document.
std::string to_json(const HeatPlan& plan);

/// The prediction for one scheme; `time_step` and `steps` are those that it is to take.
HeatSchemePlan predict_heat(const CostModel& model, const HeatJob& job, const std::string& scheme, double time_step,
                            double steps);

/// The prediction of a run with the user's profile of a backend, by the stages "setup" and "steps" of results.json.
/// Without a profile only the note is set.
RunPrediction predict_heat_run(const HeatJob& job, const Backend& backend);

}  // namespace voussoir
