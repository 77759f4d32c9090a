#pragma once
#include <string>
#include <vector>

#include <voussoir/framework/analysis/results.hpp>
#include <voussoir/framework/io/job/job.hpp>
#include <voussoir/partition/process/process_part.hpp>
#include <voussoir/partition/process/processes.hpp>

namespace voussoir::detail {

/// The nodes and elements of a part in the numbering of the whole job.
struct PartPlaces {
  std::vector<std::int64_t> nodes;                               ///< per local node
  std::vector<std::vector<std::vector<std::int64_t>>> elements;  ///< per domain, block and local element
};

/// The places of all parts, in the order of the processes, on process 0; nothing on the others. Collective.
std::vector<PartPlaces> collect_places(Processes& processes, const ProcessPart& part);

/// The fields of a part's result as bytes. What all processes know, such as sums and the report, is left out.
std::string pack_fields(const StepResult& result);

/// Puts the results of parts together to that of the whole model. Parts agree on the nodes that they share.
class StepMerger {
 public:
  /// For a step of a domain with these unknowns, whose sums and report are those of `own`.
  StepMerger(const Domain& whole, std::size_t domain, const std::vector<std::string>& unknowns, const StepResult& own);
  /// Adds the fields of a part.
  void add(const PartPlaces& places, const std::string& bytes);
  StepResult take() { return std::move(merged_); }

 private:
  void put(const PartPlaces& places, const NodalField& from, NodalField& to) const;

  const Domain& whole_;
  std::size_t domain_;
  StepResult merged_;
};

/// Merges the results of all parts on process 0, where `whole` is the whole job and `places` are those of all parts; an
/// empty result on the others. Collective.
StepResult gather_step(Processes& processes, const ProcessPart& part, const std::vector<PartPlaces>& places,
                       const Job* whole, std::size_t domain, const StepResult& own);

/// Moments of nodes whose unknowns are a rotation do not belong in sums of forces.
void take_moments_off(const Job& job, StepResult& result);

}  // namespace voussoir::detail
