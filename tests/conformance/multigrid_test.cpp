#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string_view>

#include <voussoir/solvers/amg/amg_preconditioner.hpp>
#include <voussoir/solvers/cg_solver.hpp>

#include "backends_under_test.hpp"
#include "models.hpp"
#include "solvers/solver_models.hpp"

// Multigrid is the same hierarchy on every backend: as many levels, as many rows and entries on each, as many
// iterations, and the same solution.

namespace voussoir::conformance {
namespace {

using voussoir::test::System;

struct Hierarchy {
  std::vector<AmgLevelReport> levels;
  int iterations = 0;
  bool converged = false;
  std::vector<double> solution;
  std::vector<double> again;  ///< solved a second time, for values that were formed anew
};

Hierarchy solve(const Domain& domain, const std::string& storage, const std::string& backend, const std::string& how) {
  System s(domain, storage, backend);
  auto amg = std::make_shared<AmgPreconditioner>(AmgOptions::parse(how));
  CgSolver solver(amg, {1e-10, 300});
  const SolveReport report = solver.solve(*s.soe);
  Hierarchy h{amg->levels(), report.iterations, report.converged, s.soe->x().to_host(), {}};
  s.integrator.form_tangent(s.model, s.state, *s.soe);
  s.model.backend().fill(s.soe->x(), 0.0);
  solver.solve(*s.soe);
  h.again = s.soe->x().to_host();
  return h;
}

void expect_same_hierarchy(const Hierarchy& a, const Hierarchy& b) {
  ASSERT_EQ(a.levels.size(), b.levels.size());
  for (std::size_t l = 0; l < a.levels.size(); ++l) {
    EXPECT_EQ(a.levels[l].rows, b.levels[l].rows) << "level " << l;
    EXPECT_EQ(a.levels[l].entries, b.levels[l].entries) << "level " << l;
    EXPECT_NEAR(a.levels[l].largest_eigenvalue, b.levels[l].largest_eigenvalue, 1e-6) << "level " << l;
  }
}

void expect_near(const std::vector<double>& a, const std::vector<double>& b, double tolerance) {
  ASSERT_EQ(a.size(), b.size());
  double size = 0, distance = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    size += b[i] * b[i];
    distance += (a[i] - b[i]) * (a[i] - b[i]);
  }
  EXPECT_LE(std::sqrt(distance), tolerance * std::sqrt(size));
}

struct MultigridOn : ::testing::TestWithParam<std::string> {
  /// The oracle's answer, computed once.
  static const Hierarchy& reference(const std::string& key, const Domain& domain, const std::string& storage,
                                    const std::string& how) {
    static std::map<std::string, Hierarchy> known;
    const auto it = known.find(key + how);
    return it != known.end() ? it->second : known.emplace(key + how, solve(domain, storage, oracle, how)).first->second;
  }
};

TEST_P(MultigridOn, HasTheSameHierarchyForEveryModel) {
  int with_levels = 0;
  for (const TestModel& model : test_models()) {
    if (!model.iterates) continue;
    SCOPED_TRACE(model.name);
    Domain domain;
    model.build(domain);
    const std::string storage = model.uniform ? "bsr" : "csr", how = "full,coarsest=12";
    const Hierarchy& expected = reference(model.name, domain, storage, how);
    const Hierarchy here = solve(domain, storage, GetParam(), how);
    EXPECT_TRUE(expected.converged);
    EXPECT_TRUE(here.converged);
    with_levels += here.levels.size() > 1;
    EXPECT_EQ(here.iterations, expected.iterations);
    expect_same_hierarchy(here, expected);
    expect_near(here.solution, expected.solution, 1e-7);
  }
  EXPECT_GE(with_levels, 3);
}

TEST_P(MultigridOn, ConvergesAlikeInEveryForm) {
  Domain d;
  BoxMesh mesh;
  mesh.type = "solid.hex8.full";
  mesh.cells = {7, 3, 2};
  mesh.upper = {2.7, 1, 1};
  add_box_mesh(d, mesh).set_material(std::make_shared<IsotropicMaterial>("steel", 210e9, 0.3, 7850));
  d.prescribe("xmin", "all");
  d.add_load_case("pull").traction("xmax", {0, 0, -1e6});
  for (const char* how :
       {"full,coarsest=24", "single,coarsest=24", "single,coarsest=24,k-cycle", "full,coarsest=24,l1-jacobi",
        "full,coarsest=24,direct", "full,coarsest=24,fsai", "single,coarsest=24,fsai"}) {
    SCOPED_TRACE(how);
    const Hierarchy& expected = reference("box", d, "bsr", how);
    ASSERT_TRUE(expected.converged);
    EXPECT_LE(expected.iterations, 60);
    const Hierarchy here = solve(d, "bsr", GetParam(), how);
    EXPECT_TRUE(here.converged);
    EXPECT_NEAR(here.iterations, expected.iterations, 1);  // rounding of single precision may cost one
    expect_same_hierarchy(here, expected);
    expect_near(here.solution, expected.solution, 1e-7);
    expect_near(here.again, here.solution, 1e-8);
    // The others have all kernels in them; and in the emulation no order can change.
    if (std::string_view(how).starts_with("full,coarsest=24,") || GetParam().starts_with("emulated")) continue;
    const Hierarchy second = solve(d, "bsr", GetParam(), how);
    EXPECT_EQ(here.solution, second.solution);
    EXPECT_EQ(here.again, second.again);
  }
}

TEST_P(MultigridOn, IsDividedOverItsDevices) {
  if (Backend::open(GetParam())->devices() == 1) return;
  Domain d;
  BoxMesh mesh;
  mesh.type = "solid.hex8.full";
  mesh.cells = {3, 2, 8};
  mesh.upper = {1, 1, 2.7};
  add_box_mesh(d, mesh).set_material(std::make_shared<IsotropicMaterial>("steel", 210e9, 0.3, 7850));
  d.prescribe("zmin", "all");
  d.add_load_case("pull").traction("zmax", {0, 1e6, 0});
  for (const char* how :
       {"full,coarsest=24,gather=24", "single,coarsest=24,gather=24", "single,coarsest=24,gather=24,fsai"}) {
    SCOPED_TRACE(how);
    const Hierarchy& expected = reference("divided box", d, "bsr", how);
    const Hierarchy here = solve(d, "bsr", GetParam(), how);
    EXPECT_TRUE(here.converged);
    EXPECT_LE(here.iterations, expected.iterations + 3);
    EXPECT_GT(here.levels.front().device_bytes.back(), 0u);
    EXPECT_EQ(here.levels.front().entries, expected.levels.front().entries);
    expect_near(here.solution, expected.solution, 1e-7);
    expect_near(here.again, here.solution, 1e-8);
  }
}

INSTANTIATE_TEST_SUITE_P(Conformance, MultigridOn, ::testing::ValuesIn(backends_under_test()),
                         [](const auto& info) { return test_name(info.param); });

}  // namespace
}  // namespace voussoir::conformance
