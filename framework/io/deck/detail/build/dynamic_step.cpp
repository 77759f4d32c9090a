#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <voussoir/backends/number_text.hpp>
#include <voussoir/framework/io/deck/detail/build/large_displacements.hpp>
#include <voussoir/framework/io/deck/detail/build/modal_steps.hpp>

// Steps of direct integration: *DYNAMIC.

namespace voussoir::deck {
namespace {

/// An amplitude over the time of a step from 0 on.
Amplitude over_dynamic_step(const AmplitudeCard& card, double start) {
  if (!card.total_time || start == 0) return card.curve;
  std::vector<Amplitude::Point> points(card.curve.points().begin(), card.curve.points().end());
  for (Amplitude::Point& point : points) point.first -= start;
  return Amplitude(std::move(points));
}

/// Whether nodes may be elsewhere at the end of a step of direct integration than at the beginning of the deck.
bool has_moved(const JobStep& step) {
  const auto& request = std::get<DynamicStep>(step.modal);
  return step.procedure != Procedure::nonlinear_statics || request.continues || !request.loads.empty() ||
         !request.moved.empty();
}

}  // namespace

void ModalStepMaker::check_direct(const JobStep& step, const StepCard& card, const Model& model,
                                  ActingState& state) const {
  const Place place = card.procedure_place;
  if (any_direct_ && !direct_)
    b_.fail(
        "steps of another kind stand between this *DYNAMIC step and the one before it; programs differ in the state "
        "that it begins with: put *DYNAMIC steps one after the other, or this one into a deck of its own",
        place);
  for (std::size_t k = 0; k < model.domain->block_count(); ++k) {
    const ElementBlock& block = std::as_const(*model.domain).block(k);
    if (block.size() > 0 && block.material() && !block.material()->has("density"))
      b_.fail("material '" + block.material()->name() + "' has no *DENSITY, which *DYNAMIC needs; add it", place);
  }
  if (step.heated_by)
    b_.fail("the temperatures of the *HEAT TRANSFER step at " + b_.job.steps[*step.heated_by].where +
                " act in all later steps, which is not supported in *DYNAMIC steps; put the *DYNAMIC step before it, "
                "or into a deck of its own with *TEMPERATURE",
            place);
  if (!state.network_pressures.empty())
    b_.fail("loads like P1NP are not supported in *DYNAMIC steps: give the pressure by P1", place);
  if (card.nlgeom)
    for (const BodyActing& body : state.bodies)
      if (body.label == "CENTRIF" && body.value != 0)
        b_.fail("CENTRIF with NLGEOM would have to follow the deformed body, which is not supported", body.place);
  if (direct_ && b_.job.steps[*direct_].procedure == Procedure::nonlinear_statics && !b_.deck.initial_motions.empty())
    b_.fail("*INITIAL CONDITIONS of displacements or velocities with a *STATIC step before *DYNAMIC are not supported",
            place);
  if (direct_ && has_moved(b_.job.steps[*direct_]))
    for (const Acting& a : state.supports.acting())
      if (!ended_supports_.contains(a.key))
        b_.fail(
            "a support that begins in a later step would jump to its place, since the node has moved; give it in the "
            "first step",
            a.place);
  if (card.ramp)
    b_.fail("*STEP, AMPLITUDE=RAMP is not supported in *DYNAMIC steps: give the loads an *AMPLITUDE", card.place);
  if (card.perturbation)
    b_.fail("*STEP, PERTURBATION is not supported in *DYNAMIC steps: omit it for small displacements", card.place);
  // In CalculiX modes end what static steps did; Abaqus's *DYNAMIC begins with it all the same.
  const bool deformed = deformed_ || (ever_deformed_ && b_.options.dialect == Dialect::abaqus);
  for (const JobStep& before : b_.job.steps)
    if (before.procedure == Procedure::statics && deformed)
      b_.fail("a static step with loads stands before this one (" + before.where +
                  "): that *DYNAMIC begins with its displacements is not supported; give them by *INITIAL CONDITIONS, "
                  "TYPE=DISPLACEMENT, or remove the static step",
              place);
}

std::vector<MovedSupports> ModalStepMaker::moved_supports(const Model& model, ActingState& state, double start,
                                                          double period) {
  std::map<const AmplitudeCard*, MovedSupports> moved;
  std::map<std::uint64_t, double> ends;
  // Supports are where the step before has left them.
  const auto check_start = [&](const Acting& a, double value) {
    const auto before = support_at_.find(a.key);
    const double place = before == support_at_.end() ? 0.0 : before->second;
    if (std::abs(value - place) > 1e-6 * std::max(std::abs(value), std::abs(place)))
      b_.fail("this support would jump from " + short_number(place, 6) + " to " + short_number(value, 6) +
                  " at the beginning of the *DYNAMIC step; give it an *AMPLITUDE that begins where the support is",
              a.place);
  };
  for (const Acting& a : state.supports.acting()) {
    const std::int32_t n = node_of_key(a.key);
    const int dof = dof_of_key(a.key);
    if (a.fixed) b_.fail("*BOUNDARY, FIXED is not supported in *DYNAMIC steps: give the value", a.place);
    if (a.value == 0) {
      check_start(a, 0);
      continue;
    }
    if (b_.has_axes(n) && dof <= 3)
      b_.fail("*BOUNDARY with a value other than zero at node " + b_.node_name(n) +
                  ", which has a *TRANSFORM, is not supported in *DYNAMIC steps; move it along the global axes",
              a.place);
    const Unknown unknown = b_.unknown(model, n, dof);
    if (unknown.node < 0) continue;  // make_supports() has spoken of it
    MovedSupports& entry = moved[a.amplitude];
    // Without an amplitude it stays where it is.
    entry.displacement = a.amplitude ? over_dynamic_step(*a.amplitude, start) : Amplitude();
    check_start(a, a.value * entry.displacement.at(0));
    ends[a.key] = a.value * entry.displacement.at(period);
    entry.places.push_back({unknown.node, unknown_name(Physics::structure, unknown.component)});
  }
  support_at_ = std::move(ends);
  std::vector<MovedSupports> list;  // in the order of the amplitudes' names, not of their addresses
  if (const auto held = moved.find(nullptr); held != moved.end()) list.push_back(std::move(held->second));
  for (const auto& [name, card] : b_.deck.amplitudes)
    if (const auto found = moved.find(&card); found != moved.end()) list.push_back(std::move(found->second));
  return list;
}

void ModalStepMaker::check_explicit_sequence(const StepCard& card) const {
  if (!direct_ || b_.job.steps[*direct_].procedure == Procedure::nonlinear_statics) return;  // statics has no momentum
  const auto scaled = [](const std::optional<ExplicitMethod>& method) { return method ? method->scaled_step : 0.0; };
  const auto& before = std::get<DynamicStep>(b_.job.steps[*direct_].modal);
  if (scaled(before.explicit_method) != scaled(card.dynamic.explicit_method))
    b_.fail(
        "this step continues one with another *FIXED MASS SCALING: the masses would jump, and momentum with them; give "
        "all steps the same one",
        card.procedure_place);
}

/// A step without *BULK VISCOSITY has that of the explicit step that it continues.
void ModalStepMaker::take_bulk_viscosity(const StepCard& card, ExplicitMethod& method) const {
  if (card.dynamic.has_bulk_viscosity) return;
  const auto* before = direct_ ? &std::get<DynamicStep>(b_.job.steps[*direct_].modal) : nullptr;
  if (before && before->explicit_method) {
    method.linear_viscosity = before->explicit_method->linear_viscosity;
    method.quadratic_viscosity = before->explicit_method->quadratic_viscosity;
  } else if (b_.options.dialect == Dialect::abaqus) {
    b_.note(
        "*DYNAMIC, EXPLICIT: there is no bulk viscosity here; Abaqus has the coefficients 0.06 and 1.2 unless "
        "others are given: add *BULK VISCOSITY for these",
        card.procedure_place);
  }
}

void ModalStepMaker::add_temperatures(const JobStep& step, Model& model, ActingState& state, double start,
                                      std::vector<StepLoad>& loads) {
  const std::vector<Acting>& acting = state.temperatures.acting();
  loads_.note_unmoved(model, acting);
  std::map<const AmplitudeCard*, std::vector<const Acting*>> shares;
  for (const Acting& a : acting) shares[a.amplitude].push_back(&a);
  // The temperatures of a load case act as differences from the initial ones, T₀ + f (T − T₀). With an amplitude A, the
  // temperature is A T, so that a second load case takes T₀ off.
  const auto add = [&](const std::string& name, const std::vector<const Acting*>& share, const auto& value_of,
                       Amplitude amplitude) {
    LoadCase& c = model.domain->add_load_case(name);
    for (const Acting* a : share) {
      const std::int32_t node = node_of_key(a->key);
      c.temperature_at(model.domain->node_id(node), value_of(*a, model.domain->initial_temperature(node)));
    }
    StepLoad load;
    load.load_case = name;
    load.amplitude = std::move(amplitude);
    loads.push_back(std::move(load));
  };
  const std::string name = "temperatures of " + step.name;
  if (const auto constant = shares.find(nullptr); constant != shares.end())
    add(name, constant->second, [](const Acting& a, double) { return a.value; }, {});
  for (const auto& [amplitude, card] : b_.deck.amplitudes) {
    const auto share = shares.find(&card);
    if (share == shares.end()) continue;
    const std::string full = name + ", amplitude " + amplitude;
    add(
        full, share->second, [](const Acting& a, double initial) { return initial + a.value; },
        over_dynamic_step(card, start));
    add(full + ", without the initial ones", share->second, [](const Acting&, double) { return 0.0; }, {});
  }
}

DynamicStep ModalStepMaker::direct(JobStep& step, std::size_t index, const StepCard& card, Model& model,
                                   ActingState& state, double start) {
  check_direct(step, card, model, state);
  DynamicStep request;
  request.times = card.dynamic.times;
  request.times.period = card.period;
  request.times.start = start;
  request.times.tolerance = 2e-5;
  request.method = "hht:alpha=" + short_number(card.dynamic.alpha, 15);
  request.explicit_method = card.dynamic.explicit_method;
  check_explicit_sequence(card);
  if (request.explicit_method) {
    request.method = "central-differences";
    take_bulk_viscosity(card, *request.explicit_method);
    if (b_.options.dialect == Dialect::abaqus && !card.nlgeom && !find_plastic_section(b_))
      b_.note(
          "*DYNAMIC, EXPLICIT: displacements are treated as small; Abaqus treats them as large unless NLGEOM=NO is "
          "given. Add NLGEOM to *STEP for large displacements",
          card.procedure_place);
  }
  request.continues = direct_;
  request.loads = loads_for(step, model, state, start, false);
  add_temperatures(step, model, state, start, request.loads);
  request.moved = moved_supports(model, state, start, card.period);
  if (!direct_) set_initial_motion(request.displacement, request.velocity, model);
  set_outputs(step, card, start, request.states);
  direct_ = index;
  any_direct_ = true;
  ended_supports_.clear();
  for (const Acting& a : state.supports.acting()) ended_supports_.insert(a.key);
  return request;
}

}  // namespace voussoir::deck
