#include <gtest/gtest.h>
#include <voussoir/elements/check_tangent.hpp>
#include <voussoir/elements/physics/elasticity.hpp>
#include <voussoir/elements/physics/finite_plasticity.hpp>
#include <voussoir/elements/point/one_point_element.hpp>

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "elements/element_run.hpp"

// One-point hexahedra of laws of any kind.

namespace voussoir {
namespace {

using testing::ElementRun;

/// A hexahedron without right angles.
const std::vector<std::array<double, 3>> crooked = {{0, 0, 0},   {1.1, 0.1, 0},  {1, 1, 0.1},     {-0.1, 0.9, 0},
                                                    {0.1, 0, 1}, {1, -0.1, 1.2}, {1.1, 1.1, 0.9}, {0, 1, 1}};

/// Hooke's law by its flux alone, with the parameters of the library's solid.
struct PlainHooke {
  static constexpr const char* name = "plain_hooke";
  static constexpr int components = 3;
  static constexpr const char* unknowns[] = {"ux", "uy", "uz"};
  static constexpr const char* parameters[] = {"young", "poisson", "density"};
  template <class R>
  VSR_FN static Mat3<R> flux(const Point<R>& p, const Mat3<R>& grad) {
    const R mu = R(0.5) * p[0] / (R(1.0) + p[1]), lambda = R(2.0) * mu * p[1] / (R(1.0) - R(2.0) * p[1]);
    Mat3<R> stress = mu * (grad + transpose(grad));
    for (int i = 0; i < 3; ++i) stress(i, i) += lambda * trace(grad);
    return stress;
  }
  template <class R>
  VSR_FN static R density(const Point<R>& p) {
    return p[2];
  }
};

/// Compressible neo-Hooke by its energy.
struct EnergyOfRubber {
  static constexpr const char* name = "energy_of_rubber";
  static constexpr int components = 3;
  static constexpr const char* unknowns[] = {"ux", "uy", "uz"};
  static constexpr const char* parameters[] = {"lambda", "mu"};
  template <class R>
  VSR_FN static R energy(const Point<R>& p, const Mat3<R>& grad) {
    Mat3<R> f = grad;
    R trace_c = R(0.0);
    for (int i = 0; i < 3; ++i) f(i, i) += R(1.0);
    for (int i = 0; i < 3; ++i)
      for (int k = 0; k < 3; ++k) trace_c += f(i, k) * f(i, k);
    const R log_j = log(determinant(f));
    return R(0.5) * p[1] * (trace_c - R(3.0) - R(2.0) * log_j) + R(0.5) * p[0] * log_j * log_j;
  }
};

std::vector<double> flat(const std::vector<std::array<double, 3>>& x) {
  std::vector<double> all;
  for (const auto& point : x) all.insert(all.end(), point.begin(), point.end());
  return all;
}

std::vector<double> waves(double amplitude) {
  std::vector<double> u;
  for (int i = 0; i < 24; ++i) u.push_back(amplitude * std::sin(1.0 + 1.7 * i));
  return u;
}

TEST(OnePointElement, LinearLawsHaveTheElementOfTheLibrary) {
  const NativeProgram<OnePointElement<PlainHooke>> own("own");
  const NativeProgram<PointElement<Solid, Hex8, Reduced>> stock("stock");
  ElementRun is(own), expected(stock);
  const std::map<std::string, double> parameters{{"young", 3}, {"poisson", 0.3}, {"density", 2}};
  is.add(crooked, parameters);
  expected.add(crooked, parameters);
  const std::vector<double> u = waves(0.2);
  std::copy(u.begin(), u.end(), is.unknowns(0));
  std::copy(u.begin(), u.end(), expected.unknowns(0));
  EXPECT_LT((is.residual() - expected.residual()).norm(), 1e-13 * expected.residual().norm());
  EXPECT_LT((is.tangent() - expected.tangent()).norm(), 1e-13 * expected.tangent().norm());
  EXPECT_LT((is.mass(MassKind::lumped) - expected.mass(MassKind::lumped)).norm(), 1e-13);
  EXPECT_NEAR(is.recovered("volume"), expected.recovered("volume"), 1e-14);
}

TEST(OnePointElement, TangentsAreTheDerivativesOfResiduals) {
  const auto check = [](const TangentReport& report) { EXPECT_TRUE(report.good(1e-8)) << report.text; };
  const std::vector<double> x = flat(crooked);
  check(check_tangent<OnePointElement<EnergyOfRubber>>(x, std::vector<double>{2, 1}, waves(0.05)));
  check(check_tangent<OnePointElement<PlainHooke>>(x, std::vector<double>{2, 0.3, 1}, waves(0.05)));
  // Elastic, and flowing.
  check(check_tangent<OnePointElement<FinitePlasticity>>(x, std::vector<double>{2, 0.3, 10, 0.3, 1}, waves(0.05)));
  check(check_tangent<OnePointElement<FinitePlasticity>>(x, std::vector<double>{2, 0.3, 0.01, 0.3, 1}, waves(0.05)));
}

TEST(OnePointElement, RotationsTurnTheForces) {
  const NativeProgram<OnePointElement<FinitePlasticity>> program("one");
  const double c = std::cos(2.2), s = std::sin(2.2);
  const double q[3][3] = {{c, -s, 0}, {s, c, 0}, {0, 0, 1}};
  const std::vector<double> u = waves(0.1);  // strains beyond yield, and hourglass motions
  ElementRun still(program), turned(program);
  const std::map<std::string, double> parameters{{"young", 2}, {"poisson", 0.3}, {"yield", 0.02}, {"hardening", 0.1}};
  still.add(crooked, parameters);
  turned.add(crooked, parameters);
  for (int a = 0; a < 8; ++a)
    for (int i = 0; i < 3; ++i) {
      still.unknowns(0)[3 * a + i] = u[static_cast<std::size_t>(3 * a + i)];
      double place = 0;
      for (int k = 0; k < 3; ++k)
        place += q[i][k] * (crooked[static_cast<std::size_t>(a)][static_cast<std::size_t>(k)] +
                            u[static_cast<std::size_t>(3 * a + k)]);
      turned.unknowns(0)[3 * a + i] = place - crooked[static_cast<std::size_t>(a)][static_cast<std::size_t>(i)];
    }
  const Eigen::VectorXd r = still.residual(), t = turned.residual();
  for (int a = 0; a < 8; ++a)
    for (int i = 0; i < 3; ++i) {
      double expected = 0;
      for (int k = 0; k < 3; ++k) expected += q[i][k] * r[3 * a + k];
      EXPECT_NEAR(t[3 * a + i], expected, 1e-13);
    }
  EXPECT_GT(still.recovered("peeq"), 0.01);
  EXPECT_NEAR(turned.recovered("peeq"), still.recovered("peeq"), 1e-13);
}

TEST(OnePointElement, UniformStrainIsThatOfEightPoints) {
  const NativeProgram<OnePointElement<FinitePlasticity>> one("one");
  const NativeProgram<PointElement<FinitePlasticity, Hex8, Full>> eight("eight");
  ElementRun is(one), expected(eight);
  const std::map<std::string, double> parameters{{"young", 2}, {"poisson", 0.3}, {"yield", 0.02}, {"hardening", 0.1}};
  is.add(crooked, parameters);
  expected.add(crooked, parameters);
  const double gradient[3][3] = {{0.2, 0.1, 0}, {-0.05, -0.1, 0.03}, {0.1, 0, 0.04}};
  for (int a = 0; a < 8; ++a)
    for (int i = 0; i < 3; ++i) {
      double u = 0.7;
      for (int k = 0; k < 3; ++k)
        u += gradient[i][k] * crooked[static_cast<std::size_t>(a)][static_cast<std::size_t>(k)];
      is.unknowns(0)[3 * a + i] = expected.unknowns(0)[3 * a + i] = u;
    }
  EXPECT_LT((is.residual() - expected.residual()).norm(), 1e-13);
  EXPECT_NEAR(is.recovered("plastic_energy"), expected.recovered("plastic_energy", 3), 1e-14);
  EXPECT_GT(is.recovered("plastic_energy"), 1e-4);
}

}  // namespace
}  // namespace voussoir
