#include <voussoir/framework/io/job/detail/heat_steps.hpp>

#include <cmath>

#include <voussoir/framework/io/detail/course_points.hpp>
#include <voussoir/framework/io/job/detail/modal_steps.hpp>

namespace voussoir::job {
namespace {

StepLoad add_case(const Load& load, double factor, const std::string& name, Domain& domain) {
  StepLoad made;
  made.load_case = add_load_case(load, factor, name, domain);
  return made;
}

/// The flux that surroundings send, as a load of its own.
Load sent_flux(const Load& load, double value) {
  Load flux = load;
  flux.kind = "heat_flux";
  flux.numbers = {value};
  return flux;
}

/// An amplitude of a film coefficient or of an emissivity.
Amplitude read_coefficients(const Load& load, const Json& json) {
  if (load.kind != "convection" && load.kind != "radiation")
    json.fail("the load '" + load.name + "' is " + load.kind + ", which has no coefficient; use 'amplitudes'");
  Amplitude amplitude = read_amplitude(json);
  for (const auto& [time, factor] : amplitude.points())
    if (load.numbers[0] * factor < 0) json.fail("the amplitude makes the coefficient negative");
  return amplitude;
}

bool is_yes(const Json& json, std::string_view key) {
  return json.has(key) && json.at(key).choice({"no", "yes"}) == "yes";
}

void read_heat_times(const Json& json, DynamicTimes& times) {
  times.increment = json.at("increment").positive();
  times.period = json.at("period").positive();
  if (times.increment > times.period) json.at("increment").fail("the increment is longer than the period");
  if (times.period / times.increment > 1e7)
    json.at("increment").fail("the step would have more than ten million increments");
  times.automatic = is_yes(json, "automatic");
  const auto positive = [&](const char* key, double otherwise) {
    if (!json.has(key)) return otherwise;
    if (!times.automatic) json.at(key).fail("this is for automatic increments: \"automatic\": \"yes\"");
    return json.at(key).positive();
  };
  times.tolerance = positive("tolerance", 1e-3);
  times.shortest = positive("shortest", 0);
  times.longest = positive("longest", 0);
  times.largest_change = positive("largest_change", 0);
  if (json.has("most_increments")) {
    const double most = json.at("most_increments").positive();
    if (most != std::floor(most) || most > 1e9) json.at("most_increments").fail("this is not a whole number up to 1e9");
    times.most_increments = static_cast<int>(most);
  }
  if (times.shortest > times.increment) json.at("shortest").fail("the first increment is shorter");
  if (times.longest > 0 && times.longest < times.increment) json.at("longest").fail("the first increment is longer");
}

}  // namespace

const std::vector<std::string>& transient_heat_keys() {
  static const std::vector<std::string> keys{
      "loads",     "amplitudes",      "support_amplitudes", "increment",     "coefficient_amplitudes",
      "histories", "period",          "automatic",          "tolerance",     "shortest",
      "longest",   "method",          "largest_change",     "states_every",  "continue",
      "states_at", "states_interval", "states_number",      "states_change", "most_increments"};
  return keys;
}

std::vector<StepLoad> add_heat_load(const HeatLoad& given, const std::string& step, Domain& domain) {
  const Load& load = given.load;
  const std::string name = load.name + " of " + step;
  const bool radiates = load.kind == "radiation";
  Amplitude coefficients;
  if (given.coefficient) coefficients = read_coefficients(load, *given.coefficient);
  if (!given.amplitude) {
    std::vector<StepLoad> cases{add_case(load, given.factor, name, domain)};
    cases.front().amplitude = coefficients;
    return cases;
  }
  const Amplitude amplitude = read_amplitude(*given.amplitude);
  if (load.kind != "convection" && !radiates) {
    std::vector<StepLoad> cases{add_case(load, given.factor, name, domain)};
    cases.front().amplitude = amplitude;
    return cases;
  }
  // What the surroundings send has the amplitude; what the body gives away does not depend on it.
  const double coefficient = load.numbers[0], sink = load.numbers[1];
  Load given_away = load;
  given_away.numbers[1] = radiates ? load.numbers[2] : 0;
  const double sent = radiates ? coefficient : coefficient * sink;
  std::vector<StepLoad> cases{add_case(given_away, 1, name, domain),
                              add_case(sent_flux(load, sent), 1, name + ", from the surroundings", domain)};
  cases.front().amplitude = coefficients;
  cases.back().amplitude = amplitude;
  if (!radiates && !given.coefficient) return cases;
  if (!radiates) {
    cases.back().course = [coefficients, amplitude](double time) { return coefficients.at(time) * amplitude.at(time); };
    cases.back().amplitude = voussoir::detail::points_of_course({&amplitude, &coefficients}, cases.back().course);
    return cases;
  }
  const double zero = load.numbers[2];
  for (const auto& [time, factor] : amplitude.points())
    if (sink * factor < zero)
      given.amplitude->fail("the amplitude makes the temperature of the surroundings fall below 'absolute_zero'");
  cases.back().course = [sink, zero, amplitude, coefficients](double time) {
    return coefficients.at(time) * std::pow(sink * amplitude.at(time) - zero, 4);
  };
  if (given.coefficient)
    cases.back().amplitude = voussoir::detail::points_of_course({&amplitude, &coefficients}, cases.back().course);
  return cases;
}

void read_heat_states(const Json& json, double period, StateOutput& states) {
  if (json.has("states_every")) {
    const double every = json.at("states_every").number();
    if (!(every >= 1 && every <= 1e6 && every == std::floor(every)))
      json.at("states_every").fail("this must be a whole number from 1 to 1000000");
    states.every = static_cast<int>(every);
  }
  read_state_choice(json, period, states);
  if (!json.has("states_at")) return;
  for (const Json& item : json.at("states_at").items()) {
    const double time = item.number();
    if (!(time > 0 && time <= period)) item.fail("the time is not in the step, which ends at its 'period'");
    if (!states.times.empty() && time <= states.times.back()) item.fail("times must increase");
    states.times.push_back(time);
  }
  if (states.times.empty()) json.at("states_at").fail("the list is empty; name the times of the step");
}

DynamicStep read_transient_heat(const Json& json, const JobStep& step, const std::vector<JobStep>& earlier) {
  DynamicStep request;
  if (is_yes(json, "continue")) {
    for (std::size_t i = 0; i < earlier.size(); ++i)
      if (is_heat(earlier[i].procedure) && earlier[i].domain == step.domain) request.continues = i;
    if (!request.continues) json.at("continue").fail("no heat step stands before this one");
    const auto* before = std::get_if<DynamicStep>(&earlier[*request.continues].modal);
    if (before) request.times.start = before->times.start + before->times.period;
  }
  read_heat_times(json, request.times);
  request.method = json.has("method") ? json.at("method").choice({"backward-euler", "crank-nicolson", "bdf2"}) : "bdf2";
  read_heat_states(json, request.times.period, request.states);
  return request;
}

}  // namespace voussoir::job
