#include <voussoir/framework/domain/material.hpp>

#include <algorithm>
#include <cmath>

#include <voussoir/backends/error.hpp>

namespace voussoir {

Material& Material::set(const std::string& parameter, double value) { return set_table(parameter, {{0.0, value}}); }

Material& Material::set_table(const std::string& parameter, std::vector<std::pair<double, double>> table) {
  const std::string where = "material '" + name_ + "', " + parameter;
  if (table.empty())
    throw Error(ErrorCode::bad_input, "the table is empty; give at least one (temperature, value)", where);
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (!std::isfinite(table[i].first) || !std::isfinite(table[i].second))
      throw Error(ErrorCode::bad_input, "row " + std::to_string(i + 1) + " of the table is not a finite number", where);
    if (i > 0 && !(table[i].first > table[i - 1].first))
      throw Error(ErrorCode::bad_input,
                  "temperatures must increase, but row " + std::to_string(i + 1) + " is not above the previous one",
                  where);
  }
  parameters_[parameter] = std::move(table);
  return *this;
}

Material& Material::set_expansion_reference(double temperature) {
  if (!std::isfinite(temperature))
    throw Error(ErrorCode::bad_input, "the reference temperature of the expansion is not a finite number",
                "material '" + name_ + "'");
  expansion_reference_ = temperature;
  return *this;
}

Material& Material::set_damping(const RayleighDamping& damping) {
  if (!std::isfinite(damping.mass) || !std::isfinite(damping.stiffness))
    throw Error(ErrorCode::bad_input, "a coefficient of the damping is not a finite number",
                "material '" + name_ + "'");
  damping_ = damping;
  return *this;
}

std::vector<std::string> Material::parameter_names() const {
  std::vector<std::string> names;
  for (const auto& entry : parameters_) names.push_back(entry.first);
  return names;
}

bool Material::has(std::string_view parameter) const { return parameters_.find(parameter) != parameters_.end(); }

double Material::value(std::string_view parameter, double temperature) const {
  const auto it = parameters_.find(parameter);
  if (it == parameters_.end())
    throw Error(ErrorCode::not_found, "parameter '" + std::string(parameter) + "' is not defined; set it",
                "material '" + name_ + "'");
  const auto& table = it->second;
  if (temperature <= table.front().first) return table.front().second;
  if (temperature >= table.back().first) return table.back().second;
  const auto high = std::upper_bound(table.begin(), table.end(), temperature,
                                     [](double t, const auto& row) { return t < row.first; });
  const auto low = high - 1;
  const double s = (temperature - low->first) / (high->first - low->first);
  return low->second + s * (high->second - low->second);
}

std::vector<double> Material::temperatures() const {
  std::vector<double> all;
  for (const auto& [name, table] : parameters_)
    if (table.size() > 1)
      for (const auto& row : table) all.push_back(row.first);
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

IsotropicMaterial::IsotropicMaterial(std::string name, double young, double poisson, double density, double expansion)
    : Material(std::move(name)) {
  set("young", young).set("poisson", poisson).set("density", density).set("expansion", expansion);
}

}  // namespace voussoir
