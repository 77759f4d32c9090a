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

// The contents of an input file. Decks and job files are read into a Job; the layer jobs/ solves it and writes the
// results.

namespace voussoir {

/// Something that the reader of a file wants its author to know, though it does not change the answer.
struct JobNote {
  std::string where;  ///< "beam.inp:12"
  std::string text;
};

/// All constraints at the end of a step.
struct Supports {
  std::vector<Prescribed> values;
  std::vector<ObliqueSupport> oblique;
  /// Unknowns that are fixed at their values at the end of the previous step.
  struct Kept {
    std::int32_t node;
    std::string unknown;                   ///< empty: the displacement along `direction`
    std::array<double, 3> direction = {};  ///< of length 1
  };
  std::vector<Kept> kept;

  /// Applies these constraints to a domain, replacing earlier ones. `previous` has the unknowns at the end of the
  /// previous step; without it, unknowns to be kept are fixed at zero.
  void apply(Domain& domain, const NodalField* previous = nullptr) const;
};

/// A table requested by a step, in the terms of a deck.
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
/// they are independent of each other.
struct JobStep {
  std::string name;                          ///< "step 1", or as the author calls it
  std::string title;                         ///< a line of text, may be empty
  Procedure procedure = Procedure::statics;  ///< the physics of the step
  std::string procedure_name;                ///< of a procedure registered by name; empty: the usual one
  std::size_t domain = 0;                    ///< of Job::domains
  std::string load_case;                     ///< of that domain; empty: nothing acts but the supports
  double load_factor = 1;                    ///< of the load case
  double total_time = 1;                     ///< at the end of the step, for the headings of tables
  std::string where;                         ///< "beam.inp:40"
  /// Steps with the same constraints share one object: their systems have one matrix and are solved together. Null: the
  /// step uses the constraints of its domain.
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
/// renumbered, and keep their names.
struct InstanceNumbers {
  /// Numbers above `shift`, up to the next range, are those of an instance (or of the assembly itself) plus `shift`.
  struct Range {
    Id shift = 0;
    std::string instance;
  };
  std::vector<Range> nodes, elements;  ///< by increasing offset; empty: numbers are those of the deck

  bool empty() const { return nodes.empty() && elements.empty(); }
  /// "BOLT-2.57", or "57" where nothing was renumbered.
  std::string node(Id id) const { return name(nodes, id); }
  std::string element(Id id) const { return name(elements, id); }

 private:
  static std::string name(const std::vector<Range>& ranges, Id id);
};

/// A model and the steps to be solved.
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
  /// A mesh without sections, whose elements have a placeholder material: it can be checked, not solved.
  bool mesh_only = false;
  /// Labels for numbers, where the author gives them.
  Units units;
  /// Points at which results are written, in every step whose model contains them.
  std::vector<ProbePoint> points;
  std::vector<ProbePath> paths;
};

}  // namespace voussoir
