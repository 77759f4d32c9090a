#include <gtest/gtest.h>

#include <cmath>

#include <voussoir/solvers/direct_solver.hpp>
#include <voussoir/solvers/soe/envelope_soe.hpp>

#include "solver_models.hpp"
#include "support/expect_error.hpp"

namespace voussoir::test {
namespace {

using testing::expect_error;

StepResult solve(const Domain& d, const std::string& solver, const std::string& storage = "auto",
                 const std::string& constraints = "transformation", double tolerance = 1e-10) {
  StaticOptions options;
  options.backend = "openmp:2";
  options.solver = solver;
  options.storage = storage;
  options.constraints = constraints;
  options.relative_tolerance = tolerance;
  return make_static_analysis(d, options)->run().at(0);
}

TEST(Names, ThatDoNotExistAreRefusedWithThoseThatDo) {
  expect_error(ErrorCode::not_found, {"solver 'cg+ilu'", "fsai", "amg"}, [] { make_solver("cg+ilu"); });
  expect_error(ErrorCode::not_found, {"solver 'direct:superlu'"}, [] { make_solver("direct:superlu"); });
  expect_error(ErrorCode::not_found, {"solver ''"}, [] { make_solver(""); });
  expect_error(ErrorCode::not_found, {"storage 'coo'", "matrix-free"}, [] { make_soe("coo"); });
  Domain d;
  add_bar(d);
  StaticOptions options;
  options.backend = "openmp:1";
  options.constraints = "lagrange";
  expect_error(ErrorCode::not_found, {"constraint handler 'lagrange'", "penalty"},
               [&] { make_static_analysis(d, options); });
  options = {};
  options.numbering = "amd";
  options.backend = "openmp:1";
  expect_error(ErrorCode::not_found, {"numbering 'amd'", "rcm"}, [&] { make_static_analysis(d, options); });
}

TEST(Auto, SaysWhatItChoseAndWhy) {
  Domain solid;
  add_bar(solid);
  EXPECT_NE(solve(solid, "auto").report.choice.find("135 unknowns in a 3D mesh are factorised in seconds"),
            std::string::npos)
      << solve(solid, "auto").report.choice;
  EXPECT_NE(solve(solid, "auto", "auto", "penalty").report.choice.find("penalty springs give ill-conditioned matrices"),
            std::string::npos);
  const SolveReport free = solve(solid, "auto", "matrix-free").report;
  EXPECT_NE(free.choice.find("storage 'matrix-free' stores no matrix"), std::string::npos);
  EXPECT_EQ(free.solver, "cg+chebyshev(4) on matrix-free");
  EXPECT_EQ(solve(solid, "auto", "element").report.solver, "cg+block-jacobi on element");

  Domain bar;
  bar.add_node(1, 0, 0, 0);
  bar.add_node(2, 1, 0, 0);
  auto& block = bar.add_block("bar", "truss");
  block.set_material(std::make_shared<IsotropicMaterial>("steel", 1000, 0.3)).set_section("area", 2).add(1, {1, 2});
  bar.add_node_set("start", {1});
  bar.add_node_set("end", {2});
  bar.prescribe("start", "all");
  bar.prescribe("end", "uy");
  bar.prescribe("end", "uz");
  bar.add_load_case("pull").nodal("end", "ux", 5);
  const StepResult r = solve(bar, "auto");
  EXPECT_NE(r.report.choice.find("trusses, beams and springs"), std::string::npos) << r.report.choice;
  EXPECT_DOUBLE_EQ(r.unknowns.at(1, "ux"), 5.0 / 2000);
}

TEST(Auto, IteratesWhatIsTooLargeToEliminate) {
  // 24 000 unknowns: many for elimination in space, few in the plane.
  Domain solid;
  BoxMesh mesh;
  mesh.type = "solid.hex8.full";
  mesh.cells = {19, 19, 19};
  add_box_mesh(solid, mesh).set_material(std::make_shared<IsotropicMaterial>("steel", 1000, 0.3));
  solid.prescribe("xmin", "all");
  solid.add_load_case("pull").traction("xmax", {1, 0, 0});
  const SolveReport report = solve(solid, "auto", "auto", "transformation", 1e-2).report;
  EXPECT_EQ(report.solver, "cg+amg on bsr");
  EXPECT_NE(report.choice.find("24000 unknowns in a 3D mesh exceed the range in which a direct solver is fastest"),
            std::string::npos)
      << report.choice;

  Domain plane;
  mesh.type = "plane_strain.quad4";
  mesh.cells = {180, 180, 1};
  add_box_mesh(plane, mesh).set_material(std::make_shared<IsotropicMaterial>("steel", 1000, 0.3));
  StaticOptions options;
  options.backend = "openmp:1";
  EXPECT_EQ(make_static_analysis(plane, options)->collaborators().solver->name(), "direct");
}

TEST(Advice, NeverNamesTheSolverThatHasJustFailed) {
  const auto advice = [](const std::string& solver, const std::string& own = {}, bool positive = true) {
    SolveReport report;
    report.solver = solver;
    report.reason = "of no avail";
    report.advice = own;
    report.not_positive_definite = !positive;
    return std::string(NotConverged(report, {}, "pull").what());
  };
  for (const char* direct : {"direct, mumps (METIS nested dissection)", "newton-raphson, direct, band of half width 3"})
    for (const bool positive : {true, false}) {
      const std::string text = advice(direct, {}, positive);
      EXPECT_EQ(text.find("the direct solver"), std::string::npos) << text;
      EXPECT_NE(text.find(positive ? "cg+amg" : "supports"), std::string::npos) << text;
    }
  const std::string iterated = advice("cg+jacobi on bsr");
  EXPECT_NE(iterated.find("Try another preconditioner, more iterations, or the direct solver"), std::string::npos)
      << iterated;
  const std::string own = advice("direct, mumps (METIS)", "Before that, cg+amg did not converge");
  EXPECT_EQ(own.find("try cg+amg"), std::string::npos) << own;
  EXPECT_NE(own.find("Before that"), std::string::npos) << own;
}

TEST(Storages, EveryCombinationSolvesAlikeOrSaysWhyNot) {
  Domain d;
  add_bar(d);
  const StepResult reference = solve(d, "direct", "csr");
  const double size = std::abs(reference.unknowns.largest("ux").value);
  int solved = 0;
  for (const std::string& solver : stock_solver_names())
    for (const std::string& storage : soe_names()) {
      SCOPED_TRACE(solver + " on " + storage);
      const bool stored = storages().find(storage).stores_matrix;
      if (solver.starts_with("direct:") && !why_unavailable(direct_method(solver.substr(7))).empty()) {
        if (stored && storage != "band" && storage != "profile")
          expect_error(ErrorCode::unavailable, {solver == "direct:mumps" ? "MUMPS" : "CHOLMOD"},
                       [&] { solve(d, solver, storage); });
        continue;
      }
      if (!stored && (solver.starts_with("direct") || solver.ends_with("+fsai"))) {
        expect_error(ErrorCode::misuse, {"stored matrix", storage}, [&] { solve(d, solver, storage); });
        continue;
      }
      if ((storage == "band" || storage == "profile") && solver.starts_with("direct:") &&
          solver != "direct:" + storage) {
        expect_error(ErrorCode::bad_input, {solver, storage}, [&] { solve(d, solver, storage); });
        continue;
      }
      const StepResult r = solve(d, solver, storage);
      ++solved;
      EXPECT_LE(r.report.true_residual, 1.1e-10);
      for (std::size_t i = 0; i < r.unknowns.values.size(); ++i)
        ASSERT_NEAR(r.unknowns.values[i], reference.unknowns.values[i], 1e-7 * size);
    }
  EXPECT_GE(solved, 48);
}

TEST(Storages, BlocksNeedTheSameUnknownsEverywhere) {
  Domain d;
  add_bar(d);
  d.add_node(1000, 3, 0, 0);
  const Id end = d.node_id(d.node_set("xmax")[0]);
  auto& beam = d.add_block("beam", "beam");
  auto m = std::make_shared<IsotropicMaterial>("steel", 1000, 0.3);
  m->set("shear_modulus", 400);
  beam.set_material(m);
  for (const char* p : {"area", "inertia_y", "inertia_z", "torsion", "shear_area_y", "shear_area_z", "orientation_z"})
    beam.set_section(p, 1);
  beam.set_section("orientation_x", 0).set_section("orientation_y", 0);
  beam.add(1000, {end, 1000});
  d.add_node_set("tip", {1000});
  d.prescribe("tip", "all");
  expect_error(ErrorCode::bad_input, {"same number of unknowns", "csr"}, [&] { solve(d, "direct", "bsr"); });
  // Left to itself the analysis takes CSR.
  const StepResult r = solve(d, "auto"), iterated = solve(d, "cg+jacobi", "element");
  for (std::size_t i = 0; i < r.unknowns.values.size(); ++i) {
    const double expected = r.unknowns.values[i], found = iterated.unknowns.values[i];
    ASSERT_EQ(std::isnan(expected), std::isnan(found));
    ASSERT_FALSE(std::abs(found - expected) > 1e-7) << i;
  }
}

TEST(Storages, EnvelopesAreNumberedNarrow) {
  Domain d;  // layers along x, numbered against the grain: x fastest
  const int cells[] = {20, 2, 2};
  for (int k = 0; k <= cells[2]; ++k)
    for (int j = 0; j <= cells[1]; ++j)
      for (int i = 0; i <= cells[0]; ++i) d.add_node(1 + i + 21 * (j + 3 * k), i, j, k);
  auto& block = d.add_block("box", "solid.hex8");
  block.set_material(std::make_shared<IsotropicMaterial>("steel", 1000, 0.3));
  Id id = 1;
  for (int k = 0; k < 2; ++k)
    for (int j = 0; j < 2; ++j)
      for (int i = 0; i < 20; ++i) {
        const Id a = 1 + i + 21 * (j + 3 * k), b = a + 21, c = a + 63, e = c + 21;
        block.add(id++, {a, a + 1, b + 1, b, c, c + 1, e + 1, e});
      }
  d.add_node_set_where("wall", [](double x, double, double) { return x == 0; });
  d.add_node_set_where("end", [](double x, double, double) { return x == 20; });
  d.prescribe("wall", "all");
  d.add_load_case("tip").nodal("end", "uz", 1);
  const StepResult reference = solve(d, "direct", "csr");
  for (const char* storage : {"band", "profile"}) {
    std::vector<std::size_t> bytes;
    for (const char* numbering : {"plain", "rcm", "auto"}) {
      StaticOptions options;
      options.backend = "openmp:2";
      options.storage = storage;
      options.numbering = numbering;
      const auto r = make_static_analysis(d, options)->run();
      bytes.push_back(r[0].report.memory_bytes);
      EXPECT_NE(r[0].report.solver.find(storage), std::string::npos) << r[0].report.solver;
      const double size = std::abs(reference.unknowns.largest("uz").value);
      for (std::size_t i = 0; i < r[0].unknowns.values.size(); ++i)
        ASSERT_NEAR(r[0].unknowns.values[i], reference.unknowns.values[i], 1e-8 * size) << storage << ", " << numbering;
    }
    EXPECT_LT(2 * bytes[1], bytes[0]) << storage;  // 9 nodes in a layer instead of 63
    EXPECT_EQ(bytes[1], bytes[2]);
  }
}

TEST(Reports, TrueResidualsAreTrue) {
  Domain d;
  add_bar(d);
  for (const char* solver : {"direct", "direct:eigen", "cg+none", "cg+fsai"})
    for (const char* storage : {"csr", "bsr", "band", "profile"}) {
      System s(d, storage);
      const SolveReport report = make_solver(solver, 1e-6)->solve(*s.soe);
      const Eigen::VectorXd b = s.on_free(s.soe->b());
      const double residual = (b - s.dense() * s.on_free(s.soe->x())).norm() / b.norm();
      EXPECT_NEAR(report.true_residual, residual, 1e-13 + 1e-6 * residual) << solver << " on " << storage;
      EXPECT_EQ(report.converged, residual < 1.1e-6);
      // And one that lies about x is found out.
      s.model.backend().scale(1.01, s.soe->x());
      EXPECT_NEAR(true_residual(*s.soe), 0.01, 1e-4);
    }
}

TEST(Reports, LoadCasesTogetherAreLoadCasesOneByOne) {
  Domain d;
  add_bar(d);
  for (const char* solver : {"direct", "direct:eigen", "direct:band", "cg"}) {
    StaticOptions options;
    options.backend = "openmp:2";
    options.solver = solver;
    options.relative_tolerance = 1e-11;
    auto together = make_static_analysis(d, options);
    together->add_step({"pull", {{"pull", 1}}});
    together->add_step({"weight", {{"weight", 1}}});
    together->add_step({"none", {}});
    const auto all = together->run();
    for (std::size_t i = 0; i < 2; ++i) {
      auto one = make_static_analysis(d, options);
      one->add_step({all[i].step, {{all[i].step, 1}}});
      const auto alone = one->run();
      const double size = std::abs(alone[0].unknowns.largest("ux").value);
      for (std::size_t k = 0; k < alone[0].unknowns.values.size(); ++k)
        ASSERT_NEAR(all[i].unknowns.values[k], alone[0].unknowns.values[k], 1e-8 * size) << solver;
      EXPECT_NEAR(all[i].energy, alone[0].energy, 1e-8 * alone[0].energy);
    }
    EXPECT_EQ(all[2].energy, 0);
  }
}

}  // namespace
}  // namespace voussoir::test
