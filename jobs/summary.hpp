#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <voussoir/framework/analysis/results.hpp>
#include <voussoir/framework/io/job/job.hpp>
#include <voussoir/jobs/step_receiver.hpp>

// A step in a few numbers, for the table on the screen and for results.json.

namespace voussoir {

/// The smallest or largest value of a quantity, and its node.
struct Extreme {
  double value = 0;       ///< in the units of the job
  Id node = 0;            ///< in the user's numbering
  std::string name = {};  ///< the deck's name of the node, "BOLT-2.57", if instances were renumbered; else empty
};

/// The least and the greatest value of a quantity over all nodes that have it.
struct Range {
  std::string quantity;  ///< "ux", "displacement" (the magnitude), "mises", "temperature", "flux" …
  Extreme least;         ///< smallest value; the first node that has it
  Extreme greatest;      ///< largest value; the first node that has it
};

/// The resultant force (heat flow) of the supports in one node set.
struct SetReaction {
  std::string node_set;     ///< name of the set
  std::vector<double> sum;  ///< one sum per entry of StepSummary::unknowns
};

/// The resultant force and moment of the supports of a group of nodes.
struct SupportReaction {
  std::string name;                ///< of the node set; "node 17" or "other nodes" for supports that are in no set
  std::int64_t nodes = 0;          ///< number of restrained nodes
  std::array<double, 3> centre{};  ///< mean position of these nodes
  std::vector<double> sum;         ///< one sum per entry of StepSummary::unknowns: forces, and nodal moments
  /// Resultant moment about `centre` of the forces and the nodal moments. Empty for heat, and for axisymmetric models,
  /// whose radial forces have no resultant.
  std::vector<double> moment;
};

/// The estimated discretisation error of a step (estimate_error()).
struct ErrorSummary {
  std::string quantity;  ///< "stress" or "flux"; empty if the elements have no estimate
  double error = 0,      ///< energy norm of the error, ErrorEstimate::error
      solution = 0,      ///< energy norm of the solution, ErrorEstimate::solution
      percent = 0;       ///< relative error in percent, ErrorEstimate::percent()
  /// An element with a large error.
  struct Worst {
    Id element;        ///< the user's number of the element
    std::string name;  ///< the deck's name of the element: "57", "BOLT-2.57"
    double error,      ///< ErrorEstimate::Entry::error
        percent;       ///< ErrorEstimate::Entry::percent
  };
  std::vector<Worst> worst;  ///< elements with the largest errors, the largest first
};

/// Results at a point (ProbePoint), one set of values per material at an interface of materials.
struct PointResult {
  std::string name;                   ///< ProbePoint::name
  std::vector<std::string> names;     ///< names of the values
  std::vector<ProbeValues> sides;     ///< the values, one entry per material at the point
  std::vector<std::string> elements;  ///< for each entry of `sides` the deck's name of the element: "57", "BOLT-2.57"
};

/// A step in a few numbers.
struct StepSummary {
  std::size_t number = 0;                    ///< number of the step, from 1
  std::string name;                          ///< JobStep::name
  std::string title;                         ///< JobStep::title
  Procedure procedure = Procedure::statics;  ///< the physics of the step
  double time = 1;                           ///< total time at the end of the step
  std::vector<Range> ranges;                 ///< extremes of displacements, stresses, temperatures, fluxes
  std::vector<std::string> unknowns;         ///< the unknowns for which the sums below are given
  std::vector<double> load_sum;              ///< sum of the external loads, per unknown
  std::vector<double> reaction_sum;          ///< sum of the reactions of all supports, per unknown
  std::vector<SetReaction> set_reactions;    ///< reactions of the node sets with supports, in the order of their names
  /// Resultants of the node sets all of whose nodes are restrained, and of the remaining restrained nodes.
  std::vector<SupportReaction> supports;
  double energy = 0;                ///< energy stored in the elements
  ErrorSummary error;               ///< estimated discretisation error
  std::vector<std::string> hints;   ///< warnings about the accuracy of the results
  std::vector<PointResult> points;  ///< results at the points of the job, in the order of Job::points
  SolveReport report;               ///< report of the solver
  /// The modes of a frequency step without their shapes; null for other steps.
  std::shared_ptr<const ModeSet> modes;
  std::string statement;            ///< what the modes of a superposition leave out; empty for other steps
  std::vector<ResponsePeak> peaks;  ///< largest values of a step of mode superposition or of direct integration
  std::vector<std::pair<std::string, double>> totals;  ///< energies at the end of direct integration
  std::vector<std::pair<std::string, double>> counts;  ///< increments, matrices and iterations of direct integration

  /// The range of a quantity by name; null if the step does not have it.
  const Range* range(std::string_view quantity) const;
};

/// The summary of a step, without the ranges of quantities recovered in elements (stress, flux). These are computed by
/// ranges_of() from the nodal fields.
StepSummary summarize(const Job& job, std::size_t step, const StepResult& result);
/// The summary of a step of modes or of mode superposition; `modes` is null unless the step found them.
StepSummary summarize(const Job& job, std::size_t step, const ModeSet* modes, const StepResponse& response);

/// Minimum and maximum of a nodal field, component by component; nodes from index `nodes` on are ignored.
/// For displacements, the range of their magnitude is added, and nodes whose ux, uy, uz are rotations are ignored.
std::vector<Range> ranges_of(const Domain& domain, const NodalField& field, std::int32_t nodes);
/// Extends the ranges in `all` by those of the same quantity in `more`, and appends the others.
void join_ranges(std::vector<Range>& all, const std::vector<Range>& more);
/// Sets Extreme::name of all ranges if instances were renumbered.
void name_nodes(std::vector<Range>& ranges, const InstanceNumbers& instances);
/// The number of nodes that are reported: all except auxiliary nodes created by the deck reader, which come last.
std::int32_t reported_nodes(const Job& job, const Domain& domain);

}  // namespace voussoir
