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

/// What the laws of `voussoir bench explicit` share: a density, and Lamé's constants computed once per material.
struct HeavyBody : Body {
  static constexpr const char* parameters[] = {"young", "poisson", "density"};
  static constexpr int constants = 2;
  template <class R>
  VSR_FN static void prepare(const R* p, R* c) {
    c[1] = R(0.5) * p[0] / (R(1.0) + p[1]);
    c[0] = R(2.0) * c[1] * p[1] / (R(1.0) - R(2.0) * p[1]);
  }
  template <class R>
  VSR_FN static R density(const Point<R>& p) {
    return p[2];
  }
};

/// St Venant–Kirchhoff for dynamics.
struct HeavySvk : HeavyBody {
  static constexpr const char* name = "heavy_svk_solid";
  template <class R>
  VSR_FN static Mat3<R> flux(const Point<R>& p, const Mat3<R>& grad) {
    return SvkSolid::deformation(grad) * hooke(p.constants[0], p.constants[1], SvkSolid::strain_of(grad));
  }
};

/// Compressible neo-Hooke for dynamics: μ (F − F⁻ᵀ) + λ ln J F⁻ᵀ.
struct HeavyNeoHooke : HeavyBody {
  static constexpr const char* name = "heavy_neo_hooke_solid";
  template <class R>
  VSR_FN static Mat3<R> flux(const Point<R>& p, const Mat3<R>& grad) {
    const Mat3<R> f = SvkSolid::deformation(grad);
    const R j = determinant(f);
    const Mat3<R> back = transpose(inverse(f, j));
    return p.constants[1] * f + (p.constants[0] * log(j) - p.constants[1]) * back;
  }
};

/// J2 plasticity at small strain with linear isotropic hardening, by return mapping (Simo and Hughes 1998, box 3.1).
struct HeavyJ2 : HeavyBody {
  static constexpr const char* name = "heavy_j2_solid";
  static constexpr const char* parameters[] = {"young", "poisson", "density", "yield", "hardening"};
  static constexpr const char* history[] = {"pxx", "pyy", "pzz", "pxy", "pyz", "pxz", "peeq"};
  static constexpr bool symmetric_gradient = true;
  static constexpr int constants = 3;
  template <class R>
  VSR_FN static void prepare(const R* p, R* c) {
    HeavyBody::prepare(p, c);
    c[2] = R(1.0) / (R(2.0) * c[1] + R(2.0 / 3.0) * p[4]);
  }

  /// Stress and history at the end of a step.
  template <class R>
  struct Returned {
    Mat3<R> stress;
    R plastic[7];
  };
  template <class R>
  VSR_FN static Returned<R> map_back(const Point<R>& p, const Mat3<R>& grad) {
    const int place[3][3] = {{0, 3, 5}, {3, 1, 4}, {5, 4, 2}};
    const R lambda = p.constants[0], mu2 = R(2.0) * p.constants[1];
    const R volume = trace(grad), root = R(0.81649658092772603);
    Mat3<R> s;
    R square = R(0.0);
    for (int i = 0; i < 3; ++i)
      for (int k = i; k < 3; ++k) {
        const R strain = R(0.5) * (grad(i, k) + grad(k, i)) - (i == k ? volume * R(1.0 / 3.0) : R(0.0));
        s(i, k) = s(k, i) = mu2 * (strain - p.history[place[i][k]]);
        square += (i == k ? R(1.0) : R(2.0)) * s(i, k) * s(i, k);
      }
    const R size = max(sqrt(square), R(1e-300));
    // Quotients of zero take a detour on GPUs, so the quotient is that of 1.
    const R flow = p.constants[2] * max(size - root * (p[3] + p[4] * p.history[6]), R(0.0));
    const R share = flow * (R(1.0) / size);
    Returned<R> next;
    for (int i = 0; i < 3; ++i)
      for (int k = i; k < 3; ++k) {
        const R along = share * s(i, k);
        next.plastic[place[i][k]] = p.history[place[i][k]] + along;
        next.stress(i, k) = next.stress(k, i) =
            s(i, k) - mu2 * along + (i == k ? (lambda + R(1.0 / 3.0) * mu2) * volume : R(0.0));
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
VSR_REGISTER_ELEMENT(bench_laws::HeavySvk, Hex8);
VSR_REGISTER_ELEMENT(bench_laws::HeavyNeoHooke, Hex8);
VSR_REGISTER_ELEMENT(bench_laws::HeavyJ2, Hex8);
