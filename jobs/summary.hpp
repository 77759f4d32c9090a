#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <voussoir/framework/analysis/results.hpp>
#include <voussoir/framework/io/job/job.hpp>

// A step in a few numbers: what a table on a screen and results.json show of it.

namespace voussoir {

/// Where a quantity is smallest or largest.
struct Extreme {
  double value = 0;       ///< in the units of the job
  Id node = 0;            ///< in the user's numbering
  std::string name = {};  ///< "BOLT-2.57", where instances were renumbered; otherwise empty
};

/// The least and the greatest value of a quantity over all nodes that have it.
struct Range {
  std::string quantity;  ///< "ux", "displacement" (its length), "mises", "temperature", "flux" …
  Extreme least;         ///< of equal values the first node counts
  Extreme greatest;      ///< likewise
};

/// The force (heat flow) of the supports in one node set.
struct SetReaction {
  std::string node_set;     ///< its name
  std::vector<double> sum;  ///< per unknown
};

/// What the supports of some nodes exert together.
struct SupportReaction {
  std::string name;                ///< of the node set; "node 17" or "other nodes" for supports that no set has
  std::int64_t nodes = 0;          ///< that are restrained
  std::array<double, 3> centre{};  ///< the mean of their positions
  std::vector<double> sum;         ///< per unknown: forces, and moments of single nodes
  /// About `centre`: of the forces, and those of single nodes. Empty where there are no forces that could have arms: in
  /// heat, and in axisymmetric models, whose radial forces point everywhere around the ring.
  std::vector<double> moment;
};

/// How far the solution is from the exact one (estimate_error()).
struct ErrorSummary {
  std::string quantity;                         ///< "stress" or "flux"; empty where the elements have no estimate
  double error = 0, solution = 0, percent = 0;  ///< as in ErrorEstimate
  /// An element with a large error.
  struct Worst {
    Id element;             ///< the user's number
    std::string name;       ///< as its author calls it: "57", "BOLT-2.57"
    double error, percent;  ///< as in ErrorEstimate::Entry
  };
  std::vector<Worst> worst;  ///< the largest first
};

/// Results at a point (ProbePoint), on each side of a border of materials.
struct PointResult {
  std::string name;                   ///< of the point
  std::vector<std::string> names;     ///< of the values
  std::vector<ProbeValues> sides;     ///< one per material at the place
  std::vector<std::string> elements;  ///< of each side: the element as its author calls it ("57", "BOLT-2.57")
};

/// A step in a few numbers.
struct StepSummary {
  std::size_t number = 0;                    ///< from 1
  std::string name;                          ///< of the step
  std::string title;                         ///< that the user gave it
  Procedure procedure = Procedure::statics;  ///< of the step
  double time = 1;                           ///< total time at its end
  std::vector<Range> ranges;                 ///< of displacements, stresses, temperatures, fluxes
  std::vector<std::string> unknowns;         ///< what the sums below are given for
  std::vector<double> load_sum;              ///< external loads, per unknown
  std::vector<double> reaction_sum;          ///< of all supports, per unknown
  std::vector<SetReaction> set_reactions;    ///< of the node sets that have a support, in the order of their names
  std::vector<SupportReaction>
      supports;                     ///< node sets all of whose nodes are restrained, and the remaining restrained nodes
  double energy = 0;                ///< stored in the elements
  ErrorSummary error;               ///< of the step
  std::vector<std::string> hints;   ///< warnings about the accuracy of the results
  std::vector<PointResult> points;  ///< in the order of Job::points
  SolveReport report;               ///< of the solver

  /// Null where the step has no such quantity.
  const Range* range(std::string_view quantity) const;
};

/// Everything of a summary but the ranges of what is recovered in elements (stress, flux), which are found by
/// ranges_of() on the nodal fields that are made of it.
StepSummary summarize(const Job& job, std::size_t step, const StepResult& result);

/// Minimum and maximum of a nodal field, component by component; nodes from index `nodes` on are ignored.
/// For displacements, the range of their magnitude is added.
std::vector<Range> ranges_of(const Domain& domain, const NodalField& field, std::int32_t nodes);
/// Widens the ranges of `all` by those of the same quantity in `more`, and appends the others.
void join_ranges(std::vector<Range>& all, const std::vector<Range>& more);
/// Gives nodes their names, where instances were renumbered.
void name_nodes(std::vector<Range>& ranges, const InstanceNumbers& instances);
/// Nodes that are reported: all except auxiliary nodes created by the deck reader.
std::int32_t reported_nodes(const Job& job, const Domain& domain);

}  // namespace voussoir
