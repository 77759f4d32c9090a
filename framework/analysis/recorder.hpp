#pragma once
#include <voussoir/framework/analysis/integrator.hpp>

namespace voussoir {

/// A committed state of an analysis, as a Recorder sees it: valid during the call.
struct CommittedState {
  const AnalysisModel& model;  ///< the numbered model
  const AnalysisState& state;  ///< committed
  Integrator& integrator;      ///< that led to the state, for results that depend on it (make_step_result)
  const SolveReport& report;   ///< of the step
};

/// Sees every state that an analysis commits: for histories, restart files, progress. Add it with
/// Analysis::add_recorder().
class Recorder {
 public:
  virtual ~Recorder() = default;
  /// Called once for each committed state, in their order. What it throws stops the analysis.
  virtual void record(const CommittedState& committed) = 0;
};

}  // namespace voussoir
