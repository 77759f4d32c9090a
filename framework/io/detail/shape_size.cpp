#include <voussoir/framework/io/detail/shape_size.hpp>

#include <algorithm>
#include <array>
#include <cmath>

#include <voussoir/framework/detail/nan.hpp>

namespace voussoir::detail {

double diagonal_of(const Domain& domain) {
  std::array<double, 3> low{1e300, 1e300, 1e300}, high{-1e300, -1e300, -1e300};
  for (std::size_t i = 0; i < domain.coordinates().size(); ++i) {
    low[i % 3] = std::min(low[i % 3], domain.coordinates()[i]);
    high[i % 3] = std::max(high[i % 3], domain.coordinates()[i]);
  }
  return std::hypot(high[0] - low[0], high[1] - low[1], high[2] - low[2]);
}

std::vector<double> displacement_lengths(const Domain& domain, const NodalField& field) {
  std::vector<double> lengths(field.values.size() / field.components.size(), nan);
  for (int c = 0; c < field.width(); ++c) {
    const std::string& name = field.components[static_cast<std::size_t>(c)];
    if (name != "ux" && name != "uy" && name != "uz") continue;
    for (std::size_t n = 0; n < lengths.size(); ++n)
      if (const double u = field.at(static_cast<std::int32_t>(n), c);
          !std::isnan(u) && !domain.rotation_node(static_cast<std::int32_t>(n)))
        lengths[n] = std::isnan(lengths[n]) ? std::abs(u) : std::hypot(lengths[n], u);
  }
  return lengths;
}

double largest_length(const std::vector<double>& lengths) {
  double largest = 0;
  for (const double length : lengths)
    if (length > largest) largest = length;
  return largest;
}

}  // namespace voussoir::detail
