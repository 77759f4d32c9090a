#pragma once
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <voussoir/framework/analysis/modal_analysis.hpp>
#include <voussoir/framework/analysis/mode_superposition.hpp>
#include <voussoir/framework/io/job/job.hpp>
#include <voussoir/jobs/step_receiver.hpp>

namespace voussoir::detail {

/// Runs the steps of a job that are made of modes; keeps the modes as long as later steps need them. The supports of
/// the step are those of its domain when a function is called.
class ModalRunner {
 public:
  /// Returning false stops the job. The functions and the receiver must outlive this.
  using Tell = std::function<bool(std::size_t step, const Progress& progress)>;
  ModalRunner(const Job& job, std::shared_ptr<Backend> backend, const Tell& tell, StepReceiver& receiver)
      : job_(job), backend_(std::move(backend)), tell_(tell), receiver_(receiver) {}

  /// Runs a step whose procedure uses_modes().
  void run(std::size_t step);
  /// Takes modes of a frequency step that were found elsewhere, for later steps that superpose them.
  void take_modes(std::size_t step, std::shared_ptr<const ModeSet> modes);

  const std::vector<StageTime>& stage_times() const { return times_; }  ///< summed over all steps
  const std::vector<std::string>& notes() const { return notes_; }      ///< for the user
  const std::vector<std::string>& faults() const { return faults_; }    ///< modes that are not exact, or missing
  std::int64_t equations() const { return equations_; }                 ///< of the largest model
  std::int64_t free_equations() const { return free_equations_; }       ///< likewise

 private:
  /// The modes of a frequency step.
  struct Found {
    std::unique_ptr<ModalAnalysis> analysis;
    std::shared_ptr<const ModeSet> modes;
    std::size_t last_use = 0;  ///< the last step that needs them
  };

  void find_modes(std::size_t step, const FrequencyStep& request);
  void superpose(std::size_t step);
  void run_dynamic(std::size_t step, const ModalDynamicStep& request);
  void run_harmonic(std::size_t step, const HarmonicStep& request);
  void run_spectrum(std::size_t step, const SpectrumStep& request);
  /// A superposition of the modes of an earlier step, which must be exact and complete.
  ModeSuperposition superposition_of(std::size_t step, std::size_t modes_of, const StepDamping& damping,
                                     bool static_correction);
  std::size_t last_use(std::size_t frequency_step) const;
  void note(const std::string& text);
  /// Shows how far a step is; throws Error (cancelled) where that is the wish.
  void tell(std::size_t step, const std::string& stage, int iteration = 0) const;
  void add_time(const std::string& stage, double seconds);
  std::string where(std::size_t step) const;

  const Job& job_;
  std::shared_ptr<Backend> backend_;
  const Tell& tell_;
  StepReceiver& receiver_;
  std::map<std::size_t, Found> found_;      // by frequency step
  std::map<std::size_t, ModalPoint> ends_;  // of steps of modal dynamics
  std::vector<StageTime> times_;
  std::vector<std::string> notes_, faults_;
  std::int64_t equations_ = 0, free_equations_ = 0;
};

}  // namespace voussoir::detail
