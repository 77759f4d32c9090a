#include <voussoir/framework/response/modal_time_history.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include <voussoir/framework/response/superposition.hpp>

#include "framework/response/shear_building.hpp"
#include "support/expect_error.hpp"

namespace voussoir {
namespace {

using testing::ShearBuilding;

/// Some acceleration that is not smooth, at uneven steps.
Accelerogram rough_record() {
  std::vector<double> times, values;
  for (int i = 0; i <= 200; ++i) {
    times.push_back(0.02 * i + (i % 3 == 1 ? 0.004 : 0));
    values.push_back(std::sin(0.9 * i) + 0.5 * std::cos(2.3 * i + 0.4));
  }
  return Accelerogram(times, values);
}

TEST(ModalTimeHistory, FollowsTheClosedFormUnderASuddenBaseAcceleration) {
  const std::vector<double> omegas{3, 11, 0}, participation{2, -0.5, 0.25};
  ModalTimeHistory history(ModalSystem{omegas});
  history.add_base_acceleration(participation, Accelerogram({0, 10}, {1.5, 1.5}));
  int seen = 0;
  history.run(even_times(0, 9, 0.7), [&](const ModalState& s) {
    for (int i = 0; i < 2; ++i) {
      const double w = omegas[i], g = -1.5 * participation[i];
      EXPECT_NEAR(s.displacement[i], g / w / w * (1 - std::cos(w * s.time)), 1e-14);
      EXPECT_NEAR(s.velocity[i], g / w * std::sin(w * s.time), 1e-13);
      EXPECT_NEAR(s.acceleration[i], g * std::cos(w * s.time), 1e-12);
    }
    EXPECT_NEAR(s.displacement[2], -1.5 * 0.25 * s.time * s.time / 2, 1e-13);
    EXPECT_EQ(s.loads[0], 1.5);
    ++seen;
  });
  EXPECT_EQ(seen, 14);
}

TEST(ModalTimeHistory, DoesNotDependOnTheRequestedTimes) {
  ModalTimeHistory history(ModalSystem({2, 30, 200, 5000}, ModalDamping::ratio(0.03)));
  history.add_base_acceleration(std::vector<double>{1, 1, 1, 1}, rough_record());
  history.add_load({1, 2, 3, 4}, Amplitude({{0.5, 0}, {0.5, 2}, {1.7, -1}, {2.2, 0}}));
  const std::vector<double> one{4.3};
  const auto at_end = history.coordinates(one, ModalQuantity::displacement);
  const auto often = history.coordinates(even_times(0, 4.3, 0.0031), ModalQuantity::displacement);
  for (std::size_t i = 0; i < 4; ++i) {
    const double last = often.values[often.values.size() - 4 + i];
    EXPECT_NEAR(at_end.values[i], last, 1e-12 * std::abs(last) + 1e-15) << i;
  }
}

TEST(ModalTimeHistory, AddsUpLoads) {
  const ModalSystem modes({2, 30}, ModalDamping::rayleigh(0.1, 0.001));
  const Amplitude a({{0, 1}, {1, -1}, {2, 0.5}}), b({{0.3, 0}, {0.9, 2}});
  ModalTimeHistory both(modes), first(modes), second(modes);
  both.add_load({1, 2}, a);
  both.add_load({-3, 1}, b);
  first.add_load({1, 2}, a);
  second.add_load({-3, 1}, b);
  const auto times = even_times(0, 3, 0.05);
  for (const auto quantity : {ModalQuantity::displacement, ModalQuantity::velocity, ModalQuantity::acceleration}) {
    const auto sum = both.coordinates(times, quantity), x = first.coordinates(times, quantity),
               y = second.coordinates(times, quantity);
    for (std::size_t i = 0; i < sum.values.size(); ++i) EXPECT_NEAR(sum.values[i], x.values[i] + y.values[i], 1e-12);
  }
}

TEST(ModalTimeHistory, StartsFromAGivenStateAtAGivenTime) {
  const ModalSystem modes({4.0});
  ModalTimeHistory history(modes, 1.0);
  history.set_initial_state({0.3}, {-2});
  const std::vector<double> times{1.0, 1.6};
  const auto q = history.coordinates(times, ModalQuantity::displacement);
  EXPECT_EQ(q.values[0], 0.3);
  EXPECT_NEAR(q.values[1], 0.3 * std::cos(4 * 0.6) - 2.0 / 4 * std::sin(4 * 0.6), 1e-15);
}

TEST(ModalTimeHistory, HasTheSameBitsInEveryRun) {
  ModalTimeHistory history(ModalSystem({2, 30, 200}, ModalDamping::ratio(0.03)));
  history.add_base_acceleration(std::vector<double>{1, 1, 1}, rough_record());
  const auto times = even_times(0, 5, 0.01);
  EXPECT_EQ(history.coordinates(times, ModalQuantity::acceleration).values,
            history.coordinates(times, ModalQuantity::acceleration).values);
}

/// M u″ + C u′ + K u = −M 1 a(t) by the classical Runge-Kutta method, with C = α M + β K.
Eigen::VectorXd directly_integrated(const ShearBuilding& b, double alpha, double beta, const Accelerogram& record,
                                    double end, int per_interval) {
  Eigen::VectorXd u = Eigen::VectorXd::Zero(b.storeys), v = u;
  const auto rate = [&](const Eigen::VectorXd& x, const Eigen::VectorXd& y, double a) -> Eigen::VectorXd {
    return (-(b.k * (x + beta * y)) / b.mass - alpha * y).array() - a;
  };
  for (std::size_t k = 1; k < record.times().size() && record.times()[k - 1] < end; ++k) {
    const double t0 = record.times()[k - 1], h = (std::min(record.times()[k], end) - t0) / per_interval;
    for (int i = 0; i < per_interval; ++i) {
      const double a0 = record.at(t0 + i * h), am = record.at(t0 + (i + 0.5) * h),
                   a1 = i + 1 < per_interval ? record.at(t0 + (i + 1) * h)
                                             : record.at(t0 + per_interval * h * (1 - 1e-15));
      const Eigen::VectorXd k1 = rate(u, v, a0), k2 = rate(u + h / 2 * v, v + h / 2 * k1, am),
                            k3 = rate(u + h / 2 * v + h * h / 4 * k1, v + h / 2 * k2, am),
                            k4 = rate(u + h * v + h * h / 2 * k2, v + h * k3, a1);
      u += h * v + h * h / 6 * (k1 + k2 + k3);
      v += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
    }
  }
  return u;
}

TEST(ModalTimeHistory, AllModesTogetherEqualDirectIntegration) {
  const ShearBuilding building(6, 2e3, 4e6);
  const double alpha = 0.5, beta = 2e-4;
  ModalTimeHistory history(ModalSystem(building.omegas, ModalDamping::rayleigh(alpha, beta)));
  history.add_base_acceleration(building.participation(6), rough_record());
  const std::vector<double> times{3.1};
  const auto q = history.coordinates(times, ModalQuantity::displacement);
  const auto shapes = building.shapes(6);
  const auto u = values_at(q, ModalValues(shapes, 6), 0);
  const Eigen::VectorXd expected = directly_integrated(building, alpha, beta, rough_record(), 3.1, 40);
  for (int i = 0; i < 6; ++i) EXPECT_NEAR(u[i], expected(i), 1e-7 * expected.cwiseAbs().maxCoeff());
}

TEST(ModalTimeHistory, StaticCorrectionRestoresTheModesLeftOut) {
  const ShearBuilding building(8, 1, 100);
  Eigen::VectorXd load = Eigen::VectorXd::Zero(8);
  load(2) = 1;
  load(7) = -0.5;
  // A slow load: the ramp takes 60 periods of the first mode, so that all modes follow it almost statically.
  const Amplitude slow({{0, 0}, {200, 1}});
  const Eigen::VectorXd exact = building.k.ldlt().solve(load);
  const int count = 2;
  const auto shapes = building.shapes(count), modal = building.modal(load, count);
  ModalTimeHistory history(ModalSystem({building.omegas[0], building.omegas[1]}, ModalDamping::ratio(0.05)));
  history.add_load(modal, slow);
  const std::vector<double> end{400.0};
  ModalValues values(shapes, count);
  const auto plain = values_at(history.coordinates(end, ModalQuantity::displacement), values, 0);
  const auto residual =
      residual_values(std::span(exact.data(), 8), values, modal, std::span(building.omegas).first(count));
  values.add(residual);
  const auto corrected = values_at(history.coordinates(end, ModalQuantity::displacement, true), values, 0);
  double without = 0;
  for (int i = 0; i < 8; ++i) {
    EXPECT_NEAR(corrected[i], exact(i), 1e-10);
    without = std::max(without, std::abs(plain[i] - exact(i)));
  }
  EXPECT_GT(without, 1e-3);  // there was something to correct
}

TEST(ModalTimeHistory, TheResidualOfACompleteSetOfModesVanishes) {
  const ShearBuilding building(5, 3, 70);
  const Eigen::VectorXd load = Eigen::VectorXd::LinSpaced(5, -1, 2), exact = building.k.ldlt().solve(load);
  const auto shapes = building.shapes(5);
  for (const double r :
       residual_values(std::span(exact.data(), 5), ModalValues(shapes, 5), building.modal(load, 5), building.omegas))
    EXPECT_NEAR(r, 0, 1e-14);
}

TEST(ModalTimeHistory, RefusesWhatDoesNotFit) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  ModalTimeHistory history(ModalSystem({1, 2}), 0.5);
  using testing::expect_error;
  expect_error(ErrorCode::bad_input, {"1 numbers for 2 modes"}, [&] { history.add_load({1}, {}); });
  expect_error(ErrorCode::not_finite, {"mode 2"}, [&] { history.add_load({1, nan}, {}); });
  expect_error(ErrorCode::bad_input, {"begins at 0, before"}, [&] {
    history.add_base_acceleration(std::vector<double>{1, 1}, Accelerogram({0, 1}, {1, 1}));
  });
  expect_error(ErrorCode::bad_input, {"initial velocity"}, [&] { history.set_initial_state({0, 0}, {0}); });
  for (const std::vector<double>& times : {std::vector{0.4}, {1.0, 1.0}, {1.0, nan}})
    expect_error(ErrorCode::bad_input, {"times must increase"}, [&] { history.run(times, [](const ModalState&) {}); });
  expect_error(ErrorCode::misuse, {"velocities"},
               [&] { history.coordinates(std::vector{1.0}, ModalQuantity::velocity, true); });
  expect_error(ErrorCode::bad_input, {"mode 2"}, [] { ModalSystem({1, -2}); });
  expect_error(ErrorCode::bad_input, {"not possible"}, [] { even_times(0, 1, 0); });
  const std::vector<double> statics{1}, column{1}, loads{1}, rigid{0};
  expect_error(ErrorCode::bad_input, {"mode 1 is rigid"},
               [&] { residual_values(statics, ModalValues(column, 1), loads, rigid); });
}

TEST(EvenTimes, EndWhereTheyShould) {
  EXPECT_EQ(even_times(0, 0.3, 0.1).size(), 4u);  // not five, although 0.3/0.1 is not 3
  EXPECT_EQ(even_times(0, 1, 0.1).back(), 1);
  const auto times = even_times(1, 2, 0.4);
  EXPECT_EQ(times, (std::vector<double>{1, 1.4, 1.8, 2}));
}

}  // namespace
}  // namespace voussoir
