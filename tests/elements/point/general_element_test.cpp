#include <gtest/gtest.h>
#include <voussoir/elements/check_tangent.hpp>
#include <voussoir/elements/kernel/dual.hpp>
#include <voussoir/elements/point/point_element.hpp>

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "elements/element_run.hpp"
#include "support/finite_strain_laws.hpp"
#include "support/general_laws.hpp"

// Laws that are more than a flux and its tangent.

namespace voussoir {
namespace {

using namespace testing;

/// A hexahedron without right angles.
const double crooked[] = {0,   0, 0, 1.1, 0.1,  0,   1,   1,   0.1, -0.1, 0.9, 0,
                          0.1, 0, 1, 1,   -0.1, 1.2, 1.1, 1.1, 0.9, 0,    1,   1};
const double tetrahedron[] = {0, 0, 0, 1.1, 0.1, 0, 0.2, 0.9, 0.1, 0.1, 0.2, 0.8};

std::vector<double> wavy(int count, double amplitude) {
  std::vector<double> u;
  for (int i = 0; i < count; ++i) u.push_back(amplitude * std::sin(1.0 + 1.7 * i));
  return u;
}

template <class Law, class Shape, class Formulation = Full>
void expect_tangent(std::span<const double> coordinates, std::vector<double> parameters, double amplitude,
                    const TangentCheckOptions& options = {}) {
  using Element = PointElement<Law, Shape, Formulation>;
  const auto report = check_tangent<Element>(coordinates, parameters, wavy(Element::dofs, amplitude), options);
  EXPECT_TRUE(report.good(1e-8)) << report.text;
}

TEST(Dual, DerivativesAreExact) {
  Dual<double> x(0.7);
  x.d[0] = 1;
  EXPECT_DOUBLE_EQ((x * x * x).d[0], 3 * 0.49);
  EXPECT_DOUBLE_EQ((Dual<double>(1.0) / x).d[0], -1 / 0.49);
  EXPECT_DOUBLE_EQ(sqrt(x).d[0], 0.5 / std::sqrt(0.7));
  EXPECT_DOUBLE_EQ(exp(x).d[0], std::exp(0.7));
  EXPECT_DOUBLE_EQ(log(x).d[0], 1 / 0.7);
  EXPECT_DOUBLE_EQ(sin(x).d[0], std::cos(0.7));
  EXPECT_DOUBLE_EQ(cos(x).d[0], -std::sin(0.7));
  EXPECT_DOUBLE_EQ(tanh(x).d[0], 1 - std::tanh(0.7) * std::tanh(0.7));
  EXPECT_DOUBLE_EQ(pow(x, 2.5).d[0], 2.5 * std::pow(0.7, 1.5));
  EXPECT_DOUBLE_EQ(abs(-x).d[0], 1);
  EXPECT_DOUBLE_EQ(max(x, Dual<double>(1.0)).d[0], 0);
  EXPECT_DOUBLE_EQ(min(x, Dual<double>(1.0)).d[0], 1);
  EXPECT_EQ(sqrt(Dual<double>(0.0)).d[0], 0);
}

/// A function with everything that a law may use.
template <class R>
R everything(const R& x, const R& y) {
  const R a = sqrt(x * x + y) / (R(1.5) + x), b = exp(-x) * log(y) + sin(x) * cos(y) - tanh(x * y);
  return a * pow(y, 1.5) + max(a, b) - min(x, y) + abs(-b) + select_less(x, y, x * y, y) - (-a);
}

TEST(Adjoint, DerivativesAreThoseOfDualNumbers) {
  using A = Adjoint<Dual<double>, 96>;
  for (const auto& [x, y] : {std::pair{0.7, 1.3}, {1.9, 0.4}, {0.2, 5.0}}) {
    // Of the dual numbers: the change along (1, 2), whose derivatives are second ones.
    A::Tape tape;
    Dual<double> u(x), v(y);
    u.d[0] = 1;
    v.d[0] = 2;
    const A first = A::variable(u, tape), second = A::variable(v, tape);  // in this order on the tape
    const A result = everything(first, second);
    Dual<double> slope[2];
    tape.differentiate(result.place, slope);
    using D = Dual<Dual<double>, 2>;
    D p{u}, q{v};
    p.d[0] = q.d[1] = Dual<double>(1.0);
    const D expected = everything(p, q);
    EXPECT_DOUBLE_EQ(result.v.v, expected.v.v);
    for (int i = 0; i < 2; ++i) {
      EXPECT_NEAR(slope[i].v, expected.d[i].v, 1e-13);
      EXPECT_NEAR(slope[i].d[0], expected.d[i].d[0], 1e-12);
    }
  }
}

TEST(Adjoint, AConstantIsNotOnTheTape) {
  using A = Adjoint<double, 8>;
  A::Tape tape;
  const A x = A::variable(3.0, tape), y = (A(2.0) + A(1.0)) * x;
  double slope[1];
  tape.differentiate(y.place, slope);
  EXPECT_EQ(slope[0], 3.0);
  EXPECT_EQ(tape.size, 2);
}

TEST(Dual, NestedNumbersHaveSecondDerivatives) {
  Dual<Dual<double>, 1> x(Dual<double>(0.7));
  x.v.d[0] = 1;
  x.d[0] = Dual<double>(1.0);
  EXPECT_DOUBLE_EQ(exp(x).d[0].d[0], std::exp(0.7));
  EXPECT_DOUBLE_EQ((x * x * x).d[0].d[0], 6 * 0.7);
  EXPECT_DOUBLE_EQ(sqrt(x).d[0].d[0], -0.25 * std::pow(0.7, -1.5));
}

TEST(GeneralElement, TangentsAreTheDerivativesOfResiduals) {
  expect_tangent<ReactionDiffusion, Hex8>(crooked, {2, 3}, 0.5);
  expect_tangent<Ignition, Hex8>(crooked, {2, 0.7, 1.5}, 0.5);
  expect_tangent<ConvectionDiffusion, Hex8>(crooked, {2, 0.7, -1.5, 0.4}, 0.5);
  expect_tangent<NeoHookeEnergy, Hex8>(crooked, {2, 1}, 0.05);
  expect_tangent<NeoHookeFlux, Tet4>(tetrahedron, {2, 1}, 0.05);
  expect_tangent<ThermoElastic, Hex8>(crooked, {2, 1, 0.1, 3, 1, 1}, 0.05);
  expect_tangent<J2Plasticity, Hex8>(crooked, {2, 1, 0.05, 0.3}, 0.05);
  expect_tangent<J2Plasticity, Hex8, BBar>(crooked, {2, 1, 0.05, 0.3}, 0.05);
}

TEST(GeneralElement, TangentsReadHistoryAndTime) {
  TangentCheckOptions options;
  std::vector<double> history;
  for (int q = 0; q < 8; ++q) {
    for (int i = 0; i < 6; ++i) history.push_back(0.01 * std::sin(0.3 * (6 * q + i)));
    history.push_back(0.02);
    history[7 * q + 2] = -history[7 * q] - history[7 * q + 1];  // plastic strain keeps the volume
  }
  options.history = history;
  expect_tangent<J2Plasticity, Hex8>(crooked, {2, 1, 0.05, 0.3}, 0.05, options);
  history.resize(8 * 6);
  options.history = history;
  options.time_step = 0.5;
  expect_tangent<Relaxing, Hex8>(crooked, {2, 0.25}, 0.5, options);
}

TEST(GeneralElement, EnergyAndStressDescribeTheSameLaw) {
  using ByEnergy = NativeProgram<PointElement<NeoHookeEnergy, Hex8>>;
  using ByStress = NativeProgram<PointElement<NeoHookeFlux, Hex8>>;
  const ByEnergy energy("energy");
  const ByStress stress("stress");
  ElementRun a(energy), b(stress);
  std::vector<std::array<double, 3>> x;
  for (int n = 0; n < 8; ++n) x.push_back({crooked[3 * n], crooked[3 * n + 1], crooked[3 * n + 2]});
  const std::vector<double> u = wavy(24, 0.05);
  for (ElementRun* run : {&a, &b}) {
    run->add(x, {{"lambda", 2.0}, {"mu", 1.0}});
    std::copy(u.begin(), u.end(), run->unknowns(0));
  }
  EXPECT_LT((a.residual() - b.residual()).norm(), 1e-13 * b.residual().norm());
  EXPECT_LT((a.tangent() - b.tangent()).norm(), 1e-12 * b.tangent().norm());
  EXPECT_GT(a.recovered("energy"), 0);
}

TEST(GeneralElement, AReactionIsTheMassMatrix) {
  // With unit density, K(rate 1) − K(rate 0) = M.
  const NativeProgram<PointElement<ReactionDiffusion, Hex8>> program("reaction");
  std::vector<std::array<double, 3>> x;
  for (int n = 0; n < 8; ++n) x.push_back({crooked[3 * n], crooked[3 * n + 1], crooked[3 * n + 2]});
  ElementRun run(program);
  run.add(x, {{"diffusivity", 2.0}, {"rate", 1.0}});
  run.add(x, {{"diffusivity", 2.0}, {"rate", 0.0}});
  const Eigen::MatrixXd difference = run.tangent(0) - run.tangent(1), mass = run.mass(MassKind::consistent, 0);
  EXPECT_LT((difference - mass).norm(), 1e-13 * mass.norm());
}

TEST(GeneralElement, ConvectionIsStoredWhole) {
  const NativeProgram<PointElement<ConvectionDiffusion, Hex8>> program("convection");
  EXPECT_FALSE(program.symmetric());
  EXPECT_EQ(program.matrix_entries(), 64);
  ElementRun run(program);
  run.add({{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}},
          {{"diffusivity", 1e-30}, {"bx", 1.0}, {"by", 0.0}, {"bz", 0.0}});
  const Eigen::MatrixXd k = run.tangent();
  // ∫ N_a ∂N_b/∂x over the unit cube: (∓1/2)(1/3)(1/3) for a and b on one edge along x, and +1/2 for b on the far side.
  EXPECT_NEAR(k(0, 0), -0.5 / 9, 1e-15);
  EXPECT_NEAR(k(0, 1), 0.5 / 9, 1e-15);
  EXPECT_NEAR(k(1, 0), -0.5 / 9, 1e-15);
  EXPECT_NEAR(k.rowwise().sum().norm(), 0, 1e-15);
}

TEST(GeneralElement, UniaxialPlasticityFollowsTheClosedForm) {
  // A cube stretched along x whose sides are free: found by giving the lateral strain that leaves no lateral stress.
  const double young = 200, poisson = 0.3, yield = 1, hardening = 20;
  const double mu = young / (2 * (1 + poisson)), lambda = young * poisson / ((1 + poisson) * (1 - 2 * poisson));
  const NativeProgram<PointElement<J2Plasticity, Hex8>> program("j2");
  const std::vector<std::array<double, 3>> cube = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0},
                                                   {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}};
  ASSERT_EQ(program.history_count(), 56);
  const int lanes = program.lanes();
  std::vector<double> history(static_cast<std::size_t>(56) * lanes, 0.0), next(history.size());
  double plastic = 0, equivalent = 0;  // of the closed form
  for (const double strain : {0.004, 0.010, 0.002, -0.012, 0.015}) {
    ElementRun run(program);
    run.add(cube, {{"lambda", lambda}, {"mu", mu}, {"yield", yield}, {"hardening", hardening}});
    // In uniaxial stress plastic strain keeps the volume, so the lateral strain is −ν σ/E − ε_p / 2.
    const double trial = young * (strain - plastic), limit = yield + hardening * equivalent;
    const double flow = std::max(0.0, std::abs(trial) - limit) / (young + hardening);
    plastic += trial > 0 ? flow : -flow;
    equivalent += flow;
    const double stress = young * (strain - plastic), lateral = -poisson * stress / young - plastic / 2;
    for (int a = 0; a < 8; ++a) {
      run.unknowns(0)[3 * a] = strain * cube[a][0];
      run.unknowns(0)[3 * a + 1] = lateral * cube[a][1];
      run.unknowns(0)[3 * a + 2] = lateral * cube[a][2];
    }
    run.set_history(history);
    EXPECT_NEAR(run.recovered("sxx"), stress, 1e-12);
    EXPECT_NEAR(run.recovered("syy"), 0, 1e-12);
    EXPECT_NEAR(run.recovered("peeq"), equivalent, 1e-14);
    EXPECT_NEAR(run.recovered("pyy"), -plastic / 2, 1e-14);
    const ElementView view = run.view();
    ASSERT_EQ(program.history(view, 0, 1, next.data()).fault, ElementFault::none);
    history = next;
  }
  EXPECT_GT(equivalent, 0.02);
}

/// A law whose memory has the name of a component of its flux.
struct Confusing : Relaxing {
  static constexpr const char* history[] = {"qx", "b", "c", "d", "e", "f"};
};

TEST(GeneralElement, HistoryMustNotHaveTheNameOfAnotherResult) {
  const NativeProgram<PointElement<Confusing, Hex8>> confusing("confusing");
  EXPECT_NE(confusing.defect().find("'qx'"), std::string::npos) << confusing.defect();
  const NativeProgram<PointElement<Relaxing, Hex8>> clear("clear");
  EXPECT_EQ(clear.defect(), "");
}

TEST(GeneralElement, BodyLoadsActOnTheirUnknowns) {
  const NativeProgram<PointElement<ThermoElastic, Hex8>> program("thermo");
  ASSERT_TRUE(program.takes_body_load());
  ElementRun run(program);
  run.add({{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}},
          {{"lambda", 1.0}, {"mu", 1.0}, {"conductivity", 1.0}, {"rho", 2.0}, {"capacity", 5.0}});
  BodyLoad load;
  load.acceleration[2] = -9;
  load.source = 4;
  const Eigen::VectorXd f = run.body_load(load);
  EXPECT_NEAR(f[2], -9 * 2 / 8.0, 1e-14);
  EXPECT_NEAR(f[3], 4 / 8.0, 1e-14);
  EXPECT_EQ(f[0], 0);
  const Eigen::MatrixXd mass = run.mass(MassKind::consistent), lumped = run.mass(MassKind::lumped);
  EXPECT_NEAR(mass(0, 0), 2 / 27.0, 1e-14);
  EXPECT_NEAR(mass(3, 3), 5 / 27.0, 1e-14);
  EXPECT_NEAR(lumped(2, 2), 2 / 8.0, 1e-14);
  EXPECT_NEAR(lumped(3, 3), 5 / 8.0, 1e-14);
}

}  // namespace
}  // namespace voussoir
