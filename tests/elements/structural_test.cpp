#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <cmath>
#include <numbers>

#include "element_run.hpp"
#include "support/dense_algebra.hpp"

namespace voussoir {
namespace {

using testing::ElementRun;
using Map = std::map<std::string, double>;
using Points = std::vector<std::array<double, 3>>;

Map beam_parameters() {
  return {{"young", 200e9},    {"shear_modulus", 80e9}, {"area", 6e-3},         {"inertia_y", 2e-6},
          {"inertia_z", 5e-6}, {"torsion", 3e-6},       {"shear_area_y", 4e-3}, {"shear_area_z", 3e-3},
          {"density", 7800},   {"expansion", 1.2e-5},   {"orientation_x", 0},   {"orientation_y", 1},
          {"orientation_z", 0}};
}

std::array<double, 3> array(const Eigen::Vector3d& v) { return {v[0], v[1], v[2]}; }

/// A chain of beams along x from 0 to L, assembled by hand.
struct BeamChain {
  BeamChain(int count, double length, const Map& parameters) : run("beam"), elements(count) {
    for (int e = 0; e < count; ++e) run.add({{length * e / count, 0, 0}, {length * (e + 1) / count, 0, 0}}, parameters);
  }
  template <class Of>
  Eigen::MatrixXd assemble_matrix(const Of& of) {
    Eigen::MatrixXd k = Eigen::MatrixXd::Zero(6 * (elements + 1), 6 * (elements + 1));
    for (int e = 0; e < elements; ++e) k.block(6 * e, 6 * e, 12, 12) += of(e);
    return k;
  }
  template <class Of>
  Eigen::VectorXd assemble_vector(const Of& of) {
    Eigen::VectorXd f = Eigen::VectorXd::Zero(6 * (elements + 1));
    for (int e = 0; e < elements; ++e) f.segment(6 * e, 12) += of(e);
    return f;
  }
  /// Clamped at node 0.
  Eigen::VectorXd solve(const Eigen::VectorXd& f) {
    const Eigen::MatrixXd k = assemble_matrix([this](int e) { return run.tangent(e); });
    const Eigen::Index n = k.rows() - 6;
    Eigen::VectorXd u = Eigen::VectorXd::Zero(k.rows());
    u.tail(n) = testing::symmetric_solution(k.bottomRightCorner(n, n), f.tail(n));
    for (int e = 0; e < elements; ++e)
      for (int i = 0; i < 12; ++i) run.unknowns(e)[i] = u[6 * e + i];
    return u;
  }
  ElementRun run;
  int elements;
};

TEST(Truss, StiffnessIsThatOfAnAxialBar) {
  ElementRun run("truss");
  // Direction (2, 3, 6)/7, length 7.
  run.add({{1, 1, 1}, {3, 4, 7}}, {{"young", 70.0}, {"area", 0.5}, {"density", 3}});
  const Eigen::MatrixXd k = run.tangent();
  const Eigen::Vector3d n(2 / 7.0, 3 / 7.0, 6 / 7.0);
  const Eigen::Matrix3d block = 70.0 * 0.5 / 7 * n * n.transpose();
  EXPECT_LT((k.topLeftCorner(3, 3) - block).norm(), 1e-13);
  EXPECT_LT((k.topRightCorner(3, 3) + block).norm(), 1e-13);
  EXPECT_LT((k.bottomRightCorner(3, 3) - block).norm(), 1e-13);
  EXPECT_EQ(run.status.fault, ElementFault::none);
}

TEST(Truss, ForceStressAndStrainOfAStretchedHotBar) {
  ElementRun run("truss");
  run.add({{0, 0, 0}, {0, 2, 0}}, {{"young", 200e9}, {"area", 1e-4}, {"expansion", 1e-5}});
  run.set_temperature(120, 20);
  run.unknowns(0)[4] = 3e-3;  // strain 1.5e-3, of which 1e-3 is thermal
  EXPECT_NEAR(run.recovered("strain"), 1.5e-3, 1e-15);
  EXPECT_NEAR(run.recovered("stress"), 100e6, 1e-3);
  EXPECT_NEAR(run.recovered("N"), 10e3, 1e-7);
  // Only the elastic strain of 0.5e-3 stores energy: ½ · 100 MPa · 0.5e-3 in a volume of 2e-4.
  EXPECT_NEAR(run.recovered("energy"), 25e3, 1e-6);
  EXPECT_NEAR(run.recovered("volume"), 2e-4, 1e-18);
  const Eigen::VectorXd r = run.residual();
  EXPECT_NEAR(r[1], -10e3, 1e-7);
  EXPECT_NEAR(r[4], 10e3, 1e-7);
}

TEST(Truss, FreeExpansionIsFreeOfForce) {
  ElementRun run("plane_truss");
  run.add({{0, 0, 0}, {3, 4, 0}}, {{"young", 200e9}, {"area", 1e-4}, {"expansion", 1e-5}});
  run.set_temperature(50, 0);
  run.unknowns(0)[2] = 3 * 1e-5 * 50;
  run.unknowns(0)[3] = 4 * 1e-5 * 50;
  EXPECT_LT(run.residual().norm(), 1e-9);
}

TEST(Truss, MassAndLoadsOfARotatingBar) {
  ElementRun run("truss");
  const double density = 7800, area = 2e-4, r1 = 0.5, r2 = 2;
  run.add({{r1, 0, 0.3}, {r2, 0, 0.3}}, {{"young", 1}, {"area", area}, {"density", density}});
  const double mass = density * area * (r2 - r1);
  for (const MassKind kind : {MassKind::consistent, MassKind::lumped}) {
    const Eigen::MatrixXd m = run.mass(kind);
    for (int c = 0; c < 3; ++c) EXPECT_NEAR(m(c, c) + 2 * m(c, 3 + c) + m(3 + c, 3 + c), mass, 1e-12 * mass);
    if (kind == MassKind::lumped) {
      EXPECT_NEAR(m(0, 0), mass / 2, 1e-12 * mass);
      EXPECT_EQ(m(0, 3), 0);
    }
  }
  BodyLoad spin;
  spin.angular_velocity_squared = 100;
  const Eigen::VectorXd f = run.body_load(spin);
  // ∫ ρ A ω² r dr, and its moment about the axis through node 1's radius: ∫ ρ A ω² r (r − r1) dr.
  const double total = density * area * 100 * (r2 * r2 - r1 * r1) / 2;
  const double second = density * area * 100 * ((r2 * r2 * r2 - r1 * r1 * r1) / 3 - r1 * (r2 * r2 - r1 * r1) / 2);
  EXPECT_NEAR(f[0] + f[3], total, 1e-12 * total);
  EXPECT_NEAR(f[3] * (r2 - r1), second, 1e-12 * total);
  EXPECT_NEAR(f[2], 0, 1e-12);
}

TEST(Beam, CantileverIsExactWithOneElementAndWithMany) {
  const Map p = beam_parameters();
  const double length = 1.7, force = 1000;
  const double along_y = force * std::pow(length, 3) / (3 * 200e9 * 5e-6) + force * length / (80e9 * 4e-3);
  const double along_z = force * std::pow(length, 3) / (3 * 200e9 * 2e-6) + force * length / (80e9 * 3e-3);
  for (const int count : {1, 7}) {
    BeamChain chain(count, length, p);
    Eigen::VectorXd f = Eigen::VectorXd::Zero(6 * (count + 1));
    f[6 * count + 0] = 2 * force;
    f[6 * count + 1] = force;
    f[6 * count + 2] = force;
    f[6 * count + 3] = 50;
    const Eigen::VectorXd u = chain.solve(f);
    const auto tip = u.tail(6);
    EXPECT_NEAR(tip[0], 2 * force * length / (200e9 * 6e-3), 1e-12 * along_y);
    EXPECT_NEAR(tip[1], along_y, 1e-10 * along_y);
    EXPECT_NEAR(tip[2], along_z, 1e-10 * along_z);
    EXPECT_NEAR(tip[3], 50 * length / (80e9 * 3e-6), 1e-12);
    EXPECT_NEAR(tip[5], force * length * length / (2 * 200e9 * 5e-6), 1e-12);
    EXPECT_NEAR(tip[4], -force * length * length / (2 * 200e9 * 2e-6), 1e-12);
    // Section forces at the clamp and at the tip, with the documented signs.
    EXPECT_NEAR(chain.run.recovered("N", 0, 0), 2 * force, 1e-5);
    EXPECT_NEAR(chain.run.recovered("Vy", 0, 0), force, 1e-5);
    EXPECT_NEAR(chain.run.recovered("Vz", 0, 0), force, 1e-5);
    EXPECT_NEAR(chain.run.recovered("T", 0, 0), 50, 1e-5);
    EXPECT_NEAR(chain.run.recovered("Mz", 0, 0), force * length, 1e-5);
    EXPECT_NEAR(chain.run.recovered("My", 0, 0), -force * length, 1e-5);
    EXPECT_NEAR(chain.run.recovered("Mz", 1, count - 1), 0, 1e-5);
    EXPECT_NEAR(chain.run.recovered("Vy", 1, count - 1), force, 1e-5);
    // Clapeyron: the stored energy is half of the work of the loads.
    double energy = 0;
    for (int e = 0; e < count; ++e)
      for (int end = 0; end < 2; ++end)
        energy += chain.run.recovered("energy", end, e) * chain.run.recovered("volume", end, e);
    EXPECT_NEAR(energy, 0.5 * f.dot(u), 1e-10 * energy);
  }
}

TEST(Beam, DoesNotLockWhenSlender) {
  // A square section of side h and length 10⁴ h: bending alone counts.
  Map p = beam_parameters();
  const double h = 1e-3, length = 10, inertia = h * h * h * h / 12;
  p["area"] = h * h;
  p["inertia_y"] = p["inertia_z"] = inertia;
  p["torsion"] = 0.141 * h * h * h * h;
  p["shear_area_y"] = p["shear_area_z"] = h * h * 5 / 6;
  BeamChain chain(2, length, p);
  Eigen::VectorXd f = Eigen::VectorXd::Zero(18);
  f[13] = 1e-6;
  const double expected = 1e-6 * std::pow(length, 3) / (3 * 200e9 * inertia);
  EXPECT_NEAR(chain.solve(f)[13] / expected, 1, 1e-6);
}

TEST(Beam, WeightBendsACantileverAsTheClosedFormSays) {
  const Map p = beam_parameters();
  const double length = 2, q = 7800 * 6e-3 * 9.81;
  BodyLoad gravity;
  gravity.acceleration[1] = -9.81;
  const double tip = q * std::pow(length, 4) / (8 * 200e9 * 5e-6) + q * length * length / (2 * 80e9 * 4e-3);
  for (const int count : {1, 4}) {
    BeamChain chain(count, length, p);
    const Eigen::VectorXd f = chain.assemble_vector([&](int e) { return chain.run.body_load(gravity, e); });
    EXPECT_NEAR(chain.solve(f)[6 * count + 1], -tip, 1e-10 * tip);
  }
}

TEST(Beam, ShearAreaZeroIsRigidInShear) {
  Map p = beam_parameters();
  p["shear_area_y"] = p["shear_area_z"] = 0;
  BeamChain chain(1, 1.0, p);
  Eigen::VectorXd f = Eigen::VectorXd::Zero(12);
  f[7] = 1;
  EXPECT_NEAR(chain.solve(f)[7], 1 / (3 * 200e9 * 5e-6), 1e-16);
}

TEST(Beam, RigidMotionsAreFreeAndNothingElseIs) {
  Map p = beam_parameters();
  p["orientation_x"] = 0.2;
  p["orientation_z"] = 0.7;
  ElementRun run("beam");
  const Eigen::Vector3d a(0.3, -0.2, 0.5), b(1.1, 0.9, 1.6);
  run.add({array(a), array(b)}, p);
  const Eigen::MatrixXd k = run.tangent();
  Eigen::MatrixXd motions = Eigen::MatrixXd::Zero(12, 6);
  for (int i = 0; i < 3; ++i) {
    motions(i, i) = motions(6 + i, i) = 1;
    const Eigen::Vector3d axis = Eigen::Vector3d::Unit(i);
    motions.col(3 + i) << axis.cross(a), axis, axis.cross(b), axis;
  }
  EXPECT_LT((k * motions).norm(), 1e-12 * k.norm());
  const Eigen::VectorXd values = testing::symmetric_eigenvalues(k);
  EXPECT_LT(std::abs(values[5]), 1e-9 * values[11]);
  EXPECT_GT(values[6], 1e-6 * values[11]);
}

TEST(Beam, TurnsWithItsAxes) {
  Map p = beam_parameters();
  const Eigen::Vector3d a(0, 0, 0), b(1.2, 0, 0), y(0.1, 0.9, 0.3);
  const Eigen::Matrix3d turn = Eigen::AngleAxisd(1.1, Eigen::Vector3d(1, 2, -1).normalized()).toRotationMatrix();
  ElementRun run("beam");
  for (const bool turned : {false, true}) {
    const Eigen::Matrix3d q = turned ? turn : Eigen::Matrix3d::Identity();
    const Eigen::Vector3d n = q * y;
    p["orientation_x"] = n[0];
    p["orientation_y"] = n[1];
    p["orientation_z"] = n[2];
    run.add({array(q * a), array(q * b)}, p);
  }
  Eigen::MatrixXd t = Eigen::MatrixXd::Zero(12, 12);
  for (int i = 0; i < 4; ++i) t.block(3 * i, 3 * i, 3, 3) = turn;
  EXPECT_LT((t * run.tangent(0) * t.transpose() - run.tangent(1)).norm(), 1e-12 * run.tangent(0).norm());
  const Eigen::MatrixXd m = run.mass(MassKind::consistent, 0);
  EXPECT_LT((t * m * t.transpose() - run.mass(MassKind::consistent, 1)).norm(), 1e-12 * m.norm());
}

TEST(Beam, MassOfRigidMotionsIsExact) {
  const Map p = beam_parameters();
  const double length = 1.5, rho = 7800, area = 6e-3;
  ElementRun run("beam");
  run.add({{0, 0, 0}, {length, 0, 0}}, p);
  const Eigen::MatrixXd m = run.mass(MassKind::consistent);
  for (int i = 0; i < 3; ++i) {
    Eigen::VectorXd shift = Eigen::VectorXd::Zero(12);
    shift[i] = shift[6 + i] = 1;
    EXPECT_NEAR(shift.dot(m * shift), rho * area * length, 1e-10);
    const Eigen::MatrixXd lumped = run.mass(MassKind::lumped);
    EXPECT_NEAR(shift.dot(lumped * shift), rho * area * length, 1e-10);
  }
  // Turning about y and z through node 1: ρ A L³/3 + ρ I L; about x: ρ (Iy + Iz) L.
  const Eigen::Vector3d b(length, 0, 0);
  const double expected[3] = {rho * 7e-6 * length, rho * (area * std::pow(length, 3) / 3 + 2e-6 * length),
                              rho * (area * std::pow(length, 3) / 3 + 5e-6 * length)};
  for (int i = 0; i < 3; ++i) {
    const Eigen::Vector3d axis = Eigen::Vector3d::Unit(i);
    Eigen::VectorXd turn(12);
    turn << Eigen::Vector3d::Zero(), axis, axis.cross(b), axis;
    EXPECT_NEAR(turn.dot(m * turn) / expected[i], 1, 1e-12);
  }
}

TEST(Beam, FirstFrequencyOfASimplySupportedBeamWithRotaryInertia) {
  // Rayleigh beam, rigid in shear: ω² = E I k⁴ / (ρ A + ρ I k²), k = π / L.
  Map p = beam_parameters();
  p["shear_area_y"] = 0;
  const int count = 16;
  const double length = 1, k = std::numbers::pi / length;
  BeamChain chain(count, length, p);
  const Eigen::MatrixXd stiffness = chain.assemble_matrix([&](int e) { return chain.run.tangent(e); });
  const Eigen::MatrixXd mass = chain.assemble_matrix([&](int e) { return chain.run.mass(MassKind::consistent, e); });
  std::vector<int> free;  // bending in x–y alone
  for (int n = 0; n <= count; ++n) {
    if (n > 0 && n < count) free.push_back(6 * n + 1);
    free.push_back(6 * n + 5);
  }
  const Eigen::VectorXd squares = testing::symmetric_eigenvalues(stiffness(free, free), mass(free, free));
  const double expected = 200e9 * 5e-6 * std::pow(k, 4) / (7800 * (6e-3 + 5e-6 * k * k));
  EXPECT_NEAR(squares[0] / expected, 1, 1e-5);
}

TEST(Beam, TimoshenkoFrequencyOfASimplySupportedBeam) {
  // With shear, ω² solves (ρI ω² − GA_s − EI k²)(ρA ω² − GA_s k²) = (GA_s k)², from v = sin kx, θ = cos kx.
  // Shear is constant along an element, so the error falls with the square of its length.
  const Map p = beam_parameters();
  const double length = 0.5, k = std::numbers::pi / length;
  const double gas = 80e9 * 3e-3, ei = 200e9 * 2e-6, rho_a = 7800 * 6e-3, rho_i = 7800 * 2e-6;
  // a ω⁴ − b ω² + c = 0
  const double a = rho_a * rho_i, b = rho_i * gas * k * k + rho_a * (gas + ei * k * k), c = gas * ei * std::pow(k, 4);
  const double expected = (b - std::sqrt(b * b - 4 * a * c)) / (2 * a);
  const auto error = [&](int count) {
    BeamChain chain(count, length, p);
    const Eigen::MatrixXd stiffness = chain.assemble_matrix([&](int e) { return chain.run.tangent(e); });
    const Eigen::MatrixXd mass = chain.assemble_matrix([&](int e) { return chain.run.mass(MassKind::consistent, e); });
    std::vector<int> free;
    for (int n = 0; n <= count; ++n) {
      if (n > 0 && n < count) free.push_back(6 * n + 2);
      free.push_back(6 * n + 4);
    }
    const Eigen::VectorXd squares = testing::symmetric_eigenvalues(stiffness(free, free), mass(free, free));
    return std::abs(squares[0] / expected - 1);
  };
  const double coarse = error(16), fine = error(32);
  EXPECT_LT(coarse, 3e-4);
  EXPECT_NEAR(std::log2(coarse / fine), 2, 0.1);
}

TEST(Beam, HeldBeamThatIsHeatedIsCompressed) {
  ElementRun run("beam");
  run.add({{0, 0, 0}, {0, 0, 3}}, beam_parameters());
  run.set_temperature(70, 20);
  EXPECT_NEAR(run.recovered("N", 0), -200e9 * 6e-3 * 1.2e-5 * 50, 1e-5);
  EXPECT_NEAR(run.recovered("N", 1), -200e9 * 6e-3 * 1.2e-5 * 50, 1e-5);
  EXPECT_NEAR(run.residual()[8], -200e9 * 6e-3 * 1.2e-5 * 50, 1e-5);
  const double strain = 1.2e-5 * 50;  // all of it elastic
  EXPECT_NEAR(run.recovered("energy", 0), 0.5 * 200e9 * strain * strain, 1e-6);
}

TEST(Beam, RotationPullsOutwards) {
  ElementRun run("beam");
  run.add({{0, 1, 0}, {0, 3, 0}}, [] {
    Map p = beam_parameters();
    p["orientation_x"] = 1;
    return p;
  }());
  BodyLoad spin;
  spin.angular_velocity_squared = 4;
  const Eigen::VectorXd f = run.body_load(spin);
  EXPECT_NEAR(f[1] + f[7], 7800 * 6e-3 * 4 * (9 - 1) / 2.0, 1e-9);
  EXPECT_NEAR(f[7] * 2, 7800 * 6e-3 * 4 * ((27 - 1) / 3.0 - (9 - 1) / 2.0), 1e-9);
}

TEST(Beam, NoLengthAndOrientationAlongTheAxisAreReported) {
  ElementRun run("beam");
  const Map good = beam_parameters();
  Map along = good;
  along["orientation_x"] = 2;
  along["orientation_y"] = 0;
  for (int i = 0; i < 5; ++i) run.add({{0, 0, 0}, {1, 0, 0}}, good);
  run.add({{0, 0, 0}, {1, 0, 0}}, along);
  run.add({{1, 2, 3}, {1, 2, 3}}, good);
  run.tangent();
  EXPECT_EQ(run.status.fault, ElementFault::bad_parameter);
  EXPECT_EQ(run.status.element, 5);
  ElementRun point("beam");
  point.add({{1, 2, 3}, {1, 2, 3}}, good);
  point.residual();
  EXPECT_EQ(point.status.fault, ElementFault::bad_parameter);
  Map no_section = good;
  no_section["inertia_z"] = 0;
  ElementRun thin("beam");
  thin.add({{0, 0, 0}, {1, 0, 0}}, no_section);
  thin.tangent();
  EXPECT_EQ(thin.status.fault, ElementFault::bad_parameter);
}

TEST(Spring, AxialSpringPullsAlongItsLine) {
  ElementRun run("spring_axial");
  run.add({{0, 0, 0}, {3, 0, 4}}, {{"stiffness", 100}});
  run.unknowns(0)[3] = 0.5;  // elongation 0.5 · 3/5
  EXPECT_NEAR(run.recovered("elongation"), 0.3, 1e-15);
  EXPECT_NEAR(run.recovered("N"), 30, 1e-12);
  const Eigen::VectorXd r = run.residual();
  EXPECT_NEAR(r[3], 30 * 0.6, 1e-12);
  EXPECT_NEAR(r[5], 30 * 0.8, 1e-12);
  EXPECT_NEAR(r[0], -30 * 0.6, 1e-12);
}

TEST(Spring, GlobalSpringsBetweenNodesAndToTheGround) {
  ElementRun between("spring_rotary");
  const Map k = {{"kx", 1}, {"ky", 2}, {"kz", 3}, {"krx", 4}, {"kry", 5}, {"krz", 6}};
  between.add({{0, 0, 0}, {0, 0, 0}}, k);
  ElementRun ground("spring_to_ground_rotary");
  ground.add({{0, 0, 0}}, k);
  const Eigen::MatrixXd a = between.tangent(), b = ground.tangent();
  Eigen::MatrixXd d = Eigen::MatrixXd::Zero(6, 6);
  d.diagonal() << 1, 2, 3, 4, 5, 6;
  EXPECT_EQ((b - d).norm(), 0);
  EXPECT_EQ((a.topLeftCorner(6, 6) - d).norm(), 0);
  EXPECT_EQ((a.topRightCorner(6, 6) + d).norm(), 0);
  EXPECT_EQ((a.bottomRightCorner(6, 6) - d).norm(), 0);
  for (int i = 0; i < 6; ++i) ground.unknowns(0)[i] = between.unknowns(0)[6 + i] = 0.1;
  EXPECT_NEAR(ground.recovered("Mz"), 0.6, 1e-15);
  EXPECT_NEAR(between.recovered("Fy"), 0.2, 1e-15);
  EXPECT_NEAR(between.residual()[0], -0.1, 1e-15);
}

TEST(PointMass, HasMassInEveryDirectionAndWeight) {
  ElementRun run("mass_rotary");
  run.add({{2, 0, 0}}, {{"mass", 5}, {"inertia_x", 1}, {"inertia_y", 2}, {"inertia_z", 3}});
  for (const MassKind kind : {MassKind::consistent, MassKind::lumped}) {
    const Eigen::MatrixXd m = run.mass(kind);
    Eigen::VectorXd expected(6);
    expected << 5, 5, 5, 1, 2, 3;
    EXPECT_EQ((m - Eigen::MatrixXd(expected.asDiagonal())).norm(), 0);
  }
  BodyLoad load;
  load.acceleration[2] = -10;
  load.angular_velocity_squared = 9;
  const Eigen::VectorXd f = run.body_load(load);
  EXPECT_NEAR(f[0], 5 * 9 * 2, 1e-12);
  EXPECT_NEAR(f[2], -50, 1e-12);
  EXPECT_EQ(f.tail(3).norm(), 0);
  EXPECT_FALSE(ElementLibrary::instance().find("mass").program().has_tangent());
  EXPECT_TRUE(ElementLibrary::instance().find("mass").program().has_mass());
}

}  // namespace
}  // namespace voussoir
