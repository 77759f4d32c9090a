#include <voussoir/framework/response/harmonic_sweep.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include <voussoir/framework/response/modal_time_history.hpp>

#include "framework/response/shear_building.hpp"
#include "support/expect_error.hpp"

namespace voussoir {
namespace {

constexpr double pi = std::numbers::pi;

TEST(HarmonicSweep, HasTheAmplitudeAndPhaseOfTheTextbook) {
  const double ratio = 0.03, w0 = 2 * pi * 5;
  HarmonicSweep sweep(ModalSystem({w0}, ModalDamping::ratio(ratio)));
  sweep.add_load({2});
  const std::vector<double> frequencies{0, 1, 4.9, 5, 5.2, 50}, shape{1};
  const auto q = sweep.coordinates(frequencies, ModalQuantity::displacement);
  const auto u = harmonic_history(q, ModalValues(shape, 1), 0);
  for (std::size_t i = 0; i < frequencies.size(); ++i) {
    const double r = frequencies[i] / 5;
    const double factor = 1 / std::hypot(1 - r * r, 2 * ratio * r);
    EXPECT_NEAR(std::abs(u[i]) * w0 * w0 / 2, factor, 1e-13 * factor);
    EXPECT_NEAR(phase_degrees(u[i]), -std::atan2(2 * ratio * r, 1 - r * r) * 180 / pi, 1e-11);
  }
  EXPECT_NEAR(std::abs(u[3]) * w0 * w0 / 2, 1 / (2 * ratio), 1e-12);
  EXPECT_NEAR(phase_degrees(u[3]), -90, 1e-11);
  const auto v = sweep.coordinates(frequencies, ModalQuantity::velocity),
             a = sweep.coordinates(frequencies, ModalQuantity::acceleration);
  const std::complex<double> rate(0, 2 * pi * 4.9);
  EXPECT_NEAR(std::abs(v.at(2, 0) - rate * u[2]), 0, 1e-14);
  EXPECT_NEAR(std::abs(a.at(2, 0) - rate * rate * u[2]), 0, 1e-12);
}

TEST(HarmonicSweep, IsTheSteadyStateOfATimeHistory) {
  const testing::ShearBuilding building(3, 1, 400);
  const ModalSystem modes(building.omegas, ModalDamping::ratio(0.08));
  const auto gamma = building.participation(3);
  const double frequency = 2.2, end = 40;
  // A cosine as base acceleration; its chords are 1e-6 off.
  std::vector<Amplitude::Point> cosine;
  const int points = 100000;
  for (int i = 0; i <= points; ++i) {
    const double t = end * i / points;
    cosine.emplace_back(t, std::cos(2 * pi * frequency * t));
  }
  ModalTimeHistory history(modes);
  std::vector<double> loads = gamma;
  for (double& load : loads) load = -load;
  history.add_load(loads, Amplitude(cosine));
  HarmonicSweep sweep(modes);
  sweep.add_base_acceleration(gamma);
  const auto q = sweep.coordinates(std::vector{frequency}, ModalQuantity::displacement);
  history.run(std::vector{end - 0.3, end - 0.1}, [&](const ModalState& s) {
    const std::complex<double> turn = std::polar(1.0, 2 * pi * frequency * s.time);
    for (std::size_t i = 0; i < 3; ++i)
      EXPECT_NEAR(s.displacement[i], (q.at(0, i) * turn).real(), 1e-5 * std::abs(q.at(0, i)));
  });
}

TEST(HarmonicSweep, CombinesLoadsWithTheirPhasesAndAmplitudes) {
  const ModalSystem modes({10, 20}, ModalDamping::ratio(0.1));
  HarmonicSweep sweep(modes);
  sweep.add_load({1, 3}, {0, 2});                            // a quarter of a period ahead
  sweep.add_load({-2, 1}, 1, Amplitude({{0, 0}, {10, 5}}));  // grows with the frequency
  const auto q = sweep.coordinates(std::vector{2.0}, ModalQuantity::displacement, true);
  ASSERT_EQ(q.coordinates, 4u);
  const double w = 4 * pi;
  for (std::size_t i = 0; i < 2; ++i) {
    const double w0 = modes.omegas()[i];
    const std::complex<double> load = std::complex<double>(0, 2) * (i ? 3.0 : 1.0) + (i ? 1.0 : -2.0);
    const std::complex<double> expected = load / std::complex<double>(w0 * w0 - w * w, 2 * 0.1 * w0 * w);
    EXPECT_NEAR(std::abs(q.at(0, i) - expected), 0, 1e-15);
  }
  EXPECT_EQ(q.at(0, 2), std::complex<double>(0, 2));
  EXPECT_EQ(q.at(0, 3), std::complex<double>(1, 0));
}

TEST(HarmonicSweep, FindsThePeakOfEveryEntry) {
  const ModalSystem modes({2 * pi * 3, 2 * pi * 8}, ModalDamping::ratio(0.01));
  HarmonicSweep sweep(modes);
  sweep.add_load({1, 1});
  const auto frequencies = sweep_frequencies(modes, 1, 12);
  const auto q = sweep.coordinates(frequencies, ModalQuantity::displacement);
  std::vector<double> values(2 * 11);
  for (std::size_t e = 0; e < 11; ++e) values[e < 5 ? e : 11 + e] = -2;  // the first mode, or the second one
  const auto peaks = harmonic_peaks(q, ModalValues(values, 2));
  for (std::size_t e = 0; e < 11; ++e) {
    const double f = e < 5 ? 3 : 8;
    EXPECT_NEAR(peaks[e].frequency, f, 1e-12) << e;
    EXPECT_NEAR(peaks[e].amplitude, 2 / (2 * 0.01 * std::pow(2 * pi * f, 2)), 1e-12);
    EXPECT_NEAR(peaks[e].phase, 90, 1e-9);
    const auto curve = harmonic_history(q, ModalValues(values, 2), e);
    double largest = 0;
    for (const auto& u : curve) largest = std::max(largest, std::abs(u));
    EXPECT_EQ(largest, peaks[e].amplitude);
  }
}

TEST(HarmonicSweep, StaticCorrectionIsExactFarBelowTheModesLeftOut) {
  const testing::ShearBuilding building(10, 1, 100);
  Eigen::VectorXd load = Eigen::VectorXd::Zero(10);
  load(1) = 1;
  const Eigen::VectorXd statics = building.k.ldlt().solve(load);
  const int count = 3;
  const auto shapes = building.shapes(count), modal = building.modal(load, count);
  HarmonicSweep few(ModalSystem({building.omegas.begin(), building.omegas.begin() + count}));
  few.add_load(modal);
  HarmonicSweep all{ModalSystem(building.omegas)};
  all.add_load(building.modal(load, 10));
  const std::vector<double> low{0.0, 0.02};
  ModalValues values(shapes, count);
  const auto residual =
      residual_values(std::span(statics.data(), 10), values, modal, std::span(building.omegas).first(count));
  values.add(residual);
  const auto corrected = harmonic_history(few.coordinates(low, ModalQuantity::displacement, true), values, 1);
  const auto complete_shapes = building.shapes(10);
  const auto exact =
      harmonic_history(all.coordinates(low, ModalQuantity::displacement), ModalValues(complete_shapes, 10), 1);
  EXPECT_NEAR(corrected[0].real(), statics(1), 1e-14);
  // Each mode left out is off by (Ω/ω)² of its part.
  const double part = std::abs(residual[1]), ratio = 2 * pi * 0.02 / building.omegas[count];
  EXPECT_NEAR(corrected[1].real(), exact[1].real(), 1.1 * part * ratio * ratio);
}

TEST(HarmonicSweep, PointsAreCloseToTheNaturalFrequencies) {
  const ModalSystem modes({2 * pi * 4, 2 * pi * 4, 2 * pi * 10, 2 * pi * 100}, ModalDamping::ratio(0.02));
  const auto f = sweep_frequencies(modes, 1, 20, {5, 3, 0});
  // 1 … 4 … 10 … 20, five points each, the ends shared: λ = −1, −1/2, 0, 1/2, 1.
  const double near = (1 - std::cbrt(0.5)) / 2;
  const std::vector<double> expected{1,  1 + 3 * near,   2.5, 4 - 3 * near,   4, 4 + 6 * near, 7, 10 - 6 * near,
                                     10, 10 + 10 * near, 15,  20 - 10 * near, 20};
  ASSERT_EQ(f.size(), expected.size());
  for (std::size_t i = 0; i < f.size(); ++i) EXPECT_NEAR(f[i], expected[i], 1e-13);
  const auto band = sweep_frequencies(modes, 1, 20, {2, 1, 2});
  // At f(1 ± ζ) and f(1 ± 2ζ).
  for (const double x : {4 * 0.98, 4 * 1.04, 10 * 0.96, 10 * 1.02})
    EXPECT_TRUE(std::any_of(band.begin(), band.end(), [&](double y) { return std::abs(x - y) < 1e-12; })) << x;
  EXPECT_TRUE(std::is_sorted(band.begin(), band.end()));
}

TEST(HarmonicSweep, RefusesUnboundedResponsesAndWrongInput) {
  using testing::expect_error;
  HarmonicSweep undamped(ModalSystem({2 * pi * 3, 0}));
  undamped.add_load({1, 0});
  expect_error(ErrorCode::bad_input, {"mode 1 is undamped", "frequency 3"}, [&] {
    undamped.coordinates(std::vector{1.0, 3.0}, ModalQuantity::displacement);
  });
  undamped.add_load({0, 1});
  expect_error(ErrorCode::bad_input, {"mode 2"},
               [&] { undamped.coordinates(std::vector{0.0}, ModalQuantity::displacement); });
  expect_error(ErrorCode::bad_input, {"must increase"}, [&] {
    undamped.coordinates(std::vector{2.0, 1.0}, ModalQuantity::displacement);
  });
  expect_error(ErrorCode::bad_input, {"1 modal loads for 2"}, [&] { undamped.add_load({1}); });
  expect_error(ErrorCode::not_finite, {"not finite"}, [&] {
    undamped.add_load({1, std::numeric_limits<double>::infinity()});
  });
  expect_error(ErrorCode::misuse, {"velocities"},
               [&] { undamped.coordinates(std::vector{1.0}, ModalQuantity::velocity, true); });
  expect_error(ErrorCode::bad_input, {"from 5 to 2"}, [&] { sweep_frequencies(undamped.modes(), 5, 2); });
  const auto q = undamped.coordinates(std::vector{1.0}, ModalQuantity::displacement);
  const std::vector<double> values{1, 2};
  expect_error(ErrorCode::misuse, {"2 coordinates but 1"}, [&] { harmonic_peaks(q, ModalValues(values, 1)); });
  expect_error(ErrorCode::misuse, {"no entry 2"}, [&] { harmonic_history(q, ModalValues(values, 2), 1); });
}

}  // namespace
}  // namespace voussoir
