#include <voussoir/framework/grid/grid_materials.hpp>

#include <cmath>

#include <voussoir/backends/error.hpp>
#include <voussoir/backends/number_text.hpp>

namespace voussoir {
namespace {

void require_positive_at_node(double value, const char* what, std::size_t node) {
  if (value > 0 && std::isfinite(value)) return;
  throw Error(ErrorCode::bad_input, std::string("the ") + what + " at node " + std::to_string(node) + " is " +
                                        exact_number(value) + "; it must be greater than zero");
}

}  // namespace

GridMaterials::GridMaterials(const Grid& grid, const HeatMaterial& material) : grid_(grid) {
  const auto nodes = static_cast<std::size_t>(grid.node_count());
  for (int a = 0; a < grid.dimensions(); ++a) conductivity_[static_cast<std::size_t>(a)].resize(nodes);
  capacity_.resize(nodes);
  for (std::size_t n = 0; n < nodes; ++n) put(n, material);
}

void GridMaterials::put(std::size_t node, const HeatMaterial& material) {
  for (int a = 0; a < grid_.dimensions(); ++a) {
    const auto i = static_cast<std::size_t>(a);
    require_positive_at_node(material.conductivity[i], "conductivity", node);
    conductivity_[i][node] = material.conductivity[i];
  }
  require_positive_at_node(material.density, "density", node);
  require_positive_at_node(material.specific_heat, "specific heat", node);
  require_positive_at_node(material.capacity(), "capacity", node);
  capacity_[node] = material.capacity();
}

GridMaterials& GridMaterials::box(const GridPosition& lower, const GridPosition& upper, const HeatMaterial& material) {
  std::array<std::int64_t, 3> first{0, 0, 0}, last{0, 0, 0};
  constexpr double surface = 1e-6;  // of the distance of nodes: rounding does not decide what lies on the surface
  for (int a = 0; a < grid_.dimensions(); ++a) {
    const auto i = static_cast<std::size_t>(a);
    const double h = grid_.spacing(a), most = grid_.nodes(a) - 1.0;
    const double low = std::ceil((lower[i] - grid_.origin()[i]) / h - surface),
                 high = std::floor((upper[i] - grid_.origin()[i]) / h + surface);
    if (!(low <= high) || high < 0 || low > most)
      throw Error(ErrorCode::bad_input, std::string("no node of the grid lies in the box of a material along ") +
                                            "xyz"[a] + ", from " + short_number(lower[i], 6) + " to " +
                                            short_number(upper[i], 6) + "; enlarge the box, or use more nodes");
    first[i] = static_cast<std::int64_t>(std::max(low, 0.0));
    last[i] = static_cast<std::int64_t>(std::min(high, most));
  }
  for (std::int64_t k = first[2]; k <= last[2]; ++k)
    for (std::int64_t j = first[1]; j <= last[1]; ++j)
      for (std::int64_t i = first[0]; i <= last[0]; ++i)
        put(static_cast<std::size_t>(i + grid_.nodes(0) * (j + grid_.nodes(1) * k)), material);
  return *this;
}

GridMaterials& GridMaterials::fill(const std::function<HeatMaterial(const GridPosition& x)>& function) {
  for (std::size_t n = 0; n < capacity_.size(); ++n) put(n, function(grid_.position(static_cast<std::int64_t>(n))));
  return *this;
}

namespace {

void take_field(const std::vector<double>& values, const char* what, std::vector<double>& to) {
  if (values.size() != to.size())
    throw Error(ErrorCode::bad_input,
                std::to_string(values.size()) + " values for a grid of " + std::to_string(to.size()) + " nodes");
  for (std::size_t n = 0; n < values.size(); ++n) require_positive_at_node(values[n], what, n);
  to = values;
}

}  // namespace

GridMaterials& GridMaterials::conductivities(const std::vector<double>& values) {
  for (int a = 0; a < grid_.dimensions(); ++a) conductivities(a, values);
  return *this;
}

GridMaterials& GridMaterials::conductivities(int axis, const std::vector<double>& values) {
  if (axis < 0 || axis >= grid_.dimensions())
    throw Error(ErrorCode::misuse,
                "a grid of " + std::to_string(grid_.dimensions()) + " dimensions has no axis " + std::to_string(axis));
  take_field(values, "conductivity", conductivity_[static_cast<std::size_t>(axis)]);
  return *this;
}

GridMaterials& GridMaterials::capacities(const std::vector<double>& values) {
  take_field(values, "capacity", capacity_);
  return *this;
}

}  // namespace voussoir
