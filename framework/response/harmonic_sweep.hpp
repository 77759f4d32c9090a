#pragma once
#include <complex>
#include <cstddef>
#include <span>
#include <vector>

#include <voussoir/framework/response/amplitude.hpp>
#include <voussoir/framework/response/modal_system.hpp>
#include <voussoir/framework/response/modal_values.hpp>

namespace voussoir {

/// Complex coordinates over frequency: the coordinate c at time t is Re(value · e^{iΩt}) with Ω = 2π · frequency.
struct HarmonicCoordinates {
  std::vector<double> frequencies;  ///< in cycles per time, strictly increasing
  std::size_t coordinates = 0;      ///< number of coordinates at each frequency
  /// Real parts of all coordinates, then their imaginary parts: values[(2 · frequency + part) · coordinates +
  /// coordinate].
  std::vector<double> values;

  /// A coordinate at a frequency, both given by their index.
  std::complex<double> at(std::size_t frequency, std::size_t coordinate) const {
    return {values.at(2 * frequency * coordinates + coordinate),
            values.at((2 * frequency + 1) * coordinates + coordinate)};
  }
};

/// The largest amplitude of a result over a sweep.
struct HarmonicPeak {
  double amplitude = 0;  ///< its magnitude
  double phase = 0;      ///< in degrees, −180 to 180; negative where the result lags behind the load
  double frequency = 0;  ///< the lowest frequency at which it occurs
};

/// The steady response of modes to harmonic loads, q_i = P_i/(ω_i² − Ω² + 2 i ζ_i ω_i Ω).
///
///   HarmonicSweep sweep(ModalSystem(omegas, ModalDamping::ratio(0.01)));
///   sweep.add_load(modal_loads);
///   const auto q = sweep.coordinates(sweep_frequencies(sweep.modes(), 1, 200), ModalQuantity::displacement);
///   const auto peaks = harmonic_peaks(q, ModalValues(modal_stresses, modes));
class HarmonicSweep {
 public:
  /// Modes without loads.
  explicit HarmonicSweep(ModalSystem modes);

  /// Adds a pattern of nodal loads: modal_loads[i] = φ_iᵀ f, times a complex factor for its magnitude and phase, times
  /// an amplitude that is a function of the frequency. Returns the number of the load, from 0. Throws Error (bad_input)
  /// if there is not one number for each mode, Error (not_finite) where one is not finite.
  std::size_t add_load(std::vector<double> modal_loads, std::complex<double> factor = 1, Amplitude over_frequency = {});
  /// Adds an acceleration of the base in one direction, with the modal loads −Γ_i. Results are relative to the base.
  std::size_t add_base_acceleration(std::span<const double> participation, std::complex<double> factor = 1,
                                    Amplitude over_frequency = {});

  /// The coordinates at these frequencies, in cycles per time, which must increase and not be negative: the modes and,
  /// with `with_loads`, the complex amplitudes of the loads after them, as in ModalTimeHistory::coordinates(). Throws
  /// Error (bad_input) at the resonance of an undamped mode that is loaded, where the response is unbounded.
  HarmonicCoordinates coordinates(std::span<const double> frequencies, ModalQuantity quantity,
                                  bool with_loads = false) const;

  const ModalSystem& modes() const { return modes_; }  ///< the modes

 private:
  struct Load {
    std::vector<double> modal;
    std::complex<double> factor;
    Amplitude over_frequency;
  };
  std::complex<double> coordinate(std::size_t mode, double frequency,
                                  std::span<const std::complex<double>> amplitudes) const;

  ModalSystem modes_;
  std::vector<Load> loads_;
};

/// The points of a sweep.
struct SweepPoints {
  std::size_t between = 20;  ///< points from one natural frequency to the next, both included; at least 2
  double bias = 3;           ///< above 1, points are closer to the natural frequencies; 1 spaces them evenly
  std::size_t band = 0;  ///< further points on each side of a natural frequency f, at f ± 2 k ζ f/band, k = 1 … band
};

/// The frequencies of a sweep from `lowest` to `highest`, in cycles per time: the ends, the natural frequencies between
/// them, and points between these, f = (a + b)/2 + (b − a)/2 · sign(λ) |λ|^{1/bias} with λ evenly spaced from −1 to 1,
/// as *STEADY STATE DYNAMICS has them. Throws Error (bad_input) unless 0 ≤ lowest < highest.
std::vector<double> sweep_frequencies(const ModalSystem& modes, double lowest, double highest, SweepPoints points = {});

/// The complex amplitudes of one entry at all frequencies.
std::vector<std::complex<double>> harmonic_history(const HarmonicCoordinates& coordinates, const ModalValues& values,
                                                   std::size_t entry);

/// The largest amplitude of every entry. Uses all threads; needs memory for the peaks alone.
std::vector<HarmonicPeak> harmonic_peaks(const HarmonicCoordinates& coordinates, const ModalValues& values);

/// The phase of a complex amplitude in degrees, −180 to 180; 0 where the amplitude is 0.
double phase_degrees(std::complex<double> amplitude);

}  // namespace voussoir
