#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <voussoir/framework/io/job/job.hpp>
#include <voussoir/jobs/detail/dynamic_recorder.hpp>
#include <voussoir/jobs/detail/restart_state.hpp>
#include <voussoir/jobs/detail/thermal_stress_runner.hpp>
#include <voussoir/jobs/run_checkpoints.hpp>
#include <voussoir/jobs/step_receiver.hpp>
#include <voussoir/partition/step_balancer.hpp>
#include <voussoir/solvers/transient_problem.hpp>

namespace voussoir::detail {

/// Runs the steps of direct integration of a job, dynamics and transient heat, and passes on their states, histories
/// and energies.
class DynamicRunner {
 public:
  /// Told of the progress of a step, with the estimated seconds that are left or −1; returning false stops the job.
  using Tell = std::function<bool(std::size_t step, const Progress& progress, double seconds_left)>;
  DynamicRunner(Job& job, std::shared_ptr<Backend> backend, const StaticOptions& options, Tell tell,
                StepReceiver& receiver, RunCheckpoints* checkpoints)
      : job_(job),
        backend_(std::move(backend)),
        options_(options),
        tell_(std::move(tell)),
        receiver_(receiver),
        checkpoints_(checkpoints) {}

  /// Makes the analysis of a step, with its model numbered; empty: make_transient_analysis(). Where it is set, the
  /// model is a part of a larger one, and remarks on the model are left to the caller.
  std::function<std::unique_ptr<TransientAnalysis>(const Domain& domain, const TransientOptions& options)>
      make_analysis;
  /// Called with the numbered model of explicit dynamics before it starts; may be empty.
  std::function<void(const AnalysisModel& model)> numbered;
  /// The whole job, of which the runner's is a part; null: the runner's is the whole, or this process does not have it.
  const Job* whole_job = nullptr;
  /// Makes the link to the checkpoints of a step; empty: those that were given.
  std::function<std::shared_ptr<StepCheckpoint>(std::size_t step)> make_checkpoint;
  /// Makes the recorder of a step; empty: make_step_recorder().
  std::function<std::shared_ptr<StepRecorder>(std::size_t step, const DynamicStep& request)> make_recorder;
  /// When models are divided again, with a numbering that measures the speeds of the devices.
  StepBalancer::Options balancing;

  /// Runs a step whose supports are applied to its domain. `initial` has the temperatures that a step of transient
  /// heat begins with; null: what the step says itself.
  void run(std::size_t step, const NodalField* initial = nullptr);
  /// The displacements or temperatures at the end of the step that ran last.
  const NodalField& end_of(std::size_t step) const { return ends_.at(step).displacement; }
  /// Where the step that ran last ended, for restart files; the same of a step that another job has run.
  std::optional<RestartState::Motion> motion() const;
  void set_motion(const RestartState::Motion& motion);
  /// The temperatures that a step of thermal stress is solved with, after its step of heat; they are given away.
  std::vector<HeatedState> take_heated(std::size_t stress_step) { return std::move(heated_[stress_step]); }

  const std::vector<StageTime>& stage_times() const { return times_; }
  const std::vector<std::string>& notes() const { return notes_; }
  std::int64_t equations() const { return equations_; }
  std::int64_t free_equations() const { return free_equations_; }
  const std::string& matrix() const { return matrix_; }

 private:
  /// Where a step ended, for one that continues it.
  struct End {
    NodalField displacement, velocity;
    std::string history;  // of elements, as save_state() writes it; empty: none
  };
  std::string where(std::size_t step) const;
  /// Load cases, base accelerations and motions of supports, as a step has them.
  static void set_loads(TimeLoads& loads, const DynamicStep& request);
  /// The history of elements that End has.
  static std::shared_ptr<const ElementHistory> read_history(const AnalysisModel& model, const std::string& bytes);
  /// Where a step begins: at `initial` temperatures, where the one before ended, or with its initial conditions.
  End initial_motion(const AnalysisModel& model, const DynamicStep& request, const NodalField* initial) const;
  void integrate(std::size_t step, const DynamicStep& request, const NodalField* initial, StepCheckpoint& saved);
  /// Explicit dynamics: explicit_runner.cpp.
  void integrate_explicitly(std::size_t step, const DynamicStep& request, StepCheckpoint& saved);
  /// Runs an analysis from its start, or from the state that was saved, to its end, and saves it on the way.
  /// `make(numberer)` creates it; a null numberer is the usual one. Where the speeds of devices are to be measured, the
  /// model may be divided again between steps, and another analysis reaches the end: the one that is returned.
  template <class Make>
  auto run_saved(std::size_t step, const DynamicStep& request, const Make& make, StepRecorder& recorder,
                 StepCheckpoint& saved);
  /// Null where the division stays as it is.
  std::unique_ptr<StepBalancer> make_balancer() const;
  void take_over(std::size_t step, const StepCheckpoint& saved);
  void conclude(std::size_t step, const DynamicStep& request, StepResponse response, StepCheckpoint& saved);
  bool tell_time(std::size_t step, const DynamicStep& request, const TransientProgress& progress) const;
  /// Notes initial motions that supports do not take.
  void add_held_notes(const AnalysisModel& model, const DynamicStep& request, StepResponse& response) const;
  void keep_end(std::size_t step, TimeIntegrator& method, const AnalysisModel& model, const AnalysisState& state);
  void take_model_report(Analysis& analysis, double seconds);
  void take_report(TransientAnalysis& analysis, double seconds);

  std::map<std::size_t, std::vector<HeatedState>> heated_;  // by the step of thermal stress
  Job& job_;
  std::shared_ptr<Backend> backend_;
  const StaticOptions& options_;
  Tell tell_;
  StepReceiver& receiver_;
  RunCheckpoints* checkpoints_;
  std::map<std::size_t, End> ends_;
  std::vector<StageTime> times_;
  std::vector<std::string> notes_;
  std::int64_t equations_ = 0, free_equations_ = 0;
  std::string matrix_;
};

template <class Make>
auto DynamicRunner::run_saved(std::size_t step, const DynamicStep& request, const Make& make, StepRecorder& recorder,
                              StepCheckpoint& saved) {
  const auto make_watched = [&](const std::shared_ptr<DofNumberer>& numberer) {
    auto analysis = make(numberer);
    analysis->watch = [&, a = analysis.get()](const TransientProgress& p) {
      const bool goes_on = tell_time(step, request, p);
      saved.increment(request.times.start + p.time, !goes_on, [&](ByteWriter& out) {
        std::ostringstream bytes;
        a->save(bytes);
        out.put(bytes.str());
        recorder.save(out);
      });
      return goes_on;
    };
    return analysis;
  };
  const auto begin = [&](auto& analysis) {
    if (!saved.is_open()) return analysis.start();
    saved.replay_files();
    const std::string state = saved.take_state();
    ByteReader in(state, where(step));
    std::istringstream bytes(in.text());
    analysis.restore(bytes);
    const SolveReport none;
    recorder.resume({analysis.model(), analysis.state(), analysis.integrator(), none}, in);
    in.expect_end();
  };
  const std::unique_ptr<StepBalancer> balancer = make_balancer();
  auto analysis = run_balanced(make_watched, begin, balancer.get());
  analysis->watch = nullptr;
  if (balancer) notes_.insert(notes_.end(), balancer->notes().begin(), balancer->notes().end());
  return analysis;
}

}  // namespace voussoir::detail
