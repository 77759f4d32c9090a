#pragma once
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace voussoir {

/// Damping of modes: a ratio to critical damping for all modes or for each of them, Rayleigh's α and β, or sums of
/// these.
///
///   ModalDamping damping = ModalDamping::ratio(0.02);
///   damping += ModalDamping::rayleigh(0.1, 0);
///   const std::vector<double> decays = damping.decays(omegas);
///
/// Negative and non-finite values are Errors (bad_input).
class ModalDamping {
 public:
  /// No damping.
  ModalDamping() = default;
  /// The same damping ratio ζ for all modes.
  static ModalDamping ratio(double ratio);
  /// The damping ratio of each mode. Using them for another number of modes is an Error (bad_input).
  static ModalDamping ratios(std::vector<double> ratios);
  /// C = α M + β K: ζ = α/(2 ω) + β ω/2.
  static ModalDamping rayleigh(double alpha, double beta);
  /// Rayleigh damping that has the given ratios at two circular frequencies. Throws Error (bad_input) if they are equal
  /// or not positive, or if α or β would be negative, which would feed energy into some modes.
  static ModalDamping rayleigh_through(double omega1, double ratio1, double omega2, double ratio2);
  /// Composite damping: ratios of the parts of a structure, weighted in each mode by the strain energy of the part:
  /// energies[part · modes + mode] ≥ 0, of which each mode needs one that is positive.
  static ModalDamping composite(std::span<const double> part_ratios, std::span<const double> energies);

  /// Adds another damping to this one.
  ModalDamping& operator+=(const ModalDamping& other);

  /// The decays a = ζ ω of modes with these circular frequencies, as Oscillator has them. A rigid mode (ω = 0) is
  /// damped by α alone.
  std::vector<double> decays(std::span<const double> omegas) const;
  /// The damping ratios ζ. Throws Error (bad_input) for a rigid mode (ω = 0) that α damps: it has none.
  std::vector<double> damping_ratios(std::span<const double> omegas) const;

  double alpha() const { return alpha_; }  ///< factor of the mass matrix
  double beta() const { return beta_; }    ///< factor of the stiffness matrix

 private:
  double ratio_ = 0, alpha_ = 0, beta_ = 0;
  std::vector<double> ratios_;  // empty: none by mode
};

}  // namespace voussoir
