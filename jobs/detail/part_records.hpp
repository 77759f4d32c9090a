#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <voussoir/framework/analysis/recorder.hpp>
#include <voussoir/jobs/detail/recorded_model.hpp>
#include <voussoir/jobs/detail/step_histories.hpp>
#include <voussoir/jobs/process_job.hpp>
#include <voussoir/partition/process/process_part.hpp>
#include <voussoir/partition/process/processes.hpp>

namespace voussoir::detail {

/// The nodes of a step's tables that have curves, as curve_nodes_of() finds them in a whole model. On process 0 all of
/// them, with their numbers; `local` has their local indices on every process, −1 where a part does not have a node.
/// Collective.
struct DividedCurveNodes {
  std::vector<CurveNode> nodes;
  std::vector<std::int32_t> local;
  static DividedCurveNodes find(Processes& processes, const ProcessPart& part, const JobStep& step);
};
/// The digest of the whole model from those of all parts, on process 0; that of the part on the others. Collective.
MotionDigest merge_digests(Processes& processes, const ProcessPart& part, std::size_t domain, MotionDigest own);
/// Gives the fields of a part's result all unknowns of the whole model, and completes them on shared nodes. Collective.
void complete_fields(Processes& processes, const ProcessPart& part, std::size_t domain, StepResult& own);

/// What each process records of its part in a step over time whose results are written in pieces, and what process 0,
/// which records the step, gets of it: extremes, a few nodes and the rows of tables. All arguments must outlive the
/// object.
class PartRecords {
 public:
  PartRecords(Processes& processes, const ProcessPart& part, PartReceiver& receiver)
      : processes_(processes), part_(part), receiver_(receiver) {}

  /// Begins a step, on every process.
  void begin(std::size_t step);
  /// The model as the recorder on process 0 sees it. `request` has all processes call respond() with a code.
  std::unique_ptr<RecordedModel> model(std::function<void(int code)> request);
  /// Whether a code is one of those.
  static bool is_code(int code);
  /// Does what process 0 asks for. `current` is the state that is recorded, null where the part has no elements.
  /// Collective.
  void respond(int code, const CommittedState* current);

  /// What this process has kept of the step, for checkpoints.
  void save(ByteWriter& out) const;
  void restore(ByteReader& in);
  /// The temperatures of this part that a step of thermal stress is solved with; they are given away.
  std::vector<HeatedState> take_heated(std::size_t stress) { return std::move(heated_[stress]); }

 private:
  class Model;
  const JobStep& asked() const { return part_.job.steps[step_]; }
  void start(const CommittedState* current);
  NodalField motion_of(const CommittedState* current, int derivative);
  void collect_nodes();
  void collect_values();
  void find_change();
  void keep_heat();
  void form(const CommittedState* current);
  void make_tables();
  void pass_on();

  Processes& processes_;
  const ProcessPart& part_;
  PartReceiver& receiver_;
  std::size_t step_ = 0;
  std::string arguments_;  // of what process 0 asks for
  std::optional<NodeMotion> motion_;
  std::optional<HistoryTables> histories_;
  DividedCurveNodes curve_nodes_;
  MotionDigest digest_;  // of the whole model, on process 0
  bool force_sums_ = true;
  RecordedModel::Nodes nodes_;  // of the whole model, on process 0, where they are asked for
  std::vector<double> values_;  // likewise
  double change_ = 0;           // of the whole model
  std::vector<PrintTable> tables_;
  std::vector<std::string> notes_;
  std::map<std::size_t, std::vector<HeatedState>> heated_;
  // Of the state that was formed:
  StepResult result_;
  NodalField velocity_, acceleration_;
  std::vector<double> temperatures_;
};

}  // namespace voussoir::detail
