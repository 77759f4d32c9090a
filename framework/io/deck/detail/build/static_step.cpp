#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include <voussoir/backends/number_text.hpp>
#include <voussoir/framework/io/deck/detail/build/large_displacements.hpp>
#include <voussoir/framework/io/deck/detail/build/modal_steps.hpp>

// Steps of statics in increments: *STATIC with *STEP, NLGEOM, with *PLASTIC or before *DYNAMIC. Loads and supports
// without an amplitude go from what they were at the end of the step before to what they are at the end of this one.

namespace voussoir::deck {
namespace {

/// An amplitude over the time of a step from 0 on.
Amplitude over_static_step(const AmplitudeCard& card, double start) {
  if (!card.total_time || start == 0) return card.curve;
  std::vector<Amplitude::Point> points(card.curve.points().begin(), card.curve.points().end());
  for (Amplitude::Point& point : points) point.first -= start;
  return Amplitude(std::move(points));
}

/// Why a step has increments, for messages.
std::string reason_for_increments(const Build& b, const StepCard& card) {
  return card.nlgeom ? "NLGEOM" : find_plastic_section(b) ? "*PLASTIC" : "a *DYNAMIC step after it";
}

/// From a value at the beginning of a step to another at its end.
Amplitude ramp(double from, double to, double period) { return Amplitude({{0, from}, {period, to}}); }

}  // namespace

void ModalStepMaker::check_increments(const JobStep& step, const StepCard& card, const ActingState& state) const {
  const Place place = card.procedure_place;
  const std::string why = reason_for_increments(b_, card);
  if (step.heated_by)
    b_.fail("the temperatures of the *HEAT TRANSFER step at " + b_.job.steps[*step.heated_by].where +
                " act in all later steps, which is not supported in *STATIC steps with " + why +
                "; give them by *TEMPERATURE in a deck without the *HEAT TRANSFER step",
            place);
  if (!state.network_pressures.empty())
    b_.fail("loads like P1NP are not supported with " + why + ": give the pressure by P1", place);
  if (card.perturbation) b_.fail("*STEP, PERTURBATION with " + why + " is not supported: omit one of them", card.place);
  if (direct_ && b_.job.steps[*direct_].procedure == Procedure::dynamic)
    b_.fail("*STATIC after *DYNAMIC is not supported with " + why +
                ": what becomes of the velocities is not defined; put "
                "it into a deck of its own",
            place);
  for (const BodyActing& body : state.bodies)
    if (card.nlgeom && body.label == "CENTRIF" && body.value != 0)
      b_.fail("CENTRIF with NLGEOM would have to follow the deformed body, which is not supported", body.place);
}

/// A load that an amplitude replaces would jump where the amplitude begins, whatever it was before.
void ModalStepMaker::refuse_replaced_loads(ActingState& state) {
  std::set<std::pair<int, std::uint64_t>> keys;
  int which = 0;
  for (Ledger* ledger : {&state.forces, &state.pressures, &state.surface_pressures, &state.temperatures}) {
    for (const Acting& a : ledger->acting()) {
      if (a.amplitude && ended_keys_.contains({which, a.key}))
        b_.fail(
            "this load acts in the step before already, and its AMPLITUDE replaces it; programs differ in what that "
            "means: give it the same amplitude over the total time in one step",
            a.place);
      if (a.value != 0 || ledger == &state.temperatures) keys.insert({which, a.key});
    }
    ++which;
  }
  for (const BodyActing& body : state.bodies) {
    if (body.amplitude && ended_keys_.contains({which, 0}))
      b_.fail(body.label +
                  " with AMPLITUDE after a step with loads like it is not supported in *STATIC steps with "
                  "increments: put both into one step",
              body.place);
    if (body.value != 0) keys.insert({which, 0});
  }
  ended_keys_ = std::move(keys);
}

void ModalStepMaker::ramp_loads(const StepCard& card, ActingState& state, const std::vector<bool>& plain,
                                std::vector<StepLoad>& loads) {
  refuse_replaced_loads(state);
  const double period = card.period;
  std::vector<StepLoad> ended;
  for (std::size_t i = 0; i < loads.size(); ++i) {
    StepLoad& load = loads[i];
    if (plain[i]) load.amplitude = ramp(0, 1, period);
    ended.push_back(load);
    ended.back().amplitude = Amplitude();
    ended.back().real = load.amplitude.at(period);
  }
  for (const StepLoad& before : ended_loads_) {
    StepLoad fading = before;
    fading.amplitude = ramp(1, 0, period);
    loads.push_back(std::move(fading));
  }
  ended_loads_ = std::move(ended);
}

std::vector<MovedSupports> ModalStepMaker::ramped_supports(JobStep& step, const StepCard& card, const Model& model,
                                                           ActingState& state, double start) {
  std::map<std::tuple<const AmplitudeCard*, double, double>, std::vector<MovedSupports::Place>> groups;
  std::map<std::uint64_t, double> ends;
  std::set<std::uint64_t> supported;
  auto changed = std::make_shared<Supports>(*step.supports);
  bool any_changed = false;
  for (const Acting& a : state.supports.acting()) {
    const std::int32_t n = node_of_key(a.key);
    const int dof = dof_of_key(a.key);
    const auto known = support_at_.find(a.key);
    const double before = known == support_at_.end() ? 0.0 : known->second;
    const double after = a.value * (a.amplitude ? over_static_step(*a.amplitude, start).at(card.period) : 1.0);
    if (a.fixed)
      b_.fail("*BOUNDARY, FIXED is not supported with " + reason_for_increments(b_, card) + ": give the value",
              a.place);
    supported.insert(a.key);
    const Unknown unknown = b_.unknown(model, n, dof);
    if (unknown.node < 0) continue;  // make_supports() has spoken of it
    if (direct_ && !ended_supports_.contains(a.key))
      b_.fail("a support that begins in a later step with " + reason_for_increments(b_, card) +
                  " would jump to its place, since the node has moved; give it in the first step",
              a.place);
    if (after != 0) ends[a.key] = after;
    if (a.value == 0 && before == 0) continue;
    if (b_.has_axes(n) && dof <= 3)
      b_.fail("*BOUNDARY with a value other than zero at node " + b_.node_name(n) +
                  ", which has a *TRANSFORM, is not supported with " + reason_for_increments(b_, card) +
                  "; move it along the global axes",
              a.place);
    const MovedSupports::Place place{unknown.node, unknown_name(Physics::structure, unknown.component)};
    if (a.amplitude) {
      const double first = a.value * over_static_step(*a.amplitude, start).at(0);
      if (std::abs(first - before) > 1e-6 * std::max(std::abs(first), std::abs(before)))
        b_.fail("this support would jump from " + short_number(before, 6) + " to " + short_number(first, 6) +
                    " at the beginning of the step; give it an *AMPLITUDE that begins where the support is",
                a.place);
      groups[{a.amplitude, 0.0, 0.0}].push_back(place);
      continue;
    }
    if (a.value != 0) {
      groups[{nullptr, before / a.value, 1.0}].push_back(place);
      continue;
    }
    // What is prescribed is where the support was; it goes from there to zero.
    for (Prescribed& p : changed->values)
      if (p.node == place.node && p.unknown == place.unknown) p.value = before;
    any_changed = true;
    groups[{nullptr, 1.0, 0.0}].push_back(place);
  }
  if (any_changed) step.supports = changed;
  support_at_ = std::move(ends);
  ended_supports_ = std::move(supported);
  std::vector<MovedSupports> list;
  const auto add = [&](std::vector<MovedSupports::Place> places, Amplitude amplitude) {
    MovedSupports moved;
    moved.places = std::move(places);
    moved.displacement = std::move(amplitude);
    list.push_back(std::move(moved));
  };
  for (auto& [key, places] : groups)
    if (!std::get<0>(key)) add(std::move(places), ramp(std::get<1>(key), std::get<2>(key), card.period));
  for (const auto& [name, amplitude] : b_.deck.amplitudes)  // in the order of their names, not of their addresses
    if (const auto found = groups.find({&amplitude, 0.0, 0.0}); found != groups.end())
      add(std::move(found->second), over_static_step(amplitude, start));
  return list;
}

DynamicStep ModalStepMaker::increments(JobStep& step, std::size_t index, const StepCard& card, Model& model,
                                       ActingState& state, double start) {
  check_increments(step, card, state);
  DynamicStep request;
  request.times = card.dynamic.times;
  request.times.period = card.period;
  request.times.start = start;
  request.method = "static";
  request.continues = direct_;
  std::vector<bool> plain;
  request.loads = loads_for(step, model, state, start, false, &plain);
  add_temperatures(step, model, state, start, request.loads);
  // What takes initial temperatures off, where temperatures follow an amplitude, does not change.
  for (std::size_t i = plain.size(); i < request.loads.size(); ++i)
    plain.push_back(request.loads[i].load_case == "temperatures of " + step.name);
  ramp_loads(card, state, plain, request.loads);
  request.moved = ramped_supports(step, card, model, state, start);
  set_outputs(step, card, start, request.states);
  direct_ = index;
  any_direct_ = true;
  deformed_ = ever_deformed_ = false;  // the steps that follow begin with the state of this one
  return request;
}

}  // namespace voussoir::deck
