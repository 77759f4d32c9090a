#include <voussoir/framework/domain/plastic_material.hpp>
#include <voussoir/framework/io/job/detail/materials.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace voussoir::job {
namespace {

using Table = std::vector<std::pair<double, double>>;

const std::vector<std::string> isotropic = {"young", "poisson", "shear_modulus", "expansion", "conductivity"};
const std::vector<std::string> orthotropic = {"E1",         "E2",         "E3",  "nu12", "nu13",
                                              "nu23",       "G12",        "G13", "G23",  "expansion1",
                                              "expansion2", "expansion3", "k1",  "k2",   "k3"};
const std::vector<std::string> common = {"density", "specific_heat"};
const std::string expansion_reference = "expansion_reference";  // a temperature, not a parameter
const std::string damping = "damping";                          // neither: {"alpha": …, "beta": …}
const std::string plastic = "plastic";                          // nor this: [[yield stress, plastic strain], …]

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

Table read_property(const Json& json) {
  if (!json.is_list()) return {{0.0, json.number()}};
  Table table;
  for (const Json& row : json.items()) {
    const auto pair = row.items();
    if (!row.is_list() || pair.size() != 2) row.fail("a row of a table is [temperature, value]");
    table.emplace_back(pair[0].number(), pair[1].number());
  }
  return table;
}

namespace {

RayleighDamping read_damping(const Json& json) {
  json.allow({"alpha", "beta"});
  RayleighDamping damping;
  for (const auto& [key, value] : json.members()) (key == "alpha" ? damping.mass : damping.stiffness) = value.number();
  return damping;
}

std::shared_ptr<Material> read_plastic_material(const std::string& name, const Json& json) {
  for (const char* other : {"expansion", "shear_modulus"})
    if (json.has(other))
      json.at(other).fail("'plastic' and '" + std::string(other) + "' of a material together are not supported");
  std::vector<HardeningPoint> table;
  for (const Json& row : json.at(plastic).items()) {
    if (!row.is_list() || row.items().size() != 2)
      row.fail("a row of a hardening table is [yield stress, plastic strain]");
    table.push_back({row.items()[0].number(), row.items()[1].number()});
  }
  if (const std::string defect = PlasticMaterial::defect(table); !defect.empty()) json.at(plastic).fail(defect);
  return std::make_shared<PlasticMaterial>(name, std::move(table));
}

std::shared_ptr<const Material> read_material(const std::string& name, const Json& json) {
  std::vector<std::string> known = isotropic;
  known.insert(known.end(), orthotropic.begin(), orthotropic.end());
  known.insert(known.end(), common.begin(), common.end());
  known.push_back(expansion_reference);
  known.push_back(damping);
  known.push_back(plastic);
  json.allow(known);
  bool has_isotropic = false, has_orthotropic = false;
  for (const auto& [key, value] : json.members()) {
    has_isotropic = has_isotropic || contains(isotropic, key) || key == plastic;
    has_orthotropic = has_orthotropic || contains(orthotropic, key);
  }
  if (has_isotropic && has_orthotropic)
    json.fail(
        "the material has both isotropic (young, expansion, …) and orthotropic (E1, k1, …) properties; "
        "use one kind, or define two materials");
  const std::shared_ptr<Material> material = json.has(plastic) ? read_plastic_material(name, json)
                                             : has_orthotropic ? std::make_shared<OrthotropicMaterial>(name)
                                                               : std::make_shared<Material>(name);
  for (const auto& [key, value] : json.members())
    value.doing([&, &key = key, &value = value] {
      if (key == expansion_reference)
        material->set_expansion_reference(value.number());
      else if (key == damping)
        material->set_damping(read_damping(value));
      else if (key != plastic)
        material->set_table(key, read_property(value));
    });
  return material;
}

}  // namespace

Materials read_materials(const Json& json) {
  Materials materials;
  for (const auto& [name, value] : json.members()) materials[name] = read_material(name, value);
  return materials;
}

}  // namespace voussoir::job
