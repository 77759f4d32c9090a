#pragma once
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <voussoir/framework/io/job/job.hpp>
#include <voussoir/jobs/step_receiver.hpp>
#include <voussoir/solvers/transient_problem.hpp>

namespace voussoir::detail {

/// Runs the steps of direct integration of a job, and passes on their states, histories and energies.
class DynamicRunner {
 public:
  /// Told of the progress of a step, with the estimated seconds that are left or −1; returning false stops the job.
  using Tell = std::function<bool(std::size_t step, const Progress& progress, double seconds_left)>;
  DynamicRunner(Job& job, std::shared_ptr<Backend> backend, const StaticOptions& options, Tell tell,
                StepReceiver& receiver)
      : job_(job), backend_(std::move(backend)), options_(options), tell_(std::move(tell)), receiver_(receiver) {}

  /// Runs a step whose supports are applied to its domain.
  void run(std::size_t step);

  const std::vector<StageTime>& stage_times() const { return times_; }
  const std::vector<std::string>& notes() const { return notes_; }
  std::int64_t equations() const { return equations_; }
  std::int64_t free_equations() const { return free_equations_; }
  const std::string& matrix() const { return matrix_; }

 private:
  /// Where a step ended, for one that continues it.
  struct End {
    NodalField displacement, velocity;
  };
  std::string where(std::size_t step) const;
  /// Load cases, base accelerations and motions of supports, as a step has them.
  static void set_loads(TimeLoads& loads, const DynamicStep& request);
  /// Where a step begins: where the one before ended, or with its initial conditions.
  End initial_motion(const AnalysisModel& model, const DynamicStep& request) const;
  void integrate(std::size_t step, const DynamicStep& request);
  /// Explicit dynamics: explicit_runner.cpp.
  void integrate_explicitly(std::size_t step, const DynamicStep& request);
  bool tell_time(std::size_t step, const DynamicStep& request, const TransientProgress& progress) const;
  void keep_end(std::size_t step, TimeIntegrator& method, const AnalysisModel& model, const AnalysisState& state);
  void take_model_report(Analysis& analysis, double seconds);
  void take_report(TransientAnalysis& analysis, double seconds);

  Job& job_;
  std::shared_ptr<Backend> backend_;
  const StaticOptions& options_;
  Tell tell_;
  StepReceiver& receiver_;
  std::map<std::size_t, End> ends_;
  std::vector<StageTime> times_;
  std::vector<std::string> notes_;
  std::int64_t equations_ = 0, free_equations_ = 0;
  std::string matrix_;
};

}  // namespace voussoir::detail
