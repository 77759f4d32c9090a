#pragma once

namespace voussoir {

/// Displacement and velocity of an oscillator.
struct OscillatorState {
  double displacement = 0;  ///< q
  double velocity = 0;      ///< dq/dt
};

/// A damped oscillator of unit mass, q″ + 2 a q′ + ω² q = p(t). The damping is given as the decay a = ζ ω, in 1/time,
/// not as the ratio ζ to critical damping, so that a rigid mode (ω = 0) may be damped as well: a = α/2 with Rayleigh's
/// α.
struct Oscillator {
  double omega = 0;  ///< circular frequency of the undamped oscillator, ≥ 0
  double decay = 0;  ///< a = ζ ω ≥ 0; above ω, the oscillator is over-damped

  /// The oscillator with this circular frequency and damping ratio. Throws Error (bad_input) if one of them is negative
  /// or not finite.
  static Oscillator with_ratio(double omega, double damping_ratio);
  /// q″ in this state under the load p.
  double acceleration(const OscillatorState& state, double load) const {
    return load - 2 * decay * state.velocity - omega * omega * state.displacement;
  }
};

/// One step of an oscillator under a load that is linear over the step, solved exactly:
///
///   q₁ = qq q₀ + qv v₀ + q0 p₀ + q1 p₁
///   v₁ = vq q₀ + vv v₀ + v0 p₀ + v1 p₁
///
/// The coefficients are accurate to about 1e-14, relative to the largest that they become under a
/// bounded state and load, for every ω·h and a·h: under-damped, critical, over-damped and rigid oscillators, with no
/// gap at the transitions. docs/mode_superposition.md has the formulas.
struct OscillatorStep {
  double qq = 1;  ///< of q₀ in the displacement
  double qv = 0;  ///< of v₀ in the displacement
  double q0 = 0;  ///< of p₀ in the displacement
  double q1 = 0;  ///< of p₁ in the displacement
  double vq = 0;  ///< of q₀ in the velocity
  double vv = 1;  ///< of v₀ in the velocity
  double v0 = 0;  ///< of p₀ in the velocity
  double v1 = 0;  ///< of p₁ in the velocity

  /// A step of no length, which changes nothing.
  OscillatorStep() = default;
  /// The coefficients for a step of length h ≥ 0. Throws Error (bad_input) for frequencies, decays and steps that are
  /// negative or not finite, and for steps so long that (ω h)² overflows.
  OscillatorStep(const Oscillator& oscillator, double h);

  /// The state at the end of the step; the load varies linearly from p0 to p1.
  OscillatorState advance(const OscillatorState& state, double p0, double p1) const {
    return {qq * state.displacement + qv * state.velocity + q0 * p0 + q1 * p1,
            vq * state.displacement + vv * state.velocity + v0 * p0 + v1 * p1};
  }
};

}  // namespace voussoir
