#pragma once
#include <optional>
#include <set>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include <voussoir/framework/io/deck/detail/build/steps.hpp>

// How the cards of a step, or those before the first one, change what acts.

namespace voussoir::deck {

/// Kinds of cards that OP=NEW forgets together.
enum class ActingKind { boundary, cload, cflux, dload, dsload, dflux, film, radiation, temperature };

/// Takes cards into the ledgers.
class ActingReader {
 public:
  ActingReader(Build& build, ActingState& state) : b_(build), s_(state) {}

  /// Step −1 is what stands before the first step; `procedure` is that of the step. `with_stress` says that loads of a
  /// structure act in this step of heat too.
  void begin(std::int32_t step, std::optional<Procedure> procedure, bool with_stress = false) {
    step_ = step;
    with_stress_ = with_stress;
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
    check_modal(action);
    std::visit([this](const auto& card) { read(card); }, action.card);
  }

 private:
  /// OP=NEW counts on the first card of its kind in a step.
  bool forgets(ActingKind kind) { return seen_.insert(kind).second && action_->op_new; }
  bool abaqus() const { return b_.options.dialect == Dialect::abaqus; }

  Acting acting(std::uint64_t key, double value, Place place) const {
    Acting a;
    a.key = key;
    a.step = step_;
    a.value = value;
    a.amplitude = amplitude_;
    a.imaginary = action_->imaginary;
    a.place = place;
    return a;
  }

  /// What steps of modes and of mode superposition do not take.
  void check_modal(const Action& action) const {
    if (action.imaginary && procedure_ != Procedure::harmonic)
      b_.fail("LOAD CASE=2 is the imaginary part of a harmonic load: it is supported in *STEADY STATE DYNAMICS steps",
              action.place);
    if (!procedure_ || !uses_modes(*procedure_)) return;
    if (*procedure_ != Procedure::frequency && std::holds_alternative<TemperatureCard>(action.card))
      b_.fail("*TEMPERATURE is not supported in steps of mode superposition, whose modes are those of one temperature",
              action.place);
    if (std::holds_alternative<BoundaryCard>(action.card) && (amplitude_ || action.imaginary))
      b_.fail(
          "*BOUNDARY with AMPLITUDE or LOAD CASE=2 is not supported in steps of modes: use *BASE MOTION if all "
          "supports "
          "move together",
          action.place);
  }

  /// Loads of one physics belong in steps of that physics.
  Model* model_for(Physics physics, const char* card, Place place) {
    const bool heat = physics == Physics::heat;
    if (procedure_ && is_heat(*procedure_) != heat && !with_stress_)
      b_.fail(
          std::string(card) +
              (heat ? uses_modes(*procedure_)             ? " acts in *HEAT TRANSFER steps, and this one is of modes"
                      : *procedure_ == Procedure::dynamic ? " acts in *HEAT TRANSFER steps, and this one is *DYNAMIC"
                                                          : " acts in *HEAT TRANSFER steps, and this one is *STATIC"
                    : " acts in *STATIC steps, and this one is *HEAT TRANSFER") +
              "; move it to a separate step",
          place);
    return b_.model(physics);
  }

  void read(const BoundaryCard& card) {
    if (forgets(ActingKind::boundary)) {
      s_.supports.clear();
      s_.temperatures_prescribed.clear();
    }
    for (const auto& e : card.entries) {
      const auto nodes = b_.nodes_of(e.node, e.place);
      if (e.first > e.last)
        b_.fail("degrees of freedom " + std::to_string(e.first) + " to " + std::to_string(e.last) +
                    " are not a range; the first must not be above the last",
                e.place);
      for (int dof = e.first; dof <= e.last; ++dof) {
        const bool heat = dof == 11 || dof == 0;
        if (!heat && (dof < 1 || dof > 6))
          b_.fail("degree of freedom " + std::to_string(dof) +
                      " is not supported; use 1 to 3 for displacements, 4 to 6 for rotations, 11 for temperature",
                  e.place);
        if (!b_.model(heat ? Physics::heat : Physics::structure)) {
          b_.note(heat
                      ? "temperatures prescribed by *BOUNDARY are not used in *STATIC steps; use *TEMPERATURE for loads"
                      : "displacements prescribed by *BOUNDARY are not used in *HEAT TRANSFER steps",
                  e.place);
          continue;
        }
        for (std::int32_t n : nodes) {
          Acting a = acting(node_key(n, heat ? 0 : dof), e.value, e.place);
          a.fixed = card.fixed;
          (heat ? s_.temperatures_prescribed : s_.supports).add(a);
        }
      }
    }
  }

  void read(const NodalLoadCard& card) {
    if (forgets(card.heat ? ActingKind::cflux : ActingKind::cload)) (card.heat ? s_.flows : s_.forces).clear();
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
                      (m->components[n] == 0 ? " belongs to no element, so no element would carry the load"
                                             : " has no degree of freedom " + std::to_string(e.dof) + " to load"),
                  e.place);
        (card.heat ? s_.flows : s_.forces)
            .add(acting(node_key(n, card.heat ? 0 : e.dof, action_->imaginary), e.value, e.place));
      }
    }
  }

  double magnitude(const std::vector<double>& values, const std::string& label, Place place) const {
    if (values.empty()) b_.fail("the load " + label + " has no magnitude; add it", place);
    return values[0];
  }

  void read(const ElementLoadCard& card) {
    if (forgets(card.heat ? ActingKind::dflux : ActingKind::dload)) {
      if (card.heat) {
        s_.fluxes.clear();
        s_.sources.clear();
      } else {
        s_.pressures.clear();
        s_.network_pressures.clear();
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
      b_.fail(m.physics == Physics::heat ? "none of these elements conducts heat, so the load would have no effect"
                                         : "these elements only conduct heat, so the load would have no effect",
              place);
    return elements;
  }

  void read_load(const ElementLoadCard::Entry& e) {
    Model* m = model_for(Physics::structure, "*DLOAD", e.place);
    if (!m) return;
    if (e.network_node != 0) return read_network_pressure(*m, e);
    const double value = magnitude(e.values, e.label, e.place);
    if (e.label == "GRAV" || e.label == "CENTRIF") return read_body(*m, e, value);
    if (e.label == "P") b_.fail("the load P does not name a face; write P1, P2, …", e.place);
    if (e.label.empty() || e.label[0] != 'P' || e.label.size() != 2)
      b_.fail(ErrorCode::not_found,
              "*DLOAD does not support the load '" + e.label + "'" +
                  suggestion(e.label, {"P1", "P2", "P3", "P4", "P5", "P6", "GRAV", "CENTRIF"}),
              e.place);
    for (std::size_t element : loaded(*m, e.element, e.place)) {
      const FaceRef face{m->ref[element].block, m->ref[element].element, face_of(b_, *m, element, e.label, e.place)};
      s_.pressures.add(acting(face_key(face, action_->imaginary), value, e.place));
    }
  }

  /// P1NP …: the pressure of a node of a fluid network, which here is what *BOUNDARY gives for its dof 2.
  void read_network_pressure(const Model& m, const ElementLoadCard::Entry& e) {
    const std::int32_t node = b_.nodes_of({{}, e.network_node}, e.place).front();
    if (m.components[node] != 0)
      b_.fail("node " + std::to_string(e.network_node) + " of the load " + e.label +
                  " belongs to an element with displacements, so its degree of freedom 2 is not a pressure",
              e.place);
    b_.network_nodes.insert(node);
    for (std::size_t element : loaded(m, e.element, e.place)) {
      const std::string label = e.label.substr(0, 2);
      const FaceRef face{m.ref[element].block, m.ref[element].element, face_of(b_, m, element, label, e.place)};
      Acting a = acting(face_key(face), 1, e.place);
      a.extra = node;
      s_.network_pressures.add(a);
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
      b_.fail("CENTRIF needs the square of the angular velocity, which cannot be negative", e.place);
    loaded(m, e.element, e.place);
    BodyActing body{e.element, e.label,           {e.values.begin() + 1, e.values.end()}, value, step_, amplitude_,
                    e.place,   action_->imaginary};
    // The same load in the same direction on the same elements is a new value of the old one.
    std::erase_if(s_.bodies, [&](const BodyActing& old) {
      return old.step < step_ && old.imaginary == body.imaginary && old.label == body.label &&
             old.element.set == body.element.set && old.element.id == body.element.id &&
             old.direction == body.direction;
    });
    s_.bodies.push_back(std::move(body));
  }

  void read_flux(const ElementLoadCard::Entry& e) {
    Model* m = model_for(Physics::heat, "*DFLUX", e.place);
    if (!m) return;
    const double value = magnitude(e.values, e.label, e.place);
    const bool source = e.label == "BF";
    if (!source && (e.label.size() != 2 || e.label[0] != 'S'))
      b_.fail(ErrorCode::not_found,
              "*DFLUX does not support the load '" + e.label + "'" +
                  suggestion(e.label, {"S1", "S2", "S3", "S4", "S5", "S6", "BF"}),
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
      b_.fail("surface '" + name + "' consists of nodes, which have no area to load; use TYPE=ELEMENT", place);
    if (!m.domain->has_surface(name)) b_.fail("surface '" + name + "' is empty, so it would have no effect", place);
    return m.domain->surface(name);
  }

  void read(const SurfaceLoadCard& card) {
    Ledger& ledger = card.heat ? s_.fluxes : abaqus() ? s_.surface_pressures : s_.pressures;
    if (forgets(card.heat ? ActingKind::dflux : abaqus() ? ActingKind::dsload : ActingKind::dload)) {
      ledger.clear();
      if (card.heat) s_.sources.clear();
      if (!card.heat && !abaqus()) s_.bodies.clear();
    }
    for (const auto& e : card.entries) {
      Model* m = model_for(card.heat ? Physics::heat : Physics::structure, card.heat ? "*DSFLUX" : "*DSLOAD", e.place);
      if (e.label != (card.heat ? "S" : "P"))
        b_.fail(ErrorCode::not_found,
                "surfaces do not support the load '" + e.label + "'; use " + (card.heat ? "S" : "P"), e.place);
      const double value = magnitude(e.values, e.label, e.place);
      if (!m) continue;
      for (const FaceRef& f : faces_of_surface(*m, e.surface, e.place))
        ledger.add(acting(face_key(f, action_->imaginary), value, e.place));
    }
  }

  void read(const FilmCard& card) {
    Ledger& ledger = card.radiation ? s_.radiations : s_.films;
    if (forgets(card.radiation ? ActingKind::radiation : ActingKind::film)) ledger.clear();
    const char letter = card.radiation ? 'R' : 'F';
    const AmplitudeCard* const of_coefficient = coefficient_amplitude(card);
    for (const auto& e : card.entries) {
      Model* m = model_for(Physics::heat, card.radiation ? "*RADIATE" : "*FILM", e.place);
      if (card.radiation) {
        check_radiation(e);
      } else if (e.film < 0) {
        b_.fail("the film coefficient is negative; it must be zero or positive", e.place);
      }
      if (of_coefficient) check_coefficients(card, e, *of_coefficient);
      if (!m) continue;
      std::vector<FaceRef> faces;
      if (!e.surface.empty()) {
        const auto surface = faces_of_surface(*m, e.surface, e.place);
        faces.assign(surface.begin(), surface.end());
      } else {
        if (e.label.size() != 2 || e.label[0] != letter)
          b_.fail(ErrorCode::not_found,
                  std::string(card.radiation ? "*RADIATE" : "*FILM") + " does not support the label '" + e.label +
                      "'; use " + letter + "1 to " + letter + "6",
                  e.place);
        for (std::size_t element : loaded(*m, e.element, e.place))
          faces.push_back({m->ref[element].block, m->ref[element].element, face_of(b_, *m, element, e.label, e.place)});
      }
      for (const FaceRef& f : faces) {
        Acting a = acting(face_key(f), e.sink, e.place);
        a.extra = e.film;
        a.extra_amplitude = of_coefficient;
        ledger.add(a);
      }
    }
  }

  const AmplitudeCard* coefficient_amplitude(const FilmCard& card) const {
    if (card.coefficient_amplitude.empty()) return nullptr;
    const auto found = b_.deck.amplitudes.find(card.coefficient_amplitude);
    if (found == b_.deck.amplitudes.end())
      b_.fail(ErrorCode::not_found,
              "there is no amplitude '" + card.coefficient_amplitude + "'" +
                  suggestion_from(card.coefficient_amplitude, b_.deck.amplitudes),
              action_->place);
    return &found->second;
  }

  void check_coefficients(const FilmCard& card, const FilmCard::Entry& e, const AmplitudeCard& amplitude) const {
    for (const auto& [time, factor] : amplitude.curve.points()) {
      if (e.film * factor < 0)
        b_.fail(std::string(card.radiation ? "RADIATION" : "FILM") + " AMPLITUDE makes the " +
                    (card.radiation ? "emissivity" : "film coefficient") + " negative",
                e.place);
      if (card.radiation && e.film * factor > 1) b_.fail("RADIATION AMPLITUDE makes the emissivity exceed 1", e.place);
    }
  }

  void check_radiation(const FilmCard::Entry& e) {
    if (!(e.film >= 0 && e.film <= 1)) b_.fail("the emissivity must be between 0 and 1", e.place);
    if (!b_.deck.absolute_zero || !b_.deck.stefan_boltzmann)
      b_.fail("*RADIATE needs *PHYSICAL CONSTANTS, ABSOLUTE ZERO=, STEFAN BOLTZMANN= in the units of the deck",
              e.place);
    if (e.sink < *b_.deck.absolute_zero) b_.fail("the ambient temperature is below ABSOLUTE ZERO", e.place);
  }

  void read(const TemperatureCard& card) {
    if (with_stress_ && !card.entries.empty())
      b_.fail("*TEMPERATURE in an *UNCOUPLED TEMPERATURE-DISPLACEMENT step, which computes the temperatures: remove it",
              card.entries.front().place);
    if (forgets(ActingKind::temperature)) s_.temperatures.clear();
    for (const auto& e : card.entries) {
      const Model* m = model_for(Physics::structure, "*TEMPERATURE", e.place);
      if (card.from_file && e.node.set.empty() && b_.node_index.find(e.node.id) < 0) {
        b_.note("nodes in the *TEMPERATURE file that the deck does not have are ignored", e.place);
        continue;
      }
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
  bool with_stress_ = false;
  std::optional<Procedure> procedure_;
  std::set<ActingKind> seen_;
};

}  // namespace voussoir::deck
