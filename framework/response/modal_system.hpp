#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include <voussoir/framework/response/modal_damping.hpp>
#include <voussoir/framework/response/oscillator.hpp>

namespace voussoir {

/// A derivative of the modal coordinates with respect to time.
enum class ModalQuantity {
  displacement,  ///< q: for displacements, stresses, reactions
  velocity,      ///< q′
  acceleration   ///< q″, relative to the base
};

/// The modes of a structure as uncoupled oscillators. They belong to M-orthonormal mode shapes (modal masses of 1);
/// with other shapes, modal loads have to be divided by the modal masses.
class ModalSystem {
 public:
  /// Modes with these circular frequencies; rigid modes have 0. Throws Error (bad_input) for frequencies that are
  /// negative or not finite, and if the damping has ratios for another number of modes.
  explicit ModalSystem(std::vector<double> omegas, const ModalDamping& damping = {});

  std::size_t modes() const { return omegas_.size(); }                                 ///< number of modes
  std::span<const double> omegas() const { return omegas_; }                           ///< circular frequencies ω
  std::span<const double> decays() const { return decays_; }                           ///< a = ζ ω
  Oscillator mode(std::size_t i) const { return {omegas_.at(i), decays_.at(i)}; }      ///< one mode
  double damping_ratio(std::size_t i) const { return decays_.at(i) / omegas_.at(i); }  ///< ζ; NaN or ∞ for rigid modes

 private:
  std::vector<double> omegas_, decays_;
};

}  // namespace voussoir
