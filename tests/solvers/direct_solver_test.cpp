#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include <voussoir/backends/error.hpp>
#include <voussoir/solvers/direct/acceptance.hpp>
#include <voussoir/solvers/direct/equation_names.hpp>
#include <voussoir/solvers/direct/host_system.hpp>
#include <voussoir/solvers/direct_solver.hpp>

#include "solver_models.hpp"
#include "support/dense_algebra.hpp"

namespace voussoir::test {
namespace {

/// Every way to eliminate: methods on sparse rows, and the envelopes that SOEs store.
struct Way {
  const char* storage;
  DirectMethod method;
};

std::vector<Way> ways() {
  std::vector<Way> all{{"band", DirectMethod::automatic}, {"profile", DirectMethod::automatic}};
  for (DirectMethod m : {DirectMethod::mumps, DirectMethod::eigen, DirectMethod::cholmod, DirectMethod::band,
                         DirectMethod::profile, DirectMethod::multifrontal})
    if (why_unavailable(m).empty()) all.push_back({"csr", m});
  return all;
}

std::string name_of(const Way& way) { return std::string(way.storage) + ", " + to_string(way.method); }

/// Ten bars of stiffness c in a row on a spring of stiffness 1, pulled by 1 at the other end. The spring is at the last
/// node, so that elimination in the order of the nodes gives the pivots c, c, …, 1 without any rounding.
void add_chain_on_a_spring(Domain& d, double c) {
  constexpr int nodes = 11;
  for (int i = 0; i < nodes; ++i) d.add_node(1 + i, i, 0, 0);
  d.add_node_set_where("all nodes", [](double, double, double) { return true; });
  d.add_node_set("pulled", {Id{1}});
  auto& bars = d.add_block("bars", "spring_axial");
  bars.set_section("stiffness", c);
  for (int i = 0; i + 1 < nodes; ++i) bars.add(100 + i, {Id{1 + i}, Id{2 + i}});
  auto& ground = d.add_block("ground", "spring_to_ground");
  ground.set_section("kx", 1).set_section("ky", 0).set_section("kz", 0).add(200, {Id{nodes}});
  d.prescribe("all nodes", "uy");
  d.prescribe("all nodes", "uz");
  d.add_load_case("pull").nodal("pulled", "ux", 1.0);
}

TEST(DirectSolver, AStiffPartOnAWeakSpringIsHeld) {
  // The pulled end moves by 1/1 + 10/c.
  Domain d;
  add_chain_on_a_spring(d, 1e10);
  for (const Way& way : ways()) {
    SCOPED_TRACE(name_of(way));
    System system(d, way.storage);
    const SolveReport report = DirectSolver(way.method).solve(*system.soe);
    EXPECT_TRUE(report.free_motions.empty());
    EXPECT_TRUE(report.converged) << report.reason;
    EXPECT_NEAR(system.on_free(system.soe->x())[0], 1.0, 1e-4);  // contrast times rounding
  }
}

TEST(DirectSolver, EnvelopesDoNotTakeASmallPivotForAFreeMotion) {
  // The last pivot is 2⁻⁴² of its diagonal and exact.
  Domain d;
  add_chain_on_a_spring(d, std::ldexp(1.0, 42));
  for (const char* storage : {"band", "profile"}) {
    SCOPED_TRACE(storage);
    System system(d, storage);
    const SolveReport report = DirectSolver().solve(*system.soe);
    EXPECT_TRUE(report.free_motions.empty());
    EXPECT_TRUE(report.converged) << report.reason;
    EXPECT_NEAR(system.on_free(system.soe->x())[0], 1.0, 1e-11);
  }
}

TEST(DirectSolver, AllMethodsFindTheMechanismOfReducedBricks) {
  // Two 20-node bricks with reduced integration in a row, clamped at one end: two combinations of their hourglass
  // motions leave the clamp at rest. The spectrum of the dense matrix says so, and every method must.
  Domain d;
  BoxMesh mesh;
  mesh.type = "solid.hex20.reduced";
  mesh.cells = {2, 1, 1};
  mesh.distortion = 0.15;
  add_box_mesh(d, mesh).set_material(std::make_shared<IsotropicMaterial>("steel", 210e3, 0.3));
  d.prescribe("xmin", "all");
  d.add_load_case("pull").nodal("xmax", "ux", 1.0);
  const Eigen::MatrixXd dense = System(d, "csr").dense();
  const Eigen::VectorXd spectrum = testing::symmetric_eigenvalues(dense);
  std::size_t zeros = 0;
  for (double e : spectrum) zeros += std::abs(e) < 1e-12 * spectrum.maxCoeff();
  ASSERT_EQ(zeros, 2u);
  EXPECT_GT(spectrum[2], 1e-5 * spectrum.maxCoeff());
  for (const Way& way : ways()) {
    SCOPED_TRACE(name_of(way));
    System system(d, way.storage);
    const SolveReport report = DirectSolver(way.method).solve(*system.soe);
    EXPECT_FALSE(report.converged);
    EXPECT_TRUE(std::isnan(report.true_residual)) << "there is no solution to have a residual";
    ASSERT_EQ(report.free_motions.size(), zeros);
    for (const auto& found : report.free_motions) {
      Eigen::VectorXd motion(static_cast<Eigen::Index>(system.free.size()));
      for (std::size_t i = 0; i < system.free.size(); ++i) motion[i] = found[system.free[i]];
      EXPECT_LT((dense * motion).norm(), 1e-11 * spectrum.maxCoeff() * motion.norm());
    }
  }
}

TEST(DirectSolver, NamesNodesNotEquations) {
  Domain d;
  add_bar(d);
  for (const Way& way : ways()) {
    SCOPED_TRACE(name_of(way));
    System system(d, way.storage);
    MatrixTerms terms;
    terms.stiffness = std::numeric_limits<double>::quiet_NaN();
    try {
      system.soe->form(nullptr, terms);
      DirectSolver(way.method).solve(*system.soe);
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::not_finite);
      EXPECT_EQ(error.where().rfind("node ", 0), 0u) << error.what();
      EXPECT_EQ(std::string(error.what()).find("equation "), std::string::npos) << error.what();
    }
  }
}

TEST(DirectSolver, RenamesEveryEquationOfAText) {
  const auto name = [](std::int64_t k) { return "<" + std::to_string(k) + ">"; };
  EXPECT_EQ(rename_equations("equation 12: coupled with equation 3; an equation of equations", name),
            "<12>: coupled with <3>; an equation of equations");
  EXPECT_EQ(rename_equations("", name), "");
}

TEST(UpperTriangle, AMissingDiagonalEntryIsAZero) {
  // Rows (0: columns 1), (1: columns 0, 1), (2: none).
  HostMatrix m;
  m.row_start = {0, 1, 3, 3};
  m.column = {1, 0, 1};
  m.value = {5, 5, 7};
  const SymmetricCsr a = upper_triangle(m, {});
  check_pattern(a);
  EXPECT_EQ(a.column, (std::vector<std::int32_t>{0, 1, 1, 2}));
  EXPECT_EQ(a.value, (std::vector<double>{0, 5, 7, 0}));
}

TEST(JudgeSolution, BelievesSmallResidualsAndSmallChanges) {
  int refined = 0;
  const auto judge = [&](double residual, double change) {
    refined = 0;
    return check_solution([=] { return residual; },
                          [&, change] {
                            ++refined;
                            return change;
                          });
  };
  EXPECT_TRUE(judge(1e-9, 1).accepted);
  EXPECT_EQ(refined, 0);
  EXPECT_TRUE(judge(1e-3, 1e-5).accepted);
  EXPECT_EQ(refined, 1);
  EXPECT_FALSE(judge(1e-3, 1e-3).accepted);
  EXPECT_FALSE(judge(std::numeric_limits<double>::quiet_NaN(), 0).accepted);
  EXPECT_FALSE(judge(1e-3, std::numeric_limits<double>::quiet_NaN()).accepted);
}

}  // namespace
}  // namespace voussoir::test
