#pragma once
#include <array>
#include <functional>
#include <vector>

#include <voussoir/framework/grid/grid.hpp>
#include <voussoir/framework/grid/heat_material.hpp>

namespace voussoir {

/// Materials of a grid that differ from node to node. Each node has conductivities along the axes and a capacity
/// (density × specific heat), which hold in the cell around the node, half-way to its neighbours: an interface between
/// two materials lies in the middle between two nodes. The conductivity of the face between two cells is the harmonic
/// mean of theirs, so that the heat flow through layers is that of resistances in series.
///
///   GridMaterials wall(grid, brick);
///   wall.box({0.1, 0, 0}, {0.15, 1, 0}, insulation);
///   GridHeatAnalysis heat(grid, wall, {HeatScheme::douglas, 10}, Backend::open("auto"));
class GridMaterials {
 public:
  /// The same material everywhere. A material whose numbers are not positive is an Error (bad_input), here and below.
  GridMaterials(const Grid& grid, const HeatMaterial& material);

  /// Another material at the nodes of a box, its surface included. Where boxes overlap, the last one applies. A box
  /// without a node is an Error (bad_input).
  GridMaterials& box(const GridPosition& lower, const GridPosition& upper, const HeatMaterial& material);
  /// The material at each node as a function of its position.
  GridMaterials& fill(const std::function<HeatMaterial(const GridPosition& x)>& function);
  /// A field of conductivities, the same along all axes, in the order of nodes.
  GridMaterials& conductivities(const std::vector<double>& values);
  /// A field of conductivities along one axis.
  GridMaterials& conductivities(int axis, const std::vector<double>& values);
  /// A field of capacities, density × specific heat.
  GridMaterials& capacities(const std::vector<double>& values);

  const Grid& grid() const { return grid_; }                                         ///< whose nodes these are
  std::int64_t size() const { return static_cast<std::int64_t>(capacity_.size()); }  ///< number of nodes
  /// Conductivity of a node along an axis.
  double conductivity(int axis, std::int64_t node) const {
    return conductivity_[static_cast<std::size_t>(axis)][static_cast<std::size_t>(node)];
  }
  double capacity(std::int64_t node) const { return capacity_[static_cast<std::size_t>(node)]; }  ///< of a node
  const std::vector<double>& capacities() const { return capacity_; }                             ///< of all nodes

 private:
  void put(std::size_t node, const HeatMaterial& material);

  Grid grid_;
  std::array<std::vector<double>, 3> conductivity_;  ///< of the axes that the grid has
  std::vector<double> capacity_;
};

/// Harmonic mean of two conductivities: that of the face between two cells of the same size.
inline double face_conductivity(double a, double b) { return 2 / (1 / a + 1 / b); }

}  // namespace voussoir
