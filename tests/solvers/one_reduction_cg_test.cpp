#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

#include <voussoir/backends/grouped_dots.hpp>
#include <voussoir/backends/one_reduction_cg.hpp>
#include <voussoir/solvers/amg/amg_preconditioner.hpp>
#include <voussoir/solvers/cg_solver.hpp>
#include <voussoir/solvers/preconditioners/chebyshev.hpp>
#include <voussoir/solvers/preconditioners/fsai.hpp>

#include "solver_models.hpp"
#include "support/expect_error.hpp"

// CG with one reduction per iteration beside CG with two.

namespace voussoir::test {
namespace {

using testing::expect_error;

struct OneReduction : ::testing::Test {
  struct Answer {
    SolveReport report;
    Eigen::VectorXd x;
  };
  /// Solves from zero, or from a start that has nothing to do with the solution.
  static Answer solve(const Domain& domain, const std::string& storage, const std::string& backend,
                      std::shared_ptr<Preconditioner> preconditioner, int reductions, double tolerance,
                      bool from_start = false) {
    System s(domain, storage, backend);
    std::vector<double> start(static_cast<std::size_t>(s.model.equation_count()), 0.0);
    if (from_start)
      for (const std::int32_t e : s.free) start[static_cast<std::size_t>(e)] = std::sin(1.0 + e);
    s.soe->x().from_host(start);
    CgSolver::Options options;
    options.relative_tolerance = tolerance;
    options.reductions = reductions;
    CgSolver solver(std::move(preconditioner), options);
    Answer answer{solver.solve(*s.soe), {}};
    answer.x = s.on_free(s.soe->x());
    return answer;
  }
};

using Maker = std::shared_ptr<Preconditioner> (*)();
const std::array<Maker, 6> preconditioner_makers{
    [] { return std::shared_ptr<Preconditioner>(); },
    []() -> std::shared_ptr<Preconditioner> { return std::make_shared<JacobiPreconditioner>(); },
    []() -> std::shared_ptr<Preconditioner> { return std::make_shared<BlockJacobiPreconditioner>(); },
    []() -> std::shared_ptr<Preconditioner> { return std::make_shared<FsaiPreconditioner>(); },
    []() -> std::shared_ptr<Preconditioner> { return std::make_shared<ChebyshevPreconditioner>(); },
    []() -> std::shared_ptr<Preconditioner> {
      return std::make_shared<AmgPreconditioner>(AmgOptions::parse("coarsest=20"));
    }};

TEST_F(OneReduction, HasTheIterationsAndAnswersOfTwo) {
  Domain d;
  add_bar(d, {6, 2, 2});
  for (const char* backend : {"openmp:2", "debug:3"})
    for (std::size_t k = 0; k < preconditioner_makers.size(); ++k) {
      const bool from_start = std::string(backend) == "debug:3";
      if (from_start && k != 1 && k != 5) continue;  // its guarded memory takes time
      const Maker& make = preconditioner_makers[k];
      const Answer two = solve(d, "bsr", backend, make(), 2, 1e-9, from_start);
      const Answer one = solve(d, "bsr", backend, make(), 1, 1e-9, from_start);
      SCOPED_TRACE(one.report.solver + ", " + backend);
      EXPECT_TRUE(one.report.converged) << one.report.reason;
      EXPECT_NEAR(one.report.iterations, two.report.iterations, 2);
      EXPECT_LE(one.report.true_residual, 1.05e-9);
      EXPECT_GE(one.report.history.size(), static_cast<std::size_t>(one.report.iterations) + 1);
      EXPECT_EQ(one.report.solver.find("cg:reductions=1"), 0u);
      // As far as rounding allows, where it decides on the last iterations.
      const Answer exact = solve(d, "bsr", backend, make(), 2, 1e-13, from_start);
      const Answer same = solve(d, "bsr", backend, make(), 1, 1e-13, from_start);
      EXPECT_TRUE(same.report.converged) << same.report.reason;
      EXPECT_LE((same.x - exact.x).norm(), 1e-12 * exact.x.norm());
    }
}

TEST_F(OneReduction, WorksOnEveryStorage) {
  Domain d;
  add_bar(d);
  for (const char* storage : {"csr", "bsr", "element", "element-scatter", "point", "matrix-free"}) {
    SCOPED_TRACE(storage);
    const auto jacobi = [] { return std::make_shared<JacobiPreconditioner>(); };
    const Answer two = solve(d, storage, "debug:2", jacobi(), 2, 1e-12);
    const Answer one = solve(d, storage, "debug:2", jacobi(), 1, 1e-12);
    EXPECT_TRUE(one.report.converged) << one.report.reason;
    EXPECT_NEAR(one.report.iterations, two.report.iterations, 2);
    EXPECT_LE((one.x - two.x).norm(), 1e-11 * two.x.norm());
  }
}

/// A slender bar: hundreds of iterations, whose number depends on rounding.
TEST_F(OneReduction, KeepsUpOverHundredsOfIterations) {
  Domain d;
  BoxMesh mesh;
  mesh.cells = {60, 1, 1};
  mesh.upper = {60, 1, 1};
  add_box_mesh(d, mesh).set_material(std::make_shared<IsotropicMaterial>("steel", 210e9, 0.3, 7850));
  d.prescribe("xmin", "all");
  d.add_load_case("bend").traction("xmax", {0, 0, -1e6});
  for (const double tolerance : {1e-6, 1e-8}) {
    const Answer two = solve(d, "bsr", "openmp:2", std::make_shared<JacobiPreconditioner>(), 2, tolerance);
    const Answer one = solve(d, "bsr", "openmp:2", std::make_shared<JacobiPreconditioner>(), 1, tolerance);
    EXPECT_GT(two.report.iterations, 200);
    EXPECT_TRUE(one.report.converged) << one.report.reason;
    EXPECT_LE(one.report.true_residual, 1.05 * tolerance);
    EXPECT_LE(one.report.iterations, 1.1 * two.report.iterations) << tolerance;
  }
  // More than rounding allows is not reported as converged to the tolerance.
  const Answer strict = solve(d, "bsr", "openmp:2", std::make_shared<JacobiPreconditioner>(), 1, 1e-17);
  EXPECT_TRUE(!strict.report.converged || strict.report.reason.find("rounding") != std::string::npos)
      << strict.report.reason;
}

TEST_F(OneReduction, GivesTheSameBitsForAnyNumberOfThreads) {
  Domain d;
  add_bar(d, {12, 6, 6});
  const auto run = [&](const char* backend) {
    return solve(d, "bsr", backend, std::make_shared<JacobiPreconditioner>(), 1, 1e-10);
  };
  const Answer one = run("openmp:1"), three = run("openmp:3"), again = run("openmp:3");
  EXPECT_EQ(one.x, three.x);
  EXPECT_EQ(three.x, again.x);
  EXPECT_EQ(one.report.history, three.report.history);
}

TEST_F(OneReduction, SolvesSeveralColumns) {
  Domain d;
  add_bar(d);
  System s(d, "bsr", "debug:2");
  const Eigen::MatrixXd a = s.dense();
  s.soe->set_columns(3);
  std::vector<double> b(3 * static_cast<std::size_t>(s.model.equation_count()), 0.0);
  for (const std::int32_t e : s.free)
    for (int c = 0; c < 3; ++c) b[static_cast<std::size_t>(3 * e + c)] = c == 1 ? 0 : std::cos(1.0 + e * (c + 1));
  s.soe->b().from_host(b);
  s.model.backend().fill(s.soe->x(), 0.0);
  CgSolver::Options options;
  options.reductions = 1;
  const SolveReport report = CgSolver(std::make_shared<JacobiPreconditioner>(), options).solve(*s.soe);
  EXPECT_TRUE(report.converged) << report.reason;
  for (const int c : {0, 2}) {
    const Eigen::VectorXd load = s.on_free(s.soe->b(), c);
    EXPECT_LE((load - a * s.on_free(s.soe->x(), c)).norm(), 1.05e-8 * load.norm()) << c;
  }
}

TEST_F(OneReduction, StopsAsTwoDo) {
  Domain d;
  add_bar(d);
  System s(d, "bsr");
  Backend& backend = s.model.backend();
  Vector x = s.model.make_vector();
  const auto run = [&](const Operator* inverse, const CgRequest& request, const Vector& b) {
    backend.fill(x, 0.0);
    return one_reduction_cg(backend, s.soe->matrix(), inverse, b, x, request);
  };
  CgRequest few;
  few.max_iterations = 7;
  few.relative_tolerance = 0;
  const CgOutcome ended = run(nullptr, few, s.soe->b());
  EXPECT_EQ(ended.stop, CgOutcome::Stop::max_iterations);
  EXPECT_EQ(ended.iterations, 7);
  EXPECT_EQ(ended.history.size(), 8u);

  // The Ritz values bound those of the matrix from inside.
  const Eigen::VectorXd eigenvalues = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(s.dense()).eigenvalues();
  const CgOutcome all = run(nullptr, {}, s.soe->b());
  EXPECT_EQ(all.stop, CgOutcome::Stop::converged);
  EXPECT_GE(all.smallest_ritz, 0.999 * eigenvalues.minCoeff());
  EXPECT_NEAR(all.largest_ritz, eigenvalues.maxCoeff(), 1e-3 * eigenvalues.maxCoeff());

  CgRequest early;
  early.checkpoint = 4;
  early.checkpoint_reduction = 1e-6;
  EXPECT_EQ(run(nullptr, early, s.soe->b()).stop, CgOutcome::Stop::slow);
  CgRequest cancelled;
  cancelled.progress = [](int, double) { return false; };
  cancelled.relative_tolerance = 0;
  EXPECT_EQ(run(nullptr, cancelled, s.soe->b()).stop, CgOutcome::Stop::cancelled);

  Vector b = s.model.make_vector();
  backend.fill(b, 0.0);
  backend.fill(x, 1.0);
  const CgOutcome zero = one_reduction_cg(backend, s.soe->matrix(), nullptr, b, x, {});
  EXPECT_EQ(zero.stop, CgOutcome::Stop::converged);
  EXPECT_EQ(backend.norm(x), 0);
  backend.fill(b, std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(run(nullptr, {}, b).stop, CgOutcome::Stop::not_finite);

  CgRequest flexible;
  flexible.flexible = true;
  expect_error(ErrorCode::misuse, {"does not vary"}, [&] { run(&s.soe->matrix(), flexible, s.soe->b()); });
}

TEST_F(OneReduction, FindsThatAMatrixIsNotPositive) {
  Domain d;
  add_bar(d);
  System s(d, "bsr");
  MatrixTerms shifted;
  shifted.mass = -400;  // K − σM between its eigenvalues
  s.soe->form(nullptr, shifted);
  s.model.backend().fill(s.soe->x(), 0.0);
  CgSolver::Options options;
  options.reductions = 1;
  options.search_free_motions = false;
  const SolveReport report = CgSolver(nullptr, options).solve(*s.soe);
  EXPECT_FALSE(report.converged);
  EXPECT_TRUE(report.not_positive_definite) << report.reason;
}

TEST_F(OneReduction, RefusesWhatItCannotDo) {
  Domain d;
  add_bar(d);
  System s(d, "bsr");
  CgSolver::Options options;
  options.reductions = 1;
  auto varying = std::make_shared<AmgPreconditioner>(AmgOptions::parse("k-cycle,coarsest=20"));
  expect_error(ErrorCode::bad_input, {"cg:reductions=1+amg", "varies", "use cg+amg"},
               [&] { CgSolver(varying, options).solve(*s.soe); });
  options.reductions = 3;
  expect_error(ErrorCode::misuse, {"1 or 2 reductions", "3"}, [&] { CgSolver(nullptr, options); });
  expect_error(ErrorCode::bad_input, {"reductions=3", "reductions=1"}, [] { make_solver("cg:reductions=3+jacobi"); });
  EXPECT_EQ(make_solver("cg:reductions=1+jacobi")->name(), "cg:reductions=1+jacobi");
  EXPECT_EQ(make_solver("cg:reductions=2+jacobi")->name(), "cg+jacobi");
}

TEST(GroupedDots, HaveTheBitsOfSingleOnes) {
  for (const char* name : {"openmp:1", "openmp:2", "debug", "debug:3"}) {
    const auto backend = Backend::open(name);
    for (const std::int64_t size : {1, 2, 7, 2047, 2049, 20011}) {
      std::vector<std::int64_t> first{0};
      std::vector<std::shared_ptr<DeviceMemory>> memories;
      for (int k = 0; k < backend->devices(); ++k) {
        memories.push_back(backend->memory(k));
        first.push_back(size * (k + 1) / backend->devices());
      }
      const auto layout =
          std::make_shared<const Layout>(memories, first, std::vector<std::vector<std::int64_t>>(memories.size()));
      Vector x(layout), y(layout);
      std::vector<double> values(static_cast<std::size_t>(size));
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::sin(1.0 + static_cast<double>(i));
      x.from_host(values);
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::cos(3.0 * static_cast<double>(i));
      y.from_host(values);
      auto& service = backend->service<GroupedDots>();
      const std::array<GroupedDots::Pair, 3> pairs{{{x, x}, {x, y}, {y, y}}};
      std::array<double, 3> sums{};
      service.dots(pairs, sums);
      EXPECT_EQ(sums[0], backend->dot(x, x)) << name << ", " << size;
      EXPECT_EQ(sums[1], backend->dot(x, y)) << name << ", " << size;
      EXPECT_EQ(sums[2], backend->dot(y, y)) << name << ", " << size;
      expect_error(ErrorCode::misuse, {"3 pairs", "2 results"},
                   [&] { service.dots(pairs, std::span<double>(sums).first(2)); });
      expect_error(ErrorCode::misuse, {"0 pairs"}, [&] { service.dots({}, {}); });
      Vector wide(layout, 2);
      const std::array<GroupedDots::Pair, 1> unlike{{{x, wide}}};
      expect_error(ErrorCode::misuse, {"columns"}, [&] { service.dots(unlike, std::span<double>(sums).first(1)); });
    }
  }
}

}  // namespace
}  // namespace voussoir::test
