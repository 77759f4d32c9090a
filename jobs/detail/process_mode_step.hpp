#pragma once
#include <memory>
#include <vector>

#include <voussoir/jobs/detail/merged_step.hpp>
#include <voussoir/jobs/process_job.hpp>
#include <voussoir/jobs/step_receiver.hpp>
#include <voussoir/partition/process/process_modes.hpp>

namespace voussoir::detail {

/// A frequency step on several processes: process 0 gets the modes of the whole model and passes them on as a run on
/// one process does. All members must outlive the object.
class ProcessModeStep {
 public:
  /// `places` are those of all parts, on process 0. `whole` and `receiver` are needed there only.
  ProcessModeStep(Processes& processes, const ProcessPart& part, const std::vector<PartPlaces>& places, Job* whole,
                  StepReceiver* receiver)
      : processes_(processes), part_(part), places_(places), whole_(whole), receiver_(receiver) {}

  /// Solves a step, and passes on its modes and its tables. Collective. Returns the report.
  EigenReport run(std::size_t step, ProcessModes& analysis);
  /// The modes of the whole model, after run() on process 0; null on the others.
  const std::shared_ptr<const ModeSet>& modes() const { return modes_; }

 private:
  StepResult merged(std::size_t domain, const StepResult& own);
  std::vector<int> pass_on(std::size_t step, const ModeSet& own);

  Processes& processes_;
  const ProcessPart& part_;
  const std::vector<PartPlaces>& places_;
  Job* whole_;
  StepReceiver* receiver_;
  std::shared_ptr<const ModeSet> modes_;
};

/// Solves a frequency step of a divided job and passes on the modes of the part. Collective. Returns the report.
EigenReport modes_in_pieces(const ProcessPart& part, std::size_t step, ProcessModes& analysis, PartReceiver& receiver);

}  // namespace voussoir::detail
