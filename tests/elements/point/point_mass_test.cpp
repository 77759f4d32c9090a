#include <gtest/gtest.h>

#include "elements/point/point_samples.hpp"

// Volume, mass and body forces of point elements. Facts that hold for every stock point element, whatever its shape,
// physics and formulation.

namespace voussoir {
namespace {

using namespace testing::point;

TEST(PointElement, VolumeMassAndWeightOfStraightBodiesAreExact) {
  Eigen::Matrix3d a;
  a << 1.1, 0.2, -0.1, 0.1, 0.9, 0.15, -0.05, 0.1, 1.2;
  for (const ElementType* type : types(isotropic, orthotropic, conduction)) {
    SCOPED_TRACE(type->name());
    const int dim = dimension(*type), c = type->program().components();
    const Nodes x = straight(*type, a);
    double volume = reference_volume(*type);
    if (dim == 3) {
      volume *= a.determinant();
    } else {
      volume *= a.topLeftCorner<2, 2>().determinant();
      double centroid = 0;  // Guldin: area times the path of its centroid
      const int corners = shape_topology(type->shape()).corners;
      for (int i = 0; i < corners; ++i) centroid += x[i][0] / corners;
      volume *= ring(*type) ? 2 * pi * centroid : thickness;
    }
    ElementRun run(type->program());
    const Parameters p = parameters(dim == 3);
    run.add(x, p);
    double sum = 0;
    for (int q = 0; q < type->program().points(); ++q) sum += run.recovered("volume", q);
    EXPECT_NEAR(sum, volume, 1e-13 * volume);

    const double mass = volume * density * (c == 1 ? p.at("specific_heat") : 1.0);
    const Eigen::MatrixXd m = run.mass(MassKind::consistent), lumped = run.mass(MassKind::lumped);
    for (int i = 0; i < c; ++i)
      for (int j = 0; j < c; ++j) {
        double total = 0, diagonal = 0;
        for (std::size_t s = 0; s < x.size(); ++s) {
          diagonal += lumped(s * c + i, s * c + j);
          for (std::size_t t = 0; t < x.size(); ++t) total += m(s * c + i, t * c + j);
        }
        EXPECT_NEAR(total, i == j ? mass : 0, 1e-12 * mass);
        EXPECT_NEAR(diagonal, i == j ? mass : 0, 1e-12 * mass);
      }
    EXPECT_EQ((lumped - Eigen::MatrixXd(lumped.diagonal().asDiagonal())).cwiseAbs().maxCoeff(), 0);
    EXPECT_GT(lumped.diagonal().minCoeff(), 0);

    BodyLoad load;
    if (c == 1) {
      load.source = 2.5;
      EXPECT_NEAR(run.body_load(load).sum(), 2.5 * volume, 1e-12 * volume);
    } else {
      for (int k = 0; k < 3; ++k) load.acceleration[k] = 1 + k;
      const Eigen::VectorXd f = run.body_load(load);
      for (int i = 0; i < c; ++i) {
        double total = 0;
        for (std::size_t s = 0; s < x.size(); ++s) total += f[s * c + i];
        EXPECT_NEAR(total, mass * (1 + i), 1e-12 * mass);
      }
    }
  }
}

TEST(PointElement, LumpedMassOfCurvedElementsIsThatOfTheirWeight) {
  Eigen::Matrix3d a;
  a << 1.1, 0.2, -0.1, 0.1, 0.9, 0.15, -0.05, 0.1, 1.2;
  for (const ElementType* type : types(isotropic, orthotropic)) {
    SCOPED_TRACE(type->name());
    const int dim = dimension(*type), c = type->program().components();
    Nodes x = straight(*type, a);
    for (std::size_t s = 0; s < x.size(); ++s)
      for (int k = 0; k < dim; ++k) x[s][k] += 0.03 * std::sin(3.0 * static_cast<double>(s) + k);
    ElementRun run(type->program());
    run.add(x, parameters(dim == 3));
    const Eigen::MatrixXd lumped = run.mass(MassKind::lumped);
    BodyLoad load;
    load.acceleration[1] = 2;
    const Eigen::VectorXd f = run.body_load(load);
    double mass = 0, weight = 0;
    for (std::size_t s = 0; s < x.size(); ++s) {
      mass += lumped(s * c + 1, s * c + 1);
      weight += f[static_cast<Eigen::Index>(s * c + 1)];
    }
    EXPECT_NEAR(weight, 2 * mass, 1e-12 * mass);
  }
}

TEST(PointElement, ConsistentMassOfStraightBodiesIsExact) {
  // M_ab = ρ ∫ N_a N_b dV: its action on the nodal values of a polynomial that the shape holds has closed forms, and
  // 1ᵀ M x = ρ ∫ x dV, xᵀ M x = ρ ∫ x² dV. For a cube [−1, 1]³: 0 and 8/3 ρ; for the unit simplex 1/12 … by Dirichlet.
  const std::map<std::string, std::pair<double, double>> moments = {
      {"tet4", {1.0 / 24, 1.0 / 60}}, {"tet10", {1.0 / 24, 1.0 / 60}}, {"hex8", {0, 8.0 / 3}},
      {"hex20", {0, 8.0 / 3}},        {"wedge6", {1.0 / 3, 1.0 / 6}},  {"wedge15", {1.0 / 3, 1.0 / 6}},
      {"tri3", {1.0 / 6, 1.0 / 12}},  {"tri6", {1.0 / 6, 1.0 / 12}},   {"quad4", {0, 4.0 / 3}},
      {"quad8", {0, 4.0 / 3}},        {"quad9", {0, 4.0 / 3}},         {"wedge18", {1.0 / 3, 1.0 / 6}},
      {"hex27", {0, 8.0 / 3}}};
  for (const ElementType* type : types({"solid", "plane_strain"})) {
    SCOPED_TRACE(type->name());
    const ShapeTopology& t = shape_topology(type->shape());
    const Nodes x(t.reference_nodes.begin(), t.reference_nodes.end());
    ElementRun run(type->program());
    Parameters p = parameters(true);
    p["density"] = 1, p["thickness"] = 1;
    run.add(x, p);
    const Eigen::MatrixXd m = run.mass(MassKind::consistent);
    const int c = type->program().components();
    double first = 0, second = 0;
    for (int a = 0; a < t.nodes; ++a)
      for (int b = 0; b < t.nodes; ++b) {
        first += m(a * c, b * c) * x[b][0];
        second += x[a][0] * m(a * c, b * c) * x[b][0];
      }
    EXPECT_NEAR(first, moments.at(type->shape()).first, 1e-14);
    EXPECT_NEAR(second, moments.at(type->shape()).second, 1e-14);
  }
}

TEST(PointElement, CentrifugalForceIsDensityTimesFirstMoment) {
  // ω² about the line x = 1, z = 0 along y: total force ρ V ω² (x_c − 1, 0, z_c).
  Eigen::Matrix3d a;
  a << 1.1, 0.2, -0.1, 0.1, 0.9, 0.15, -0.05, 0.1, 1.2;
  const ElementType& type = ElementLibrary::instance().find("solid.tet10");
  const Nodes x = straight(type, a);
  ElementRun run(type.program());
  run.add(x, parameters(true));
  BodyLoad load;
  load.angular_velocity_squared = 9;
  load.axis_point[0] = 1;
  load.axis_direction[1] = 1, load.axis_direction[2] = 0;
  const Eigen::VectorXd f = run.body_load(load);
  const Eigen::Vector3d centre = a * Eigen::Vector3d(0.25, 0.25, 0.25) + Eigen::Vector3d(3, 0, 0);
  const double mass = density * a.determinant() / 6;
  Eigen::Vector3d total = Eigen::Vector3d::Zero();
  for (int i = 0; i < 10; ++i) total += f.segment<3>(3 * i);
  EXPECT_NEAR(total[0], mass * 9 * (centre[0] - 1), 1e-12);
  EXPECT_NEAR(total[1], 0, 1e-13);
  EXPECT_NEAR(total[2], mass * 9 * centre[2], 1e-12);
}

}  // namespace
}  // namespace voussoir
