#pragma once
#include <voussoir/elements/kernel/point_kernel.hpp>

// Laws with a density for tests of dynamics: large strain, and plasticity with a history.

namespace voussoir::testing {

/// St Venant–Kirchhoff, total Lagrangian: S = λ tr(E) I + 2 μ E with the strain E = ½ (FᵀF − I) of Green and Lagrange;
/// the flux is F S.
struct StVenantKirchhoff {
  static constexpr const char* name = "st_venant_kirchhoff";
  static constexpr int components = 3;
  static constexpr const char* unknowns[] = {"ux", "uy", "uz"};
  static constexpr const char* parameters[] = {"lambda", "mu", "rho"};
  template <class R>
  VSR_FN static Mat3<R> flux(const Point<R>& p, const Mat3<R>& grad) {
    Mat3<R> f = grad;
    for (int i = 0; i < 3; ++i) f(i, i) += R(1.0);
    Mat3<R> strain;
    for (int i = 0; i < 3; ++i)
      for (int k = 0; k < 3; ++k) {
        R sum = grad(i, k) + grad(k, i);
        for (int j = 0; j < 3; ++j) sum += grad(j, i) * grad(j, k);
        strain(i, k) = R(0.5) * sum;
      }
    const R volume = strain(0, 0) + strain(1, 1) + strain(2, 2);
    Mat3<R> stress;
    for (int i = 0; i < 3; ++i)
      for (int k = 0; k < 3; ++k) {
        R sum = p[0] * volume * f(i, k);
        for (int j = 0; j < 3; ++j) sum += R(2.0) * p[1] * f(i, j) * strain(j, k);
        stress(i, k) = sum;
      }
    return stress;
  }
  template <class R>
  VSR_FN static R density(const Point<R>& p) {
    return p[2];
  }
};

/// Compressible neo-Hooke by its energy: μ/2 (tr C − 3 − 2 ln J) + λ/2 (ln J)².
struct HeavyNeoHooke {
  static constexpr const char* name = "heavy_neo_hooke";
  static constexpr int components = 3;
  static constexpr const char* unknowns[] = {"ux", "uy", "uz"};
  static constexpr const char* parameters[] = {"lambda", "mu", "rho"};
  template <class R>
  VSR_FN static R energy(const Point<R>& p, const Mat3<R>& grad) {
    Mat3<R> f = grad;
    R trace_c = R(0.0);
    for (int i = 0; i < 3; ++i) f(i, i) += R(1.0);
    for (int i = 0; i < 3; ++i)
      for (int k = 0; k < 3; ++k) trace_c += f(i, k) * f(i, k);
    const R log_j = log(determinant(f));
    return R(0.5) * p[1] * (trace_c - R(3.0) - R(2.0) * log_j) + R(0.5) * p[0] * log_j * log_j;
  }
  template <class R>
  VSR_FN static R density(const Point<R>& p) {
    return p[2];
  }
};

/// J2 plasticity at small strain with linear isotropic hardening, by return mapping (Simo and Hughes 1998, box 3.1).
struct HeavyJ2 {
  static constexpr const char* name = "heavy_j2";
  static constexpr int components = 3;
  static constexpr const char* unknowns[] = {"ux", "uy", "uz"};
  static constexpr const char* parameters[] = {"lambda", "mu", "yield", "hardening", "rho"};
  static constexpr const char* history[] = {"pxx", "pyy", "pzz", "pxy", "pyz", "pxz", "peeq"};
  static constexpr bool symmetric_gradient = true;

  /// Stress and history at the end of a step.
  template <class R>
  struct Returned {
    Mat3<R> stress;
    R plastic[7];
  };
  template <class R>
  VSR_FN static Returned<R> map_back(const Point<R>& p, const Mat3<R>& grad) {
    const int place[3][3] = {{0, 3, 5}, {3, 1, 4}, {5, 4, 2}};
    const R volume = trace(grad), mu2 = R(2.0) * p[1], root = R(0.81649658092772603);
    Mat3<R> s;
    R square = R(0.0);
    for (int i = 0; i < 3; ++i)
      for (int k = 0; k < 3; ++k) {
        const R strain = R(0.5) * (grad(i, k) + grad(k, i)) - (i == k ? volume * R(1.0 / 3.0) : R(0.0));
        s(i, k) = mu2 * (strain - p.history[place[i][k]]);
        square += s(i, k) * s(i, k);
      }
    const R size = max(sqrt(square), R(1e-300));
    const R flow = max(size - root * (p[2] + p[3] * p.history[6]), R(0.0)) / (mu2 + R(2.0 / 3.0) * p[3]);
    Returned<R> next;
    for (int i = 0; i < 3; ++i)
      for (int k = 0; k < 3; ++k) {
        const R along = flow * s(i, k) / size;
        next.plastic[place[i][k]] = p.history[place[i][k]] + along;
        next.stress(i, k) = s(i, k) - mu2 * along + (i == k ? (p[0] + R(2.0 / 3.0) * p[1]) * volume : R(0.0));
      }
    next.plastic[6] = p.history[6] + root * flow;
    return next;
  }
  template <class R>
  VSR_FN static Mat3<R> flux(const Point<R>& p, const Mat3<R>& grad) {
    return map_back(p, grad).stress;
  }
  template <class R>
  VSR_FN static void advance(const Point<R>& p, const Mat3<R>& grad, R* next) {
    const Returned<R> mapped = map_back(p, grad);
    for (int k = 0; k < 7; ++k) next[k] = mapped.plastic[k];
  }
  template <class R>
  VSR_FN static R density(const Point<R>& p) {
    return p[4];
  }
};

}  // namespace voussoir::testing

#include <voussoir/elements/register.hpp>
VSR_REGISTER_ELEMENT(voussoir::testing::StVenantKirchhoff, Hex8, Tet4);
VSR_REGISTER_ELEMENT(voussoir::testing::HeavyNeoHooke, Hex8);
VSR_REGISTER_ELEMENT(voussoir::testing::HeavyJ2, Hex8);
