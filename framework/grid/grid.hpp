#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include <voussoir/backends/grid_layout.hpp>

namespace voussoir {

/// A position in space; z is 0 in plane grids.
using GridPosition = std::array<double, 3>;

/// The value of a side or a source: a constant, a function of time, or a function of place and time.
class GridValue {
 public:
  using Function = std::function<double(const GridPosition& x, double time)>;  ///< value at a place and a time

  GridValue(double value = 0) : value_(value) {}  ///< a constant; implicit, so that numbers can be given
  /// A function of time, the same everywhere.
  static GridValue of_time(std::function<double(double time)> function);
  /// A function of the place that does not change.
  static GridValue of_place(std::function<double(const GridPosition& x)> function);
  /// A function of place and time.
  static GridValue of_place_and_time(Function function);

  bool uniform() const { return uniform_; }              ///< whether it is the same everywhere
  bool steady() const { return steady_; }                ///< whether it does not change with time
  double at(const GridPosition& x, double time) const {  ///< the value at a place and a time
    return function_ ? function_(x, time) : value_;
  }

 private:
  double value_ = 0;
  Function function_;
  bool uniform_ = true, steady_ = true;
};

/// What holds at a side of a grid.
enum class SideKind {
  periodic,    ///< the two sides of the axis are joined
  prescribed,  ///< the temperature is given (Dirichlet)
  flux         ///< the heat flow into the body per area is given (Neumann); 0: insulated
};
/// "periodic", "temperature" or "flux".
const char* to_string(SideKind kind);

/// A side of a grid.
struct SideCondition {
  SideKind kind = SideKind::flux;  ///< what holds there
  GridValue value;                 ///< temperature, or heat flow into the body per area

  static SideCondition periodic() { return {SideKind::periodic, {}}; }  ///< joined with the opposite side
  static SideCondition insulated() { return {SideKind::flux, {}}; }     ///< no heat flow
  static SideCondition temperature(GridValue value) {                   ///< a given temperature
    return {SideKind::prescribed, std::move(value)};
  }
  static SideCondition flux(GridValue value) { return {SideKind::flux, std::move(value)}; }  ///< a given heat flow
};

/// The number of a side: "x-" is 0, "x+" 1, "y-" 2, "y+" 3, "z-" 4, "z+" 5; −1 for any other name.
int side_number(std::string_view name);
/// The name of a side, 0 … 5.
const char* side_name(int side);

/// A regular grid of nodes over a line, a rectangle or a box, and what holds at its sides. Along a periodic axis of
/// length L, n nodes lie L / n apart; along any other axis the first and the last node lie on the sides, L / (n − 1)
/// apart. Sides are insulated until they are set.
///
///   Grid plate({200, 100}, {0.4, 0.2});                                  // 200 × 100 nodes over 0.4 m × 0.2 m
///   plate.side("x-", SideCondition::temperature(20)).periodic('y');
class Grid {
 public:
  /// A line: nodes and length.
  Grid(int nodes, double length) : Grid(1, {nodes, 1, 1}, {length, 1, 1}) {}
  /// A rectangle or a box: nodes and lengths along x, y and z.
  template <std::size_t D>
  requires(D <= 3) Grid(const int (&nodes)[D], const double (&lengths)[D])
      : Grid(static_cast<int>(D), filled(nodes, 1), filled(lengths, 1.0)) {}
  /// As above for a number of dimensions that is known at run time. Every axis that counts needs at least three nodes
  /// and a positive length; others are an Error (bad_input).
  Grid(int dimensions, std::array<int, 3> nodes, std::array<double, 3> lengths);

  /// The position of the first node; the origin unless set.
  Grid& origin(const GridPosition& position);
  /// Sets a side by its name ("x-", "y+") or number. A periodic side makes its axis periodic; any other condition
  /// makes an axis that was periodic end at both sides, the other one insulated.
  Grid& side(std::string_view name, SideCondition condition);
  Grid& side(int number, SideCondition condition);  ///< sides by number, see side_number()
  Grid& periodic(char axis);                        ///< makes the axis 'x', 'y' or 'z' periodic
  Grid& sides(const SideCondition& condition);      ///< the same condition at all sides

  int dimensions() const { return dimensions_; }                                      ///< 1, 2 or 3
  int nodes(int axis) const { return nodes_[static_cast<std::size_t>(axis)]; }        ///< nodes along an axis
  double length(int axis) const { return lengths_[static_cast<std::size_t>(axis)]; }  ///< length along an axis
  double spacing(int axis) const;                                                     ///< distance of nodes
  const GridPosition& origin() const { return origin_; }                              ///< of the first node
  std::int64_t node_count() const { return shape().node_count(); }                    ///< number of nodes
  const SideCondition& side(int number) const { return sides_[static_cast<std::size_t>(number)]; }  ///< by number
  bool is_periodic(int axis) const { return side(2 * axis).kind == SideKind::periodic; }  ///< whether an axis is
  bool has_prescribed_sides() const;                                                      ///< whether any side is
  GridPosition position(std::int64_t node) const;                                         ///< of a node
  /// Length, area or volume that belongs to a node inside the grid.
  double cell_volume() const;
  /// The node next to a position. Throws Error (bad_input) for a position outside the grid.
  std::int64_t nearest_node(const GridPosition& position) const;
  GridShape shape() const;  ///< nodes, origin, spacing and periodic axes

 private:
  template <class T, std::size_t D>
  static std::array<T, 3> filled(const T (&values)[D], T rest) {
    std::array<T, 3> all{rest, rest, rest};
    for (std::size_t a = 0; a < D; ++a) all[a] = values[a];
    return all;
  }

  int dimensions_;
  std::array<int, 3> nodes_;
  std::array<double, 3> lengths_;
  GridPosition origin_{0, 0, 0};
  std::array<SideCondition, 6> sides_;
};

}  // namespace voussoir
