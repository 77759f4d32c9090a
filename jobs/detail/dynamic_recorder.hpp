#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <voussoir/framework/analysis/recorder.hpp>
#include <voussoir/framework/analysis/time_integrators.hpp>
#include <voussoir/framework/io/job/job.hpp>
#include <voussoir/jobs/step_receiver.hpp>

namespace voussoir::detail {

/// Sees the states of a step of direct integration: keeps peaks, histories and energies, and passes on the states that
/// files and tables are written of.
class StepRecorder : public Recorder {
 public:
  /// Increments that were taken up to the state that is being recorded; empty: every increment is recorded.
  std::function<std::int64_t()> increments;
  /// Times of the step that increments must end at.
  virtual std::vector<double> targets() const = 0;
  /// Peaks, curves, energies and notes of the step; counts and the statement are the runner's.
  virtual StepResponse finish(TimeIntegrator& method) = 0;
};

/// The recorder of a step; all arguments must outlive it.
std::shared_ptr<StepRecorder> make_step_recorder(const Job& job, std::size_t step, const DynamicStep& request,
                                                 StepReceiver& receiver);

/// "; energy at the end: kinetic …": for the statement of a step.
std::string energies_text(const EnergyBalance& energies);

}  // namespace voussoir::detail
