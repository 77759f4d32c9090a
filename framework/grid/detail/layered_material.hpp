#pragma once
#include <array>
#include <vector>

#include <voussoir/framework/grid/grid_field.hpp>
#include <voussoir/framework/grid/grid_materials.hpp>

namespace voussoir::detail {

/// What one node takes from its two neighbours along an axis, per time: A u = lower (u₋ − u) + upper (u₊ − u), with
/// lower = k₋ / (C h²), k₋ the conductivity of the face and C the capacity of the node. At the end of an axis that is
/// not periodic, the outer coefficient is zero and the inner one doubled: the node has half a cell.
struct LayeredRates {
  double lower = 0, upper = 0;
};
LayeredRates layered_rates(const Grid& grid, const GridMaterials& materials, int axis, std::int64_t node);

/// Materials that differ from node to node, on the devices: coefficients of differences and capacities.
class LayeredMaterial {
 public:
  /// `weight` is the implicit part of a time step, τ/2; 0 for explicit schemes, which need no diagonals.
  LayeredMaterial(std::shared_ptr<const GridSpace> space, GridMaterials materials, double weight);

  const GridMaterials& materials() const { return materials_; }
  double weight() const { return weight_; }
  /// to = from_field · from + factor · A from + keep · to along one axis.
  void diffuse(int axis, const Vector& from, double from_field, double factor, double keep, const GridSides& sides,
               Vector& to) const;
  /// to += factor · rate / C.
  void add_source(double factor, const Vector& rate, Vector& to);
  /// ∫ C u dV.
  double content(const GridField& temperature);

  /// Coefficients of 1 − weight A along an axis, at all nodes: rows at prescribed ends of the axis are those of the
  /// identity.
  const Vector& lower(int axis) const { return lower_[static_cast<std::size_t>(axis)]; }
  const Vector& diagonal(int axis) const { return diagonal_[static_cast<std::size_t>(axis)]; }
  const Vector& upper(int axis) const { return upper_[static_cast<std::size_t>(axis)]; }

 private:
  std::shared_ptr<const GridSpace> space_;
  GridMaterials materials_;
  double weight_;
  std::array<Vector, 3> lower_, diagonal_, upper_;
  Vector inverse_capacity_, capacity_;
  GridField scratch_;
};

/// The largest stable step of explicit schemes: 1 / max over the nodes of Σ_a (lower_a + upper_a).
double layered_explicit_limit(const Grid& grid, const GridMaterials& materials);

}  // namespace voussoir::detail
