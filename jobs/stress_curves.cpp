#include <voussoir/jobs/detail/stress_curves.hpp>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include <voussoir/backends/number_text.hpp>
#include <voussoir/jobs/summary.hpp>

namespace voussoir::detail {
namespace {

/// Curves of more nodes than this are left out of the history; tables have them.
constexpr std::size_t most_stress_curves = 20;

bool has_stress_curve(const NodalField& u, std::int32_t node, std::size_t c) {
  return u.components[c][0] == 'u' && !std::isnan(u.at(node, static_cast<int>(c)));
}

}  // namespace

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

StressCurves::StressCurves(const Job& job, const JobStep& step)
    : job_(job), step_(step), domain_(*job.domains[step.domain]) {
  std::set<std::int32_t> nodes;
  for (const PrintRequest& print : step.prints) {
    if (print.at != PrintRequest::At::nodes || print.set.empty()) continue;
    const auto set = domain_.node_set(print.set);
    if (nodes.size() + set.size() <= most_stress_curves) nodes.insert(set.begin(), set.end());
  }
  nodes_.assign(nodes.begin(), nodes.end());
  hidden_.assign(static_cast<std::size_t>(domain_.node_count()), 0);
  for (std::int32_t n = reported_nodes(job, domain_); n < domain_.node_count(); ++n)
    hidden_[static_cast<std::size_t>(n)] = 1;
  for (const std::int32_t n : job.rotation_nodes) hidden_[static_cast<std::size_t>(n)] = 1;
}

void StressCurves::take(const NodalField& u, double time) {
  if (response_.axis.empty()) begin(u);
  response_.axis.push_back(time);
  double largest = 0;
  const std::size_t width = u.components.size();
  for (std::size_t n = 0; n < hidden_.size(); ++n) {
    if (hidden_[n]) continue;
    double square = 0;
    for (std::size_t c = 0; c < width; ++c) {
      const double value = u.values[n * width + c];
      if (std::isnan(value)) continue;
      if (u.components[c][0] == 'u') square += value * value;
      if (places_[c] < 0 || std::abs(value) > std::abs(peaks_[c].value)) {
        peaks_[c] = {u.components[c], value, time, ""};
        places_[c] = static_cast<std::int32_t>(n);
      }
    }
    largest = std::max(largest, std::sqrt(square));
  }
  response_.histories.front().second.push_back(largest);
  std::size_t at = 1;
  for (const std::int32_t n : nodes_)
    for (std::size_t c = 0; c < width; ++c)
      if (has_stress_curve(u, n, c)) response_.histories[at++].second.push_back(u.at(n, static_cast<int>(c)));
}

StepResponse StressCurves::finish(std::size_t states) {
  for (std::size_t c = 0; c < peaks_.size(); ++c) {
    if (places_[c] < 0) continue;
    peaks_[c].place = name_of(places_[c]);
    response_.peaks.push_back(peaks_[c]);
  }
  response_.statement = "static states at " + std::to_string(states) + (states == 1 ? " time" : " times") +
                        " of step '" + job_.steps[*step_.heated_by].name + "', with its temperatures";
  return std::move(response_);
}

void StressCurves::begin(const NodalField& u) {
  peaks_.resize(u.components.size());
  places_.assign(u.components.size(), -1);
  response_.histories.emplace_back("largest displacement", std::vector<double>());
  for (const std::int32_t n : nodes_)
    for (std::size_t c = 0; c < u.components.size(); ++c)
      if (has_stress_curve(u, n, c))
        response_.histories.emplace_back(name_of(n) + " " + u.components[c], std::vector<double>());
}

}  // namespace voussoir::detail
