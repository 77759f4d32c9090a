#include <voussoir/framework/response/spectral_combination.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <numbers>

#include "framework/response/shear_building.hpp"
#include "support/expect_error.hpp"

namespace voussoir {
namespace {

constexpr double pi = std::numbers::pi;

TEST(CqcCorrelation, IsTheWellKnownFormulaForEqualDamping) {
  // ρ = 8 ζ² (1 + r) r^{3/2} / ((1 − r²)² + 4 ζ² r (1 + r)²), Chopra, Dynamics of Structures, modal combination rules.
  for (const double z : {0.01, 0.05, 0.2})
    for (const double r : {0.1, 0.5, 0.8, 0.9, 0.95, 1.0, 1.1, 3.0}) {
      const double rho =
          8 * z * z * (1 + r) * std::pow(r, 1.5) / (std::pow(1 - r * r, 2) + 4 * z * z * r * std::pow(1 + r, 2));
      EXPECT_NEAR(cqc_correlation(7, z, 7 * r, z), rho, 1e-14) << z << " " << r;
    }
  EXPECT_NEAR(cqc_correlation(1, 0.05, 0.9, 0.05), 0.473, 5e-4);
}

TEST(CqcCorrelation, IsThatOfResponsesToWhiteNoise) {
  // Re ∫ H_i H_j* dΩ / √(∫|H_i|² ∫|H_j|²), by the trapezoidal rule over Ω = tan θ, which is smooth and covers all of
  // it.
  const auto correlation = [](double wi, double zi, double wj, double zj) {
    double ij = 0, ii = 0, jj = 0;
    const int n = 200000;
    for (int k = 1; k < n; ++k) {
      const double theta = pi / 2 * k / n, w = std::tan(theta), weight = 1 / std::pow(std::cos(theta), 2);
      const auto h = [&](double w0, double z) { return 1.0 / std::complex<double>(w0 * w0 - w * w, 2 * z * w0 * w); };
      const auto a = h(wi, zi), b = h(wj, zj);
      ij += weight * (a * std::conj(b)).real();
      ii += weight * std::norm(a);
      jj += weight * std::norm(b);
    }
    // At Ω = 0 the trapezoidal rule takes half of the value; at infinity there is nothing.
    const double i0 = 1 / (wi * wi), j0 = 1 / (wj * wj);
    return (ij + i0 * j0 / 2) / std::sqrt((ii + i0 * i0 / 2) * (jj + j0 * j0 / 2));
  };
  for (const auto& [zi, zj] : {std::pair{0.02, 0.1}, {0.1, 0.02}, {0.05, 0.05}, {0.3, 0.01}})
    for (const double wj : {0.5, 0.9, 1.0, 1.2})
      EXPECT_NEAR(cqc_correlation(1, zi, wj, zj), correlation(1, zi, wj, zj), 1e-8) << zi << " " << zj << " " << wj;
}

TEST(CqcCorrelation, IsSymmetricAndHasItsLimits) {
  EXPECT_EQ(cqc_correlation(3, 0.02, 5, 0.07), cqc_correlation(5, 0.07, 3, 0.02));
  EXPECT_EQ(cqc_correlation(3, 0.02, 3, 0.07), cqc_correlation(3, 0.07, 3, 0.02));
  EXPECT_DOUBLE_EQ(cqc_correlation(3, 0.02, 3, 0.02), 1);
  EXPECT_EQ(cqc_correlation(3, 0, 3, 0), 1);
  EXPECT_EQ(cqc_correlation(3, 0, 4, 0), 0);
  EXPECT_LT(cqc_correlation(1, 0.05, 1e6, 0.05), 1e-9);
  testing::expect_error(ErrorCode::bad_input, {"positive frequencies"}, [] { cqc_correlation(0, 0, 1, 0); });
}

TEST(SpectralCombination, CombinesTheModesByEachRule) {
  const ModalSystem modes({10, 10.5, 40}, ModalDamping::ratios({0.05, 0.03, 0.02}));
  const std::vector<double> q{2, -1, 0.5}, values{1, 3, /**/ 2, 1, /**/ -4, 8};
  const ModalValues r(values, 3);
  for (const std::size_t e : {0u, 1u}) {
    double v[3], quadratic = 0;
    for (std::size_t i = 0; i < 3; ++i) v[i] = q[i] * values[2 * i + e];
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = 0; j < 3; ++j)
        quadratic += v[i] * v[j] *
                     (i == j ? 1
                             : cqc_correlation(modes.omegas()[i], modes.damping_ratio(i), modes.omegas()[j],
                                               modes.damping_ratio(j)));
    EXPECT_NEAR(combine_modes(modes, r, q, ModalCombination::srss)[e], std::hypot(v[0], v[1], v[2]), 1e-14);
    EXPECT_NEAR(combine_modes(modes, r, q, ModalCombination::absolute_sum)[e],
                std::abs(v[0]) + std::abs(v[1]) + std::abs(v[2]), 1e-14);
    EXPECT_NEAR(combine_modes(modes, r, q, ModalCombination::cqc)[e], std::sqrt(quadratic), 1e-14);
  }
}

TEST(SpectralCombination, CqcAddsEqualModesWithTheirSigns) {
  const ModalSystem modes({10, 10}, ModalDamping::ratio(0.05));
  const std::vector<double> same{3, 4}, opposite{3, -3}, values{1, 1};
  EXPECT_NEAR(combine_modes(modes, ModalValues(values, 2), same, ModalCombination::cqc)[0], 7, 1e-14);
  EXPECT_NEAR(combine_modes(modes, ModalValues(values, 2), opposite, ModalCombination::cqc)[0], 0, 1e-7);
  EXPECT_NEAR(combine_modes(modes, ModalValues(values, 2), same, ModalCombination::srss)[0], 5, 1e-14);
}

TEST(SpectralCombination, ResidualsAreIndependentOfTheModes) {
  const ModalSystem modes({10, 10}, ModalDamping::ratio(0.05));
  const std::vector<double> q{3, 4, 2}, values{1, 1, 12};
  EXPECT_NEAR(combine_modes(modes, ModalValues(values, 3), q, ModalCombination::cqc)[0], std::hypot(7, 24), 1e-13);
}

TEST(SpectralCombination, TheBaseShearUnderAConstantSpectrumIsThatOfTheEffectiveMasses) {
  // V_i = Γ_i² S_a: with SRSS, √Σ Γ_i⁴ S_a; the absolute sum is the whole mass times S_a.
  const testing::ShearBuilding building(7, 3, 500);
  const ModalSystem modes(building.omegas, ModalDamping::ratio(0.05));
  const auto gamma = building.participation(7);
  const ResponseSpectrum constant({{0, 2}, {1000, 2}}, ResponseSpectrum::Axis::frequency);
  const auto q = spectral_coordinates(modes, gamma, constant);
  std::vector<double> shear(7);  // of mode i: the spring of the first storey
  double fourth = 0;
  for (int i = 0; i < 7; ++i) {
    shear[i] = building.stiffness * building.modes(0, i);
    fourth += std::pow(gamma[i], 4);
  }
  EXPECT_NEAR(combine_modes(modes, ModalValues(shear, 7), q, ModalCombination::absolute_sum)[0], 7 * 3 * 2.0, 1e-11);
  EXPECT_NEAR(combine_modes(modes, ModalValues(shear, 7), q, ModalCombination::srss)[0], 2 * std::sqrt(fourth), 1e-11);
}

TEST(SpectralCombination, CombinesDirections) {
  const std::vector<std::vector<double>> xyz{{3, -10}, {4, 1}, {-12, 2}};
  EXPECT_EQ(combine_directions(xyz, DirectionalCombination::srss)[0], 13);
  EXPECT_DOUBLE_EQ(combine_directions(xyz, DirectionalCombination::hundred_thirty)[0], 12 + 0.3 * 7);
  EXPECT_DOUBLE_EQ(combine_directions(xyz, DirectionalCombination::hundred_thirty)[1], 10 + 0.3 * 3);
  EXPECT_DOUBLE_EQ(combine_directions(xyz, DirectionalCombination::hundred_forty)[0], 12 + 0.4 * 7);
  EXPECT_EQ(combine_directions(std::span(xyz).first(1), DirectionalCombination::hundred_forty)[1], 10);
}

TEST(SpectralCombination, RefusesWhatDoesNotFit) {
  using testing::expect_error;
  const ModalSystem modes({1, 0});
  const ResponseSpectrum spectrum({{1, 2}, {10, 2}}, ResponseSpectrum::Axis::frequency);
  const std::vector<double> both{1, 1}, elastic{1, 0}, values{1, 1};
  expect_error(ErrorCode::misuse, {"1 participation factors for 2"},
               [&] { spectral_coordinates(modes, std::vector{1.0}, spectrum); });
  expect_error(ErrorCode::bad_input, {"mode 1", "outside the table"},
               [&] { spectral_coordinates(modes, elastic, spectrum); });
  expect_error(ErrorCode::bad_input, {"mode 1 is rigid"}, [&] {
    spectral_coordinates(ModalSystem({0, 10}), elastic, spectrum);
  });
  expect_error(ErrorCode::misuse, {"do not fit"},
               [&] { combine_modes(modes, ModalValues(values, 1), both, ModalCombination::srss); });
  expect_error(ErrorCode::bad_input, {"CQC needs"},
               [&] { combine_modes(modes, ModalValues(values, 2), both, ModalCombination::cqc); });
  const std::vector<double> broken{1, std::numeric_limits<double>::quiet_NaN()};
  for (const auto rule : {ModalCombination::srss, ModalCombination::absolute_sum})
    expect_error(ErrorCode::not_finite, {"entry 1"}, [&] { combine_modes(modes, ModalValues(broken, 2), both, rule); });
  expect_error(ErrorCode::misuse, {"0 directions"}, [] { combine_directions({}, DirectionalCombination::srss); });
  const std::vector<std::vector<double>> uneven{{1, 2}, {1}};
  expect_error(ErrorCode::misuse, {"different numbers"},
               [&] { combine_directions(uneven, DirectionalCombination::srss); });
}

}  // namespace
}  // namespace voussoir
