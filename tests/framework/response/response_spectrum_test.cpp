#include <voussoir/framework/response/response_spectrum.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include <voussoir/framework/response/modal_time_history.hpp>
#include <voussoir/framework/response/superposition.hpp>

#include "support/expect_error.hpp"

namespace voussoir {
namespace {

constexpr double pi = std::numbers::pi;
using Axis = ResponseSpectrum::Axis;
using Interpolation = ResponseSpectrum::Interpolation;
using Beyond = ResponseSpectrum::Beyond;

TEST(ResponseSpectrum, InterpolatesOverPeriodsAndFrequencies) {
  const ResponseSpectrum linear({{0, 1}, {0.5, 3}, {2, 0}}, Axis::period);
  EXPECT_EQ(linear.at_period(0), 1);
  EXPECT_EQ(linear.at_period(0.25), 2);
  EXPECT_EQ(linear.at_period(2), 0);
  EXPECT_EQ(linear.at_frequency(1), 2);
  const ResponseSpectrum power({{0.1, 8}, {10, 0.08}}, Axis::frequency, Interpolation::logarithmic);
  // A straight line in logarithms is a power: 0.8/f.
  for (const double f : {0.1, 0.5, 1.0, 4.0, 10.0}) {
    EXPECT_NEAR(power.at_frequency(f), 0.8 / f, 1e-14 / f);
    EXPECT_NEAR(power.at_period(1 / f), 0.8 / f, 1e-14 / f);
  }
}

TEST(ResponseSpectrum, KnowsItsRange) {
  const std::vector<ResponseSpectrum::Point> points{{0.1, 2}, {3, 1}};
  const ResponseSpectrum strict(points, Axis::period, Interpolation::linear, Beyond::refuse, "site 4");
  testing::expect_error(ErrorCode::bad_input, {"site 4", "period 3.5", "0.1 to 3"}, [&] { strict.at_period(3.5); });
  testing::expect_error(ErrorCode::bad_input, {"site 4"}, [&] { strict.at_frequency(20); });
  testing::expect_error(ErrorCode::bad_input, {"period of -1"}, [&] { strict.at_period(-1); });
  testing::expect_error(ErrorCode::bad_input, {"frequency 0"}, [&] { strict.at_frequency(0); });
  const ResponseSpectrum open(points, Axis::period, Interpolation::linear, Beyond::nearest);
  EXPECT_EQ(open.at_period(0), 2);
  EXPECT_EQ(open.at_period(50), 1);
  const ResponseSpectrum by_frequency(points, Axis::frequency, Interpolation::linear, Beyond::nearest);
  EXPECT_EQ(by_frequency.at_period(0), 1);
}

TEST(ResponseSpectrum, RefusesTablesThatAreNone) {
  const auto refused = [](std::vector<ResponseSpectrum::Point> points, Interpolation how, const std::string& piece) {
    testing::expect_error(ErrorCode::bad_input, {piece}, [&] { ResponseSpectrum(points, Axis::period, how); });
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  refused({{0, 1}}, Interpolation::linear, "two points");
  refused({{0, 1}, {0, 2}}, Interpolation::linear, "point 2");
  refused({{0, 1}, {1, -2}}, Interpolation::linear, "point 2");
  refused({{0, nan}, {1, 2}}, Interpolation::linear, "point 1");
  refused({{0, 1}, {1, 2}}, Interpolation::logarithmic, "logarithm");
}

TEST(OscillatorPeaks, OfARectangularPulseAreThoseOfTheTextbook) {
  // Undamped: 2 sin(π t_d/T) for t_d < T/2, when the peak comes after the pulse, and 2 for longer pulses.
  const Accelerogram pulse({0, 1}, {3, 3});
  const std::vector<double> periods{0.05, 0.4, 1.5, 2, 2.5, 4, 10, 50};
  for (const auto& p : oscillator_peaks(pulse, periods, 0)) {
    const double factor = p.period > 2 ? 2 * std::sin(pi / p.period) : 2;
    EXPECT_NEAR(p.pseudo_acceleration, 3 * factor, 3e-4 * factor) << p.period;
    EXPECT_NEAR(p.displacement * std::pow(2 * pi / p.period, 2), p.pseudo_acceleration, 1e-12);
    EXPECT_NEAR(p.acceleration, p.pseudo_acceleration, 1e-3);  // the same without damping
  }
}

TEST(OscillatorPeaks, OfAHalfSineInTuneIsHalfPi) {
  // t_d = T/2: q = (sin ωt − ωt cos ωt)/2 of the static displacement, with its peak π/2 at the end of the pulse.
  std::vector<double> values(2001);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::sin(pi * static_cast<double>(i) / 2000);
  values.back() = 0;
  const auto p = oscillator_peaks(Accelerogram::evenly_spaced(0.5 / 2000, values), std::vector{1.0}, 0);
  EXPECT_NEAR(p[0].pseudo_acceleration, pi / 2, 1e-5);
}

TEST(OscillatorPeaks, OfALongResonanceIsTheInverseOfTwiceTheDamping) {
  const double ratio = 0.05;
  std::vector<double> values(200 * 40 + 1);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::cos(2 * pi * static_cast<double>(i) / 200);
  const auto p = oscillator_peaks(Accelerogram::evenly_spaced(0.005, values), std::vector{1.0}, ratio);
  EXPECT_NEAR(p[0].pseudo_acceleration, 1 / (2 * ratio), 1e-3 / (2 * ratio));
  EXPECT_NEAR(p[0].velocity * 2 * pi, 1 / (2 * ratio), 1e-3 / (2 * ratio));
  EXPECT_NEAR(p[0].acceleration, std::sqrt(1 + 4 * ratio * ratio) / (2 * ratio), 1e-3 / (2 * ratio));
}

/// A record of some length whose ends are zero.
Accelerogram record() {
  std::vector<double> values(400);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double t = static_cast<double>(i);
    values[i] = std::sin(pi * t / 399) * (std::sin(0.31 * t) + 0.7 * std::sin(0.83 * t + 1));
  }
  return Accelerogram::evenly_spaced(0.02, values);
}

TEST(OscillatorPeaks, OfStiffOscillatorsAreThePeakOfTheBase) {
  const double ground = std::abs(record().peak().value);
  const auto p = oscillator_peaks(record(), std::vector{0.0, 0.002}, 0.05);
  EXPECT_EQ(p[0].pseudo_acceleration, ground);
  EXPECT_EQ(p[0].acceleration, ground);
  EXPECT_NEAR(p[1].pseudo_acceleration, ground, 2e-3 * ground);
  EXPECT_NEAR(p[1].acceleration, ground, 2e-3 * ground);
}

TEST(OscillatorPeaks, OfSoftOscillatorsAreTheDisplacementOfTheBase) {
  const Accelerogram a = record();
  double v = 0, u = 0, largest = 0;  // the double integral of the accelerogram, exact for lines
  for (std::size_t i = 1; i < a.values().size(); ++i) {
    const double h = 0.02, a0 = a.values()[i - 1], a1 = a.values()[i];
    u += h * v + h * h * (a0 / 3 + a1 / 6);
    v += h * (a0 + a1) / 2;
    largest = std::max(largest, std::abs(u));
  }
  // The base keeps its last velocity after the record: a record without one would be needed for the displacement alone.
  const auto p = oscillator_peaks(a, std::vector{1e6}, 0);
  const double expected = std::max(largest, std::hypot(u, v * 1e6 / (2 * pi)));
  EXPECT_NEAR(p[0].displacement, expected, 1e-4 * expected);
}

TEST(OscillatorPeaks, AreAccurateBetweenThePointsOfTheRecord) {
  // Compared with a history at 400 times per period or more, and 100 per step of the record.
  for (const double period : {0.03, 0.11, 0.5, 3.0}) {
    ModalTimeHistory history(ModalSystem({2 * pi / period}, ModalDamping::ratio(0.02)));
    history.add_base_acceleration(std::vector{1.0}, record());
    const auto times = even_times(0, 8 + period, std::min(period / 400, 2e-4));
    const auto q = history.coordinates(times, ModalQuantity::displacement);
    const std::vector<double> one{1};
    const double fine = std::abs(extremes(q, ModalValues(one, 1))[0].peak().value);
    const auto p = oscillator_peaks(record(), std::vector{period}, 0.02);
    EXPECT_NEAR(p[0].displacement, fine, 1e-4 * fine) << period;
  }
}

TEST(OscillatorPeaks, OfAFloorAreThoseOfAChainOfOscillators) {
  // Floor spectra: the absolute acceleration of one oscillator drives a second one. A floor that is a thousand times
  // stiffer than the record moves as the base does.
  ModalTimeHistory history(ModalSystem({2e4}, ModalDamping::ratio(0.05)));
  history.add_base_acceleration(std::vector{1.0}, record());
  const auto times = even_times(0, record().times().back(), 0.01);
  const auto coordinates = history.coordinates(times, ModalQuantity::acceleration, true);
  const std::vector<double> floor{1, 1};  // the mode, and the motion of the base
  const auto absolute = histories(coordinates, ModalValues(floor, 2), std::vector<std::size_t>{0});
  const std::vector<double> periods{0.2, 0.7};
  const auto on_floor = oscillator_peaks(Accelerogram(times, absolute), periods, 0.05);
  const auto on_base = oscillator_peaks(record(), periods, 0.05);
  for (int i = 0; i < 2; ++i)
    EXPECT_NEAR(on_floor[i].pseudo_acceleration, on_base[i].pseudo_acceleration, 1e-3 * on_base[i].pseudo_acceleration);
}

TEST(OscillatorPeaks, BecomeASpectrum) {
  const auto periods = logarithmic_periods(0.05, 5, 30);
  EXPECT_EQ(periods.front(), 0.05);
  EXPECT_EQ(periods.back(), 5);
  EXPECT_NEAR(periods[7] / periods[6], periods[20] / periods[19], 1e-12);
  const auto spectrum = response_spectrum(record(), periods, 0.05);
  const auto peaks = oscillator_peaks(record(), periods, 0.05);
  for (std::size_t i = 0; i < periods.size(); ++i)
    EXPECT_EQ(spectrum.at_period(periods[i]), peaks[i].pseudo_acceleration);
}

TEST(OscillatorPeaks, RefusePeriodsAndRatiosThatAreNone) {
  const auto refused = [](double period, double ratio, const std::string& piece) {
    testing::expect_error(ErrorCode::bad_input, {piece},
                          [&] { oscillator_peaks(record(), std::vector{period}, ratio); });
  };
  refused(-1, 0.05, "period -1");
  refused(1e-12, 0.05, "rigid oscillator");
  refused(1, 1, "damping ratio");
  refused(1, -0.1, "damping ratio");
  testing::expect_error(ErrorCode::bad_input, {"not possible"}, [] { logarithmic_periods(0, 1, 5); });
}

}  // namespace
}  // namespace voussoir
