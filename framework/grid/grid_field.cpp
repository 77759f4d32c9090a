#include <voussoir/framework/grid/grid_field.hpp>

#include <utility>

#include <voussoir/backends/number_text.hpp>

namespace voussoir {

GridSpace::GridSpace(Grid grid, std::shared_ptr<Backend> backend)
    : grid_(std::move(grid)),
      backend_(std::move(backend)),
      services_(&backend_->service<GridServices>()),
      layout_(*backend_, grid_.shape()) {}

GridField::GridField(std::shared_ptr<const GridSpace> space)
    : space_(std::move(space)), values_(space_->layout().layout()) {
  fill(0);
}

void GridField::fill(double value) { space_->backend().fill(values_, value); }

void GridField::fill(const std::function<double(const GridPosition& x)>& function) {
  std::vector<double> values(static_cast<std::size_t>(grid().node_count()));
  for (std::size_t n = 0; n < values.size(); ++n) values[n] = function(grid().position(static_cast<std::int64_t>(n)));
  from_host(values);
}

void GridField::from_host(std::span<const double> values) {
  if (static_cast<std::int64_t>(values.size()) != grid().node_count())
    throw Error(ErrorCode::bad_input, std::to_string(values.size()) + " values for a grid of " +
                                          std::to_string(grid().node_count()) + " nodes");
  values_.from_host(values);
}

double GridField::at(std::int64_t node) const { return at(std::span(&node, 1)).front(); }

std::vector<double> GridField::at(std::span<const std::int64_t> nodes) const {
  std::vector<double> values(nodes.size());
  space_->services().sample(space_->layout(), values_, nodes, values);
  return values;
}

GridSummary GridField::summary() const {
  const GridSummary all = space_->services().summary(space_->layout(), values_);
  if (all.not_finite >= 0) {
    const GridPosition x = grid().position(all.not_finite);
    throw Error(ErrorCode::not_finite, "the value at node " + std::to_string(all.not_finite) +
                                           " (x = " + short_number(x[0], 6) + ", y = " + short_number(x[1], 6) +
                                           ", z = " + short_number(x[2], 6) + ") is infinite or not a number");
  }
  return all;
}

double GridField::integral() const { return grid().cell_volume() * summary().sum; }

}  // namespace voussoir
