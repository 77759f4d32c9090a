#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <cmath>
#include <numbers>

#include "element_run.hpp"
#include "support/dense_algebra.hpp"

// The beam of three nodes, "beam3": exact for nodal loads where it is straight, and for curved ones against
// Castigliano.

namespace voussoir {
namespace {

using testing::ElementRun;
using Map = std::map<std::string, double>;
using Vector3 = Eigen::Vector3d;

Map beam_parameters(Vector3 orientation = {0, 1, 0}) {
  return {{"young", 200e9},
          {"shear_modulus", 80e9},
          {"area", 6e-3},
          {"inertia_y", 2e-6},
          {"inertia_z", 5e-6},
          {"torsion", 3e-6},
          {"shear_area_y", 4e-3},
          {"shear_area_z", 3e-3},
          {"density", 7800},
          {"expansion", 1.2e-5},
          {"orientation_x", orientation[0]},
          {"orientation_y", orientation[1]},
          {"orientation_z", orientation[2]}};
}

std::array<double, 3> array(const Vector3& v) { return {v[0], v[1], v[2]}; }

/// A chain of elements along a curve over t ∈ [0, 1], clamped where it begins.
struct Chain {
  template <class Curve>
  Chain(int count, const Curve& curve, const Map& parameters) : run("beam3"), elements(count) {
    for (int e = 0; e < count; ++e)
      run.add({array(curve(double(e) / count)), array(curve((e + 1.0) / count)), array(curve((e + 0.5) / count))},
              parameters);
  }
  /// Where unknown i of an element stands: nodes are numbered along the curve.
  static int place(int e, int i) { return 6 * (2 * e + (i < 6 ? 0 : i < 12 ? 2 : 1)) + i % 6; }
  int size() const { return 6 * (2 * elements + 1); }
  Eigen::MatrixXd stiffness() {
    Eigen::MatrixXd k = Eigen::MatrixXd::Zero(size(), size());
    for (int e = 0; e < elements; ++e) {
      const Eigen::MatrixXd ke = run.tangent(e);
      for (int i = 0; i < 18; ++i)
        for (int j = 0; j < 18; ++j) k(place(e, i), place(e, j)) += ke(i, j);
    }
    return k;
  }
  Eigen::VectorXd solve(const Eigen::VectorXd& f) {
    const Eigen::MatrixXd k = stiffness();
    const Eigen::Index n = k.rows() - 6;
    Eigen::VectorXd u = Eigen::VectorXd::Zero(k.rows());
    u.tail(n) = testing::symmetric_solution(k.bottomRightCorner(n, n), f.tail(n));
    for (int e = 0; e < elements; ++e)
      for (int i = 0; i < 18; ++i) run.unknowns(e)[i] = u[place(e, i)];
    return u;
  }
  /// The motion of the end under a force and a moment there.
  Eigen::VectorXd end_motion(const Vector3& force, const Vector3& moment = Vector3::Zero()) {
    Eigen::VectorXd f = Eigen::VectorXd::Zero(size());
    f.segment(size() - 6, 3) = force;
    f.tail(3) = moment;
    return solve(f).tail(6);
  }
  ElementRun run;
  int elements;
};

/// A quarter of a circle of radius R in the plane x, y, which begins at 0 along x and ends at (R, R) along y.
struct Quarter {
  double radius;
  Vector3 operator()(double t) const {
    const double a = 0.5 * std::numbers::pi * t;
    return {radius * std::sin(a), radius * (1 - std::cos(a)), 0};
  }
};

TEST(CurvedBeam, AStraightOneIsTwoExactBeams) {
  const Map p = beam_parameters({0.2, 1, -0.3});
  const Vector3 a(1, 2, 0), b(3, 2.5, 1), m = 0.4 * a + 0.6 * b;  // the middle node need not be in the middle
  ElementRun curved("beam3"), straight("beam");
  curved.add({array(a), array(b), array(m)}, p);
  straight.add({array(a), array(m)}, p);
  straight.add({array(m), array(b)}, p);
  Eigen::MatrixXd expected = Eigen::MatrixXd::Zero(18, 18);
  const int nodes[2][2] = {{0, 2}, {2, 1}};
  for (int e = 0; e < 2; ++e) {
    const Eigen::MatrixXd k = straight.tangent(e);
    for (int i = 0; i < 12; ++i)
      for (int j = 0; j < 12; ++j) expected(6 * nodes[e][i / 6] + i % 6, 6 * nodes[e][j / 6] + j % 6) += k(i, j);
  }
  EXPECT_LT((curved.tangent() - expected).norm(), 1e-11 * expected.norm());
  BodyLoad weight;
  weight.acceleration[0] = 3;
  weight.acceleration[2] = -9.81;
  weight.angular_velocity_squared = 16;
  Eigen::VectorXd load = Eigen::VectorXd::Zero(18);
  for (int e = 0; e < 2; ++e) {
    const Eigen::VectorXd f = straight.body_load(weight, e);
    for (int i = 0; i < 12; ++i) load[6 * nodes[e][i / 6] + i % 6] += f[i];
  }
  EXPECT_LT((curved.body_load(weight) - load).norm(), 1e-11 * load.norm());
}

TEST(CurvedBeam, RigidMotionsAndFreeExpansionAreFreeOfForce) {
  ElementRun run("beam3");
  const std::vector<std::array<double, 3>> x = {{0, 0, 0}, {2, 0.5, 0.3}, {1, 0.6, -0.2}};
  run.add(x, beam_parameters());
  const Eigen::MatrixXd k = run.tangent();
  EXPECT_LT((k - k.transpose()).norm(), 1e-12 * k.norm());
  const Vector3 w(0.3, -0.2, 0.7), c(1, 2, 3);
  Eigen::VectorXd u(18);
  for (int a = 0; a < 3; ++a) {
    u.segment(6 * a, 3) = c + w.cross(Vector3(x[a][0], x[a][1], x[a][2]));
    u.segment(6 * a + 3, 3) = w;
  }
  EXPECT_LT((k * u).norm(), 1e-12 * k.norm());
  const Eigen::VectorXd values = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(k).eigenvalues();
  EXPECT_GT(values[6], 1e-9 * values[17]) << "six motions without energy, no more";
  run.set_temperature(120, 20);
  for (int a = 0; a < 3; ++a)
    for (int i = 0; i < 3; ++i) run.unknowns(0)[6 * a + i] = 1.2e-5 * 100 * x[a][i];
  EXPECT_LT(run.residual().norm(), 1e-9 * 200e9 * 6e-3 * 1.2e-3);
}

TEST(CurvedBeam, QuarterCircleUnderForcesAtItsEnd) {
  // Castigliano with M = F R (1 − sin φ), N = F sin φ, V = F cos φ for a force along y at the end, and so on. The
  // compliances are those of the section in the plane (about z) and across it (about the local y).
  const double r = 1.5, pi = std::numbers::pi, force = 1000;
  const double ea = 200e9 * 6e-3, gy = 80e9 * 4e-3, gz = 80e9 * 3e-3, gj = 80e9 * 3e-6, ey = 200e9 * 2e-6,
               ez = 200e9 * 5e-6;
  // With the orientation (0, 0, 1) local y is z: bending in the plane is about local y, with shear along local z.
  const double in_plane = force * r * r * r / ey * (0.75 * pi - 2) + force * r * pi / 4 * (1 / ea + 1 / gz);
  const double across = force * r * r * r * (pi / 4 / ez + (0.75 * pi - 2) / gj) + force * r * pi / 2 / gy;
  double before = 0;
  for (int count : {2, 4, 8}) {
    Chain chain(count, Quarter{r}, beam_parameters({0, 0, 1}));
    const double y = chain.end_motion({0, force, 0})[1], z = chain.end_motion({0, 0, force})[2];
    const double error = std::max(std::abs(y / in_plane - 1), std::abs(z / across - 1));
    if (before > 0) {
      EXPECT_LT(error, before / 12) << "the fourth power of the length, with " << count;
    }
    before = error;
  }
  EXPECT_LT(before, 2e-5);
  // A moment at the end turns the sections alike: rotation M s / EI, with the arc's length.
  Chain chain(8, Quarter{r}, beam_parameters({0, 0, 1}));
  EXPECT_NEAR(chain.end_motion({0, 0, 0}, {0, 0, 500})[5], 500 * r * pi / 2 / ey, 2e-5 * 500 * r * pi / 2 / ey);
}

TEST(CurvedBeam, SectionForcesFollowFromEquilibrium) {
  const double r = 1.5;
  Chain chain(4, Quarter{r}, beam_parameters({0, 0, 1}));
  const Eigen::VectorXd end = chain.end_motion({0, 1000, 0});
  // At the clamp: M = F R about z, which is the local −y there (local y is z, so z = x × y points along −y).
  EXPECT_NEAR(chain.run.recovered("N", 0, 0), 0, 20) << "the parabola's tangent is a little off";
  EXPECT_NEAR(std::abs(chain.run.recovered("My", 0, 0)), 1000 * r, 1e-6 * 1000 * r);
  EXPECT_NEAR(std::abs(chain.run.recovered("Vz", 0, 0)), 1000, 1);
  EXPECT_NEAR(chain.run.recovered("N", 3, 3), 1000, 1);
  EXPECT_NEAR(chain.run.recovered("My", 3, 3), 0, 1e-6 * 1000 * r);
  double energy = 0;
  for (int e = 0; e < 4; ++e)
    for (int q = 0; q < 4; ++q) energy += chain.run.recovered("energy", q, e) * chain.run.recovered("volume", q, e);
  EXPECT_NEAR(energy, 0.5 * 1000 * end[1], 1e-9 * energy);
}

TEST(CurvedBeam, WeightIsInEquilibriumAndExactAtTheNodes) {
  BodyLoad weight;
  weight.acceleration[1] = -9.81;
  ElementRun run("beam3");
  run.add({{0, 0, 0}, {2, 0.5, 0.3}, {1, 0.6, -0.2}}, beam_parameters());
  const Eigen::VectorXd f = run.body_load(weight);
  double length = 0;
  for (int q = 0; q < 4; ++q) length += run.recovered("volume", q) / 6e-3;
  EXPECT_NEAR(f[1] + f[7] + f[13], -9.81 * 7800 * 6e-3 * length, 1e-8 * 9.81 * 7800);
  // The cantilever of length L under its weight q: q L⁴ / 8 E I + q L² / 2 G A.
  const double l = 3, q = 9.81 * 7800 * 6e-3;
  Chain chain(
      1, [&](double t) { return Vector3(l * t, 0, 0); }, beam_parameters());
  Eigen::VectorXd load = Eigen::VectorXd::Zero(18);
  const Eigen::VectorXd own = chain.run.body_load(weight);
  for (int i = 0; i < 18; ++i) load[Chain::place(0, i)] = own[i];
  const Eigen::VectorXd u = chain.solve(load);
  const double expected = q * l * l * l * l / 8 / (200e9 * 5e-6) + q * l * l / 2 / (80e9 * 4e-3);
  EXPECT_NEAR(u[13], -expected, 1e-10 * expected);
}

TEST(CurvedBeam, MassIsThatOfTheCurve) {
  ElementRun run("beam3");
  run.add({{0, 0, 0}, {2, 0.5, 0.3}, {1, 0.6, -0.2}}, beam_parameters());
  double length = 0;
  for (int q = 0; q < 4; ++q) length += run.recovered("volume", q) / 6e-3;
  for (const MassKind kind : {MassKind::consistent, MassKind::lumped}) {
    const Eigen::MatrixXd m = run.mass(kind);
    double sum = 0;
    for (int a = 0; a < 3; ++a)
      for (int b = 0; b < 3; ++b) sum += m(6 * a + 2, 6 * b + 2);
    // So strongly bent a curve has no polynomial length; mass and volume are integrated by different rules.
    EXPECT_NEAR(sum, 7800 * 6e-3 * length, 1e-4 * 7800 * 6e-3 * length);
  }
}

TEST(CurvedBeam, WhatHasNoAxesIsReported) {
  ElementRun along("beam3");
  along.add({{0, 0, 0}, {0, 2, 0}, {0, 1, 0}}, beam_parameters());
  along.tangent();
  EXPECT_NE(along.status.fault, ElementFault::none);
  ElementRun folded("beam3");
  folded.add({{0, 0, 0}, {0, 0, 0}, {1, 0, 0}}, beam_parameters());
  folded.tangent();
  EXPECT_NE(folded.status.fault, ElementFault::none);
}

}  // namespace
}  // namespace voussoir
