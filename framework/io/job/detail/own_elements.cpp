#include <voussoir/framework/io/job/detail/own_elements.hpp>

#include <algorithm>

#include <voussoir/framework/domain/element_type.hpp>
#include <voussoir/framework/domain/shape_topology.hpp>

namespace voussoir::job {
namespace {

template <class List, class Value>
bool contains(const List& list, const Value& value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

int dimension_of(const ElementType& type) { return type.shape().empty() ? 0 : shape_topology(type.shape()).dim; }

/// The registered types that a name stands for: the type itself, or all shapes of a law ("seepage": "seepage.hex8", …).
std::vector<const ElementType*> types_named(const Json& json) {
  const std::string& name = json.text();
  const ElementLibrary& library = ElementLibrary::instance();
  if (const ElementType* type = library.find_if(name)) return {type};
  std::vector<const ElementType*> found;
  std::vector<std::string> laws;
  for (const std::string& type_name : library.names()) {
    const std::string law = type_name.substr(0, type_name.find('.'));
    if (!contains(laws, law)) laws.push_back(law);
    if (law != name) continue;
    const ElementType& type = library.find(type_name);
    if (type_name == law + "." + type.shape()) found.push_back(&type);
  }
  if (found.empty())
    throw Error(ErrorCode::not_found,
                "there is no element type '" + name + "';" + suggest(name, laws) +
                    " A type of your own is in a library that --load names on the command line",
                json.where());
  return found;
}

/// What the types have in common.
std::shared_ptr<const Physics> physics_of(const std::string& name, const std::vector<const ElementType*>& types,
                                          int dimension) {
  const auto unknowns = types.front()->program().unknown_names();
  auto physics = std::make_shared<Physics>();
  physics->name = name;
  physics->dimension = dimension;
  physics->procedure = unknowns.size() == 1 && unknowns[0] == "T" ? Procedure::steady_heat : Procedure::statics;
  physics->plane = dimension == 2 || (contains(unknowns, "uy") && !contains(unknowns, "uz"));
  physics->continuum = dimension >= 2;
  physics->anywhere = dimension < 2 && !contains(unknowns, "uy");
  physics->material = false;
  return physics;
}

/// "parameters": numbers and, unless there is a material as well, tables over temperature.
void read_parameters(const Json& json, const std::vector<const ElementType*>& types, Section& section) {
  std::vector<std::string> known;
  for (const ElementType* type : types)
    for (const auto& name : type->program().parameter_names())
      if (!contains(known, std::string(name))) known.emplace_back(name);
  json.allow(known);
  std::shared_ptr<Material> own;
  for (const auto& [name, value] : json.members()) {
    if (section.material || name == "thickness") {
      if (value.is_list())
        value.fail(
            "a table cannot be given beside a 'material', nor as a thickness; give a number, or all parameters here");
      section.numbers.emplace_back(name, value.number());
      continue;
    }
    if (!own) own = std::make_shared<Material>(section.physics->name);
    value.doing([&, &name = name, &value = value] { own->set_table(name, read_property(value)); });
  }
  if (own) section.material = own;
}

}  // namespace

Section read_own_section(const Json& json, const Groups& groups, const Materials& materials) {
  json.allow({"group", "element", "material", "parameters", "orientation"});
  const Json name = json.at("element");
  const auto types = types_named(name);
  std::vector<int> dimensions;
  for (const ElementType* type : types) {
    if (type->shape().empty() && type->program().nodes() != 1)
      name.fail("element type '" + type->name() + "' has no shape, so no elements of a mesh can be of this type");
    if (!contains(dimensions, dimension_of(*type))) dimensions.push_back(dimension_of(*type));
  }
  const Selection selection = groups.select(json.at("group"), dimensions, name.text() + " elements are");
  auto physics = physics_of(name.text(), types, selection.dimension);
  Section section{json, physics.get(), selection, nullptr, {}, {}, physics};
  if (json.has("material")) section.material = find_material(json.at("material"), materials);
  if (json.has("orientation")) section.orientation = read_orientation(json.at("orientation"));
  if (json.has("parameters")) read_parameters(json.at("parameters"), types, section);
  return section;
}

std::string own_element_type(const Section& section, const std::string& shape) {
  const auto types = types_named(section.json.at("element"));
  std::vector<std::string> shapes;
  for (const ElementType* type : types) {
    const std::string own = type->shape().empty() ? "point" : type->shape();
    if (own == shape) return type->name();
    shapes.push_back(own);
  }
  section.json.at("element").fail("'" + section.physics->name + "' elements have the shape " + list_names(shapes) +
                                  ", but '" + section.selection.name + "' has " + shape);
}

}  // namespace voussoir::job
