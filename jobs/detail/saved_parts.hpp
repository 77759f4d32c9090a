#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <voussoir/jobs/detail/redivided_step.hpp>
#include <voussoir/jobs/run_checkpoints.hpp>
#include <voussoir/partition/process/divided_group.hpp>
#include <voussoir/partition/process/process_part.hpp>
#include <voussoir/partition/process/processes.hpp>

namespace voussoir::detail {

/// The checkpoints of steps over time on several processes. Process 0 has the files, as a run on one process does; the
/// state of the whole model in them consists of the states of all parts. If the model is divided in another way when
/// the run is resumed, for example among another number of processes, process 0 divides these states again. All
/// arguments must outlive the object.
class SavedParts {
 public:
  /// `run` is null without checkpoints, and on all processes but the first.
  SavedParts(const ProcessPart& part, Processes& processes, DividedGroup& group, RunCheckpoints* run);

  /// Gives each process what an earlier run has saved of a step. Collective, outside DividedGroup::run(). Throws
  /// SharedError (bad_input) if the model was divided in another way and `save_more` is set.
  void begin(std::size_t step);
  bool is_complete() const { return status_ == Status::complete; }  ///< whether an earlier run finished the step
  /// The link between the runner of the step and its checkpoints. `code` is what DividedGroup::request() is called with
  /// when all processes are to call gather(), and `divide_code` when they are to call divide().
  std::shared_ptr<StepCheckpoint> link(int code, int divide_code);
  /// Brings what the processes save to process 0. Collective.
  void gather();
  /// Gives each process its share of a state that was saved by other parts. Collective, while the group has a model.
  void divide();

  /// Called by gather() on every process before anything is collected; may be empty. Collective.
  std::function<void()> settle;
  /// What each process saves beside its analysis, also where its part has no elements; both or none are empty.
  std::function<void(ByteWriter&)> save_more;
  std::function<void(ByteReader&)> restore_more;

  /// What the summary of a run says of a step that was finished by an earlier one.
  struct Account {
    std::int64_t free_equations = 0;
    bool iterated = false;
  };
  Account account;  ///< of the step: set before its end is saved; after begin(), that of a step that is complete

 private:
  class Link;
  enum class Status : char { none = 'n', open = 'o', complete = 'c' };

  struct Saved;
  std::string where() const;
  Saved read_saved();
  void divide(bool ends);
  std::size_t domain() const { return part_.job.steps[step_].domain; }

  const ProcessPart& part_;
  Processes& processes_;
  DividedGroup& group_;
  RunCheckpoints* run_;
  bool on_ = false;
  std::size_t step_ = 0;
  Status status_ = Status::none;
  std::string own_;     // of this process: what was saved, or is to be
  std::string packed_;  // of all of them, on process 0
  bool was_divided_otherwise_ = false;
  std::optional<RedividedStep> former_;  // on process 0, where the model was divided in another way
};

}  // namespace voussoir::detail
