#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <voussoir/jobs/detail/merged_step.hpp>
#include <voussoir/jobs/detail/thermal_stress_runner.hpp>
#include <voussoir/jobs/process_job.hpp>
#include <voussoir/partition/process/process_statics.hpp>

namespace voussoir::detail {

/// A step of thermal stress on several processes: static states under the temperatures of a step of transient heat,
/// which process 0 has recorded. All members must outlive the object.
class ProcessStressStep {
 public:
  /// `places` are those of all parts, on process 0. `whole` and `receiver` are needed there only. With a
  /// `part_receiver`, every process passes on the states of its part instead, and these three are not used.
  ProcessStressStep(Processes& processes, ProcessPart& part, const std::vector<PartPlaces>& places, const Job* whole,
                    StepReceiver* receiver, PartReceiver* part_receiver)
      : processes_(processes),
        part_(part),
        places_(places),
        whole_(whole),
        receiver_(receiver),
        part_receiver_(part_receiver) {}

  /// Solves the states of a step with an analysis of its domain, and passes them on. `states` are needed on process 0
  /// only, those of each part with a part receiver. Collective. The supports of the part's domain are changed.
  void run(std::size_t step, std::vector<HeatedState> states, ProcessStatics& analysis);

 private:
  void run_parts(std::size_t step, std::vector<HeatedState> states, ProcessStatics& analysis);
  /// Load cases for as many states as are solved with one matrix. Returns their number.
  std::size_t make_cases(const JobStep& asked, std::size_t states);
  void heat_parts(std::size_t step, const std::vector<HeatedState>& states, std::size_t first, std::size_t last);
  void heat(std::size_t step, const std::vector<HeatedState>& states, std::size_t first, std::size_t last);

  Processes& processes_;
  ProcessPart& part_;
  const std::vector<PartPlaces>& places_;
  const Job* whole_;
  StepReceiver* receiver_;
  PartReceiver* part_receiver_;
  std::vector<LoadCase*> heating_;  // of this part, for each state that is solved with others
  std::vector<double> times_;       // of these states
};

}  // namespace voussoir::detail
