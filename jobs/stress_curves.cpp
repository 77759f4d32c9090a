#include <voussoir/jobs/detail/stress_curves.hpp>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include <voussoir/backends/number_text.hpp>

namespace voussoir::detail {
LoadCase& new_stress_case(Domain& domain, std::string name) {
  const auto taken = [&] {
    return std::any_of(domain.load_cases().begin(), domain.load_cases().end(),
                       [&](const auto& c) { return c->name() == name; });
  };
  while (taken()) name += " again";
  return domain.add_load_case(name);
}

void fill_temperatures(const Domain& domain, std::vector<double>& temperatures) {
  for (std::size_t n = 0; n < temperatures.size(); ++n)
    if (std::isnan(temperatures[n])) temperatures[n] = domain.initial_temperature(static_cast<std::int32_t>(n));
}

void apply_supports_at(const JobStep& step, const ThermalStressStep& request, double time, Domain& domain) {
  if (!step.supports) return;
  voussoir::Supports supports = *step.supports;
  for (const MovedSupports& moved : request.moved) {
    const double factor = moved.displacement.at(time);
    std::set<std::pair<std::int32_t, std::string>> places;
    for (const MovedSupports::Place& place : moved.places) places.emplace(place.node, place.unknown);
    for (Prescribed& p : supports.values)
      if (places.contains({p.node, p.unknown})) p.value *= factor;
  }
  supports.apply(domain);
}

Step stress_step(const ThermalStressStep& request, double time, const std::string& heating) {
  Step step{"time " + short_number(request.start + time, 10), {}, 1.0};
  for (const StepLoad& load : request.loads) step.load_cases[load.load_case] += load.amplitude.at(time);
  step.load_cases[heating] = 1.0;
  return step;
}

StepState stress_state(StepResult found, double time, HeatedState heated) {
  StepState state;
  state.at = state.time = time;
  state.result = std::move(found);
  state.for_viewers = heated.for_viewers;
  state.prints = std::move(heated.prints);
  state.temperatures = std::move(heated.temperatures);
  return state;
}

StressCurves::StressCurves(const Job& job, const JobStep& step) : job_(job), step_(step), motion_(job, step) {
  local_ = curve_nodes_of(job, step);
  for (const std::int32_t n : local_) nodes_.push_back({n, job.domains[step.domain]->node_id(n)});
}

StressCurves::StressCurves(const Job& part, const JobStep& step, std::vector<CurveNode> nodes,
                           std::vector<std::int32_t> local)
    : job_(part), step_(step), motion_(part, step), nodes_(std::move(nodes)), local_(std::move(local)) {}

MotionDigest StressCurves::digest(const NodalField& u) {
  motion_.set(u);
  MotionDigest found = motion_.digest(local_);
  for (LargestValue& largest : found.largest)
    if (largest.place >= 0)
      largest.node = job_.domains[step_.domain]->node_id(static_cast<std::int32_t>(largest.place));
  return found;
}

template <class Visit>
void StressCurves::visit_curves(const MotionDigest& motion, const Visit& visit) const {
  const std::size_t width = motion.components.size();
  for (std::size_t i = 0; i < motion.at_curve_nodes.size(); ++i)
    if (motion.components[i % width][0] == 'u' && !std::isnan(motion.at_curve_nodes[i]))
      visit(i / width, motion.components[i % width], motion.at_curve_nodes[i]);
}

void StressCurves::take(const MotionDigest& motion, double time) {
  if (response_.axis.empty()) begin(motion);
  response_.axis.push_back(time);
  for (std::size_t c = 0; c < peaks_.size(); ++c)
    if (const LargestValue& largest = motion.largest[c];
        largest.place >= 0 && (peaks_[c].place.empty() || std::abs(largest.value) > std::abs(peaks_[c].value)))
      peaks_[c] = {motion.components[c], largest.value, time, name_of(largest.node)};
  response_.histories.front().second.push_back(motion.magnitude);
  std::size_t at = 1;
  visit_curves(motion, [&](std::size_t, const std::string&, double value) {
    response_.histories[at++].second.push_back(value);
  });
}

StepResponse StressCurves::finish(std::size_t states) {
  for (const ResponsePeak& peak : peaks_)
    if (!peak.place.empty()) response_.peaks.push_back(peak);
  response_.statement = "static states at " + std::to_string(states) + (states == 1 ? " time" : " times") +
                        " of step '" + job_.steps[*step_.heated_by].name + "', with its temperatures";
  return std::move(response_);
}

void StressCurves::begin(const MotionDigest& motion) {
  peaks_.resize(motion.components.size());
  response_.histories.emplace_back("largest displacement", std::vector<double>());
  visit_curves(motion, [&](std::size_t node, const std::string& component, double) {
    response_.histories.emplace_back(name_of(nodes_[node].node) + " " + component, std::vector<double>());
  });
}

}  // namespace voussoir::detail
