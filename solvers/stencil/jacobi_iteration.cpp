#include <voussoir/solvers/stencil/jacobi_iteration.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include <voussoir/backends/error.hpp>

namespace voussoir {

namespace {

[[noreturn]] void refuse_jacobi(const std::string& text) { throw Error(ErrorCode::bad_input, "Jacobi: " + text); }

/// 1 − cos θ of the slowest and the fastest wave along an axis, and of the slowest that is not constant.
struct AxisWaves {
  double least = 0, second = 0, most = 0;
  bool empty = false;  ///< all nodes are kept
};
AxisWaves axis_waves(std::int64_t n, const std::array<GridSide, 2>& sides) {
  const auto lift = [](double angle) {
    const double s = std::sin(0.5 * angle * std::numbers::pi);  // 1 − cos x = 2 sin²(x/2)
    return 2 * s * s;
  };
  const auto count = static_cast<double>(n);
  if (sides[0] == GridSide::periodic) return {0, n > 1 ? lift(2 / count) : 0, lift(2 * std::floor(count / 2) / count)};
  const bool lower = sides[0] == GridSide::dirichlet, upper = sides[1] == GridSide::dirichlet;
  const auto free = n - (lower ? 1 : 0) - (upper ? 1 : 0);
  if (free <= 0) return {0, 0, 0, true};
  if (n == 1) return {};
  const double parts = count - 1;
  if (lower && upper) return {lift(1 / parts), free > 1 ? lift(2 / parts) : 0, lift((count - 2) / parts)};
  if (lower || upper) return {lift(0.5 / parts), free > 1 ? lift(1.5 / parts) : 0, lift((parts - 0.5) / parts)};
  return {0, lift(1 / parts), 2};
}

}  // namespace

StencilSpectrum stencil_spectrum(const StencilProblem& problem) {
  check_problem(problem);
  StencilSpectrum spectrum{0, 0, false};
  double slowest = std::numeric_limits<double>::infinity();  // the least non-constant wave along one axis
  const double d = problem.diagonal();
  for (int a = 0; a < 3; ++a) {
    const AxisWaves waves = axis_waves(problem.nodes[a], problem.sides[a]);
    if (waves.empty) return {1, 1, false};
    const double share = 2 * problem.coefficients[a] / d;
    spectrum.least += share * waves.least;
    spectrum.most += share * waves.most;
    if (share * waves.second > 0) slowest = std::min(slowest, share * waves.second);
  }
  if (spectrum.least > 0) return spectrum;
  spectrum.singular = true;
  if (!std::isfinite(slowest)) return {1, 1, true};  // a single free value
  spectrum.least = slowest;
  return spectrum;
}

std::vector<double> chebyshev_weights(int count, double a, double b) {
  if (count < 1) refuse_jacobi("a Chebyshev cycle of " + std::to_string(count) + " iterations; it needs at least 1");
  if (!(a > 0 && a <= b && std::isfinite(b)))
    refuse_jacobi("Chebyshev's bounds are " + std::to_string(a) + " and " + std::to_string(b) +
                  "; they are positive, finite and in order");
  const auto n = static_cast<std::size_t>(count);
  std::vector<double> nodes(n);
  for (std::size_t k = 0; k < n; ++k)
    nodes[k] = std::cos(std::numbers::pi * (2 * static_cast<double>(k) + 1) / (2 * static_cast<double>(n)));
  // Leja's order: first the largest, then always the node whose product of distances to those before is largest.
  std::vector<double> weights, distances(n, 0.0);
  std::vector<bool> used(n, false);
  std::size_t next = 0;
  for (std::size_t step = 0; step < n; ++step) {
    used[next] = true;
    weights.push_back(1 / (0.5 * (b + a) + 0.5 * (b - a) * nodes[next]));
    double most = -std::numeric_limits<double>::infinity();
    std::size_t best = next;
    for (std::size_t k = 0; k < n; ++k) {
      if (used[k]) continue;
      distances[k] += std::log(std::abs(nodes[k] - nodes[next]));
      if (distances[k] > most) {
        most = distances[k];
        best = k;
      }
    }
    next = best;
  }
  return weights;
}

double chebyshev_reduction(int count, double a, double b) {
  if (count < 1 || !(a > 0 && a <= b && std::isfinite(b)))
    refuse_jacobi("Chebyshev's bounds are positive, finite and in order, and a cycle has at least 1 iteration");
  if (a == b) return 0;
  return 1 / std::cosh(count * std::acosh((b + a) / (b - a)));
}

PyramidChoice choose_height(const PyramidQuestion& question) {
  const auto& stencils = question.backend->service<StencilServices>();
  const int tile = question.limits.tile > 0
                       ? question.limits.tile
                       : stencils.default_tile(question.problem, question.source, question.real_bytes);
  const std::int64_t nz = question.problem.nodes[2];
  if (!question.streamed) return {static_cast<int>(std::min<std::int64_t>(nz, 2 * tile)), 0, tile};
  if (question.limits.slab > 0)  // a slab of six heights returns four of them
    return {static_cast<int>(std::clamp<std::int64_t>(question.limits.slab / 6, 1, std::min<std::int64_t>(64, nz))),
            question.limits.slab, tile};
  if (question.limits.device_bytes == 0) return {0, 0, tile};  // the backend knows what is free
  const auto most = std::min<std::int64_t>({64, nz, std::max<std::int64_t>(1, question.iterations)});
  int height = 1;
  while (height < most &&
         stencils.slab_bytes(question.problem, std::min<std::int64_t>(6 * (height + 1), nz + 2 * (height + 1)),
                             height + 1, question.source, question.real_bytes) <= question.limits.device_bytes)
    ++height;
  return {height, 0, tile};
}

JacobiIteration::JacobiIteration(std::shared_ptr<Backend> backend, const StencilProblem& problem, JacobiOptions options)
    : backend_(std::move(backend)), problem_(problem), options_(std::move(options)) {
  if (!backend_) refuse_jacobi("there is no backend");
  (void)backend_->service<StencilServices>();
  spectrum_ = stencil_spectrum(problem_);
  if (options_.iterations < 0) refuse_jacobi(std::to_string(options_.iterations) + " iterations");
  if (!(options_.tolerance >= 0 && options_.tolerance < 1))
    refuse_jacobi("the tolerance is " + std::to_string(options_.tolerance) + "; it is from 0 (none) to 1");
  if (options_.tolerance > 0 && options_.iterations == 0)
    refuse_jacobi("there is a tolerance and no limit of iterations; set iterations");
  if (options_.check_every < 0 || options_.cycle < 0) refuse_jacobi("check_every and cycle are not negative");
  if (!options_.choose) refuse_jacobi("there is no rule for the height; set choose to choose_height");
  if (options_.damping == JacobiDamping::fixed && !(options_.weight > 0 && options_.weight < 2))
    refuse_jacobi("the damping factor is " + std::to_string(options_.weight) +
                  "; no factor outside of 0 to 2 converges");
  if (options_.damping == JacobiDamping::chebyshev) {
    std::int64_t cycle = options_.cycle > 0 ? options_.cycle : 32;
    if (options_.cycle == 0 && options_.iterations > 0) cycle = std::min(cycle, options_.iterations);
    if (cycle > 4096) refuse_jacobi("a Chebyshev cycle of " + std::to_string(cycle) + " factors; the most is 4096");
    weights_ = chebyshev_weights(static_cast<int>(cycle), spectrum_.least, spectrum_.most);
  } else {
    weights_ = {options_.damping == JacobiDamping::fixed ? options_.weight : 1.0};
  }
}

StencilOptions JacobiIteration::chosen(bool source, int real_bytes, bool streamed) const {
  StencilOptions pyramids = options_.pyramids;
  if (pyramids.height > 0 && pyramids.tile > 0) return pyramids;
  PyramidQuestion question;
  question.backend = backend_.get();
  question.problem = problem_;
  question.source = source;
  question.real_bytes = real_bytes;
  question.streamed = streamed;
  question.iterations = options_.iterations;
  question.limits = pyramids;
  const PyramidChoice choice = options_.choose(question);
  if (pyramids.height == 0) pyramids.height = choice.height;
  if (pyramids.slab == 0) pyramids.slab = choice.slab;
  if (pyramids.tile == 0) pyramids.tile = choice.tile;
  return pyramids;
}

template <class Real>
std::unique_ptr<StencilIteration<Real>> JacobiIteration::place(std::span<Real> u, std::span<const Real> f,
                                                               JacobiReport& report) const {
  auto& stencils = backend_->service<StencilServices>();
  const bool source = !f.empty();
  const auto bytes = static_cast<std::size_t>(problem_.size()) * sizeof(Real) * (source ? 3 : 2);
  const auto share = bytes / static_cast<std::size_t>(backend_->devices());
  const std::size_t budget = options_.pyramids.device_bytes;
  bool streamed = options_.placement == GridPlacement::streamed;
  if (options_.placement == GridPlacement::automatic && budget > 0 && share > budget) {
    streamed = true;
    report.note = "the grid takes more memory than the budget allows, and was streamed";
  }
  if (!streamed) try {
      return stencils.make_jacobi(problem_, std::span<const Real>(u), f, chosen(source, sizeof(Real), false));
    } catch (const Error& error) {
      if (error.code() != ErrorCode::out_of_memory || options_.placement == GridPlacement::memory) throw;
      report.note = "the grid does not fit in the memory of the devices, and was streamed";
    }
  report.streamed = true;
  return stencils.stream_jacobi(problem_, u, f, chosen(source, sizeof(Real), true));
}

template <class Real>
JacobiReport JacobiIteration::run(std::span<Real> u, std::span<const Real> f) const {
  JacobiReport report;
  report.spectrum = spectrum_;
  const auto iteration = place(u, f, report);
  const auto look = [&](std::int64_t done) {
    const StencilNorms norms = iteration->residual();
    if (!std::isfinite(norms.max) || !std::isfinite(norms.l2))
      throw Error(ErrorCode::not_finite, "Jacobi: the residual is not finite after " + std::to_string(done) +
                                             " iterations; check u and f for NaN and infinite values");
    report.residuals.push_back({done, norms});
    return norms.l2;
  };
  const double wanted = options_.tolerance * look(0);
  const auto cycle = static_cast<std::int64_t>(weights_.size());
  std::int64_t stretch = options_.iterations;
  if (options_.tolerance > 0) {
    stretch = options_.check_every > 0 ? options_.check_every : cycle > 1 ? cycle : 32;
    report.converged = report.residuals.back().norms.l2 <= wanted;
  }
  std::vector<double> next;
  for (std::int64_t done = 0; done < options_.iterations && !report.converged;) {
    const std::int64_t count = std::min(stretch, options_.iterations - done);
    next.clear();
    for (std::int64_t k = 0; k < count; ++k) next.push_back(weights_[static_cast<std::size_t>((done + k) % cycle)]);
    iteration->iterate(next);
    done += count;
    const double residual = look(done);
    if (options_.tolerance > 0) report.converged = residual <= wanted;
  }
  if (options_.tolerance == 0) report.converged = true;
  iteration->read(u);
  report.pyramids = iteration->report();
  return report;
}

JacobiReport JacobiIteration::solve(std::span<double> u, std::span<const double> f) const { return run<double>(u, f); }
JacobiReport JacobiIteration::solve(std::span<float> u, std::span<const float> f) const { return run<float>(u, f); }

}  // namespace voussoir
