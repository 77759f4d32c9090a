#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include <voussoir/elements/physics/elasticity.hpp>
#include <voussoir/elements/point/compact_forces.hpp>

#include "support/finite_strain_laws.hpp"

// Forces with few registers are those of residual(), and the history is that of advance().

namespace voussoir {
namespace {

template <class K>
struct ForceSample {
  typename K::template Input<double> input{};
  std::vector<double> table, history;

  ForceSample(std::mt19937& generator, const std::vector<double>& parameters) {
    std::uniform_real_distribution<double> move(-0.15, 0.15);
    table.push_back(0);
    table.insert(table.end(), parameters.begin(), parameters.end());
    for (int a = 0; a < 8; ++a)
      for (int k = 0; k < 3; ++k) {
        input.x[a][k] = Hex8::node(a, k) * (0.5 + 0.3 * k) + move(generator);
        input.u[3 * a + k] = 0.3 * move(generator);
      }
    history.resize(static_cast<std::size_t>(std::max(1, 8 * K::law_history)));
    for (double& number : history) number = 0.03 * move(generator);
    input.table = table.data();
    input.table_rows = 1;
    input.history = history.data();
    input.history_stride = 1;
  }
};

/// The mean of the Jacobian's determinant at the 2 × 2 × 2 points.
template <class Input>
double mean_determinant(const Input& input) {
  double sum = 0;
  for (int jk = 0; jk < 4; ++jk) {
    detail::TrilinearLine<double> x[3];
    for (int m = 0; m < 3; ++m)
      x[m] = detail::TrilinearLine<double>::of(
          detail::TrilinearCoefficients<double>::of([&](int a) { return input.x[a][m]; }), jk & 1 ? 1 : -1,
          jk & 2 ? 1 : -1);
    double cofactor[3][3];
    for (int end = 0; end < 2; ++end) sum += detail::line_cofactors(x, end, cofactor);
  }
  return sum / 8 / 512;
}

/// The largest differences of forces and history, relative to the largest force.
template <class K>
void expect_same_forces(const std::vector<double>& parameters) {
  using Compact = detail::CompactForces<K>;
  static_assert(Compact::exists);
  constexpr double scale = 0.75;
  std::mt19937 generator(11);
  for (int sample = 0; sample < 20; ++sample) {
    ForceSample<K> s(generator, parameters);
    double expected[24], found[24], scratch[Compact::room + 1], next[64] = {};
    const double health = K::residual(s.input, expected);
    std::vector<double> in_place = s.history;
    if constexpr (K::law_history > 0) K::advance(s.input, next);
    s.input.history = in_place.data();  // the new history takes the place of the old one
    const double own = Compact::template compute<(K::law_history > 0), double>(
        s.input, [&](int a, int i) { return s.input.u[3 * a + i]; }, [&](int n) -> double& { return scratch[n]; },
        scale, [&](int k, double value) { in_place[static_cast<std::size_t>(k)] = value; },
        [&](int a, int i, double force) { found[3 * a + i] = force; });
    double largest = 0;
    for (double& force : expected) largest = std::max(largest, std::abs(force *= scale));
    EXPECT_GT(largest, 0.1);
    for (int i = 0; i < 24; ++i) EXPECT_NEAR(found[i], expected[i], 1e-13 * largest) << i;
    // Elements with uniform strain give the mean of the determinants, others the least of them.
    const double expected_health = K::uniform ? mean_determinant(s.input) : health;
    EXPECT_NEAR(own, expected_health, 1e-13 * std::abs(expected_health));
    EXPECT_GE(own, health * (1 - 1e-13));
    for (int k = 0; k < 8 * K::law_history; ++k)
      EXPECT_NEAR(in_place[static_cast<std::size_t>(k)], next[k], 1e-14) << k;
  }
}

template <class Law, class Formulation>
using Hexahedron = PointElement<Law, Hex8, Formulation>;

TEST(CompactForces, AreThoseOfLargeStrain) {
  expect_same_forces<Hexahedron<testing::StVenantKirchhoff, Full>>({60, 40, 1});
  expect_same_forces<Hexahedron<testing::HeavyNeoHooke, Full>>({60, 40, 1});
}
TEST(CompactForces, AdvanceTheHistory) { expect_same_forces<Hexahedron<testing::HeavyJ2, Full>>({60, 40, 0.5, 10, 1}); }
TEST(CompactForces, AreThoseOfLinearElements) { expect_same_forces<Hexahedron<Solid, Full>>({100, 0.3, 1, 0}); }
TEST(CompactForces, ControlHourglasses) { expect_same_forces<Hexahedron<Solid, Reduced>>({100, 0.3, 1, 0}); }

TEST(CompactForces, AreNotForOtherElements) {
  EXPECT_FALSE((detail::CompactForces<Hexahedron<Solid, Incompatible>>::exists));
  EXPECT_FALSE((detail::CompactForces<Hexahedron<Solid, BBar>>::exists));
  EXPECT_FALSE((detail::CompactForces<PointElement<Solid, Tet4, Full>>::exists));
  EXPECT_FALSE((detail::CompactForces<PointElement<Solid, Hex20, Reduced>>::exists));
}

}  // namespace
}  // namespace voussoir
