#include <voussoir/framework/io/deck/detail/build/steps.hpp>

#include <algorithm>
#include <array>

#include <voussoir/framework/io/deck/detail/build/acting_reader.hpp>

namespace voussoir::deck {

double factor_of(const AmplitudeCard* amplitude, const StepTime& time) {
  if (!amplitude || amplitude->points.empty()) return 1;
  const auto& points = amplitude->points;
  const double t = amplitude->total_time ? time.total : time.period;
  if (t <= points.front().first) return points.front().second;
  if (t >= points.back().first) return points.back().second;
  const auto high =
      std::upper_bound(points.begin(), points.end(), t, [](double v, const auto& p) { return v < p.first; });
  const auto low = high - 1;
  return low->second + (t - low->first) / (high->first - low->first) * (high->second - low->second);
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
  for (BodyActing& body : bodies) settle(body);
}

bool ActingState::follows_amplitudes() const {
  for (const Ledger* ledger : {&supports, &temperatures_prescribed, &forces, &flows, &pressures, &surface_pressures,
                               &fluxes, &films, &radiations, &network_pressures, &sources, &temperatures})
    if (ledger->follows_amplitudes()) return true;
  return std::any_of(bodies.begin(), bodies.end(), [](const BodyActing& body) { return body.amplitude != nullptr; });
}

std::uint64_t node_key(std::int32_t node, int dof) {
  return static_cast<std::uint64_t>(node) * 16 + static_cast<std::uint64_t>(dof);
}
std::uint64_t face_key(const FaceRef& f) {
  return static_cast<std::uint64_t>(f.block) << 40 | static_cast<std::uint64_t>(f.element) << 8 |
         static_cast<std::uint64_t>(f.face);
}
FaceRef face_of_key(std::uint64_t key) {
  return {static_cast<std::int32_t>(key >> 40), static_cast<std::int32_t>(key >> 8 & 0xffffffffu),
          static_cast<std::int32_t>(key & 0xffu)};
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

}  // namespace

void build_steps(Build& b) {
  ActingState state;
  ActingReader reader(b, state);
  reader.begin(-1, std::nullopt);
  for (const Action& action : b.deck.actions) reader.take(action);
  LoadMaker loads(b);
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
  double total = 0;
  for (std::size_t i = 0; i < b.deck.steps.size(); ++i) {
    const StepCard& card = b.deck.steps[i];
    if (!card.time_reset) total += card.period;
    const StepTime time{card.period, total};
    reader.begin(static_cast<std::int32_t>(i), card.procedure);
    for (const Action& action : card.actions) reader.take(action);
    if (!card.actions.empty()) timed = state.follows_amplitudes();
    if (!card.actions.empty() || timed) ++state_number;
    const bool heat = *card.procedure == Procedure::steady_heat;
    Model& m = *b.model(heat ? Physics::heat : Physics::structure);
    JobStep step;
    step.name = "step " + std::to_string(i + 1);
    step.title = card.title;
    step.procedure = *card.procedure;
    step.domain = m.index;
    step.total_time = total;
    step.where = b.deck.where(card.place);
    if (heat) {
      last_heat = i;
      if (!state.temperatures.empty()) ++state_number;
      state.temperatures.clear();  // those of the heat step take their place
    } else {
      step.heated_by = last_heat;
    }
    Made& made = last[m.index];
    if (made.state != state_number || made.heated != step.heated_by.has_value()) {
      Supports supports = make_supports(b, m, state, time);
      if (!made.supports || !same(*made.supports, supports))
        made.supports = std::make_shared<const Supports>(std::move(supports));
      made.heated = step.heated_by.has_value();
      made.load_case = loads.make(m, step.name, state, time, made.heated);
      made.state = state_number;
    }
    step.supports = made.supports;
    step.load_case = made.load_case;
    step.prints = check_prints(b, m, card);
    b.job.steps.push_back(std::move(step));
    if (timed) {
      state.end_step(time);
      timed = state.follows_amplitudes();
      ++state_number;
    }
  }
}

}  // namespace voussoir::deck
