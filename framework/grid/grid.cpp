#include <voussoir/framework/grid/grid.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

#include <voussoir/backends/error.hpp>
#include <voussoir/backends/number_text.hpp>

namespace voussoir {
namespace {

constexpr const char* grid_axes = "xyz";
constexpr const char* grid_side_names[] = {"x-", "x+", "y-", "y+", "z-", "z+"};

}  // namespace

GridValue GridValue::of_time(std::function<double(double time)> function) {
  GridValue value;
  value.function_ = [f = std::move(function)](const GridPosition&, double time) { return f(time); };
  value.steady_ = false;
  return value;
}

GridValue GridValue::of_place(std::function<double(const GridPosition& x)> function) {
  GridValue value;
  value.function_ = [f = std::move(function)](const GridPosition& x, double) { return f(x); };
  value.uniform_ = false;
  return value;
}

GridValue GridValue::of_place_and_time(Function function) {
  GridValue value;
  value.function_ = std::move(function);
  value.uniform_ = value.steady_ = false;
  return value;
}

const char* to_string(SideKind kind) {
  return kind == SideKind::periodic ? "periodic" : kind == SideKind::prescribed ? "temperature" : "flux";
}

int side_number(std::string_view name) {
  const auto* const found = std::find(std::begin(grid_side_names), std::end(grid_side_names), name);
  return found == std::end(grid_side_names) ? -1 : static_cast<int>(found - std::begin(grid_side_names));
}

const char* side_name(int side) { return grid_side_names[side]; }

Grid::Grid(int dimensions, std::array<int, 3> nodes, std::array<double, 3> lengths)
    : dimensions_(dimensions), nodes_(nodes), lengths_(lengths) {
  if (dimensions < 1 || dimensions > 3)
    throw Error(ErrorCode::bad_input, "a grid has one, two or three dimensions, not " + std::to_string(dimensions));
  for (std::size_t a = 0; a < 3; ++a) {
    if (static_cast<int>(a) >= dimensions) {
      nodes_[a] = 1;
      lengths_[a] = 1;
      continue;
    }
    if (nodes[a] < 3)
      throw Error(ErrorCode::bad_input, std::string("the grid has ") + std::to_string(nodes[a]) + " nodes along " +
                                            grid_axes[a] + "; three are the least");
    if (!(lengths[a] > 0) || !std::isfinite(lengths[a]))
      throw Error(ErrorCode::bad_input, std::string("the length of the grid along ") + grid_axes[a] + " is " +
                                            exact_number(lengths[a]) + "; it must be greater than zero");
  }
}

Grid& Grid::origin(const GridPosition& position) {
  for (const double x : position)
    if (!std::isfinite(x)) throw Error(ErrorCode::bad_input, "the origin of the grid is not finite");
  origin_ = position;
  return *this;
}

Grid& Grid::side(std::string_view name, SideCondition condition) {
  const int number = side_number(name);
  if (number < 0)
    throw Error(ErrorCode::bad_input,
                "there is no side '" + std::string(name) + "'; sides are x-, x+, y-, y+, z- and z+");
  return side(number, std::move(condition));
}

Grid& Grid::side(int number, SideCondition condition) {
  if (number < 0 || number >= 2 * dimensions_)
    throw Error(ErrorCode::bad_input, "a grid of " + std::to_string(dimensions_) + " dimensions has no side " +
                                          (number >= 0 && number < 6 ? side_name(number) : std::to_string(number)));
  const auto here = static_cast<std::size_t>(number), opposite = here ^ 1U;
  if (condition.kind == SideKind::periodic)
    sides_[opposite] = condition;
  else if (sides_[opposite].kind == SideKind::periodic)
    sides_[opposite] = SideCondition::insulated();
  sides_[here] = std::move(condition);
  return *this;
}

Grid& Grid::periodic(char axis) {
  const std::string_view axes = grid_axes;
  const auto a = axes.find(axis);
  if (a == axes.npos) throw Error(ErrorCode::bad_input, std::string("there is no axis '") + axis + "'");
  return side(2 * static_cast<int>(a), SideCondition::periodic());
}

Grid& Grid::sides(const SideCondition& condition) {
  for (int s = 0; s < 2 * dimensions_; ++s) side(s, condition);
  return *this;
}

double Grid::spacing(int axis) const {
  if (axis >= dimensions_) return 1;
  return length(axis) / (is_periodic(axis) ? nodes(axis) : nodes(axis) - 1);
}

bool Grid::has_prescribed_sides() const {
  return std::any_of(sides_.begin(), sides_.begin() + 2 * dimensions_,
                     [](const SideCondition& side) { return side.kind == SideKind::prescribed; });
}

GridPosition Grid::position(std::int64_t node) const {
  GridPosition x = origin_;
  for (int a = 0; a < 3; ++a) {
    x[static_cast<std::size_t>(a)] += static_cast<double>(node % nodes(a)) * spacing(a);
    node /= nodes(a);
  }
  return x;
}

double Grid::cell_volume() const {
  double volume = 1;
  for (int a = 0; a < dimensions_; ++a) volume *= spacing(a);
  return volume;
}

std::int64_t Grid::nearest_node(const GridPosition& position) const {
  std::int64_t node = 0, stride = 1;
  for (int a = 0; a < dimensions_; ++a) {
    const double at = (position[static_cast<std::size_t>(a)] - origin_[static_cast<std::size_t>(a)]) / spacing(a);
    const double most = is_periodic(a) ? nodes(a) : nodes(a) - 1;
    if (!(at >= -1e-9 * most && at <= most * (1 + 1e-9)))
      throw Error(ErrorCode::bad_input, std::string("the position ") +
                                            exact_number(position[static_cast<std::size_t>(a)]) + " along " +
                                            grid_axes[a] + " lies outside the grid");
    node += stride * (static_cast<std::int64_t>(std::llround(at)) % nodes(a));
    stride *= nodes(a);
  }
  return node;
}

GridShape Grid::shape() const {
  GridShape shape;
  for (int a = 0; a < 3; ++a) {
    const auto i = static_cast<std::size_t>(a);
    shape.nodes[i] = nodes(a);
    shape.origin[i] = origin_[i];
    shape.spacing[i] = spacing(a);
    shape.periodic[i] = a < dimensions_ && is_periodic(a);
  }
  return shape;
}

}  // namespace voussoir
