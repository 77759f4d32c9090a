#include <algorithm>
#include <cmath>

#include <voussoir/framework/io/job/detail/actions.hpp>

namespace voussoir::job {
namespace {

/// Where a kind of load can act.
enum class Place { faces, faces_or_points, nodes, elements };

/// What a load needs: displacements, heat conduction, or any field with one unknown per node, as a user's elements
/// have.
enum class Needs { statics, heat, field };

struct Kind {
  std::string name;
  Needs needs;
  Place place;
  std::string purpose;  ///< "a pressure acts on"
};

const std::vector<Kind>& all_kinds() {
  constexpr auto statics = Needs::statics;
  constexpr auto heat = Needs::heat;
  constexpr auto field = Needs::field;
  static const std::vector<Kind> all = {
      {"pressure", statics, Place::faces, "a pressure acts on"},
      {"traction", statics, Place::faces, "a traction acts on"},
      {"total_force", statics, Place::faces_or_points, "a total force is distributed over"},
      {"nodal_force", statics, Place::nodes, "a nodal force acts on"},
      {"nodal_moment", statics, Place::nodes, "a nodal moment acts on"},
      {"gravity", statics, Place::elements, "gravity acts on"},
      {"centrifugal", statics, Place::elements, "rotation acts on"},
      {"temperature", statics, Place::nodes, "a temperature is given to"},
      {"heat_flux", heat, Place::faces, "a heat flux enters through"},
      {"total_heat", heat, Place::faces_or_points, "a total heat flow is distributed over"},
      {"nodal_heat", heat, Place::nodes, "a nodal heat flow enters at"},
      {"convection", heat, Place::faces, "convection acts on"},
      {"radiation", heat, Place::faces, "radiation acts on"},
      {"heat_source", heat, Place::elements, "a heat source acts on"},
      {"inflow", field, Place::faces, "an inflow enters through"},
      {"film", field, Place::faces, "a film acts on"},
      {"source", field, Place::elements, "a source acts on"},
      {"nodal", field, Place::nodes, "a nodal load acts on"},
  };
  return all;
}

const Kind& read_kind(const Json& json) {
  std::vector<std::string> keys = {"name", "group"};
  for (const Kind& kind : all_kinds()) keys.push_back(kind.name);
  json.allow(keys);
  const Kind* found = nullptr;
  for (const Kind& kind : all_kinds()) {
    if (!json.has(kind.name)) continue;
    if (found)
      json.fail("'" + found->name + "' and '" + kind.name +
                "' are given in one load; define two loads, which may share a name");
    found = &kind;
  }
  if (!found) {
    keys.erase(keys.begin(), keys.begin() + 2);
    json.fail("the load has no type; give one of " + list_names(keys));
  }
  return *found;
}

std::vector<double> read_numbers(const Kind& kind, const Json& value) {
  const std::string& name = kind.name;
  if (name == "traction" || name == "total_force" || name == "nodal_force" || name == "nodal_moment" ||
      name == "gravity") {
    const auto v = value.vector();
    return {v.begin(), v.end()};
  }
  if (name == "centrifugal") {
    value.allow({"speed", "point", "axis"});
    const auto point = value.at("point").vector(), axis = value.at("axis").vector();
    if (axis[0] == 0 && axis[1] == 0 && axis[2] == 0) value.at("axis").fail("a direction must not be zero");
    return {value.at("speed").number(), point[0], point[1], point[2], axis[0], axis[1], axis[2]};
  }
  if (name == "convection") {
    value.allow({"film", "sink"});
    return {value.at("film").positive(), value.at("sink").number()};
  }
  if (name == "film") {
    value.allow({"coefficient", "ambient"});
    return {value.at("coefficient").positive(), value.at("ambient").number()};
  }
  if (name == "nodal") {
    std::vector<double> numbers;
    for (const auto& [unknown, number] : value.members()) numbers.push_back(number.number());
    if (numbers.empty()) value.fail("the load is empty; give an unknown and its value: {\"head\": 1.5}");
    return numbers;
  }
  if (name == "radiation") {
    value.allow({"emissivity", "sink", "stefan_boltzmann", "absolute_zero"});
    const double emissivity = value.at("emissivity").positive(), zero = value.at("absolute_zero").number();
    if (emissivity > 1) value.at("emissivity").fail("an emissivity is at most 1");
    if (value.at("sink").number() < zero) value.at("sink").fail("the surroundings are below 'absolute_zero'");
    return {emissivity * value.at("stefan_boltzmann").positive(), value.at("sink").number(), zero};
  }
  return {value.number()};
}

void require_unknowns(const Json& json, const Body& body, const std::vector<std::string>& wanted,
                      const std::vector<double>& numbers) {
  for (std::size_t i = 0; i < numbers.size(); ++i)
    if (numbers[i] != 0 &&
        std::find(body.unknowns().begin(), body.unknowns().end(), wanted[i]) == body.unknowns().end())
      json.fail("nothing in this model has the unknown '" + wanted[i] + "'; its nodes have " +
                list_names(body.unknowns()));
}

/// A vector that says nothing, or not all, would silently do nothing.
void require_vector(const Json& json, const Body& body, const std::vector<double>& numbers) {
  const auto& unknowns = body.unknowns();
  const bool in_space = std::find(unknowns.begin(), unknowns.end(), "uz") != unknowns.end();
  if (in_space && json.items().size() != 3)
    json.fail("the model is three-dimensional: three numbers are expected here");
  if (std::all_of(numbers.begin(), numbers.end(), [](double x) { return x == 0; }))
    json.fail("the vector is zero, so the load would have no effect; correct it, or remove the load");
}

/// Gravity and rotation need a mass to act on.
void require_mass(const Json& json, Body& body, const std::string& set) {
  const Domain& domain = body.domain();
  std::vector<char> acted(domain.block_count(), set.empty());
  if (!set.empty())
    for (const ElementRef& element : domain.element_set(set)) acted[element.block] = 1;
  for (std::size_t b = 0; b < acted.size(); ++b) {
    if (!acted[b]) continue;
    const ElementBlock& block = domain.block(b);
    // Springs and masses have no material; whether they have a mass is seen when the load is assembled.
    if (!block.material() || block.material()->has("density")) return;
  }
  json.fail("no element under this load has a mass, so it would have no effect; give the materials a 'density'");
}

/// What a total force or heat becomes: a share of each node, or per area of the faces.
void spread(const Kind& kind, const Selection& selection, const Json& group, const JobShare* share, Body& body,
            Load& load) {
  const bool is_force = kind.name == "total_force";
  double divisor = 1;
  if (selection.dimension == 0) {
    if (share)
      throw Error(ErrorCode::unavailable,
                  "a total load is not distributed over points in slices of a mesh; give the force of each point "
                  "('nodal_force', 'nodal_heat'), or run without --slices",
                  group.where());
    load.set = body.node_set(selection, group);
    load.kind = is_force ? "nodal_force" : "nodal_heat";
    divisor = static_cast<double>(body.domain().node_set(load.set).size());
  } else {
    load.set = body.surface(selection, group, false);
    load.kind = is_force ? "traction" : "heat_flux";
    divisor = share ? share->total(body.area(load.set, share->is_own)) : body.area(load.set);
    if (!(divisor > 0)) group.fail("the faces of '" + selection.name + "' have no area");
  }
  for (double& number : load.numbers) number /= divisor;
}

/// The body that a load on a field acts on: that of the unknowns which a nodal load names, else the one whose elements
/// have one unknown.
std::size_t body_of_field(const Kind& kind, const Json& json, const Json& value, Model& model) {
  if (kind.name == "nodal") {
    const auto unknowns = value.members();
    const std::size_t body = model.require(model.procedure_of(unknowns.front().first), json, "'nodal'");
    for (const auto& [unknown, number] : unknowns) require_unknowns(number, model.body(body), {unknown}, {1.0});
    return body;
  }
  for (std::size_t b = 0; b < model.body_count(); ++b)
    if (model.body(b).unknowns().size() == 1) return b;
  json.fail("'" + kind.name + "' acts on a field with one unknown per node, but no section has such elements");
}

/// A load case that the part of a superelement had when it was reduced.
Load read_superelement_load(const Json& json, std::size_t number, Model& model) {
  json.allow({"name", "superelement", "load_case"});
  const Json of = json.at("superelement");
  std::vector<std::string> names;
  for (const auto& instance : superelements_of(model.body(0).domain())) {
    names.push_back(instance->name());
    if (instance->name() != of.text()) continue;
    const Json load_case = json.at("load_case");
    load_case.doing([&] { instance->part().load(load_case.text()); });
    Load load{
        json, json.has("name") ? json.at("name").text() : "load " + std::to_string(number), 0, "superelement", {}, {},
        {}};
    load.superelement = instance;
    load.load_of_part = load_case.text();
    return load;
  }
  throw Error(ErrorCode::not_found, "there is no superelement '" + of.text() + "';" + suggest(of.text(), names),
              of.where());
}

Load read_load(const Json& json, std::size_t number, Model& model) {
  if (json.has("superelement")) return read_superelement_load(json, number, model);
  const Kind& kind = read_kind(json);
  const Json value = json.at(kind.name);
  Load load{json, json.has("name") ? json.at("name").text() : "load " + std::to_string(number),
            0,    kind.name,
            {},   read_numbers(kind, value),
            {}};
  if (kind.needs == Needs::field)
    load.body = body_of_field(kind, json, value, model);
  else
    load.body = model.require(kind.needs == Needs::heat ? Procedure::steady_heat : Procedure::statics, json,
                              "'" + kind.name + "'");
  if (kind.name == "nodal")
    for (const auto& [unknown, given] : value.members()) load.unknowns.push_back(unknown);
  Body& body = model.body(load.body);
  if (kind.name == "nodal_force" || kind.name == "total_force")
    require_unknowns(value, body, {"ux", "uy", "uz"}, load.numbers);
  if (kind.name == "nodal_moment") require_unknowns(value, body, {"rx", "ry", "rz"}, load.numbers);

  if (value.is_list()) require_vector(value, body, load.numbers);

  const bool needs_mass = kind.name == "gravity" || kind.name == "centrifugal";
  if (kind.place == Place::elements && !json.has("group")) {
    if (needs_mass) require_mass(value, body, load.set);
    return load;
  }
  const Json group = json.at("group");
  const auto select = [&](const std::vector<int>& dimensions) {
    return model.groups().select(group, dimensions, kind.purpose);
  };
  if (kind.place == Place::nodes) {
    load.set = body.node_set(select({0, 1, 2, 3}), group);
  } else if (kind.place == Place::elements) {
    load.set = body.element_set(select(body.element_dimensions()), group);
    if (needs_mass) require_mass(value, body, load.set);
  } else {
    std::vector<int> dimensions = body.face_dimensions();
    if (kind.place == Place::faces_or_points) dimensions.push_back(0);
    if (dimensions.empty())
      value.fail(kind.purpose + " faces, and trusses, beams, springs and masses have none; use a nodal load");
    const Selection selection = select(dimensions);
    if (kind.place == Place::faces_or_points)
      spread(kind, selection, group, model.share(), body, load);
    else
      load.set = body.surface(
          selection, group,
          kind.name == "pressure" || kind.name == "convection" || kind.name == "radiation" || kind.name == "film");
  }
  return load;
}

}  // namespace

std::vector<Load> read_loads(const Json& json, Model& model) {
  std::vector<Load> loads;
  for (const Json& item : json.items()) loads.push_back(read_load(item, loads.size() + 1, model));
  return loads;
}

void read_initial_temperature(const Json& json, Model& model) {
  if (json.is_number()) {
    for (std::size_t b = 0; b < model.body_count(); ++b) model.body(b).domain().set_initial_temperature(json.number());
    return;
  }
  for (const Json& item : json.items()) {
    item.allow({"group", "value"});
    const double value = item.at("value").number();
    const Json group = item.at("group");
    const Selection selection = model.groups().select(group, {0, 1, 2, 3}, "an initial temperature is given to");
    // Bodies that conduct and bodies that carry need not have the same elements: one of them must have the nodes.
    bool any = false;
    for (std::size_t b = 0; b < model.body_count(); ++b) {
      Body& body = model.body(b);
      const bool last = b + 1 == model.body_count();
      if (!body.has_nodes(selection) && (any || !last)) continue;
      body.domain().set_initial_temperature(body.node_set(selection, group), value);
      any = true;
    }
  }
}

void apply_load(const Load& load, double factor, const Domain& domain, LoadCase& c) {
  const auto& v = load.numbers;
  const auto scaled = [&] { return std::array<double, 3>{factor * v[0], factor * v[1], factor * v[2]}; };
  const auto nodal = [&](const char* const* unknowns) {
    for (std::size_t i = 0; i < v.size(); ++i)
      if (v[i] != 0) c.nodal(load.set, unknowns[i], factor * v[i]);
  };
  static const char* const displacements[] = {"ux", "uy", "uz"};
  static const char* const rotations[] = {"rx", "ry", "rz"};
  static const char* const temperature[] = {"T"};
  if (load.kind == "superelement") load.superelement->apply(c, load.load_of_part, factor);
  if (load.kind == "pressure") c.pressure(load.set, factor * v[0]);
  if (load.kind == "traction") c.traction(load.set, scaled());
  if (load.kind == "nodal_force") nodal(displacements);
  if (load.kind == "nodal_moment") nodal(rotations);
  if (load.kind == "nodal_heat") nodal(temperature);
  if (load.kind == "gravity") c.gravity(load.set, scaled());
  if (load.kind == "temperature")
    for (const std::int32_t n : domain.node_set(load.set)) {
      const double initial = domain.initial_temperature(n);
      c.temperature_at(domain.node_id(n), factor == 1 ? v[0] : initial + factor * (v[0] - initial));
    }
  if (load.kind == "heat_flux") c.heat_flux(load.set, factor * v[0]);
  if (load.kind == "heat_source") c.heat_source(load.set, factor * v[0]);
  if (load.kind == "inflow") c.inflow(load.set, factor * v[0]);
  if (load.kind == "source") c.source(load.set, factor * v[0]);
  if (load.kind == "film") c.film(load.set, v[0], v[1]);
  if (load.kind == "nodal")
    for (std::size_t i = 0; i < v.size(); ++i) c.nodal(load.set, load.unknowns[i], factor * v[i]);
  if (load.kind == "convection") c.convection(load.set, v[0], v[1]);
  if (load.kind == "radiation") c.radiation(load.set, v[0], v[1], v[2]);
  if (load.kind == "centrifugal")  // the force grows with the square of the speed
    c.centrifugal(load.set, std::sqrt(factor) * v[0], {v[1], v[2], v[3]}, {v[4], v[5], v[6]});
}

std::string add_load_case(const Load& load, double factor, const std::string& name, Domain& domain) {
  std::string free_name = name;
  const auto taken = [&] {
    return std::any_of(domain.load_cases().begin(), domain.load_cases().end(),
                       [&](const auto& other) { return other->name() == free_name; });
  };
  for (int k = 2; taken(); ++k) free_name = name + " (" + std::to_string(k) + ")";
  LoadCase& load_case = domain.add_load_case(free_name);
  load.json.doing([&] { apply_load(load, factor, domain, load_case); });
  return free_name;
}

}  // namespace voussoir::job
