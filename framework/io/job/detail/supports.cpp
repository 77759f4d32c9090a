#include <algorithm>
#include <cmath>

#include <voussoir/framework/io/job/detail/actions.hpp>

namespace voussoir::job {
namespace {

const std::vector<std::string> all_unknowns = {"ux", "uy", "uz", "rx", "ry", "rz", "T"};

void require_unknown(const Json& json, const Body& body, const std::string& unknown) {
  const auto& names = body.unknowns();
  if (std::find(names.begin(), names.end(), unknown) == names.end())
    json.fail("nothing in this model has the unknown '" + unknown + "'; its nodes have " + list_names(names));
}

/// The unknowns that a job may speak of: ours, and those of a user's elements.
std::vector<std::string> unknowns_of(Model& model) {
  std::vector<std::string> names = all_unknowns;
  for (std::size_t b = 0; b < model.body_count(); ++b)
    for (const std::string& name : model.body(b).unknowns())
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  return names;
}

Support read_support(const Json& json, std::size_t number, Model& model) {
  std::vector<std::string> keys = {"name", "group", "all", "along"};
  const std::vector<std::string> unknowns = unknowns_of(model);
  keys.insert(keys.end(), unknowns.begin(), unknowns.end());
  json.allow(keys);
  const bool heat = json.has("T") && model.procedure_of("T") == Procedure::steady_heat;
  bool others = json.has("T") && !heat;
  for (const std::string& key : keys)
    others = others || (key != "name" && key != "group" && key != "T" && json.has(key));
  if (heat && others)
    json.fail("'T' and displacements are given in one support; define two supports of the same group");
  if (!heat && !others)
    json.fail("the support prescribes nothing; give 'all', or one or more of " + list_names(unknowns));

  Support support{json, json.has("name") ? json.at("name").text() : "support " + std::to_string(number), 0, {}, {}, {}};
  support.body = model.require(heat ? Procedure::steady_heat : Procedure::statics, json,
                               heat ? "a support of 'T'" : "a support of displacements");
  Body& body = model.body(support.body);
  const Json group = json.at("group");
  const std::string set = body.node_set(model.groups().select(group, {0, 1, 2, 3}, "a support restrains"), group);
  const auto nodes = body.domain().node_set(set);
  support.nodes.assign(nodes.begin(), nodes.end());
  for (const auto& [key, value] : json.members()) {
    if (key == "name" || key == "group" || key == "along") continue;
    if (key != "all") require_unknown(value, body, key);
    support.values.emplace_back(key, value.number());
  }
  if (json.has("along")) {
    const Json along = json.at("along");
    along.allow({"direction", "value"});
    const Json direction = along.at("direction");
    auto d = direction.vector();
    const double length = std::hypot(d[0], d[1], d[2]);
    if (!(length > 0) || !std::isfinite(length)) direction.fail("a direction must not be zero");
    for (double& x : d) x /= length;
    const char* const names[] = {"ux", "uy", "uz"};
    for (int i = 0; i < 3; ++i)
      if (d[i] != 0) require_unknown(direction, body, names[i]);
    support.along.emplace(d, along.has("value") ? along.at("value").number() : 0.0);
  }
  return support;
}

/// The one node that a term of an equation names, by id or by group.
Id read_node(const Json& term, Model& model, Body& body) {
  if (term.has("node") == term.has("group")) term.fail("a term names its node by 'node' (a number) or by 'group'");
  if (term.has("node")) {
    const Json json = term.at("node");
    const double number = json.number();
    if (!(std::abs(number) < 9e15) || number != std::floor(number)) json.fail("a node number must be an integer");
    const Id id = static_cast<Id>(number);
    if (!body.domain().has_node(id)) json.fail("no element with a section uses a node " + std::to_string(id));
    return id;
  }
  const Json group = term.at("group");
  const std::string set = body.node_set(model.groups().select(group, {0, 1, 2, 3}, "a term names"), group);
  const auto nodes = body.domain().node_set(set);
  if (nodes.size() != 1)
    group.fail("'" + set + "' has " + std::to_string(nodes.size()) + " nodes, but a term of an equation has one");
  return body.domain().node_id(nodes[0]);
}

}  // namespace

std::optional<std::size_t> Model::find(Procedure procedure) const {
  for (std::size_t i = 0; i < bodies_.size(); ++i)
    if (bodies_[i].procedure() == procedure) return i;
  return std::nullopt;
}

Procedure Model::procedure_of(const std::string& unknown) const {
  const auto has = [&](const std::optional<std::size_t>& body) {
    return body && std::find(bodies_[*body].unknowns().begin(), bodies_[*body].unknowns().end(), unknown) !=
                       bodies_[*body].unknowns().end();
  };
  const auto heat = find(Procedure::steady_heat), statics = find(Procedure::statics);
  if (unknown == "T") return !heat && has(statics) ? Procedure::statics : Procedure::steady_heat;
  return has(heat) && !has(statics) ? Procedure::steady_heat : Procedure::statics;
}

std::size_t Model::require(Procedure procedure, const Json& json, const std::string& what) const {
  const auto found = find(procedure);
  if (!found)
    json.fail(what + (procedure == Procedure::statics
                          ? " concerns displacements, but no section has any; use a physics such as 'solid'"
                          : " concerns heat, but no section conducts heat; use a physics such as 'heat'"));
  return *found;
}

std::vector<Support> read_supports(const Json& json, Model& model) {
  std::vector<Support> supports;
  for (const Json& item : json.items()) supports.push_back(read_support(item, supports.size() + 1, model));
  return supports;
}

void apply_support(const Support& support, Supports& supports) {
  for (const std::int32_t node : support.nodes) {
    for (const auto& [unknown, value] : support.values) supports.values.push_back({node, unknown, value});
    if (support.along) supports.oblique.push_back({node, support.along->first, support.along->second});
  }
}

std::vector<Prescribed> prescribed_values(const Support& support) {
  Supports supports;
  apply_support(support, supports);
  return std::move(supports.values);
}

void read_equations(const Json& json, Model& model) {
  for (const Json& equation : json.items()) {
    equation.allow({"terms", "constant"});
    std::vector<Domain::EquationTerm> terms;
    std::optional<std::size_t> body;
    for (const Json& term : equation.at("terms").items()) {
      term.allow({"node", "group", "unknown", "coefficient"});
      const std::string& unknown = term.at("unknown").choice(unknowns_of(model));
      const std::size_t own = model.require(model.procedure_of(unknown), term, "'" + unknown + "'");
      if (body && *body != own) term.fail("an equation cannot couple displacements and temperatures");
      body = own;
      require_unknown(term.at("unknown"), model.body(own), unknown);
      terms.push_back({read_node(term, model, model.body(own)), unknown, term.at("coefficient").number()});
    }
    if (!body) equation.fail("the equation has no terms");
    const double constant = equation.has("constant") ? equation.at("constant").number() : 0.0;
    equation.doing(
        [&] { model.body(*body).domain().add_equation(terms, constant, "equation at " + equation.where()); });
  }
}

}  // namespace voussoir::job
