#pragma once
#include <voussoir/elements/kernel/point_kernel.hpp>

// Four unknowns per node: a body that heat flows through and that expands with its temperature. The temperature loads
// the body, but the body does not warm up when it is strained, so the tangent is not symmetric.

struct ThermoElastic {
  static constexpr const char* name = "thermo_elastic";
  static constexpr int components = 4;
  static constexpr const char* unknowns[] = {"ux", "uy", "uz", "T"};
  static constexpr const char* parameters[] = {"lame", "shear", "thermal_strain", "conductivity"};
  static constexpr bool linear = true, symmetric = false, reads_temperature = false;

  template <class R>
  VSR_FN static voussoir::Mat<R, 4, 3> flux(const voussoir::Point<R>& p, const voussoir::Vec<R, 4>& value,
                                            const voussoir::Mat<R, 4, 3>& grad) {
    voussoir::Mat<R, 4, 3> f;
    const R volume = grad(0, 0) + grad(1, 1) + grad(2, 2);
    const R pressure = p[0] * volume - (R(3.0) * p[0] + R(2.0) * p[1]) * p[2] * value[3];
    for (int i = 0; i < 3; ++i)
      for (int k = 0; k < 3; ++k) f(i, k) = p[1] * (grad(i, k) + grad(k, i)) + (i == k ? pressure : R(0.0));
    for (int k = 0; k < 3; ++k) f(3, k) = p[3] * grad(3, k);
    return f;
  }
};

#include <voussoir/elements/register.hpp>
VSR_REGISTER_ELEMENT(ThermoElastic, Hex8);
