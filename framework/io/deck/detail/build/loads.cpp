#include <algorithm>
#include <cmath>
#include <map>

#include <voussoir/framework/io/deck/detail/build/steps.hpp>

namespace voussoir::deck {

std::string LoadMaker::surface_of(Model& m, const std::string& kind, Faces faces) {
  std::uint64_t hash = 1469598103934665603ull;
  for (const FaceRef& f : faces) hash = (hash ^ face_key(f)) * 1099511628211ull;
  const auto key = std::tuple{m.index * 2 + (kind == "elements"), faces.size(), hash};
  if (const auto it = surfaces_.find(key); it != surfaces_.end()) return it->second;
  // Names of decks are in upper case, so that this one is free.
  const std::string name = kind + " " + std::to_string(surfaces_.size() + 1);
  if (kind == "elements") {
    std::vector<Id> ids;
    for (const FaceRef& f : faces) ids.push_back(std::as_const(*m.domain).block(f.block).id(f.element));
    m.domain->add_element_set(name, ids);
  } else {
    m.domain->add_surface(name, faces);
  }
  return surfaces_.emplace(key, name).first->second;
}

std::string LoadMaker::make(Model& m, const std::string& name, ActingState& state, const StepTime& time, bool heated) {
  record_ = {};
  if (m.physics == Physics::heat) {
    nodal(m, state.flows.acting(), time);
    heat(m, state, time);
  } else {
    nodal(m, state.forces.acting(), time);
    pressures(m, state.pressures.acting(), time);
    pressures(m, state.surface_pressures.acting(), time);
    network_pressures(m, state, time);
    bodies(m, state, time);
    temperatures(m, state, time, heated);
  }
  if (record_.empty()) return "";
  auto& [last_name, last] = last_[m.index];
  if (last_name.empty() || record_ != last) {
    record_.apply(m.domain->add_load_case(name));
    last_name = name;
    last = std::move(record_);
  }
  return last_name;
}

void LoadMaker::nodal(Model& m, const std::vector<Acting>& acting, const StepTime& time) {
  for (const Acting& a : acting) {
    const double value = a.value * factor_of(a, time);
    if (value == 0) continue;
    const std::int32_t n = node_of_key(a.key);
    const int dof = dof_of_key(a.key);
    const auto add = [&](Unknown u, double v) {
      record_.nodal.push_back({m.domain->node_id(u.node), unknown_name(m.physics, u.component), v});
    };
    if (m.physics == Physics::structure && dof <= 3 && build_.has_axes(n) && !build_.aliases.contains({n, dof})) {
      const Orientation::Axes axes = build_.axes(n);
      for (int k = 0; k < 3; ++k) {
        const double part = value * axes[3 * (dof - 1) + k];
        if (std::abs(part) <= 1e-14 * std::abs(value)) continue;
        if (k >= build_.translations(m, n))
          build_.fail("the load of node " + build_.node_name(n) +
                          " acts out of the plane of its elements because of its *TRANSFORM",
                      a.place);
        add({n, k}, part);
      }
    } else {
      add(build_.unknown(m, n, dof), value);
    }
  }
}

namespace {

/// Faces (elements) under the same value, with what adds up added.
template <class Value>
std::map<Value, std::vector<FaceRef>> by_value(const std::vector<Acting>& acting, const StepTime& time,
                                               Value (*value_of)(const Acting&, double factor)) {
  std::map<Value, std::vector<FaceRef>> groups;
  for (std::size_t i = 0; i < acting.size();) {
    Value sum{};
    std::size_t end = i;
    for (; end < acting.size() && acting[end].key == acting[i].key; ++end) {
      const Value v = value_of(acting[end], factor_of(acting[end], time));
      if constexpr (std::is_same_v<Value, double>)
        sum += v;
      else
        sum = v;
    }
    groups[sum].push_back(face_of_key(acting[i].key));
    i = end;
  }
  return groups;
}

double plain_value(const Acting& a, double factor) { return a.value * factor; }
/// What acts, with the factors of coefficients.
std::vector<Acting> with_coefficients(std::vector<Acting> films, const StepTime& time) {
  for (Acting& a : films)
    if (a.extra_amplitude) a.extra *= factor_of(a.extra_amplitude, time);
  return films;
}
/// (film coefficient, sink): an amplitude is that of the sink.
std::pair<double, double> film_value(const Acting& a, double factor) { return {a.extra, a.value * factor}; }

}  // namespace

void LoadMaker::pressures(Model& m, const std::vector<Acting>& acting, const StepTime& time) {
  for (auto& [value, faces] : by_value<double>(acting, time, plain_value))
    if (value != 0) record_.surfaces.push_back({"pressure", surface_of(m, "pressure", std::move(faces)), {value}});
}

void LoadMaker::network_pressures(Model& m, ActingState& state, const StepTime& time) {
  std::map<double, std::vector<FaceRef>> groups;
  const auto& prescribed = state.supports.acting();
  for (const Acting& a : state.network_pressures.acting()) {
    const auto node = static_cast<std::int32_t>(a.extra);
    const auto given = std::lower_bound(prescribed.begin(), prescribed.end(), node_key(node, 2),
                                        [](const Acting& h, std::uint64_t key) { return h.key < key; });
    if (given == prescribed.end() || given->key != node_key(node, 2))
      build_.fail("the load uses the pressure of node " + build_.node_name(node) +
                      ", which is not defined: give it by *BOUNDARY with degree of freedom 2 (flow in networks is not "
                      "solved)",
                  a.place);
    const double pressure = given->value * factor_of(given->amplitude, time) * factor_of(a.amplitude, time);
    groups[pressure].push_back(face_of_key(a.key));
  }
  for (auto& [value, faces] : groups)
    if (value != 0) record_.surfaces.push_back({"pressure", surface_of(m, "pressure", std::move(faces)), {value}});
}

void LoadMaker::heat(Model& m, ActingState& state, const StepTime& time) {
  for (auto& [value, faces] : by_value<double>(state.fluxes.acting(), time, plain_value))
    if (value != 0) record_.surfaces.push_back({"flux", surface_of(m, "flux", std::move(faces)), {value}});
  for (auto& [value, elements] : by_value<double>(state.sources.acting(), time, plain_value))
    if (value != 0) record_.bodies.push_back({"source", surface_of(m, "elements", std::move(elements)), {value}});
  for (auto& [value, faces] :
       by_value<std::pair<double, double>>(with_coefficients(state.films.acting(), time), time, film_value))
    if (value.first != 0)
      record_.surfaces.push_back({"convection", surface_of(m, "film", std::move(faces)), {value.first, value.second}});
  for (auto& [value, faces] :
       by_value<std::pair<double, double>>(with_coefficients(state.radiations.acting(), time), time, film_value)) {
    if (value.first == 0) continue;
    const double zero = *build_.deck.absolute_zero;
    if (value.second < zero)
      build_.fail("the amplitude makes the ambient temperature of radiation fall below ABSOLUTE ZERO",
                  state.radiations.acting().front().place);
    record_.surfaces.push_back({"radiation",
                                surface_of(m, "radiation", std::move(faces)),
                                {value.first * *build_.deck.stefan_boltzmann, value.second, zero}});
  }
}

void LoadMaker::check_masses(const Model& m, const BodyActing& load, std::span<const std::size_t> elements,
                             const std::array<double, 3>& direction) {
  std::vector<std::uint8_t> looked(m.domain->block_count(), 0);
  bool heavy = false;
  for (std::size_t e : elements) {
    if (m.ref[e].block < 0 || looked[m.ref[e].block]) continue;
    looked[m.ref[e].block] = 1;
    const ElementBlock& block = std::as_const(*m.domain).block(m.ref[e].block);
    heavy = heavy || block.section().contains("mass");
    if (!block.material()) continue;
    if (!block.material()->has("density"))
      build_.fail("material '" + block.material()->name() + "' of " + build_.element_label(e) +
                      " has no *DENSITY, which " + load.label + " needs; add it",
                  load.place);
    heavy = true;
    const ElementProgram& program = block.type().program();
    if (load.label == "GRAV" && program.components() == 2 && std::abs(direction[2]) > 1e-12)
      build_.fail("GRAV along z cannot act on " + build_.element_label(e) + ", which lies in the xy plane", load.place);
    if (!program.axisymmetric()) continue;
    if (load.label == "GRAV" && std::abs(direction[0]) > 1e-12)
      build_.fail("GRAV on axisymmetric elements must be along y, the axis of the body", load.place);
    if (load.label == "CENTRIF" &&
        (std::abs(std::abs(direction[1]) - 1) > 1e-12 || load.direction[0] != 0 || load.direction[2] != 0))
      build_.fail("CENTRIF on axisymmetric elements must be about y, the axis of the body", load.place);
  }
  if (!heavy) build_.fail(load.label + " needs elements with mass, and there are none among these", load.place);
}

void LoadMaker::bodies(Model& m, const ActingState& state, const StepTime& time) {
  for (const BodyActing& load : state.bodies) {
    const double value = load.value * factor_of(load.amplitude, time, load.imaginary);
    const double* d = load.direction.data() + (load.label == "GRAV" ? 0 : 3);
    const double length = std::hypot(d[0], d[1], d[2]);
    const std::array<double, 3> direction{d[0] / length, d[1] / length, d[2] / length};
    const auto elements = build_.elements_of(load.element, load.place);
    check_masses(m, load, elements, direction);
    if (value == 0) continue;
    std::string set = load.element.set;
    if (set.empty()) {
      set = "element " + std::to_string(load.element.id);
      m.domain->add_element_set(set, std::array{load.element.id});
    }
    if (load.label == "GRAV") {
      record_.bodies.push_back({"gravity", set, {value * direction[0], value * direction[1], value * direction[2]}});
    } else {
      if (value < 0) build_.fail("the amplitude makes the square of the angular velocity negative", load.place);
      record_.bodies.push_back(
          {"centrifugal",
           set,
           {value, load.direction[0], load.direction[1], load.direction[2], direction[0], direction[1], direction[2]}});
    }
  }
}

void LoadMaker::note_unmoved(const Model& m, const std::vector<Acting>& acting) {
  if (acting.empty()) return;
  std::vector<const Acting*> at(m.domain->node_count(), nullptr);
  for (const Acting& a : acting) at[a.key / 16] = &a;
  for (std::int32_t k = 0; k < static_cast<std::int32_t>(m.domain->block_count()); ++k) {
    const ElementBlock& block = std::as_const(*m.domain).block(k);
    if (!block.material()) continue;
    const auto found = build_.deck.materials.find(block.material()->name());
    if (found == build_.deck.materials.end()) continue;
    const MaterialCard& card = found->second;
    if (card.expansion || (card.elastic && card.elastic->rows.size() > 1)) continue;
    const Acting* felt = nullptr;
    for (std::int32_t e = 0; !felt && e < static_cast<std::int32_t>(block.size()); ++e)
      for (std::int32_t n : block.nodes(e))
        if (at[n] && !felt) felt = at[n];
    if (felt)
      build_.note("*TEMPERATURE has no effect on elements of material '" + found->first +
                      "', which has no *EXPANSION; add it for thermal strain",
                  felt->place);
  }
}

void LoadMaker::temperatures(Model& m, ActingState& state, const StepTime& time, bool heated) {
  if (time.share) return;  // temperatures over time are load cases of their own
  const auto& acting = state.temperatures.acting();
  note_unmoved(m, acting);
  if (heated) {
    record_.exists = true;  // the temperatures of the heat step need a case to live in
    for (const Acting& a : acting)
      record_.temperatures.emplace_back(build_.node_ids[a.key / 16], a.value * factor_of(a.amplitude, time));
    return;
  }
  if (acting.empty()) return;
  std::vector<double> field = m.domain->initial_temperatures();
  for (const Acting& a : acting) field[a.key / 16] = a.value * factor_of(a.amplitude, time);
  record_.temperature_field = std::move(field);
}

}  // namespace voussoir::deck
