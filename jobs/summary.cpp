#include <voussoir/jobs/summary.hpp>

#include <algorithm>
#include <cmath>

#include <voussoir/jobs/detail/support_reactions.hpp>

namespace voussoir {
namespace {

void widen(Range& range, bool& first, double value, Id node) {
  if (std::isnan(value)) return;
  if (first || value < range.least.value) range.least = {value, node, {}};
  if (first || value > range.greatest.value) range.greatest = {value, node, {}};
  first = false;
}

/// The range of what `value(node)` gives; nothing where it is nowhere known. Threads take stretches of nodes, which are
/// joined in their order: of equal values the first one counts.
template <class Value>
void add_range(std::vector<Range>& ranges, const std::string& quantity, const Domain& domain, std::int32_t nodes,
               const Value& value) {
  constexpr std::int32_t stretch = 1 << 14;
  struct Part {
    Range range;
    bool empty = true;
  };
  std::vector<Part> parts(static_cast<std::size_t>((nodes + stretch - 1) / stretch));
#pragma omp parallel for schedule(static) if (parts.size() > 1)
  for (std::size_t p = 0; p < parts.size(); ++p) {
    const std::int32_t begin = static_cast<std::int32_t>(p) * stretch, end = std::min(nodes, begin + stretch);
    for (std::int32_t n = begin; n < end; ++n) widen(parts[p].range, parts[p].empty, value(n), domain.node_id(n));
  }
  Part all;
  for (const Part& part : parts) {
    if (part.empty) continue;
    if (all.empty || part.range.least.value < all.range.least.value) all.range.least = part.range.least;
    if (all.empty || part.range.greatest.value > all.range.greatest.value) all.range.greatest = part.range.greatest;
    all.empty = false;
  }
  if (all.empty) return;
  all.range.quantity = quantity;
  ranges.push_back(all.range);
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
  std::vector<Range> ranges;
  int moves = 0;  // components of displacement, which stand first
  for (int c = 0; c < field.width(); ++c) {
    const std::string& name = field.components[c];
    if (name == "ux" || name == "uy" || name == "uz") ++moves;
    add_range(ranges, name == "T" ? "temperature" : name, domain, nodes,
              [&](std::int32_t n) { return field.at(n, c); });
  }
  if (moves > 0)
    add_range(ranges, "displacement", domain, nodes, [&](std::int32_t n) {
      double sum = 0;
      for (int c = 0; c < moves; ++c) {
        const double u = field.at(n, c);
        if (!std::isnan(u)) sum = std::hypot(sum, u);
      }
      return std::isnan(field.at(n, 0)) ? field.at(n, 0) : sum;
    });
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

StepSummary summarize(const Job& job, std::size_t number, const StepResult& result) {
  const JobStep& step = job.steps.at(number);
  const Domain& domain = *job.domains[step.domain];
  StepSummary summary;
  summary.number = number + 1;
  summary.name = step.name;
  summary.title = step.title;
  summary.procedure = step.procedure;
  summary.time = step.total_time;
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
          reaction.sum[c] += value;
          prescribed = true;
        }
    if (prescribed) summary.set_reactions.push_back(std::move(reaction));
  }
  summary.supports = detail::support_reactions(job, domain, result);
  return summary;
}

}  // namespace voussoir
