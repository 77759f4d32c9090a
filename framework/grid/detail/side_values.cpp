#include <voussoir/framework/grid/detail/side_values.hpp>

#include <algorithm>
#include <cmath>

#include <voussoir/backends/number_text.hpp>
#include <voussoir/framework/grid/detail/layered_material.hpp>

namespace voussoir::detail {

bool SideValues::zero() const {
  return values.empty() ? value == 0 : std::all_of(values.begin(), values.end(), [](double v) { return v == 0; });
}

AllSides combine_sides(double a, const AllSides& x, double b, const AllSides& y) {
  AllSides all;
  for (std::size_t s = 0; s < 6; ++s) {
    const std::size_t count = std::max(x[s].values.size(), y[s].values.size());
    all[s].value = a * x[s].value + b * y[s].value;
    all[s].values.resize(count);
    for (std::size_t n = 0; n < count; ++n) all[s].values[n] = a * x[s].at(n) + b * y[s].at(n);
  }
  return all;
}

namespace {

/// The axes along a side, the faster one first.
std::array<int, 2> axes_along(int side) {
  return side / 2 == 0 ? std::array{1, 2} : side / 2 == 1 ? std::array{0, 2} : std::array{0, 1};
}

double checked_side_value(double value, int side, const GridPosition& x, double time) {
  if (std::isfinite(value)) return value;
  throw Error(ErrorCode::bad_input,
              "the value at x = " + short_number(x[0], 6) + ", y = " + short_number(x[1], 6) + ", z = " +
                  short_number(x[2], 6) + " at time " + short_number(time, 6) + " is infinite or not a number",
              std::string("side ") + side_name(side));
}

}  // namespace

std::int64_t node_on_side(const Grid& grid, int side, std::size_t n) {
  const auto [first, second] = axes_along(side);
  std::array<std::int64_t, 3> at{0, 0, 0};
  at[static_cast<std::size_t>(side / 2)] = side % 2 ? grid.nodes(side / 2) - 1 : 0;
  at[static_cast<std::size_t>(first)] = static_cast<std::int64_t>(n % static_cast<std::size_t>(grid.nodes(first)));
  at[static_cast<std::size_t>(second)] = static_cast<std::int64_t>(n / static_cast<std::size_t>(grid.nodes(first)));
  return at[0] + grid.nodes(0) * (at[1] + grid.nodes(1) * at[2]);
}

namespace {

/// Values of all sides; those of flux sides are divided by divisor(side, node), which is the same everywhere on a side
/// unless `varies`.
template <class Divisor>
AllSides evaluate_all_sides(const Grid& grid, double time, bool varies, Divisor&& divisor) {
  AllSides all;
  for (int s = 0; s < 2 * grid.dimensions(); ++s) {
    const SideCondition& side = grid.side(s);
    SideValues& to = all[static_cast<std::size_t>(s)];
    if (side.kind == SideKind::periodic) continue;
    const bool flux = side.kind == SideKind::flux;
    const auto value_of = [&](std::int64_t node) {
      const GridPosition x = grid.position(node);
      const double value = checked_side_value(side.value.at(x, time), s, x, time);
      return flux ? value / divisor(s, node) : value;
    };
    if (side.value.uniform()) {
      to.value = value_of(node_on_side(grid, s, 0));
      if (!flux || !varies || to.value == 0) continue;
    }
    to.values.resize(static_cast<std::size_t>(side_nodes(grid.shape(), s)));
    for (std::size_t n = 0; n < to.values.size(); ++n) to.values[n] = value_of(node_on_side(grid, s, n));
  }
  return all;
}

}  // namespace

AllSides evaluate_sides(const Grid& grid, const std::array<double, 3>& conductivity, double time) {
  return evaluate_all_sides(grid, time, false,
                            [&](int side, std::int64_t) { return conductivity[static_cast<std::size_t>(side / 2)]; });
}

AllSides evaluate_sides(const Grid& grid, const GridMaterials& materials, double time) {
  return evaluate_all_sides(grid, time, true, [&](int, std::int64_t node) { return materials.capacity(node); });
}

void put_sides(const GridSpace& space, const AllSides& values, GridSides& sides) {
  for (int s = 0; s < 2 * space.grid().dimensions(); ++s) {
    const SideKind kind = space.grid().side(s).kind;
    if (kind == SideKind::periodic) continue;
    const GridSideKind to = kind == SideKind::prescribed ? GridSideKind::prescribed : GridSideKind::slope;
    const SideValues& from = values[static_cast<std::size_t>(s)];
    if (from.values.empty())
      sides.set(s, to, from.value);
    else
      sides.set(s, to, space.layout(), from.values);
  }
}

namespace {

/// y ← y − factor (A y + boundary term) along an axis of a side, A the second difference, or with several materials
/// that of their rates. At prescribed ends y stays.
void step_back(const Grid& grid, int side, int axis, double factor, const GridMaterials* materials,
               const AllSides& change, std::vector<double>& y) {
  const auto [first, second] = axes_along(side);
  const std::size_t stride = axis == first ? 1 : static_cast<std::size_t>(grid.nodes(first));
  const std::size_t count = static_cast<std::size_t>(grid.nodes(axis));
  const double h = grid.spacing(axis), weight = factor / (h * h);
  const bool prescribed = grid.side(side).kind == SideKind::prescribed;
  const std::vector<double> before = y;
  for (std::size_t n = 0; n < y.size(); ++n) {
    const std::size_t at = n / stride % count;
    const bool low = at == 0, high = at + 1 == count;
    if ((low || high) && grid.side(2 * axis + high).kind == SideKind::prescribed) continue;
    double below = low ? 0 : before[n - stride], above = high ? 0 : before[n + stride];
    double more = 0;
    if (low) below = grid.is_periodic(axis) ? before[n + (count - 1) * stride] : above;
    if (high) above = grid.is_periodic(axis) ? before[n - (count - 1) * stride] : below;
    if ((low || high) && !grid.is_periodic(axis) && prescribed) {
      // The edge belongs to a side across `axis` as well: how its slope changes counts at the nodes of this side.
      const SideValues& other = change[static_cast<std::size_t>(2 * axis + high)];
      std::array<int, 3> node{0, 0, 0};
      node[static_cast<std::size_t>(side / 2)] = side % 2 ? grid.nodes(side / 2) - 1 : 0;
      node[static_cast<std::size_t>(first)] = static_cast<int>(n % static_cast<std::size_t>(grid.nodes(first)));
      node[static_cast<std::size_t>(second)] = static_cast<int>(n / static_cast<std::size_t>(grid.nodes(first)));
      const auto [a, b] = axes_along(2 * axis);
      more = (materials ? 2 / h : 2 * h) * other.at(static_cast<std::size_t>(node[static_cast<std::size_t>(a)]) +
                                                    static_cast<std::size_t>(grid.nodes(a)) *
                                                        static_cast<std::size_t>(node[static_cast<std::size_t>(b)]));
    }
    if (!materials) {
      y[n] -= weight * ((below - before[n]) + (above - before[n]) + more);
      continue;
    }
    const LayeredRates rates = layered_rates(grid, *materials, axis, node_on_side(grid, side, n));
    y[n] -= factor * (rates.lower * (below - before[n]) + rates.upper * (above - before[n]) + more);
  }
}

}  // namespace

SideValues intermediate_side(const Grid& grid, int side, const AllSides& change, const StageCorrection& later) {
  const SideValues& own = change[static_cast<std::size_t>(side)];
  if (later.materials && grid.side(side).kind == SideKind::flux) return own;
  bool varies = !own.values.empty();
  for (int axis = 0; axis < grid.dimensions(); ++axis) {
    if (later.factor[static_cast<std::size_t>(axis)] == 0 || axis == side / 2) continue;
    for (const int other : {2 * axis, 2 * axis + 1})
      varies = varies || (grid.side(side).kind == SideKind::prescribed && grid.side(other).kind == SideKind::flux &&
                          !change[static_cast<std::size_t>(other)].zero());
  }
  if (!varies) return own;
  SideValues result;
  result.values.resize(static_cast<std::size_t>(side_nodes(grid.shape(), side)));
  for (std::size_t n = 0; n < result.values.size(); ++n) result.values[n] = own.at(n);
  for (int axis = grid.dimensions() - 1; axis >= 0; --axis)
    if (axis != side / 2 && later.factor[static_cast<std::size_t>(axis)] != 0)
      step_back(grid, side, axis, later.factor[static_cast<std::size_t>(axis)], later.materials, change, result.values);
  return result;
}

}  // namespace voussoir::detail
