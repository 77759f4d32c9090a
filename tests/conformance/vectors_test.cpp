#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include <voussoir/backends/backend.hpp>
#include <voussoir/framework/model/analysis_model.hpp>

#include "backends_under_test.hpp"
#include "models.hpp"
#include "support/expect_error.hpp"

namespace voussoir::conformance {
namespace {

/// Vectors over the equations of a solid, cut over the devices of the backend. Entries are whole numbers, so that every
/// sum is exact in whatever order it is taken.
struct Vectors : ::testing::TestWithParam<std::string> {
  Vectors() {
    test_models()[3].build(domain);
    backend = Backend::open(GetParam());
    model = std::make_unique<AnalysisModel>(domain, backend, TransformationHandler(), PlainNumberer());
    n = model->equation_count();
  }
  /// (i + c) % 17 − 3 in equation i and column c.
  std::vector<double> whole(int columns, int shift = 0) const {
    std::vector<double> v;
    for (std::int64_t i = 0; i < n; ++i)
      for (int c = 0; c < columns; ++c) v.push_back(static_cast<double>((i + 5 * c + shift) % 17 - 3));
    return v;
  }
  Vector vector(const std::vector<double>& values) const {
    Vector v = model->make_vector(static_cast<int>(static_cast<std::int64_t>(values.size()) / n));
    v.from_host(values);
    return v;
  }

  Domain domain;
  std::shared_ptr<Backend> backend;
  std::unique_ptr<AnalysisModel> model;
  std::int64_t n = 0;
};

TEST_P(Vectors, SumOfSquaresOfCountingNumbersIsTheFormula) {
  std::vector<double> counting(static_cast<std::size_t>(n));
  std::iota(counting.begin(), counting.end(), 1.0);
  const Vector x = vector(counting);
  const double exact = static_cast<double>(n * (n + 1) * (2 * n + 1) / 6);
  EXPECT_EQ(backend->dot(x, x), exact);
  EXPECT_EQ(backend->norm(x), std::sqrt(exact));
  EXPECT_EQ(x.to_host(), counting);
}

TEST_P(Vectors, LinearCombinations) {
  const auto a = whole(2), b = whole(2, 7);
  Vector x = vector(a), y = vector(b);
  backend->axpy(2, x, y);
  backend->axpby(-3, x, 0.5, y);
  backend->scale(4, y);
  Vector z = model->make_vector(2);
  backend->copy(y, z);
  backend->multiply(x, y, y);
  const auto copied = z.to_host(), multiplied = y.to_host();
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double expected = 4 * (-3 * a[i] + 0.5 * (b[i] + 2 * a[i]));
    ASSERT_EQ(copied[i], expected) << i;
    ASSERT_EQ(multiplied[i], a[i] * expected) << i;
  }
  backend->fill(z, 1.5);
  EXPECT_EQ(z.to_host(), std::vector<double>(a.size(), 1.5));
}

TEST_P(Vectors, TheHeartOfCgInOnePass) {
  const auto p = whole(1), q = whole(1, 3), x0 = whole(1, 8), r0 = whole(1, 12);
  Vector x = vector(x0), r = vector(r0);
  const double rr = backend->cg_update(2, vector(p), vector(q), x, r);
  double expected = 0;
  for (std::size_t i = 0; i < p.size(); ++i) {
    ASSERT_EQ(x.to_host()[i], x0[i] + 2 * p[i]);
    const double left = r0[i] - 2 * q[i];
    ASSERT_EQ(r.to_host()[i], left);
    expected += left * left;
  }
  EXPECT_EQ(rr, expected);
}

TEST_P(Vectors, BlocksMultiplyAsMatrices) {
  const auto a = whole(3), b = whole(2, 4);
  const Vector x = vector(a);
  Vector y = vector(b);
  std::vector<double> xy(6), expected(6, 0.0);
  backend->block_dot(x, y, xy);
  for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i)
    for (std::size_t k = 0; k < 3; ++k)
      for (std::size_t l = 0; l < 2; ++l) expected[2 * k + l] += a[3 * i + k] * b[2 * i + l];
  EXPECT_EQ(xy, expected);

  const std::vector<double> c{1, -2, 0, 3, 5, 0.5};  // 3 × 2, by rows
  backend->block_axpy(x, c, y);
  const auto sum = y.to_host();
  for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i)
    for (std::size_t l = 0; l < 2; ++l)
      ASSERT_EQ(sum[2 * i + l], b[2 * i + l] + a[3 * i] * c[l] + a[3 * i + 1] * c[2 + l] + a[3 * i + 2] * c[4 + l]);
}

// Widths on either side of the tiles that backends cut blocks into.
TEST_P(Vectors, WideBlocksMultiplyAsMatrices) {
  for (const auto& [wide, other] : {std::pair{8, 8}, {9, 27}, {27, 10}, {33, 70}, {70, 33}, {201, 12}, {7, 65}}) {
    SCOPED_TRACE(std::to_string(wide) + " and " + std::to_string(other));
    const auto m = static_cast<std::size_t>(wide), w = static_cast<std::size_t>(other);
    const auto a = whole(wide), b = whole(other, 4);
    const Vector x = vector(a);
    Vector y = vector(b);
    std::vector<double> xy(m * w), expected(m * w, 0.0), c(m * w);
    for (std::size_t k = 0; k < c.size(); ++k) c[k] = static_cast<double>(k % 7) - 3;
    backend->block_dot(x, y, xy);
    std::vector<double> sums = b;
    for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i)
      for (std::size_t k = 0; k < m; ++k)
        for (std::size_t l = 0; l < w; ++l) {
          expected[k * w + l] += a[i * m + k] * b[i * w + l];
          sums[i * w + l] += a[i * m + k] * c[k * w + l];
        }
    EXPECT_EQ(xy, expected);
    backend->block_axpy(x, c, y);
    EXPECT_EQ(y.to_host(), sums);
  }
}

TEST_P(Vectors, ColumnsAreWorkedOnEachByItself) {
  for (const int width : {1, 2, 3, 5, 8, 40}) {
    SCOPED_TRACE(width);
    const auto columns = static_cast<std::size_t>(width);
    const auto a = whole(width), b = whole(width, 4);
    const Vector x = vector(a);
    Vector y = vector(b);
    std::vector<double> dots(columns), expected(columns, 0.0);
    backend->column_dots(x, y, dots);
    for (std::size_t i = 0; i < a.size(); ++i) expected[i % columns] += a[i] * b[i];
    EXPECT_EQ(dots, expected);

    // A factor of zero says that what it multiplies does not matter, be it NaN.
    std::vector<double> first(columns), second(columns), spoiled = b;
    for (std::size_t c = 0; c < columns; ++c) {
      first[c] = c % 3 == 1 ? 0 : 2.0 + static_cast<double>(c);
      second[c] = c % 4 == 2 ? 0 : -0.5 * static_cast<double>(c + 1);
      if (second[c] == 0) spoiled[c] = std::numeric_limits<double>::quiet_NaN();
    }
    y.from_host(spoiled);
    backend->column_axpby(first, x, second, y);
    const auto sum = y.to_host();
    for (std::size_t i = 0; i < a.size(); ++i)
      ASSERT_EQ(sum[i], first[i % columns] * a[i] + second[i % columns] * b[i]) << i;

    Vector to = vector(whole(width + 2, 9));
    const auto before = to.to_host();
    const int from = width / 2, count = width - from;
    backend->copy_columns(x, from, count, to, 1);
    const auto after = to.to_host();
    for (std::size_t r = 0; r < a.size() / columns; ++r)
      for (int c = 0; c < width + 2; ++c) {
        const std::size_t at = r * (columns + 2) + static_cast<std::size_t>(c);
        const bool copied = c >= 1 && c < 1 + count;
        ASSERT_EQ(after[at], copied ? a[r * columns + static_cast<std::size_t>(from + c - 1)] : before[at]);
      }
  }
  Vector x = vector(whole(2)), y = vector(whole(3));
  std::vector<double> two(2), three(3);
  voussoir::testing::expect_error(ErrorCode::misuse, {"column_dots"}, [&] { backend->column_dots(x, x, three); });
  voussoir::testing::expect_error(ErrorCode::misuse, {"column_axpby"},
                                  [&] { backend->column_axpby(two, x, three, x); });
  voussoir::testing::expect_error(ErrorCode::misuse, {"copy_columns", "2 columns from column 1"},
                                  [&] { backend->copy_columns(x, 1, 2, y, 0); });
}

TEST_P(Vectors, NormsNeitherOverflowNorUnderflow) {
  const auto a = whole(2);
  for (const double size : {1e-300, 1e-200, 1.0, 1e200, 1e300}) {
    std::vector<double> b = a;
    for (double& v : b) v *= 0.5 * size;
    double sum = 0;
    for (const double v : a) sum += 0.25 * v * v;
    const Vector x = vector(b);
    EXPECT_NEAR(backend->norm(x) / size, std::sqrt(sum), 1e-12 * std::sqrt(sum)) << size;
    const auto columns = backend->column_norms(x);
    EXPECT_NEAR(std::hypot(columns[0] / size, columns[1] / size), std::sqrt(sum), 1e-12 * std::sqrt(sum)) << size;
  }
  Vector zero = vector(std::vector<double>(a.size(), 0.0));
  EXPECT_EQ(backend->norm(zero), 0);
  EXPECT_EQ(backend->column_norms(zero), (std::vector<double>{0, 0}));
}

TEST_P(Vectors, GhostsAreCopiesOfTheirOwners) {
  const auto values = whole(2);
  const Vector x = vector(values);
  backend->exchange(x);
  const auto& layout = *x.layout();
  for (int d = 0; d < layout.devices(); ++d) {
    const auto part = x.part(d).read_host();
    for (std::size_t i = 0; i < part.size(); ++i) {
      const auto equation = static_cast<std::size_t>(layout.global(d, static_cast<std::int32_t>(i / 2)));
      ASSERT_EQ(part[i], values[2 * equation + i % 2]) << "device " << d << ", entry " << i;
    }
  }
}

TEST_P(Vectors, GhostsOfANewVectorAreZeros) {
  const Vector x = model->make_vector(2);
  const auto& layout = *x.layout();
  for (int d = 0; d < layout.devices(); ++d) {
    const auto part = x.part(d).read_host();
    for (std::size_t i = 2 * static_cast<std::size_t>(layout.owned(d)); i < part.size(); ++i)
      ASSERT_EQ(part[i], 0.0) << "device " << d << ", entry " << i;
  }
}

TEST_P(Vectors, ThoseOfAnotherBackendAreRefused) {
  const auto other = Backend::open(GetParam());
  const AnalysisModel elsewhere(domain, other, TransformationHandler(), PlainNumberer());
  const Vector own = vector(whole(1));
  Vector foreign = elsewhere.make_vector();
  other->fill(foreign, 1);
  const auto refused = [](const auto& use) {
    voussoir::testing::expect_error(ErrorCode::misuse, {"another backend"}, use);
  };
  refused([&] { backend->fill(foreign, 2); });
  refused([&] { backend->norm(foreign); });
  refused([&] { backend->dot(own, foreign); });
  refused([&] { backend->dot(foreign, own); });
  refused([&] { backend->axpy(1, own, foreign); });
  refused([&] { backend->exchange(foreign); });
  refused([&] { backend->clear_constrained(model->device_model(), foreign); });
  EXPECT_EQ(foreign.to_host(), std::vector<double>(static_cast<std::size_t>(n), 1.0));
}

TEST(BackendsUnderTest, AreSplitAtCommasThatBeginAName) {
  EXPECT_EQ(split_specifications("cuda,cuda:0,0"), (std::vector<std::string>{"cuda", "cuda:0,0"}));
  EXPECT_EQ(split_specifications("debug:3,,openmp:2,"), (std::vector<std::string>{"debug:3", "openmp:2"}));
  EXPECT_TRUE(split_specifications("").empty());
}

INSTANTIATE_TEST_SUITE_P(Conformance, Vectors, ::testing::ValuesIn(backends_under_test()),
                         [](const auto& info) { return test_name(info.param); });

}  // namespace
}  // namespace voussoir::conformance
