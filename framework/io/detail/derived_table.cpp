#include <voussoir/framework/io/detail/derived_table.hpp>

#include <algorithm>
#include <cmath>

namespace voussoir {
namespace {

using Row = std::pair<double, double>;

/// Adds the rows between `low` and `high`, without both.
void refine(const Row& low, const Row& high, const std::function<double(double)>& value, int depth,
            std::vector<Row>& table) {
  constexpr double tolerance = 1e-7;
  constexpr int deepest = 12;
  bool straight = true;
  for (const double s : {0.25, 0.5, 0.75}) {
    const double exact = value(low.first + s * (high.first - low.first));
    const double linear = low.second + s * (high.second - low.second);
    straight = straight && std::abs(exact - linear) <= tolerance * std::max(std::abs(exact), std::abs(linear));
  }
  if (straight || depth == deepest) return;
  const double middle = low.first + 0.5 * (high.first - low.first);
  const Row between{middle, value(middle)};
  refine(low, between, value, depth + 1, table);
  table.push_back(between);
  refine(between, high, value, depth + 1, table);
}

}  // namespace

std::vector<std::pair<double, double>> derived_table(const std::vector<double>& knots,
                                                     const std::function<double(double temperature)>& value) {
  std::vector<Row> table{{knots.empty() ? 0.0 : knots.front(), value(knots.empty() ? 0.0 : knots.front())}};
  for (std::size_t i = 1; i < knots.size(); ++i) {
    const Row low = table.back(), high{knots[i], value(knots[i])};
    refine(low, high, value, 0, table);
    table.push_back(high);
  }
  return table;
}

std::shared_ptr<const Material> with_shear_modulus(std::shared_ptr<const Material> material) {
  if (!material->has("young") || !material->has("poisson") || material->has("shear_modulus")) return material;
  std::vector<double> knots = material->temperatures();
  if (knots.empty()) knots.push_back(0);
  if (!std::all_of(knots.begin(), knots.end(), [&](double t) { return material->value("poisson", t) > -1; }))
    return material;
  auto beams = std::make_shared<Material>(*material);
  beams->set_table("shear_modulus", derived_table(knots, [&](double t) {
                     return material->value("young", t) / (2 * (1 + material->value("poisson", t)));
                   }));
  return beams;
}

}  // namespace voussoir
