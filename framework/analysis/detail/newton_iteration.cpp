#include <voussoir/framework/analysis/detail/newton_iteration.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <voussoir/framework/analysis/process_group.hpp>

namespace voussoir::detail {
namespace {

/// Halvings of an increment that leads to an impossible state.
constexpr int most_halvings = 10;

/// A state whose elements cannot be computed: inverted, or with values that are not finite.
bool is_impossible(const Error& error) {
  return error.code() == ErrorCode::inverted || error.code() == ErrorCode::not_finite;
}

}  // namespace

SolveReport NewtonIteration::run(const ConvergenceTest& test, int max_iterations,
                                 const LineSearchOptions& line_search) {
  if (test.needs_increments() && ProcessGroup::of(model_))
    throw Error(ErrorCode::unavailable,
                "convergence tests of displacements and energies are not implemented for several processes");
  report_.reason = "not in equilibrium after " + std::to_string(max_iterations) + " iterations";
  for (int iteration = 0; iteration <= max_iterations; ++iteration) {
    measures_.iteration = iteration;
    if (!form_unbalance(iteration)) break;
    if (iteration == 0) measures_.first_unbalance = measures_.unbalance;
    const auto converged = [&] {
      if (iteration > 0 && test.needs_increments()) measure_total();
      return test.converged(measures_);
    };
    bool balanced = converged();
    if (iteration > 0 && !balanced && line_search.enabled && last_unbalance_ > 0 &&
        measures_.unbalance > (1 - line_search.decrease * taken_) * last_unbalance_) {
      search_line(line_search, iteration);
      balanced = converged();
    }
    const double first = measures_.first_unbalance;
    report_.history.push_back(first > 0 ? measures_.unbalance / first : 0.0);
    report_.true_residual = report_.history.back();
    if (balanced) {
      report_.converged = true;
      report_.reason =
          "in balance after " + std::to_string(iteration) + (iteration == 1 ? " iteration" : " iterations");
      if (report_.line_searches > 0)
        report_.reason += ", " + std::to_string(report_.line_searches) + " of them shortened by the line search";
      break;
    }
    if (iteration == max_iterations || !solve()) break;
    if (test.needs_increments()) measure_increment();
    last_unbalance_ = measures_.unbalance;
    taken_ = counted_ = 0;
    take(1);
  }
  return std::move(report_);
}

/// The unbalance of the trial state, whose last increment is halved as long as it is impossible. False where there is
/// no possible state on the way.
bool NewtonIteration::form_unbalance(int iteration) {
  std::string cause;
  for (int halvings = 0; halvings <= most_halvings; ++halvings) {
    if (halvings > 0) {
      take(0.5 * taken_);
      ++report_.reduced_increments;
    }
    if (try_unbalance(iteration, cause)) return true;
    if (iteration == 0) break;
  }
  report_.impossible_state = iteration > 0;
  report_.reason = iteration == 0 ? cause + " after 0 iterations"
                                  : "iteration " + std::to_string(iteration) + " leads to an impossible state, " +
                                        "however small its increment: " + cause;
  if (iteration > 0) report_.advice = "Apply the load in smaller steps";
  return false;
}

/// The unbalance of the trial state as it is; false, with the cause, where the state is impossible.
bool NewtonIteration::try_unbalance(int iteration, std::string& cause) {
  try {
    together(model_, [&] {
      integrator_.form_unbalance(model_, state_, soe_.b());
      measures_.unbalance = measure_unbalance(iteration);
    });
    if (std::isfinite(measures_.unbalance)) return true;
    cause = "the unbalanced force is not finite";
  } catch (const Error& error) {
    // Where the step begins, it is the model that is wrong; later, it is the increment.
    if (iteration == 0 || !is_impossible(error)) throw;
    cause = error.where() + ": " + error.text();
  }
  return false;
}

/// Shortens the last increment until it reduces the unbalance φ enough: backtracking along Newton's direction, where
/// the slope of φ² is −2 φ², to the minimum of a parabola through what is known (Dennis and Schnabel, Numerical Methods
/// for Unconstrained Optimization and Nonlinear Equations, 1996, algorithm A6.3.1). If no trial is sufficient, the best
/// one is taken, and the whole increment where none reduces the unbalance at all: the tangent is then not the
/// derivative of the unbalance, and a shorter increment is no better.
void NewtonIteration::search_line(const LineSearchOptions& options, int iteration) {
  const double whole = taken_, before = last_unbalance_, reachable = measures_.reachable;
  StateValues values = state_.StateValues::clone();
  double best = whole, best_unbalance = before, factor = whole, unbalance = measures_.unbalance;
  std::string cause;
  for (int trial = 0; trial < options.max_trials; ++trial) {
    double next = 0.5 * factor;
    if (std::isfinite(unbalance)) {
      const double ratio = unbalance / before;
      next = std::clamp(factor * factor / (ratio * ratio - 1 + 2 * factor), 0.1 * factor, 0.5 * factor);
    }
    take(factor = next);
    unbalance = try_unbalance(iteration, cause) ? measures_.unbalance : std::numeric_limits<double>::infinity();
    if (unbalance < best_unbalance) {
      best_unbalance = unbalance;
      best = factor;
    }
    if (unbalance <= (1 - options.decrease * factor) * before) break;
  }
  if (best != factor) {
    take(best);
    if (best == whole) {  // as if nothing had been tried, to the last bit
      static_cast<StateValues&>(state_) = std::move(values);
      measures_.reachable = reachable;
    }
    try_unbalance(iteration, cause);  // was possible before
  }
  if (best != whole) ++report_.line_searches;
}

/// Has the trial state contain `factor` of the last increment, soe.x().
void NewtonIteration::take(double factor) {
  if (taken_ == 0 && factor == 1) {
    integrator_.update(model_, soe_.x(), state_);
  } else {
    Vector change = soe_.x().clone();
    backend_.scale(factor - taken_, change);
    integrator_.update(model_, change, state_);
    measures_.reachable = 0;  // the solve was for all of it
  }
  taken_ = factor;
}

/// ‖b‖, but scaled so that its ratio to the first one is the worst of the bodies: a body under a small load beside a
/// heavily loaded one must be in balance too. What rounding leaves in a body counts as none.
double NewtonIteration::measure_unbalance(int iteration) {
  const double all = force_norm(model_, soe_.b());
  if (iteration == 0) first_of_body_.clear();
  if (!std::isfinite(all) || ProcessGroup::of(model_) || soe_.bodies().count() == 1) return all;
  const std::vector<double> norms = soe_.bodies().norms(backend_, soe_.b());
  if (iteration == 0) {
    first_of_body_ = norms;
    return all;
  }
  const std::vector<double> rounding = rounding_of_bodies();
  double worst = 0;
  for (std::size_t body = 0; body < norms.size(); ++body)
    if (norms[body] > rounding[body])
      worst = std::max(worst, norms[body] / (first_of_body_[body] > rounding[body] ? first_of_body_[body]
                                                                                   : measures_.first_unbalance));
  return worst * measures_.first_unbalance;
}

/// What rounding may leave of the forces of each body: a multiple of the largest terms of K u that cancel.
std::vector<double> NewtonIteration::rounding_of_bodies() {
  const BlockDiagonal diagonal = soe_.sparse_matrix()
                                     ? backend_.block_diagonal(*soe_.sparse_matrix(), 1)
                                     : backend_.block_diagonal(model_.device_model(), *soe_.element_operator(), 1);
  std::vector<double> values;
  for (int d = 0; d < backend_.devices(); ++d) {
    const auto part = diagonal.blocks[static_cast<std::size_t>(d)].read_host();
    values.insert(values.end(), part.begin(), part.begin() + static_cast<std::ptrdiff_t>(diagonal.layout->owned(d)));
  }
  Vector stiffness = model_.make_vector(), terms = model_.make_vector();
  stiffness.from_host(values);
  backend_.multiply(stiffness, state_.unknowns, terms);
  std::vector<double> norms = soe_.bodies().norms(backend_, terms);
  for (double& norm : norms) norm *= 100 * std::numeric_limits<double>::epsilon();
  return norms;
}

bool NewtonIteration::solve() {
  integrator_.form_tangent(model_, state_, soe_);
  backend_.fill(soe_.x(), 0.0);
  SolveReport inner = solver_.solve(soe_);
  if (follower_ && inner.converged)
    follower_->complete(state_, integrator_.coefficients().stiffness, solver_, soe_, inner);
  report_.solver = "newton-raphson, " + inner.solver;
  report_.choice = inner.choice;
  report_.iterations += std::max(1, inner.iterations);
  report_.setup_seconds += inner.setup_seconds;
  report_.solve_seconds += inner.solve_seconds;
  report_.memory_bytes = std::max(report_.memory_bytes, inner.memory_bytes);
  report_.note = inner.note;
  if (!inner.converged) {
    report_.reason = inner.reason;
    report_.advice = inner.advice;
    report_.free_motions = inner.free_motions;
    report_.not_positive_definite = inner.not_positive_definite;
    return false;
  }
  measures_.reachable = inner.true_residual * measures_.unbalance;
  return true;
}

/// What the test sees of an increment. A shortened one counts as a whole: that a step is short does not mean that the
/// iteration has converged.
void NewtonIteration::measure_increment() {
  measures_.increment = backend_.norm(soe_.x());
  measures_.energy = std::abs(backend_.dot(soe_.x(), soe_.b()));
  if (measures_.iteration == 0) measures_.first_energy = measures_.energy;
}

/// The increments of the step together, with what was taken of the last one.
void NewtonIteration::measure_total() {
  if (!total_.layout()) {
    total_ = model_.make_vector();
    backend_.fill(total_, 0.0);
  }
  backend_.axpy(taken_ - counted_, soe_.x(), total_);
  counted_ = taken_;
  measures_.total = backend_.norm(total_);
}

}  // namespace voussoir::detail
