#pragma once
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <voussoir/framework/io/job/job.hpp>
#include <voussoir/jobs/detail/process_dynamic_step.hpp>
#include <voussoir/jobs/detail/redivided_step.hpp>
#include <voussoir/jobs/detail/restart_state.hpp>
#include <voussoir/jobs/step_receiver.hpp>
#include <voussoir/partition/process/process_part.hpp>
#include <voussoir/partition/process/processes.hpp>

namespace voussoir::detail {

/// *RESTART on several processes: process 0 reads and writes states of the whole model, as a run on one process does,
/// so that each of them continues what the other has written. All arguments must outlive the object; `whole` and
/// `receiver` are needed on process 0 only. All functions are collective.
class ProcessRestart {
 public:
  /// `places` are those of all parts, on process 0.
  ProcessRestart(Processes& processes, const ProcessPart& part, const std::vector<PartPlaces>& places, const Job* whole,
                 StepReceiver* receiver);

  /// What the first steps of a job, which an earlier one has solved, have left of a part.
  struct Start {
    std::size_t first_step = 0;                  ///< the first step that is solved; the others are not solved again
    std::map<std::size_t, NodalField> unknowns;  ///< by the step that found them, with all unknowns of the whole model
    std::optional<RestartState::Motion> motion;
  };
  /// Throws SharedError (bad_input) if the job does not continue the earlier one.
  Start begin();
  /// On process 0: takes the unknowns of the whole model that a step has found. Not collective.
  void keep(std::size_t step, const NodalField& unknowns);
  /// Passes the state at the end of a step on, if a restart file gets it. `dynamics` is null before the first step over
  /// time.
  void end_step(std::size_t step, const ProcessDynamicStep* dynamics);

 private:
  bool is_written_from(std::size_t step) const { return written_.find('+', step) != std::string::npos; }
  std::vector<SavedPlaces> places_of(std::size_t domain) const;
  SavedPlaces whole_places(std::size_t domain) const;
  std::optional<RestartState::Motion> collect_motion(std::size_t step, const ProcessDynamicStep& dynamics);

  Processes& processes_;
  const ProcessPart& part_;
  const std::vector<PartPlaces>& places_;
  const Job* whole_;
  StepReceiver* receiver_;
  std::string written_;                               // per step: '+' if a restart file gets the state at its end
  std::map<std::size_t, std::size_t> last_;           // per domain: the step that found the unknowns below
  std::map<std::size_t, NodalField> whole_unknowns_;  // per domain
};

}  // namespace voussoir::detail
