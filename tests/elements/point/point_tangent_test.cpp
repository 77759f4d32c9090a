#include <gtest/gtest.h>

#include "elements/point/point_samples.hpp"

// Tangents and residuals of point elements. Facts that hold for every stock point element, whatever its shape, physics
// and formulation.

namespace voussoir {
namespace {

using namespace testing::point;

TEST(PointElement, RigidMotionsAndNoOthersAreFree) {
  for (const ElementType* type : types(isotropic, orthotropic, conduction)) {
    SCOPED_TRACE(type->name());
    const Nodes x = crooked(*type);
    ElementRun run(type->program());
    run.add(x, parameters(dimension(*type) == 3));
    const Eigen::MatrixXd k = run.tangent();
    ASSERT_EQ(run.status.fault, ElementFault::none);
    const int c = type->program().components(), n = type->program().dofs(), dim = dimension(*type);
    std::vector<Eigen::VectorXd> motions;
    for (int i = 0; i < c; ++i) {
      if (c > 1 && ring(*type) && i == 0) continue;
      Eigen::VectorXd u = Eigen::VectorXd::Zero(n);
      for (int a = 0; a < n / c; ++a) u[a * c + i] = 1;
      motions.push_back(u);
    }
    if (c > 1 && !ring(*type))
      for (int i = 0; i < dim; ++i)
        for (int j = i + 1; j < dim; ++j) {
          Eigen::VectorXd u = Eigen::VectorXd::Zero(n);
          for (int a = 0; a < n / c; ++a) u[a * c + i] = -x[a][j], u[a * c + j] = x[a][i];
          motions.push_back(u);
        }
    for (const Eigen::VectorXd& u : motions)
      EXPECT_LT((k * u).cwiseAbs().maxCoeff(), 1e-12 * k.cwiseAbs().maxCoeff() * u.cwiseAbs().maxCoeff());
    const Eigen::VectorXd eigenvalues = testing::symmetric_eigenvalues(k);
    int free = 0;
    for (int i = 0; i < n; ++i) free += std::abs(eigenvalues[i]) < 1e-10 * eigenvalues[n - 1] ? 1 : 0;
    int expected = static_cast<int>(motions.size());
    // Reduced quadratic shapes have well-known motions without strain at their points, which a mesh suppresses: six of
    // a hexahedron (60 unknowns, 48 strains), one of a plane quadrilateral (16 unknowns, 12 strains). The two points on
    // the axis of a wedge miss one too. Conduction has strains enough.
    if (c > 1) {
      if (has(type->name(), "hex20.reduced")) expected += 6;
      if (has(type->name(), "quad8.reduced") && !ring(*type)) expected += 1;
      if (has(type->name(), "wedge6.reduced")) expected += 1;
    }
    EXPECT_EQ(free, expected);
    EXPECT_GT(eigenvalues[0], -1e-12 * eigenvalues[n - 1]);
  }
}

TEST(PointElement, AnElementDoesNotDependOnItsNeighboursInTheBatch) {
  for (const ElementType* type : types(isotropic, orthotropic, conduction)) {
    SCOPED_TRACE(type->name());
    ElementRun together(type->program());
    const int n = type->program().lanes() + 1;
    std::vector<Eigen::MatrixXd> alone;
    for (int i = 0; i < n; ++i) {
      Parameters p = parameters(dimension(*type) == 3);
      p["young"] += i;
      const Nodes x = crooked(*type, 10 + i);
      together.add(x, p);
      ElementRun one(type->program());
      one.add(x, p);
      alone.push_back(one.tangent());
    }
    for (int i = 0; i < n; ++i) EXPECT_EQ(together.tangent(i), alone[i]);
  }
}

TEST(PointElement, ResidualIsTangentTimesUnknownsPlusThermalForce) {
  for (const ElementType* type : types(isotropic, orthotropic)) {
    SCOPED_TRACE(type->name());
    const Nodes x = crooked(*type);
    ElementRun run(type->program());
    run.add(x, parameters(dimension(*type) == 3));
    std::vector<double> temperature;
    for (const auto& point : x) temperature.push_back(20 + 30 * point[0] - 40 * point[1] + 25 * point[2]);
    run.set_temperatures(temperature, 20);
    const Eigen::VectorXd thermal = run.residual();
    const Eigen::MatrixXd k = run.tangent();
    Eigen::VectorXd u(thermal.size());
    for (int i = 0; i < u.size(); ++i) run.unknowns(0)[i] = u[i] = 1e-3 * std::sin(3.0 * i + 1);
    const Eigen::VectorXd r = run.residual();
    EXPECT_LT((r - thermal - k * u).cwiseAbs().maxCoeff(), 1e-12 * r.cwiseAbs().maxCoeff());
    // A thermal force is in balance: it does no work on a translation.
    const int c = type->program().components();
    for (int i = ring(*type) ? 1 : 0; i < c; ++i) {
      double sum = 0;
      for (int a = 0; a < static_cast<int>(x.size()); ++a) sum += thermal[a * c + i];
      EXPECT_NEAR(sum, 0, 1e-12 * thermal.cwiseAbs().maxCoeff());
    }
  }
}

TEST(PointElement, ElementsInsideOutAreFound) {
  for (const ElementType* type : types(isotropic, orthotropic, conduction)) {
    SCOPED_TRACE(type->name());
    const int dim = dimension(*type);
    Nodes x = crooked(*type), mirrored = x;
    for (auto& point : mirrored) point[dim - 1] = -point[dim - 1];
    ElementRun run(type->program());
    for (int i = 0; i < 3; ++i) run.add(i == 1 ? mirrored : x, parameters(dim == 3));
    const auto expect_fault = [&] {
      EXPECT_EQ(run.status.fault, ElementFault::inverted);
      EXPECT_EQ(run.status.element, 1);
    };
    run.tangent(), expect_fault();
    run.residual(), expect_fault();
    run.mass(MassKind::consistent), expect_fault();
    run.mass(MassKind::lumped), expect_fault();
    run.recovered("x"), expect_fault();
    run.body_load({}), expect_fault();
  }
}

TEST(PointElement, ParametersThatMakeNoSenseAreFound) {
  const std::vector<std::pair<std::string, Parameters>> mistakes = {{"solid.hex8", {{"young", 0}}},
                                                                    {"solid.tet4", {{"poisson", 0.5}}},
                                                                    {"solid.tet4", {{"poisson", -1}}},
                                                                    {"solid.hex20", {{"density", -1}}},
                                                                    {"plane_stress.quad4", {{"thickness", 0}}},
                                                                    {"heat.hex8", {{"conductivity", 0}}},
                                                                    {"orthotropic_solid.hex8", {{"nu12", 8}}},
                                                                    {"orthotropic_solid.hex8", {{"G23", 0}}},
                                                                    {"orthotropic_heat.tet4", {{"axis11", 2}}},
                                                                    {"orthotropic_solid.tet4", {{"axis23", 0.9}}}};
  for (const auto& [name, wrong] : mistakes) {
    SCOPED_TRACE(name + " " + wrong.begin()->first);
    const ElementType& type = ElementLibrary::instance().find(name);
    Parameters p = parameters(dimension(type) == 3);
    ElementRun run(type.program());
    run.add(crooked(type), p);
    run.tangent();
    EXPECT_EQ(run.status.fault, ElementFault::none);
    p[wrong.begin()->first] = wrong.begin()->second;
    run.add(crooked(type), p);
    run.tangent();
    EXPECT_EQ(run.status.fault, ElementFault::bad_parameter);
    EXPECT_EQ(run.status.element, 1);
  }
}

}  // namespace
}  // namespace voussoir
