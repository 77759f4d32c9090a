#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <voussoir/framework/grid/heat_analysis.hpp>
#include <voussoir/framework/io/job/heat_job.hpp>
#include <voussoir/jobs/prediction.hpp>

namespace voussoir {

/// How far a heat job is.
struct HeatJobProgress {
  std::string stage;         ///< "stepping", "iterating", "writing"
  std::int64_t step = 0,     ///< steps taken, or iterations
      steps = 0;             ///< of how many
  double time = 0;           ///< of the last step
  double residual = 0;       ///< of a stationary job: relative to that of the initial field
  double seconds_left = -1;  ///< estimated; −1: unknown
};

/// How a heat job is run, and where its files go.
struct HeatRunOptions {
  std::string backend;                 ///< empty: that of the job
  std::filesystem::path folder = ".";  ///< for results; created if missing
  bool files = true;                   ///< whether files are written
  bool overwrite = false;              ///< whether existing results are replaced; otherwise they are an Error (io)
  bool resume = false;                 ///< go on from the state that an interrupted run left
  /// Called after every step; returns false to stop. A transient job that is stopped leaves its state.
  std::function<bool(const HeatJobProgress&)> observer;
};

/// What a heat job came to.
struct HeatRunResult {
  bool complete = false;                     ///< false where the observer stopped it
  std::string backend;                       ///< Backend::describe()
  std::int64_t resumed_from = 0;             ///< step from which it was resumed; 0: from the beginning
  std::int64_t steps = 0;                    ///< steps taken in all, or iterations
  double time = 0;                           ///< at the end
  GridSummary summary;                       ///< extremes of the temperature at the end
  double mean = 0;                           ///< mean temperature at the end
  HeatBalance balance;                       ///< of a transient job
  double residual = 0;                       ///< of a stationary job, relative to that of the initial field
  std::vector<double> at_points;             ///< temperatures of the job's points at the end
  double setup_seconds = 0,                  ///< from the call to the first step
      step_seconds = 0,                      ///< of steps or iterations, without files
      write_seconds = 0;                     ///< of files
  RunPrediction prediction;                  ///< predicted seconds of the stages "setup" and "steps"
  std::vector<std::string> notes;            ///< what the user should know about the results
  std::vector<std::filesystem::path> files;  ///< results that were written; the state of a stopped run is the last
};

/// Runs a heat job: takes its steps, or solves for the steady state, and writes
///
///   NAME_STEP.vti, NAME.pvd     fields at the steps asked for, and their list as a series
///   NAME.csv                    temperatures of the points after every step
///   NAME.png                    a picture of the field at the end (of two and three dimensions)
///   NAME.results.json           totals
///   NAME.state                  what is needed to resume a transient job; gone when the job is complete
///
/// Throws Error as GridHeatAnalysis does; Error (io) for existing results before anything is computed; not_converged
/// where a stationary job does not reach its tolerance.
HeatRunResult run_heat_job(const HeatJob& job, const HeatRunOptions& options = {});

/// The document NAME.results.json.
std::string heat_results_json(const HeatJob& job, const HeatRunResult& result);

}  // namespace voussoir
