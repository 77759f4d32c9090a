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
#include <voussoir/framework/io/units.hpp>

// What a file asks for. Decks and job files are read into a Job; the room jobs/ solves it and writes what was asked.

namespace voussoir {

/// Something that the reader of a file wants its author to know, though it does not change the answer.
struct JobNote {
  std::string where;  ///< "beam.inp:12"
  std::string text;
};

/// Everything that is held at the end of a step.
struct Supports {
  std::vector<Prescribed> values;
  std::vector<ObliqueSupport> oblique;
  /// Unknowns that are held where the step before left them.
  struct Kept {
    std::int32_t node;
    std::string unknown;                   ///< empty: the displacement along `direction`
    std::array<double, 3> direction = {};  ///< of length 1
  };
  std::vector<Kept> kept;

  /// Gives all of this to a domain, in place of what it held before. `previous` has the unknowns that the step before
  /// ended with; without one, what is to be kept is held at zero.
  void apply(Domain& domain, const NodalField* previous = nullptr) const;
};

/// A table that a step asks for, in the words of a deck.
struct PrintRequest {
  enum class At { nodes, elements } at = At::nodes;
  std::string set;                      ///< of nodes or of elements; empty: all of them
  std::vector<std::string> quantities;  ///< U RF NT RFL; S E HFL ENER EVOL SF …, as in CalculiX
  enum class Totals { no, also, only } totals = Totals::no;
  bool local = false;  ///< in the axes of the node (see Job::node_axes) or of the element's orientation
  std::string where;   ///< "beam.inp:12"
};

enum class Procedure { statics, steady_heat };
std::string to_string(Procedure procedure);

/// One step: what acts on the model at its end. Steps of linear statics and steady heat depend on nothing but this, so
/// each stands for itself.
struct JobStep {
  std::string name;   ///< "step 1", or as the author calls it
  std::string title;  ///< a line of words, may be empty
  Procedure procedure = Procedure::statics;
  std::size_t domain = 0;  ///< of Job::domains
  std::string load_case;   ///< of that domain; empty: nothing acts but the supports
  double load_factor = 1;  ///< of the load case
  double total_time = 1;   ///< at the end of the step, for the headings of tables
  std::string where;       ///< "beam.inp:40"
  /// Steps that hold the same things share one object: their systems have one matrix and are solved together. Null: the
  /// step holds what its domain holds already.
  std::shared_ptr<const Supports> supports;
  /// A step of steady heat whose temperatures act on this one.
  std::optional<std::size_t> heated_by;
  std::vector<PrintRequest> prints;
};

/// Axes of nodes whose supports, loads and printed vectors are not global (*TRANSFORM).
struct NodeAxes {
  std::vector<Orientation> systems;
  std::vector<std::int32_t> system_of;  ///< of each node, −1: global; empty: all global
};

/// How the author of a deck calls nodes and elements whose numbers repeat among the instances of an assembly: they are
/// numbered anew, and keep their names.
struct InstanceNumbers {
  /// Numbers above `shift`, up to the next range, are those of an instance (or of the assembly itself) plus `shift`.
  struct Range {
    Id shift = 0;
    std::string instance;
  };
  std::vector<Range> nodes, elements;  ///< by rising shift; empty: numbers are the author's own

  bool empty() const { return nodes.empty() && elements.empty(); }
  /// "BOLT-2.57", or "57" where nothing was renumbered.
  std::string node(Id id) const { return name(nodes, id); }
  std::string element(Id id) const { return name(elements, id); }

 private:
  static std::string name(const std::vector<Range>& ranges, Id id);
};

/// A model and what is asked of it.
struct Job {
  std::string name;    ///< of the file, without folder and ending: results are called after it
  std::string title;   ///< what its author calls it
  std::string source;  ///< the file
  /// The model; a second one where a body is heated and then loaded, with the same nodes in the same order.
  std::vector<std::unique_ptr<Domain>> domains;
  std::vector<JobStep> steps;
  NodeAxes node_axes;
  std::vector<JobNote> notes;
  /// Nodes (sorted) whose unknowns ux, uy, uz are a rotation, as those of a rigid body: their forces are moments.
  std::vector<std::int32_t> rotation_nodes;
  /// Nodes that the reader made for itself (e.g. for the rotation of a rigid body), not to be reported: indices ≥ this.
  /// 0: there are none.
  std::int32_t own_nodes = 0;
  InstanceNumbers instances;
  /// A mesh without sections, whose elements have a material that stands in for one: it can be looked at, not solved.
  bool mesh_only = false;
  /// Labels for numbers, where the author gives them.
  Units units;
  /// Where results are wanted besides tables: in every step whose model has the place.
  std::vector<ProbePoint> points;
  std::vector<ProbePath> paths;
};

}  // namespace voussoir
