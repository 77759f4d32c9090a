#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "cpu_backends.hpp"
#include "toy_elements.hpp"

namespace voussoir {
namespace {

using toy::vector_of;

/// A diagonal matrix as preconditioner.
class Diagonal : public Operator {
 public:
  Diagonal(Backend& backend, BlockDiagonal inverse) : backend_(backend), inverse_(std::move(inverse)) {}
  const std::shared_ptr<const Layout>& layout() const override { return inverse_.layout; }
  void apply(const Vector& x, Vector& y) const override { backend_.apply(inverse_, x, y); }
  double apply_dot(const Vector& x, Vector& y) const override { return backend_.apply_dot(inverse_, x, y); }
  std::size_t bytes() const override { return 0; }
  std::size_t bytes_moved() const override { return 0; }
  std::string describe() const override { return "Jacobi"; }

 private:
  Backend& backend_;
  BlockDiagonal inverse_;
};

/// −u'' on n inner points: tridiagonal (−1, 2, −1), whose eigenvalues are 2 − 2 cos(kπ/(n+1)).
HostMatrix string_matrix(int n, double diagonal = 2) {
  HostMatrix m;
  m.row_start.push_back(0);
  for (int i = 0; i < n; ++i) {
    for (const int j : {i - 1, i, i + 1})
      if (j >= 0 && j < n) {
        m.column.push_back(j);
        m.value.push_back(i == j ? diagonal : -1);
      }
    m.row_start.push_back(static_cast<std::int64_t>(m.column.size()));
  }
  return m;
}

TEST(Cg, SolvesTheStringUnderUniformLoad) {
  constexpr int n = 200;
  for (const auto& backend : toy::all_backends()) {
    SCOPED_TRACE(backend->describe());
    const auto layout = toy::full_layout(*backend, n);
    const auto a = backend->make_matrix(layout, string_matrix(n));
    Vector b(layout), x(layout);
    backend->fill(b, 1);
    backend->fill(x, 0);
    CgRequest request;
    request.relative_tolerance = 1e-12;
    const CgOutcome outcome = backend->cg(*a, nullptr, b, x, request);
    EXPECT_EQ(outcome.stop, CgOutcome::Stop::converged);
    // A load that is even about the middle excites n/2 of the eigenvectors: CG ends after as many steps.
    EXPECT_LE(outcome.iterations, n / 2 + 1);
    EXPECT_DOUBLE_EQ(outcome.right_hand_side, std::sqrt(n));
    EXPECT_EQ(outcome.history.size(), static_cast<std::size_t>(outcome.iterations) + 1);
    const auto found = x.to_host();
    for (int i = 0; i < n; ++i) EXPECT_NEAR(found[static_cast<std::size_t>(i)], 0.5 * (i + 1) * (n - i), 1e-8);
    // Ritz values: lowest even eigenvalue is number 1; the highest even one is number n − 1.
    const double pi = std::numbers::pi;
    EXPECT_NEAR(outcome.smallest_ritz, 2 - 2 * std::cos(pi / (n + 1)), 1e-9);
    EXPECT_NEAR(outcome.largest_ritz, 2 - 2 * std::cos((n - 1) * pi / (n + 1)), 1e-9);
  }
}

TEST(Cg, PreconditionerThatIsTheInverseEndsInOneStep) {
  for (const auto& backend : toy::all_backends()) {
    HostMatrix m;
    m.row_start.push_back(0);
    for (int i = 0; i < 50; ++i) {
      m.column.push_back(i);
      m.value.push_back(1 + i * i);
      m.row_start.push_back(i + 1);
    }
    const auto layout = toy::full_layout(*backend, 50);
    const auto a = backend->make_matrix(layout, m);
    BlockDiagonal diagonal = backend->block_diagonal(*a, 1);
    backend->invert(diagonal);
    const Diagonal jacobi(*backend, std::move(diagonal));
    Vector b(layout), x(layout);
    backend->fill(b, 1);
    backend->fill(x, 0.5);
    const CgOutcome outcome = backend->cg(*a, &jacobi, b, x, {});
    EXPECT_EQ(outcome.stop, CgOutcome::Stop::converged);
    EXPECT_EQ(outcome.iterations, 1);
    EXPECT_NEAR(outcome.smallest_ritz, 1, 1e-12);
    EXPECT_NEAR(x.to_host()[7], 1.0 / 50, 1e-14);
  }
}

TEST(Cg, IsTheSameBitsForAnyNumberOfThreads) {
  const toy::Case c(40, 40, 3, 4, true);
  std::vector<double> first, history;
  for (const int threads : {1, 2, 3}) {
    const auto backend = make_openmp_backend(threads);
    const auto model = backend->make_model(c.description());
    const auto a = backend->make_matrix(*model, 3);
    backend->assemble(*model, nullptr, {}, *a);
    BlockDiagonal diagonal = backend->block_diagonal(*a, 3);
    backend->invert(diagonal);
    const Diagonal jacobi(*backend, std::move(diagonal));
    Vector b = vector_of(model->layout(), toy::numbers(static_cast<std::size_t>(c.equations()), 61)),
           x(model->layout());
    backend->clear_constrained(*model, b);
    backend->fill(x, 0);
    const CgOutcome outcome = backend->cg(*a, &jacobi, b, x, {});
    EXPECT_EQ(outcome.stop, CgOutcome::Stop::converged);
    if (first.empty()) {
      first = x.to_host();
      history = outcome.history;
    }
    EXPECT_EQ(x.to_host(), first);
    EXPECT_EQ(outcome.history, history);
  }
}

TEST(Cg, SaysWhyItStops) {
  const auto backend = make_openmp_backend(2);
  const auto layout = toy::full_layout(*backend, 100);
  Vector b(layout), x(layout);
  backend->fill(b, 1);
  const auto a = backend->make_matrix(layout, string_matrix(100));

  CgRequest few;
  few.max_iterations = 3;
  backend->fill(x, 0);
  CgOutcome outcome = backend->cg(*a, nullptr, b, x, few);
  EXPECT_EQ(outcome.stop, CgOutcome::Stop::max_iterations);
  EXPECT_EQ(outcome.iterations, 3);

  CgRequest impatient;
  impatient.progress = [](int, double) { return false; };
  backend->fill(x, 0);
  EXPECT_EQ(backend->cg(*a, nullptr, b, x, impatient).stop, CgOutcome::Stop::cancelled);

  const auto indefinite = backend->make_matrix(layout, string_matrix(100, -1));
  backend->fill(x, 0);
  EXPECT_EQ(backend->cg(*indefinite, nullptr, b, x, {}).stop, CgOutcome::Stop::breakdown);

  // The same map as preconditioner of a sound matrix: another fault, and no step is taken.
  backend->fill(x, 0);
  outcome = backend->cg(*a, indefinite.get(), b, x, {});
  EXPECT_EQ(outcome.stop, CgOutcome::Stop::bad_preconditioner);
  EXPECT_EQ(outcome.iterations, 0);
  CgRequest flexible;
  flexible.flexible = true;
  EXPECT_EQ(backend->cg(*a, indefinite.get(), b, x, flexible).stop, CgOutcome::Stop::bad_preconditioner);

  const auto broken = backend->make_matrix(layout, string_matrix(100, std::nan("")));
  backend->fill(x, 0);
  EXPECT_EQ(backend->cg(*broken, nullptr, b, x, {}).stop, CgOutcome::Stop::not_finite);

  backend->fill(b, 0);
  backend->fill(x, 5);
  outcome = backend->cg(*a, nullptr, b, x, {});
  EXPECT_EQ(outcome.stop, CgOutcome::Stop::converged);
  EXPECT_EQ(backend->norm(x), 0);
}

}  // namespace
}  // namespace voussoir
