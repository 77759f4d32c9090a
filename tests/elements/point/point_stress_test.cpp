#include <gtest/gtest.h>

#include "elements/point/point_samples.hpp"

// What point elements recover: strain, stress and flux. Facts that hold for every stock point element, whatever its
// shape, physics and formulation.

namespace voussoir {
namespace {

using namespace testing::point;

TEST(PointElement, LinearFieldGivesConstantStrainAndHookesStress) {
  for (const ElementType* type : types(isotropic)) {
    SCOPED_TRACE(type->name());
    const Nodes x = crooked(*type);
    ElementRun run(type->program());
    run.add(x, parameters(true));
    const Eigen::Matrix3d g = linear_field(*type);
    displace(run, *type, x, g);
    Eigen::Matrix3d strain = body_gradient(*type, g);
    strain = (0.5 * (strain + strain.transpose())).eval();
    if (has(type->name(), "plane_stress")) strain(2, 2) = -poisson / (1 - poisson) * (strain(0, 0) + strain(1, 1));
    const double lambda = young * poisson / ((1 + poisson) * (1 - 2 * poisson)), mu = young / (2 * (1 + poisson));
    const Eigen::Matrix3d stress = lambda * strain.trace() * Eigen::Matrix3d::Identity() + 2 * mu * strain;
    double volume = 0;
    for (int q = 0; q < type->program().points(); ++q) {
      EXPECT_LT((tensor(run, "e", q) - strain).cwiseAbs().maxCoeff(), 1e-13);
      EXPECT_LT((tensor(run, "s", q) - stress).cwiseAbs().maxCoeff(), 1e-10);
      EXPECT_NEAR(run.recovered("energy", q), 0.5 * stress.cwiseProduct(strain).sum(), 1e-10);
      volume += run.recovered("volume", q);
    }
    // The force does the work of that constant stress.
    const Eigen::VectorXd r = run.residual();
    const Eigen::VectorXd u = Eigen::Map<Eigen::VectorXd>(run.unknowns(0), r.size());
    EXPECT_NEAR(r.dot(u), volume * stress.cwiseProduct(strain).sum(), 1e-10 * std::abs(r.dot(u)));
  }
}

TEST(PointElement, OrthotropicStressFollowsTheComplianceInTurnedAxes) {
  for (const ElementType* type : types(orthotropic)) {
    SCOPED_TRACE(type->name());
    const bool space = dimension(*type) == 3;
    const Nodes x = crooked(*type);
    ElementRun run(type->program());
    const Parameters p = parameters(space);
    run.add(x, p);
    run.set_temperature(120, 20);
    displace(run, *type, x, linear_field(*type));
    // Turn the stress into the material's axes, and compare strain with compliance times stress plus expansion.
    const Eigen::Matrix3d a = material_axes(space);
    for (int q = 0; q < type->program().points(); ++q) {
      const Eigen::Matrix3d s = a * tensor(run, "s", q) * a.transpose(), e = a * tensor(run, "e", q) * a.transpose();
      const auto v = [&p](const char* name) { return p.at(name); };
      Eigen::Matrix3d expected;
      expected(0, 0) = s(0, 0) / v("E1") - v("nu12") / v("E1") * s(1, 1) - v("nu13") / v("E1") * s(2, 2);
      expected(1, 1) = -v("nu12") / v("E1") * s(0, 0) + s(1, 1) / v("E2") - v("nu23") / v("E2") * s(2, 2);
      expected(2, 2) = -v("nu13") / v("E1") * s(0, 0) - v("nu23") / v("E2") * s(1, 1) + s(2, 2) / v("E3");
      expected(0, 1) = expected(1, 0) = s(0, 1) / (2 * v("G12"));
      expected(0, 2) = expected(2, 0) = s(0, 2) / (2 * v("G13"));
      expected(1, 2) = expected(2, 1) = s(1, 2) / (2 * v("G23"));
      Eigen::Matrix3d elastic = expected;
      for (int i = 0; i < 3; ++i) expected(i, i) += 100 * v(("expansion" + std::to_string(i + 1)).c_str());
      EXPECT_LT((e - expected).cwiseAbs().maxCoeff(), 1e-13);
      EXPECT_NEAR(run.recovered("energy", q), 0.5 * s.cwiseProduct(elastic).sum(), 1e-11);
      if (has(type->name(), "plane_stress")) {
        EXPECT_EQ(s(2, 2), 0);
      }
    }
  }
}

TEST(PointElement, OrthotropicWithEqualModuliIsIsotropic) {
  for (const ElementType* type : types(orthotropic)) {
    SCOPED_TRACE(type->name());
    const Nodes x = crooked(*type);
    Parameters p = parameters(dimension(*type) == 3);
    for (const char* name : {"E1", "E2", "E3"}) p[name] = young;
    for (const char* name : {"nu12", "nu13", "nu23"}) p[name] = poisson;
    for (const char* name : {"G12", "G13", "G23"}) p[name] = young / (2 * (1 + poisson));
    for (const char* name : {"expansion1", "expansion2", "expansion3"}) p[name] = expansion;
    ElementRun run(type->program()), plain(type->name().substr(std::string("orthotropic_").size()));
    run.add(x, p);
    plain.add(x, p);
    run.set_temperature(70, 20);
    plain.set_temperature(70, 20);
    const Eigen::MatrixXd k = plain.tangent();
    EXPECT_LT((run.tangent() - k).cwiseAbs().maxCoeff(), 1e-12 * k.cwiseAbs().maxCoeff());
    const Eigen::VectorXd r = plain.residual();
    EXPECT_LT((run.residual() - r).cwiseAbs().maxCoeff(), 1e-12 * r.cwiseAbs().maxCoeff());
  }
}

TEST(PointElement, ExtrapolationCarriesLinearFieldsExactly) {
  for (const ElementType* type : types(isotropic, conduction)) {
    SCOPED_TRACE(type->name());
    const ElementProgram& program = type->program();
    Eigen::Matrix3d a;
    a << 1.1, 0.2, -0.1, 0.1, 0.9, 0.15, -0.05, 0.1, 1.2;
    const Nodes x = straight(*type, a);
    ElementRun run(program);
    run.add(x, parameters(true));
    const auto matrix = program.extrapolation();
    ASSERT_EQ(static_cast<int>(matrix.size()), program.nodes() * program.points());
    for (int node = 0; node < program.nodes(); ++node) {
      double one = 0, linear = 0;
      for (int q = 0; q < program.points(); ++q) {
        const double w = matrix[node * program.points() + q];
        one += w;
        linear += w * (2 + run.recovered("x", q) - 3 * run.recovered("y", q) + 0.5 * run.recovered("z", q));
      }
      EXPECT_NEAR(one, 1, 1e-14);
      if (program.points() > 2) {  // two points of a wedge know of its axis alone
        EXPECT_NEAR(linear, 2 + x[node][0] - 3 * x[node][1] + 0.5 * x[node][2], 1e-12);
      }
    }
  }
}

TEST(PointElement, HeatFlowsDownALinearTemperature) {
  for (const ElementType* type : types(conduction)) {
    SCOPED_TRACE(type->name());
    const bool space = dimension(*type) == 3;
    const Nodes x = crooked(*type);
    ElementRun run(type->program());
    run.add(x, parameters(space));
    const Eigen::Vector3d gradient(3, ring(*type) ? 2.0 : -2.0, space ? 0.5 : 0.0);
    for (std::size_t a = 0; a < x.size(); ++a) run.unknowns(0)[a] = 5 + gradient.dot(Eigen::Vector3d(x[a].data()));
    Eigen::Matrix3d k = 3 * Eigen::Matrix3d::Identity();
    if (has(type->name(), "orthotropic"))
      k = material_axes(space).transpose() * Eigen::Vector3d(5, 2, 1).asDiagonal() * material_axes(space);
    const Eigen::Vector3d q = -k * gradient;
    double volume = 0;
    for (int i = 0; i < type->program().points(); ++i) {
      EXPECT_NEAR(run.recovered("gx", i), gradient[0], 1e-12);
      EXPECT_NEAR(run.recovered("gy", i), gradient[1], 1e-12);
      EXPECT_NEAR(run.recovered("gz", i), gradient[2], 1e-12);
      EXPECT_NEAR(run.recovered("qx", i), q[0], 1e-12);
      EXPECT_NEAR(run.recovered("qy", i), q[1], 1e-12);
      EXPECT_NEAR(run.recovered("qz", i), q[2], 1e-12);
      volume += run.recovered("volume", i);
    }
    const Eigen::VectorXd r = run.residual();
    EXPECT_NEAR(r.sum(), 0, 1e-11);
    const Eigen::VectorXd t = Eigen::Map<Eigen::VectorXd>(run.unknowns(0), r.size());
    EXPECT_NEAR(r.dot(t), -q.dot(gradient) * volume, 1e-11 * std::abs(r.dot(t)));
  }
}

}  // namespace
}  // namespace voussoir
