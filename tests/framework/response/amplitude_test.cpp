#include <voussoir/framework/response/amplitude.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include <voussoir/framework/response/accelerogram.hpp>

#include "support/expect_error.hpp"

namespace voussoir {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

TEST(Amplitude, IsLinearBetweenItsPointsAndConstantOutside) {
  const Amplitude a({{1, 2}, {3, 6}, {4, 0}});
  EXPECT_EQ(a.at(0), 2);
  EXPECT_EQ(a.at(1), 2);
  EXPECT_EQ(a.at(1.5), 3);
  EXPECT_EQ(a.at(3), 6);
  EXPECT_EQ(a.before(3), 6);
  EXPECT_EQ(a.before(3.75), 1.5);
  EXPECT_EQ(a.at(100), 0);
  EXPECT_EQ(a.before(1), 2);
  EXPECT_EQ(Amplitude().at(5), 1);
}

TEST(Amplitude, HasTwoValuesWhereItJumps) {
  const Amplitude a({{0, 0}, {0, 1}, {2, 3}, {2, -1}});
  EXPECT_EQ(a.before(0), 0);
  EXPECT_EQ(a.at(0), 1);
  EXPECT_EQ(a.before(2), 3);
  EXPECT_EQ(a.at(2), -1);
  EXPECT_EQ(a.at(3), -1);
  EXPECT_EQ(a.at(-1), 0);
}

TEST(Amplitude, NamesThePointThatIsWrong) {
  const auto refused = [](std::vector<Amplitude::Point> points, const std::string& piece) {
    testing::expect_error(ErrorCode::bad_input, {"RAMP", piece}, [&] { Amplitude(points, "RAMP"); });
  };
  refused({}, "no points");
  refused({{0, 0}, {1, nan}}, "point 2");
  refused({{0, 0}, {infinity, 1}}, "point 2");
  refused({{0, 0}, {2, 0}, {1, 0}}, "point 3: the time 1 is before");
  refused({{0, 0}, {1, 0}, {1, 1}, {1, 2}}, "point 4: a third point");
}

TEST(Accelerogram, IsZeroOutsideAndLinearInside) {
  const Accelerogram a({0.5, 1, 3}, {1, -4, 2});
  EXPECT_EQ(a.at(0.4), 0);
  EXPECT_EQ(a.at(0.5), 1);
  EXPECT_EQ(a.at(0.75), -1.5);
  EXPECT_EQ(a.at(3), 2);
  EXPECT_EQ(a.at(3.001), 0);
  EXPECT_EQ(a.duration(), 2.5);
  EXPECT_EQ(a.peak().value, -4);
  EXPECT_EQ(a.peak().time, 1);
  EXPECT_EQ(a.scaled(-2).peak().value, 8);
  EXPECT_EQ(a.shifted(1).times()[0], 1.5);
  const Amplitude same = a.amplitude();
  for (const double t : {0.0, 0.5, 0.6, 1.0, 2.9}) EXPECT_EQ(same.at(t), a.at(t));
  EXPECT_EQ(same.before(0.5), 0);
  EXPECT_EQ(same.before(3), 2);
  EXPECT_EQ(same.at(3), 0);
}

TEST(Accelerogram, RefusesTimesAndValuesThatMakeNone) {
  const auto refused = [](std::vector<double> times, std::vector<double> values, const std::string& piece) {
    testing::expect_error(ErrorCode::bad_input, {"quake", piece}, [&] { Accelerogram(times, values, "quake"); });
  };
  refused({0, 1}, {1}, "2 times but 1 values");
  refused({0}, {1}, "at least two");
  refused({0, 1, 1}, {1, 2, 3}, "point 3: the time 1 is not after");
  refused({0, nan}, {1, 2}, "point 2");
  refused({0, 1}, {infinity, 2}, "point 1");
  testing::expect_error(ErrorCode::bad_input, {"time step"}, [] { Accelerogram::evenly_spaced(0, {1, 2}); });
  EXPECT_EQ(Accelerogram::evenly_spaced(0.01, {0, 1, 2, 3}, 1).times()[3], 1.03);
}

}  // namespace
}  // namespace voussoir
