#include <voussoir/framework/io/deck/detail/build/steps.hpp>

#include <algorithm>
#include <array>

#include <voussoir/framework/io/deck/detail/build/acting_reader.hpp>
#include <voussoir/framework/io/deck/detail/build/modal_steps.hpp>

namespace voussoir::deck {

double factor_of(const AmplitudeCard* amplitude, const StepTime& time, bool imaginary) {
  if (time.share) return time.share->amplitude == amplitude && time.share->imaginary == imaginary ? 1 : 0;
  return amplitude ? amplitude->curve.at(amplitude->total_time ? time.total : time.period) : 1;
}

void ActingState::end_step(const StepTime& time) {
  const auto settle = [&](auto& a) {
    if (!a.amplitude || a.amplitude->total_time) return;
    a.value *= factor_of(a.amplitude, time);
    a.amplitude = nullptr;
  };
  for (Ledger* ledger : {&supports, &temperatures_prescribed, &forces, &flows, &pressures, &surface_pressures, &fluxes,
                         &films, &radiations, &sources, &temperatures})
    ledger->change(settle);
  const auto settle_coefficient = [&](Acting& a) {
    if (!a.extra_amplitude || a.extra_amplitude->total_time) return;
    a.extra *= factor_of(a.extra_amplitude, time);
    a.extra_amplitude = nullptr;
  };
  for (Ledger* ledger : {&films, &radiations}) ledger->change(settle_coefficient);
  for (BodyActing& body : bodies) settle(body);
}

bool ActingState::follows_amplitudes() const {
  for (const Ledger* ledger : {&supports, &temperatures_prescribed, &forces, &flows, &pressures, &surface_pressures,
                               &fluxes, &films, &radiations, &network_pressures, &sources, &temperatures})
    if (ledger->follows_amplitudes()) return true;
  return std::any_of(bodies.begin(), bodies.end(), [](const BodyActing& body) { return body.amplitude != nullptr; });
}

std::map<StepTime::Share, Place> ActingState::load_shares() const {
  std::map<StepTime::Share, Place> shares;
  const auto take = [&](const auto& a) {
    if (a.value != 0) shares.try_emplace({a.amplitude, a.imaginary}, a.place);
  };
  for (const Ledger* ledger : {&forces, &pressures, &surface_pressures}) ledger->visit(take);
  for (const BodyActing& body : bodies) take(body);
  return shares;
}

void ActingState::clear_loads() {
  for (Ledger* ledger : {&forces, &pressures, &surface_pressures, &network_pressures, &temperatures}) ledger->clear();
  bodies.clear();
}

bool ActingState::is_loaded() const {
  bool loaded = !load_shares().empty() || !network_pressures.empty() || !temperatures.empty();
  supports.visit([&](const Acting& a) { loaded = loaded || a.value != 0 || a.fixed; });
  return loaded;
}

namespace {
constexpr std::uint64_t imaginary_dof = 8, imaginary_face = 0x80;
}

std::uint64_t node_key(std::int32_t node, int dof, bool imaginary) {
  return static_cast<std::uint64_t>(node) * 16 + static_cast<std::uint64_t>(dof) + (imaginary ? imaginary_dof : 0);
}
std::int32_t node_of_key(std::uint64_t key) { return static_cast<std::int32_t>(key / 16); }
int dof_of_key(std::uint64_t key) { return static_cast<int>(key % imaginary_dof); }
std::uint64_t face_key(const FaceRef& f, bool imaginary) {
  return static_cast<std::uint64_t>(f.block) << 40 | static_cast<std::uint64_t>(f.element) << 8 |
         static_cast<std::uint64_t>(f.face) | (imaginary ? imaginary_face : 0);
}
FaceRef face_of_key(std::uint64_t key) {
  return {static_cast<std::int32_t>(key >> 40), static_cast<std::int32_t>(key >> 8 & 0xffffffffu),
          static_cast<std::int32_t>(key & 0x7fu)};
}

namespace {

bool same(const Supports& a, const Supports& b) {
  return a.values.size() == b.values.size() && a.oblique.size() == b.oblique.size() && a.kept.size() == b.kept.size() &&
         std::equal(
             a.values.begin(), a.values.end(), b.values.begin(),
             [](auto& x, auto& y) { return x.node == y.node && x.value == y.value && x.unknown == y.unknown; }) &&
         std::equal(
             a.oblique.begin(), a.oblique.end(), b.oblique.begin(),
             [](auto& x, auto& y) { return x.node == y.node && x.value == y.value && x.direction == y.direction; }) &&
         std::equal(a.kept.begin(), a.kept.end(), b.kept.begin(), [](auto& x, auto& y) {
           return x.node == y.node && x.unknown == y.unknown && x.direction == y.direction;
         });
}

/// What a step asks to print, of sets that are there.
std::vector<PrintRequest> check_prints(Build& b, const Model& m, const StepCard& step) {
  std::vector<PrintRequest> prints;
  for (const PrintCard& card : step.prints) {
    PrintRequest request = card.request;
    if (request.where.empty()) request.where = b.deck.where(card.place);
    if (request.quantities.empty()) continue;
    if (!request.set.empty()) {
      if (request.at == PrintRequest::At::nodes) {
        b.nodes_of_set(request.set, card.place);
      } else {
        const auto elements = b.elements_of({request.set, 0}, card.place);
        if (std::none_of(elements.begin(), elements.end(), [&](std::size_t e) { return m.ref[e].block >= 0; })) {
          b.note("element set '" + request.set + "' does not exist in this step and is not printed", card.place);
          continue;
        }
      }
    }
    prints.push_back(std::move(request));
  }
  return prints;
}

/// The curves that a step asks for, of sets that are there. Their time points are set by the maker of the step.
std::vector<HistoryRequest> check_histories(Build& b, const Model& m, const StepCard& step) {
  std::vector<HistoryRequest> histories;
  if (*step.procedure != Procedure::dynamic && *step.procedure != Procedure::transient_heat &&
      *step.procedure != Procedure::nonlinear_statics) {
    if (has_states(*step.procedure) && !step.histories.empty())
      b.note(
          "*OUTPUT, HISTORY is ignored in this step: curves are recorded in *DYNAMIC, transient *HEAT TRANSFER and "
          "*STATIC steps with NLGEOM or *PLASTIC",
          step.histories.front().place);
    return histories;
  }
  for (const HistoryCard& card : step.histories) {
    HistoryRequest request = card.request;
    const std::string& set = request.of.set;
    if (!set.empty() && request.of.at == PrintRequest::At::nodes) b.nodes_of_set(set, card.place);
    if (!set.empty() && request.of.at == PrintRequest::At::elements) {
      const auto elements = b.elements_of({set, 0}, card.place);
      if (std::none_of(elements.begin(), elements.end(), [&](std::size_t e) { return m.ref[e].block >= 0; })) {
        b.note("element set '" + set + "' does not exist in this step and has no history", card.place);
        continue;
      }
    }
    if (card.interval > 0) request.states.interval = card.interval;
    if (card.number > 0) request.states.interval = step.period / card.number;
    histories.push_back(std::move(request));
  }
  return histories;
}

void set_requests(Build& b, const Model& m, const StepCard& card, JobStep& step) {
  step.prints = check_prints(b, m, card);
  step.histories = check_histories(b, m, card);
}

/// Supports with their whole values, whatever their amplitudes.
Supports make_whole_supports(Build& b, const Model& m, const ActingState& state, const StepTime& time) {
  ActingState whole = state;
  whole.supports.change([](Acting& a) { a.amplitude = nullptr; });
  whole.temperatures_prescribed.change([](Acting& a) { a.amplitude = nullptr; });
  return make_supports(b, m, whole, time);
}

void refuse_temperatures(const Build& b, const StepCard& card, const ActingState& state) {
  if (*card.procedure == Procedure::transient_heat && !state.temperatures.empty())
    b.fail(
        "*TEMPERATURE acts in a step before this transient *HEAT TRANSFER step; programs differ in the temperatures "
        "that "
        "it begins with: put the *HEAT TRANSFER step first, or into a deck of its own",
        card.procedure_place);
}

/// The name of a step of the deck, which may be one of two of the job.
std::string name_of_step(std::size_t number, const StepCard& card) {
  return "step " + std::to_string(number) + (card.stress_of_heat ? ", stress" : "");
}

}  // namespace

void build_steps(Build& b) {
  ActingState state;
  ActingReader reader(b, state);
  reader.begin(-1, std::nullopt);
  for (const Action& action : b.deck.actions) reader.take(action);
  LoadMaker loads(b);
  ModalStepMaker modal(b, loads);
  modal.note_unused_cards();
  // What was made last of each model, and of which state: where nothing has changed since, a step takes it as it is.
  struct Made {
    std::shared_ptr<const Supports> supports;
    std::string load_case;
    std::size_t state = 0;
    bool heated = false;
  };
  std::array<Made, 2> last;
  std::size_t state_number = 1;  // counts changes of what acts
  bool timed = state.follows_amplitudes();
  std::optional<std::size_t> last_heat;
  double total = 0, began = 0;
  std::size_t number = 0;  // of the deck's step
  for (std::size_t i = 0; i < b.deck.steps.size(); ++i) {
    const StepCard& card = b.deck.steps[i];
    // A step of stress has the time of its step of heat.
    const double start = card.stress_of_heat ? began : card.time_reset ? total - card.period : total;
    if (!card.time_reset && !card.stress_of_heat) total += card.period;
    began = start;
    const StepTime time{card.period, total, {}};
    // Their loads are load cases with amplitudes.
    const bool of_modes = has_states(*card.procedure), integrates = is_integrated(*card.procedure);
    // In Abaqus steps of modes are perturbations: what acts in other steps does not, and what acts in them ends.
    const bool perturbs = uses_modes(*card.procedure) && b.options.dialect == Dialect::abaqus;
    const ActingState before = perturbs ? state : ActingState();
    if (perturbs && *card.procedure != Procedure::frequency) state.clear_loads();
    reader.begin(static_cast<std::int32_t>(i), card.procedure, card.with_stress);
    for (const Action& action : card.actions) reader.take(action);
    if (!card.actions.empty()) timed = state.follows_amplitudes();
    if (!card.actions.empty() || timed) ++state_number;
    const bool heat = is_heat(*card.procedure);
    Model& m = *b.model(heat ? Physics::heat : Physics::structure);
    JobStep step;
    step.name = name_of_step(card.stress_of_heat ? number : ++number, card);
    step.title = card.title;
    step.procedure = *card.procedure;
    step.domain = m.index;
    step.total_time = *card.procedure == Procedure::frequency ? total + 1 : total;  // as CalculiX prints it
    step.where = b.deck.where(card.place);
    if (heat) {
      refuse_temperatures(b, card, state);
      last_heat = i;
      if (!state.temperatures.empty()) ++state_number;
      state.temperatures.clear();  // those of the heat step take their place
    } else {
      step.heated_by = last_heat;
    }
    Made& made = last[m.index];
    if (made.state != state_number || made.heated != step.heated_by.has_value()) {
      Supports supports = integrates ? make_whole_supports(b, m, state, time) : make_supports(b, m, state, time);
      if (!made.supports || !same(*made.supports, supports))
        made.supports = std::make_shared<const Supports>(std::move(supports));
      made.heated = step.heated_by.has_value();
      if (!of_modes) made.load_case = loads.make(m, step.name, state, time, made.heated);
      made.state = of_modes ? 0 : state_number;
    }
    step.supports = made.supports;
    if (!of_modes) step.load_case = made.load_case;
    set_requests(b, m, card, step);
    modal.make(step, i, card, m, state, start);
    b.job.steps.push_back(std::move(step));
    if (perturbs) {
      state = before;
      timed = state.follows_amplitudes();
      ++state_number;
    } else if (timed && !card.with_stress && (!of_modes || integrates || heat || card.stress_of_heat)) {
      state.end_step(time);
      timed = state.follows_amplitudes();
      ++state_number;
    }
  }
}

}  // namespace voussoir::deck
