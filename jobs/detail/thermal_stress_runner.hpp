#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <voussoir/framework/analysis/static_analysis.hpp>
#include <voussoir/framework/io/job/job.hpp>
#include <voussoir/jobs/procedures.hpp>
#include <voussoir/jobs/step_receiver.hpp>

namespace voussoir::detail {

/// Temperatures of a step of transient heat that a step of thermal stress is solved with.
struct HeatedState {
  double time = 0;                   ///< of the step, from 0 on
  bool for_viewers = true;           ///< whether files for viewers have this state
  std::vector<char> prints;          ///< whether each table of the step of thermal stress has it
  std::vector<double> temperatures;  ///< of all nodes; NaN where nothing conducts heat
};

class StressCurves;

/// Runs steps of thermal stress: static states under the temperatures of a step of transient heat.
class ThermalStressRunner {
 public:
  /// Told of the progress of a step, with the estimated seconds that are left or −1; returning false stops the job.
  using Tell = std::function<bool(std::size_t step, const Progress& progress, double seconds_left)>;
  ThermalStressRunner(Job& job, std::shared_ptr<Backend> backend, const StaticOptions& options, Tell tell,
                      StepReceiver& receiver)
      : job_(job), backend_(std::move(backend)), options_(options), tell_(std::move(tell)), receiver_(receiver) {}

  /// Solves the states of a step and passes them on.
  void run(std::size_t step, std::vector<HeatedState> states);

  const std::vector<StageTime>& stage_times() const { return times_; }
  const std::vector<std::string>& notes() const { return notes_; }
  std::int64_t equations() const { return equations_; }
  std::int64_t free_equations() const { return free_equations_; }
  const std::string& matrix() const { return matrix_; }  ///< how the last one was stored

 private:
  void solve(std::size_t step, std::vector<HeatedState>& states, std::size_t first, std::size_t last,
             StressCurves& curves);
  void take_report(StaticAnalysis& analysis);

  Job& job_;
  std::shared_ptr<Backend> backend_;
  const StaticOptions& options_;
  Tell tell_;
  StepReceiver& receiver_;
  double seconds_left_ = -1;        // of the step that runs, after its first states
  std::vector<LoadCase*> heating_;  // of the step that runs: one for each state that is solved with others
  std::vector<std::string> notes_;
  std::vector<StageTime> times_;
  std::int64_t equations_ = 0, free_equations_ = 0;
  std::string matrix_;
};

}  // namespace voussoir::detail
