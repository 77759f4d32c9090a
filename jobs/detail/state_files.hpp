#pragma once
#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <voussoir/jobs/detail/common_files.hpp>
#include <voussoir/jobs/detail/heating_steps.hpp>
#include <voussoir/jobs/detail/modal_files.hpp>
#include <voussoir/jobs/detail/part_files.hpp>
#include <voussoir/jobs/detail/print_tables.hpp>
#include <voussoir/jobs/detail/step_picture.hpp>
#include <voussoir/jobs/detail/step_probes.hpp>
#include <voussoir/jobs/run_checkpoints.hpp>
#include <voussoir/jobs/step_receiver.hpp>

namespace voussoir::detail {

/// The files of steps that have states: modes, times or frequencies. Checkpoints store what each state adds to files
/// that hold several of them, and return it when the run is resumed. A step is written from begin to end before the
/// next one.
class StateFiles {
 public:
  /// All arguments must outlive the object.
  StateFiles(CommonFiles& files, HeatingSteps& heating, const StepProbes& probes, StepPictures& pictures,
             PartFiles& parts);
  StateFiles(const StateFiles&) = delete;
  StateFiles& operator=(const StateFiles&) = delete;

  /// Gives checkpoints what the states of a step add from now on. They must outlive the last call.
  void attach(RunCheckpoints& checkpoints) { checkpoints_ = &checkpoints; }
  /// Writes the table and the shapes of modes.
  void modes(std::size_t step, const ModeSet& modes);
  /// Writes one of several states of a step; its fields are moved out.
  void state(std::size_t step, StepState& state);
  /// Writes what a state of a divided job adds to the files of all processes: `head` has everything but fields, the
  /// tables are merged from those of all parts, and `told` are notes.
  void merged_state(std::size_t step, const StepState& head, std::span<const PrintTable> tables,
                    std::span<const PrintTable> imaginary, std::span<const std::string> told);
  /// States for viewers of the step that is being written, so far.
  std::size_t count() const { return modal_.state_count(); }
  /// Writes the list of the states of a step so far, if it is due.
  void list(std::size_t step) { modal_.list_states(step, files_.stem(step)); }
  /// Takes back what state() of an earlier run has added.
  void restore(std::size_t step, std::string_view bytes);
  /// Completes the files of a step, and notes what was left out of them.
  void end(std::size_t step, const StepResponse& response);

 private:
  ModalFiles::Surroundings surroundings();
  void save_added(std::size_t step, const CommonFiles::Added& adds, const std::optional<NodalField>& temperatures);
  /// The states of a step at points and along paths.
  void write_probes(std::size_t step);
  /// What is asked for of all steps and left out of some.
  void note_left_out(Procedure procedure);

  CommonFiles& files_;
  HeatingSteps& heating_;
  const StepProbes& probes_;
  StepPictures& pictures_;
  PartFiles& parts_;
  StateProbes state_probes_;
  ModalFiles modal_;
  std::map<std::size_t, int> frd_states_;  // of steps over time: how many it has
  RunCheckpoints* checkpoints_ = nullptr;
};

}  // namespace voussoir::detail
