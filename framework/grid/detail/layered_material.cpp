#include <voussoir/framework/grid/detail/layered_material.hpp>

#include <algorithm>

#include <voussoir/backends/grid_stock.hpp>
#include <voussoir/framework/grid/grid_library.hpp>

namespace voussoir::detail {

LayeredRates layered_rates(const Grid& grid, const GridMaterials& materials, int axis, std::int64_t node) {
  std::int64_t stride = 1;
  for (int a = 0; a < axis; ++a) stride *= grid.nodes(a);
  const std::int64_t n = grid.nodes(axis), at = node / stride % n;
  const bool low = at == 0, high = at + 1 == n, periodic = grid.is_periodic(axis);
  const double h = grid.spacing(axis), scale = 1 / (materials.capacity(node) * h * h);
  const auto face = [&](std::int64_t other) {
    return scale * face_conductivity(materials.conductivity(axis, node), materials.conductivity(axis, other));
  };
  if (low && !periodic) return {0, 2 * face(node + stride)};
  if (high && !periodic) return {2 * face(node - stride), 0};
  return {face(low ? node + (n - 1) * stride : node - stride), face(high ? node - (n - 1) * stride : node + stride)};
}

double layered_explicit_limit(const Grid& grid, const GridMaterials& materials) {
  double most = 0;
  for (std::int64_t node = 0; node < grid.node_count(); ++node) {
    double sum = 0;
    for (int a = 0; a < grid.dimensions(); ++a) {
      const LayeredRates rates = layered_rates(grid, materials, a, node);
      sum += rates.lower + rates.upper;
    }
    most = std::max(most, sum);
  }
  return 1 / most;
}

LayeredMaterial::LayeredMaterial(std::shared_ptr<const GridSpace> space, GridMaterials materials, double weight)
    : space_(std::move(space)), materials_(std::move(materials)), weight_(weight), scratch_(space_) {
  const Grid& grid = space_->grid();
  const auto nodes = static_cast<std::size_t>(grid.node_count());
  const auto& layout = space_->layout().layout();
  const double scale = weight > 0 ? -weight : 1;  // rows of 1 − weight A, or of A itself
  std::vector<double> lower(nodes), diagonal(nodes), upper(nodes);
  for (int axis = 0; axis < grid.dimensions(); ++axis) {
    const auto a = static_cast<std::size_t>(axis);
    std::size_t stride = 1;
    for (int b = 0; b < axis; ++b) stride *= static_cast<std::size_t>(grid.nodes(b));
    const auto n = static_cast<std::size_t>(grid.nodes(axis));
    for (std::size_t node = 0; node < nodes; ++node) {
      const LayeredRates rates = layered_rates(grid, materials_, axis, static_cast<std::int64_t>(node));
      lower[node] = scale * rates.lower;
      upper[node] = scale * rates.upper;
      diagonal[node] = 1 + weight * (rates.lower + rates.upper);
      const std::size_t at = node / stride % n;
      const int side = at == 0 ? 2 * axis : at + 1 == n ? 2 * axis + 1 : -1;
      if (side < 0 || grid.side(side).kind != SideKind::prescribed) continue;
      lower[node] = upper[node] = 0;
      diagonal[node] = 1;
    }
    const auto keep = [&](const std::vector<double>& values, Vector& to) {
      to = Vector(layout);
      to.from_host(values);
    };
    keep(lower, lower_[a]);
    keep(upper, upper_[a]);
    if (weight > 0) keep(diagonal, diagonal_[a]);
  }
  capacity_ = Vector(layout);
  capacity_.from_host(materials_.capacities());
  for (std::size_t node = 0; node < nodes; ++node) diagonal[node] = 1 / materials_.capacities()[node];
  inverse_capacity_ = Vector(layout);
  inverse_capacity_.from_host(diagonal);
}

void LayeredMaterial::diffuse(int axis, const Vector& from, double from_field, double factor, double keep,
                              const GridSides& sides, Vector& to) const {
  GridLayeredParameters parameters;
  parameters.scale = weight_ > 0 ? -1 / weight_ : 1;
  parameters.axis = axis;
  GridArguments arguments;
  arguments.fields[0] = &from;
  arguments.fields[1] = &lower(axis);
  arguments.fields[2] = &upper(axis);
  arguments.from_field = from_field;
  arguments.factor = factor;
  arguments.keep = keep;
  arguments.parameters = &parameters;
  space_->services().apply(GridLibrary::instance().find("grid.layered"), space_->layout(), sides, arguments, to);
}

void LayeredMaterial::add_source(double factor, const Vector& rate, Vector& to) {
  space_->backend().multiply(inverse_capacity_, rate, scratch_.vector());
  space_->backend().axpy(factor, scratch_.vector(), to);
}

double LayeredMaterial::content(const GridField& temperature) {
  space_->backend().multiply(capacity_, temperature.vector(), scratch_.vector());
  return scratch_.integral();
}

}  // namespace voussoir::detail
