#pragma once
#include <voussoir/elements/kernel/point_kernel.hpp>

// Laws of every kind that kernel/point_kernel.hpp describes, for tests.

namespace voussoir::testing {

/// k ∇u and c u: heat with a reaction.
struct ReactionDiffusion {
  static constexpr const char* name = "reaction_diffusion";
  static constexpr int components = 1;
  static constexpr const char* unknowns[] = {"c"};
  static constexpr const char* parameters[] = {"diffusivity", "rate"};
  static constexpr bool linear = true;
  template <class R>
  VSR_FN static Mat<R, 1, 3> flux(const Point<R>& p, const Mat<R, 1, 3>& grad) {
    return p[0] * grad;
  }
  template <class R>
  VSR_FN static Vec<R, 1> source(const Point<R>& p, const Vec<R, 1>& value, const Mat<R, 1, 3>&) {
    return {{p[1] * value[0]}};
  }
  template <class R>
  VSR_FN static R density(const Point<R>&) {
    return R(1.0);
  }
};

/// A reaction e^u, and a conductivity that grows with the value.
struct Ignition {
  static constexpr const char* name = "ignition";
  static constexpr int components = 1;
  static constexpr const char* unknowns[] = {"theta"};
  static constexpr const char* parameters[] = {"k0", "k1", "rate"};
  static constexpr bool symmetric = false;
  template <class R>
  VSR_FN static Mat<R, 1, 3> flux(const Point<R>& p, const Vec<R, 1>& value, const Mat<R, 1, 3>& grad) {
    return (p[0] + p[1] * value[0]) * grad;
  }
  template <class R>
  VSR_FN static Vec<R, 1> source(const Point<R>& p, const Vec<R, 1>& value, const Mat<R, 1, 3>&) {
    return {{-(p[2] * exp(value[0]))}};
  }
};

/// k ∇u and b · ∇u: not symmetric.
struct ConvectionDiffusion {
  static constexpr const char* name = "convection_diffusion";
  static constexpr int components = 1;
  static constexpr const char* unknowns[] = {"c"};
  static constexpr const char* parameters[] = {"diffusivity", "bx", "by", "bz"};
  static constexpr bool linear = true, symmetric = false;
  template <class R>
  VSR_FN static Mat<R, 1, 3> flux(const Point<R>& p, const Mat<R, 1, 3>& grad) {
    return p[0] * grad;
  }
  template <class R>
  VSR_FN static Vec<R, 1> source(const Point<R>& p, const Vec<R, 1>&, const Mat<R, 1, 3>& grad) {
    return {{p[1] * grad(0, 0) + p[2] * grad(0, 1) + p[3] * grad(0, 2)}};
  }
};

/// Compressible neo-Hooke, NeoHookeEnergy of finite_strain_laws.hpp, by its first Piola–Kirchhoff stress alone:
/// μ (F − F⁻ᵀ) + λ ln J F⁻ᵀ.
struct NeoHookeFlux {
  static constexpr const char* name = "neo_hooke_flux";
  static constexpr int components = 3;
  static constexpr const char* unknowns[] = {"ux", "uy", "uz"};
  static constexpr const char* parameters[] = {"lambda", "mu"};
  template <class R>
  VSR_FN static Mat3<R> flux(const Point<R>& p, const Mat3<R>& grad) {
    Mat3<R> f = grad;
    for (int i = 0; i < 3; ++i) f(i, i) += R(1.0);
    const R j = determinant(f);
    const Mat3<R> back = transpose(inverse(f, j));
    return p[1] * f + (p[0] * log(j) - p[1]) * back;
  }
};

/// Small-strain thermo-elasticity with four unknowns per node: expansion by T, heat that flows alone.
struct ThermoElastic {
  static constexpr const char* name = "coupled_solid";
  static constexpr int components = 4;
  static constexpr const char* unknowns[] = {"ux", "uy", "uz", "T"};
  static constexpr const char* parameters[] = {"lambda", "mu", "expansion_", "conductivity", "rho", "capacity"};
  static constexpr bool linear = true, symmetric = false, reads_temperature = false;
  template <class R>
  VSR_FN static Mat<R, 4, 3> flux(const Point<R>& p, const Vec<R, 4>& value, const Mat<R, 4, 3>& grad) {
    Mat<R, 4, 3> f;
    const R volume = grad(0, 0) + grad(1, 1) + grad(2, 2);
    const R pressure = p[0] * volume - (R(3.0) * p[0] + R(2.0) * p[1]) * p[2] * value[3];
    for (int i = 0; i < 3; ++i)
      for (int k = 0; k < 3; ++k) f(i, k) = p[1] * (grad(i, k) + grad(k, i)) + (i == k ? pressure : R(0.0));
    for (int k = 0; k < 3; ++k) f(3, k) = p[3] * grad(3, k);
    return f;
  }
  template <class R>
  VSR_FN static Vec<R, 4> density(const Point<R>& p) {
    return {{p[4], p[4], p[4], p[5]}};
  }
};

/// A Maxwell element in heat's clothes: a flux that relaxes with time, so that time and step are read.
struct Relaxing {
  static constexpr const char* name = "relaxing";
  static constexpr int components = 1;
  static constexpr const char* unknowns[] = {"w"};
  static constexpr const char* parameters[] = {"k", "tau"};
  static constexpr const char* history[] = {"old_qx", "old_qy", "old_qz", "old_gx", "old_gy", "old_gz"};
  template <class R>
  VSR_FN static Mat<R, 1, 3> flux(const Point<R>& p, const Mat<R, 1, 3>& grad) {
    Mat<R, 1, 3> q;
    const R factor = R(1.0) / (R(1.0) + R(p.time_step) / p[1]);
    for (int k = 0; k < 3; ++k) q(0, k) = factor * (p.history[k] + p[0] * (grad(0, k) - p.history[3 + k]));
    return q;
  }
  template <class R>
  VSR_FN static void advance(const Point<R>& p, const Mat<R, 1, 3>& grad, R* next) {
    const Mat<R, 1, 3> q = flux(p, grad);
    for (int k = 0; k < 3; ++k) {
      next[k] = q(0, k);
      next[3 + k] = grad(0, k);
    }
  }
};

/// Hooke's law by its flux alone: found to be linear, with a constant tangent.
struct PlainSolid {
  static constexpr const char* name = "plain_solid";
  static constexpr int components = 3;
  static constexpr const char* unknowns[] = {"ux", "uy", "uz"};
  static constexpr const char* parameters[] = {"lambda", "mu"};
  template <class R>
  VSR_FN static Mat3<R> flux(const Point<R>& p, const Mat3<R>& grad) {
    Mat3<R> stress;
    for (int i = 0; i < 3; ++i)
      for (int k = 0; k < 3; ++k)
        stress(i, k) = p[1] * (grad(i, k) + grad(k, i)) + (i == k ? p[0] * trace(grad) : R(0.0));
    return stress;
  }
};

/// Convection and diffusion that nobody calls linear, with storage.
struct Plume {
  static constexpr const char* name = "plume";
  static constexpr int components = 1;
  static constexpr const char* unknowns[] = {"c"};
  static constexpr const char* parameters[] = {"diffusivity", "bx"};
  static constexpr bool symmetric = false;
  template <class R>
  VSR_FN static Mat<R, 1, 3> flux(const Point<R>& p, const Mat<R, 1, 3>& grad) {
    return p[0] * grad;
  }
  template <class R>
  VSR_FN static Vec<R, 1> source(const Point<R>& p, const Vec<R, 1>&, const Mat<R, 1, 3>& grad) {
    return {{p[1] * grad(0, 0)}};
  }
  template <class R>
  VSR_FN static R density(const Point<R>&) {
    return R(1.5);
  }
};

}  // namespace voussoir::testing

#include <voussoir/elements/register.hpp>
VSR_REGISTER_ELEMENT(voussoir::testing::ReactionDiffusion, Hex8, Tet4);
VSR_REGISTER_ELEMENT(voussoir::testing::Ignition, Hex8, Quad4);
VSR_REGISTER_ELEMENT(voussoir::testing::ConvectionDiffusion, Hex8, Quad4, Tet10);
VSR_REGISTER_ELEMENT(voussoir::testing::NeoHookeFlux, Hex8);
VSR_REGISTER_ELEMENT(voussoir::testing::ThermoElastic, Hex8);
VSR_REGISTER_ELEMENT(voussoir::testing::Relaxing, Hex8);
VSR_REGISTER_ELEMENT(voussoir::testing::PlainSolid, Hex8, Hex20);
VSR_REGISTER_ELEMENT(voussoir::testing::Plume, Hex8);
