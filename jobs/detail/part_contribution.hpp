#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <voussoir/jobs/detail/print_tables.hpp>
#include <voussoir/jobs/summary.hpp>
#include <voussoir/partition/process/process_part.hpp>
#include <voussoir/partition/process/processes.hpp>

// What a part contributes to the summary and the tables of a step, and how contributions are merged. Their size grows
// with the number of supported nodes and of requested rows, not with the model.

namespace voussoir::detail {

/// A range with the place of its extremes in the whole model: of equal values the first one counts.
struct PlacedRange {
  Range range;
  std::int64_t least_at = 0, greatest_at = 0;  ///< indices in the whole job
};

/// A supported node, or one whose rotation is supported.
struct SupportedNode {
  std::int64_t whole = 0;  ///< index in the whole job
  Id id = 0;
  std::array<double, 3> position{};
  std::vector<double> reactions;   ///< per unknown of the whole model; NaN where it is not prescribed
  bool is_own = true;              ///< false for auxiliary nodes of the deck reader
  std::int64_t rotates = -1;       ///< of a rotation node: the whole index of its reference node
  bool is_hidden = false;          ///< of a rotation node: RotationNode::hidden
  bool is_moment = false;          ///< whether it is one of Job::rotation_nodes
  std::vector<std::int32_t> sets;  ///< indices into PartContribution::sets
};

/// A node set, and how many of its nodes this part owns.
struct OwnedSet {
  std::string name;
  std::int64_t nodes = 0;
};

/// What one part contributes to a step.
struct PartContribution {
  std::vector<PlacedRange> ranges;
  std::vector<OwnedSet> sets;
  std::vector<SupportedNode> supported;
  std::vector<PrintTable> tables;
  std::vector<std::string> notes;
};

/// Gives a field all unknowns of the whole model; those that the part lacks are NaN.
void give_all_unknowns(NodalField& field, const std::vector<std::string>& names, const std::string& name,
                       std::int32_t nodes);
/// Takes values that are NaN here from parts that share the node and have them; all fields have the same components.
/// Collective.
void complete_shared_nodes(Processes& processes, const ProcessPart& part, const std::vector<NodalField*>& fields);
/// Takes the moments at rotation nodes off the sums of forces, as take_moments_off() does for a whole model.
/// Collective.
void take_moments_off_parts(Processes& processes, const ProcessPart& part, StepResult& result);

/// Adds ranges of nodal values of a part.
void add_ranges(const ProcessPart& part, const Domain& domain, const std::vector<Range>& ranges,
                std::vector<PlacedRange>& to);
/// The supported nodes of a part and the sets that they are in.
void add_supports(const ProcessPart& part, const Domain& domain, const StepResult& result, PartContribution& to);
/// The rows of tables that a part has, as far as they are selected. A set without members here gives none.
void add_tables(const ProcessPart& part, std::size_t step, const StepResult& result,
                const std::vector<double>& temperatures, PartContribution& to, PrintSelection selection = {});

std::string pack_contribution(const PartContribution& contribution);
PartContribution unpack_contribution(const std::string& bytes);

/// Merges the contributions of all parts to a step.
class ContributionMerger {
 public:
  void add(PartContribution contribution);
  /// The summary: sums, energy and report are those of `own`, which all parts know. `job` is that of any part.
  StepSummary summary(const Job& job, std::size_t step, const StepResult& own) const;
  /// The tables, with rows by ascending numbers of nodes or elements.
  std::vector<PrintTable> take_tables();
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  void add_table(PrintTable table);
  void add_note(const std::string& note);

  std::vector<PlacedRange> ranges_;
  std::vector<OwnedSet> sets_;
  std::map<std::string, std::int32_t> set_numbers_;  // their indices
  std::vector<SupportedNode> supported_;  // with indices into sets_; several entries for nodes that parts share
  std::vector<PrintTable> tables_;
  std::vector<std::string> notes_;
};

/// Merges the contributions of all parts on process 0; an empty merger on the others. Collective.
ContributionMerger merge_contributions(Processes& processes, const PartContribution& own);

}  // namespace voussoir::detail
