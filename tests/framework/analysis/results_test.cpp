#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <limits>
#include <random>

#include <voussoir/framework/analysis/detail/lane_tensors.hpp>
#include <voussoir/framework/mesh/structured_mesh.hpp>
#include <voussoir/solvers/static_problem.hpp>

#include "support/expect_error.hpp"

namespace voussoir {
namespace {

using testing::expect_error;

TEST(VonMises, ClosedForms) {
  EXPECT_DOUBLE_EQ(von_mises({-120, 0, 0, 0, 0, 0}), 120);
  EXPECT_DOUBLE_EQ(von_mises({0, 0, 0, 0, 7, 0}), 7 * std::sqrt(3.0));
  EXPECT_DOUBLE_EQ(von_mises({5, 5, 5, 0, 0, 0}), 0);
  EXPECT_DOUBLE_EQ(von_mises({10, 10, 0, 0, 0, 0}), 10);  // equal tension in two directions
}

TEST(PrincipalValues, ClosedForms) {
  const auto expect = [](const std::array<double, 6>& tensor, std::array<double, 3> expected) {
    const auto p = principal_values(tensor);
    for (int i = 0; i < 3; ++i) EXPECT_NEAR(p[i], expected[i], 1e-12 * (1 + std::abs(expected[0])));
  };
  expect({3, -1, 8, 0, 0, 0}, {8, 3, -1});
  expect({0, 0, 0, 5, 0, 0}, {5, 0, -5});
  expect({2, 2, 2, 0, 0, 0}, {2, 2, 2});
  expect({4, 4, -8, 0, 0, 0}, {4, 4, -8});                                 // two alike
  expect({10, 0, 0, 5, 0, 0}, {5 + std::sqrt(50), 0, 5 - std::sqrt(50)});  // Mohr's circle
}

TEST(PrincipalValues, AreEigenvalues) {
  std::mt19937 random(4);
  std::uniform_real_distribution<double> number(-100, 100);
  for (int trial = 0; trial < 200; ++trial) {
    std::array<double, 6> t;
    for (double& v : t) v = number(random);
    Eigen::Matrix3d m;
    m << t[0], t[3], t[5], t[3], t[1], t[4], t[5], t[4], t[2];
    const Eigen::Vector3d values = Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d>(m).eigenvalues();
    const auto p = principal_values(t);
    for (int i = 0; i < 3; ++i) EXPECT_NEAR(p[i], values[2 - i], 1e-11 * m.norm());
  }
}

TEST(PrincipalValues, DoNotOverflow) {
  for (const double scale : {1e-300, 1e-160, 1e160, 1e300}) {
    const auto p = principal_values({10 * scale, 0, 0, 5 * scale, 0, 0});  // as above
    EXPECT_NEAR(p[0] / scale, 5 + std::sqrt(50), 1e-12) << scale;
    EXPECT_NEAR(p[2] / scale, 5 - std::sqrt(50), 1e-12) << scale;
  }
  // A shear that is nothing beside the stress.
  const auto p = principal_values({1e200, 0, -1e200, 1, 1e-300, 1});
  EXPECT_EQ(p, (std::array<double, 3>{1e200, 0, -1e200}));
}

TEST(LaneTensors, ALaneDoesNotDependOnItsNeighbours) {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> number(-100, 100);
  detail::LaneTensors tensors{};
  std::array<std::array<double, 6>, detail::LaneTensors::lanes> given{};
  for (std::size_t l = 1; l < given.size(); ++l)  // the first one is 0
    for (std::size_t i = 0; i < (l % 2 ? 6 : 3); ++i) given[l][i] = number(random);
  given[3][4] = std::numeric_limits<double>::quiet_NaN();
  for (std::size_t l = 0; l < given.size(); ++l) tensors.set(l, given[l].data());
  tensors.diagonalize();
  for (std::size_t l = 0; l < given.size(); ++l)
    if (l != 3) {
      EXPECT_EQ(tensors.diagonal(l), principal_values(given[l])) << "lane " << l;
    }
}

/// Two rods side by side, sharing the nodes of their common face, stretched alike along x. Without cross contraction
/// the stress is E ε in each, and jumps at the face.
struct TwoRods : ::testing::Test {
  TwoRods() {
    for (int i = 0; i <= 3; ++i)
      for (int j = 0; j < 3; ++j)
        for (int k = 0; k < 2; ++k) d.add_node(100 * i + 10 * j + k, i, j, k);
    const char* names[] = {"soft", "hard"};
    Id id = 1;
    for (int b = 0; b < 2; ++b) {
      auto& block = d.add_block(names[b], "solid.hex8");
      block.set_material(std::make_shared<IsotropicMaterial>(names[b], b == 0 ? 1000 : 5000, 0.0));
      for (int i = 0; i < 3; ++i) {
        const Id a = 100 * i + 10 * b, c = a + 100;
        block.add(id++, {a, c, c + 10, a + 10, a + 1, c + 1, c + 11, a + 11});
      }
    }
    d.add_node_set_where("start", [](double x, double, double) { return x == 0; });
    d.add_node_set_where("end", [](double x, double, double) { return x == 3; });
    d.add_node_set("corner", {0});
    d.add_node_set("edge", {0, 1});
    d.prescribe("start", "ux");
    d.prescribe("end", "ux", 0.003);  // strain 0.001
    d.prescribe("corner", "uz");
    d.prescribe("edge", "uy");
    StaticOptions options;
    options.backend = "openmp:1";
    // the rods may not turn about x, which ux alone does not hold
    d.add_node_set_where("bottom", [](double, double, double z) { return z == 0; });
    d.prescribe("bottom", "uz");
    results = make_static_analysis(d, options)->run();
  }
  Domain d;
  std::vector<StepResult> results;
};

TEST_F(TwoRods, AveragingStaysWithinAMaterial) {
  const auto fields = nodal_stress(d, results[0]);
  ASSERT_EQ(fields.size(), 2u);
  for (const auto& f : fields) {
    const double expected = f.material == "soft" ? 1.0 : 5.0;
    for (std::int32_t n = 0; n < d.node_count(); ++n) {
      const double y = d.coordinates()[3 * n + 1];
      const bool touches = f.material == "soft" ? y <= 1 : y >= 1;
      const double sxx = f.field.at(n, "sxx");
      if (touches) {
        EXPECT_NEAR(sxx, expected, 1e-10) << f.material << ", node " << d.node_id(n);
        EXPECT_NEAR(f.field.at(n, "mises"), expected, 1e-10);
        EXPECT_NEAR(f.field.at(n, "principal1"), expected, 1e-10);
        EXPECT_NEAR(f.field.at(n, "principal3"), 0, 1e-10);
      } else {
        EXPECT_TRUE(std::isnan(sxx));
        EXPECT_TRUE(std::isnan(f.field.at(n, "mises")));
      }
    }
  }
}

TEST_F(TwoRods, EnergyIsHalfStressTimesStrainTimesVolume) {
  EXPECT_NEAR(results[0].energy, 0.5 * 0.001 * (1.0 + 5.0) * 3, 1e-12);
  EXPECT_NEAR(results[0].reactions.at(d.node_index(320), "ux") + results[0].reactions.at(d.node_index(321), "ux"), 2.5,
              1e-10);
  EXPECT_TRUE(std::isnan(results[0].reactions.at(d.node_index(111), "ux")));  // nothing is held there
}

TEST_F(TwoRods, FieldsNameWhatTheyDoNotHave) {
  const auto& u = results[0].unknowns;
  expect_error(ErrorCode::not_found, {"displacement", "'rx'", "ux, uy, uz"}, [&] { u.at(0, "rx"); });
  expect_error(ErrorCode::not_found, {"'T'"}, [&] { u.largest("T"); });
  EXPECT_NEAR(u.largest("ux").value, 0.003, 1e-15);
  EXPECT_EQ(d.coordinates()[3 * u.largest("ux").node], 3);
  const auto& points = results[0].points;
  ASSERT_EQ(points.size(), 2u);
  EXPECT_EQ(points[0].points, 8);
  EXPECT_TRUE(points[0].has("sxx"));
  EXPECT_FALSE(points[0].has("Mz"));
  expect_error(ErrorCode::not_found, {"'Mz'", "sxx"}, [&] { points[0].at(0, 0, "Mz"); });
  EXPECT_NEAR(points[1].at(2, 7, "sxx"), 5.0, 1e-10);
  EXPECT_TRUE(nodal_values(d, points, {"qx"}).empty());  // no block has such a result
}

TEST_F(TwoRods, SumsOverASetSkipNodesWithoutValues) {
  const auto& r = results[0].reactions;
  EXPECT_NEAR(sum_over(r, d, "end", "ux"), 6.0, 1e-10);  // E ε A of both
  EXPECT_NEAR(sum_over(r, d, "start", "ux"), -6.0, 1e-10);
  d.add_node_set_where("all", [](double, double, double) { return true; });
  EXPECT_NEAR(sum_over(r, d, "all", "ux"), 0.0, 1e-10);  // in the middle nothing is held: NaN
  expect_error(ErrorCode::not_found, {"node set 'ende'", "'end'"}, [&] { sum_over(r, d, "ende", "ux"); });
  expect_error(ErrorCode::not_found, {"'T'"}, [&] { sum_over(r, d, "end", "T"); });
}

TEST_F(TwoRods, PointsAreFoundByTheUsersElement) {
  const auto& points = results[0].points;
  EXPECT_NEAR(points[0].at(d, 2, 3, "sxx"), 1.0, 1e-10);
  EXPECT_NEAR(points[1].at(d, 6, 7, "sxx"), 5.0, 1e-10);
  const std::string where = "element 6 (block 'hard', solid.hex8)";
  expect_error(ErrorCode::not_found, {where, "block 'soft'"}, [&] { points[0].at(d, 6, 0, "sxx"); });
  expect_error(ErrorCode::not_found, {where, "point 8"}, [&] { points[1].at(d, 6, 8, "sxx"); });
  expect_error(ErrorCode::not_found, {where, "point -1"}, [&] { points[1].at(d, 6, -1, "sxx"); });
  expect_error(ErrorCode::not_found, {"element 99"}, [&] { points[1].at(d, 99, 0, "sxx"); });
}

TEST_F(TwoRods, InvariantsAtPoints) {
  for (PointField& field : results[0].points) {
    const auto before = field;
    add_invariants(field);
    add_invariants(field);  // once is enough
    ASSERT_EQ(field.names.size(), before.names.size() + 4);
    const double expected = field.block == 0 ? 1.0 : 5.0;
    for (std::int32_t e = 0; e < 3; ++e)
      for (int p = 0; p < 8; ++p) {
        for (const auto& name : before.names) EXPECT_EQ(field.at(e, p, name), before.at(e, p, name));
        EXPECT_NEAR(field.at(e, p, "mises"), expected, 1e-10);
        EXPECT_NEAR(field.at(e, p, "principal1"), expected, 1e-10);
        EXPECT_NEAR(field.at(e, p, "principal3"), 0, 1e-10);
      }
  }
  PointField heat{0, 1, {"qx"}, {3.0}};
  add_invariants(heat);
  EXPECT_EQ(heat.names.size(), 1u);
  EXPECT_EQ(heat.values.size(), 1u);
}

TEST_F(TwoRods, StrainAtNodesIsAlikeInBothMaterials) {
  const auto fields = nodal_strain(d, results[0]);
  ASSERT_EQ(fields.size(), 2u);
  for (const auto& f : fields) {
    EXPECT_EQ(f.field.name, "strain");
    const std::int32_t n = d.node_index(110);  // both materials touch it
    EXPECT_NEAR(f.field.at(n, "exx"), 1e-3, 1e-13);
    EXPECT_NEAR(f.field.at(n, "principal1"), 1e-3, 1e-13);
    EXPECT_NEAR(f.field.at(n, "principal3"), 0, 1e-13);
  }
  EXPECT_TRUE(std::isnan(fields[0].field.at(d.node_index(fields[0].material == "soft" ? 120 : 100), "principal2")));
  EXPECT_TRUE(nodal_flux(d, results[0]).empty());
}

TEST(NodalFlux, IsFouriersLaw) {
  // T falls from 30 to 10 over a length of 2, conductivity 5: q = 50 along x.
  Domain d;
  BoxMesh mesh;
  mesh.type = "heat.hex8";
  mesh.cells = {3, 2, 2};
  mesh.upper = {2, 1, 1};
  mesh.distortion = 0.2;
  auto m = std::make_shared<Material>("m");
  m->set("conductivity", 5);
  add_box_mesh(d, mesh).set_material(m);
  d.prescribe("xmin", "T", 30);
  d.prescribe("xmax", "T", 10);
  StaticOptions options;
  options.backend = "openmp:1";
  const auto r = make_static_analysis(d, options)->run();
  const auto fields = nodal_flux(d, r[0]);
  ASSERT_EQ(fields.size(), 1u);
  for (std::int32_t n = 0; n < d.node_count(); ++n) {
    EXPECT_NEAR(fields[0].field.at(n, "qx"), 50, 1e-8);
    EXPECT_NEAR(fields[0].field.at(n, "qy"), 0, 1e-8);
    EXPECT_NEAR(fields[0].field.at(n, "magnitude"), 50, 1e-8);
  }
  EXPECT_NEAR(sum_over(r[0].reactions, d, "xmin", "T"), 50, 1e-8);
}

TEST(NodalValues, QuadraticElementsCarryLinearStressExactly) {
  // Pure bending of a plate by prescribed displacements u = x y, v = −x²/2: sxx = E y, which quad8 represents and its
  // points carry to the nodes exactly.
  Domain d;
  BoxMesh mesh;
  mesh.type = "plane_stress.quad8";
  mesh.cells = {2, 2, 1};
  mesh.lower = {0, -1, 0};
  auto& block = add_box_mesh(d, mesh);
  block.set_material(std::make_shared<IsotropicMaterial>("m", 100, 0.0));
  for (std::int32_t n = 0; n < d.node_count(); ++n) {
    const double x = d.coordinates()[3 * n], y = d.coordinates()[3 * n + 1];
    const std::string name = std::to_string(n);
    d.add_node_set(name, {d.node_id(n)});
    d.prescribe(name, "ux", x * y);
    d.prescribe(name, "uy", -0.5 * x * x);
  }
  StaticOptions options;
  options.backend = "openmp:1";
  const auto r = make_static_analysis(d, options)->run();  // nothing is left to solve for
  const auto fields = nodal_stress(d, r[0]);
  for (std::int32_t n = 0; n < d.node_count(); ++n)
    EXPECT_NEAR(fields[0].field.at(n, "sxx"), 100 * d.coordinates()[3 * n + 1], 1e-10);
}

}  // namespace
}  // namespace voussoir
