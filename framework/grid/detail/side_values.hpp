#pragma once
#include <array>
#include <vector>

#include <voussoir/framework/grid/grid_field.hpp>
#include <voussoir/framework/grid/grid_materials.hpp>

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

/// The same for materials that differ from node to node. Heat flows are divided by the capacity of each node of their
/// side: what a node at the end of an axis takes up is 2 / h times that.
AllSides evaluate_sides(const Grid& grid, const GridMaterials& materials, double time);
/// The node of the whole grid that is number n among those of a side.
std::int64_t node_on_side(const Grid& grid, int side, std::size_t n);

/// Writes values to sides on the devices.
void put_sides(const GridSpace& space, const AllSides& values, GridSides& sides);

/// What a side of an intermediate field of a split scheme gets.
struct StageCorrection {
  std::array<double, 3> factor{0, 0, 0};  ///< time step × diffusivity along each axis that is still to be swept; else 0
  /// Materials that differ from node to node; the factors are then time steps alone. Null: one material.
  const GridMaterials* materials = nullptr;
};

/// Values of the side `side` of the intermediate field d_j of a split scheme, where d_s is the whole change of the
/// field in a step and d_{j−1} = d_j − factor_j (D_j d_j + the change of the boundary term), D_j the second difference:
/// from the change of the side's own values, `change`, backwards over the axes that are swept later. Heat flows into
/// several materials are left as they are: they act on their own nodes alone.
SideValues intermediate_side(const Grid& grid, int side, const AllSides& change, const StageCorrection& later);

}  // namespace voussoir::detail
