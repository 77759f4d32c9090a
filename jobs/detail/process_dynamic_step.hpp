#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <voussoir/jobs/detail/dynamic_runner.hpp>
#include <voussoir/jobs/detail/merged_step.hpp>
#include <voussoir/jobs/detail/part_records.hpp>
#include <voussoir/jobs/detail/saved_parts.hpp>
#include <voussoir/partition/process/divided_group.hpp>

namespace voussoir::detail {

/// Steps of implicit and explicit dynamics, of transient heat and of statics in increments on several processes. Each
/// process runs the same analysis on its part; process 0 records the states of the whole model and passes them on as a
/// run on one process does. All arguments must outlive the object.
class ProcessDynamicStep {
 public:
  /// `places` are those of all parts, on process 0. `whole` and `receiver` are needed there only, and so are the
  /// checkpoints of the run, which may be null. With a `part_receiver`, which every process has, process 0 gets
  /// extremes and rows of tables only: whole, places and receiver are not used.
  ProcessDynamicStep(Engine& engine, ProcessPart& part, std::shared_ptr<Backend> backend,
                     const EngineSettings& settings, const std::vector<PartPlaces>& places, const Job* whole,
                     StepReceiver* receiver, PartReceiver* part_receiver, RunCheckpoints* checkpoints,
                     DynamicRunner::Tell tell);
  ~ProcessDynamicStep();

  /// Runs a step, whose supports are applied. `initial` is that of DynamicRunner::run(), of this part. `notes` are
  /// added to those of the step, on process 0. Collective.
  void run(std::size_t step, const NodalField* initial, const std::vector<std::string>& notes);
  /// The displacements or temperatures of this part at the end of a step; without components where the part has no
  /// elements.
  NodalField end_of(std::size_t step) const;
  /// Where the last step ended, of this part; see DynamicRunner.
  std::optional<RestartState::Motion> motion() const { return runner_.motion(); }
  /// What the next step continues, in place of a step of this run.
  void set_motion(const RestartState::Motion& motion) { runner_.set_motion(motion); }
  /// The temperatures that a step of thermal stress is solved with, of the whole model, on process 0, or of each part
  /// where each of them receives its results; they are given away.
  std::vector<HeatedState> take_heated(std::size_t stress_step);
  std::int64_t equation_count() const { return equations_; }            ///< of the whole model
  std::int64_t free_equation_count() const { return free_equations_; }  ///< of the whole model
  double seconds() const { return seconds_; }                           ///< of all steps
  bool iterated() const { return iterated_; }                           ///< whether a system was solved by iteration
  const std::vector<std::string>& notes() const { return runner_.notes(); }  ///< for the user

 private:
  class KeptResponse;
  class Merged;
  class PartRecorder;
  std::unique_ptr<TransientAnalysis> make_analysis(const Domain& domain, const TransientOptions& options);
  void respond(int code);
  void gather_motion(int derivative);
  void gather_sums(bool heat);
  void gather_result(bool with_points);

  Engine& engine_;
  Processes& processes_;
  ProcessPart& part_;
  std::shared_ptr<Backend> backend_;
  const EngineSettings& settings_;
  const std::vector<PartPlaces>& places_;
  const Job* whole_;
  StepReceiver* receiver_;
  PartReceiver* part_receiver_;         // null: process 0 merges the results of the parts
  std::unique_ptr<KeptResponse> kept_;  // of processes that pass nothing on by themselves
  std::optional<PartRecords> records_;  // with part_receiver_
  StaticOptions options_;
  DividedGroup group_;
  std::unique_ptr<ProcessSolver> solver_;
  std::shared_ptr<GroupSolver> group_solver_;  // of the step that runs; null: it has no systems of equations
  SavedParts saved_;
  DynamicRunner runner_;
  std::map<std::size_t, std::vector<HeatedState>> heated_;
  std::size_t domain_ = 0;
  const CommittedState* current_ = nullptr;  // the state that is being recorded
  std::vector<std::string> step_notes_;
  DynamicStep recorded_;  // the request of the whole model, with the increments that are recorded
  StepResult merged_;     // what process 0 has asked for
  ForceSums sums_;
  std::int64_t equations_ = 0, free_equations_ = 0;
  double seconds_ = 0;
  bool iterated_ = false;
};

}  // namespace voussoir::detail
