#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <voussoir/framework/analysis/recorder.hpp>
#include <voussoir/framework/analysis/time_integrators.hpp>
#include <voussoir/framework/io/job/job.hpp>
#include <voussoir/jobs/detail/recorded_model.hpp>
#include <voussoir/jobs/detail/thermal_stress_runner.hpp>
#include <voussoir/jobs/run_checkpoints.hpp>
#include <voussoir/jobs/step_receiver.hpp>

namespace voussoir::detail {

/// Records the states of a step of direct integration: keeps peaks, histories and energies, and passes on the states
/// that are written to files and tables.
class StepRecorder : public Recorder {
 public:
  /// Increments that were taken up to the state that is being recorded; empty: every increment is recorded.
  std::function<std::int64_t()> increments;
  /// Times of the step that increments must end at.
  virtual std::vector<double> targets() const = 0;
  /// The checkpoints of the step, which get a row for every state; null: there are none.
  StepCheckpoint* checkpoint = nullptr;
  /// Takes a state; record() does that with the states of a model in one process.
  virtual void take(RecordedState& state) = 0;
  /// Writes everything recorded so far, except the rows.
  virtual void save(ByteWriter& out) const = 0;
  /// Continues from what save() has written and from the rows of `checkpoint`. The state is the one that was saved.
  virtual void resume(const CommittedState& committed, ByteReader& in) = 0;
  /// The same with a state as take() gets it.
  virtual void resume_from(RecordedState& state, ByteReader& in) = 0;
  /// Peaks, curves, energies and notes of the step; counts and the statement are the runner's.
  virtual StepResponse finish(TimeIntegrator& method) = 0;
};

/// The recorder of a step; all arguments must outlive it. `heated` gets the temperatures that steps of thermal stress
/// need of this one.
std::shared_ptr<StepRecorder> make_step_recorder(const Job& job, std::size_t step, const DynamicStep& request,
                                                 StepReceiver& receiver,
                                                 std::map<std::size_t, std::vector<HeatedState>>& heated);

/// The recorder of a step of a model that may be divided; `job` is that of a part then.
std::shared_ptr<StepRecorder> make_step_recorder(const Job& job, std::size_t step, const DynamicStep& request,
                                                 std::unique_ptr<RecordedModel> model);

/// A kept state of temperatures as bytes.
void put(ByteWriter& out, const HeatedState& state);
HeatedState get_heated(ByteReader& in);

/// Adds the temperatures of a row of a history to those of its step of thermal stress; rows of other kinds are ignored.
void take_heated_row(std::string_view bytes, std::map<std::size_t, std::vector<HeatedState>>& heated);

/// "; energy at the end: kinetic …": for the statement of a step.
std::string energies_text(const EnergyBalance& energies);

}  // namespace voussoir::detail
