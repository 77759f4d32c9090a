#pragma once
#include <voussoir/elements/kernel/element_kernel.hpp>

namespace voussoir::testing {

/// A bar in the plane with large rotations, total Lagrangian: Green's strain ε = (l² − L²) / 2L², second
/// Piola–Kirchhoff stress E ε. Lumped and consistent mass as the stock truss.
struct GreenTruss {
  static constexpr const char* name = "green_truss";
  static constexpr const char* shape = "line2";
  static constexpr int nodes = 2, components = 2, parameter_count = 3, points = 0, dofs = 4;
  static constexpr bool linear = false, reads_temperature = false;
  static constexpr const char* unknowns[2] = {"ux", "uy"};
  static constexpr const char* parameters[] = {"young", "area", "density"};
  template <class R>
  using Input = ElementInput<R, nodes, components, parameter_count>;

  template <class R>
  struct Stretch {
    R x[2], length2, strain;
  };
  template <class R>
  VSR_FN static Stretch<R> stretch(const Input<R>& e) {
    Stretch<R> s;
    R now = R(0.0);
    s.length2 = R(0.0);
    for (int i = 0; i < 2; ++i) {
      const R d = e.x[1][i] - e.x[0][i];
      s.x[i] = d + e.u[2 + i] - e.u[i];
      s.length2 += d * d;
      now += s.x[i] * s.x[i];
    }
    s.strain = (now - s.length2) / (R(2.0) * s.length2);
    return s;
  }
  template <class R>
  VSR_FN static R tangent(const Input<R>& e, R* upper) {
    R p[parameter_count];
    e.parameters_at(R(0.0), p);
    const Stretch<R> s = stretch(e);
    const R length = sqrt(s.length2), k = p[0] * p[1] / length;
    int at = 0;
    for (int i = 0; i < dofs; ++i)
      for (int j = i; j < dofs; ++j) {
        const R sign = (i < 2) == (j < 2) ? R(1.0) : R(-1.0);
        upper[at++] = sign * k * (s.x[i % 2] * s.x[j % 2] / s.length2 + (i % 2 == j % 2 ? s.strain : R(0.0)));
      }
    return length;
  }
  template <class R>
  VSR_FN static R residual(const Input<R>& e, R* r) {
    R p[parameter_count];
    e.parameters_at(R(0.0), p);
    const Stretch<R> s = stretch(e);
    const R length = sqrt(s.length2);
    for (int i = 0; i < 2; ++i) {
      r[2 + i] = p[0] * p[1] * s.strain * s.x[i] / length;
      r[i] = -r[2 + i];
    }
    return length;
  }
  template <class R>
  VSR_FN static R mass(const Input<R>& e, R* upper) {
    R p[parameter_count];
    e.parameters_at(R(0.0), p);
    const R length = sqrt(stretch(e).length2), sixth = p[2] * p[1] * length / R(6.0);
    int at = 0;
    for (int i = 0; i < dofs; ++i)
      for (int j = i; j < dofs; ++j) upper[at++] = i == j ? sixth + sixth : (j - i == 2 ? sixth : R(0.0));
    return length;
  }
};

}  // namespace voussoir::testing
