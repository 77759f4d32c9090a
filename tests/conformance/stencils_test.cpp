#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>

#include <voussoir/backends/backend.hpp>
#include <voussoir/backends/stencil_services.hpp>

#include "backends_under_test.hpp"
#include "support/expect_error.hpp"

// Jacobi iterations on every backend, bit by bit against a loop over all nodes, and against eigenvectors of the
// iteration.

namespace voussoir::conformance {
namespace {

constexpr auto dirichlet = GridSide::dirichlet, neumann = GridSide::neumann, periodic = GridSide::periodic;
using Sides = std::array<std::array<GridSide, 2>, 3>;
constexpr Sides all_dirichlet{{{dirichlet, dirichlet}, {dirichlet, dirichlet}, {dirichlet, dirichlet}}};
constexpr Sides all_neumann{{{neumann, neumann}, {neumann, neumann}, {neumann, neumann}}};
constexpr Sides all_periodic{{{periodic, periodic}, {periodic, periodic}, {periodic, periodic}}};
constexpr Sides mixed{{{dirichlet, neumann}, {periodic, periodic}, {neumann, dirichlet}}};
constexpr Sides mixed_otherwise{{{periodic, periodic}, {neumann, dirichlet}, {dirichlet, neumann}}};

StencilProblem problem_of(std::array<std::int64_t, 3> nodes, const Sides& sides) {
  StencilProblem problem;
  problem.nodes = nodes;
  problem.coefficients = {1.0, 0.7, 2.3};
  problem.sides = sides;
  return problem;
}

template <class Real>
std::vector<Real> rough(std::size_t n, unsigned seed) {
  std::vector<Real> values(n);
  std::uint64_t state = seed * 0x9E3779B97F4A7C15u + 1;
  for (Real& v : values) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    v = static_cast<Real>(static_cast<double>(state >> 11) / 9007199254740992.0 - 0.5);
  }
  return values;
}

/// The node whose value is used at index i, beyond a side too; −1 where i is kept.
std::int64_t neighbour(std::int64_t i, std::int64_t n, const std::array<GridSide, 2>& sides) {
  if (sides[0] == periodic) return (i + n) % n;
  if (n == 1) return 0;
  return i < 0 ? 1 : i >= n ? n - 2 : i;
}
bool is_kept(std::int64_t i, std::int64_t n, const std::array<GridSide, 2>& sides) {
  return (i == 0 && sides[0] == dirichlet) || (i == n - 1 && sides[1] == dirichlet);
}

/// Calls visit(index, neighbours below and above along x, y, z) for all nodes that are not kept.
template <class Visit>
void for_free_nodes(const StencilProblem& p, Visit&& visit) {
  const auto at = [&](std::int64_t i, std::int64_t j, std::int64_t k) {
    return static_cast<std::size_t>(i + p.nodes[0] * (j + p.nodes[1] * k));
  };
  for (std::int64_t k = 0; k < p.nodes[2]; ++k)
    for (std::int64_t j = 0; j < p.nodes[1]; ++j)
      for (std::int64_t i = 0; i < p.nodes[0]; ++i) {
        if (is_kept(i, p.nodes[0], p.sides[0]) || is_kept(j, p.nodes[1], p.sides[1]) ||
            is_kept(k, p.nodes[2], p.sides[2]))
          continue;
        const std::size_t next[6] = {
            at(neighbour(i - 1, p.nodes[0], p.sides[0]), j, k), at(neighbour(i + 1, p.nodes[0], p.sides[0]), j, k),
            at(i, neighbour(j - 1, p.nodes[1], p.sides[1]), k), at(i, neighbour(j + 1, p.nodes[1], p.sides[1]), k),
            at(i, j, neighbour(k - 1, p.nodes[2], p.sides[2])), at(i, j, neighbour(k + 1, p.nodes[2], p.sides[2]))};
        visit(at(i, j, k), next);
      }
}

/// Plain loops, with the operations in the order that StencilIteration documents.
template <class Real>
std::vector<Real> naive(const StencilProblem& p, std::vector<Real> u, const std::vector<Real>& f,
                        std::span<const double> weights) {
  const double d = p.diagonal();
  for (const double w : weights) {
    const Real ax = static_cast<Real>(w * (p.coefficients[0] / d)), ay = static_cast<Real>(w * (p.coefficients[1] / d)),
               az = static_cast<Real>(w * (p.coefficients[2] / d)), af = static_cast<Real>(w / d),
               au = static_cast<Real>(1 - w);
    std::vector<Real> next = u;
    for_free_nodes(p, [&](std::size_t i, const std::size_t(&n)[6]) {
      Real t = ax * (u[n[0]] + u[n[1]]);
      t = std::fma(ay, u[n[2]] + u[n[3]], t);
      if (!f.empty()) t = std::fma(af, f[i], t);
      if (w != 1) t = std::fma(au, u[i], t);
      t = std::fma(az, u[n[4]], t);
      next[i] = std::fma(az, u[n[5]], t);
    });
    u = std::move(next);
  }
  return u;
}

template <class Real>
::testing::AssertionResult same_bits(const std::vector<Real>& found, const std::vector<Real>& expected) {
  if (found.size() != expected.size()) return ::testing::AssertionFailure() << "sizes differ";
  for (std::size_t i = 0; i < found.size(); ++i)
    if (std::memcmp(&found[i], &expected[i], sizeof(Real)) != 0)
      return ::testing::AssertionFailure() << "entry " << i << " is " << found[i] << ", not " << expected[i];
  return ::testing::AssertionSuccess();
}

const std::vector<double> some_weights{1, 1, 0.8, 1.3, 1, 0.5, 1};

class Stencils : public ::testing::TestWithParam<std::string> {
 protected:
  std::shared_ptr<Backend> backend_ = Backend::open(GetParam());
  StencilServices& stencils() { return backend_->service<StencilServices>(); }

  template <class Real>
  std::vector<Real> in_memory(const StencilProblem& problem, const std::vector<Real>& u, const std::vector<Real>& f,
                              std::span<const double> weights, const StencilOptions& options) {
    const auto iteration = stencils().make_jacobi(problem, std::span<const Real>(u), std::span<const Real>(f), options);
    iteration->iterate(weights);
    std::vector<Real> result(u.size(), std::numeric_limits<Real>::quiet_NaN());
    iteration->read(result);
    EXPECT_EQ(iteration->report().iterations, static_cast<std::int64_t>(weights.size()));
    return result;
  }
  template <class Real>
  std::vector<Real> streamed(const StencilProblem& problem, std::vector<Real> u, const std::vector<Real>& f,
                             std::span<const double> weights, const StencilOptions& options) {
    const auto iteration = stencils().stream_jacobi(problem, std::span<Real>(u), std::span<const Real>(f), options);
    iteration->iterate(weights);
    return u;
  }
};

TEST_P(Stencils, GiveTheSameBitsAsPlainLoopsForEveryTile) {
  const std::vector<std::array<std::int64_t, 3>> sizes{{1, 1, 1},  {2, 3, 4},  {5, 1, 3},  {7, 5, 11},
                                                       {13, 1, 1}, {3, 19, 2}, {4, 2, 13}, {1, 6, 5}};
  for (const Sides& sides : {all_dirichlet, all_neumann, all_periodic, mixed, mixed_otherwise})
    for (std::size_t s = 0; s < sizes.size(); ++s) {
      const StencilProblem problem = problem_of(sizes[s], sides);
      const auto n = static_cast<std::size_t>(problem.size());
      const std::vector<double> u = rough<double>(n, 1), f = s % 2 ? rough<double>(n, 2) : std::vector<double>();
      const std::vector<double> expected = naive(problem, u, f, some_weights);
      for (const int tile : {0, 1, 2, 3, 4}) {
        if (tile == 3 && s > 4) continue;
        SCOPED_TRACE(::testing::Message() << "size " << s << ", tile " << tile);
        StencilOptions options;
        options.tile = tile;
        options.height = std::min<int>(tile * 2, static_cast<int>(sizes[s][2]));
        ASSERT_TRUE(same_bits(in_memory(problem, u, f, some_weights, options), expected));
      }
    }
}

TEST_P(Stencils, GiveTheSameBitsForEveryHeightAndSlab) {
  for (const Sides& sides : {all_dirichlet, all_periodic, mixed, mixed_otherwise})
    for (const std::int64_t nz : {3, 11}) {
      const StencilProblem problem = problem_of({5, 4, nz}, sides);
      const auto n = static_cast<std::size_t>(problem.size());
      const std::vector<double> u = rough<double>(n, 3), f = nz == 3 ? rough<double>(n, 4) : std::vector<double>();
      const std::vector<double> expected = naive(problem, u, f, some_weights);
      for (const int height : {1, 2, 3, 5, 11}) {
        if (height > nz) continue;
        for (const int layers : {1, 2, 4, 30}) {
          SCOPED_TRACE(::testing::Message() << nz << " layers, height " << height << ", " << layers << " per slab");
          StencilOptions options;
          options.height = height;
          options.slab = 2 * height + layers;
          options.tile = 1 + (height + layers) % 3;
          ASSERT_TRUE(same_bits(streamed(problem, u, f, some_weights, options), expected));
        }
      }
    }
}

TEST_P(Stencils, GiveTheSameBitsInSinglePrecision) {
  const StencilProblem problem = problem_of({9, 6, 8}, mixed);
  const auto n = static_cast<std::size_t>(problem.size());
  const std::vector<float> u = rough<float>(n, 5), f = rough<float>(n, 6);
  for (const auto& source : {f, std::vector<float>()}) {
    const std::vector<float> expected = naive(problem, u, source, some_weights);
    StencilOptions options;
    options.tile = 2;
    EXPECT_TRUE(same_bits(in_memory(problem, u, source, some_weights, options), expected));
    options.height = 3;
    EXPECT_TRUE(same_bits(streamed(problem, u, source, some_weights, options), expected));
  }
}

TEST_P(Stencils, GiveTheSameBitsOnGridsOfSeveralTiles) {
  if (GetParam() == "emulated:0,0") GTEST_SKIP() << "the emulation is slow";
  for (const std::int64_t nx : {186, 131})  // pairs of neighbours are aligned, or not
    for (const Sides& sides : {all_dirichlet, mixed}) {
      const StencilProblem problem = problem_of({nx, 41, 24}, sides);
      const auto n = static_cast<std::size_t>(problem.size());
      const std::vector<double> u = rough<double>(n, 7), f = rough<double>(n, 8), none;
      const std::vector<double> weights{1, 0.9, 1, 1.1};
      const bool with = nx == 131;
      const std::vector<double> expected = naive(problem, u, with ? f : none, weights);
      for (const int tile : {2, 4}) {
        StencilOptions options;
        options.tile = tile;
        EXPECT_TRUE(same_bits(in_memory(problem, u, with ? f : none, weights, options), expected));
      }
    }
}

/// Factors of discrete eigenvectors along an axis with n nodes.
struct Wave {
  std::vector<double> values;
  double cosine;  ///< (v_{i−1} + v_{i+1}) / 2 v_i
};
Wave wave(std::int64_t n, GridSide side, int k) {
  const double step =
      (side == periodic ? 2.0 / static_cast<double>(n) : 1.0 / static_cast<double>(n - 1)) * std::numbers::pi * k;
  Wave w{{}, std::cos(step)};
  for (std::int64_t i = 0; i < n; ++i) {
    const double angle = step * static_cast<double>(i);
    w.values.push_back(side == dirichlet ? (i == n - 1 ? 0 : std::sin(angle)) : std::cos(angle));
  }
  return w;
}

TEST_P(Stencils, MultiplyAnEigenvectorByItsEigenvalue) {
  for (const auto side : {dirichlet, neumann, periodic}) {
    const StencilProblem problem = problem_of({12, 9, 10}, {{{side, side}, {side, side}, {side, side}}});
    const Wave x = wave(12, side, 2), y = wave(9, side, 1), z = wave(10, side, 3);
    std::vector<double> u;
    for (const double c : z.values)
      for (const double b : y.values)
        for (const double a : x.values) u.push_back(a * b * c);
    const auto& c = problem.coefficients;
    const double value = 2 * (c[0] * x.cosine + c[1] * y.cosine + c[2] * z.cosine) / problem.diagonal();
    double factor = 1;
    for (const double w : some_weights) factor *= 1 - w + w * value;
    StencilOptions options;
    options.height = 4;
    const std::vector<double> found = in_memory(problem, u, {}, some_weights, options);
    double most = 0;
    for (std::size_t i = 0; i < u.size(); ++i) most = std::max(most, std::abs(found[i] - factor * u[i]));
    EXPECT_GT(std::abs(factor), 1e-6);
    EXPECT_LT(most, 1e-15 * 20);
  }
}

TEST_P(Stencils, ConserveHeat) {
  for (const auto side : {neumann, periodic}) {
    const StencilProblem problem = problem_of({8, 7, 6}, {{{side, side}, {side, side}, {side, side}}});
    const std::vector<double> u = rough<double>(8 * 7 * 6, 9);
    const std::vector<double> found = in_memory(problem, u, {}, some_weights, {});
    // A node at a Neumann side stands for half a cell along that axis.
    const auto heat = [&](const std::vector<double>& v) {
      double sum = 0;
      for (std::int64_t i = 0; i < problem.size(); ++i) {
        double share = 1;
        const std::int64_t at[3] = {i % 8, i / 8 % 7, i / 56};
        for (int a = 0; a < 3 && side == neumann; ++a)
          if (at[a] == 0 || at[a] == problem.nodes[a] - 1) share /= 2;
        sum += share * v[static_cast<std::size_t>(i)];
      }
      return sum;
    };
    EXPECT_NEAR(heat(found), heat(u), 1e-13 * 336);
  }
}

TEST_P(Stencils, MeasureTheResidual) {
  for (const Sides& sides : {all_dirichlet, all_periodic, mixed}) {
    const StencilProblem problem = problem_of({7, 6, 9}, sides);
    const auto n = static_cast<std::size_t>(problem.size());
    std::vector<double> u = rough<double>(n, 10), f = rough<double>(n, 11);
    double max = 0, squares = 0;
    for_free_nodes(problem, [&](std::size_t i, const std::size_t(&next)[6]) {
      double r = f[i];
      for (std::size_t a = 0; a < 6; ++a) r -= problem.coefficients[a / 2] * (u[i] - u[next[a]]);
      max = std::max(max, std::abs(r));
      squares += r * r;
    });
    const auto iteration = stencils().make_jacobi(problem, std::span<const double>(u), std::span<const double>(f));
    const StencilNorms found = iteration->residual();
    EXPECT_NEAR(found.max, max, 1e-14 * 20);
    EXPECT_NEAR(found.l2, std::sqrt(squares), 1e-13 * 20);
    StencilOptions options;
    options.height = 2;
    options.slab = 7;
    const StencilNorms by_slabs =
        stencils().stream_jacobi(problem, std::span<double>(u), std::span<const double>(f), options)->residual();
    EXPECT_EQ(by_slabs.max, found.max);
    EXPECT_EQ(by_slabs.l2, found.l2);
    u[n / 2] = NAN;
    iteration->write(u);
    EXPECT_TRUE(std::isnan(iteration->residual().max));
    EXPECT_TRUE(std::isnan(iteration->residual().l2));
  }
}

TEST_P(Stencils, BringEveryLayerOncePerPass) {
  const StencilProblem problem = problem_of({6, 5, 40}, all_dirichlet);
  std::vector<double> u = rough<double>(static_cast<std::size_t>(problem.size()), 12);
  StencilOptions options;
  options.height = 3;
  options.tile = 2;
  options.device_bytes = stencils().slab_bytes(problem, 10, 3, false, 8);
  const auto iteration = stencils().stream_jacobi(problem, std::span<double>(u), {}, options);
  iteration->iterate(std::vector<double>(7, 1.0));
  const StencilReport report = iteration->report();
  EXPECT_EQ(report.passes, 3);
  EXPECT_EQ(report.height, 3);
  EXPECT_LE(report.device_bytes, options.device_bytes * static_cast<std::size_t>(backend_->devices()));
  EXPECT_EQ(report.bytes_out, 3 * 8 * problem.size());
  const int devices = backend_->devices();
  // Each device but the first and the last has overlaps on both sides; passes are of 3, 3 and 1 iterations.
  EXPECT_EQ(report.bytes_in, 3 * 8 * problem.size() + (devices - 1) * 2 * (3 + 3 + 1) * 8 * 30);
  EXPECT_GE(report.slabs, 3);
}

TEST_P(Stencils, StepOnLongVectors) {
  for (const std::int64_t n : {1, 2, 5, 13}) {
    const std::int64_t m = n + 2;
    const std::vector<double> u = rough<double>(static_cast<std::size_t>(m * m), 13);
    std::vector<double> expected = u;
    const double alpha = 0.21;
    for (int k = 0; k < 6; ++k) {
      const std::vector<double> old = expected;
      for (std::int64_t i = 1; i <= n; ++i)
        for (std::int64_t j = 1; j <= n; ++j) {
          const auto at = [&](std::int64_t row, std::int64_t column) {
            return old[static_cast<std::size_t>(row * m + column)];
          };
          const double sum = (at(i - 1, j) + at(i, j - 1)) + (at(i, j + 1) + at(i + 1, j));
          expected[static_cast<std::size_t>(i * m + j)] = std::fma(alpha, sum, (1 - 4 * alpha) * at(i, j));
        }
    }
    const auto heat = stencils().make_long_vectors(n, alpha, u);
    heat->steps(4);
    heat->steps(2);
    std::vector<double> found(u.size());
    heat->read(found);
    EXPECT_TRUE(same_bits(found, expected));
  }
  // A wave decays by its own factor.
  const std::int64_t n = 14, m = n + 2;
  const Wave x = wave(m, dirichlet, 1), y = wave(m, dirichlet, 2);
  std::vector<double> u;
  for (const double b : y.values)
    for (const double a : x.values) u.push_back(a * b);
  const auto heat = stencils().make_long_vectors(n, 0.25, u);
  heat->steps(10);
  std::vector<double> found(u.size());
  heat->read(found);
  const double factor = std::pow(1 - 0.25 * (4 - 2 * x.cosine - 2 * y.cosine), 10);
  for (std::size_t i = 0; i < u.size(); ++i) EXPECT_NEAR(found[i], factor * u[i], 1e-15 * 10);
}

TEST_P(Stencils, RefuseWhatCannotBe) {
  const StencilProblem good = problem_of({4, 4, 8}, all_dirichlet);
  std::vector<double> u(128, 1.0), longer(129), none;
  const auto make = [&](const StencilProblem& p, const std::vector<double>& values,
                        const StencilOptions& options = {}) {
    (void)stencils().make_jacobi(p, std::span<const double>(values), {}, options);
  };
  const auto stream = [&](const StencilOptions& options) {
    (void)stencils().stream_jacobi(good, std::span<double>(u), {}, options);
  };
  StencilProblem bad = good;
  bad.nodes[1] = 0;
  voussoir::testing::expect_error(ErrorCode::bad_input, {"0 nodes along y"}, [&] { make(bad, u); });
  bad = good;
  bad.coefficients[2] = NAN;
  voussoir::testing::expect_error(ErrorCode::bad_input, {"coefficient along z"}, [&] { make(bad, u); });
  bad.coefficients = {0, 0, 0};
  voussoir::testing::expect_error(ErrorCode::bad_input, {"positive"}, [&] { make(bad, u); });
  bad = good;
  bad.sides[0][1] = periodic;
  voussoir::testing::expect_error(ErrorCode::bad_input, {"both periodic"}, [&] { make(bad, u); });
  voussoir::testing::expect_error(ErrorCode::bad_input, {"129 values"}, [&] { make(good, longer); });
  voussoir::testing::expect_error(ErrorCode::bad_input, {"0 values"}, [&] { make(good, none); });
  voussoir::testing::expect_error(ErrorCode::bad_input, {"f has 129"}, [&] {
    (void)stencils().make_jacobi(good, std::span<const double>(u), std::span<const double>(longer));
  });
  StencilOptions options;
  options.tile = 1000;
  voussoir::testing::expect_error(ErrorCode::bad_input, {"at most"}, [&] { make(good, u, options); });
  options = {};
  options.height = 9;
  voussoir::testing::expect_error(ErrorCode::bad_input, {"exceeds the grid"}, [&] { stream(options); });
  options.height = 3;
  options.slab = 6;
  voussoir::testing::expect_error(ErrorCode::bad_input, {"at least 7"}, [&] { stream(options); });
  options.slab = 0;
  options.device_bytes = 1000;
  voussoir::testing::expect_error(ErrorCode::bad_input, {"the budget is 1.0 kB"}, [&] { stream(options); });
  options = {};
  options.height = -1;
  voussoir::testing::expect_error(ErrorCode::bad_input, {"height"}, [&] { stream(options); });
  const auto iteration = stencils().make_jacobi(good, std::span<const double>(u), {});
  const std::vector<double> weights{1, INFINITY};
  voussoir::testing::expect_error(ErrorCode::bad_input, {"factor 1"}, [&] { iteration->iterate(weights); });
  voussoir::testing::expect_error(ErrorCode::bad_input, {"129"}, [&] { iteration->read(longer); });
  voussoir::testing::expect_error(ErrorCode::bad_input, {"nodes per side"},
                                  [&] { (void)stencils().make_long_vectors(0, 0.1, u); });
  voussoir::testing::expect_error(ErrorCode::bad_input, {"36"}, [&] { (void)stencils().make_long_vectors(4, 0.1, u); });
  voussoir::testing::expect_error(ErrorCode::bad_input, {"finite"},
                                  [&] { (void)stencils().make_long_vectors(4, NAN, std::vector<double>(36)); });
}

TEST(StencilsOnThreads, GiveTheSameBitsForEveryNumber) {
  const StencilProblem problem = problem_of({33, 50, 37}, mixed_otherwise);
  const std::vector<double> u = rough<double>(static_cast<std::size_t>(problem.size()), 14);
  std::vector<double> first;
  StencilNorms norms;
  for (const char* name : {"openmp:1", "openmp:2", "openmp:3", "openmp:5"}) {
    const auto backend = Backend::open(name);
    const auto iteration = backend->service<StencilServices>().make_jacobi(problem, std::span<const double>(u), {});
    iteration->iterate(some_weights);
    std::vector<double> found(u.size());
    iteration->read(found);
    if (first.empty()) {
      first = found;
      norms = iteration->residual();
    }
    EXPECT_TRUE(same_bits(found, first)) << name;
    EXPECT_EQ(iteration->residual().l2, norms.l2) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, Stencils, ::testing::ValuesIn(backends_under_test()),
                         [](const auto& info) { return test_name(info.param); });

}  // namespace
}  // namespace voussoir::conformance
