// Schwarz methods for matrices that are not symmetric: answers, iterations, and what is refused.
#include <gtest/gtest.h>

#include <cmath>

#include <voussoir/elements/register.hpp>
#include <voussoir/partition/decomposition_study.hpp>
#include <voussoir/partition/part_solver.hpp>
#include <voussoir/partition/partitioners.hpp>
#include <voussoir/solvers/matrix_system.hpp>

#include "loaded_bar.hpp"
#include "support/decomposition_check.hpp"
#include "support/expect_error.hpp"
#include "unsymmetric_models.hpp"

VSR_REGISTER_ELEMENT(voussoir::testing::StreamLaw, Quad4);
VSR_REGISTER_ELEMENT(voussoir::testing::DriftingSolidLaw, Hex8);
VSR_REGISTER_ELEMENT(voussoir::testing::WarmSolidLaw, Hex8);

namespace voussoir {
namespace {

using testing::add_drifting_bar;
using testing::add_stream;
using testing::add_warm_bar;
using testing::expect_close;
using testing::expect_error;
using testing::solved;

const std::vector<std::string>& unsymmetric_schwarz_methods() {
  static const std::vector<std::string> methods{"gmres+asm",     "gmres+asm2",   "gmres+ras",     "gmres+ras2",
                                                "gmres+msm",     "gmres+msm2",   "bicgstab+asm2", "bicgstab+ras",
                                                "bicgstab+ras2", "bicgstab+msm", "bicgstab+asm",  "bicgstab+msm2"};
  return methods;
}

/// All methods against LU of the whole.
void expect_answer_of_lu(const Domain& domain, std::initializer_list<int> parts, const std::string& more,
                         const std::string& backend = "openmp:2") {
  const StepResult direct = solved(domain, "direct");
  EXPECT_NE(direct.report.solver.find("LU"), std::string::npos) << direct.report.solver;
  for (const std::string& method : unsymmetric_schwarz_methods())
    for (const int p : parts) {
      SCOPED_TRACE(method + ", " + std::to_string(p) + " parts" + more);
      const StepResult result = solved(domain, method + ":parts=" + std::to_string(p) + more, backend);
      expect_close(result.unknowns, direct.unknowns, 1e-8);
      expect_close(result.reactions, direct.reactions, 1e-7);
    }
}

TEST(UnsymmetricSchwarz, GivesTheAnswerOfLuForAStream) {
  Domain domain;
  add_stream(domain, 12);
  expect_answer_of_lu(domain, {1, 2, 5, 16}, ",cut=rcb");
  expect_answer_of_lu(domain, {3, 11}, ",cut=sfc,overlap=2");
  expect_answer_of_lu(domain, {7}, ",cut=rcm,overlap=0");
  if (MetisPartitioner::available()) expect_answer_of_lu(domain, {8}, ",cut=metis");
}

TEST(UnsymmetricSchwarz, GivesTheAnswerOfLuForASolid) {
  Domain domain;
  add_drifting_bar(domain, 2);
  expect_answer_of_lu(domain, {2, 6, 16}, ",cut=rcb");
}

TEST(UnsymmetricSchwarz, GivesTheAnswerOfLuForSeveralFields) {
  Domain domain;
  add_warm_bar(domain, 2);
  expect_answer_of_lu(domain, {2, 6}, ",cut=rcb");
}

TEST(UnsymmetricSchwarz, GivesTheAnswerOfLuWithConstraintsAcrossInterfaces) {
  Domain domain;
  add_drifting_bar(domain, 2);
  // Oblique supports along a whole edge, some of them moved, and an equation from end to end of the bar.
  EXPECT_GT(testing::support_edge_obliquely(domain), 4);
  const Id far = domain.node_id(domain.node_set("xmax")[4]);
  domain.add_node_set_where("close",
                            [](double x, double y, double z) { return x > 0.4 && x < 0.6 && y > 0.9 && z > 0.9; });
  ASSERT_FALSE(domain.node_set("close").empty());
  domain.add_equation({{far, "uz", 1.0}, {domain.node_id(domain.node_set("close")[0]), "uz", -0.5}}, 0.01);
  expect_answer_of_lu(domain, {2, 6}, ",cut=rcb");
  expect_answer_of_lu(domain, {5}, ",cut=rcb", "debug:2");
}

TEST(UnsymmetricSchwarz, SolvesMatricesThatAreAssembledForTheSetUp) {
  Domain domain;
  add_stream(domain, 10);
  const StepResult direct = solved(domain, "direct");
  for (const char* storage : {"csr", "bsr", "element"}) {
    SCOPED_TRACE(storage);
    StaticOptions options;
    options.backend = "debug:3";
    options.solver = "gmres+ras2:parts=5,cut=rcb";
    options.storage = storage;
    options.relative_tolerance = 1e-11;
    expect_close(make_static_analysis(domain, options)->run().front().unknowns, direct.unknowns, 1e-8);
  }
}

TEST(UnsymmetricSchwarz, OnePartIsAFactorisation) {
  // A⁻¹ as a preconditioner: one direction, and three products for residuals before and after it. A coarse space that
  // is added gives two eigenvalues, and so two directions. A factor of the symmetric part of A takes many.
  Domain domain;
  add_stream(domain, 12, 0.02);
  for (const char* solver : {"gmres+asm:parts=1", "gmres+ras:parts=1", "gmres+msm:parts=1", "gmres+msm2:parts=1"})
    EXPECT_LE(solved(domain, solver).report.iterations, 4) << solver;
  for (const char* solver : {"gmres+asm2:parts=1", "gmres+ras2:parts=1"})
    EXPECT_LE(solved(domain, solver).report.iterations, 5) << solver;
}

TEST(UnsymmetricSchwarz, TwoLevelsKeepIterationsFromGrowing) {
  // Parts of 5 × 5 elements: the second level carries what one level passes on from part to part.
  const auto iterations = [](const std::string& method, int across) {
    Domain domain;
    add_stream(domain, 5 * across, 0.5);
    return solved(domain, method + ":cut=rcb,parts=" + std::to_string(across * across)).report.iterations;
  };
  for (const std::string method : {"gmres+asm", "gmres+ras", "gmres+msm"}) {
    const int few = iterations(method, 2), many = iterations(method, 8), few2 = iterations(method + "2", 2),
              many2 = iterations(method + "2", 8);
    EXPECT_GT(many, 1.9 * few) << method;
    EXPECT_LT(many2, 1.9 * few2 + 4) << method;
    EXPECT_LT(many2, 0.9 * many) << method;
  }
}

TEST(UnsymmetricSchwarz, HasTheSameBitsForAnyNumberOfThreads) {
  Domain domain;
  add_drifting_bar(domain, 2);
  for (const char* solver : {"gmres+ras2:parts=6,cut=rcb", "bicgstab+asm:parts=6,cut=rcb"}) {
    const auto one = solved(domain, solver, "openmp:1").unknowns.values;
    for (const char* backend : {"openmp:2", "openmp:4"})
      EXPECT_EQ(solved(domain, solver, backend).unknowns.values, one) << solver << " on " << backend;
  }
}

/// A part solver of a user for symmetric matrices, and one for all.
class LentSolver : public PartSolver {
 public:
  LentSolver() : inner_(make_part_solver("direct")) {}
  std::string name() const override { return "lent"; }
  void set_up(const SymmetricCsr& matrix, const std::string& where,
              const std::function<std::string(std::int64_t)>& label) override {
    inner_->set_up(matrix, where, label);
  }
  void solve(std::span<double> b_and_x) override { inner_->solve(b_and_x); }
  std::size_t bytes() const override { return inner_->bytes(); }

 protected:
  std::unique_ptr<PartSolver> inner_;
};
class LentUnsymmetricSolver : public LentSolver, public UnsymmetricPartSolver {
 public:
  void set_up_unsymmetric(const GeneralCsr& matrix, const std::string& where,
                          const std::function<std::string(std::int64_t)>& label) override {
    unsymmetric_part_solver(*inner_)->set_up_unsymmetric(matrix, where, label);
  }
};
/// One that says that it is not linear, and one that fails when it solves.
class LentVaryingSolver final : public LentUnsymmetricSolver {
 public:
  bool is_exact() const override { return false; }
  bool is_flexible() const override { return true; }
};
class LentFailingSolver final : public LentUnsymmetricSolver {
 public:
  void solve(std::span<double>) override { throw Error(ErrorCode::not_converged, "it gives up", "part solver"); }
};
VSR_REGISTER(part_solvers, "test-lent-varying", "not linear, it says",
             PartSolverFactory{[](const std::string&) { return std::make_unique<LentVaryingSolver>(); }});
VSR_REGISTER(part_solvers, "test-lent-failing", "never converges",
             PartSolverFactory{[](const std::string&) { return std::make_unique<LentFailingSolver>(); }});
VSR_REGISTER(part_solvers, "test-lent", "for symmetric matrices",
             PartSolverFactory{[](const std::string&) { return std::make_unique<LentSolver>(); }});
VSR_REGISTER(part_solvers, "test-lent-unsymmetric", "for all matrices",
             PartSolverFactory{[](const std::string&) { return std::make_unique<LentUnsymmetricSolver>(); }});

TEST(UnsymmetricSchwarz, AcceptsPartSolversThatTakeUnsymmetricMatrices) {
  Domain stream, bar;
  add_stream(stream, 8);
  add_drifting_bar(bar, 1);
  for (const Domain* domain : {&stream, &bar}) {
    const StepResult direct = solved(*domain, "direct");
    for (const char* parts : {"direct:eigen", "gmres+block-jacobi", "bicgstab+jacobi", "block-jacobi", "jacobi",
                              "gmres+asm:parts=2", "test-lent-unsymmetric"})
      for (const std::string method : {"gmres+ras2", "gmres+msm"}) {
        SCOPED_TRACE(method + ", parts by " + parts);
        // One thread: nested iterations on small vectors are all barriers otherwise.
        expect_close(solved(*domain, method + ":parts=4,cut=rcb,solver=" + parts, "openmp:1").unknowns, direct.unknowns,
                     1e-8);
      }
    if (why_unavailable(DirectMethod::mumps).empty())
      expect_close(solved(*domain, "gmres+asm2:parts=4,cut=rcb,solver=direct:mumps", "debug:2").unknowns,
                   direct.unknowns, 1e-8);
  }
}

TEST(UnsymmetricSchwarz, IsRefusedByNameWhereSymmetryIsNeeded) {
  Domain domain;
  add_stream(domain, 8);
  for (const char* method : {"asm", "asm2", "msm", "msm2", "bddc", "nn"})
    expect_error(ErrorCode::bad_input, {std::string("cg+") + method, "not symmetric", "use gmres"},
                 [&] { solved(domain, std::string("cg+") + method + ":parts=4"); });
  for (const char* solver : {"gmres+bddc:parts=4", "bicgstab+nn:parts=4"})
    expect_error(ErrorCode::bad_input,
                 {std::string(solver).find("bddc") != std::string::npos ? "'bddc'" : "'nn'",
                  "made for symmetric matrices", "use ras2, asm2"},
                 [&] { solved(domain, solver); });
  for (const char* solver : {"schur", "feti-dp"})
    expect_error(ErrorCode::bad_input, {std::string("solver '") + solver, "not symmetric", "use gmres+ras2"},
                 [&] { solved(domain, std::string(solver) + ":parts=4"); });
  for (const char* option : {"coarse=geneo", "solver=amg", "solver=cg+amg", "solver=gmres+fsai", "solver=direct:band",
                             "solver=direct:multifrontal", "solver=chebyshev", "solver=test-lent"})
    expect_error(ErrorCode::bad_input, {std::string("'ras2:") + option + "'", "made for symmetric matrices"},
                 [&] { solved(domain, std::string("gmres+ras2:parts=4,") + option); });
}

TEST(UnsymmetricSchwarz, NamesAPartThatIsSingular) {
  // Each row has one entry, beside the diagonal: the whole is regular, a part of it is not.
  const std::int32_t n = 40;
  HostMatrix shift;
  shift.row_start.push_back(0);
  for (std::int32_t i = 0; i < n; ++i) {
    shift.column.push_back((i + 1) % n);
    shift.value.push_back(1);
    shift.row_start.push_back(i + 1);
  }
  MatrixSystem system(Backend::open("openmp:2"), shift, MatrixSystem::Symmetry::unsymmetric);
  std::vector<double> b(40, 1.0), x(40, 0.0);
  expect_error(ErrorCode::singular, {"the matrix of part ", "is singular", "node ", "use more overlap, fewer parts"},
               [&] { system.solve(*make_solver("gmres+asm:parts=4,cut=rcb"), b, x); });
}

/// Entries on the diagonal and above it only, and a row that depends on many others.
HostMatrix one_way_matrix(std::int32_t n) {
  HostMatrix rows;
  rows.row_start.push_back(0);
  for (std::int32_t i = 0; i < n; ++i) {
    for (std::int32_t j = i; j < n; ++j) {
      if (j != i && j != i + 1 && j != i + 9 && !(i == 3 && j % 5 == 0)) continue;
      rows.column.push_back(j);
      rows.value.push_back(j == i ? 2.0 + 0.01 * i : -0.9 + 0.1 * (j % 3));
    }
    rows.row_start.push_back(static_cast<std::int64_t>(rows.column.size()));
  }
  return rows;
}

TEST(UnsymmetricSchwarz, SolvesGivenMatricesWithUnsymmetricPatterns) {
  const std::int32_t n = 90;
  const HostMatrix rows = one_way_matrix(n);
  std::vector<double> exact, b(static_cast<std::size_t>(n), 0.0);
  for (std::int32_t i = 0; i < n; ++i) exact.push_back(1 + std::sin(i));
  for (std::size_t i = 0; i < b.size(); ++i)
    for (auto k = static_cast<std::size_t>(rows.row_start[i]); k < static_cast<std::size_t>(rows.row_start[i + 1]); ++k)
      b[i] += rows.value[k] * exact[static_cast<std::size_t>(rows.column[k])];
  for (const char* backend : {"openmp:2", "debug:2"})
    for (const std::string& method : unsymmetric_schwarz_methods()) {
      SCOPED_TRACE(method + " on " + backend);
      MatrixSystem system(Backend::open(backend), rows, MatrixSystem::Symmetry::unsymmetric);
      std::vector<double> x(b.size(), 0.0);
      const SolveReport report = system.solve(*make_solver(method + ":parts=4", 1e-12, 500), b, x);
      EXPECT_TRUE(report.converged) << report.reason;
      for (std::size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(x[i], exact[i], 1e-8) << i;
    }
}

TEST(UnsymmetricSchwarz, ServesNewtonsMethodWithFullTangents) {
  Domain heat;
  BoxMesh mesh;
  mesh.type = "heat.hex8";
  mesh.cells = {6, 3, 2};
  auto material = std::make_shared<Material>("steel");
  material->set_table("conductivity", {{0, 50.0}, {400, 12.0}});
  add_box_mesh(heat, mesh).set_material(material);
  heat.prescribe("xmin", "T", 20.0);
  heat.add_load_case("heat").heat_flux("xmax", 6000.0).heat_flux("ymax", 2000.0);
  const auto run = [&](const std::string& solver, const std::string& tangent) {
    StaticOptions options;
    options.backend = "openmp:2";
    options.solver = solver;
    options.tangent = tangent;
    options.relative_tolerance = 1e-11;
    return make_static_analysis(heat, options)->run().front();
  };
  const StepResult direct = run("direct", "full"), picard = run("direct", "symmetric");
  for (const char* solver : {"gmres+ras2:parts=4", "gmres+asm:parts=6,cut=rcb", "bicgstab+msm2:parts=3"}) {
    const StepResult result = run(solver, "auto");
    EXPECT_EQ(result.report.choice.find("symmetric tangent"), std::string::npos) << result.report.choice;
    EXPECT_NE(result.report.choice.find("full tangent"), std::string::npos) << result.report.choice;
    EXPECT_LT(result.report.history.size(), picard.report.history.size()) << solver;
    expect_close(result.unknowns, direct.unknowns, 1e-8);
  }
  // With an option that needs symmetric matrices, auto takes the symmetric tangent, and full is refused.
  const StepResult result = run("gmres+asm2:parts=4,solver=amg", "auto");
  EXPECT_NE(result.report.choice.find("symmetric tangent, since solver"), std::string::npos) << result.report.choice;
  expect_close(result.unknowns, direct.unknowns, 1e-7);
  expect_error(ErrorCode::bad_input, {"asm2:solver=amg", "made for symmetric matrices"},
               [&] { run("gmres+asm2:parts=4,solver=amg", "full"); });
}

TEST(UnsymmetricSchwarz, CanBeStudied) {
  Domain domain;
  add_stream(domain, 12);
  const auto backend = Backend::open("openmp:2");
  StudyOptions options;
  options.parts = {2, 9};
  options.cuts = {"rcb", "sfc"};
  options.methods = {"asm", "asm2", "ras", "ras2", "msm", "msm2", "block-jacobi", "none"};
  options.relative_tolerance = 1e-10;
  const auto rows = run_study(domain, backend, options);
  EXPECT_EQ(rows.size(), 2u * 2 * 6 + 2);
  for (const StudyRow& row : rows) {
    EXPECT_TRUE(row.converged) << row.method << " " << row.failure;
    EXPECT_LT(row.error, 1e-7) << row.method;
    EXPECT_TRUE(std::isnan(row.condition) && std::isnan(row.bound)) << row.method;
    EXPECT_EQ(row.coarse_unknowns, row.method.ends_with("2") ? row.parts : 0) << row.method;
  }
  options.methods = {"schur", "bddc", "nn", "feti-dp", "geneo", "amg", "fsai"};
  for (const StudyRow& row : run_study(domain, backend, options)) {
    EXPECT_NE(row.failure.find("symmetric"), std::string::npos) << row.method << ": " << row.failure;
    EXPECT_NE(row.failure.find(row.method), std::string::npos) << row.method << ": " << row.failure;
  }
}

TEST(UnsymmetricSchwarz, StudiesRefuseWrongOptionsBeforeTheySolve) {
  Domain domain;
  add_stream(domain, 4);
  const auto backend = Backend::open("openmp:2");
  int rows = 0;
  StudyOptions options;
  options.parts = {2};
  options.cuts = {"rcb"};
  options.methods = {"asm"};
  options.progress = [&](const std::string&) { return ++rows > 0; };
  run_study(domain, backend, options);
  EXPECT_EQ(rows, 1);
  const auto expect_refusal = [&](const StudyOptions& wrong, std::initializer_list<std::string> words) {
    rows = 0;
    expect_error(ErrorCode::bad_input, words, [&] { run_study(domain, backend, wrong); });
    EXPECT_EQ(rows, 0);
  };
  StudyOptions wrong = options;
  wrong.contrasts = {1, 100};
  expect_refusal(wrong, {"contrast", "not symmetric"});
  wrong = options;
  wrong.parts = {2, 4, 100000};
  expect_refusal(wrong, {"100000 parts", "only 16 elements"});
  if (!MetisPartitioner::available()) return;
  // An element that no face connects with the others.
  domain.add_node(900, 9, 9);
  domain.add_node(901, 10, 9);
  domain.add_node(902, 10, 10);
  domain.add_node(903, 9, 10);
  domain.block(0).add(900, {900, 901, 902, 903});
  domain.prescribe_at(900, "c");
  wrong = options;
  wrong.cuts = {"rcb", "metis:contiguous"};
  expect_refusal(wrong, {"metis:contiguous", "not connected"});
}

TEST(UnsymmetricSchwarz, StudiesGoOnWhereAPartSolverFails) {
  Domain domain;
  add_stream(domain, 6);
  const auto backend = Backend::open("openmp:2");
  StudyOptions options;
  options.parts = {2};
  options.cuts = {"rcb"};
  options.methods = {"asm", "ras", "jacobi"};
  options.part_solver = "test-lent-varying";
  auto rows = run_study(domain, backend, options);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_NE(rows[0].failure.find("method 'asm': it varies with the residual"), std::string::npos) << rows[0].failure;
  EXPECT_NE(rows[1].failure.find("test-lent-varying"), std::string::npos) << rows[1].failure;
  EXPECT_TRUE(rows[2].converged) << rows[2].failure;
  options.part_solver = "test-lent-failing";
  rows = run_study(domain, backend, options);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_NE(rows[0].failure.find("it gives up"), std::string::npos) << rows[0].failure;
  EXPECT_NE(rows[1].failure.find("it gives up"), std::string::npos) << rows[1].failure;
  EXPECT_TRUE(rows[2].converged) << rows[2].failure;

  // Solvers refuse it before they begin.
  expect_error(ErrorCode::bad_input, {"preconditioner 'asm'", "varies from step to step", "an exact part solver"},
               [&] { solved(domain, "gmres+asm:parts=2,solver=test-lent-varying"); });
}

}  // namespace
}  // namespace voussoir
