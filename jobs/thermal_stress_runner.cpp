#include <voussoir/jobs/detail/thermal_stress_runner.hpp>

#include <algorithm>
#include <cmath>
#include <set>

#include <voussoir/backends/number_text.hpp>
#include <voussoir/framework/analysis/step.hpp>
#include <voussoir/framework/analysis/stopwatch.hpp>
#include <voussoir/jobs/summary.hpp>

namespace voussoir::detail {
namespace {

/// States that are solved with one matrix. Each of them has a load case with a number for every node.
constexpr std::size_t most_stress_states = 16;
/// Curves of more nodes than this are left out of the history; tables have them.
constexpr std::size_t most_stress_curves = 20;

/// A load case that the domain does not have yet.
LoadCase& new_stress_case(Domain& domain, std::string name) {
  const auto taken = [&] {
    return std::any_of(domain.load_cases().begin(), domain.load_cases().end(),
                       [&](const auto& c) { return c->name() == name; });
  };
  while (taken()) name += " again";
  return domain.add_load_case(name);
}

/// Applies the supports of a step at one of its times.
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

}  // namespace

/// Peaks and histories over the states of a step.
class ThermalStressRunner::Curves {
 public:
  Curves(const Job& job, const JobStep& step) : job_(job), domain_(*job.domains[step.domain]) {
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

  void take(const NodalField& u, double time) {
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
        if (has_curve(u, n, c)) response_.histories[at++].second.push_back(u.at(n, static_cast<int>(c)));
  }

  StepResponse finish(std::string statement) {
    for (std::size_t c = 0; c < peaks_.size(); ++c) {
      if (places_[c] < 0) continue;
      peaks_[c].place = name_of(places_[c]);
      response_.peaks.push_back(peaks_[c]);
    }
    response_.statement = std::move(statement);
    return std::move(response_);
  }

 private:
  std::string name_of(std::int32_t node) const { return "node " + job_.instances.node(domain_.node_id(node)); }
  static bool has_curve(const NodalField& u, std::int32_t node, std::size_t c) {
    return u.components[c][0] == 'u' && !std::isnan(u.at(node, static_cast<int>(c)));
  }
  void begin(const NodalField& u) {
    peaks_.resize(u.components.size());
    places_.assign(u.components.size(), -1);
    response_.histories.emplace_back("largest displacement", std::vector<double>());
    for (const std::int32_t n : nodes_)
      for (std::size_t c = 0; c < u.components.size(); ++c)
        if (has_curve(u, n, c))
          response_.histories.emplace_back(name_of(n) + " " + u.components[c], std::vector<double>());
  }

  const Job& job_;
  const Domain& domain_;
  StepResponse response_;
  std::vector<std::int32_t> nodes_;
  std::vector<char> hidden_;  // nodes that are not reported
  std::vector<ResponsePeak> peaks_;
  std::vector<std::int32_t> places_;
};

void ThermalStressRunner::run(std::size_t step, std::vector<HeatedState> states) {
  const JobStep& asked = job_.steps[step];
  const auto& request = std::get<ThermalStressStep>(asked.modal);
  Domain& domain = *job_.domains[asked.domain];
  for (HeatedState& state : states)
    for (std::size_t n = 0; n < state.temperatures.size(); ++n)
      if (std::isnan(state.temperatures[n]))
        state.temperatures[n] = domain.initial_temperature(static_cast<std::int32_t>(n));
  Curves curves(job_, asked);
  heating_.clear();
  // States whose supports are the same have one matrix.
  const std::size_t together = request.moved.empty() ? most_stress_states : 1;
  for (std::size_t k = 0; k < std::min(together, states.size()); ++k)
    heating_.push_back(&new_stress_case(domain, "temperatures " + std::to_string(k + 1) + " in '" + asked.name + "'"));
  const Stopwatch watch;
  seconds_left_ = -1;
  for (std::size_t first = 0; first < states.size(); first += together) {
    const std::size_t last = std::min(first + together, states.size());
    solve(step, states, first, last, curves);
    seconds_left_ = watch.seconds() / static_cast<double>(last) * static_cast<double>(states.size() - last);
  }
  receiver_.end(step, curves.finish("static states at " + std::to_string(states.size()) +
                                    (states.size() == 1 ? " time" : " times") + " of step '" +
                                    job_.steps[*asked.heated_by].name + "', with its temperatures"));
}

void ThermalStressRunner::solve(std::size_t step, std::vector<HeatedState>& states, std::size_t first, std::size_t last,
                                Curves& curves) {
  const JobStep& asked = job_.steps[step];
  const auto& request = std::get<ThermalStressStep>(asked.modal);
  Domain& domain = *job_.domains[asked.domain];
  apply_supports_at(asked, request, states[first].time, domain);
  std::vector<Step> steps;
  for (std::size_t i = first; i < last; ++i) {
    const double time = states[i].time;
    LoadCase& heating = *heating_[i - first];
    heating.temperature_field(states[i].temperatures);
    Step solved{"time " + short_number(request.start + time, 10), {}, 1.0};
    for (const StepLoad& load : request.loads) solved.load_cases[load.load_case] += load.amplitude.at(time);
    solved.load_cases[heating.name()] = 1.0;
    steps.push_back(std::move(solved));
  }
  const auto analysis = procedures().find("static").make(domain, backend_, options_);
  for (Step& solved : steps) analysis->add_step(std::move(solved));
  analysis->observer = [&](const Progress& progress) { return !tell_ || tell_(step, progress, seconds_left_); };
  std::size_t current = first;
  analysis->finished = [&](StepResult found) {
    HeatedState& of = states[current++];
    const double time = request.start + of.time;
    curves.take(found.unknowns, time);
    StepState state;
    state.at = state.time = time;
    state.result = std::move(found);
    state.for_viewers = of.for_viewers;
    state.prints = std::move(of.prints);
    state.temperatures = std::move(of.temperatures);
    receiver_.state(step, std::move(state));
  };
  analysis->run();
  take_report(*analysis);
}

void ThermalStressRunner::take_report(StaticAnalysis& analysis) {
  const AnalysisModel& model = analysis.model();
  equations_ = std::max<std::int64_t>(equations_, model.equation_count());
  free_equations_ = std::max<std::int64_t>(free_equations_, model.free_equation_count());
  matrix_ = analysis.collaborators().soe->describe();
  for (const StageTime& t : analysis.stage_times()) {
    const auto same =
        std::find_if(times_.begin(), times_.end(), [&](const StageTime& s) { return s.stage == t.stage; });
    if (same == times_.end())
      times_.push_back(t);
    else
      same->seconds += t.seconds;
  }
  for (const std::string& note : analysis.notes())
    if (std::find(notes_.begin(), notes_.end(), note) == notes_.end()) notes_.push_back(note);
}

}  // namespace voussoir::detail
