#include <voussoir/backends/grid_layout.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <voussoir/backends/backend.hpp>
#include <voussoir/backends/grid_services.hpp>

namespace voussoir {
namespace {

void check_shape(const GridShape& shape, int devices) {
  static const char* const names[] = {"x", "y", "z"};
  for (std::size_t a = 0; a < 3; ++a) {
    if (shape.nodes[a] < 1)
      throw Error(ErrorCode::bad_input, std::string("a grid needs at least one node along ") + names[a]);
    if (shape.nodes[a] > 1 && !(shape.spacing[a] > 0 && std::isfinite(shape.spacing[a])))
      throw Error(ErrorCode::bad_input,
                  std::string("the distance of nodes along ") + names[a] + " must be greater than zero");
    if (!std::isfinite(shape.origin[a]))
      throw Error(ErrorCode::bad_input, std::string("the origin of the grid is not finite along ") + names[a]);
  }
  const double each = static_cast<double>(shape.nodes[0]) * shape.nodes[1] * shape.nodes[2] / devices;
  if (each > 0.9 * std::numeric_limits<std::int32_t>::max())
    throw Error(ErrorCode::bad_input, "the grid has " + std::to_string(shape.nodes[0]) + " × " +
                                          std::to_string(shape.nodes[1]) + " × " + std::to_string(shape.nodes[2]) +
                                          " nodes; a device holds at most 1.9e9 of them: use fewer nodes or more "
                                          "devices");
}

/// Planes before and after those of a device, in the order of their numbers, each once.
std::vector<int> neighbour_planes(int first, int count, int planes, bool periodic) {
  std::vector<int> all;
  if (count == 0 || count == planes) return all;
  for (const int plane : {first - 1, first + count}) {
    if (!periodic && (plane < 0 || plane >= planes)) continue;
    all.push_back((plane + planes) % planes);
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

}  // namespace

GridLayout::GridLayout(const Backend& backend, const GridShape& shape) : shape_(shape) {
  const int devices = backend.devices();
  check_shape(shape, devices);
  split_axis_ = shape.nodes[2] > 1 ? 2 : shape.nodes[1] > 1 ? 1 : 0;
  for (int a = 0; a < split_axis_; ++a) plane_nodes_ *= shape.nodes[static_cast<std::size_t>(a)];
  const int planes = shape.nodes[static_cast<std::size_t>(split_axis_)];
  const bool periodic = shape.periodic[static_cast<std::size_t>(split_axis_)];
  std::vector<std::shared_ptr<DeviceMemory>> memories;
  std::vector<std::int64_t> first{0};
  std::vector<std::vector<std::int64_t>> ghosts;
  first_plane_.push_back(0);
  for (int d = 0; d < devices; ++d) {
    memories.push_back(backend.memory(d));
    first_plane_.push_back(static_cast<int>(std::int64_t{planes} * (d + 1) / devices));
    first.push_back(plane_nodes_ * first_plane_.back());
    auto& own = ghosts.emplace_back();
    for (const int plane : neighbour_planes(first_plane(d), this->planes(d), planes, periodic))
      for (std::int64_t n = 0; n < plane_nodes_; ++n) own.push_back(plane_nodes_ * plane + n);
  }
  layout_ = std::make_shared<const Layout>(std::move(memories), std::move(first), std::move(ghosts));
}

int GridLayout::row_nodes(int device) const { return split_axis_ == 0 ? planes(device) : shape_.nodes[0]; }

int GridLayout::rows(int device) const {
  if (split_axis_ == 0) return planes(device) > 0 ? 1 : 0;
  return split_axis_ == 1 ? planes(device) : planes(device) * shape_.nodes[1];
}

GridView GridLayout::view(int device) const {
  GridView view;
  for (std::size_t a = 0; a < 3; ++a) {
    view.nodes[a] = shape_.nodes[a];
    view.origin[a] = shape_.origin[a];
    view.spacing[a] = shape_.spacing[a];
    view.inverse_square[a] = shape_.nodes[a] > 1 ? 1 / (shape_.spacing[a] * shape_.spacing[a]) : 0;
  }
  view.split_axis = split_axis_;
  view.first_plane = first_plane(device);
  view.plane_count = planes(device);
  view.plane_nodes = plane_nodes_;
  const auto axis = static_cast<std::size_t>(split_axis_);
  const int total = shape_.nodes[axis];
  const auto place = [&](int plane) -> long long {
    if (view.plane_count == 0) return -1;
    if (plane < 0 || plane >= total) {
      if (!shape_.periodic[axis]) return -1;
      plane = (plane + total) % total;
    }
    return layout_->local(device, plane_nodes_ * plane);
  };
  view.below = place(view.first_plane - 1);
  view.above = place(view.first_plane + view.plane_count);
  return view;
}

std::int64_t side_nodes(const GridShape& shape, int side) {
  return shape.node_count() / shape.nodes[static_cast<std::size_t>(side / 2)];
}

GridSides::GridSides(const GridShape& shape) {
  for (std::size_t s = 0; s < 6; ++s)
    if (shape.nodes[s / 2] > 1) sides_[s].kind = shape.periodic[s / 2] ? GridSideKind::periodic : GridSideKind::slope;
}

namespace {

void check_kind(GridSideKind before, GridSideKind kind) {
  if (before == GridSideKind::none) throw Error(ErrorCode::misuse, "the grid has no such side: the axis has one node");
  if (before == GridSideKind::periodic)
    throw Error(ErrorCode::misuse, "the side is periodic; it has neither a value nor a slope");
  if (kind != GridSideKind::prescribed && kind != GridSideKind::slope)
    throw Error(ErrorCode::misuse, "a side gets a prescribed value or a slope; periodic axes are those of the shape");
}

}  // namespace

void GridSides::set(int side, GridSideKind kind, double value) {
  Side& it = sides_.at(static_cast<std::size_t>(side));
  check_kind(it.kind, kind);
  it.kind = kind;
  it.value = value;
  it.values.clear();
}

void GridSides::set(int side, GridSideKind kind, const GridLayout& grid, const std::vector<double>& values) {
  Side& it = sides_.at(static_cast<std::size_t>(side));
  check_kind(it.kind, kind);
  if (static_cast<std::int64_t>(values.size()) != side_nodes(grid.shape(), side))
    throw Error(ErrorCode::misuse, std::to_string(values.size()) + " values for a side of " +
                                       std::to_string(side_nodes(grid.shape(), side)) + " nodes");
  it.kind = kind;
  it.value = 0;
  it.values.resize(static_cast<std::size_t>(grid.devices()));
  for (int d = 0; d < grid.devices(); ++d) {
    auto& part = it.values[static_cast<std::size_t>(d)];
    if (part.size() != values.size()) part = Array<double>(grid.layout()->memory(d), values.size());
    std::copy(values.begin(), values.end(), part.write_host().begin());
  }
}

void GridSides::add_to(GridView& view, int device) const {
  for (std::size_t s = 0; s < 6; ++s)
    view.side[s] = {
        sides_[s].kind, sides_[s].value,
        sides_[s].values.empty() ? nullptr : sides_[s].values[static_cast<std::size_t>(device)].read_device()};
}

std::vector<std::vector<double>> GridSides::on_host(GridView& view, int device) const {
  std::vector<std::vector<double>> lists(6);
  for (std::size_t s = 0; s < 6; ++s) {
    view.side[s] = {sides_[s].kind, sides_[s].value, nullptr};
    if (sides_[s].values.empty()) continue;
    const auto values = sides_[s].values[static_cast<std::size_t>(device)].read_host();
    lists[s].assign(values.begin(), values.end());
    view.side[s].values = lists[s].data();
  }
  return lists;
}

}  // namespace voussoir
