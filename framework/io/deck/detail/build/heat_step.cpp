#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include <voussoir/framework/io/deck/detail/build/modal_steps.hpp>
#include <voussoir/framework/io/detail/course_points.hpp>

// Steps of transient heat (*HEAT TRANSFER without STEADY STATE) and of the stress that it causes.

namespace voussoir::deck {
namespace {

/// An amplitude over the time of a step from 0 on.
Amplitude over_heat_step(const AmplitudeCard& card, double start) {
  if (!card.total_time || start == 0) return card.curve;
  std::vector<Amplitude::Point> points(card.curve.points().begin(), card.curve.points().end());
  for (Amplitude::Point& point : points) point.first -= start;
  return Amplitude(std::move(points));
}

/// A state in which only fluxes act.
ActingState only_fluxes(const std::vector<Acting>& fluxes) {
  ActingState state;
  for (const Acting& a : fluxes) state.fluxes.add(a);
  return state;
}

}  // namespace

void ModalStepMaker::check_heat(const StepCard& card, const Model& model) const {
  for (std::size_t k = 0; k < model.domain->block_count(); ++k) {
    const ElementBlock& block = std::as_const(*model.domain).block(k);
    if (block.size() == 0 || !block.material()) continue;
    for (const auto& [property, name] : {std::pair{"density", "*DENSITY"}, {"specific_heat", "*SPECIFIC HEAT"}})
      if (!block.material()->has(property))
        b_.fail("material '" + block.material()->name() + "' has no " + name +
                    ", which transient *HEAT TRANSFER needs; add it, or use STEADY STATE",
                card.procedure_place);
  }
  if (card.ramp)
    b_.fail("*STEP, AMPLITUDE=RAMP is not supported in transient *HEAT TRANSFER steps: give the loads an *AMPLITUDE",
            card.place);
  if (card.perturbation)
    b_.fail("*STEP, PERTURBATION is not supported in transient *HEAT TRANSFER steps: omit it", card.place);
}

std::vector<MovedSupports> ModalStepMaker::moved_temperatures(const Model& model, ActingState& state,
                                                              double start) const {
  std::map<const AmplitudeCard*, MovedSupports> moved;
  for (const Acting& a : state.temperatures_prescribed.acting()) {
    if (a.fixed)
      b_.fail("*BOUNDARY, FIXED is not supported in transient *HEAT TRANSFER steps: give the value", a.place);
    if (!a.amplitude || a.value == 0) continue;
    const Unknown unknown = b_.unknown(model, node_of_key(a.key), dof_of_key(a.key));
    if (unknown.node < 0) continue;  // make_supports() has spoken of it
    MovedSupports& entry = moved[a.amplitude];
    entry.displacement = over_heat_step(*a.amplitude, start);
    entry.places.push_back({unknown.node, unknown_name(Physics::heat, unknown.component)});
  }
  std::vector<MovedSupports> list;  // in the order of the amplitudes' names, not of their addresses
  for (const auto& [name, card] : b_.deck.amplitudes)
    if (const auto found = moved.find(&card); found != moved.end()) list.push_back(std::move(found->second));
  return list;
}

/// Adds fluxes that surroundings send, with a factor that may be a product: that of the coefficient times a function of
/// the temperature of the surroundings.
void ModalStepMaker::add_sent_flux(Model& model, const std::string& name, const std::vector<Acting>& fluxes,
                                   const AmplitudeCard& sink, const AmplitudeCard* coefficient, double start,
                                   const std::function<double(double)>& of_sink, std::vector<StepLoad>& loads) {
  ActingState only = only_fluxes(fluxes);
  StepLoad load;
  load.load_case = loads_.make(model, name, only, {}, false);
  if (load.load_case.empty()) return;
  const Amplitude sinks = over_heat_step(sink, start);
  if (!coefficient && !of_sink) {
    load.amplitude = sinks;
  } else {
    const Amplitude factors = coefficient ? over_heat_step(*coefficient, start) : Amplitude();
    load.course = [sinks, factors, of_sink](double time) {
      return factors.at(time) * (of_sink ? of_sink(sinks.at(time)) : sinks.at(time));
    };
    load.amplitude = coefficient ? voussoir::detail::points_of_course({&sinks, &factors}, load.course) : sinks;
  }
  loads.push_back(std::move(load));
}

/// A film whose sink has an amplitude is a film with the sink 0, which heat_loads() has, and a flux with the amplitude.
void ModalStepMaker::add_film_loads(const JobStep& step, Model& model, ActingState& state, double start,
                                    std::vector<StepLoad>& loads) {
  for (const auto& [name, card] : b_.deck.amplitudes) {
    std::map<std::string, std::pair<const AmplitudeCard*, std::vector<Acting>>> by_coefficient;
    for (Acting a : state.films.acting()) {
      if (a.amplitude != &card) continue;
      a.value *= a.extra;
      auto& group = by_coefficient[name_of_amplitude(a.extra_amplitude)];
      group.first = a.extra_amplitude;
      a.amplitude = a.extra_amplitude = nullptr;
      group.second.push_back(a);
    }
    for (const auto& [coefficient, group] : by_coefficient)
      add_sent_flux(model,
                    "films of " + step.name + ", amplitude " + name +
                        (coefficient.empty() ? "" : ", film amplitude " + coefficient),
                    group.second, card, group.first, start, {}, loads);
  }
}

/// The same for surroundings that radiate. heat_loads() has radiation to absolute zero; the flux that comes back is not
/// linear in the temperature of the surroundings.
void ModalStepMaker::add_radiation_loads(const JobStep& step, Model& model, ActingState& state, double start,
                                         std::vector<StepLoad>& loads) {
  for (const auto& [name, card] : b_.deck.amplitudes) {
    std::map<std::pair<double, std::string>, std::pair<const AmplitudeCard*, std::vector<Acting>>> by_sink;
    for (Acting a : state.radiations.acting()) {
      if (a.amplitude != &card || a.extra == 0) continue;
      const double sink = a.value, zero = *b_.deck.absolute_zero;
      for (const auto& [time, factor] : card.curve.points())
        if (sink * factor < zero)
          b_.fail("the amplitude makes the ambient temperature of radiation fall below ABSOLUTE ZERO", a.place);
      a.value = a.extra * *b_.deck.stefan_boltzmann;
      auto& group = by_sink[{sink, name_of_amplitude(a.extra_amplitude)}];
      group.first = a.extra_amplitude;
      a.amplitude = a.extra_amplitude = nullptr;
      group.second.push_back(a);
    }
    int number = 0;
    for (const auto& [key, group] : by_sink)
      add_sent_flux(
          model, "radiation of " + step.name + ", amplitude " + name + ", " + std::to_string(++number), group.second,
          card, group.first, start,
          [sink = key.first, zero = *b_.deck.absolute_zero](double factor) {
            return std::pow(sink * factor - zero, 4);
          },
          loads);
  }
}

/// Films and radiation whose coefficients have an amplitude.
void ModalStepMaker::add_coefficient_loads(const JobStep& step, Model& model, ActingState& plain, double start,
                                           std::vector<StepLoad>& loads) {
  for (const auto& [name, card] : b_.deck.amplitudes) {
    ActingState only;
    const auto take = [&, &card = card](Ledger& from, Ledger& to) {
      for (Acting a : from.acting()) {
        if (a.extra_amplitude != &card) continue;
        a.extra_amplitude = nullptr;
        to.add(a);
      }
    };
    take(plain.films, only.films);
    take(plain.radiations, only.radiations);
    if (only.films.empty() && only.radiations.empty()) continue;
    StepLoad load;
    load.load_case = loads_.make(model, "films of " + step.name + ", film amplitude " + name, only, {}, false);
    load.amplitude = over_heat_step(card, start);
    if (!load.load_case.empty()) loads.push_back(std::move(load));
  }
}

std::string ModalStepMaker::name_of_amplitude(const AmplitudeCard* amplitude) const {
  for (const auto& [name, card] : b_.deck.amplitudes)
    if (&card == amplitude) return name;
  return "";
}

std::vector<StepLoad> ModalStepMaker::heat_loads(const JobStep& step, Model& model, ActingState& state, double start) {
  std::vector<StepLoad> loads;
  ActingState plain = state;
  const auto set_sinks = [](Ledger& ledger, double sink) {
    ledger.change([sink](Acting& a) {
      if (a.amplitude) a.value = sink;
      a.amplitude = nullptr;
    });
  };
  set_sinks(plain.films, 0);
  if (b_.deck.absolute_zero) set_sinks(plain.radiations, *b_.deck.absolute_zero);
  const auto add = [&](ActingState& acting, const AmplitudeCard* amplitude, const std::string& name) {
    StepTime time;
    time.share = StepTime::Share{amplitude, false};
    StepLoad load;
    load.load_case = loads_.make(model, name, acting, time, false);
    if (load.load_case.empty()) return;
    if (amplitude) load.amplitude = over_heat_step(*amplitude, start);
    loads.push_back(std::move(load));
  };
  add(plain, nullptr, "loads of " + step.name);  // coefficients with an amplitude are zero in it
  add_coefficient_loads(step, model, plain, start, loads);
  plain.films.clear();
  plain.radiations.clear();
  for (const auto& [name, card] : b_.deck.amplitudes)
    add(plain, &card, "loads of " + step.name + ", amplitude " + name);
  add_film_loads(step, model, state, start, loads);
  add_radiation_loads(step, model, state, start, loads);
  return loads;
}

DynamicStep ModalStepMaker::heat(JobStep& step, const StepCard& card, Model& model, ActingState& state, double start) {
  check_heat(card, model);
  DynamicStep request;
  request.times = card.dynamic.times;
  request.times.period = card.period;
  request.times.start = start;
  request.method = "backward-euler";
  request.continues = last_heat_;
  request.loads = heat_loads(step, model, state, start);
  request.moved = moved_temperatures(model, state, start);
  set_outputs(step, card, start, request.states);
  return request;
}

std::vector<MovedSupports> ModalStepMaker::moved_in_stress(const Model& model, ActingState& state, double start) const {
  std::map<const AmplitudeCard*, MovedSupports> moved;
  for (const Acting& a : state.supports.acting()) {
    const std::int32_t n = node_of_key(a.key);
    const int dof = dof_of_key(a.key);
    if (a.fixed)
      b_.fail(
          "*BOUNDARY, FIXED is not supported in transient *UNCOUPLED TEMPERATURE-DISPLACEMENT steps: give the value",
          a.place);
    if (!a.amplitude || a.value == 0) continue;
    if (b_.has_axes(n) && dof <= 3)
      b_.fail("*BOUNDARY with AMPLITUDE at node " + b_.node_name(n) +
                  ", which has a *TRANSFORM, is not supported in transient *UNCOUPLED TEMPERATURE-DISPLACEMENT steps; "
                  "move it along the global axes",
              a.place);
    const Unknown unknown = b_.unknown(model, n, dof);
    if (unknown.node < 0) continue;  // make_supports() has spoken of it
    MovedSupports& entry = moved[a.amplitude];
    entry.displacement = over_heat_step(*a.amplitude, start);
    entry.places.push_back({unknown.node, unknown_name(Physics::structure, unknown.component)});
  }
  std::vector<MovedSupports> list;  // in the order of the amplitudes' names, not of their addresses
  for (const auto& [name, card] : b_.deck.amplitudes)
    if (const auto found = moved.find(&card); found != moved.end()) list.push_back(std::move(found->second));
  return list;
}

ThermalStressStep ModalStepMaker::stress(JobStep& step, const StepCard& card, Model& model, ActingState& state,
                                         double start) {
  if (!state.network_pressures.empty())
    b_.fail(
        "loads like P1NP are not supported in transient *UNCOUPLED TEMPERATURE-DISPLACEMENT steps: give the pressure "
        "by P1",
        card.procedure_place);
  ThermalStressStep request;
  request.start = start;
  for (Ledger* ledger : {&state.forces, &state.pressures, &state.surface_pressures}) ledger->acting();
  for (const auto& [share, place] : state.load_shares()) {
    if (share.imaginary) b_.fail("a load with LOAD CASE=2 of an earlier step still acts; remove it with OP=NEW", place);
    StepTime time;
    time.share = share;
    StepLoad load;
    load.load_case = loads_.make(model, name_of_share(share, step), state, time, false);
    if (load.load_case.empty()) continue;
    if (share.amplitude) load.amplitude = over_heat_step(*share.amplitude, start);
    request.loads.push_back(std::move(load));
  }
  request.moved = moved_in_stress(model, state, start);
  set_outputs(step, card, start, request.states);
  ever_deformed_ = deformed_ = true;
  return request;
}

}  // namespace voussoir::deck
