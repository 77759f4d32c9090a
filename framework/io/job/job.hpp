#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <voussoir/framework/analysis/probe.hpp>
#include <voussoir/framework/analysis/results.hpp>
#include <voussoir/framework/domain/domain.hpp>
#include <voussoir/framework/io/job/modal_steps.hpp>
#include <voussoir/framework/io/job/restart.hpp>
#include <voussoir/framework/io/units.hpp>

// The contents of an input file. Decks and job files are read into a Job; the layer jobs/ solves it and writes the
// results.

namespace voussoir {

/// A remark of the reader about something in an input file that does not affect the results.
struct JobNote {
  std::string where;  ///< file and line: "beam.inp:12"
  std::string text;   ///< the remark, as a sentence
};

/// All supports at the end of a step.
struct Supports {
  std::vector<Prescribed> values;       ///< prescribed unknowns
  std::vector<ObliqueSupport> oblique;  ///< displacements prescribed along directions other than the axes
  /// An unknown that is fixed at its value at the end of the previous step.
  struct Kept {
    std::int32_t node;                     ///< index of the node in the domain
    std::string unknown;                   ///< its name; empty for the displacement along `direction`
    std::array<double, 3> direction = {};  ///< unit vector, used if `unknown` is empty
  };
  std::vector<Kept> kept;  ///< unknowns fixed at their previous values

  /// Applies these supports to a domain, replacing earlier ones. `previous` has the unknowns at the end of the previous
  /// step; if it is null, kept unknowns are fixed at zero.
  void apply(Domain& domain, const NodalField* previous = nullptr) const;
};

/// A table of results requested by a step (*NODE PRINT, *EL PRINT).
struct PrintRequest {
  /// Whether the table has results at nodes or at the points of elements.
  enum class At { nodes, elements } at = At::nodes;  ///< what the rows of the table are
  std::string set;                                   ///< node or element set; empty for all nodes or elements
  std::vector<std::string> quantities;               ///< U RF NT RFL; S E HFL ENER EVOL SF …, as in CalculiX
  /// Whether sums over the set are printed: not at all, in addition to the rows, or instead of them.
  enum class Totals { no, also, only } totals = Totals::no;  ///< whether sums are printed
  bool local = false;  ///< components in the node's axes (Job::node_axes) or in the element's orientation
  /// Of steps with several states: which of them are printed. The last one always is.
  int every = 1;              ///< every so many states
  bool every_given = false;   ///< whether somebody asked for `every`; explicit steps show only some states otherwise
  std::vector<double> times;  ///< at these times of the step instead, ascending; empty: by `every`
  std::string where;          ///< file and line of the request: "beam.inp:12"
};

/// Curves over time that a step of direct integration records: a table and a plot with one curve for each component of
/// each node or element, or for each sum (*OUTPUT, HISTORY; "histories").
struct HistoryRequest {
  std::string name;  ///< ends the names of its files: NAME_history_….csv; made unique where two are the same
  /// What is recorded: nodes or elements, the set, quantities (those of tables, A for accelerations and MISES), sums.
  /// `every` and `times` are not used.
  PrintRequest of;
  /// Columns that are kept, as tables name them: "ux", "fz", "sxx"; empty: all columns of the quantities.
  std::vector<std::string> columns;
  bool centroids = false;  ///< of elements: means over their points, weighted by volume, instead of every point
  StateOutput states;      ///< at which states; nothing chosen: at all that are recorded. `change` is not used
};

/// The physics of a step.
enum class Procedure {
  statics,           ///< linear statics
  steady_heat,       ///< steady-state heat conduction
  frequency,         ///< natural frequencies and modes
  modal_dynamic,     ///< response over time by mode superposition
  harmonic,          ///< response to harmonic loads by mode superposition
  spectrum,          ///< peaks under a response spectrum
  dynamic,           ///< response over time by direct integration
  transient_heat,    ///< heat conduction over time
  thermal_stress,    ///< static states under the temperatures of a step of transient heat
  nonlinear_statics  ///< statics in increments; JobStep::modal is a DynamicStep
};
/// "linear statics", "steady heat", "natural modes" …, for tables and messages.
std::string to_string(Procedure procedure);
/// Whether steps of this procedure are made of modes: all but statics, heat and direct integration.
bool uses_modes(Procedure procedure);
/// Whether steps of this procedure have several states (modes, times, frequencies): all but statics and steady heat.
bool has_states(Procedure procedure);
/// Whether the states of such steps are times, and no modes are used: dynamics, transient heat, thermal stress.
bool is_integrated(Procedure procedure);
/// Whether the unknowns of such steps are temperatures: heat, steady or transient.
bool is_heat(Procedure procedure);

/// One step: the loads and supports at its end. Steps of linear statics and steady-state heat conduction depend on
/// nothing else, so they are independent of each other. Steps of mode superposition use the modes of an earlier step.
struct JobStep {
  std::string name;                          ///< "step 1", or the name given in the input file
  std::string title;                         ///< a line of text from the input file; may be empty
  Procedure procedure = Procedure::statics;  ///< the physics of the step
  std::string procedure_name;                ///< an entry of procedures(); empty for the default of `procedure`
  std::size_t domain = 0;                    ///< index of its model in Job::domains
  std::string load_case;                     ///< a load case of that domain; empty for a step without loads
  double load_factor = 1;                    ///< multiplies the load case
  double total_time = 1;                     ///< total time at the end of the step, for the headings of tables
  std::string where;                         ///< file and line of the step: "beam.inp:40"
  /// Supports at the end of the step. Steps with the same supports share one object: their systems have the same matrix
  /// and are solved together. Null for the supports of the domain itself.
  std::shared_ptr<const Supports> supports;
  /// Index of a heat step whose temperatures, at its end, load this step, if any.
  std::optional<std::size_t> heated_by;
  std::vector<PrintRequest> prints;       ///< requested tables
  std::vector<HistoryRequest> histories;  ///< requested curves, of steps of dynamics and of transient heat
  /// What a step of modes, mode superposition or direct integration asks for; std::monostate for statics and heat.
  ModalRequest modal;
  RestartWrite restart = RestartWrite::none;  ///< whether the state at its end is written to a restart file
};

/// Local axes of nodes (*TRANSFORM), for supports, loads and printed vectors.
struct NodeAxes {
  std::vector<Orientation> systems;     ///< all local systems
  std::vector<std::int32_t> system_of;  ///< per node: index in `systems`, or −1 for global; empty if all are global
};

/// The deck's names of nodes and elements whose numbers repeat among the instances of an assembly. Such nodes and
/// elements are renumbered by adding an offset for each instance.
struct InstanceNumbers {
  /// Numbers above `shift`, up to the next range, are those of an instance (or of the assembly itself) plus `shift`.
  struct Range {
    Id shift = 0;          ///< offset that was added to the deck's numbers
    std::string instance;  ///< name of the instance or of the assembly
  };
  std::vector<Range> nodes,  ///< ranges of node numbers by increasing offset; empty if nothing was renumbered
      elements;              ///< ranges of element numbers by increasing offset; empty if nothing was renumbered

  bool empty() const { return nodes.empty() && elements.empty(); }  ///< true if nothing was renumbered
  /// The deck's name of a node: "BOLT-2.57", or "57" if nothing was renumbered.
  std::string node(Id id) const { return name(nodes, id); }
  /// The deck's name of an element: "BOLT-2.57", or "57" if nothing was renumbered.
  std::string element(Id id) const { return name(elements, id); }

 private:
  static std::string name(const std::vector<Range>& ranges, Id id);
};

/// How often dynamic and transient heat steps are saved, so that a run can be resumed. Zeros: never, or as the command
/// line specifies.
struct CheckpointRequest {
  double every_seconds = 0;  ///< after so many seconds of work
  int every_increments = 0;  ///< after so many increments
};

/// A model and the steps to be solved.
struct Job {
  std::string name;    ///< file name without folder and extension; result files are named after it
  std::string title;   ///< heading of the input file; may be empty
  std::string source;  ///< path of the input file
  /// The model; two models with the same nodes in the same order if a body is heated and then loaded.
  std::vector<std::unique_ptr<Domain>> domains;
  std::vector<JobStep> steps;  ///< in the order in which they are solved and reported
  NodeAxes node_axes;          ///< local axes of nodes
  std::vector<JobNote> notes;  ///< remarks of the reader
  /// Sorted indices of nodes whose ux, uy, uz are rotations, such as the rotation node of a rigid body. Their forces
  /// are moments.
  std::vector<std::int32_t> rotation_nodes;
  /// Index of the first node that the reader created itself, for example for the rotation of a rigid body. Such nodes
  /// are not reported. 0 if there are none.
  std::int32_t own_nodes = 0;
  InstanceNumbers instances;  ///< names of renumbered nodes and elements
  /// Whether this is a mesh without sections, whose elements have a placeholder material. It can be checked, not
  /// solved.
  bool mesh_only = false;
  /// Names of the units, if the input file gives them.
  Units units;
  std::vector<ProbePoint> points;  ///< points at which results are written, in every step whose model contains them
  std::vector<ProbePath> paths;    ///< lines along which results are written
  CheckpointRequest checkpoints;   ///< *RESTART, WRITE in a deck, "checkpoints" in a job file
  RestartDeck restart_deck;        ///< what restart files begin with
  /// What the job continues; null: it starts from the beginning. Steps before first_step() were solved then.
  std::shared_ptr<const RestartStart> restart;
  /// Index of the first step that is solved.
  std::size_t first_step() const { return restart ? restart->steps : 0; }
};

}  // namespace voussoir
