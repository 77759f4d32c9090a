#pragma once
#include <voussoir/elements/kernel/point_kernel.hpp>

// A crystal with cubic symmetry, its axes along x, y, z: three constants instead of two.
//   σ_xx = C11 ε_xx + C12 (ε_yy + ε_zz), …;   σ_xy = 2 C44 ε_xy, …

struct CubicCrystal {
  static constexpr const char* name = "cubic_crystal";
  static constexpr int components = 3, gradient_rows = 3;
  static constexpr const char* unknowns[] = {"ux", "uy", "uz"};
  static constexpr const char* parameters[] = {"C11", "C12", "C44", "density"};
  static constexpr bool symmetric_gradient = true;  // depends on strain: recovery speaks of strain and stress

  template <class R>
  VSR_FN static voussoir::Mat3<R> flux(const voussoir::Point<R>& p, const voussoir::Mat3<R>& grad) {
    const R volumetric = p[1] * voussoir::trace(grad);
    voussoir::Mat3<R> stress;
    for (int i = 0; i < 3; ++i) {
      stress(i, i) = volumetric + (p[0] - p[1]) * grad(i, i);
      for (int j = i + 1; j < 3; ++j) stress(i, j) = stress(j, i) = p[2] * (grad(i, j) + grad(j, i));
    }
    return stress;
  }
  template <class R>
  VSR_FN static voussoir::Mat3<R> dflux(const voussoir::Point<R>& p, const voussoir::Mat3<R>&,
                                        const voussoir::Mat3<R>& dgrad) {
    return flux(p, dgrad);
  }
  template <class R>
  VSR_FN static R density(const voussoir::Point<R>& p) {
    return p[3];
  }
};

#include <voussoir/elements/register.hpp>
VSR_REGISTER_ELEMENT(CubicCrystal, Hex8, Hex20, Tet10);
