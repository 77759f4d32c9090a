#include <voussoir/framework/response/artificial_earthquake.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "support/expect_error.hpp"

namespace voussoir {
namespace {

struct Deviation {
  double largest = 0, mean = 0;
};

/// The record of all defaults, made once for all tests.
const Accelerogram& usual_record() {
  static const Accelerogram record = artificial_earthquake();
  return record;
}

/// The spectrum of a record against its target, at periods of which hardly one is a period of its sines.
Deviation deviation(const Accelerogram& record, const ArtificialEarthquake& options, double shortest, double longest) {
  const auto periods = logarithmic_periods(shortest, longest, 301);
  Deviation result;
  for (const OscillatorPeaks& peaks : oscillator_peaks(record, periods, options.damping_ratio)) {
    const double off = peaks.pseudo_acceleration / options.target.at_period(peaks.period) - 1;
    result.largest = std::max(result.largest, std::abs(off));
    result.mean += off / static_cast<double>(periods.size());
  }
  return result;
}

TEST(ArtificialEarthquake, HasTheSpectrumOfEurocode8) {
  const ArtificialEarthquake options;
  const Accelerogram& record = usual_record();
  EXPECT_NEAR(record.duration(), 20, 1e-12);
  EXPECT_EQ(record.values().size(), 2001u);
  EXPECT_NEAR(std::abs(record.peak().value), 0.3, 0.03);
  const Deviation off = deviation(record, options, 0.05, 2);
  EXPECT_LT(off.largest, 0.10);
  EXPECT_LT(std::abs(off.mean), 0.05);
}

TEST(ArtificialEarthquake, HasOtherSpectraOnRequest) {
  ArtificialEarthquake options;
  // EN 1998-1, table 3.2: ground D, in m/s²; and a table of few points, as of a floor.
  Eurocode8Spectrum ground;
  ground.ground_acceleration = 1.5;
  ground.soil_factor = 1.35;
  ground.plateau_begin = 0.2;
  ground.plateau_end = 0.8;
  options.target = eurocode8_spectrum(ground);
  options.duration = 25;
  EXPECT_LT(deviation(artificial_earthquake(options), options, 0.03, 2.5).largest, 0.11);

  ArtificialEarthquake floor;
  floor.target = ResponseSpectrum({{0.05, 1}, {0.2, 3}, {0.3, 3}, {1, 0.5}}, ResponseSpectrum::Axis::period,
                                  ResponseSpectrum::Interpolation::logarithmic);
  floor.damping_ratio = 0.1;
  floor.shortest_period = 0.05;
  floor.longest_period = 1;
  EXPECT_LT(deviation(artificial_earthquake(floor), floor, 0.05, 1).largest, 0.11);
}

/// Exact integration of an acceleration that is linear over each step.
TEST(ArtificialEarthquake, LeavesTheGroundAtRestWhereItWas) {
  const Accelerogram& record = usual_record();
  const auto times = record.times(), values = record.values();
  double velocity = 0, displacement = 0, fastest = 0, furthest = 0;
  for (std::size_t i = 1; i < times.size(); ++i) {
    const double h = times[i] - times[i - 1];
    displacement += h * velocity + h * h * (values[i - 1] / 3 + values[i] / 6);
    velocity += h * (values[i - 1] + values[i]) / 2;
    fastest = std::max(fastest, std::abs(velocity));
    furthest = std::max(furthest, std::abs(displacement));
  }
  EXPECT_EQ(values.front(), 0);
  EXPECT_EQ(values.back(), 0);
  EXPECT_LT(std::abs(velocity), 1e-12 * fastest);
  EXPECT_LT(std::abs(displacement), 1e-11 * furthest);
}

/// Weak at first and at the end: the energy before 1 s and after 16 s is a small part of the whole.
TEST(ArtificialEarthquake, RisesAndDecays) {
  const Accelerogram& record = usual_record();
  double all = 0, weak = 0;
  for (std::size_t i = 0; i < record.times().size(); ++i) {
    const double square = record.values()[i] * record.values()[i], time = record.times()[i];
    all += square;
    if (time < 1 || time > 16) weak += square;
  }
  EXPECT_LT(weak, 0.02 * all);
}

TEST(ArtificialEarthquake, DependsOnItsSeedAlone) {
  ArtificialEarthquake options;
  const Accelerogram& one = usual_record();
  const Accelerogram again = artificial_earthquake(options);
  EXPECT_TRUE(std::equal(one.values().begin(), one.values().end(), again.values().begin(), again.values().end()));
  options.seed = 5;
  const Accelerogram other = artificial_earthquake(options);
  double both = 0, square = 0;
  for (std::size_t i = 0; i < one.values().size(); ++i) {
    both += one.values()[i] * other.values()[i];
    square += one.values()[i] * one.values()[i];
  }
  EXPECT_LT(std::abs(both), 0.2 * square);
  EXPECT_LT(deviation(other, options, 0.05, 2).largest, 0.10);
}

TEST(ArtificialEarthquake, RefusesWrongOptions) {
  const auto refused = [](double ArtificialEarthquake::*member, double value, const std::string& piece) {
    ArtificialEarthquake options;
    options.*member = value;
    testing::expect_error(ErrorCode::bad_input, {piece}, [&] { artificial_earthquake(options); });
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  refused(&ArtificialEarthquake::step, 0, "step");
  refused(&ArtificialEarthquake::step, nan, "step");
  refused(&ArtificialEarthquake::step, 1e-5, "choose a longer step");
  refused(&ArtificialEarthquake::duration, -20, "duration");
  refused(&ArtificialEarthquake::duration, 20.005, "whole number of steps");
  refused(&ArtificialEarthquake::damping_ratio, 0.02, "damping ratio");
  refused(&ArtificialEarthquake::damping_ratio, nan, "damping ratio");
  refused(&ArtificialEarthquake::shortest_period, 0.02, "three steps");
  refused(&ArtificialEarthquake::shortest_period, 3, "longest period");
  refused(&ArtificialEarthquake::longest_period, 5, "fifth of the duration");
  refused(&ArtificialEarthquake::longest_period, nan, "longest period");
  refused(&ArtificialEarthquake::strong_begin, 0, "strong phase");
  refused(&ArtificialEarthquake::strong_begin, 13, "strong phase");
  refused(&ArtificialEarthquake::strong_end, 20, "strong phase");
  refused(&ArtificialEarthquake::decay, 0, "decay");
  refused(&ArtificialEarthquake::tolerance, 0, "tolerance");
  ArtificialEarthquake options;
  options.target = ResponseSpectrum({{0.1, 1}, {1, 1}}, ResponseSpectrum::Axis::period);
  testing::expect_error(ErrorCode::bad_input, {"outside the table"}, [&] { artificial_earthquake(options); });
  options.target = ResponseSpectrum({{0, 1}, {2, 0}, {4, 0}}, ResponseSpectrum::Axis::period);
  testing::expect_error(ErrorCode::bad_input, {"must be positive"}, [&] { artificial_earthquake(options); });
}

/// An oscillator with 5 % damping cannot respond to a record ten times less than its neighbours: no record has this
/// target.
TEST(ArtificialEarthquake, SaysThatATargetIsImpossible) {
  ArtificialEarthquake options;
  options.target =
      ResponseSpectrum({{0, 1}, {0.5, 1}, {0.505, 0.1}, {0.51, 1}, {4, 1}}, ResponseSpectrum::Axis::period);
  testing::expect_error(ErrorCode::not_converged, {"artificial earthquake", "of the target", "tolerance"},
                        [&] { artificial_earthquake(options); });
}

}  // namespace
}  // namespace voussoir
