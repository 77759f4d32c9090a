#include <gtest/gtest.h>

#include "elements/point/point_samples.hpp"

// Thermal strain and parameters that depend on temperature. Facts that hold for every stock point element, whatever its
// shape, physics and formulation.

namespace voussoir {
namespace {

using namespace testing::point;

TEST(PointElement, FreeExpansionIsWithoutStress) {
  const double degrees = 80;
  for (const ElementType* type : types(isotropic)) {
    SCOPED_TRACE(type->name());
    const bool plane_strain = has(type->name(), "plane_strain");
    const Nodes x = crooked(*type);
    ElementRun run(type->program());
    run.add(x, parameters(true));
    run.set_temperature(20 + degrees, 20);
    const double stretch = expansion * degrees * (plane_strain ? 1 + poisson : 1);
    displace(run, *type, x, stretch * Eigen::Matrix3d::Identity());
    const double scale = young * expansion * degrees;
    EXPECT_LT(run.residual().cwiseAbs().maxCoeff(), 1e-11 * scale);
    for (int q = 0; q < type->program().points(); ++q) {
      Eigen::Matrix3d stress = tensor(run, "s", q);
      if (plane_strain) stress(2, 2) += scale;  // held across the plane: −E α ΔT
      EXPECT_LT(stress.cwiseAbs().maxCoeff(), 1e-11 * scale);
      EXPECT_NEAR(run.recovered("energy", q), plane_strain ? 0.5 * scale * expansion * degrees : 0, 1e-12 * scale);
      if (has(type->name(), "plane_stress")) {
        EXPECT_NEAR(run.recovered("ezz", q), expansion * degrees, 1e-15);
      }
    }
  }
}

TEST(PointElement, TablesOverTemperatureAreLinearBetweenRows) {
  // Two rows 30 % below and above, temperature half way: as without a table, though by another path.
  for (const ElementType* type : types(isotropic, orthotropic, conduction)) {
    SCOPED_TRACE(type->name());
    const Nodes x = crooked(*type);
    const Parameters p = parameters(dimension(*type) == 3);
    ElementRun plain(type->program()), table(type->program());
    plain.add(x, p);
    table.add(x, p);
    std::vector<double> rows;
    for (int row = 0; row < 2; ++row) {
      rows.push_back(row == 0 ? 100 : 300);
      for (const std::string& name : type->program().parameter_names()) {
        const bool varies = has(name, "young") || name == "E1" || has(name, "conductivity") || name == "k2";
        rows.push_back(p.at(name) * (varies ? (row == 0 ? 0.7 : 1.3) : 1.0));
      }
    }
    table.set_table(rows, 2);
    plain.set_temperature(200, 20);
    table.set_temperature(200, 20);
    for (int i = 0; i < type->program().dofs(); ++i)
      plain.unknowns(0)[i] = table.unknowns(0)[i] = 1e-3 * std::sin(2.0 * i);
    const Eigen::MatrixXd k = plain.tangent();
    EXPECT_LT((table.tangent() - k).cwiseAbs().maxCoeff(), 1e-12 * k.cwiseAbs().maxCoeff());
    const Eigen::VectorXd r = plain.residual();
    EXPECT_LT((table.residual() - r).cwiseAbs().maxCoeff(), 1e-12 * r.cwiseAbs().maxCoeff());
    // Beyond the ends the values are held.
    table.set_temperature(900, 20);
    if (!has(type->name(), "orthotropic")) {
      EXPECT_LT((table.tangent() - 1.3 * k).cwiseAbs().maxCoeff(), 1e-12 * k.cwiseAbs().maxCoeff());
    }
  }
}

TEST(PointElement, StressFollowsTheModulusAtTheTemperatureOfThePoint) {
  const ElementType& type = ElementLibrary::instance().find("solid.tet10");
  const Nodes x = crooked(type);
  ElementRun run(type.program());
  run.add(x, parameters(true));
  // E = T, no expansion; T = 50 + 10 x.
  run.set_table({0, 1e-9, 0.0, 1.0, 0.0, 1000, 1000, 0.0, 1.0, 0.0}, 2);
  std::vector<double> temperature;
  for (const auto& point : x) temperature.push_back(50 + 10 * point[0]);
  run.set_temperatures(temperature, 20);
  Eigen::Matrix3d g = Eigen::Matrix3d::Zero();
  g(0, 0) = 0.01;
  displace(run, type, x, g);
  for (int q = 0; q < 4; ++q) EXPECT_NEAR(run.recovered("sxx", q), 0.01 * (50 + 10 * run.recovered("x", q)), 1e-9);
}

/// Stresses sxx of a cube [−1, 1]³ (a square) that is held everywhere, where one node is warmer by one degree and
/// E α = 1, ν = 0: the temperature that each point takes, with the sign turned.
std::vector<double> temperatures_taken(const std::string& name, int warm_node) {
  const ElementType& type = ElementLibrary::instance().find(name);
  Nodes x;
  for (const auto& r : shape_topology(type.shape()).reference_nodes) x.push_back({r[0], r[1], r[2]});
  Parameters p = parameters(dimension(type) == 3);
  p["young"] = 1;
  p["poisson"] = 0;
  p["expansion"] = 1;
  ElementRun run(type.program());
  run.add(x, p);
  std::vector<double> temperature(x.size(), 0.0);
  temperature[warm_node] = 1;
  run.set_temperatures(temperature, 0);
  std::vector<double> taken;
  for (int q = 0; q < type.program().points(); ++q) taken.push_back(-run.recovered("sxx", q));
  return taken;
}

TEST(PointElement, TemperaturesAreOfTheOrderOfStrains) {
  // Numbers of C3D8, C3D20R and C3D20 of CalculiX 2.20, one element, the same model.
  for (double t : temperatures_taken("solid.hex8.full", 0)) EXPECT_NEAR(t, 0.125, 1e-14);
  const std::vector<double> reduced = temperatures_taken("solid.hex20.reduced", 0);
  EXPECT_NEAR(reduced[0], -0.1314, 5e-5);
  EXPECT_NEAR(reduced[1], -0.1870, 5e-5);
  EXPECT_NEAR(reduced[7], -0.0352, 5e-5);
  const std::vector<double> corner = temperatures_taken("solid.hex20", 0),
                            middle = temperatures_taken("solid.hex20", 19);
  const double at_corner[] = {-0.0887, -0.1645, -0.2404, -0.1645, -0.1573, -0.15, -0.2404, -0.15, -0.0596};
  const double at_middle[] = {0.0667, 0.0376, 0.0085, 0.2958, 0.1667, 0.0376, 0.5249, 0.2958, 0.0667};
  for (int q = 0; q < 9; ++q) {
    EXPECT_NEAR(corner[q], at_corner[q], 6e-5) << q;
    EXPECT_NEAR(middle[q], at_middle[q], 6e-5) << q;
  }
  // Incompatible modes carry linear strains, and so linear temperatures.
  EXPECT_NE(temperatures_taken("solid.hex8", 0)[0], temperatures_taken("solid.hex8", 0)[7]);
}

}  // namespace
}  // namespace voussoir
