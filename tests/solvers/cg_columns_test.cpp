#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include <voussoir/solvers/amg/amg_preconditioner.hpp>
#include <voussoir/solvers/cg_solver.hpp>
#include <voussoir/solvers/direct_solver.hpp>
#include <voussoir/solvers/preconditioners/chebyshev.hpp>
#include <voussoir/solvers/preconditioners/fsai.hpp>
#include <voussoir/solvers/preconditioners/jacobi.hpp>

#include "solver_models.hpp"

namespace voussoir::test {
namespace {

/// ‖b − A x‖ / ‖b‖ by dense algebra: nothing that a solver could have got wrong.
double residual(const System& s, const Eigen::MatrixXd& a, int column) {
  const Eigen::VectorXd b = s.on_free(s.soe->b(), column);
  return (b - a * s.on_free(s.soe->x(), column)).norm() / b.norm();
}

/// Right-hand sides of which no two are alike, on the free equations.
void set_loads(System& s, int columns) {
  s.soe->set_columns(columns);
  std::vector<double> b(static_cast<std::size_t>(columns) * static_cast<std::size_t>(s.model.equation_count()), 0.0);
  for (const std::int32_t e : s.free)
    for (int c = 0; c < columns; ++c) b[static_cast<std::size_t>(columns * e + c)] = std::sin(1.0 + e * (c + 1));
  s.soe->b().from_host(b);
}

std::vector<std::shared_ptr<Preconditioner>> preconditioners() {
  AmgOptions k_cycle;
  k_cycle.cycle = AmgOptions::Cycle::k;
  return {nullptr,
          std::make_shared<JacobiPreconditioner>(),
          std::make_shared<BlockJacobiPreconditioner>(),
          std::make_shared<ChebyshevPreconditioner>(),
          std::make_shared<FsaiPreconditioner>(),
          std::make_shared<AmgPreconditioner>(),
          std::make_shared<AmgPreconditioner>(k_cycle)};
}

TEST(Columns, StartWhereTheyArePutAndEndAtTheAnswer) {
  Domain d;
  add_bar(d);
  for (const auto& preconditioner : preconditioners()) {
    System s(d, "bsr");
    const Eigen::MatrixXd a = s.dense();
    set_loads(s, 3);
    // Any start: it must make no difference to where the iteration ends.
    std::vector<double> start(3 * static_cast<std::size_t>(s.model.equation_count()), 0.0);
    for (const std::int32_t e : s.free)
      for (std::size_t c = 0; c < 3; ++c) start[3 * static_cast<std::size_t>(e) + c] = 0.2 * std::cos(3.0 * e + c);
    s.soe->x().from_host(start);
    CgSolver solver(preconditioner, {1e-10, 2000});
    const SolveReport report = solver.solve(*s.soe);
    SCOPED_TRACE(report.solver);
    EXPECT_TRUE(report.converged) << report.reason;
    for (int c = 0; c < 3; ++c) {
      EXPECT_LE(residual(s, a, c), 1.05e-10) << "column " << c;
      EXPECT_NEAR(report.of_column(c).true_residual, residual(s, a, c), 1e-13) << "column " << c;
    }
    // From the answer there is nowhere to go.
    EXPECT_EQ(solver.solve(*s.soe).iterations, 0);
  }
}

TEST(Columns, TogetherAreAsEachAlone) {
  Domain d;
  add_bar(d);
  for (const std::string& storage : general_storages())
    for (const auto& preconditioner : preconditioners()) {
      if (preconditioner && preconditioner->name() == "fsai" && std::string(storage).find("sr") == std::string::npos)
        continue;  // needs a stored matrix
      System together(d, storage), alone(d, storage);
      constexpr int columns = 5;
      set_loads(together, columns);
      const SolveReport report = CgSolver(preconditioner, {1e-9, 2000}).solve(*together.soe);
      SCOPED_TRACE(report.solver);
      ASSERT_TRUE(report.converged) << report.reason;
      CgSolver single(preconditioner, {1e-9, 2000});
      for (int c = 0; c < columns; ++c) {
        const auto all = together.soe->b().to_host();
        std::vector<double> one;
        for (std::size_t i = static_cast<std::size_t>(c); i < all.size(); i += columns) one.push_back(all[i]);
        alone.soe->b().from_host(one);
        alone.model.backend().fill(alone.soe->x(), 0);
        const SolveReport own = single.solve(*alone.soe);
        EXPECT_NEAR(report.of_column(c).iterations, own.iterations, 1) << "column " << c;
        const Eigen::VectorXd expected = alone.on_free(alone.soe->x());
        EXPECT_LE((together.on_free(together.soe->x(), c) - expected).norm(), 1e-7 * expected.norm()) << "column " << c;
      }
    }
}

TEST(Columns, OfWidelyDifferentSizeAndDifficultyHaveTheirOwnTolerance) {
  Domain d;
  add_bar(d);
  System s(d, "bsr");
  const Eigen::MatrixXd a = s.dense();
  constexpr int columns = 11;  // more than are solved together
  s.soe->set_columns(columns);
  std::vector<double> b(columns * static_cast<std::size_t>(s.model.equation_count()), 0.0);
  for (const std::int32_t e : s.free)
    for (int c = 0; c < columns; ++c)
      b[static_cast<std::size_t>(columns * e + c)] =
          c == 4 ? 0 : std::pow(10.0, 30 - 12 * c) * (c % 2 ? std::sin(1.0 + e * c) : e == s.free[c]);
  s.soe->b().from_host(b);
  for (const auto& preconditioner : preconditioners()) {
    s.model.backend().fill(s.soe->x(), 0);
    const SolveReport report = CgSolver(preconditioner, {1e-8, 2000}).solve(*s.soe);
    SCOPED_TRACE(report.solver);
    EXPECT_TRUE(report.converged) << report.reason;
    for (int c = 0; c < columns; ++c) {
      if (c == 4) continue;
      EXPECT_LE(residual(s, a, c), 1.05e-8) << "column " << c;
      EXPECT_LE(report.of_column(c).true_residual, 1.05e-8) << "column " << c;
    }
    EXPECT_EQ(s.on_free(s.soe->x(), 4).norm(), 0);
  }
}

TEST(Columns, ThatBreakDownDoNotSpoilTheOthers) {
  Domain d;
  add_bar(d);
  System s(d, "csr");
  const Eigen::MatrixXd a = s.dense();
  set_loads(s, 4);
  std::vector<double> b = s.soe->b().to_host();
  b[static_cast<std::size_t>(4 * s.free[0] + 2)] = std::numeric_limits<double>::quiet_NaN();
  s.soe->b().from_host(b);
  const SolveReport report = CgSolver(std::make_shared<AmgPreconditioner>()).solve(*s.soe);
  EXPECT_FALSE(report.converged);
  for (const int c : {0, 1, 3}) {
    EXPECT_TRUE(report.of_column(c).converged) << report.of_column(c).reason;
    EXPECT_LE(residual(s, a, c), 1.05e-8) << "column " << c;
  }
  EXPECT_FALSE(report.of_column(2).converged);
  EXPECT_NE(report.reason.find("a NaN or infinity appeared"), std::string::npos) << report.reason;
  EXPECT_TRUE(std::isnan(report.true_residual)) << "the largest of numbers of which one is NaN";
}

TEST(Columns, ReadTheMatrixOnceForAll) {
  // A matrix that counts its products: three columns that need about as many iterations each share them.
  class Counting final : public Operator {
   public:
    explicit Counting(const Operator& matrix) : matrix_(matrix) {}
    const std::shared_ptr<const Layout>& layout() const override { return matrix_.layout(); }
    void apply(const Vector& x, Vector& y) const override {
      ++products;
      matrix_.apply(x, y);
    }
    double apply_dot(const Vector& x, Vector& y) const override {
      ++products;
      return matrix_.apply_dot(x, y);
    }
    std::size_t bytes() const override { return matrix_.bytes(); }
    std::size_t bytes_moved() const override { return matrix_.bytes_moved(); }
    std::string describe() const override { return matrix_.describe(); }
    mutable int products = 0;

   private:
    const Operator& matrix_;
  };
  Domain d;
  add_bar(d);
  System s(d, "bsr");
  set_loads(s, 3);
  const Counting matrix(s.soe->matrix());
  Vector x = s.model.make_vector(3);
  s.model.backend().fill(x, 0);
  const std::vector<double> tolerances(3, 1e-8);
  const auto outcomes = s.model.backend().cg_columns(matrix, nullptr, s.soe->b(), x, CgRequest(), tolerances);
  int most = 0;
  for (const CgOutcome& o : outcomes) {
    EXPECT_EQ(o.stop, CgOutcome::Stop::converged);
    EXPECT_EQ(o.history.size(), static_cast<std::size_t>(o.iterations) + 1);
    most = std::max(most, o.iterations);
  }
  EXPECT_GT(most, 10);
  EXPECT_EQ(matrix.products, most + 1);
}

TEST(Columns, HaveTheirOwnResidualsByElimination) {
  Domain d;
  add_bar(d);
  System s(d, "csr");
  const Eigen::MatrixXd a = s.dense();
  set_loads(s, 3);
  const SolveReport report = DirectSolver().solve(*s.soe);
  EXPECT_TRUE(report.converged);
  for (int c = 0; c < 3; ++c) EXPECT_NEAR(report.of_column(c).true_residual, residual(s, a, c), 1e-13);
}

TEST(Columns, MayBeManyWithoutATableOfAllPairs) {
  // 50 000 columns squared are more than an int holds, and more memory than there is.
  Domain d;
  add_bar(d, {1, 1, 1});
  System s(d, "csr");
  constexpr int columns = 50000;
  s.soe->set_columns(columns);
  s.model.backend().fill(s.soe->b(), 0);
  s.model.backend().fill(s.soe->x(), 0);
  EXPECT_EQ(true_residual(*s.soe), 0);
  std::vector<double> b = s.soe->b().to_host();
  b[static_cast<std::size_t>(s.free[0]) * columns + 49999] = 2;
  s.soe->b().from_host(b);
  EXPECT_EQ(true_residual(*s.soe), 1);
}

}  // namespace
}  // namespace voussoir::test
