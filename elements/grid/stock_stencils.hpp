#pragma once
#include <voussoir/backends/grid_stock.hpp>
#include <voussoir/elements/grid/neighbourhood.hpp>
#include <voussoir/elements/kernel/math.hpp>

// The grid kernels of the library. Compiled by g++ and nvcc.

namespace voussoir {

/// Diffusion along the axes, without mixed derivatives. An axis whose rate is zero is not read.
struct DiffusionStencil {
  static constexpr const char* name = "grid.diffusion";  ///< in the library of grid kernels
  using Parameters = GridDiffusionParameters;            ///< plain numbers that the kernel gets
  /// The value at a node.
  template <class Node>
  VSR_FN static double apply(const Node& u, const Parameters& p) {
    double sum = p.rate[0] == 0 ? 0.0 : p.rate[0] * u.dxx();
    if (p.rate[1] != 0) sum += p.rate[1] * u.dyy();
    if (p.rate[2] != 0) sum += p.rate[2] * u.dzz();
    return sum;
  }
};

/// Differences along one axis with coefficients of each node's own. Beyond a side with a slope the mirror image counts,
/// whose coefficient is zero where the other one is doubled.
struct LayeredStencil {
  static constexpr const char* name = "grid.layered";  ///< in the library of grid kernels
  using Parameters = GridLayeredParameters;            ///< plain numbers that the kernel gets
  /// The value at a node.
  template <class Node>
  VSR_FN static double apply(const Node& u, const Parameters& p) {
    const int i = p.axis == 0, j = p.axis == 1, k = p.axis == 2;
    const double here = u(0, 0, 0);
    return p.scale * (u.other(1) * (u(-i, -j, -k) - here) + u.other(2) * (u(i, j, k) - here));
  }
};

/// The same value everywhere.
struct ConstantSource {
  static constexpr const char* name = "grid.constant";  ///< in the library of grid kernels
  using Parameters = GridConstantParameters;            ///< plain numbers that the kernel gets
  /// The value at a position, a time and a temperature.
  template <class R>
  VSR_FN static R source(R, R, R, R, R, const Parameters& p) {
    return p.value;
  }
};

/// A value at the nodes of a box.
struct BoxSource {
  static constexpr const char* name = "grid.box";  ///< in the library of grid kernels
  using Parameters = GridBoxParameters;            ///< plain numbers that the kernel gets
  /// The value at a position, a time and a temperature.
  template <class R>
  VSR_FN static R source(R x, R y, R z, R, R, const Parameters& p) {
    const bool inside =
        x >= p.lower[0] && x <= p.upper[0] && y >= p.lower[1] && y <= p.upper[1] && z >= p.lower[2] && z <= p.upper[2];
    return inside ? p.value : R(0);
  }
};

/// A bell around a centre.
struct GaussianSource {
  static constexpr const char* name = "grid.gaussian";  ///< in the library of grid kernels
  using Parameters = GridGaussianParameters;            ///< plain numbers that the kernel gets
  /// The value at a position, a time and a temperature.
  template <class R>
  VSR_FN static R source(R x, R y, R z, R, R, const Parameters& p) {
    const R dx = x - p.centre[0], dy = y - p.centre[1], dz = z - p.centre[2];
    return p.value * exp(-(dx * dx + dy * dy + dz * dz) / (2 * p.width * p.width));
  }
};

}  // namespace voussoir
