#include <voussoir/framework/io/job/detail/sections.hpp>

#include <algorithm>

#include <voussoir/framework/domain/cross_section.hpp>
#include <voussoir/framework/domain/element_type.hpp>
#include <voussoir/framework/io/detail/derived_table.hpp>
#include <voussoir/framework/io/job/detail/own_elements.hpp>

namespace voussoir::job {
namespace {

const std::vector<Physics>& all_physics() {
  constexpr auto statics = Procedure::statics;
  constexpr auto heat = Procedure::steady_heat;
  static const std::vector<Physics> all = {
      {"solid", 3, statics, false, true, true, {}, {}},
      {"finite_solid", 3, statics, false, true, true, {}, {}},
      {"plane_stress", 2, statics, true, true, true, {"thickness"}, {}},
      {"plane_strain", 2, statics, true, true, true, {"thickness"}, {}},
      {"axisymmetric", 2, statics, true, true, true, {}, {}},
      {"heat", 3, heat, false, true, true, {}, {}},
      {"plane_heat", 2, heat, true, true, true, {"thickness"}, {}},
      {"axisymmetric_heat", 2, heat, true, true, true, {}, {}},
      {"truss", 1, statics, false, false, true, {"area"}, {}},
      {"plane_truss", 1, statics, true, false, true, {"area"}, {}},
      {"beam",
       1,
       statics,
       false,
       false,
       true,
       {"area", "inertia_y", "inertia_z", "torsion", "shear_area_y", "shear_area_z"},
       {"shear_area_y", "shear_area_z"}},
      {"spring", 1, statics, false, false, false, {"kx", "ky", "kz"}, {"kx", "ky", "kz"}},
      {"plane_spring", 1, statics, true, false, false, {"kx", "ky"}, {"kx", "ky"}},
      {"spring_axial", 1, statics, false, false, false, {"stiffness"}, {}},
      {"plane_spring_axial", 1, statics, true, false, false, {"stiffness"}, {}},
      {"spring_to_ground", 0, statics, false, false, false, {"kx", "ky", "kz"}, {"kx", "ky", "kz"}},
      {"plane_spring_to_ground", 0, statics, true, false, false, {"kx", "ky"}, {"kx", "ky"}},
      {"mass", 0, statics, false, false, false, {"mass"}, {}},
      {"plane_mass", 0, statics, true, false, false, {"mass"}, {}},
  };
  return all;
}

const Physics& read_physics(const Json& json) {
  std::vector<std::string> names;
  for (const Physics& p : all_physics()) names.push_back(p.name);
  const std::string& name = json.choice(names);
  return *std::find_if(all_physics().begin(), all_physics().end(), [&](const Physics& p) { return p.name == name; });
}

std::array<double, 3> direction(const Json& json) {
  const auto v = json.vector();
  if (v[0] == 0 && v[1] == 0 && v[2] == 0) json.fail("a direction must not be zero");
  return v;
}

}  // namespace

Orientation read_orientation(const Json& json) {
  json.allow({"axis1", "axis2", "axis_from", "axis_to"});
  const bool cylindrical = json.has("axis_from") || json.has("axis_to");
  if (cylindrical && (json.has("axis1") || json.has("axis2")))
    json.fail("give either 'axis1' and 'axis2' (the same everywhere), or 'axis_from' and 'axis_to' (around an axis)");
  return json.doing([&] {
    return cylindrical ? Orientation::cylindrical(json.at("axis_from").vector(), json.at("axis_to").vector())
                       : Orientation::rectangular(direction(json.at("axis1")), direction(json.at("axis2")));
  });
}

std::shared_ptr<const Material> find_material(const Json& name, const Materials& materials) {
  const auto it = materials.find(name.text());
  if (it != materials.end()) return it->second;
  std::vector<std::string> names;
  for (const auto& [known, material] : materials) names.push_back(known);
  throw Error(ErrorCode::not_found, "there is no material '" + name.text() + "';" + suggest(name.text(), names),
              name.where());
}

namespace {

using Numbers = std::vector<std::pair<std::string, double>>;

/// Shear areas are those for Poisson's ratio 0, as docs/job-file.md says.
Numbers numbers_of(const CrossSection& s) {
  return {{"area", s.area},       {"inertia_y", s.inertia_y},       {"inertia_z", s.inertia_z},
          {"torsion", s.torsion}, {"shear_area_y", s.shear_area_y}, {"shear_area_z", s.shear_area_z}};
}

Numbers read_profile(const Json& json) {
  json.allow({"rectangle", "circle", "pipe"});
  if (json.members().size() != 1) json.fail("give one of 'rectangle', 'circle' and 'pipe'");
  const auto pair = [](const Json& list) {
    const auto v = list.items();
    if (v.size() != 2) list.fail("two numbers are expected here");
    return std::array<double, 2>{v[0].positive(), v[1].positive()};
  };
  if (json.has("circle")) {
    const double diameter = json.at("circle").positive();
    return numbers_of(CrossSection::ellipse(diameter, diameter, 0));
  }
  if (json.has("pipe")) {
    const auto [outer, wall] = pair(json.at("pipe"));
    if (2 * wall > outer) json.at("pipe").fail("a pipe is [outer diameter, wall], and the wall is at most half of it");
    return numbers_of(CrossSection::tube(outer / 2, wall, 0));
  }
  const auto [y, z] = pair(json.at("rectangle"));
  return numbers_of(CrossSection::rectangle(y, z, 0));
}

void read_numbers(const Json& json, Section& section) {
  const Physics& physics = *section.physics;
  const bool is_beam = physics.name == "beam";
  const bool has_profile = is_beam && json.has("profile");
  if (has_profile) section.numbers = read_profile(json.at("profile"));
  for (const std::string& name : physics.numbers) {
    const bool may_be_zero =
        std::find(physics.defaults.begin(), physics.defaults.end(), name) != physics.defaults.end();
    if (!json.has(name)) {
      if (has_profile || name == "thickness") continue;
      if (!may_be_zero) json.fail("'" + name + "' is missing; " + physics.name + " elements need it");
      section.numbers.emplace_back(name, 0.0);
      continue;
    }
    const Json value = json.at(name);
    if (has_profile) value.fail("the profile gives '" + name + "' already");
    if (may_be_zero && value.number() < 0) value.fail("must not be negative");
    section.numbers.emplace_back(name, may_be_zero ? value.number() : value.positive());
  }
  if (is_beam) {
    const auto d = direction(json.at("direction"));
    const char* const names[] = {"orientation_x", "orientation_y", "orientation_z"};
    for (int i = 0; i < 3; ++i) section.numbers.emplace_back(names[i], d[i]);
  }
}

Section read_section(const Json& json, const Groups& groups, const Materials& materials) {
  if (json.has("element")) {
    if (json.has("physics")) json.fail("give either 'physics' or 'element', the name of an element type");
    return read_own_section(json, groups, materials);
  }
  const Physics& physics = read_physics(json.at("physics"));
  std::vector<std::string> keys = {"group", "physics"};
  if (physics.material) keys.insert(keys.end(), {"material"});
  if (physics.continuum) keys.insert(keys.end(), {"formulation", "orientation"});
  keys.insert(keys.end(), physics.numbers.begin(), physics.numbers.end());
  if (physics.name == "beam") keys.insert(keys.end(), {"profile", "direction"});
  json.allow(keys);

  Section section{
      json, &physics, groups.select(json.at("group"), {physics.dimension}, physics.name + " elements are"), nullptr, {},
      {},   nullptr};
  if (physics.material) {
    section.material = find_material(json.at("material"), materials);
    if (physics.name == "beam") section.material = with_shear_modulus(section.material);
  }
  if (json.has("orientation")) section.orientation = read_orientation(json.at("orientation"));
  read_numbers(json, section);
  return section;
}

}  // namespace

std::vector<Section> read_sections(const Json& json, const Groups& groups, const Materials& materials) {
  std::vector<Section> sections;
  for (const Json& item : json.items()) sections.push_back(read_section(item, groups, materials));
  if (sections.empty()) json.fail("there is no section; define one for at least one group");
  const Section* first = nullptr;
  for (const Section& section : sections) {
    if (section.physics->anywhere) continue;
    if (!first) first = &section;
    if (section.physics->plane != first->physics->plane)
      section.json.fail("'" + section.physics->name + "' and '" + first->physics->name +
                        "' cannot be combined: one is plane, the other three-dimensional (a plane model has "
                        "plane_truss, plane_spring and plane_mass)");
  }
  const auto is_ring = [](const Section& s) { return s.physics && s.physics->name.starts_with("axisymmetric"); };
  const auto ring = std::find_if(sections.begin(), sections.end(), is_ring);
  for (const Section& section : sections)
    if (ring != sections.end() && section.physics && section.physics->continuum && !is_ring(section))
      section.json.fail("'" + section.physics->name + "' and '" + ring->physics->name +
                        "' cannot be combined: their coordinates and forces have different meanings; use jobs of "
                        "their own");
  return sections;
}

Section stand_in_section(const Groups& groups, int dimension, const std::string& name) {
  const char* const physics_of[] = {"mass", "truss", "plane_stress", "solid"};
  const auto physics = std::find_if(all_physics().begin(), all_physics().end(),
                                    [&](const Physics& p) { return p.name == physics_of[dimension]; });
  Section section{Json::parse("{}", name), &*physics, groups.everything(dimension), nullptr, {}, {}, nullptr};
  if (dimension == 0) section.numbers = {{"mass", 1}};
  if (dimension == 1) section.numbers = {{"area", 1}};
  if (dimension > 0) section.material = std::make_shared<IsotropicMaterial>("none", 1.0, 0.0);
  return section;
}

std::string element_type(const Section& section, const std::string& shape) {
  if (section.own) return own_element_type(section, shape);
  const Physics& physics = *section.physics;
  const ElementLibrary& library = ElementLibrary::instance();
  const std::string law = section.material ? section.material->law() : std::string();
  if (law == "plastic" && physics.name != "finite_solid" && physics.name != "solid")
    section.json.fail("material '" + section.material->name() +
                      "' is plastic: give the section \"physics\": \"solid\" or \"finite_solid\", or another material");
  const auto known = [&](const std::string& type) {
    return library.find_if(law.empty() ? type : law + "_" + type) != nullptr;
  };
  if (!physics.continuum) {
    const ElementType* type = library.find_if(physics.name);
    const std::string wanted = physics.dimension == 0 ? "point" : type ? type->shape() : "";
    if (!wanted.empty() && wanted != shape)
      section.json.fail(physics.name + " elements have the shape " + wanted + ", but '" + section.selection.name +
                        "' has " + shape + "; set Mesh.ElementOrder=1 in Gmsh for them");
    if (!known(physics.name))
      section.json.fail("there are no " + physics.name +
                        " elements for orthotropic materials; give the material 'young'");
    return physics.name;
  }
  const std::string plain = physics.name + "." + shape;
  if (law == "plastic" && plain == "solid.hex8" && !section.json.has("formulation"))
    section.json.fail(
        "hexahedra with incompatible modes cannot be plastic: give the section \"formulation\": \"full\", or use hex20 "
        "elements");
  if ((physics.name == "finite_solid" || law == "plastic") && !known(plain) && plain != "solid.hex8")
    section.json.fail("there are no " + plain + " elements" + (law.empty() ? "" : " for " + law + " materials") +
                      (law == "plastic"
                           ? "; plastic solids are tet4, tet10, hex8 and hex20"
                           : "; solids with large displacements are isotropic tet4, tet10, wedge6, wedge15, "
                             "hex8 and hex20"));
  if (!section.json.has("formulation")) return plain;
  const Json formulation = section.json.at("formulation");
  const std::string& word = formulation.choice({"default", "full", "reduced", "bbar", "incompatible"});
  // A shape without variants is integrated fully.
  if ((word == "default" && known(plain)) || (word == "full" && !known(plain + ".full"))) return plain;
  const std::string type = plain + "." + word;
  if (!known(type)) {
    std::string there;
    for (const char* other : {"full", "reduced", "bbar", "incompatible"})
      if (known(plain + "." + other)) there += std::string(there.empty() ? "" : ", ") + "'" + other + "'";
    formulation.fail(
        "there are no " + type + " elements" + (law.empty() ? "" : " for " + law + " materials") +
        "; for this shape, " +
        (known(plain) ? "write 'default'" + (there.empty() ? "" : " or one of " + there) : "write " + there));
  }
  return type;
}

}  // namespace voussoir::job
