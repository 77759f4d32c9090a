#pragma once
#include <voussoir/elements/kernel/point_kernel.hpp>

// Plasticity of metals at large strains: the theory of von Mises (J2) with isotropic hardening, hyperelastic and
// multiplicative, F = Fe Fp, in logarithmic elastic strains (Simo, Comput. Methods Appl. Mech. Eng. 99, 1992). The law
// is exact under rotation, plastic flow keeps the volume, and the return mapping is that of small strains:
//
//   b̄ = J^(−2/3) F Cp⁻¹ Fᵀ,   ε = ½ dev ln b̄,   s = 2μ ε                              elastic trial
//   f = |s| − √(2/3) (σy + H α),   γ = max(f, 0) / (2μ + ⅔ H),   n = s / |s|            linear hardening
//   τ = (1 − 2μγ/|s|) s + K ln J 1,   P = τ F⁻ᵀ
//   Cp⁻¹ ← F⁻¹ exp(−2γ n) F Cp⁻¹,   α ← α + √(2/3) γ,   w ← w + γ (|s| − 2μγ)
//
// with the Kirchhoff stress τ, the first Piola–Kirchhoff stress P (the flux) and the plastic work w per volume at rest.
// In uniaxial tension with the stretch λ, τ = σy + H εp and ln λ = τ/E + εp.
//
// A law may have a parameter that chooses between this and its linearisation for small strains and rotations,
//
//   ε = dev ½ (∇u + ∇uᵀ + (Cp⁻¹ − 1)),   flux = (1 − 2μγ/|s|) s + K div u 1,   Cp⁻¹ ← Cp⁻¹ − 2γ n
//
// in which ½ (1 − Cp⁻¹) is the plastic strain: the usual radial return (Simo and Hughes, Computational Inelasticity,
// 1998, box 3.1). Both are one law, so that elements of both kinds are compiled once.
//
// Functions of tensors are taken without eigenvectors, which dual numbers can differentiate: ln b̄ = 2 atanh z with
// z = (b̄ − 1)(b̄ + 1)⁻¹, by a series of 12 terms. Its error is below 1e-15 for elastic strains up to 0.2, and 1e-9 at
// 0.5.

namespace voussoir {

namespace detail {

/// What all laws of this file share. `Law` has Young's modulus and Poisson's ratio as its first parameters, and
/// hardening(p, size), the yield stress and its slope dσ/dεp for a trial stress s with |s| = size. It may have
/// `large_strains`, the place of a parameter that is 1 for large strains and 0 for small ones; without it they are
/// large.
template <class Law>
struct LogarithmicPlasticity {
  static constexpr int components = 3;                           ///< unknowns per node
  static constexpr const char* unknowns[] = {"ux", "uy", "uz"};  ///< displacements
  /// Names of the history variables.
  static constexpr const char* history[] = {"cxx", "cyy", "czz", "cxy", "cyz", "cxz", "peeq", "plastic_energy"};
  static constexpr bool reads_temperature = false;  ///< parameters may depend on temperature all the same
  static constexpr int constants = 2;               ///< shear modulus, bulk modulus

  /// A straight part of the hardening curve: the yield stress that it has at the committed plastic strain, and dσ/dεp.
  template <class R>
  struct Hardening {
    R yield, slope;
  };

  /// Computes the constants.
  template <class R>
  VSR_FN static void prepare(const R* p, R* c) {
    c[0] = R(0.5) * p[0] / (R(1.0) + p[1]);
    c[1] = p[0] / (R(3.0) - R(6.0) * p[1]);
  }
  /// At rest, for hourglass control.
  template <class R>
  VSR_FN static R shear_modulus(const Point<R>& p) {
    return p.constants[0];
  }

  /// The first Piola–Kirchhoff stress.
  template <class R>
  VSR_FN static Mat3<R> flux(const Point<R>& p, const Mat3<R>& grad) {
    const Trial<R> t = trial(p, grad);
    // 1 − 2μγ/|s| may be differentiated where s is zero: γ is zero there too.
    const R keep = R(1.0) - R(2.0) * p.constants[0] * t.gamma / t.size;
    Mat3<R> stress = keep * t.stress;
    const R pressure = p.constants[1] * t.log_j;
    for (int i = 0; i < 3; ++i) stress(i, i) += pressure;
    return stress * transpose(t.back);
  }

  /// The history at the end of the step.
  template <class R>
  VSR_FN static void advance(const Point<R>& p, const Mat3<R>& grad, R* next) {
    const Trial<R> t = trial(p, grad);
    // Cp⁻¹ + F⁻¹ (exp(−2γ n) − 1) b F⁻ᵀ: unchanged to the last bit where nothing flows.
    Mat3<R> change = t.back * (symmetric_product(flow(t), t.b) * transpose(t.back));
    if constexpr (has_choice())
      for (int i = 0; i < 3; ++i)
        for (int k = 0; k < 3; ++k) change(i, k) = choose(p, change(i, k), R(-2.0) * t.gamma / t.size * t.stress(i, k));
    for (int k = 0; k < 6; ++k) {
      const int i = row(k), j = column(k);
      next[k] = p.history[k] + R(0.5) * (change(i, j) + change(j, i));
    }
    next[6] = p.history[6] + R(root_two_thirds) * t.gamma;
    next[7] = p.history[7] + t.gamma * (t.size - R(2.0) * p.constants[0] * t.gamma);
  }

 protected:
  static constexpr double root_two_thirds = 0.81649658092772603273;
  static constexpr double rounding = 1e-11;  // of a yield stress

  /// The elastic trial state.
  template <class R>
  struct Trial {
    Mat3<R> back;    // F⁻¹
    Mat3<R> b;       // F Cp⁻¹ Fᵀ
    Mat3<R> stress;  // s
    R log_j, size, gamma;
  };

  /// Whether strains may be small.
  VSR_FN static constexpr bool has_choice() {
    return requires { int(Law::large_strains); };
  }
  /// What belongs to the strains of the law.
  template <class R>
  VSR_FN static R choose(const Point<R>& p, const R& of_large, const R& of_small) {
    if constexpr (has_choice())
      return select_less(R(0.5), p[Law::large_strains], of_large, of_small);
    else
      return of_large;
  }

  VSR_FN static constexpr int row(int k) { return k < 3 ? k : k == 4 ? 1 : 0; }
  VSR_FN static constexpr int column(int k) { return k < 3 ? k : k == 3 ? 1 : 2; }

  template <class R>
  VSR_FN static Trial<R> trial(const Point<R>& p, const Mat3<R>& grad) {
    Mat3<R> f = grad, plastic;
    for (int i = 0; i < 3; ++i) f(i, i) += R(1.0);
    for (int k = 0; k < 6; ++k) plastic(row(k), column(k)) = plastic(column(k), row(k)) = p.history[k];
    for (int i = 0; i < 3; ++i) plastic(i, i) += R(1.0);
    Trial<R> t;
    const R j = determinant(f);
    t.back = inverse(f, j);
    t.log_j = log(j);
    t.b = f * (plastic * transpose(f));
    const R scale = exp(R(-2.0 / 3.0) * t.log_j);
    Mat3<R> less, more;
    for (int i = 0; i < 3; ++i)
      for (int k = 0; k < 3; ++k) less(i, k) = more(i, k) = scale * t.b(i, k);
    for (int i = 0; i < 3; ++i) {
      less(i, i) -= R(1.0);
      more(i, i) += R(1.0);
    }
    Mat3<R> strain = atanh(symmetric_product(less, inverse(more, determinant(more))));
    if constexpr (has_choice()) linearise(p, grad, strain, t);
    const R mean = R(1.0 / 3.0) * trace(strain);
    R square = R(0.0);
    for (int i = 0; i < 3; ++i)
      for (int k = 0; k < 3; ++k) {
        t.stress(i, k) = R(2.0) * p.constants[0] * (i == k ? strain(i, k) - mean : strain(i, k));
        square += t.stress(i, k) * t.stress(i, k);
      }
    const R size = sqrt(square);
    const Hardening<R> hardening = Law::hardening(p, size);
    const R limit = R(root_two_thirds) * hardening.yield;
    // A committed state lies on the yield surface but for rounding. There the tangent is elastic, so that increments
    // begin with an elastic prediction, and not with whatever rounding makes of it at each point.
    const R over = select_less((R(1.0) + R(rounding)) * limit, size, size - limit, R(0.0));
    t.gamma = over / (R(2.0) * p.constants[0] + R(2.0 / 3.0) * hardening.slope);
    t.size = max(size, R(1e-300));
    return t;
  }

  /// The strain ½ (∇u + ∇uᵀ + (Cp⁻¹ − 1)), F⁻¹ = 1 and ln J = div u, if strains are small.
  template <class R>
  VSR_FN static void linearise(const Point<R>& p, const Mat3<R>& grad, Mat3<R>& strain, Trial<R>& t) {
    t.log_j = choose(p, t.log_j, trace(grad));
    for (int k = 0; k < 6; ++k) {
      const int i = row(k), j = column(k);
      strain(i, j) = strain(j, i) = choose(p, strain(i, j), R(0.5) * (grad(i, j) + grad(j, i) + p.history[k]));
    }
    for (int i = 0; i < 3; ++i)
      for (int k = 0; k < 3; ++k) t.back(i, k) = choose(p, t.back(i, k), R(i == k ? 1.0 : 0.0));
  }

  /// a b of matrices that commute: symmetric, also in its rounding errors.
  template <class R>
  VSR_FN static Mat3<R> symmetric_product(const Mat3<R>& a, const Mat3<R>& b) {
    Mat3<R> product;
    for (int i = 0; i < 3; ++i)
      for (int k = i; k < 3; ++k) {
        R sum = a(i, 0) * b(0, k);
        for (int j = 1; j < 3; ++j) sum += a(i, j) * b(j, k);
        product(i, k) = product(k, i) = sum;
      }
    return product;
  }

  /// z + z³/3 + z⁵/5 + …
  template <class R>
  VSR_FN static Mat3<R> atanh(const Mat3<R>& z) {
    const Mat3<R> square = symmetric_product(z, z);
    Mat3<R> sum = zero_matrix<R, 3, 3>();
    for (int i = 0; i < 3; ++i) sum(i, i) = R(1.0 / 23.0);
    VSR_ROLLED
    for (int k = 10; k >= 0; --k) {
      sum = symmetric_product(sum, square);
      for (int i = 0; i < 3; ++i) sum(i, i) += R(1.0 / (2 * k + 1));
    }
    return symmetric_product(sum, z);
  }

  /// exp(−2γ n) − 1 by nine terms of its series for a quarter of the exponent, squared twice.
  template <class R>
  VSR_FN static Mat3<R> flow(const Trial<R>& t) {
    const R factor = R(-0.5) * t.gamma / t.size;
    const Mat3<R> a = factor * t.stress;
    Mat3<R> sum = R(1.0 / 9.0) * a;
    VSR_ROLLED
    for (int k = 8; k >= 1; --k) {
      for (int i = 0; i < 3; ++i) sum(i, i) += R(1.0);
      const R share = R(1.0 / k);
      sum = symmetric_product(sum, share * a);
    }
    for (int k = 0; k < 2; ++k) sum = sum + (sum + symmetric_product(sum, sum));
    return sum;
  }
};

}  // namespace detail

/// J2 plasticity at large strains with linear isotropic hardening, total Lagrangian. Parameters: Young's modulus,
/// Poisson's ratio, initial yield stress, hardening modulus dσ/dεp, density. History: Cp⁻¹ − 1, the equivalent plastic
/// strain ("peeq"), and the plastic work per volume at rest ("plastic_energy").
struct FinitePlasticity : detail::LogarithmicPlasticity<FinitePlasticity> {
  static constexpr const char* name = "finite_plastic";  ///< first part of the names of element types
  /// Names of the parameters.
  static constexpr const char* parameters[] = {"young", "poisson", "yield", "hardening", "density"};

  /// Young's modulus and yield stress positive, Poisson's ratio between −1 and ½, hardening and density not negative.
  template <class R>
  VSR_FN static R valid(const R* p) {
    const R elastic = min(min(p[0], p[2]), min(p[1] + R(1.0), R(0.5) - p[1]));
    return select_less(min(p[3], p[4]), R(0.0), R(-1.0), elastic);
  }
  /// Mass per volume at rest.
  template <class R>
  VSR_FN static R density(const Point<R>& p) {
    return p[4];
  }
  /// The yield stress and its slope.
  template <class R>
  VSR_FN static Hardening<R> hardening(const Point<R>& p, const R&) {
    return {p[2] + p[3] * p.history[6], p[3]};
  }
};

}  // namespace voussoir
