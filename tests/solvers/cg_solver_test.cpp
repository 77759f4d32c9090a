#include <gtest/gtest.h>

#include <cmath>

#include <voussoir/solvers/cg_solver.hpp>
#include <voussoir/solvers/direct_solver.hpp>
#include <voussoir/solvers/preconditioners/fsai.hpp>
#include <voussoir/solvers/preconditioners/jacobi.hpp>

#include "solver_models.hpp"
#include "support/expect_error.hpp"

namespace voussoir::test {
namespace {

using testing::expect_error;

struct Iterated : ::testing::Test {
  Iterated() { add_bar(d); }
  /// ‖b − A x‖ / ‖b‖ by dense algebra: nothing that a solver could have got wrong.
  static double residual(const System& s, int column = 0) {
    const Eigen::VectorXd b = s.on_free(s.soe->b(), column);
    return (b - s.dense() * s.on_free(s.soe->x(), column)).norm() / b.norm();
  }
  Domain d;
};

TEST_F(Iterated, ReachesItsToleranceInTheTrueResidual) {
  for (const double tolerance : {1e-3, 1e-8, 1e-12}) {
    System s(d, "bsr");
    CgSolver solver(std::make_shared<JacobiPreconditioner>(), {tolerance, 1000});
    const SolveReport report = solver.solve(*s.soe);
    EXPECT_TRUE(report.converged) << report.reason;
    EXPECT_EQ(report.solver, "cg+jacobi on bsr");
    EXPECT_LE(report.true_residual, 1.05 * tolerance);
    EXPECT_NEAR(report.true_residual, residual(s), 1e-3 * tolerance + 1e-15);
    EXPECT_NE(report.reason.find("converged after " + std::to_string(report.iterations) + " iterations"),
              std::string::npos)
        << report.reason;
  }
}

TEST_F(Iterated, TheHistoryRunsFromOneToTheTolerance) {
  System s(d, "bsr");
  const SolveReport report = CgSolver().solve(*s.soe);
  ASSERT_EQ(report.history.size(), static_cast<std::size_t>(report.iterations) + 1);
  EXPECT_DOUBLE_EQ(report.history.front(), 1.0);
  EXPECT_LE(report.history.back(), 1e-8);
  for (std::size_t i = 0; i + 1 < report.history.size(); ++i)
    EXPECT_GT(report.history[i], 1e-8) << "it could have stopped at " << i;
}

TEST_F(Iterated, SaysSoWhereItDidNotConverge) {
  System s(d, "bsr");
  CgSolver solver(std::make_shared<JacobiPreconditioner>(), {1e-8, 5});
  const SolveReport report = solver.solve(*s.soe);
  EXPECT_FALSE(report.converged);
  EXPECT_EQ(report.iterations, 5);
  EXPECT_NE(report.reason.find("after 5 iterations"), std::string::npos) << report.reason;
  EXPECT_NEAR(report.true_residual, residual(s), 1e-10);
  EXPECT_GT(report.true_residual, 1e-8);
  EXPECT_TRUE(report.free_motions.empty());  // slow is not free
}

TEST_F(Iterated, AnAnalysisThatDoesNotConvergeThrowsTheReportsWords) {
  Analysis::Collaborators c;
  c.backend = Backend::open("openmp:2");
  c.soe = make_soe("bsr");
  c.solver = std::make_shared<CgSolver>(nullptr, CgSolver::Options{1e-8, 3});
  expect_error(ErrorCode::not_converged, {"step 'static'", "cg on bsr did not converge", "after 3 iterations"},
               [&] { StaticAnalysis(d, c).run(); });
}

/// −1: as wrong as an approximate inverse can be.
class Opposite final : public Preconditioner, public Operator {
 public:
  explicit Opposite(std::string name = "opposite") : name_(std::move(name)) {}
  std::string name() const override { return name_; }
  void set_up(const LinearSOE& soe) override { soe_ = &soe; }
  const Operator* inverse() const override { return this; }
  std::size_t bytes() const override { return 0; }

  const std::shared_ptr<const Layout>& layout() const override { return soe_->matrix().layout(); }
  void apply(const Vector& r, Vector& z) const override {
    soe_->model().backend().copy(r, z);
    soe_->model().backend().scale(-1.0, z);
  }
  double apply_dot(const Vector& r, Vector& z) const override {
    apply(r, z);
    return soe_->model().backend().dot(r, z);
  }
  std::size_t bytes_moved() const override { return 0; }
  std::string describe() const override { return "opposite"; }

 private:
  std::string name_;
  const LinearSOE* soe_ = nullptr;
};

TEST_F(Iterated, TellsABadPreconditionerFromABadMatrix) {
  System s(d, "bsr");
  const SolveReport report = CgSolver(std::make_shared<Opposite>()).solve(*s.soe);
  EXPECT_FALSE(report.converged);
  EXPECT_FALSE(report.not_positive_definite);
  EXPECT_NE(report.reason.find("the preconditioner opposite is not positive definite"), std::string::npos)
      << report.reason;
  EXPECT_NE(report.advice.find("Use another preconditioner, such as block-jacobi"), std::string::npos) << report.advice;
  const SolveReport other = CgSolver(std::make_shared<Opposite>("block-jacobi:single")).solve(*s.soe);
  EXPECT_EQ(other.advice.find("block-jacobi"), std::string::npos) << other.advice;

  Analysis::Collaborators c;
  c.backend = Backend::open("openmp:2");
  c.soe = make_soe("bsr");
  c.solver = std::make_shared<CgSolver>(std::make_shared<Opposite>());
  expect_error(ErrorCode::not_converged, {"the preconditioner opposite is not positive definite", "Use another"},
               [&] { StaticAnalysis(d, c).run(); });
}

TEST_F(Iterated, BlamesTheMatrixForTheSignsOfItsDiagonal) {
  System s(d, "bsr");
  MatrixTerms terms;
  terms.stiffness = -1;
  s.soe->form(nullptr, terms);
  const SolveReport report = CgSolver(std::make_shared<JacobiPreconditioner>()).solve(*s.soe);
  EXPECT_FALSE(report.converged);
  EXPECT_TRUE(report.not_positive_definite);
  EXPECT_NE(report.reason.find("the matrix is not positive definite"), std::string::npos) << report.reason;
}

TEST_F(Iterated, NoLoadIsNoWork) {
  System s(d, "csr");
  s.model.backend().fill(s.soe->b(), 0);
  const SolveReport report = CgSolver().solve(*s.soe);
  EXPECT_TRUE(report.converged);
  EXPECT_EQ(report.iterations, 0);
  EXPECT_EQ(s.on_free(s.soe->x()).norm(), 0);
}

TEST_F(Iterated, StartsWhereItIsPut) {
  System s(d, "csr");
  CgSolver solver;
  const int cold = solver.solve(*s.soe).iterations;
  const int warm = solver.solve(*s.soe).iterations;
  EXPECT_GT(cold, 10);
  EXPECT_EQ(warm, 0);
}

TEST_F(Iterated, CanBeStopped) {
  System s(d, "csr");
  CgSolver solver;
  solver.progress = [](int, double) { return false; };
  const SolveReport report = solver.solve(*s.soe);
  EXPECT_FALSE(report.converged);
  EXPECT_NE(report.reason.find("cancelled"), std::string::npos);
}

TEST_F(Iterated, ColumnsAreSolvedAsIfAlone) {
  for (const char* storage : {"csr", "bsr", "element", "matrix-free"}) {
    System s(d, storage);
    const Eigen::MatrixXd a = s.dense();
    s.soe->set_columns(3);
    std::vector<double> b(3 * static_cast<std::size_t>(s.model.equation_count()), 0.0);
    for (std::int32_t e : s.free)
      for (int c = 0; c < 2; ++c) b[3 * e + c] = std::sin(1.0 + e * (c + 1));  // the third column is zero
    s.soe->b().from_host(b);
    CgSolver solver(std::make_shared<BlockJacobiPreconditioner>(), {1e-12, 1000});
    const SolveReport report = solver.solve(*s.soe);
    EXPECT_TRUE(report.converged) << report.reason;
    for (int c = 0; c < 3; ++c) {
      const Eigen::VectorXd expected = a.ldlt().solve(s.on_free(s.soe->b(), c));
      EXPECT_LE((s.on_free(s.soe->x(), c) - expected).norm(), 1e-9 * expected.norm()) << storage << ", column " << c;
    }
    EXPECT_NEAR(report.true_residual, std::max(residual(s, 0), residual(s, 1)), 1e-14);

    // Each has a report of its own; the third needed nothing.
    int iterations = 0;
    double seconds = 0;
    for (int c = 0; c < 3; ++c) {
      const SolveReport own = report.of_column(c);
      EXPECT_EQ(own.reason, "converged after " + std::to_string(own.iterations) + " iterations");
      EXPECT_EQ(own.history.size(), static_cast<std::size_t>(own.iterations) + 1);
      EXPECT_EQ(own.solver, report.solver);
      EXPECT_EQ(own.setup_seconds, c == 0 ? report.setup_seconds : 0);
      iterations += own.iterations;
      seconds += own.solve_seconds;
    }
    EXPECT_EQ(iterations, report.iterations);
    EXPECT_EQ(report.of_column(2).iterations, 0);
    EXPECT_LE(seconds, report.solve_seconds);
    EXPECT_NE(report.of_column(1).history, report.of_column(0).history);
    EXPECT_EQ(report.history, report.of_column(0).history);
  }
}

TEST_F(Iterated, ColumnsAfterABlockThatFailsAreNotBegun) {
  System s(d, "bsr");
  constexpr int columns = 9;  // eight of them are solved together
  s.soe->set_columns(columns);
  std::vector<double> b(columns * static_cast<std::size_t>(s.model.equation_count()), 0.0);
  for (std::int32_t e : s.free)
    for (int c = 0; c < columns; ++c) b[columns * e + c] = 1;
  s.soe->b().from_host(b);
  const SolveReport report = CgSolver(nullptr, {1e-12, 4}).solve(*s.soe);
  EXPECT_FALSE(report.converged);
  for (int c = 0; c < 8; ++c) EXPECT_EQ(report.of_column(c).iterations, 4);
  EXPECT_EQ(report.of_column(8).iterations, 0);
  EXPECT_FALSE(report.of_column(8).converged);
  EXPECT_TRUE(report.of_column(8).history.empty());
  EXPECT_EQ(report.of_column(8).true_residual, 1) << "nothing was done for it";
}

TEST_F(Iterated, TheStepThatDoesNotConvergeIsTheOneThatIsNamed) {
  d.add_load_case("nothing");
  Analysis::Collaborators c;
  c.backend = Backend::open("openmp:2");
  c.soe = make_soe("bsr");
  c.solver = std::make_shared<CgSolver>(nullptr, CgSolver::Options{1e-8, 3});
  StaticAnalysis analysis(d, c);
  analysis.add_step({"easy", {{"nothing", 1.0}}, 1});
  analysis.add_step({"hard", {{"pull", 1.0}}, 1});
  try {
    analysis.run();
    FAIL() << "three iterations are too few";
  } catch (const NotConverged& e) {
    EXPECT_NE(std::string(e.what()).find("step 'hard'"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("after 3 iterations"), std::string::npos) << e.what();
    ASSERT_EQ(e.finished_steps().size(), 1u);
    EXPECT_EQ(e.finished_steps().front().report.reason, "converged after 0 iterations");
  }
}

TEST_F(Iterated, ANewMatrixIsNoticed) {
  System s(d, "csr");
  CgSolver iterative(std::make_shared<FsaiPreconditioner>(), {1e-12, 1000});
  DirectSolver direct;
  for (const double stiffness : {1.0, 8.0}) {
    const auto factors = s.model.batch_factors(s.state.case_factors);
    MatrixTerms terms;
    terms.stiffness = stiffness;
    terms.batch_factors = factors;
    s.soe->form(&s.state.unknowns, terms);
    const Eigen::VectorXd expected = s.dense().ldlt().solve(s.on_free(s.soe->b())) / stiffness;
    for (Solver* solver : std::initializer_list<Solver*>{&iterative, &direct}) {
      s.model.backend().fill(s.soe->x(), 0);
      EXPECT_TRUE(solver->solve(*s.soe).converged);
      EXPECT_LT((s.on_free(s.soe->x()) - expected).norm(), 1e-9 * expected.norm()) << solver->name();
    }
  }
}

TEST_F(Iterated, AFactorServesManyRightHandSides) {
  System s(d, "csr");
  DirectSolver direct;
  direct.solve(*s.soe);
  const double first = s.on_free(s.soe->x()).norm();
  s.model.backend().scale(3.0, s.soe->b());
  const SolveReport report = direct.solve(*s.soe);
  EXPECT_NEAR(s.on_free(s.soe->x()).norm(), 3 * first, 1e-12 * first);
  EXPECT_NEAR(report.true_residual, residual(s), 1e-14);
}

TEST(SlenderBar, IsNotTakenForFree) {
  // 60 bricks in a row: badly conditioned, but held. CG either converges or says how far it got.
  Domain d;
  BoxMesh mesh;
  mesh.cells = {60, 1, 1};
  mesh.upper = {60, 1, 1};
  add_box_mesh(d, mesh).set_material(std::make_shared<IsotropicMaterial>("steel", 210e9, 0.3));
  d.prescribe("xmin", "all");
  d.add_load_case("tip").traction("xmax", {0, 0, 1});
  for (const char* solver : {"cg+none", "cg+jacobi", "cg+fsai", "cg+chebyshev", "direct"}) {
    StaticOptions options;
    options.backend = "openmp:2";
    options.solver = solver;
    const auto r = make_static_analysis(d, options)->run();
    EXPECT_TRUE(r[0].report.free_motions.empty()) << solver;
    // Beam theory: P L³ / 3 E I = 60³ · 12 / (3 · 210e9), and little shear.
    EXPECT_NEAR(r[0].unknowns.largest("uz").value / (60.0 * 60 * 60 * 4 / 210e9), 1, 0.01) << solver;
  }
}

}  // namespace
}  // namespace voussoir::test
