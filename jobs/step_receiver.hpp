#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <voussoir/framework/analysis/mode_set.hpp>
#include <voussoir/framework/analysis/results.hpp>
#include <voussoir/framework/response/named_curves.hpp>

// What the steps of a job find, as run_job() passes it on.

namespace voussoir {

/// One of the states of a step of modes, of mode superposition or of direct integration: a mode, a time or a frequency.
struct StepState {
  double at = 0;                        ///< number of the mode, total time, or frequency
  double time = 0;                      ///< what tables give as the time: total time or frequency
  StepResult result;                    ///< displacements, stresses, reactions; the real part of them in harmonic steps
  NodalField velocity;                  ///< of all nodes; without components where there is none
  std::optional<StepResult> imaginary;  ///< of harmonic steps
  std::optional<NodalField> imaginary_velocity;  ///< of harmonic steps
  bool for_viewers = true;                       ///< whether a file for viewers is wanted
  std::vector<char> prints;                      ///< whether each of JobStep::prints has a table of this state
  std::vector<double> temperatures = {};         ///< that act on a structure, per node; empty: the initial ones
};

/// The largest value of a quantity in a step of mode superposition or of direct integration.
struct ResponsePeak {
  std::string quantity;  ///< "displacement" (the magnitude), "ux" …, "mises", "reaction x" (the sum over all supports)
  double value = 0;      ///< with its sign; amplitudes and combined peaks have none
  double at = 0;         ///< the total time or frequency at which it occurs; NaN under a response spectrum
  std::string place;     ///< "node 17", "element 5"; empty for sums
};

/// Curves that a HistoryRequest has asked for.
struct RecordedHistory {
  std::string name;                       ///< as requested
  std::vector<double> times;              ///< total times, ascending
  NamedHistories curves = {};             ///< "node 17 ux", "element 5 point 2 sxx", "sum over BASE fx"
  std::vector<std::string> columns = {};  ///< of each curve: "ux", "sxx", "fx", for units and plots
};

/// What a step of mode superposition or of direct integration amounts to.
struct StepResponse {
  std::string statement;            ///< what the modes leave out; increments and energies of direct integration
  std::vector<ResponsePeak> peaks;  ///< largest values over the step
  std::vector<double> axis;         ///< times or frequencies of the curves; empty where there are none
  NamedHistories histories;         ///< over time
  NamedSweeps sweeps;               ///< over frequency
  /// Of direct integration, over time: kinetic, internal, external, damping, numerical; of explicit integration also
  /// viscous, plastic and hourglass.
  NamedHistories energies = {};
  NamedHistories sums = {};  ///< of direct integration, over time: sums of reactions and loads; heat flows
  std::vector<RecordedHistory> recorded = {};  ///< of direct integration: one for each of JobStep::histories
  std::vector<std::pair<std::string, double>> totals = {};  ///< energies at the end of direct integration
  std::vector<std::pair<std::string, double>> counts =
      {};                          ///< increments, matrices and iterations of direct integration
  std::vector<std::string> notes;  ///< for the user
};

/// Takes what the steps of a job find, as soon as it is there. An Error that a function throws stops the job.
class StepReceiver {
 public:
  virtual ~StepReceiver() = default;
  /// The result of a step of statics or heat.
  virtual void step(std::size_t step, StepResult result) = 0;
  /// The modes of a frequency step; states follow where tables are asked for.
  virtual void modes(std::size_t step, std::shared_ptr<const ModeSet> modes) = 0;
  /// A state of a step of modes or of mode superposition.
  virtual void state(std::size_t step, StepState state) = 0;
  /// The end of a step of modes or of mode superposition.
  virtual void end(std::size_t step, StepResponse response) = 0;
  /// The state at the end of a step with JobStep::restart, for a restart file.
  virtual void restart(std::size_t step, const std::string& bytes) {
    static_cast<void>(step);
    static_cast<void>(bytes);
  }
};

}  // namespace voussoir
