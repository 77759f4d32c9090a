#pragma once
#include <array>
#include <cstddef>

namespace voussoir {

/// A material of heat analyses on grids.
struct HeatMaterial {
  std::array<double, 3> conductivity{1, 1, 1};  ///< along x, y, z
  double density = 1;                           ///< mass per volume
  double specific_heat = 1;                     ///< heat per mass and temperature

  double capacity() const { return density * specific_heat; }  ///< heat per volume and temperature
  double diffusivity(int axis) const {                         ///< conductivity / capacity along an axis
    return conductivity[static_cast<std::size_t>(axis)] / capacity();
  }
};

}  // namespace voussoir
