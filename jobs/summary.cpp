#include <voussoir/jobs/summary.hpp>

#include <algorithm>
#include <cmath>

#include <voussoir/jobs/detail/support_reactions.hpp>

namespace voussoir {
namespace {

/// The least and the greatest of some values, and the nodes that have them; of equal values the first one counts.
struct Extent {
  double least = 0, greatest = 0;
  std::int32_t least_at = -1, greatest_at = -1;

  bool empty() const { return least_at < 0; }
  void add(double value, std::int32_t node) {
    if (std::isnan(value)) return;
    if (empty() || value < least) least = value, least_at = node;
    if (greatest_at < 0 || value > greatest) greatest = value, greatest_at = node;
  }
  void add(const Extent& later) {
    if (later.empty()) return;
    add(later.least, later.least_at);
    add(later.greatest, later.greatest_at);
  }
};

/// The extents of `quantities` values of each node, which take(node, extents) adds to them. Threads take stretches of
/// nodes, which are joined in their order.
template <class Take>
std::vector<Extent> extents_of(std::size_t quantities, std::int32_t nodes, const Take& take) {
  constexpr std::int32_t stretch = 1 << 14;
  std::vector<std::vector<Extent>> parts(static_cast<std::size_t>((nodes + stretch - 1) / stretch),
                                         std::vector<Extent>(quantities));
#pragma omp parallel for schedule(static) if (parts.size() > 1)
  for (std::size_t p = 0; p < parts.size(); ++p) {
    const std::int32_t begin = static_cast<std::int32_t>(p) * stretch, end = std::min(nodes, begin + stretch);
    for (std::int32_t n = begin; n < end; ++n) take(n, parts[p].data());
  }
  std::vector<Extent> all(quantities);
  for (const auto& part : parts)
    for (std::size_t q = 0; q < quantities; ++q) all[q].add(part[q]);
  return all;
}

/// The length of a node's displacement, whose components stand first; NaN where the first one is.
double length_of(const double* components, int count) {
  double sum = 0;
  for (int c = 0; c < count; ++c)
    if (!std::isnan(components[c])) sum = std::hypot(sum, components[c]);
  return std::isnan(components[0]) ? components[0] : sum;
}

}  // namespace

const Range* StepSummary::range(std::string_view quantity) const {
  const auto it = std::find_if(ranges.begin(), ranges.end(), [&](const Range& r) { return r.quantity == quantity; });
  return it == ranges.end() ? nullptr : &*it;
}

std::int32_t reported_nodes(const Job& job, const Domain& domain) {
  return job.own_nodes > 0 ? std::min(job.own_nodes, domain.node_count()) : domain.node_count();
}

std::vector<Range> ranges_of(const Domain& domain, const NodalField& field, std::int32_t nodes) {
  std::vector<std::string> quantities;
  int moves = 0;  // components of displacement, which stand first
  for (const std::string& name : field.components) {
    if (name == "ux" || name == "uy" || name == "uz") ++moves;
    quantities.push_back(name == "T" ? "temperature" : name);
  }
  if (moves > 0) quantities.push_back("displacement");
  const std::size_t width = field.components.size();
  const auto extents = extents_of(quantities.size(), nodes, [&](std::int32_t n, Extent* extent) {
    if (moves > 0 && domain.rotation_node(n)) return;  // its ux, uy, uz are rotations
    const double* const record = field.values.data() + static_cast<std::size_t>(n) * width;
    for (std::size_t c = 0; c < width; ++c) extent[c].add(record[c], n);
    if (moves > 0) extent[width].add(length_of(record, moves), n);
  });
  std::vector<Range> ranges;
  for (std::size_t q = 0; q < extents.size(); ++q) {
    const Extent& extent = extents[q];
    if (extent.empty()) continue;
    Range range;
    range.quantity = quantities[q];
    range.least = {extent.least, domain.node_id(extent.least_at), {}};
    range.greatest = {extent.greatest, domain.node_id(extent.greatest_at), {}};
    ranges.push_back(std::move(range));
  }
  return ranges;
}

void join_ranges(std::vector<Range>& all, const std::vector<Range>& more) {
  for (const Range& range : more) {
    const auto same =
        std::find_if(all.begin(), all.end(), [&](const Range& r) { return r.quantity == range.quantity; });
    if (same == all.end()) {
      all.push_back(range);
      continue;
    }
    if (range.least.value < same->least.value) same->least = range.least;
    if (range.greatest.value > same->greatest.value) same->greatest = range.greatest;
  }
}

void name_nodes(std::vector<Range>& ranges, const InstanceNumbers& instances) {
  if (instances.empty()) return;
  for (Range& range : ranges)
    for (Extreme* extreme : {&range.least, &range.greatest}) extreme->name = instances.node(extreme->node);
}

namespace {

StepSummary begin_summary(const Job& job, std::size_t number) {
  const JobStep& step = job.steps.at(number);
  StepSummary summary;
  summary.number = number + 1;
  summary.name = step.name;
  summary.title = step.title;
  summary.procedure = step.procedure;
  summary.time = step.total_time;
  return summary;
}

}  // namespace

StepSummary summarize(const Job& job, std::size_t number, const ModeSet* modes, const StepResponse& response) {
  StepSummary summary = begin_summary(job, number);
  if (modes) {
    auto numbers = std::make_shared<ModeSet>(*modes);
    for (NodalField& shape : numbers->shapes) shape = {};  // as long as the model
    summary.modes = std::move(numbers);
    summary.report.solver = modes->report.solver;
    summary.report.choice = modes->report.choice;
    summary.report.converged = modes->report.converged;
    summary.report.iterations = modes->report.iterations;
    summary.report.reason = modes->report.statement;
    summary.report.true_residual = 0;
    for (const EigenMode& mode : modes->report.modes)
      summary.report.true_residual = std::max(summary.report.true_residual, mode.residual);
  }
  summary.statement = response.statement;
  summary.peaks = response.peaks;
  summary.totals = response.totals;
  summary.counts = response.counts;
  return summary;
}

StepSummary summarize(const Job& job, std::size_t number, const StepResult& result) {
  const JobStep& step = job.steps.at(number);
  const Domain& domain = *job.domains[step.domain];
  StepSummary summary = begin_summary(job, number);
  summary.ranges = ranges_of(domain, result.unknowns, reported_nodes(job, domain));
  summary.unknowns = result.unknowns.components;
  summary.load_sum = result.load_sum;
  summary.reaction_sum = result.reaction_sum;
  summary.energy = result.energy;
  summary.report = result.report;
  summary.report.free_motions.clear();  // as long as the model, and not of a system that was solved
  const int width = result.reactions.width();
  for (const std::string& name : domain.node_set_names()) {
    SetReaction reaction{name, std::vector<double>(width, 0.0)};
    bool prescribed = false;
    for (const std::int32_t n : domain.node_set(name))
      for (int c = 0; c < width; ++c)
        if (const double value = result.reactions.at(n, c); !std::isnan(value)) {
          // Moments at a rotation node are not forces.
          if (result.reactions.components[static_cast<std::size_t>(c)][0] != 'u' || !domain.rotation_node(n))
            reaction.sum[c] += value;
          prescribed = true;
        }
    if (prescribed) summary.set_reactions.push_back(std::move(reaction));
  }
  summary.supports = detail::support_reactions(job, domain, result);
  return summary;
}

}  // namespace voussoir
