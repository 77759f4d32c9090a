#include <gtest/gtest.h>
#include <voussoir/framework/domain/shape_topology.hpp>

#include <Eigen/Geometry>
#include <cmath>
#include <numbers>

#include "element_run.hpp"

namespace voussoir {
namespace {

using testing::ElementRun;
using Points = std::vector<std::array<double, 3>>;

/// A smooth map that bends every edge and face of a reference cell.
std::array<double, 3> bend(const std::array<double, 3>& x) {
  return {x[0] + 0.11 * x[1] * x[2] + 0.07 * x[1] * x[1], 1.2 * x[1] - 0.09 * x[0] * x[2] + 0.1 * x[2],
          0.9 * x[2] + 0.08 * x[0] * x[1] - 0.06 * x[0] * x[0]};
}

class ClosedSurface : public ::testing::TestWithParam<const char*> {};

TEST_P(ClosedSurface, PressureAllAroundABentBodyIsInEquilibriumAndPushesInwards) {
  const ShapeTopology& body = shape_topology(GetParam());
  Points x;
  for (const auto& reference : body.reference_nodes) x.push_back(bend(reference));
  Eigen::Vector3d force = Eigen::Vector3d::Zero(), moment = Eigen::Vector3d::Zero();
  double work = 0, size = 0;
  for (const ShapeFace& face : body.faces) {
    ElementRun run("pressure." + face.shape);
    Points corners;
    for (int node : face.nodes) corners.push_back(x[node]);
    run.add(corners, {{"pressure", 3.0}});
    const Eigen::VectorXd f = -run.residual();
    ASSERT_EQ(run.status.fault, ElementFault::none);
    for (std::size_t a = 0; a < corners.size(); ++a) {
      const Eigen::Vector3d at(corners[a].data()), on = f.segment<3>(3 * a);
      force += on;
      moment += at.cross(on);
      work += at.dot(on);
      size += on.norm();
    }
  }
  EXPECT_LT(force.norm(), 1e-13 * size);
  EXPECT_LT(moment.norm(), 1e-13 * size);
  // ∮ x · (−p n) dA = −3 p V: negative, so the pressure pushes inwards.
  EXPECT_LT(work, 0);
}

INSTANTIATE_TEST_SUITE_P(Bodies, ClosedSurface,
                         ::testing::Values("hex8", "hex20", "tet4", "tet10", "wedge6", "wedge15", "wedge18", "hex27"));

TEST(Pressure, WorksWithTheVolumeOfAParallelepiped) {
  // ∮ x · n dA = 3 V by the divergence theorem.
  const ShapeTopology& body = shape_topology("hex20");
  Eigen::Matrix3d map;
  map << 1, 0.2, 0.1, -0.3, 1.5, 0.2, 0.1, 0.4, 0.8;
  double work = 0;
  for (const ShapeFace& face : body.faces) {
    ElementRun run("pressure.quad8");
    Points corners;
    for (int node : face.nodes) {
      const Eigen::Vector3d at = map * Eigen::Vector3d(body.reference_nodes[node].data());
      corners.push_back({at[0], at[1], at[2]});
    }
    run.add(corners, {{"pressure", 2.0}});
    const Eigen::VectorXd r = run.residual();
    for (std::size_t a = 0; a < corners.size(); ++a)
      work += r.segment<3>(3 * a).dot(Eigen::Vector3d(corners[a].data()));
  }
  EXPECT_NEAR(work, 2.0 * 3 * 8 * map.determinant(), 1e-11);
}

TEST(Pressure, NodalForcesOfFlatFaces) {
  // Consistent forces of a unit pressure on flat faces, in fractions of the whole.
  const Points square = {{0, 0, 0}, {2, 0, 0}, {2, 3, 0}, {0, 3, 0}, {1, 0, 0}, {2, 1.5, 0}, {1, 3, 0}, {0, 1.5, 0}};
  const Points triangle = {{0, 0, 0}, {2, 0, 0}, {0, 3, 0}, {1, 0, 0}, {1, 1.5, 0}, {0, 1.5, 0}};
  struct Case {
    const char* type;
    Points x;
    double area, corner, middle;
  };
  const Case cases[] = {{"pressure.quad4", Points(square.begin(), square.begin() + 4), 6, 0.25, 0},
                        {"pressure.quad8", square, 6, -1.0 / 12, 1.0 / 3},
                        {"pressure.tri3", Points(triangle.begin(), triangle.begin() + 3), 3, 1.0 / 3, 0},
                        {"pressure.tri6", triangle, 3, 0, 1.0 / 3}};
  for (const Case& c : cases) {
    ElementRun run(c.type);
    run.add(c.x, {{"pressure", 5.0}});
    const Eigen::VectorXd f = -run.residual();
    const std::size_t corners = std::string(c.type).find("quad") != std::string::npos ? 4 : 3;
    for (std::size_t a = 0; a < c.x.size(); ++a) {
      EXPECT_NEAR(f[3 * a], 0, 1e-14) << c.type;
      EXPECT_NEAR(f[3 * a + 1], 0, 1e-14) << c.type;
      EXPECT_NEAR(f[3 * a + 2], -5 * c.area * (a < corners ? c.corner : c.middle), 1e-13) << c.type;
    }
  }
}

TEST(Pressure, NodalForcesOfANineNodeFaceAreThoseOfSimpsonsRule) {
  ElementRun run("pressure.quad9");
  run.add({{0, 0, 0}, {2, 0, 0}, {2, 3, 0}, {0, 3, 0}, {1, 0, 0}, {2, 1.5, 0}, {1, 3, 0}, {0, 1.5, 0}, {1, 1.5, 0}},
          {{"pressure", 5.0}});
  const Eigen::VectorXd f = -run.residual();
  for (int a = 0; a < 9; ++a) EXPECT_NEAR(f[3 * a + 2], -30 * (a < 4 ? 1 : a < 8 ? 4 : 16) / 36.0, 1e-13) << a;
}

TEST(Pressure, MayDifferFromElementToElement) {
  ElementRun run("pressure.quad4");
  const Points x = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}};
  for (int e = 0; e < 6; ++e) run.add(x, {{"pressure", 1.0 + e}});
  for (int e = 0; e < 6; ++e) EXPECT_NEAR(run.residual(e)[2], 0.25 * (1 + e), 1e-15);
}

TEST(Pressure, OnALineOfAPlaneBodyPushesToItsLeft) {
  // The lower edge of a body, walked counter-clockwise: outward is down, so the pressure pushes up.
  for (const char* type : {"plane_pressure.line2", "plane_pressure.line3"}) {
    ElementRun run(type);
    Points x = {{1, 0, 0}, {4, 0, 0}};
    if (std::string(type).back() == '3') x.push_back({2.5, 0, 0});
    run.add(x, {{"pressure", 10}, {"thickness", 0.2}});
    const Eigen::VectorXd f = -run.residual();
    double fx = 0, fy = 0;
    for (Eigen::Index a = 0; a < f.size() / 2; ++a) fx += f[2 * a], fy += f[2 * a + 1];
    EXPECT_NEAR(fx, 0, 1e-14);
    EXPECT_NEAR(fy, 10 * 0.2 * 3, 1e-13);
  }
}

TEST(Pressure, InAxisymmetricPipesAndOnDiscs) {
  for (const std::string shape : {"line2", "line3"}) {
    // The bore of a pipe, r = 2 from z = 5 down to z = 1: outward is towards the axis, the pressure pushes outwards.
    ElementRun bore("axisymmetric_pressure." + shape);
    Points x = {{2, 5, 0}, {2, 1, 0}};
    if (shape == "line3") x.push_back({2, 3, 0});
    bore.add(x, {{"pressure", 3}});
    const Eigen::VectorXd f = -bore.residual();
    double radial = 0;
    for (Eigen::Index a = 0; a < f.size() / 2; ++a) radial += f[2 * a];
    EXPECT_NEAR(radial, 3 * 2 * std::numbers::pi * 2 * 4, 1e-11);
    // A disc from the axis to r = 2, seen from below: area 4π.
    ElementRun disc("axisymmetric_pressure." + shape);
    Points y = {{0, 0, 0}, {2, 0, 0}};
    if (shape == "line3") y.push_back({1, 0, 0});
    disc.add(y, {{"pressure", 3}});
    const Eigen::VectorXd g = -disc.residual();
    EXPECT_EQ(disc.status.fault, ElementFault::none);
    double axial = 0;
    for (Eigen::Index a = 0; a < g.size() / 2; ++a) axial += g[2 * a + 1];
    EXPECT_NEAR(axial, 3 * 4 * std::numbers::pi, 1e-11);
  }
}

TEST(Traction, SumsToForcePerAreaTimesArea) {
  ElementRun run("traction.quad4");
  // In the plane x + z = 1; sides √2 and 2.
  run.add({{1, 0, 0}, {1, 2, 0}, {0, 2, 1}, {0, 0, 1}}, {{"tx", 1}, {"ty", -2}, {"tz", 3}});
  const Eigen::VectorXd f = -run.residual();
  Eigen::Vector3d total = Eigen::Vector3d::Zero();
  for (int a = 0; a < 4; ++a) total += f.segment<3>(3 * a);
  const double area = 2 * std::sqrt(2.0);
  EXPECT_LT((total - area * Eigen::Vector3d(1, -2, 3)).norm(), 1e-13);

  ElementRun plane("plane_traction.line3");
  plane.add({{0, 0, 0}, {3, 4, 0}, {1.5, 2, 0}}, {{"tx", 2}, {"ty", 1}, {"thickness", 0.5}});
  const Eigen::VectorXd g = -plane.residual();
  const double whole = 5 * 0.5;  // Simpson's fractions 1/6, 1/6, 4/6
  EXPECT_NEAR(g[0], 2 * whole / 6, 1e-14);
  EXPECT_NEAR(g[4], 2 * whole * 4 / 6, 1e-14);
  EXPECT_NEAR(g[5], 1 * whole * 4 / 6, 1e-14);

  ElementRun ring("axisymmetric_traction.line2");
  ring.add({{1, 0, 0}, {3, 0, 0}}, {{"tx", 0}, {"ty", 7}});
  const Eigen::VectorXd h = -ring.residual();
  EXPECT_NEAR(h[1] + h[3], 7 * std::numbers::pi * (9 - 1), 1e-11);
}

TEST(HeatLoads, FluxAndConvectionOnFaces) {
  const Points x = {{0, 0, 0}, {2, 0, 0}, {0, 3, 0}};
  ElementRun flux("flux.tri3");
  flux.add(x, {{"flux", 4}});
  EXPECT_NEAR(flux.residual().sum(), -12, 1e-13);

  ElementRun film("convection.tri3");
  film.add(x, {{"film", 10}, {"sink", 20}});
  for (int a = 0; a < 3; ++a) film.unknowns(0)[a] = 50;
  EXPECT_NEAR(film.residual().sum(), 10 * (50 - 20) * 3, 1e-11);
  const Eigen::MatrixXd k = film.tangent();
  // film A / 12 · (2, 1, 1; …), the mass matrix of a triangle.
  EXPECT_NEAR(k(0, 0), 10 * 3 / 6.0, 1e-13);
  EXPECT_NEAR(k(0, 1), 10 * 3 / 12.0, 1e-13);

  ElementRun ring("axisymmetric_convection.line2");
  ring.add({{2, 0, 0}, {2, 1, 0}}, {{"film", 10}, {"sink", 0}});
  EXPECT_NEAR(ring.tangent().sum(), 10 * 2 * std::numbers::pi * 2, 1e-11);
  ElementRun plane("plane_convection.line3");
  plane.add({{0, 0, 0}, {2, 0, 0}, {1, 0, 0}}, {{"film", 10}, {"sink", 0}, {"thickness", 0.1}});
  EXPECT_NEAR(plane.tangent()(2, 2), 10 * 0.1 * 2 * 8 / 15.0, 1e-13);
  ElementRun plane_flux("plane_flux.line2");
  plane_flux.add({{0, 0, 0}, {2, 0, 0}}, {{"flux", 3}, {"thickness", 0.1}});
  EXPECT_NEAR(plane_flux.residual()[1], -0.3, 1e-14);
}

TEST(HeatLoads, RadiationGrowsWithTheFourthPower) {
  ElementRun face("radiation.tri3");
  face.add({{0, 0, 0}, {2, 0, 0}, {0, 3, 0}}, {{"coefficient", 2e-8}, {"sink", 20}, {"absolute_zero", -273}});
  for (int a = 0; a < 3; ++a) face.unknowns(0)[a] = 127;
  const double own = 400, sink = 293;
  const double heat = 2e-8 * (std::pow(own, 4) - std::pow(sink, 4)) * 3;
  EXPECT_NEAR(face.residual().sum(), heat, 1e-11 * heat);
  EXPECT_NEAR(face.tangent().sum(), 4 * 2e-8 * std::pow(own, 3) * 3, 1e-11 * heat);
  // Below absolute zero it still pulls back.
  for (int a = 0; a < 3; ++a) face.unknowns(0)[a] = -373;
  EXPECT_GT(face.tangent().sum(), 0);
  EXPECT_LT(face.residual().sum(), 0);
  ElementRun ring("axisymmetric_radiation.line2");
  ring.add({{2, 0, 0}, {2, 1, 0}}, {{"coefficient", 1e-8}, {"sink", 0}, {"absolute_zero", 0}});
  for (int a = 0; a < 2; ++a) ring.unknowns(0)[a] = 100;
  EXPECT_NEAR(ring.residual().sum(), 2 * std::numbers::pi * 2, 1e-11);
}

TEST(SurfaceLoads, DegenerateFacesAndMissingThicknessAreReported) {
  ElementRun face("pressure.quad4");
  face.add({{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {3, 0, 0}}, {{"pressure", 1}});
  face.residual();
  EXPECT_EQ(face.status.fault, ElementFault::inverted);
  ElementRun thin("plane_pressure.line2");
  thin.add({{0, 0, 0}, {1, 0, 0}}, {{"pressure", 1}});
  thin.residual();
  EXPECT_EQ(thin.status.fault, ElementFault::bad_parameter);
}

}  // namespace
}  // namespace voussoir
