#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include <voussoir/solvers/stencil/jacobi_iteration.hpp>

#include "support/expect_error.hpp"

// Jacobi iterations as users start them: stopping, damping, Chebyshev's bound, and where the grid is.

namespace voussoir {
namespace {

constexpr auto dirichlet = GridSide::dirichlet, neumann = GridSide::neumann, periodic = GridSide::periodic;

StencilProblem box(std::int64_t nx, std::int64_t ny, std::int64_t nz) {
  StencilProblem problem;
  problem.nodes = {nx, ny, nz};
  problem.coefficients = {1, 2, 0.5};
  return problem;
}

std::vector<double> scattered(std::int64_t n) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < n; ++i) values.push_back(std::sin(12.9898 * static_cast<double>(i * i % 1009)));
  return values;
}

double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(sum);
}

/// u = x² + y² − z² on the nodes, which the stencil reproduces: −Σ c_a u'' = f with f constant.
std::vector<double> paraboloid(const StencilProblem& p) {
  std::vector<double> u;
  for (std::int64_t k = 0; k < p.nodes[2]; ++k)
    for (std::int64_t j = 0; j < p.nodes[1]; ++j)
      for (std::int64_t i = 0; i < p.nodes[0]; ++i) u.push_back(static_cast<double>(i * i + j * j - k * k));
  return u;
}
double paraboloid_source(const StencilProblem& p) {
  return -2 * (p.coefficients[0] + p.coefficients[1] - p.coefficients[2]);
}
/// The same with nothing inside.
std::vector<double> hollow(const StencilProblem& p, std::vector<double> u) {
  for (std::int64_t k = 1; k < p.nodes[2] - 1; ++k)
    for (std::int64_t j = 1; j < p.nodes[1] - 1; ++j)
      for (std::int64_t i = 1; i < p.nodes[0] - 1; ++i)
        u[static_cast<std::size_t>(i + p.nodes[0] * (j + p.nodes[1] * k))] = 0;
  return u;
}

TEST(JacobiIterationTest, ReachesTheSolution) {
  const StencilProblem problem = box(9, 8, 10);
  const std::vector<double> exact = paraboloid(problem), f(exact.size(), paraboloid_source(problem));
  for (const auto damping : {JacobiDamping::plain, JacobiDamping::fixed, JacobiDamping::chebyshev}) {
    std::vector<double> u = hollow(problem, exact);
    JacobiOptions options;
    options.iterations = 5000;
    options.tolerance = 1e-12;
    options.damping = damping;
    options.weight = 0.9;
    const JacobiReport report = JacobiIteration(Backend::open("openmp"), problem, options).solve(u, f);
    EXPECT_TRUE(report.converged);
    EXPECT_LT(distance(u, exact), 1e-8);
    EXPECT_LE(report.residuals.back().norms.l2, 1e-12 * report.residuals.front().norms.l2);
    EXPECT_EQ(report.residuals.back().iteration, report.pyramids.iterations);
    // The error falls by |1 − ω λ| of the slowest wave per iteration, or by Chebyshev's bound per cycle of 32.
    const double weight = damping == JacobiDamping::fixed ? 0.9 : 1, least = report.spectrum.least;
    const double rate = damping == JacobiDamping::chebyshev
                            ? std::log(chebyshev_reduction(32, least, report.spectrum.most)) / 32
                            : std::log(1 - weight * least);
    const double expected = std::log(1e-12) / rate;
    EXPECT_LT(static_cast<double>(report.pyramids.iterations), expected + 64);
    EXPECT_GT(static_cast<double>(report.pyramids.iterations), 0.8 * expected);
  }
}

TEST(JacobiIterationTest, ReportsWhatDoesNotConverge) {
  const StencilProblem problem = box(9, 9, 9);
  std::vector<double> u = scattered(problem.size());
  JacobiOptions options;
  options.iterations = 40;
  options.tolerance = 1e-9;
  const JacobiReport report = JacobiIteration(Backend::open("openmp"), problem, options).solve(u);
  EXPECT_FALSE(report.converged);
  EXPECT_EQ(report.pyramids.iterations, 40);
  // Looks after 0, 32 and 40 iterations.
  ASSERT_EQ(report.residuals.size(), 3u);
  EXPECT_GT(report.residuals[1].norms.l2, report.residuals[2].norms.l2);
}

TEST(JacobiIterationTest, ChebyshevKeepsItsBound) {
  const StencilProblem problem = box(17, 13, 11);
  const StencilSpectrum spectrum = stencil_spectrum(problem);
  const auto backend = Backend::open("openmp");
  for (const int count : {1, 2, 7, 32, 129}) {
    // Without a source and with zero sides, u is the error.
    std::vector<double> u = hollow(problem, std::vector<double>(static_cast<std::size_t>(problem.size()), 0.0));
    const std::vector<double> noise = scattered(problem.size());
    for (std::int64_t k = 1; k < 10; ++k)
      for (std::int64_t j = 1; j < 12; ++j)
        for (std::int64_t i = 1; i < 16; ++i) {
          const auto at = static_cast<std::size_t>(i + 17 * (j + 13 * k));
          u[at] = noise[at];
        }
    const std::vector<double> zero(u.size(), 0.0), start = u;
    JacobiOptions options;
    options.iterations = count;
    options.cycle = count;
    options.damping = JacobiDamping::chebyshev;
    JacobiIteration(backend, problem, options).solve(u);
    const double bound = chebyshev_reduction(count, spectrum.least, spectrum.most);
    const double found = distance(u, zero) / distance(start, zero);
    EXPECT_LE(found, bound * (1 + 1e-10) + 1e-14) << count;
    EXPECT_GT(found, bound * 1e-3) << count;
    // Without acceleration it is worse by far.
    if (count == 32) {
      const double plain = std::pow(1 - spectrum.least, count);
      EXPECT_LT(found, 0.5 * plain);
    }
  }
  // The bound is attained by the slowest wave.
  std::vector<double> u;
  for (std::int64_t k = 0; k < 11; ++k)
    for (std::int64_t j = 0; j < 13; ++j)
      for (std::int64_t i = 0; i < 17; ++i)
        u.push_back((i % 16 ? std::sin(std::numbers::pi * static_cast<double>(i) / 16) : 0) *
                    (j % 12 ? std::sin(std::numbers::pi * static_cast<double>(j) / 12) : 0) *
                    (k % 10 ? std::sin(std::numbers::pi * static_cast<double>(k) / 10) : 0));
  const std::vector<double> zero(u.size(), 0.0), start = u;
  JacobiOptions options;
  options.iterations = options.cycle = 24;
  options.damping = JacobiDamping::chebyshev;
  JacobiIteration(backend, problem, options).solve(u);
  EXPECT_NEAR(distance(u, zero) / distance(start, zero), chebyshev_reduction(24, spectrum.least, spectrum.most), 1e-12);
}

/// Eigenvalues of the problem by powers of the iteration: what JacobiIteration does to a random vector in the end.
TEST(JacobiIterationTest, KnowsTheSpectrum) {
  const auto backend = Backend::open("openmp:1");
  auto& stencils = backend->service<StencilServices>();
  const std::array<std::array<GridSide, 2>, 5> kinds{
      {{dirichlet, dirichlet}, {neumann, neumann}, {periodic, periodic}, {dirichlet, neumann}, {neumann, dirichlet}}};
  for (std::size_t x = 0; x < kinds.size(); ++x)
    for (std::size_t z = 0; z < kinds.size(); ++z) {
      StencilProblem problem = box(5, 4, 6);
      problem.sides = {kinds[x], kinds[0], kinds[z]};
      const StencilSpectrum spectrum = stencil_spectrum(problem);
      EXPECT_FALSE(spectrum.singular);
      // 1 − ω λ with ω < 1/λ_max is largest for the least λ, and with ω = 2 / λ_min, say, for the largest.
      for (const bool least : {true, false}) {
        const double weight = least ? 0.9 / spectrum.most : 2 / spectrum.least;
        std::vector<double> u = scattered(problem.size());
        const auto iteration = stencils.make_jacobi(problem, std::span<const double>(u), {});
        // Boundary values are zero, so that the iteration is linear.
        for (std::int64_t i = 0; i < problem.size(); ++i) {
          const std::int64_t at[3] = {i % 5, i / 5 % 4, i / 20};
          for (int a = 0; a < 3; ++a)
            if ((at[a] == 0 && problem.sides[a][0] == dirichlet) ||
                (at[a] == problem.nodes[a] - 1 && problem.sides[a][1] == dirichlet))
              u[static_cast<std::size_t>(i)] = 0;
        }
        double ratio = 0;
        const std::vector<double> zero(u.size(), 0.0), weights(8, weight);
        for (int k = 0; k < 60; ++k) {
          const double before = distance(u, zero);
          for (double& v : u) v /= before;
          iteration->write(u);
          iteration->iterate(weights);
          iteration->read(u);
          ratio = std::pow(distance(u, zero), 1.0 / 8);
        }
        const double expected = std::abs(1 - weight * (least ? spectrum.least : spectrum.most));
        EXPECT_NEAR(ratio, expected, 1e-4 * expected) << x << " " << z << (least ? " least" : " most");
      }
    }
  StencilProblem closed = box(6, 1, 4);
  closed.sides = {{{neumann, neumann}, {neumann, neumann}, {periodic, periodic}}};
  const StencilSpectrum spectrum = stencil_spectrum(closed);
  EXPECT_TRUE(spectrum.singular);
  EXPECT_NEAR(spectrum.least,
              2.0 / 7 * std::min(1 * (1 - std::cos(std::numbers::pi / 5)), 0.5 * (1 - std::cos(std::numbers::pi / 2))),
              1e-14);
}

TEST(JacobiIterationTest, StreamsWhatExceedsItsBudget) {
  const StencilProblem problem = box(12, 10, 60);
  const std::vector<double> start = scattered(problem.size()), f = scattered(problem.size());
  const auto solve = [&](const char* backend, const JacobiOptions& options, JacobiReport& report) {
    std::vector<double> u = start;
    report = JacobiIteration(Backend::open(backend), problem, options).solve(u, f);
    return u;
  };
  JacobiOptions options;
  options.iterations = 23;
  options.damping = JacobiDamping::chebyshev;
  JacobiReport in_memory, streamed;
  const std::vector<double> expected = solve("openmp:1", options, in_memory);
  EXPECT_FALSE(in_memory.streamed);
  EXPECT_EQ(in_memory.pyramids.bytes_in, 0);
  options.pyramids.device_bytes = 120 * 8 * 60;
  for (const char* backend : {"openmp", "debug", "debug:2"}) {
    EXPECT_EQ(solve(backend, options, streamed), expected);
    EXPECT_TRUE(streamed.streamed);
    EXPECT_FALSE(streamed.note.empty());
    EXPECT_GT(streamed.pyramids.height, 1);
    EXPECT_GT(streamed.pyramids.slabs, streamed.pyramids.passes);
    EXPECT_EQ(streamed.residuals.back().norms.l2, in_memory.residuals.back().norms.l2);
  }
  // A rule of one's own.
  options.choose = [](const PyramidQuestion& question) {
    EXPECT_TRUE(question.streamed);
    EXPECT_TRUE(question.source);
    return PyramidChoice{2, 9, 1};
  };
  EXPECT_EQ(solve("openmp", options, streamed), expected);
  EXPECT_EQ(streamed.pyramids.height, 2);
  EXPECT_EQ(streamed.pyramids.slab, 9);
  EXPECT_EQ(streamed.pyramids.tile, 1);
}

TEST(JacobiIterationTest, RefusesWhatMakesNoSense) {
  const auto backend = Backend::open("openmp:1");
  const auto expect = [&](const std::string& piece, auto change) {
    JacobiOptions options;
    options.iterations = 10;
    change(options);
    testing::expect_error(ErrorCode::bad_input, {piece},
                          [&] { (void)JacobiIteration(backend, box(4, 4, 4), options); });
  };
  expect("tolerance", [](JacobiOptions& o) { o.tolerance = NAN; });
  expect("tolerance", [](JacobiOptions& o) { o.tolerance = -1; });
  expect("no limit", [](JacobiOptions& o) { o.tolerance = 0.1, o.iterations = 0; });
  expect("-3 iterations", [](JacobiOptions& o) { o.iterations = -3; });
  expect("damping factor", [](JacobiOptions& o) { o.damping = JacobiDamping::fixed, o.weight = 2; });
  expect("4096", [](JacobiOptions& o) { o.damping = JacobiDamping::chebyshev, o.cycle = 5000; });
  expect("choose", [](JacobiOptions& o) { o.choose = nullptr; });
  testing::expect_error(ErrorCode::bad_input, {"bounds"}, [] { (void)chebyshev_weights(3, 0, 1); });
  testing::expect_error(ErrorCode::bad_input, {"cycle"}, [] { (void)chebyshev_weights(0, 1, 2); });
  JacobiOptions options;
  options.iterations = 3;
  std::vector<double> u(64, 0.0);
  u[21] = NAN;
  testing::expect_error(ErrorCode::not_finite, {"after 0 iterations"},
                        [&] { (void)JacobiIteration(backend, box(4, 4, 4), options).solve(u); });
}

}  // namespace
}  // namespace voussoir
