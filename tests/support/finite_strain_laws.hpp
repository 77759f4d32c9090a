#pragma once
#include <voussoir/elements/kernel/point_kernel.hpp>

// Laws of large strain and plasticity with a history, without and with a density.

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

/// Compressible neo-Hooke by its energy alone: μ/2 (tr C − 3 − 2 ln J) + λ/2 (ln J)².
struct NeoHookeEnergy {
  static constexpr const char* name = "neo_hooke_energy";
  static constexpr int components = 3;
  static constexpr const char* unknowns[] = {"ux", "uy", "uz"};
  static constexpr const char* parameters[] = {"lambda", "mu"};
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
};

/// NeoHookeEnergy with a density.
struct HeavyNeoHooke : NeoHookeEnergy {
  static constexpr const char* name = "heavy_neo_hooke";
  static constexpr const char* parameters[] = {"lambda", "mu", "rho"};
  template <class R>
  VSR_FN static R density(const Point<R>& p) {
    return p[2];
  }
};

/// J2 plasticity at small strain with linear isotropic hardening, by return mapping (Simo and Hughes 1998, box 3.1).
struct J2Plasticity {
  static constexpr const char* name = "j2";
  static constexpr int components = 3;
  static constexpr const char* unknowns[] = {"ux", "uy", "uz"};
  static constexpr const char* parameters[] = {"lambda", "mu", "yield", "hardening"};
  static constexpr const char* history[] = {"pxx", "pyy", "pzz", "pxy", "pyz", "pxz", "peeq"};
  static constexpr bool symmetric_gradient = true;

  template <class R>
  struct State {
    Mat3<R> stress;
    R plastic[7];
  };
  template <class R>
  VSR_FN static State<R> map_back(const Point<R>& p, const Mat3<R>& grad) {
    const int place[3][3] = {{0, 3, 5}, {3, 1, 4}, {5, 4, 2}};
    Mat3<R> s;
    const R volume = grad(0, 0) + grad(1, 1) + grad(2, 2);
    for (int i = 0; i < 3; ++i)
      for (int k = 0; k < 3; ++k) {
        const R elastic = R(0.5) * (grad(i, k) + grad(k, i)) - p.history[place[i][k]];
        s(i, k) = R(2.0) * p[1] * (elastic - (i == k ? volume * R(1.0 / 3.0) : R(0.0)));
      }
    R square = R(0.0);
    for (int i = 0; i < 3; ++i)
      for (int k = 0; k < 3; ++k) square += s(i, k) * s(i, k);
    const R norm = sqrt(square), root = R(0.81649658092772603);
    const R over = norm - root * (p[2] + p[3] * p.history[6]);
    const R gamma = max(over, R(0.0)) / (R(2.0) * p[1] + R(2.0 / 3.0) * p[3]);
    const R safe = max(norm, R(1e-300));
    State<R> state;
    const R bulk = p[0] + R(2.0 / 3.0) * p[1];
    for (int i = 0; i < 3; ++i)
      for (int k = 0; k < 3; ++k) {
        const R flow = gamma * s(i, k) / safe;
        state.plastic[place[i][k]] = p.history[place[i][k]] + flow;
        state.stress(i, k) = s(i, k) - R(2.0) * p[1] * flow + (i == k ? bulk * volume : R(0.0));
      }
    state.plastic[6] = p.history[6] + root * gamma;
    return state;
  }
  template <class R>
  VSR_FN static Mat3<R> flux(const Point<R>& p, const Mat3<R>& grad) {
    return map_back(p, grad).stress;
  }
  template <class R>
  VSR_FN static void advance(const Point<R>& p, const Mat3<R>& grad, R* next) {
    const State<R> state = map_back(p, grad);
    for (int k = 0; k < 7; ++k) next[k] = state.plastic[k];
  }
};

/// J2Plasticity with a density.
struct HeavyJ2 : J2Plasticity {
  static constexpr const char* name = "heavy_j2";
  static constexpr const char* parameters[] = {"lambda", "mu", "yield", "hardening", "rho"};
  template <class R>
  VSR_FN static R density(const Point<R>& p) {
    return p[4];
  }
};

}  // namespace voussoir::testing

#include <voussoir/elements/register.hpp>
VSR_REGISTER_ELEMENT(voussoir::testing::StVenantKirchhoff, Hex8, Tet4);
VSR_REGISTER_ELEMENT(voussoir::testing::NeoHookeEnergy, Hex8);
VSR_REGISTER_ELEMENT(voussoir::testing::HeavyNeoHooke, Hex8);
VSR_REGISTER_ELEMENT(voussoir::testing::J2Plasticity, Hex8);
[[maybe_unused]] static const voussoir::RegisterKernel<
    voussoir::PointElement<voussoir::testing::J2Plasticity, voussoir::Hex8, voussoir::BBar>>
    registered_j2_bbar{"j2.hex8.bbar", "hex8", VSR_KERNEL_FILE_OR_NULL};
VSR_REGISTER_ELEMENT(voussoir::testing::HeavyJ2, Hex8);
