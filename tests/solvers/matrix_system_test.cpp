// Systems whose matrix is given, by every solver and on several backends.
#include <gtest/gtest.h>

#include <cmath>

#include <voussoir/solvers/matrix_system.hpp>
#include <voussoir/solvers/static_problem.hpp>

#include "support/expect_error.hpp"

namespace voussoir {
namespace {

using testing::expect_error;
using Symmetry = MatrixSystem::Symmetry;

/// The five-point matrix of a grid, with a drift that makes it unsymmetric where it is not 0.
HostMatrix grid_matrix(int nx, int ny, double drift = 0) {
  HostMatrix rows;
  rows.row_start.push_back(0);
  for (int j = 0; j < ny; ++j)
    for (int i = 0; i < nx; ++i) {
      const auto add = [&](int a, int b, double value) {
        if (a < 0 || a >= nx || b < 0 || b >= ny) return;
        rows.column.push_back(a + nx * b);
        rows.value.push_back(value);
      };
      add(i, j - 1, -1);
      add(i - 1, j, -1 - drift);
      add(i, j, 4);
      add(i + 1, j, -1 + drift);
      add(i, j + 1, -1);
      rows.row_start.push_back(static_cast<std::int64_t>(rows.column.size()));
    }
  return rows;
}

std::vector<double> product(const HostMatrix& rows, const std::vector<double>& x) {
  std::vector<double> y(x.size(), 0.0);
  for (std::size_t i = 0; i < x.size(); ++i)
    for (auto k = rows.row_start[i]; k < rows.row_start[i + 1]; ++k)
      y[i] += rows.value[static_cast<std::size_t>(k)] *
              x[static_cast<std::size_t>(rows.column[static_cast<std::size_t>(k)])];
  return y;
}

std::vector<double> wavy(std::size_t n) {
  std::vector<double> x(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = std::sin(0.7 * static_cast<double>(i)) + 0.2;
  return x;
}

void expect_solved(MatrixSystem& system, const HostMatrix& rows, const std::string& name) {
  const std::vector<double> exact = wavy(static_cast<std::size_t>(system.size())), b = product(rows, exact);
  std::vector<double> x(exact.size(), 0.0);
  const auto solver = make_solver(name, 1e-12);
  const SolveReport report = system.solve(*solver, b, x);
  EXPECT_TRUE(report.converged) << name << ": " << report.reason;
  for (std::size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(x[i], exact[i], 1e-9) << name << ", row " << i;
}

TEST(MatrixSystems, AreSolvedByEverySolverOnEveryBackend) {
  const HostMatrix rows = grid_matrix(17, 13);
  for (const char* backend : {"openmp:1", "openmp:2", "debug", "debug:2", "debug:3"}) {
    SCOPED_TRACE(backend);
    MatrixSystem system(Backend::open(backend), rows, Symmetry::symmetric);
    for (const char* solver :
         {"direct", "cg", "cg+none", "cg+jacobi", "cg+fsai", "cg+amg", "cg+chebyshev", "gmres+jacobi", "bicgstab"})
      expect_solved(system, rows, solver);
  }
  const HostMatrix drifting = grid_matrix(17, 13, 0.4);
  for (const char* backend : {"openmp:2", "debug:2"}) {
    SCOPED_TRACE(backend);
    MatrixSystem system(Backend::open(backend), drifting, Symmetry::unsymmetric);
    for (const char* solver : {"direct", "gmres", "gmres+jacobi", "bicgstab", "gmres+asm:parts=4", "gmres+ras2:parts=7",
                               "bicgstab+msm2:parts=3"})
      expect_solved(system, drifting, solver);
    std::vector<double> b(221, 1.0), x(221, 0.0);
    expect_error(ErrorCode::bad_input, {"not symmetric"}, [&] { system.solve(*make_solver("cg+amg"), b, x); });
  }
}

TEST(MatrixSystems, HaveAnySizeAndPattern) {
  for (const int n : {1, 2, 3, 7}) {
    MatrixSystem system(Backend::open("debug:2"), grid_matrix(n, 1), Symmetry::symmetric);
    for (const char* solver : {"direct", "cg", "cg+amg"}) expect_solved(system, grid_matrix(n, 1), solver);
  }
  // Rows that are coupled with nothing, and one whose diagonal entry is not stored.
  HostMatrix sparse;
  sparse.row_start = {0, 1, 2, 3, 5};
  sparse.column = {0, 3, 2, 1, 3};
  sparse.value = {2, 1, 5, 1, 3};
  MatrixSystem system(Backend::open("openmp:1"), sparse, Symmetry::symmetric);
  expect_solved(system, sparse, "direct");
  expect_solved(system, sparse, "gmres+none");
}

TEST(MatrixSystems, AreUnsymmetricEvenIfTheyCoupleTheUnknownsOfSingleNodesOnly) {
  const HostMatrix rows{1, {0, 2, 3, 5, 7}, {0, 1, 1, 2, 3, 2, 3}, {2, 1, 3, 4, -1, 1, 4}};
  const MatrixUnknowns unknowns{{"ux", "uy"}, {0, 0, 1, 1}, {0, 1, 0, 1}, {0, 0, 0, 1, 0, 0}};
  MatrixSystem system(Backend::open("openmp:1"), rows, Symmetry::unsymmetric, unknowns);
  EXPECT_FALSE(system.model().device_model().symmetric());
  for (const char* solver : {"direct", "gmres+none", "gmres+asm:parts=2"}) expect_solved(system, rows, solver);
  std::vector<double> b(4, 1.0), x(4, 0.0);
  expect_error(ErrorCode::bad_input, {"not symmetric"}, [&] { system.solve(*make_solver("cg"), b, x); });
}

TEST(MatrixSystems, SolveSeveralColumns) {
  const HostMatrix rows = grid_matrix(6, 5);
  MatrixSystem system(Backend::open("openmp:2"), rows, Symmetry::symmetric);
  std::vector<double> one = wavy(30), two(30, -2.5), b = product(rows, one);
  const auto second = product(rows, two);
  b.insert(b.end(), second.begin(), second.end());
  std::vector<double> x(60, 0.0);
  EXPECT_TRUE(system.solve(*make_solver("cg", 1e-12), b, x, 2).converged);
  for (std::size_t i = 0; i < 30; ++i) {
    EXPECT_NEAR(x[i], one[i], 1e-9);
    EXPECT_NEAR(x[30 + i], -2.5, 1e-9);
  }
}

TEST(MatrixSystems, RejectWhatIsNoSystem) {
  const auto backend = Backend::open("openmp:1");
  const auto refused = [&](ErrorCode code, std::initializer_list<std::string> words, auto change,
                           Symmetry symmetry = Symmetry::symmetric) {
    HostMatrix rows = grid_matrix(3, 1);
    change(rows);
    expect_error(code, words, [&] { MatrixSystem(backend, rows, symmetry); });
  };
  refused(ErrorCode::bad_input, {"row 1", "not symmetric", "column 2"}, [](HostMatrix& m) { m.value[1] = 2; });
  refused(ErrorCode::not_finite, {"row 1"}, [](HostMatrix& m) { m.value[0] = NAN; });
  refused(ErrorCode::bad_input, {"row 2"}, [](HostMatrix& m) { std::swap(m.column[2], m.column[3]); });
  refused(
      ErrorCode::bad_input, {"row 3"}, [](HostMatrix& m) { m.column.back() = 3; }, Symmetry::unsymmetric);
  refused(ErrorCode::bad_input, {"fit together"}, [](HostMatrix& m) { m.value.pop_back(); });
  refused(ErrorCode::bad_input, {"no rows"}, [](HostMatrix& m) { m = HostMatrix{1, {0}, {}, {}}; });
  MatrixSystem system(backend, grid_matrix(3, 1), Symmetry::symmetric);
  std::vector<double> b(3, 1.0), x(2, 0.0);
  expect_error(ErrorCode::misuse, {"3 numbers"}, [&] { system.solve(*make_solver("direct"), b, x); });
  x.resize(3);
  for (const char* name : {"cg+bddc:parts=2", "schur:parts=2"})
    expect_error(ErrorCode::bad_input, {"needs the elements of a model"},
                 [&] { system.solve(*make_solver(name), b, x); });
  MatrixUnknowns twice = MatrixUnknowns::plain(3);
  twice.node = {0, 0, 2};
  expect_error(ErrorCode::misuse, {"row 2"},
               [&] { MatrixSystem(backend, grid_matrix(3, 1), Symmetry::symmetric, twice); });
}

TEST(MatrixSystems, ASingularMatrixIsReported) {
  HostMatrix rows = grid_matrix(4, 1);
  for (std::size_t i = 0; i < 4; ++i)
    for (auto k = rows.row_start[i]; k < rows.row_start[i + 1]; ++k)
      if (rows.column[static_cast<std::size_t>(k)] == static_cast<std::int32_t>(i))
        rows.value[static_cast<std::size_t>(k)] = i == 0 || i == 3 ? 1 : 2;
  MatrixSystem system(Backend::open("openmp:1"), rows, Symmetry::symmetric);
  std::vector<double> b{1, 0, 0, 0}, x(4, 0.0);
  const SolveReport report = system.solve(*make_solver("direct"), b, x);
  EXPECT_FALSE(report.converged);
  EXPECT_EQ(report.free_motions.size(), 1u);
}

}  // namespace
}  // namespace voussoir
