#pragma once
#include <voussoir/elements/kernel/point_kernel.hpp>

// Laws as users write them, for `voussoir bench user-element`: the elastic solid of the library with more and less of
// what a law may define, and laws that the library does not have. On a GPU they are compiled at run time.

namespace bench_laws {

using voussoir::Mat;
using voussoir::Mat3;
using voussoir::Point;
using voussoir::Vec;

/// What all solids here share.
struct Body {
  static constexpr int components = 3;
  static constexpr const char* unknowns[] = {"ux", "uy", "uz"};
  static constexpr const char* parameters[] = {"young", "poisson"};

  template <class R>
  VSR_FN static R shear(const Point<R>& p) {
    return R(0.5) * p[0] / (R(1.0) + p[1]);
  }
  template <class R>
  VSR_FN static R lame(const Point<R>& p) {
    return R(2.0) * shear(p) * p[1] / (R(1.0) - R(2.0) * p[1]);
  }
  template <class R>
  VSR_FN static Mat3<R> hooke(R lambda, R mu, const Mat3<R>& grad) {
    const R volumetric = lambda * trace(grad);
    Mat3<R> stress;
    for (int i = 0; i < 3; ++i) {
      stress(i, i) = volumetric + R(2.0) * mu * grad(i, i);
      for (int j = i + 1; j < 3; ++j) stress(i, j) = stress(j, i) = mu * (grad(i, j) + grad(j, i));
    }
    return stress;
  }
};

/// Hooke's law by its flux alone.
struct FluxSolid : Body {
  static constexpr const char* name = "flux_solid";
  static constexpr bool symmetric_gradient = true;
  template <class R>
  VSR_FN static Mat3<R> flux(const Point<R>& p, const Mat3<R>& grad) {
    return hooke(lame(p), shear(p), grad);
  }
};

/// The same with its tangent, as the tutorial teaches.
struct TutorialSolid : FluxSolid {
  static constexpr const char* name = "tutorial_solid";
  template <class R>
  VSR_FN static Mat3<R> dflux(const Point<R>& p, const Mat3<R>&, const Mat3<R>& change) {
    return flux(p, change);
  }
};

/// Constants once per material, and the word that it is linear.
struct PreparedSolid : Body {
  static constexpr const char* name = "prepared_solid";
  static constexpr bool symmetric_gradient = true, linear = true;
  static constexpr int constants = 2;
  template <class R>
  VSR_FN static void prepare(const R* p, R* c) {
    c[1] = R(0.5) * p[0] / (R(1.0) + p[1]);
    c[0] = R(2.0) * c[1] * p[1] / (R(1.0) - R(2.0) * p[1]);
  }
  template <class R>
  VSR_FN static Mat3<R> flux(const Point<R>& p, const Mat3<R>& grad) {
    return hooke(p.constants[0], p.constants[1], grad);
  }
  template <class R>
  VSR_FN static Mat3<R> dflux(const Point<R>& p, const Mat3<R>&, const Mat3<R>& change) {
    return flux(p, change);
  }
};

/// With the tangent of node pairs as well: all that the library's own solid has.
struct TunedSolid : PreparedSolid {
  static constexpr const char* name = "tuned_solid";
  template <class R>
  VSR_FN static Mat3<R> pair_block(const Point<R>& p, const Mat3<R>& outer) {
    const R diagonal = p.constants[1] * trace(outer);
    Mat3<R> block;
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j)
        block(i, j) = p.constants[0] * outer(i, j) + p.constants[1] * outer(j, i) + (i == j ? diagonal : R(0.0));
    return block;
  }
};

/// St Venant–Kirchhoff: Hooke's law of Green's strain.
struct SvkSolid : Body {
  static constexpr const char* name = "svk_solid";
  template <class R>
  VSR_FN static Mat3<R> deformation(const Mat3<R>& grad) {
    Mat3<R> f = grad;
    for (int i = 0; i < 3; ++i) f(i, i) += R(1.0);
    return f;
  }
  /// Green's strain, ½ (FᵀF − 1).
  template <class R>
  VSR_FN static Mat3<R> strain_of(const Mat3<R>& grad) {
    Mat3<R> strain;
    for (int i = 0; i < 3; ++i)
      for (int j = i; j < 3; ++j) {
        R sum = grad(i, j) + grad(j, i);
        for (int k = 0; k < 3; ++k) sum += grad(k, i) * grad(k, j);
        strain(i, j) = strain(j, i) = R(0.5) * sum;
      }
    return strain;
  }
  template <class R>
  VSR_FN static Mat3<R> flux(const Point<R>& p, const Mat3<R>& grad) {
    return deformation(grad) * hooke(lame(p), shear(p), strain_of(grad));
  }
  template <class R>
  VSR_FN static Mat3<R> dflux(const Point<R>& p, const Mat3<R>& grad, const Mat3<R>& change) {
    const R lambda = lame(p), mu = shear(p);
    const Mat3<R> f = deformation(grad);
    return change * hooke(lambda, mu, strain_of(grad)) + f * hooke(lambda, mu, transpose(f) * change);
  }
};

/// The same by its flux alone, and by its energy alone.
struct SvkFlux : Body {
  static constexpr const char* name = "svk_flux";
  template <class R>
  VSR_FN static Mat3<R> flux(const Point<R>& p, const Mat3<R>& grad) {
    return SvkSolid::flux(p, grad);
  }
};
struct SvkEnergy : Body {
  static constexpr const char* name = "svk_energy";
  template <class R>
  VSR_FN static R energy(const Point<R>& p, const Mat3<R>& grad) {
    const Mat3<R> strain = SvkSolid::strain_of(grad);
    R square = R(0.0);
    for (int i = 0; i < 3; ++i)
      for (int k = 0; k < 3; ++k) square += strain(i, k) * strain(i, k);
    const R volume = trace(strain);
    return R(0.5) * lame(p) * volume * volume + shear(p) * square;
  }
};

/// Four unknowns per node: heat that flows through a body and expands it. Not symmetric: strain causes no heat.
struct ThermoElastic {
  static constexpr const char* name = "thermo_elastic_solid";
  static constexpr int components = 4;
  static constexpr const char* unknowns[] = {"ux", "uy", "uz", "T"};
  static constexpr const char* parameters[] = {"young", "poisson", "thermal_strain", "conductivity"};
  static constexpr bool symmetric = false, reads_temperature = false;
  template <class R>
  VSR_FN static Mat<R, 4, 3> flux(const Point<R>& p, const Vec<R, 4>& value, const Mat<R, 4, 3>& grad) {
    const R mu = Body::shear(p), lambda = Body::lame(p);
    const R pressure =
        lambda * (grad(0, 0) + grad(1, 1) + grad(2, 2)) - (R(3.0) * lambda + R(2.0) * mu) * p[2] * value[3];
    Mat<R, 4, 3> f;
    for (int i = 0; i < 3; ++i)
      for (int k = 0; k < 3; ++k) f(i, k) = mu * (grad(i, k) + grad(k, i)) + (i == k ? pressure : R(0.0));
    for (int k = 0; k < 3; ++k) f(3, k) = p[3] * grad(3, k);
    return f;
  }
};

}  // namespace bench_laws

#include <voussoir/elements/register.hpp>
VSR_REGISTER_ELEMENT(bench_laws::FluxSolid, Hex8, Tet10, Hex20);
VSR_REGISTER_ELEMENT(bench_laws::TutorialSolid, Hex8);
VSR_REGISTER_ELEMENT(bench_laws::PreparedSolid, Hex8);
VSR_REGISTER_ELEMENT(bench_laws::TunedSolid, Hex8);
VSR_REGISTER_ELEMENT(bench_laws::SvkSolid, Hex8, Tet10);
VSR_REGISTER_ELEMENT(bench_laws::SvkFlux, Hex8);
VSR_REGISTER_ELEMENT(bench_laws::SvkEnergy, Hex8);
VSR_REGISTER_ELEMENT(bench_laws::ThermoElastic, Hex8);
