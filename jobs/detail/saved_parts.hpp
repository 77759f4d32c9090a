#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <voussoir/jobs/run_checkpoints.hpp>
#include <voussoir/partition/process/divided_group.hpp>
#include <voussoir/partition/process/process_part.hpp>
#include <voussoir/partition/process/processes.hpp>

namespace voussoir::detail {

/// The checkpoints of steps over time on several processes. Process 0 has the files, as a run on one process does; the
/// state of the whole model in them consists of the states of all parts, so that a run is resumed by the same number of
/// processes. All arguments must outlive the object.
class SavedParts {
 public:
  /// `run` is null without checkpoints, and on all processes but the first.
  SavedParts(const ProcessPart& part, Processes& processes, DividedGroup& group, RunCheckpoints* run);

  /// Gives each process what an earlier run has saved of a step. Collective, outside DividedGroup::run(). Throws
  /// SharedError (bad_input) if the model was divided otherwise.
  void begin(std::size_t step);
  bool is_complete() const { return status_ == Status::complete; }  ///< whether an earlier run finished the step
  /// The link between the runner of the step and its checkpoints. `code` is what DividedGroup::request() is called with
  /// when all processes are to call gather().
  std::shared_ptr<StepCheckpoint> link(int code);
  /// Brings what the processes save to process 0. Collective.
  void gather();

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

  std::string unpack(const std::string& bytes, int process) const;

  const ProcessPart& part_;
  Processes& processes_;
  DividedGroup& group_;
  RunCheckpoints* run_;
  bool on_ = false;
  std::size_t step_ = 0;
  Status status_ = Status::none;
  std::string own_;     // of this process: what was saved, or is to be
  std::string packed_;  // of all of them, on process 0
};

}  // namespace voussoir::detail
