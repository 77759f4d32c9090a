#include <voussoir/framework/io/detail/deck/build_steps.hpp>

#include <algorithm>
#include <array>
#include <set>

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
  for (Ledger* ledger : {&supports, &temperatures_held, &forces, &flows, &pressures, &surface_pressures, &fluxes,
                         &films, &sources, &temperatures})
    ledger->change(settle);
  for (BodyActing& body : bodies) settle(body);
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

/// Kinds of cards that OP=NEW forgets together.
enum class Kind { boundary, cload, cflux, dload, dsload, dflux, film, temperature };

/// Takes cards into the ledgers.
class Reader {
 public:
  Reader(Build& build, ActingState& state) : b_(build), s_(state) {}

  /// Step −1 is what stands before the first step; `procedure` is that of the step.
  void begin(std::int32_t step, std::optional<Procedure> procedure) {
    step_ = step;
    procedure_ = procedure;
    seen_.clear();
  }

  void take(const Action& action) {
    amplitude_ = nullptr;
    if (!action.amplitude.empty()) {
      const auto it = b_.deck.amplitudes.find(action.amplitude);
      if (it == b_.deck.amplitudes.end())
        b_.fail(
            ErrorCode::not_found,
            "there is no amplitude '" + action.amplitude + "'" + suggestion_from(action.amplitude, b_.deck.amplitudes),
            action.place);
      amplitude_ = &it->second;
    }
    action_ = &action;
    std::visit([this](const auto& card) { read(card); }, action.card);
  }

 private:
  /// OP=NEW counts on the first card of its kind in a step.
  bool forgets(Kind kind) { return seen_.insert(kind).second && action_->op_new; }
  bool abaqus() const { return b_.options.dialect == Dialect::abaqus; }

  Acting acting(std::uint64_t key, double value, Place place) const {
    Acting a;
    a.key = key;
    a.step = step_;
    a.value = value;
    a.amplitude = amplitude_;
    a.place = place;
    return a;
  }

  /// Loads of one physics belong in steps of that physics.
  Model* model_for(Physics physics, const char* card, Place place) {
    const bool heat = physics == Physics::heat;
    if (procedure_ && (*procedure_ == Procedure::steady_heat) != heat)
      b_.fail(std::string(card) +
                  (heat ? " acts in *HEAT TRANSFER steps, and this one is *STATIC"
                        : " acts in *STATIC steps, and this one is *HEAT TRANSFER") +
                  "; move it to a step of its own",
              place);
    return b_.model(physics);
  }

  void read(const BoundaryCard& card) {
    if (forgets(Kind::boundary)) {
      s_.supports.clear();
      s_.temperatures_held.clear();
    }
    for (const auto& e : card.entries) {
      const auto nodes = b_.nodes_of(e.node, e.place);
      if (e.first > e.last)
        b_.fail("degrees of freedom " + std::to_string(e.first) + " to " + std::to_string(e.last) +
                    " are none; the first must not be above the last",
                e.place);
      for (int dof = e.first; dof <= e.last; ++dof) {
        const bool heat = dof == 11 || dof == 0;
        if (!heat && (dof < 1 || dof > 6))
          b_.fail("degree of freedom " + std::to_string(dof) +
                      " is not supported; use 1 to 3 for displacements, 4 to 6 for rotations, 11 for temperature",
                  e.place);
        if (!b_.model(heat ? Physics::heat : Physics::structure)) {
          b_.note(heat ? "temperatures that *BOUNDARY holds have no part in *STATIC steps; use *TEMPERATURE for loads"
                       : "displacements that *BOUNDARY holds have no part in *HEAT TRANSFER steps",
                  e.place);
          continue;
        }
        for (std::int32_t n : nodes) {
          Acting a = acting(node_key(n, heat ? 0 : dof), e.value, e.place);
          a.fixed = card.fixed;
          (heat ? s_.temperatures_held : s_.supports).add(a);
        }
      }
    }
  }

  void read(const NodalLoadCard& card) {
    if (forgets(card.heat ? Kind::cflux : Kind::cload)) (card.heat ? s_.flows : s_.forces).clear();
    for (const auto& e : card.entries) {
      const char* name = card.heat ? "*CFLUX" : "*CLOAD";
      const Model* m = model_for(card.heat ? Physics::heat : Physics::structure, name, e.place);
      if (card.heat ? e.dof != 11 && e.dof != 0 : e.dof < 1 || e.dof > 6)
        b_.fail(std::string(name) + " has no degree of freedom " + std::to_string(e.dof) + "; use " +
                    (card.heat ? "11" : "1 to 3 for forces, 4 to 6 for moments"),
                e.place);
      const auto nodes = b_.nodes_of(e.node, e.place);
      if (!m) continue;
      for (std::int32_t n : nodes) {
        if (b_.unknown(*m, n, e.dof).node < 0 && !(e.dof <= 3 && b_.has_axes(n) && m->components[n] >= 2))
          b_.fail("node " + b_.node_name(n) +
                      (m->components[n] == 0 ? " belongs to no element, so nothing would carry the load"
                                             : " has no degree of freedom " + std::to_string(e.dof) + " to load"),
                  e.place);
        (card.heat ? s_.flows : s_.forces).add(acting(node_key(n, card.heat ? 0 : e.dof), e.value, e.place));
      }
    }
  }

  double magnitude(const std::vector<double>& values, const std::string& label, Place place) const {
    if (values.empty()) b_.fail("the load " + label + " has no magnitude; add it", place);
    return values[0];
  }

  void read(const ElementLoadCard& card) {
    if (forgets(card.heat ? Kind::dflux : Kind::dload)) {
      if (card.heat) {
        s_.fluxes.clear();
        s_.sources.clear();
      } else {
        s_.pressures.clear();
        s_.bodies.clear();
      }
    }
    for (const auto& e : card.entries) card.heat ? read_flux(e) : read_load(e);
  }

  /// Elements of a target that have a part in a model.
  std::vector<std::size_t> loaded(const Model& m, const Target& target, Place place) {
    auto elements = b_.elements_of(target, place);
    std::erase_if(elements, [&](std::size_t e) { return m.ref[e].block < 0; });
    if (elements.empty())
      b_.fail(m.physics == Physics::heat ? "none of these elements conducts heat, so the load would act on nothing"
                                         : "these elements only conduct heat, so the load would act on nothing",
              place);
    return elements;
  }

  void read_load(const ElementLoadCard::Entry& e) {
    Model* m = model_for(Physics::structure, "*DLOAD", e.place);
    if (!m) return;
    const double value = magnitude(e.values, e.label, e.place);
    if (e.label == "GRAV" || e.label == "CENTRIF") return read_body(*m, e, value);
    if (e.label == "P") b_.fail("the load P names no face; say which: P1, P2, …", e.place);
    if (e.label.empty() || e.label[0] != 'P' || e.label.size() != 2)
      b_.fail(ErrorCode::not_found,
              "*DLOAD knows no load '" + e.label + "'" +
                  suggestion(e.label, {"P1", "P2", "P3", "P4", "P5", "P6", "GRAV", "CENTRIF"}),
              e.place);
    for (std::size_t element : loaded(*m, e.element, e.place)) {
      const FaceRef face{m->ref[element].block, m->ref[element].element, face_of(b_, *m, element, e.label, e.place)};
      s_.pressures.add(acting(face_key(face), value, e.place));
    }
  }

  void read_body(const Model& m, const ElementLoadCard::Entry& e, double value) {
    const std::size_t wanted = e.label == "GRAV" ? 4 : 7;
    if (e.values.size() < wanted)
      b_.fail(e.label + " needs " + std::to_string(wanted) + " numbers, " +
                  (e.label == "GRAV" ? "the magnitude and a direction"
                                     : "the square of the angular velocity, a point of the axis and its direction") +
                  "; it has " + std::to_string(e.values.size()),
              e.place);
    const double* d = &e.values[wanted - 3];
    if (d[0] == 0 && d[1] == 0 && d[2] == 0) b_.fail("the direction of " + e.label + " has no length", e.place);
    if (e.label == "CENTRIF" && value < 0)
      b_.fail("CENTRIF wants the square of the angular velocity, which cannot be negative", e.place);
    loaded(m, e.element, e.place);
    BodyActing body{e.element, e.label, {e.values.begin() + 1, e.values.end()}, value, step_, amplitude_, e.place};
    // The same load in the same direction on the same elements is a new value of the old one.
    std::erase_if(s_.bodies, [&](const BodyActing& old) {
      return old.step < step_ && old.label == body.label && old.element.set == body.element.set &&
             old.element.id == body.element.id && old.direction == body.direction;
    });
    s_.bodies.push_back(std::move(body));
  }

  void read_flux(const ElementLoadCard::Entry& e) {
    Model* m = model_for(Physics::heat, "*DFLUX", e.place);
    if (!m) return;
    const double value = magnitude(e.values, e.label, e.place);
    const bool source = e.label == "BF";
    if (!source && (e.label.size() != 2 || e.label[0] != 'S'))
      b_.fail(
          ErrorCode::not_found,
          "*DFLUX knows no load '" + e.label + "'" + suggestion(e.label, {"S1", "S2", "S3", "S4", "S5", "S6", "BF"}),
          e.place);
    for (std::size_t element : loaded(*m, e.element, e.place)) {
      FaceRef face{m->ref[element].block, m->ref[element].element, 0};
      if (!source) face.face = face_of(b_, *m, element, e.label, e.place);
      (source ? s_.sources : s_.fluxes).add(acting(face_key(face), value, e.place));
    }
  }

  std::span<const FaceRef> faces_of_surface(const Model& m, const std::string& name, Place place) {
    const auto it = b_.deck.surfaces.find(name);
    if (it == b_.deck.surfaces.end())
      b_.fail(ErrorCode::not_found, "there is no surface '" + name + "'" + suggestion_from(name, b_.deck.surfaces),
              place);
    if (it->second.of_nodes)
      b_.fail("surface '" + name + "' is made of nodes, which have no area to load; use TYPE=ELEMENT", place);
    if (!m.domain->has_surface(name)) b_.fail("surface '" + name + "' is empty, so nothing would happen", place);
    return m.domain->surface(name);
  }

  void read(const SurfaceLoadCard& card) {
    Ledger& ledger = card.heat ? s_.fluxes : abaqus() ? s_.surface_pressures : s_.pressures;
    if (forgets(card.heat ? Kind::dflux : abaqus() ? Kind::dsload : Kind::dload)) {
      ledger.clear();
      if (card.heat) s_.sources.clear();
      if (!card.heat && !abaqus()) s_.bodies.clear();
    }
    for (const auto& e : card.entries) {
      Model* m = model_for(card.heat ? Physics::heat : Physics::structure, card.heat ? "*DSFLUX" : "*DSLOAD", e.place);
      if (e.label != (card.heat ? "S" : "P"))
        b_.fail(ErrorCode::not_found, "a surface knows no load '" + e.label + "'; use " + (card.heat ? "S" : "P"),
                e.place);
      const double value = magnitude(e.values, e.label, e.place);
      if (!m) continue;
      for (const FaceRef& f : faces_of_surface(*m, e.surface, e.place)) ledger.add(acting(face_key(f), value, e.place));
    }
  }

  void read(const FilmCard& card) {
    if (forgets(Kind::film)) s_.films.clear();
    for (const auto& e : card.entries) {
      Model* m = model_for(Physics::heat, "*FILM", e.place);
      if (e.film < 0) b_.fail("the film coefficient is negative; heat would flow the wrong way", e.place);
      if (!m) continue;
      std::vector<FaceRef> faces;
      if (!e.surface.empty()) {
        const auto surface = faces_of_surface(*m, e.surface, e.place);
        faces.assign(surface.begin(), surface.end());
      } else {
        if (e.label.size() != 2 || e.label[0] != 'F')
          b_.fail(ErrorCode::not_found,
                  "*FILM knows no label '" + e.label + "'" + suggestion(e.label, {"F1", "F2", "F3", "F4", "F5", "F6"}),
                  e.place);
        for (std::size_t element : loaded(*m, e.element, e.place))
          faces.push_back({m->ref[element].block, m->ref[element].element, face_of(b_, *m, element, e.label, e.place)});
      }
      for (const FaceRef& f : faces) {
        Acting a = acting(face_key(f), e.sink, e.place);
        a.extra = e.film;
        s_.films.add(a);
      }
    }
  }

  void read(const TemperatureCard& card) {
    if (forgets(Kind::temperature)) s_.temperatures.clear();
    for (const auto& e : card.entries) {
      const Model* m = model_for(Physics::structure, "*TEMPERATURE", e.place);
      const auto nodes = b_.nodes_of(e.node, e.place);
      if (!m) continue;
      for (std::int32_t n : nodes) s_.temperatures.add(acting(node_key(n, 0), e.value, e.place));
    }
  }

  Build& b_;
  ActingState& s_;
  const Action* action_ = nullptr;
  const AmplitudeCard* amplitude_ = nullptr;
  std::int32_t step_ = -1;
  std::optional<Procedure> procedure_;
  std::set<Kind> seen_;
};

bool same(const Supports& a, const Supports& b) {
  return a.values.size() == b.values.size() && a.oblique.size() == b.oblique.size() && a.kept.size() == b.kept.size() &&
         std::equal(
             a.values.begin(), a.values.end(), b.values.begin(),
             [](auto& x, auto& y) { return x.node == y.node && x.value == y.value && x.unknown == y.unknown; }) &&
         std::equal(
             a.oblique.begin(), a.oblique.end(), b.oblique.begin(),
             [](auto& x, auto& y) { return x.node == y.node && x.value == y.value && x.direction == y.direction; }) &&
         std::equal(a.kept.begin(), a.kept.end(), b.kept.begin(),
                    [](auto& x, auto& y) { return x.node == y.node && x.unknown == y.unknown; });
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
          b.note("element set '" + request.set + "' has no part in this step and is not printed", card.place);
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
  Reader reader(b, state);
  reader.begin(-1, std::nullopt);
  for (const Action& action : b.deck.actions) reader.take(action);
  LoadMaker loads(b);
  std::array<std::shared_ptr<const Supports>, 2> last;
  std::optional<std::size_t> last_heat;
  double total = 0;
  for (std::size_t i = 0; i < b.deck.steps.size(); ++i) {
    const StepCard& card = b.deck.steps[i];
    if (!card.time_reset) total += card.period;
    const StepTime time{card.period, total};
    reader.begin(static_cast<std::int32_t>(i), card.procedure);
    for (const Action& action : card.actions) reader.take(action);
    const bool heat = *card.procedure == Procedure::steady_heat;
    Model& m = *b.model(heat ? Physics::heat : Physics::structure);
    JobStep step;
    step.name = "step " + std::to_string(i + 1);
    step.title = card.title;
    step.procedure = *card.procedure;
    step.domain = m.index;
    step.total_time = total;
    step.where = b.deck.where(card.place);
    Supports supports = make_supports(b, m, state, time);
    if (!last[m.index] || !same(*last[m.index], supports))
      last[m.index] = std::make_shared<const Supports>(std::move(supports));
    step.supports = last[m.index];
    if (heat) {
      last_heat = i;
      state.temperatures.clear();  // those of the heat step take their place
    } else {
      step.heated_by = last_heat;
    }
    if (loads.make(m, step.name, state, time, step.heated_by.has_value())) step.load_case = step.name;
    step.prints = check_prints(b, m, card);
    b.job.steps.push_back(std::move(step));
    state.end_step(time);
  }
}

}  // namespace voussoir::deck
