#pragma once
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include <voussoir/framework/model/analysis_model.hpp>

namespace voussoir {

/// The values of a state, on the devices of a backend.
struct StateValues {
  Vector unknowns;                   ///< of all equations
  Vector rate;                       ///< their first derivative by time; without a layout where the analysis has none
  Vector second_rate;                ///< their second derivative, likewise
  Vector loads;                      ///< nodal and body loads, for the factors below
  double time = 0;                   ///< at the end of the step
  double time_step = 0;              ///< that led, or leads, to `time`
  std::vector<double> case_factors;  ///< of the domain's load cases, in their order
  double prescribed_factor = 1;      ///< of prescribed values and the constants of equations
  std::shared_ptr<const NodalValues> temperature;  ///< null: the initial temperatures
  std::shared_ptr<const ElementHistory> history;   ///< committed; null: all zero

  /// Vectors are copied on the devices; temperatures and history never change and are shared.
  StateValues clone() const;
};

/// What changes while an analysis runs; the model, the elements and the SOE are functions of it. Its own values are
/// those of a trial, which iterations change; commit() accepts them, and revert() returns to what was committed last.
///
/// A state belongs to the model that its vectors were made for. It is moved, or copied with clone().
class AnalysisState : public StateValues {
 public:
  AnalysisState() = default;
  AnalysisState(AnalysisState&&) noexcept = default;             ///< what is moved from is as good as new
  AnalysisState& operator=(AnalysisState&&) noexcept = default;  ///< likewise
  AnalysisState(const AnalysisState&) = delete;                  // copy a state with clone()
  AnalysisState& operator=(const AnalysisState&) = delete;       // copy a state with clone()

  std::string name;  ///< of the step, for results and errors

  /// What the elements see of the trial values; valid as long as the state.
  ElementState elements() const;
  /// A copy, with what it has committed.
  AnalysisState clone() const;

  /// Accepts the trial values: the elements' history becomes the one that follows from them, and revert() returns here.
  void commit(const AnalysisModel& model);
  bool is_committed() const { return committed_ != nullptr; }  ///< whether commit() was called
  const StateValues& committed() const;                        ///< Error (misuse) before the first commit()
  /// Back to what was committed last. Error (misuse) before the first commit().
  void revert(const AnalysisModel& model);

 private:
  friend AnalysisState restore_state(const AnalysisModel& model, std::istream& from);
  std::unique_ptr<StateValues> committed_;
};

/// Where two states of a model differ, as text: the first quantity that differs, and where. Empty where all values
/// differ by no more than `tolerance` times the largest magnitude of their quantity; with 0, where they are equal.
std::string difference(const AnalysisModel& model, const AnalysisState& a, const AnalysisState& b,
                       double tolerance = 0);

/// Writes the values of a state in the domain's numbering, so that a model on any backend, with any number of devices
/// and any numbering of equations, can restore them. Values that devices share are written once. Exact: doubles as they
/// are, with a checksum. Throws Error (io) where the stream fails.
void save_state(const AnalysisModel& model, const AnalysisState& state, std::ostream& to);
/// The saved state, committed. Throws Error (bad_input) for bytes that are damaged or not a state, or if the state was
/// saved for a model with other nodes, unknowns, load cases or elements.
AnalysisState restore_state(const AnalysisModel& model, std::istream& from);

}  // namespace voussoir
