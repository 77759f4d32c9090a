#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <voussoir/framework/analysis/time_integrators.hpp>
#include <voussoir/framework/io/checkpoint/bytes.hpp>
#include <voussoir/framework/io/job/job.hpp>
#include <voussoir/jobs/detail/print_tables.hpp>
#include <voussoir/jobs/detail/thermal_stress_runner.hpp>
#include <voussoir/jobs/step_receiver.hpp>

// What the recorder of a step over time asks of a state: of a model in one process, or of one whose parts several
// processes have.

namespace voussoir::detail {

/// Sums of forces over the nodes of a model, per unknown.
struct ForceSums {
  std::vector<double> reactions;  ///< of prescribed unknowns
  std::vector<double> loads;      ///< of all loads; zero in transient heat, which knows them over a step only
};

/// A committed state as the recorder of a step sees it. On several processes it is that of the whole model.
class RecordedState {
 public:
  virtual ~RecordedState() = default;
  virtual double time() const = 0;                   ///< of the step
  virtual const SolveReport& report() const = 0;     ///< of the increment
  virtual const TimeIntegrator& method() const = 0;  ///< with the energies of the state
  virtual bool has_springs() const = 0;              ///< whether constraints are springs (penalty)
  /// Displacements or temperatures (0), velocities (1), accelerations (2) of all nodes.
  virtual NodalField motion(int derivative) = 0;
  virtual ForceSums sums(bool heat) = 0;            ///< as force_sums()
  virtual StepResult result(bool with_points) = 0;  ///< as make_step_result()
};

/// The largest value of an unknown, with its sign.
struct LargestValue {
  double value = 0;
  std::int64_t place = -1;  ///< index of the node in the whole model; −1: no node has a value
  Id node = 0;              ///< its number
};

/// A node whose motion tables ask for.
struct CurveNode {
  std::int64_t place = 0;  ///< index in the whole model
  Id node = 0;             ///< its number
};

/// What curves and peaks need of the motion of all nodes.
struct MotionDigest {
  std::vector<std::string> components;  ///< of the unknowns
  std::vector<LargestValue> largest;    ///< of each of them, at reported nodes; of equal values the first counts
  double magnitude = 0;                 ///< the largest length of a displacement
  std::vector<double> at_curve_nodes;   ///< node by node; NaN where a node does not have an unknown
};

/// Whether histories show an unknown: displacements and temperatures, not rotations.
inline bool has_curve(const std::string& component) { return component[0] == 'u' || component == "T"; }
/// Nodes of tables up to so many have curves.
constexpr std::size_t most_curve_nodes = 20;

/// The motion of the nodes of a model, or of a part of one.
class NodeMotion {
 public:
  NodeMotion(const Job& job, const JobStep& step);  ///< the job must outlive the object
  /// Takes the values of a state.
  void set(NodalField field) { field_ = std::move(field); }
  const NodalField& field() const { return field_; }
  /// Nodes that are not reported.
  const std::vector<char>& hidden() const { return hidden_; }
  /// The digest of a state; places are indices of this model. Nodes of −1 are not in it.
  MotionDigest digest(std::span<const std::int32_t> curve_nodes) const;
  /// The largest difference of a value from the state that mark_written() was called in.
  double change() const;
  void mark_written() { written_ = field_.values; }
  const std::vector<double>& written() const { return written_; }
  void set_written(std::vector<double> values) { written_ = std::move(values); }

 private:
  const Domain& domain_;
  NodalField field_;
  std::vector<char> hidden_;
  std::vector<double> written_;
};

/// The nodes of the tables of a step that have curves, ascending.
std::vector<std::int32_t> curve_nodes_of(const Job& job, const JobStep& step);
/// Throws Error (out_of_memory) if one more state of so many temperatures cannot be kept beside `kept` others.
void check_heated(std::size_t kept, std::size_t temperatures);

/// A model as the recorder of a step sees it, on the process that records.
class RecordedModel {
 public:
  virtual ~RecordedModel() = default;
  /// Begins a state, which must stay until the next one.
  virtual void show(RecordedState& state) = 0;
  virtual const MotionDigest& motion() const = 0;           ///< of the state
  virtual const std::vector<CurveNode>& curve_nodes() = 0;  ///< ascending
  virtual bool has_force_sums() = 0;                        ///< whether sums of reactions are forces
  virtual std::int64_t node_count() const = 0;              ///< of the whole model
  /// All nodes of the model.
  struct Nodes {
    std::vector<Id> numbers;
    std::vector<char> hidden;
  };
  virtual Nodes nodes() = 0;
  virtual std::vector<double> values() = 0;  ///< of the state, of all nodes
  virtual double change() = 0;               ///< as NodeMotion::change()
  virtual void mark_written() = 0;           ///< as NodeMotion::mark_written()
  /// What mark_written() has kept, for checkpoints.
  virtual std::vector<double> written() const = 0;
  virtual void set_written(std::vector<double> values) = 0;
  /// Keeps the temperatures of the state for a step of thermal stress; `head` has everything else. Returns what was
  /// kept, or null where several processes keep it.
  virtual const HeatedState* keep_temperatures(std::size_t stress, HeatedState head) = 0;
  /// Keeps what keep_temperatures() of an earlier run has returned.
  virtual void restore_temperatures(std::size_t stress, HeatedState state) = 0;

  /// What is needed of a state beside the motion of nodes.
  struct Wanted {
    double time = 0;            ///< total time
    bool points = false;        ///< results at the points of elements
    bool velocity = false;      ///< velocities of nodes
    bool acceleration = false;  ///< accelerations of nodes
    bool temperatures = false;  ///< temperatures that act on a structure
  };
  virtual void form(const Wanted& wanted) = 0;
  /// The tables of a history, by its index, of the state that was formed.
  virtual std::vector<PrintTable> tables_of_history(std::size_t request, std::vector<std::string>& notes) = 0;
  /// Passes on the state that was formed; `head` has everything but fields. Without points they are left out.
  virtual void pass_on(StepState head, bool with_points) = 0;
};

/// The model of a process that has all of it. All arguments must outlive the object; `heated` gets temperatures for
/// steps of thermal stress.
std::unique_ptr<RecordedModel> make_recorded_model(const Job& job, std::size_t step, StepReceiver& receiver,
                                                   std::map<std::size_t, std::vector<HeatedState>>& heated);

}  // namespace voussoir::detail
