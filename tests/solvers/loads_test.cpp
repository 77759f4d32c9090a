#include <gtest/gtest.h>

#include <cmath>

#include <voussoir/framework/analysis/results.hpp>

#include "solver_models.hpp"
#include "support/expect_error.hpp"

// Answers must not depend on how large a load is, nor on what else is loaded.

namespace voussoir::test {
namespace {

const std::vector<std::string> solvers = [] {
  std::vector<std::string> names = cg_solvers();
  names.insert(names.begin(), {"direct", "direct:band"});
  return names;
}();

std::vector<StepResult> solve(const Domain& d, const std::string& solver, const std::string& storage = "auto",
                              const std::string& backend = "openmp:2") {
  StaticOptions options;
  options.backend = backend;
  options.solver = solver;
  options.storage = storage;
  return make_static_analysis(d, options)->run();
}

/// A bar of bricks, clamped at one end, with its own sets.
void add_bar_at(Domain& d, const std::string& prefix, std::array<int, 3> cells, double y) {
  BoxMesh mesh;
  mesh.cells = cells;
  mesh.lower = {0, y, 0};
  mesh.upper = {4, y + 1, 1};
  mesh.block = prefix + "bar";
  mesh.set_prefix = prefix;
  add_box_mesh(d, mesh).set_material(std::make_shared<IsotropicMaterial>(prefix + "steel", 210e9, 0.3));
  d.prescribe(prefix + "xmin", "all");
}

TEST(LightlyLoadedBody, IsAsExactAsIfItWereAlone) {
  for (const double light : {1e-3, 1e-7, 1e-12}) {
    Domain both, alone;
    add_bar_at(both, "a_", {16, 4, 4}, 0);
    add_bar_at(both, "b_", {12, 3, 3}, 5);
    both.add_load_case("loads").traction("a_xmax", {0, 0, 1e6}).traction("b_xmax", {0, 0, 1e6 * light});
    add_bar_at(alone, "b_", {12, 3, 3}, 5);
    alone.add_load_case("loads").traction("b_xmax", {0, 0, 1e6 * light});
    const auto expected = solve(alone, "direct").at(0);
    const std::int32_t first = both.node_count() - alone.node_count();
    const double size = std::abs(expected.unknowns.largest("uz").value);
    for (const std::string& solver : solvers) {
      SCOPED_TRACE(solver + ", " + std::to_string(light));
      const auto result = solve(both, solver).at(0);
      EXPECT_LE(result.report.true_residual, 1.05e-8);
      double worst = 0;
      for (std::int32_t n = 0; n < alone.node_count(); ++n)
        for (int c = 0; c < 3; ++c)
          worst = std::max(worst, std::abs(result.unknowns.at(first + n, c) - expected.unknowns.at(n, c)));
      EXPECT_LE(worst, 1e-5 * size);
    }
  }
}

TEST(LightlyLoadedBody, IsJudgedByItselfOnEveryBackendStorageAndColumn) {
  Domain both;
  add_bar_at(both, "a_", {8, 2, 2}, 0);
  add_bar_at(both, "b_", {6, 2, 2}, 5);
  both.add_load_case("heavy").traction("a_xmax", {0, 0, 1e6}).traction("b_xmax", {0, 0, 1e-3});
  both.add_load_case("light").traction("b_xmax", {0, 1, 0});
  StaticOptions options;
  options.solver = "direct";
  options.backend = "openmp:1";
  const auto run = [&] {
    auto analysis = make_static_analysis(both, options);
    analysis->add_step({"heavy", {{"heavy", 1.0}}, 1});
    analysis->add_step({"light", {{"light", 1.0}}, 1});
    return analysis->run();
  };
  const auto expected = run();
  const std::int32_t end = both.node_set("b_xmax")[0];
  for (const char* backend : {"openmp:2", "debug:2"})
    for (const char* storage : {"csr", "bsr", "element", "matrix-free"}) {
      options.backend = backend;
      options.storage = storage;
      options.solver = "cg+jacobi";
      SCOPED_TRACE(std::string(backend) + ", " + storage);
      const auto found = run();
      ASSERT_EQ(found.size(), 2u);
      for (std::size_t s = 0; s < 2; ++s) {
        EXPECT_LE(found[s].report.true_residual, 1.05e-8);
        const int c = s == 0 ? 2 : 1;
        EXPECT_NEAR(found[s].unknowns.at(end, c) / expected[s].unknowns.at(end, c), 1, 1e-5);
      }
      // Nothing acts on the first bar in the second step.
      EXPECT_EQ(found[1].unknowns.at(both.node_set("a_xmax")[0], 2), 0);
    }
}

TEST(UnloadedBody, StaysWhereItIsWhateverTheStart) {
  Domain both;
  add_bar_at(both, "a_", {4, 1, 1}, 0);
  add_bar_at(both, "b_", {4, 1, 1}, 5);
  both.add_load_case("load").traction("a_xmax", {0, 0, 1});
  System s(both, "bsr");
  EXPECT_EQ(s.soe->bodies().count(), 2);
  s.model.backend().fill(s.soe->x(), 1e-3);
  const SolveReport report = make_solver("cg+jacobi")->solve(*s.soe);
  EXPECT_TRUE(report.converged) << report.reason;
  EXPECT_LE(report.true_residual, 1.05e-8);
  const auto x = s.soe->x().to_host();
  for (const std::int32_t e : s.free)
    if (s.soe->bodies().of(e) == 1) {
      ASSERT_EQ(x[static_cast<std::size_t>(e)], 0);
    }
}

TEST(Loads, OfAnySizeGiveTheSameAnswerButForItsSize) {
  Domain plain;
  add_bar_at(plain, "", {4, 2, 2}, 0);
  plain.add_load_case("pull").traction("xmax", {0, 0, 1});
  const std::int32_t end = plain.node_set("xmax")[0];
  const double expected = solve(plain, "direct").at(0).unknowns.at(end, 2);
  for (const double size : {1e-280, 1e-200, 1e-30, 1e30, 1e150})
    for (const std::string& solver : solvers) {
      SCOPED_TRACE(solver + ", " + std::to_string(std::log10(size)));
      Domain d;
      add_bar_at(d, "", {4, 2, 2}, 0);
      d.add_load_case("pull").traction("xmax", {0, 0, size});
      const auto result = solve(d, solver).at(0);
      EXPECT_NEAR(result.unknowns.at(end, 2) / size / expected, 1, 1e-6);
      EXPECT_LE(result.report.true_residual, 1.05e-8);
      const auto stress = nodal_stress(d, result);
      const double mises = stress.at(0).field.largest("mises").value;
      EXPECT_TRUE(std::isfinite(mises));
      EXPECT_GT(mises / size, 1);
    }
}

TEST(Loads, WhoseEnergyIsBeyondAllNumbersAreRefusedInWords) {
  Domain d;
  add_bar_at(d, "", {4, 2, 2}, 0);
  d.add_load_case("pull").traction("xmax", {0, 0, 1e250});
  for (const std::string& solver : solvers)
    testing::expect_error(ErrorCode::not_finite, {"element", "not finite"}, [&] { solve(d, solver); });
}

TEST(PrescribedValues, OfAnySizeGiveStresses) {
  for (const double size : {1e-200, 1.0, 1e150})
    for (const std::string& solver : solvers) {
      SCOPED_TRACE(solver + ", " + std::to_string(std::log10(size)));
      Domain d;
      BoxMesh mesh;
      mesh.cells = {3, 2, 2};
      add_box_mesh(d, mesh).set_material(std::make_shared<IsotropicMaterial>("soft", 1000, 0.0));
      d.prescribe("xmin", "all");
      d.prescribe("xmax", "ux", size);
      const auto result = solve(d, solver).at(0);
      // Without lateral contraction the stretched bar is in uniaxial stress E · size.
      EXPECT_NEAR(nodal_stress(d, result).at(0).field.largest("mises").value / size / 1000, 1, 1e-6);
    }
}

}  // namespace
}  // namespace voussoir::test
