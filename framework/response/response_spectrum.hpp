#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <voussoir/framework/response/accelerogram.hpp>

namespace voussoir {

/// A response spectrum: pseudo-acceleration over the period or the frequency of an oscillator, as a table.
///
///   const ResponseSpectrum design({{0, 0.2}, {0.1, 0.5}, {0.4, 0.5}, {4, 0.05}}, ResponseSpectrum::Axis::period);
///   design.at_period(0.25);  // 0.5
class ResponseSpectrum {
 public:
  using Point = std::pair<double, double>;  ///< (period or frequency, pseudo-acceleration)
  /// What the first number of a point is.
  enum class Axis {
    period,    ///< time
    frequency  ///< cycles per time, not the circular frequency
  };
  /// How values between two points are computed.
  enum class Interpolation {
    linear,      ///< linear in both numbers
    logarithmic  ///< linear in the logarithms of both numbers
  };
  /// What happens beyond the ends of the table.
  enum class Beyond {
    refuse,  ///< an Error that names the period and the range
    nearest  ///< the value at the nearer end
  };

  /// The spectrum through these points. Throws Error (bad_input) with `name` if there are fewer than two points, if the
  /// first numbers do not increase or are negative, if values are negative, if a number is not finite, or if logarithms
  /// of zero would be needed.
  ResponseSpectrum(std::vector<Point> points, Axis axis, Interpolation interpolation = Interpolation::linear,
                   Beyond beyond = Beyond::refuse, const std::string& name = "response spectrum");

  double at_period(double period) const;        ///< the pseudo-acceleration at a period ≥ 0
  double at_frequency(double frequency) const;  ///< the pseudo-acceleration at a frequency > 0, in cycles per time
  std::span<const Point> points() const { return points_; }  ///< the table as given
  Axis axis() const { return axis_; }                        ///< what its first numbers are

 private:
  double at(double x) const;

  std::vector<Point> points_;
  Axis axis_;
  Interpolation interpolation_;
  Beyond beyond_;
  std::string name_;
};

/// The peaks of a damped oscillator on a base that moves: one row of the spectra of an accelerogram. All are
/// magnitudes.
struct OscillatorPeaks {
  double period = 0;               ///< of the undamped oscillator
  double displacement = 0;         ///< S_d: the largest displacement relative to the base
  double pseudo_velocity = 0;      ///< ω S_d
  double pseudo_acceleration = 0;  ///< ω² S_d
  double velocity = 0;             ///< the largest velocity relative to the base
  double acceleration = 0;         ///< the largest absolute acceleration
};

/// The peaks of oscillators of these periods and of one damping ratio under an accelerogram: its response spectra. With
/// the history of the absolute acceleration of a floor, they are floor spectra. The response is integrated exactly, in
/// at least 24 steps per period, and over one period after the end of the record; its peaks are sought between the
/// steps too, so that they are accurate to 1e-4. The period 0 is a rigid oscillator, whose acceleration is that of the
/// base. Uses all threads. Throws Error (bad_input) for negative or non-finite periods and ratios, for ratios of 1 and
/// above, and for periods so short that a record has more than ten million of them.
std::vector<OscillatorPeaks> oscillator_peaks(const Accelerogram& accelerogram, std::span<const double> periods,
                                              double damping_ratio);

/// The pseudo-acceleration spectrum of an accelerogram at these periods, which must increase. Linear interpolation.
ResponseSpectrum response_spectrum(const Accelerogram& accelerogram, std::span<const double> periods,
                                   double damping_ratio);

/// `count` periods from `shortest` to `longest`, each the same factor longer than the one before. Throws Error
/// (bad_input) unless 0 < shortest < longest and count ≥ 2.
std::vector<double> logarithmic_periods(double shortest, double longest, std::size_t count);

}  // namespace voussoir
