#include <voussoir/framework/io/units.hpp>

#include <algorithm>
#include <array>
#include <initializer_list>

#include <voussoir/backends/error.hpp>

namespace voussoir {
namespace {

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

}  // namespace

Units Units::parse(std::string_view text, const std::string& where) {
  Units units;
  const std::array<std::string*, 5> labels{&units.force, &units.length, &units.stress, &units.temperature,
                                           &units.power};
  std::size_t count = 0;
  for (std::string_view rest = text; true; ++count) {
    const std::size_t comma = rest.find(',');
    const std::string_view label = trimmed(rest.substr(0, comma));
    if (count == labels.size())
      throw Error(ErrorCode::bad_input,
                  "there are more than five units; they are those of force, length, stress, temperature and heat "
                  "flow, in this order: N,mm,MPa,K,mW",
                  where);
    // What a CSV file, XML or a terminal would take for something else is no name of a unit.
    const bool plain = label.size() <= 16 && std::none_of(label.begin(), label.end(), [](unsigned char c) {
                         return c < 0x20 || c == 0x7f || c == '"' || c == '\'' || c == '<' || c == '>' || c == '&' ||
                                c == ';' || c == '[' || c == ']' || c == '=' || c == '@';
                       });
    if (!plain)
      throw Error(ErrorCode::bad_input,
                  "'" + std::string(label) + "' is not a unit; write a short name for each, as in N,mm,MPa", where);
    *labels[count] = label;
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  if (units.empty())
    throw Error(ErrorCode::bad_input, "name the units of force, length and stress, as in N,mm,MPa", where);
  return units;
}

std::string Units::moment() const { return force.empty() || length.empty() ? "" : force + " " + length; }
std::string Units::flux() const { return power.empty() || length.empty() ? "" : power + "/" + length + "²"; }
std::string Units::energy_density() const { return force.empty() || length.empty() ? "" : force + "/" + length + "²"; }
std::string Units::volume() const { return length.empty() ? "" : length + "³"; }

std::string Units::of(std::string_view quantity) const {
  if (is_one_of(quantity, {"ux", "uy", "uz", "displacement", "x", "y", "z", "distance", "elongation"})) return length;
  if (is_one_of(quantity, {"sxx", "syy", "szz", "sxy", "syz", "sxz", "stress", "mises", "principal", "principal1",
                           "principal2", "principal3", "axial_stress"}))
    return stress;
  if (is_one_of(quantity, {"fx", "fy", "fz", "N", "Vy", "Vz", "force"})) return force;
  if (is_one_of(quantity, {"mx", "my", "mz", "torque", "My", "Mz", "moment"})) return moment();
  if (is_one_of(quantity, {"T", "temperature"})) return temperature;
  if (is_one_of(quantity, {"qx", "qy", "qz", "flux"})) return flux();
  if (is_one_of(quantity, {"heat_flow", "heat"})) return power;
  if (quantity == "volume") return volume();
  if (quantity == "energy") return energy();
  if (is_one_of(quantity, {"error_percent", "percent"})) return "%";
  return {};
}

std::string Units::labelled(const std::string& quantity) const {
  const std::string unit = of(quantity);
  return unit.empty() ? quantity : quantity + " [" + unit + "]";
}

}  // namespace voussoir
