#include <voussoir/jobs/detail/thermal_stress_runner.hpp>

#include <algorithm>
#include <cmath>
#include <set>

#include <voussoir/backends/number_text.hpp>
#include <voussoir/framework/analysis/step.hpp>
#include <voussoir/framework/analysis/stopwatch.hpp>
#include <voussoir/jobs/detail/stress_curves.hpp>

namespace voussoir::detail {
void ThermalStressRunner::run(std::size_t step, std::vector<HeatedState> states) {
  const JobStep& asked = job_.steps[step];
  const auto& request = std::get<ThermalStressStep>(asked.modal);
  Domain& domain = *job_.domains[asked.domain];
  for (HeatedState& state : states) fill_temperatures(domain, state.temperatures);
  StressCurves curves(job_, asked);
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
  receiver_.end(step, curves.finish(states.size()));
}

void ThermalStressRunner::solve(std::size_t step, std::vector<HeatedState>& states, std::size_t first, std::size_t last,
                                StressCurves& curves) {
  const JobStep& asked = job_.steps[step];
  const auto& request = std::get<ThermalStressStep>(asked.modal);
  Domain& domain = *job_.domains[asked.domain];
  apply_supports_at(asked, request, states[first].time, domain);
  std::vector<Step> steps;
  for (std::size_t i = first; i < last; ++i) {
    const double time = states[i].time;
    LoadCase& heating = *heating_[i - first];
    heating.temperature_field(states[i].temperatures);
    steps.push_back(stress_step(request, time, heating.name()));
  }
  const auto analysis = procedures().find("static").make(domain, backend_, options_);
  for (Step& solved : steps) analysis->add_step(std::move(solved));
  analysis->observer = [&](const Progress& progress) { return !tell_ || tell_(step, progress, seconds_left_); };
  std::size_t current = first;
  analysis->finished = [&](StepResult found) {
    HeatedState& of = states[current++];
    const double time = request.start + of.time;
    curves.take(curves.digest(found.unknowns), time);
    receiver_.state(step, stress_state(std::move(found), time, std::move(of)));
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
