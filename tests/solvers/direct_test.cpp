#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <limits>
#include <thread>
#include <voussoir/backends/error.hpp>
#include <voussoir/solvers/direct/factorization.hpp>

#include "direct_matrices.hpp"

namespace voussoir::test {
namespace {

class Direct : public ::testing::TestWithParam<DirectMethod> {
 protected:
  std::unique_ptr<Factorization> make(const DirectOptions& options = {}) const {
    return Factorization::make(GetParam(), options);
  }

  // The null space must have the dimension given, be orthonormal, and be sent to nothing.
  static void expect_null_space(Factorization& factor, const SymmetricCsr& a, int dimension) {
    factor.factorise(a);
    ASSERT_EQ(static_cast<int>(factor.null_pivots().size()), dimension);
    EXPECT_EQ(factor.inertia().zero, dimension);
    EXPECT_EQ(factor.inertia().negative, 0);
    EXPECT_EQ(factor.inertia().positive, a.n - dimension);
    const std::vector<double> basis = factor.null_space();
    ASSERT_EQ(static_cast<std::int64_t>(basis.size()), a.n * dimension);
    std::vector<double> product(a.n);
    const double size = infinity_norm(a);
    for (int c = 0; c < dimension; ++c) {
      const std::span<const double> v = std::span(basis).subspan(c * a.n, a.n);
      multiply(a, v, product);
      double worst = 0;
      for (double p : product) worst = std::max(worst, std::abs(p));
      EXPECT_LT(worst, 1e-12 * size) << "vector " << c;
      for (int d = 0; d <= c; ++d) {
        double inner = 0;
        for (std::int64_t i = 0; i < a.n; ++i) inner += v[i] * basis[d * a.n + i];
        EXPECT_NEAR(inner, c == d ? 1.0 : 0.0, 1e-10);
      }
    }
  }
};

// −u″ = 1, u(0) = u(1) = 0: the three-point scheme is exact for u = x(1 − x)/2.
TEST_P(Direct, SolvesTheStringExactly) {
  const int m = 999;
  const double h = 1.0 / (m + 1);
  auto factor = make();
  factor->factorise(laplacian(1, m));
  std::vector<double> x(m, h * h);
  factor->solve(x);
  for (int i = 0; i < m; ++i) {
    const double s = (i + 1) * h;
    EXPECT_NEAR(x[i], s * (1 - s) / 2, 1e-12) << i;
  }
  EXPECT_EQ(factor->inertia().positive, m);
  EXPECT_TRUE(factor->null_pivots().empty());
}

// Discrete sines are eigenvectors of the Laplacian on a square and on a cube: A v = λ v, so A x = v gives v / λ.
TEST_P(Direct, SolvesPlateAndCubeByTheirEigenvectors) {
  for (int dimension : {2, 3}) {
    const int m = dimension == 2 ? 31 : 9;
    const SymmetricCsr a = laplacian(dimension, m);
    const std::array<int, 3> k = {2, 3, dimension == 3 ? 1 : 0};
    std::vector<double> v(a.n);
    for (std::int64_t i = 0; i < a.n; ++i) {
      v[i] = 1;
      std::int64_t rest = i;
      for (int d = 0; d < dimension; ++d, rest /= m) v[i] *= std::sin(k[d] * M_PI * (rest % m + 1.0) / (m + 1));
    }
    const double lambda = laplacian_eigenvalue(m, k);
    auto factor = make();
    factor->factorise(a);
    std::vector<double> x = v;
    factor->solve(x);
    for (std::int64_t i = 0; i < a.n; ++i) EXPECT_NEAR(x[i], v[i] / lambda, 1e-12);
    EXPECT_LT(relative_residual(a, x, v), 1e-13);
  }
}

// Sylvester: A − σI has as many negative pivots as A has eigenvalues below σ, and those are sums of sines squared.
TEST_P(Direct, CountsEigenvaluesBelowAShift) {
  const int m = 12;
  const SymmetricCsr a = laplacian(2, m);
  auto factor = make();
  for (double shift : {0.05, 0.5, 1.3, 3.7, 6.9, 9.0}) {
    std::int64_t below = 0;
    for (int i = 1; i <= m; ++i) {
      for (int j = 1; j <= m; ++j) below += laplacian_eigenvalue(m, {i, j, 0}) < shift;
    }
    const SymmetricCsr k = shifted(a, shift);
    factor->factorise(k);
    EXPECT_EQ(factor->inertia().negative, below) << shift;
    EXPECT_EQ(factor->inertia().zero, 0) << shift;
    EXPECT_EQ(factor->inertia().positive, a.n - below) << shift;
    std::vector<double> b(a.n);
    for (std::int64_t i = 0; i < a.n; ++i) b[i] = std::cos(1.0 + 0.37 * static_cast<double>(i));
    std::vector<double> x = b;
    factor->solve(x);
    EXPECT_LT(relative_residual(k, x, b), 1e-10) << shift;
  }
}

TEST_P(Direct, FindsTheFreeMotionOfABar) {
  auto factor = make();
  const SymmetricCsr a = free_bar(500, 2.1e11);
  expect_null_space(*factor, a, 1);
  const std::vector<double> v = factor->null_space();
  for (double value : v) EXPECT_NEAR(std::abs(value), 1 / std::sqrt(500.0), 1e-10);

  // Forces in balance have a solution although nothing is held: a unit pull stretches each spring by 1 / k.
  std::vector<double> x(a.n, 0.0);
  x.front() = -1;
  x.back() = 1;
  factor->solve(x);
  EXPECT_NEAR((x.back() - x.front()) * 2.1e11, 499, 1e-7);
  EXPECT_EQ(x[factor->null_pivots()[0]], 0);
}

// A rigid plane truss moves in three ways; two of them apart in six; a joint on one straight pair of bars adds one.
TEST_P(Direct, FindsTheFreeMotionsOfTrusses) {
  std::vector<Point> joints;
  std::vector<std::array<int, 2>> bars;
  braced_grid(9, 7, joints, bars);
  auto factor = make();
  const SymmetricCsr one = plane_truss(joints, bars, 2.1e8);
  expect_null_space(*factor, one, 3);

  // The basis spans the two translations and the rotation: what they leave behind after projection is nothing.
  const std::vector<double> basis = factor->null_space();
  for (int motion = 0; motion < 3; ++motion) {
    std::vector<double> r(one.n);
    for (std::size_t p = 0; p < joints.size(); ++p) {
      r[2 * p] = motion == 0 ? 1 : motion == 1 ? 0 : -joints[p].y;
      r[2 * p + 1] = motion == 0 ? 0 : motion == 1 ? 1 : joints[p].x;
    }
    double before = 0, after = 0;
    for (double value : r) before += value * value;
    for (int c = 0; c < 3; ++c) {
      double inner = 0;
      for (std::int64_t i = 0; i < one.n; ++i) inner += basis[c * one.n + i] * r[i];
      for (std::int64_t i = 0; i < one.n; ++i) r[i] -= inner * basis[c * one.n + i];
    }
    for (double value : r) after += value * value;
    EXPECT_LT(std::sqrt(after / before), 1e-10) << motion;
  }

  braced_grid(6, 6, joints, bars, {100, 50});
  expect_null_space(*factor, plane_truss(joints, bars, 2.1e8), 6);

  joints.push_back({0.5 * (joints[0].x + joints[1].x), 0.5 * (joints[0].y + joints[1].y)});
  bars.push_back({0, static_cast<int>(joints.size()) - 1});
  bars.push_back({1, static_cast<int>(joints.size()) - 1});
  expect_null_space(*factor, plane_truss(joints, bars, 2.1e8), 7);
}

// Lengths in millimetres make deflections and rotations differ by ten orders of magnitude.
TEST_P(Direct, FindsTheFreeMotionsOfABeamInMillimetres) {
  auto factor = make();
  expect_null_space(*factor, free_beam(40, 8000, 2.1e5 * 8e6), 2);
}

// A slender cantilever is nearly singular, yet held: P L³ / 3EI at the tip, and no null pivot.
TEST_P(Direct, DoesNotTakeASlenderCantileverForAFreeOne) {
  const int elements = 1000;
  const double length = 10000, stiffness = 2.1e5 * 8e6;
  auto factor = make();
  factor->factorise(without_first(free_beam(elements, length, stiffness), 2));
  EXPECT_TRUE(factor->null_pivots().empty());
  std::vector<double> x(2 * elements, 0.0);
  x[2 * elements - 2] = 1;
  factor->solve(x);
  const double expected = length * length * length / (3 * stiffness);
  EXPECT_NEAR(x[2 * elements - 2] / expected, 1, 1e-4);
}

TEST_P(Direct, FindsEquationsWithNothingInThem) {
  Builder builder(50);
  for (int i = 0; i < 50; ++i) {
    if (i != 7 && i % 10 != 3) builder.add(i, i, 1.0 + i);
  }
  auto factor = make();
  const SymmetricCsr a = builder.matrix();
  expect_null_space(*factor, a, 6);
  EXPECT_EQ(factor->null_pivots(), (std::vector<std::int32_t>{3, 7, 13, 23, 33, 43}));
}

// Many right-hand sides at once give what each of them gives alone.
TEST_P(Direct, TakesManyRightHandSides) {
  const SymmetricCsr a = laplacian(3, 8);
  auto factor = make();
  factor->factorise(a);
  const int columns = 41;
  std::vector<double> b(a.n * columns);
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = std::sin(0.1 + 0.7 * static_cast<double>(i));
  std::vector<double> x = b;
  factor->solve(x, columns);
  for (int c = 0; c < columns; ++c) {
    const auto xc = std::span(x).subspan(c * a.n, a.n), bc = std::span(b).subspan(c * a.n, a.n);
    EXPECT_LT(relative_residual(a, xc, bc), 1e-13);
    std::vector<double> alone(bc.begin(), bc.end());
    factor->solve(alone);
    for (std::int64_t i = 0; i < a.n; ++i) EXPECT_NEAR(alone[i], xc[i], 1e-13);
  }
}

TEST_P(Direct, AnalysesOnceForManyValues) {
  auto factor = make();
  SymmetricCsr a = laplacian(2, 15);
  factor->analyse(a);
  for (double factor_of_values : {1.0, 3.0, -2.0}) {
    SymmetricCsr scaled = a;
    for (double& value : scaled.value) value *= factor_of_values;
    factor->factorise(scaled);
    std::vector<double> b(a.n, 1.0), x = b;
    factor->solve(x);
    EXPECT_LT(relative_residual(scaled, x, b), 1e-13);
  }
  EXPECT_EQ(factor->statistics().analyses, 1);
  EXPECT_EQ(factor->statistics().factorisations, 3);
  EXPECT_EQ(factor->inertia().negative, a.n);

  const SymmetricCsr other = laplacian(1, 15);  // another pattern: analysed again by itself
  factor->factorise(other);
  std::vector<double> b(other.n, 1.0), x = b;
  factor->solve(x);
  EXPECT_LT(relative_residual(other, x, b), 1e-13);
  EXPECT_EQ(factor->statistics().analyses, 2);
}

TEST_P(Direct, RefinesWhenAsked) {
  DirectOptions options;
  options.refinement_steps = 3;
  auto factor = make(options);
  const SymmetricCsr a = shifted(laplacian(2, 20), 1.3);
  factor->factorise(a);
  std::vector<double> b(2 * a.n);
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = std::cos(static_cast<double>(i));
  std::vector<double> x = b;
  factor->solve(x, 2);
  EXPECT_LT(relative_residual(a, std::span(x).first(a.n), std::span(b).first(a.n)), 1e-13);
  EXPECT_LT(relative_residual(a, std::span(x).last(a.n), std::span(b).last(a.n)), 1e-13);
}

TEST_P(Direct, GivesTheSameBitsEveryTime) {
  const SymmetricCsr a = laplacian(3, 9);
  std::vector<double> first;
  for (int run = 0; run < 3; ++run) {
    auto factor = make();
    factor->factorise(a);
    std::vector<double> x(a.n, 1.0);
    factor->solve(x);
    if (run == 0) first = x;
    EXPECT_EQ(x, first);
  }
}

TEST_P(Direct, SaysWhatItDid) {
  auto factor = make();
  factor->factorise(laplacian(2, 20));
  const DirectStatistics& statistics = factor->statistics();
  EXPECT_EQ(statistics.method, to_string(choose_direct(1, 1, GetParam()).method));
  EXPECT_FALSE(statistics.ordering.empty());
  EXPECT_NE(statistics.why.find("400 equations"), std::string::npos);
  EXPECT_GE(statistics.factor_entries, 400 + 760);
  EXPECT_GT(statistics.flops, 400);
}

TEST_P(Direct, WorksFromSeveralThreadsOnSeveralObjects) {
  std::vector<double> residual(4, 1.0);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      const SymmetricCsr a = laplacian(2, 10 + t);
      auto factor = make();
      factor->factorise(a);
      std::vector<double> b(a.n, 1.0), x = b;
      factor->solve(x);
      residual[t] = relative_residual(a, x, b);
    });
  }
  for (auto& thread : threads) thread.join();
  for (double r : residual) EXPECT_LT(r, 1e-13);
}

TEST_P(Direct, RefusesWhatIsNoSymmetricMatrix) {
  auto factor = make();
  SymmetricCsr a = laplacian(2, 4);
  const auto code_of = [&](const SymmetricCsr& bad) {
    try {
      factor->factorise(bad);
    } catch (const Error& error) {
      EXPECT_FALSE(error.where().empty());
      return error.code();
    }
    return ErrorCode::internal;
  };
  SymmetricCsr bad = a;
  bad.column[1] = 99;
  bad.column[2] = 100;
  EXPECT_EQ(code_of(bad), ErrorCode::bad_input);  // outside: not square
  bad = a;
  std::swap(bad.column[1], bad.column[2]);
  EXPECT_EQ(code_of(bad), ErrorCode::bad_input);  // not ascending
  bad = a;
  bad.column[bad.row_start[3]] = 0;
  EXPECT_EQ(code_of(bad), ErrorCode::bad_input);  // below the diagonal
  bad = a;
  bad.row_start.pop_back();
  EXPECT_EQ(code_of(bad), ErrorCode::bad_input);
  bad = a;
  bad.value.pop_back();
  EXPECT_EQ(code_of(bad), ErrorCode::bad_input);
  bad = a;
  bad.value[5] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(code_of(bad), ErrorCode::not_finite);
  bad.value[5] = std::numeric_limits<double>::infinity();
  EXPECT_EQ(code_of(bad), ErrorCode::not_finite);

  factor->factorise(a);  // and goes on working afterwards
  std::vector<double> x(a.n, 1.0), shorter(a.n - 1);
  EXPECT_NO_THROW(factor->solve(x));
  EXPECT_THROW(factor->solve(shorter), Error);
  EXPECT_THROW(factor->schur_complement(), Error);
  EXPECT_THROW(make()->solve(x), Error);
}

TEST_P(Direct, AnEmptyMatrixIsNoTrouble) {
  SymmetricCsr a;
  a.row_start = {0};
  auto factor = make();
  factor->factorise(a);
  std::vector<double> none;
  factor->solve(none);
  EXPECT_TRUE(factor->null_pivots().empty());
  EXPECT_TRUE(factor->null_space().empty());
}

// An OpenBLAS that uses OpenMP sets OpenMP's number of threads with its own.
TEST_P(Direct, LeavesTheNumberOfThreadsOfOpenMp) {
  const int before = omp_get_max_threads();
  omp_set_num_threads(3);
  DirectOptions options;
  options.threads = 2;
  const auto factor = make(options);
  const SymmetricCsr a = laplacian(2, 12);
  factor->factorise(a);
  std::vector<double> x(static_cast<std::size_t>(a.n), 1.0);
  factor->solve(x);
  EXPECT_EQ(omp_get_max_threads(), 3);
  omp_set_num_threads(before);
}

std::vector<DirectMethod> methods_of_this_build() {
  std::vector<DirectMethod> methods = {DirectMethod::automatic};
  for (DirectMethod method : {DirectMethod::mumps, DirectMethod::eigen, DirectMethod::cholmod, DirectMethod::band,
                              DirectMethod::profile, DirectMethod::multifrontal}) {
    if (why_unavailable(method).empty()) methods.push_back(method);
  }
  return methods;
}

INSTANTIATE_TEST_SUITE_P(Methods, Direct, ::testing::ValuesIn(methods_of_this_build()),
                         [](const auto& info) { return std::string(to_string(info.param)); });

TEST(DirectChoice, NamesMethodsAndSaysWhy) {
  EXPECT_EQ(direct_method("profile"), DirectMethod::profile);
  EXPECT_EQ(direct_method("auto"), DirectMethod::automatic);
  try {
    direct_method("gauss");
    FAIL() << "a method of that name does not exist";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::not_found);
    EXPECT_NE(error.text().find("cholmod"), std::string::npos);
  }
  const DirectChoice choice = choose_direct(1000, 5000);
  EXPECT_NE(choice.method, DirectMethod::automatic);
  EXPECT_NE(choice.why.find("1000 equations"), std::string::npos);
  for (DirectMethod method : {DirectMethod::mumps, DirectMethod::cholmod}) {
    if (why_unavailable(method).empty()) continue;
    EXPECT_THROW(choose_direct(1, 1, method), Error);
    EXPECT_THROW(Factorization::make(method), Error);
  }
}

}  // namespace
}  // namespace voussoir::test
