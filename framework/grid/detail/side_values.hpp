#pragma once
#include <array>
#include <vector>

#include <voussoir/framework/grid/grid_field.hpp>

// Values of the sides of a grid at one time, as backends take them: temperatures, and slopes along the outward normal.

namespace voussoir::detail {

/// The values of one side: the same everywhere, or one for each node in the order of GridSideView::values.
struct SideValues {
  double value = 0;
  std::vector<double> values;  ///< empty: uniform

  bool zero() const;
  double at(std::size_t n) const { return values.empty() ? value : values[n]; }
};
using AllSides = std::array<SideValues, 6>;

/// a · x + b · y, side by side.
AllSides combine_sides(double a, const AllSides& x, double b, const AllSides& y);

/// The values of a grid's sides at a time. Heat flows are divided by the conductivity across their side. A value that
/// is not finite is an Error (bad_input) that names side, position and time.
AllSides evaluate_sides(const Grid& grid, const std::array<double, 3>& conductivity, double time);

/// Writes values to sides on the devices.
void put_sides(const GridSpace& space, const AllSides& values, GridSides& sides);

/// What a side of an intermediate field of a split scheme gets.
struct StageCorrection {
  std::array<double, 3> factor{0, 0, 0};  ///< time step × diffusivity along each axis that is still to be swept; else 0
};

/// Values of the side `side` of the intermediate field d_j of a split scheme, where d_s is the whole change of the
/// field in a step and d_{j−1} = d_j − factor_j (D_j d_j + the change of the boundary term), D_j the second difference:
/// from the change of the side's own values, `change`, backwards over the axes that are swept later.
SideValues intermediate_side(const Grid& grid, int side, const AllSides& change, const StageCorrection& later);

}  // namespace voussoir::detail
