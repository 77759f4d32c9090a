#include <gtest/gtest.h>

#include <algorithm>

#include <voussoir/backends/diagonal_operator.hpp>

#include "backends_under_test.hpp"

// Where CG stops: every backend tells a matrix that is not positive definite from a preconditioner that is not, and
// goes the same way until it has done as many iterations as it was asked for.

namespace voussoir::conformance {
namespace {

/// An operator that no backend knows by its type.
class Unknown final : public Operator {
 public:
  explicit Unknown(const Operator& known) : known_(known) {}
  const std::shared_ptr<const Layout>& layout() const override { return known_.layout(); }
  void apply(const Vector& x, Vector& y) const override { known_.apply(x, y); }
  double apply_dot(const Vector& x, Vector& y) const override { return known_.apply_dot(x, y); }
  std::size_t bytes() const override { return known_.bytes(); }
  std::size_t bytes_moved() const override { return known_.bytes_moved(); }
  std::string describe() const override { return "unknown"; }

 private:
  const Operator& known_;
};

/// A string under a load on all of its points but the last, for few points and for many: GPUs take them otherwise, in
/// one kernel (on one emulated device up to 32 of them), or kernel by kernel.
struct CgStops : ::testing::TestWithParam<std::tuple<std::string, int>> {
  CgStops() {
    std::vector<std::shared_ptr<DeviceMemory>> memories;
    std::vector<std::int64_t> first;
    std::vector<std::vector<std::int64_t>> ghosts;
    const int devices = backend->devices();
    for (int device = 0; device < devices; ++device) {
      memories.push_back(backend->memory(device));
      first.push_back(static_cast<std::int64_t>(n) * device / devices);
      ghosts.emplace_back();
      if (device > 0) ghosts.back().push_back(first.back() - 1);
      if (device + 1 < devices) ghosts.back().push_back(static_cast<std::int64_t>(n) * (device + 1) / devices);
    }
    first.push_back(n);
    layout = std::make_shared<const Layout>(std::move(memories), std::move(first), std::move(ghosts));
    b = Vector(layout);
    x = Vector(layout);
    std::vector<double> load(static_cast<std::size_t>(n), 1.0);
    load.back() = 0;
    b.from_host(load);
    backend->fill(x, 0);
  }

  /// Tridiagonal (−1, diagonal, −1): positive definite for 2, not for −1.
  std::unique_ptr<SparseMatrix> matrix(double diagonal) const {
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
    return backend->make_matrix(layout, m);
  }

  /// 1 on the diagonal but for the last entry.
  DiagonalOperator preconditioner(double last) const {
    BlockDiagonal diagonal{1, layout, {}};
    for (int d = 0; d < layout->devices(); ++d) {
      std::vector<double> values(static_cast<std::size_t>(layout->owned(d)), 1.0);
      if (d + 1 == layout->devices()) values.back() = last;
      diagonal.blocks.emplace_back(layout->memory(d), std::span<const double>(values));
    }
    return {backend, std::move(diagonal)};
  }

  const int n = std::get<1>(GetParam());
  const std::shared_ptr<Backend> backend = Backend::open(std::get<0>(GetParam()));
  std::shared_ptr<const Layout> layout;
  Vector b, x;
};

TEST_P(CgStops, AtAMatrixThatIsNotPositive) {
  const auto a = matrix(-1);
  const DiagonalOperator m = preconditioner(1);
  const Unknown unknown(m);
  for (const Operator* inverse : {static_cast<const Operator*>(nullptr), static_cast<const Operator*>(&m),
                                  static_cast<const Operator*>(&unknown)}) {
    const CgOutcome outcome = backend->cg(*a, inverse, b, x, {});
    EXPECT_EQ(outcome.stop, CgOutcome::Stop::breakdown);
    EXPECT_EQ(outcome.iterations, 0);
  }
}

// The first residual has nothing where the preconditioner is negative; the second, after a step of (n − 1)/2, has.
TEST_P(CgStops, AtAPreconditionerThatIsNotPositive) {
  const auto a = matrix(2);
  const DiagonalOperator m = preconditioner(-1000);
  const Unknown unknown(m);
  for (const bool flexible : {false, true})
    for (const Operator* inverse : {static_cast<const Operator*>(&m), static_cast<const Operator*>(&unknown)}) {
      CgRequest request;
      request.flexible = flexible;
      backend->fill(x, 0);
      const CgOutcome outcome = backend->cg(*a, inverse, b, x, request);
      EXPECT_EQ(outcome.stop, CgOutcome::Stop::bad_preconditioner);
      EXPECT_EQ(outcome.iterations, 1);
      EXPECT_EQ(x.to_host().front(), 0.5 * (n - 1));
    }
}

// Matrices and preconditioners that a backend knows, and works into its own loops, against the same ones as strangers.
TEST_P(CgStops, AfterTheIterationsThatWereAskedFor) {
  const auto a = matrix(2.0001);
  const DiagonalOperator m = preconditioner(0.5);
  const Unknown strange_a(*a), strange_m(m);
  CgRequest request;
  request.relative_tolerance = 1e-10;
  // More than a GPU does without looking; fewer where they take seconds.
  request.max_iterations = n > 1000 && backend->name().starts_with("emulated") ? 6 : std::min(n, 140);
  for (const bool preconditioned : {false, true}) {
    SCOPED_TRACE(preconditioned ? "with a preconditioner" : "alone");
    const auto solve = [&](const Operator& some, const Operator* inverse) {
      backend->fill(x, 0.25);
      return backend->cg(some, preconditioned ? inverse : nullptr, b, x, request);
    };
    const CgOutcome expected = solve(strange_a, &strange_m);
    const std::vector<double> expected_x = x.to_host();
    const CgOutcome outcome = solve(*a, &m);
    const std::vector<double> own_x = x.to_host();
    EXPECT_TRUE(n < 140 || outcome.stop == CgOutcome::Stop::max_iterations);
    EXPECT_EQ(outcome.stop, expected.stop);
    ASSERT_EQ(outcome.iterations, expected.iterations);
    ASSERT_EQ(outcome.history.size(), static_cast<std::size_t>(outcome.iterations) + 1);
    for (std::size_t i = 0; i < outcome.history.size(); ++i)
      EXPECT_NEAR(outcome.history[i], expected.history[i], 1e-9 * expected.right_hand_side) << i;
    const double largest = *std::max_element(expected_x.begin(), expected_x.end());
    for (std::size_t i = 0; i < own_x.size(); ++i) ASSERT_NEAR(own_x[i], expected_x[i], 1e-9 * largest) << i;
    EXPECT_NEAR(outcome.largest_ritz, expected.largest_ritz, 1e-9 * expected.largest_ritz);
  }
}

INSTANTIATE_TEST_SUITE_P(Conformance, CgStops,
                         ::testing::Combine(::testing::ValuesIn(backends_under_test()),
                                            ::testing::Values(31, 101, 5001, 9001)),
                         [](const auto& info) {
                           return test_name(std::get<0>(info.param)) + "_" + std::to_string(std::get<1>(info.param));
                         });

struct CgOnFullMatrices : ::testing::TestWithParam<std::string> {};

// Rows that are just short enough, or just too long, to stay on a multiprocessor of some GPU.
TEST_P(CgOnFullMatrices, OfAnyWidth) {
  const auto backend = Backend::open(GetParam());
  const int devices = backend->devices();
  for (const int n : {255, 420, 600, 603, 606}) {
    SCOPED_TRACE(n);
    std::vector<std::shared_ptr<DeviceMemory>> memories;
    std::vector<std::int64_t> first;
    std::vector<std::vector<std::int64_t>> ghosts(static_cast<std::size_t>(devices));
    for (int d = 0; d < devices; ++d) {
      memories.push_back(backend->memory(d));
      first.push_back(std::int64_t{n} * d / devices);
      for (int i = 0; i < n; ++i)
        if (i < first.back() || i >= std::int64_t{n} * (d + 1) / devices)
          ghosts[static_cast<std::size_t>(d)].push_back(i);
    }
    first.push_back(n);
    const auto layout = std::make_shared<const Layout>(std::move(memories), std::move(first), std::move(ghosts));
    HostMatrix m;  // 2 I + 1 1ᵀ / n, whose inverse takes a sixth of the mean from b / 2
    m.row_start.push_back(0);
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) {
        m.column.push_back(j);
        m.value.push_back((i == j ? 2 : 0) + 1.0 / n);
      }
      m.row_start.push_back(static_cast<std::int64_t>(m.column.size()));
    }
    std::vector<double> load(static_cast<std::size_t>(n));
    for (int i = 0; i < n; ++i) load[static_cast<std::size_t>(i)] = i % 7;
    double mean = 0;
    for (const double value : load) mean += value / n;
    Vector b(layout), x(layout);
    b.from_host(load);
    backend->fill(x, 1);
    const auto matrix = backend->make_matrix(layout, m);
    EXPECT_EQ(backend->cg(*matrix, nullptr, b, x, {}).stop, CgOutcome::Stop::converged);
    const std::vector<double> solution = x.to_host();
    for (int i = 0; i < n; ++i)
      ASSERT_NEAR(solution[static_cast<std::size_t>(i)], load[static_cast<std::size_t>(i)] / 2 - mean / 6, 1e-6) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Conformance, CgOnFullMatrices, ::testing::ValuesIn(backends_under_test()),
                         [](const auto& info) { return test_name(info.param); });

}  // namespace
}  // namespace voussoir::conformance
