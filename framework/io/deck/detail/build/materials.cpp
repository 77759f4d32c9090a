#include <algorithm>
#include <cmath>
#include <functional>

#include <voussoir/framework/domain/plastic_material.hpp>
#include <voussoir/framework/io/deck/detail/build/large_displacements.hpp>
#include <voussoir/framework/io/detail/derived_table.hpp>

// Materials: the numbers of the cards in the words of the element library. A material is made anew for each physics,
// since it may be orthotropic in one and not in the other.

namespace voussoir::deck {
namespace {

using Table = std::vector<std::pair<double, double>>;

/// Which numbers a row of a property has.
struct Columns {
  const Build& build;
  const std::string& material;
  const char* card;

  void check(const Property& p, std::size_t wanted, const char* what) const {
    if (p.rows.empty())
      build.fail(std::string(card) + " of material '" + material + "' has no data; give " + what, p.place);
    for (std::size_t i = 0; i < p.rows.size(); ++i) {
      if (p.rows[i].values.size() < wanted)
        build.fail(std::string(card) + " of material '" + material + "' needs " + std::to_string(wanted) +
                       " numbers in row " + std::to_string(i + 1) + ", " + what + "; it has " +
                       std::to_string(p.rows[i].values.size()),
                   p.place);
      if (i > 0 && !(p.rows[i].temperature > p.rows[i - 1].temperature))
        build.fail("temperatures of " + std::string(card) + " of material '" + material + "' must increase, but row " +
                       std::to_string(i + 1) + " is not above the previous one",
                   p.place);
    }
  }
};

Table column(const Property& p, const std::function<double(const std::vector<double>&)>& value) {
  Table table;
  for (const PropertyRow& row : p.rows) table.emplace_back(row.temperature, value(row.values));
  return table;
}
Table column(const Property& p, std::size_t k) {
  return column(p, [k](const std::vector<double>& v) { return v[k]; });
}

/// E1 E2 E3 nu12 nu13 nu23 G12 G13 G23 of nine stiffnesses D1111 D1122 D2222 D1133 D2233 D3333 D1212 D1313 D2323.
std::vector<double> engineering_constants(const std::vector<double>& d) {
  const double a = d[0], b = d[2], c = d[5], f = d[1], g = d[3], h = d[4];
  const double det = a * (b * c - h * h) - f * (f * c - g * h) + g * (f * h - b * g);
  const double s11 = (b * c - h * h) / det, s22 = (a * c - g * g) / det, s33 = (a * b - f * f) / det;
  const double s12 = (g * h - f * c) / det, s13 = (f * h - b * g) / det, s23 = (f * g - a * h) / det;
  return {1 / s11, 1 / s22, 1 / s33, -s12 / s11, -s13 / s11, -s23 / s22, d[6], d[7], d[8]};
}

/// The nine stiffnesses of E1 E2 E3 nu12 nu13 nu23 G12 G13 G23.
std::vector<double> stiffnesses(const std::vector<double>& e) {
  const double a = 1 / e[0], b = 1 / e[1], c = 1 / e[2], f = -e[3] / e[0], g = -e[4] / e[0], h = -e[5] / e[1];
  const double det = a * (b * c - h * h) - f * (f * c - g * h) + g * (f * h - b * g);
  return {(b * c - h * h) / det,
          (g * h - f * c) / det,
          (a * c - g * g) / det,
          (f * h - b * g) / det,
          (f * g - a * h) / det,
          (a * b - f * f) / det,
          e[6],
          e[7],
          e[8]};
}

/// The temperatures of a property's rows.
std::vector<double> knots_of(const Property& p) {
  std::vector<double> knots;
  for (const PropertyRow& row : p.rows) knots.push_back(row.temperature);
  return knots;
}

/// Numbers at a temperature: linear between rows, constant beyond them.
std::vector<double> numbers_at(const Property& p, const std::vector<std::vector<double>>& rows, double temperature) {
  if (temperature <= p.rows.front().temperature) return rows.front();
  for (std::size_t i = 1; i < rows.size(); ++i) {
    const double low = p.rows[i - 1].temperature, high = p.rows[i].temperature;
    if (temperature == high) return rows[i];
    if (temperature > high) continue;
    std::vector<double> values(rows[i].size());
    for (std::size_t k = 0; k < values.size(); ++k)
      values[k] = rows[i - 1][k] + (temperature - low) / (high - low) * (rows[i][k] - rows[i - 1][k]);
    return values;
  }
  return rows.back();
}

bool positive_definite(const std::vector<double>& e) {
  for (int i : {0, 1, 2, 6, 7, 8})
    if (!(e[i] > 0) || !std::isfinite(e[i])) return false;
  for (int i : {3, 4, 5})
    if (!std::isfinite(e[i])) return false;
  const double s12 = e[3] * e[3] * e[1] / e[0], s13 = e[4] * e[4] * e[2] / e[0], s23 = e[5] * e[5] * e[2] / e[1];
  return s12 < 1 && s13 < 1 && s23 < 1 && 1 - s12 - s13 - s23 - 2 * e[3] * e[4] * e[5] * e[2] / e[0] > 0;
}

constexpr const char* orthotropic_names[] = {"E1", "E2", "E3", "nu12", "nu13", "nu23", "G12", "G13", "G23"};

/// Linear elastic without any symmetry: 21 stiffnesses.
class AnisotropicMaterial : public Material {
 public:
  using Material::Material;
  std::string law() const override { return "anisotropic"; }
};

/// The pairs of indices of a row of 21 stiffnesses: the upper triangle of a 6 × 6 matrix, column by column.
constexpr const char* index_pairs[] = {"11", "22", "33", "12", "13", "23"};

bool positive_definite_21(const std::vector<double>& d) {
  double a[6][6];
  for (int j = 0, at = 0; j < 6; ++j)
    for (int i = 0; i <= j; ++i, ++at) a[i][j] = a[j][i] = d[at];
  for (int k = 0; k < 6; ++k) {
    if (!(a[k][k] > 0) || !std::isfinite(a[k][k])) return false;
    for (int i = k + 1; i < 6; ++i)
      for (int j = k + 1; j < 6; ++j) a[i][j] -= a[i][k] * a[k][j] / a[k][k];
  }
  return true;
}

bool is_isotropic(const Property& p) { return p.type.empty() || p.type == "ISO" || p.type == "ISOTROPIC"; }
bool is_orthotropic(const Property& p) { return p.type == "ORTHO" || p.type == "ORTHOTROPIC"; }

struct MaterialBuilder {
  Build& build;
  const std::string& name;
  const MaterialCard& card;

  [[noreturn]] void refuse(const Property& p, const char* keyword, const char* supported) const {
    build.fail(std::string(keyword) + ", TYPE=" + p.type + " of material '" + name +
                   "' is not supported; supported are " + supported,
               p.place);
  }

  /// The rows of a property as three tables, whichever of ISO and ORTHO it is.
  std::array<Table, 3> along_axes(const Property& p, const char* keyword) const {
    const Columns columns{build, name, keyword};
    if (is_isotropic(p)) {
      columns.check(p, 1, "one value");
      return {column(p, 0), column(p, 0), column(p, 0)};
    }
    if (!is_orthotropic(p)) refuse(p, keyword, "ISO and ORTHO");
    columns.check(p, 3, "one along each axis");
    return {column(p, 0), column(p, 1), column(p, 2)};
  }

  void add_density(Material& material) const {
    if (!card.density) return;
    Columns{build, name, "*DENSITY"}.check(*card.density, 1, "the density");
    for (const PropertyRow& row : card.density->rows)
      if (!(row.values[0] >= 0)) build.fail("the density of material '" + name + "' is negative", card.density->place);
    material.set_table("density", column(*card.density, 0));
  }

  void add_elasticity(Material& material, bool orthotropic) const {
    const Property& p = *card.elastic;
    const Columns columns{build, name, "*ELASTIC"};
    if (is_isotropic(p)) {
      columns.check(p, 2, "Young's modulus and Poisson's ratio");
      for (const PropertyRow& row : p.rows) {
        if (!(row.values[0] > 0)) build.fail("Young's modulus of material '" + name + "' is not positive", p.place);
        if (!(row.values[1] > -1 && row.values[1] < 0.5))
          build.fail("Poisson's ratio of material '" + name + "' is not between −1 and 0.5 (0.5 itself excluded)",
                     p.place);
      }
      if (!orthotropic) {
        material.set_table("young", column(p, 0)).set_table("poisson", column(p, 1));
        return;
      }
      std::vector<std::vector<double>> rows;
      for (const PropertyRow& row : p.rows) rows.push_back(row.values);
      const Table shear = derived_table(knots_of(p), [&](double t) {
        const std::vector<double> v = numbers_at(p, rows, t);
        return v[0] / (2 * (1 + v[1]));
      });
      for (int k = 0; k < 3; ++k) {
        material.set_table(orthotropic_names[k], column(p, 0)).set_table(orthotropic_names[3 + k], column(p, 1));
        material.set_table(orthotropic_names[6 + k], shear);
      }
      return;
    }
    if (p.type == "ANISO") return add_anisotropy(material);
    const bool engineering = p.type == "ENGINEERING CONSTANTS" || p.type == "ENGINEERINGCONSTANTS";
    if (!engineering && !is_orthotropic(p)) refuse(p, "*ELASTIC", "ISO, ORTHO, ENGINEERING CONSTANTS and ANISO");
    columns.check(
        p, 9,
        engineering ? "E1 E2 E3 nu12 nu13 nu23 G12 G13 G23" : "D1111 D1122 D2222 D1133 D2233 D3333 D1212 D1313 D2323");
    std::vector<std::vector<double>> rows;  // of engineering constants
    for (const PropertyRow& row : p.rows) {
      rows.push_back(engineering ? row.values : engineering_constants(row.values));
      if (!positive_definite(rows.back()))
        build.fail("the stiffness of material '" + name + "' is not positive definite" +
                       (p.rows.size() > 1 ? " in row " + std::to_string(rows.size()) : std::string()) +
                       ": some strain would have negative energy; check the order of the nine values",
                   p.place);
    }
    // Stiffnesses are linear between rows, in CalculiX also where engineering constants are given.
    std::vector<std::vector<double>> stiff;
    if (!engineering || build.options.dialect == Dialect::calculix)
      for (std::size_t i = 0; i < rows.size(); ++i)
        stiff.push_back(engineering ? stiffnesses(rows[i]) : p.rows[i].values);
    for (int k = 0; k < 9; ++k)
      material.set_table(
          orthotropic_names[k], derived_table(knots_of(p), [&](double t) {
            const auto row =
                std::find_if(p.rows.begin(), p.rows.end(), [&](const PropertyRow& r) { return r.temperature == t; });
            if (row != p.rows.end()) return rows[row - p.rows.begin()][k];
            return stiff.empty() ? numbers_at(p, rows, t)[k] : engineering_constants(numbers_at(p, stiff, t))[k];
          }));
  }

  void add_anisotropy(Material& material) const {
    const Property& p = *card.elastic;
    Columns{build, name, "*ELASTIC"}.check(p, 21, "D1111 D1122 D2222 D1133 D2233 D3333 D1112 …");
    for (std::size_t i = 0; i < p.rows.size(); ++i)
      if (!positive_definite_21(p.rows[i].values))
        build.fail("the stiffness of material '" + name + "' is not positive definite" +
                       (p.rows.size() > 1 ? " in row " + std::to_string(i + 1) : std::string()) +
                       ": some strain would have negative energy; check the order of the 21 values",
                   p.place);
    std::size_t at = 0;
    for (int j = 0; j < 6; ++j)
      for (int i = 0; i <= j; ++i, ++at)
        material.set_table(std::string("D") + index_pairs[i] + index_pairs[j], column(p, at));
  }

  void add_expansion(Material& material, bool orthotropic) const {
    if (!card.expansion) return;
    const Property& p = *card.expansion;
    const auto tables = along_axes(p, "*EXPANSION");
    for (int k = 0; k < (orthotropic ? 3 : 1); ++k)
      material.set_table(orthotropic ? "expansion" + std::to_string(k + 1) : "expansion", tables[k]);
    material.set_expansion_reference(p.zero);
  }

  std::shared_ptr<Material> plastic(bool orthotropic) const {
    const Property& p = *card.plastic;
    if (orthotropic) build.fail("*PLASTIC of material '" + name + "' requires isotropic *ELASTIC", p.place);
    if (card.expansion)
      build.fail("*PLASTIC and *EXPANSION of material '" + name + "' together are not supported: remove one of them",
                 p.place);
    std::vector<HardeningPoint> table;
    for (const PropertyRow& row : p.rows) table.push_back({row.values[0], row.values[1]});
    if (const std::string defect = PlasticMaterial::defect(table); !defect.empty())
      build.fail("*PLASTIC of material '" + name + "': " + defect, p.place);
    return std::make_shared<PlasticMaterial>(name, std::move(table));
  }

  std::shared_ptr<const Material> structural(Place section) const {
    if (!card.elastic)
      build.fail("material '" + name + "' (" + build.deck.where(card.place) +
                     ") has no *ELASTIC, which a *STATIC step needs; add it",
                 section);
    const bool orthotropic = !is_isotropic(*card.elastic) || (card.expansion && is_orthotropic(*card.expansion));
    std::shared_ptr<Material> material;
    if (card.plastic && find_plastic_section(build))
      material = plastic(orthotropic);
    else if (card.elastic->type == "ANISO")
      material = std::make_shared<AnisotropicMaterial>(name);
    else if (orthotropic)
      material = std::make_shared<OrthotropicMaterial>(name);
    else
      material = std::make_shared<Material>(name);
    add_elasticity(*material, orthotropic);
    add_expansion(*material, orthotropic);
    add_density(*material);
    if (card.damping) material->set_damping({card.damping->alpha, card.damping->beta});
    return material;
  }

  std::shared_ptr<const Material> thermal(Place section) const {
    if (!card.conductivity)
      build.fail("material '" + name + "' (" + build.deck.where(card.place) +
                     ") has no *CONDUCTIVITY, which a *HEAT TRANSFER step needs; add it",
                 section);
    const Property& p = *card.conductivity;
    const auto tables = along_axes(p, "*CONDUCTIVITY");
    for (const Table& table : tables)
      for (const auto& row : table)
        if (!(row.second > 0)) build.fail("the conductivity of material '" + name + "' is not positive", p.place);
    std::shared_ptr<Material> material;
    if (is_orthotropic(p)) {
      material = std::make_shared<OrthotropicMaterial>(name);
      for (int k = 0; k < 3; ++k) material->set_table("k" + std::to_string(k + 1), tables[k]);
    } else {
      material = std::make_shared<Material>(name);
      material->set_table("conductivity", tables[0]);
    }
    add_density(*material);
    if (card.specific_heat) {
      Columns{build, name, "*SPECIFIC HEAT"}.check(*card.specific_heat, 1, "the specific heat");
      for (const PropertyRow& row : card.specific_heat->rows)
        if (!(row.values[0] >= 0))
          build.fail("the specific heat of material '" + name + "' is negative", card.specific_heat->place);
      material->set_table("specific_heat", column(*card.specific_heat, 0));
    }
    return material;
  }
};

}  // namespace

std::shared_ptr<const Material> build_material(Build& build, const std::string& name, Physics physics, Place place) {
  if (name.empty()) build.fail("the section has no material; add MATERIAL=", place);
  const auto it = build.deck.materials.find(name);
  if (it == build.deck.materials.end())
    build.fail(ErrorCode::not_found,
               "there is no material '" + name + "'" + suggestion_from(name, build.deck.materials), place);
  const MaterialBuilder builder{build, name, it->second};
  return physics == Physics::heat ? builder.thermal(place) : builder.structural(place);
}

}  // namespace voussoir::deck
