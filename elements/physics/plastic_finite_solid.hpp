#pragma once
#include <voussoir/elements/physics/finite_elasticity.hpp>
#include <voussoir/elements/physics/finite_plasticity.hpp>

namespace voussoir {

/// J2 plasticity at large or small strains (finite_plasticity.hpp) whose yield stress is a table over the equivalent
/// plastic strain: linear between its points, constant beyond the last one. PlasticMaterial has the parameters of such
/// a table.
///
/// Parameters: Young's modulus, Poisson's ratio, density, the initial yield stress, the slope dσ/dεp of each of the 16
/// straight parts of the table, the plastic strains at which parts 2 to 16 begin, and whether strains are large. Parts
/// that are not used begin where the last used part begins, with the same slope. An ElementBlock sets `large_strains`
/// by its element type: 1 for plastic_finite_solid.hex20, 0 for plastic_solid.hex20.
struct PlasticFiniteSolid : detail::LogarithmicPlasticity<PlasticFiniteSolid> {
  static constexpr const char* name = "plastic_finite_solid";  ///< first part of the names of element types
  static constexpr int parts = 16;                             ///< straight parts of the hardening curve
  /// Names of the parameters.
  static constexpr const char* parameters[] = {
      "young",       "poisson",     "density",     "yield1",      "hardening1",  "hardening2",
      "hardening3",  "hardening4",  "hardening5",  "hardening6",  "hardening7",  "hardening8",
      "hardening9",  "hardening10", "hardening11", "hardening12", "hardening13", "hardening14",
      "hardening15", "hardening16", "strain2",     "strain3",     "strain4",     "strain5",
      "strain6",     "strain7",     "strain8",     "strain9",     "strain10",    "strain11",
      "strain12",    "strain13",    "strain14",    "strain15",    "strain16",    "large_strains"};
  enum : int {
    mass_density = 2,
    first_yield = 3,
    first_slope = 4,
    second_strain = first_slope + parts,
    large_strains = second_strain + parts - 1
  };  ///< places

  /// Young's modulus and yield stress positive, Poisson's ratio between −1 and ½, density and slopes not negative,
  /// strains not negative and not decreasing.
  template <class R>
  VSR_FN static R valid(const R* p) {
    R least = p[mass_density];
    for (int k = 0; k < parts; ++k) least = min(least, p[first_slope + k]);
    least = min(least, p[second_strain]);
    for (int k = 1; k + 1 < parts; ++k) least = min(least, p[second_strain + k] - p[second_strain + k - 1]);
    const R elastic = min(min(p[0], p[first_yield]), min(p[1] + R(1.0), R(0.5) - p[1]));
    return select_less(least, R(0.0), R(-1.0), elastic);
  }
  /// Mass per volume at rest.
  template <class R>
  VSR_FN static R density(const Point<R>& p) {
    return p[mass_density];
  }

  /// The part of the table in which the step ends. The remaining trial stress |s| − 2μγ − √(2/3) σ decreases as flow
  /// goes on, so that a point of the table is passed if it is positive there, or if it was passed in an earlier step.
  template <class R>
  VSR_FN static Hardening<R> hardening(const Point<R>& p, const R& size) {
    const R done = p.history[6], rate = R(2.0 * root_three_halves) * p.constants[0];
    R strain = R(0.0), stress = p[first_yield], slope = p[first_slope];             // where a part begins
    R begin = R(0.0), begin_stress = p[first_yield], begin_slope = p[first_slope];  // of the part that is taken
    for (int k = 1; k < parts; ++k) {
      const R next = p[second_strain + k - 1];
      stress += slope * (next - strain);
      strain = next;
      slope = p[first_slope + k];
      const R left = size - rate * (strain - done) - R(root_two_thirds) * stress;
      const R passed = max(left, done - strain);
      begin = select_less(R(0.0), passed, strain, begin);
      begin_stress = select_less(R(0.0), passed, stress, begin_stress);
      begin_slope = select_less(R(0.0), passed, slope, begin_slope);
    }
    return {begin_stress + begin_slope * (done - begin), begin_slope};
  }

  /// det F; 1 if strains are small.
  template <class R>
  VSR_FN static R volume_ratio(const Point<R>& p, const Mat3<R>& grad) {
    return choose(p, determinant(FiniteSolid::deformation(grad)), R(1.0));
  }
  /// The strain of Green and Lagrange, or the small strain, plastic strain included.
  template <class R>
  VSR_FN static Mat3<R> strain(const Point<R>& p, const Mat3<R>& grad) {
    Mat3<R> e = FiniteSolid::green(grad);
    for (int i = 0; i < 3; ++i)
      for (int k = 0; k < 3; ++k) e(i, k) = choose(p, e(i, k), R(0.5) * (grad(i, k) + grad(k, i)));
    return e;
  }
  /// The Cauchy stress σ = P Fᵀ / det F.
  template <class R>
  VSR_FN static Mat3<R> cauchy(const Point<R>& p, const Mat3<R>& grad) {
    const Mat3<R> f = FiniteSolid::deformation(grad), nominal = flux(p, grad);
    Mat3<R> stress = (R(1.0) / determinant(f)) * (nominal * transpose(f));
    for (int i = 0; i < 3; ++i)
      for (int k = 0; k < 3; ++k) stress(i, k) = choose(p, stress(i, k), nominal(i, k));
    return R(0.5) * (stress + transpose(stress));
  }
  /// The energy that is stored elastically, per volume at rest: μ |ε|² + ½ K ln² J.
  template <class R>
  VSR_FN static R energy(const Point<R>& p, const Mat3<R>& grad) {
    const Trial<R> t = trial(p, grad);
    const R size = t.size - R(2.0) * p.constants[0] * t.gamma;
    return size * size / (R(4.0) * p.constants[0]) + R(0.5) * p.constants[1] * t.log_j * t.log_j;
  }

 private:
  static constexpr double root_three_halves = 1.22474487139158904910;
};

}  // namespace voussoir
