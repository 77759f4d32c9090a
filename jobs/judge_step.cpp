#include <voussoir/jobs/detail/judge_step.hpp>

#include <algorithm>

#include <voussoir/framework/analysis/peak_cause.hpp>

namespace voussoir::detail {
namespace {

constexpr std::size_t worst_elements = 5;

const char* words_for(PeakCause cause) {
  switch (cause) {
    case PeakCause::re_entrant_corner:
      return "a re-entrant corner";
    case PeakCause::point_load:
      return "a load on a point or line";
    case PeakCause::point_support:
      return "a support on a point or line";
    case PeakCause::support_edge:
      return "the edge of a support";
    case PeakCause::none:
      break;
  }
  return "";
}

}  // namespace

std::vector<std::int32_t> loaded_nodes(const JobStep& step, const LoadCase* loads) {
  std::vector<std::int32_t> loaded;
  if (loads && step.load_factor != 0)
    for (const auto& load : loads->nodal_loads())
      if (load.value != 0) loaded.push_back(load.node);
  std::sort(loaded.begin(), loaded.end());
  return loaded;
}

void judge_step(const Job& job, const JobStep& step, const StepResult& result, const ErrorEstimate& estimate,
                const std::vector<std::int32_t>& loaded, StepSummary& summary) {
  const Domain& domain = *job.domains[step.domain];
  summary.error = {estimate.quantity, estimate.error, estimate.solution, estimate.percent(), {}};
  for (const auto& entry : estimate.worst(domain, worst_elements)) {
    const Id id = domain.block(entry.element.block).id(entry.element.element);
    summary.error.worst.push_back({id, job.instances.element(id), entry.error, entry.percent});
  }
  const bool stress = estimate.quantity == "stress";
  const Range* peak = summary.range(stress ? "mises" : "flux");
  if (estimate.quantity.empty() || !peak) return;

  const Id node = peak->greatest.node;
  const StressPeak found = find_peak_cause(domain, result, estimate, domain.node_index(node), loaded);
  if (found.cause == PeakCause::none) return;
  const Id place = domain.node_id(found.node);
  std::string text = std::string("the largest ") + (stress ? "stress" : "heat flux");
  if (place != node) text += " (node " + job.instances.node(node) + ")";
  text += std::string(place == node ? " is at " : " is next to ") + words_for(found.cause) + " (node " +
          job.instances.node(place) + "): it grows with refinement; do not use it as a " +
          (stress ? "strength value" : "limit of the flux");
  summary.hints.push_back(std::move(text));
}

}  // namespace voussoir::detail
