#include <voussoir/framework/response/eurocode8_spectrum.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/expect_error.hpp"

namespace voussoir {
namespace {

/// Equations 3.2 to 3.5 of EN 1998-1 with the numbers of table 3.2 for type 1, ground B.
TEST(Eurocode8Spectrum, FollowsTheEquationsOfTheCode) {
  const ResponseSpectrum spectrum = eurocode8_spectrum();
  constexpr double rigid = 0.25 * 1.2;
  EXPECT_DOUBLE_EQ(spectrum.at_period(0), rigid);
  EXPECT_NEAR(spectrum.at_period(0.06), rigid * (1 + 0.06 / 0.15 * 1.5), 1e-12);
  for (const double period : {0.15, 0.3, 0.5}) EXPECT_NEAR(spectrum.at_period(period), 2.5 * rigid, 1e-12);
  for (const double period : {0.503, 0.7, 1.234, 1.999, 2.0})
    EXPECT_NEAR(spectrum.at_period(period), 2.5 * rigid * 0.5 / period, 1e-4 * rigid);
  for (const double period : {2.01, 2.5, 3.333, 4.0})
    EXPECT_NEAR(spectrum.at_period(period), 2.5 * rigid * 0.5 * 2 / (period * period), 1e-4 * rigid);
}

/// Equation 3.6: η = √(10/(5 + ξ)) with ξ in per cent, not below 0.55, which is reached at 28 %.
TEST(Eurocode8Spectrum, IsReducedByDamping) {
  Eurocode8Spectrum numbers;
  const auto plateau = [&](double ratio) {
    numbers.damping_ratio = ratio;
    return eurocode8_spectrum(numbers).at_period(0.3) / 0.75;
  };
  EXPECT_NEAR(plateau(0.02), std::sqrt(10.0 / 7), 1e-12);
  EXPECT_NEAR(plateau(0.10), std::sqrt(10.0 / 15), 1e-12);
  EXPECT_NEAR(plateau(0.40), 0.55, 1e-12);
}

TEST(Eurocode8Spectrum, RefusesWrongNumbers) {
  const auto refused = [](double Eurocode8Spectrum::*member, double value, const std::string& piece) {
    Eurocode8Spectrum numbers;
    numbers.*member = value;
    testing::expect_error(ErrorCode::bad_input, {"Eurocode 8", piece}, [&] { eurocode8_spectrum(numbers); });
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  refused(&Eurocode8Spectrum::ground_acceleration, 0, "ground acceleration");
  refused(&Eurocode8Spectrum::ground_acceleration, nan, "ground acceleration");
  refused(&Eurocode8Spectrum::soil_factor, -1, "soil factor");
  refused(&Eurocode8Spectrum::plateau_begin, 0, "T_B");
  refused(&Eurocode8Spectrum::plateau_begin, 0.6, "T_B");
  refused(&Eurocode8Spectrum::plateau_end, 2.1, "T_C");
  refused(&Eurocode8Spectrum::displacement_begin, 4, "T_D");
  refused(&Eurocode8Spectrum::damping_ratio, 1, "damping ratio");
  refused(&Eurocode8Spectrum::damping_ratio, nan, "damping ratio");
}

}  // namespace
}  // namespace voussoir
