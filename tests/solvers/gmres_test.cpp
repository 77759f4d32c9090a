// GMRES near the limits of restarts and of rounding.
#include <gtest/gtest.h>

#include <cmath>

#include <voussoir/solvers/krylov/krylov_solver.hpp>
#include <voussoir/solvers/matrix_system.hpp>

namespace voussoir {
namespace {

/// x moves by one place; GMRES gains nothing before it has as many directions as there are unknowns.
HostMatrix shift(std::int32_t n) {
  HostMatrix a;
  for (std::int32_t i = 0; i < n; ++i) {
    a.row_start.push_back(i);
    a.column.push_back((i + 1) % n);
    a.value.push_back(1);
  }
  a.row_start.push_back(n);
  return a;
}

/// Second differences with a drift; with `scale` > 1, rows grow from 1 to it.
HostMatrix differences(std::int32_t n, double drift, double scale = 1) {
  HostMatrix a;
  a.row_start.push_back(0);
  for (std::int32_t i = 0; i < n; ++i) {
    const double s = std::pow(scale, static_cast<double>(i) / n);
    for (const auto& [column, value] : {std::pair{i - 1, -1 - drift}, std::pair{i, 2.0}, std::pair{i + 1, -1 + drift}})
      if (column >= 0 && column < n) {
        a.column.push_back(column);
        a.value.push_back(s * value);
      }
    a.row_start.push_back(static_cast<std::int64_t>(a.column.size()));
  }
  return a;
}

struct GmresRun {
  SolveReport report;
  std::vector<double> x;
};

GmresRun gmres(const HostMatrix& a, const std::vector<double>& b, double tolerance, int restart,
               const std::string& backend = "openmp:1") {
  MatrixSystem system(Backend::open(backend), a, MatrixSystem::Symmetry::unsymmetric);
  KrylovSolver::Options options;
  options.relative_tolerance = tolerance;
  options.restart = restart;
  options.max_iterations = 20000;
  GmresSolver solver(nullptr, options);
  GmresRun run;
  run.x.assign(b.size(), 0.0);
  run.report = system.solve(solver, b, run.x);
  return run;
}

double residual(const HostMatrix& a, const std::vector<double>& b, const std::vector<double>& x) {
  double left = 0, size = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    double r = b[i];
    for (auto k = a.row_start[i]; k < a.row_start[i + 1]; ++k)
      r -= a.value[static_cast<std::size_t>(k)] * x[static_cast<std::size_t>(a.column[static_cast<std::size_t>(k)])];
    left += r * r;
    size += b[i] * b[i];
  }
  return std::sqrt(left / size);
}

TEST(Gmres, NamesRestartsThatGainNothing) {
  std::vector<double> b(100, 0.0);
  b[0] = 1;
  const GmresRun stuck = gmres(shift(100), b, 1e-8, 60);
  EXPECT_FALSE(stuck.report.converged);
  EXPECT_NE(stuck.report.reason.find("restarts gain less"), std::string::npos) << stuck.report.reason;
  EXPECT_LT(stuck.report.iterations, 800);
  const GmresRun enough = gmres(shift(100), b, 1e-8, 100);
  EXPECT_TRUE(enough.report.converged) << enough.report.reason;
  EXPECT_LE(residual(shift(100), b, enough.x), 1e-8);
}

TEST(Gmres, NamesRoundingWhereItPreventsMore) {
  // The residual of any double near the solution is about 1e-16 · ‖A‖ ‖x‖ / ‖b‖, some 1e-13 here.
  const HostMatrix a = differences(60, 0.0);
  std::vector<double> b(60);
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = 1 + 0.3 * std::sin(static_cast<double>(i));
  for (const char* backend : {"openmp:1"}) {
    SCOPED_TRACE(backend);
    const GmresRun run = gmres(a, b, 1e-15, 60, backend);
    EXPECT_FALSE(run.report.converged);
    EXPECT_NE(run.report.reason.find("rounding errors"), std::string::npos) << run.report.reason;
    EXPECT_LT(run.report.iterations, 800);
    EXPECT_LE(residual(a, b, run.x), 1e-10);
    const GmresRun possible = gmres(a, b, 1e-10, 60, backend);
    EXPECT_TRUE(possible.report.converged) << possible.report.reason;
  }
}

TEST(Gmres, RestartsRememberTheLastOnes) {
  const HostMatrix a = differences(120, 0.02);
  std::vector<double> b(120, 1.0);
  const GmresRun run = gmres(a, b, 1e-10, 20);
  EXPECT_TRUE(run.report.converged) << run.report.reason;
  EXPECT_LE(residual(a, b, run.x), 1.1e-10);
  EXPECT_LT(run.report.iterations, 1000) << "restarts alone take 1240";
}

}  // namespace
}  // namespace voussoir
