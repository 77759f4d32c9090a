#include <voussoir/solvers/cg_solver.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include <voussoir/framework/analysis/stopwatch.hpp>

namespace voussoir {
namespace {

std::string short_number(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1e", x);
  return text;
}

/// A + shift · 1: the matrix with weak springs to ground on every unknown.
class Shifted final : public Operator {
 public:
  Shifted(Backend& backend, const Operator& matrix, double shift) : backend_(backend), matrix_(matrix), shift_(shift) {}
  const std::shared_ptr<const Layout>& layout() const override { return matrix_.layout(); }
  void apply(const Vector& x, Vector& y) const override {
    matrix_.apply(x, y);
    backend_.axpy(shift_, x, y);
  }
  double apply_dot(const Vector& x, Vector& y) const override {
    apply(x, y);
    return backend_.dot(x, y);
  }
  std::size_t bytes() const override { return matrix_.bytes(); }
  std::size_t bytes_moved() const override { return matrix_.bytes_moved(); }
  std::string describe() const override { return "shifted " + matrix_.describe(); }

 private:
  Backend& backend_;
  const Operator& matrix_;
  double shift_;
};

/// Looks for vectors that the matrix all but annihilates: free motions.
class FreeMotionSearch {
 public:
  explicit FreeMotionSearch(const LinearSOE& soe)
      : soe_(soe), backend_(soe.model().backend()), image_(soe.model().make_vector()) {
    // A scale for the matrix: what it does to a rough vector.
    const AnalysisModel& model = soe.model();
    Vector rough = model.make_vector();
    std::vector<double> values(model.equation_count());
    for (std::int64_t e = 0; e < model.equation_count(); ++e)
      if (model.is_free(static_cast<std::int32_t>(e)))
        values[e] = (e % 2 ? 1.0 : -1.0) * (1 + static_cast<double>(e * 7919 % 101) / 101);
    rough.from_host(values);
    soe.matrix().apply(rough, image_);
    const double size = backend_.norm(rough);
    scale_ = size > 0 ? backend_.norm(image_) / size : 0;
  }

  /// What rounding makes of A x, however good x is: a few times this is left of any residual.
  double rounding(const Vector& x) const { return std::numeric_limits<double>::epsilon() * scale_ * backend_.norm(x); }

  bool is_free(const Vector& x, double tolerance) {
    const double size = backend_.norm(x);
    if (!(size > 0) || !std::isfinite(size)) return false;
    soe_.matrix().apply(x, image_);
    return backend_.norm(image_) < tolerance * scale_ * size;
  }

  /// A motion that nothing resists, of norm 1, or nothing. `x` is where CG gave up.
  std::vector<double> find(const Operator* preconditioner, bool flexible, const Vector& b, const Vector& x) {
    if (is_free(x, failed)) return normalised(x);  // the iterate grew along it
    Vector r = soe_.model().make_vector(), y = soe_.model().make_vector();
    soe_.matrix().apply(x, r);
    backend_.axpby(1.0, b, -1.0, r);
    if (!std::isfinite(backend_.norm(r))) backend_.copy(b, r);
    if (is_free(r, failed)) return normalised(r);  // the residual is all that it cannot reduce
    // Inverse iteration: springs so weak that they hold nothing but what is free, which then moves far.
    const Shifted held(backend_, soe_.matrix(), 1e-13 * scale_);
    CgRequest request;
    request.relative_tolerance = 1e-6;
    request.max_iterations = 2000;
    request.keep_history = false;
    request.flexible = flexible;
    backend_.fill(y, 0.0);
    backend_.cg(held, preconditioner, r, y, request);
    return is_free(y, failed) ? normalised(y) : std::vector<double>();
  }

  std::vector<double> normalised(const Vector& x) const {
    std::vector<double> values = x.to_host();
    const double size = backend_.norm(x);
    for (double& v : values) v /= size;
    return values;
  }

  static constexpr double failed = 1e-11;     ///< where CG has failed, this little resistance is none
  static constexpr double converged = 1e-14;  ///< no solution of a regular matrix is so large against its load

 private:
  const LinearSOE& soe_;
  Backend& backend_;
  Vector image_;
  double scale_ = 0;
};

/// Whether it is the matrix that is not positive definite, where r·M r was not positive at `x`: what is made from its
/// diagonal has the signs of its diagonal. Looks along the residual and along what the preconditioner makes of it.
bool matrix_is_to_blame(const LinearSOE& soe, const Operator& inverse, const Vector& b, const Vector& x) {
  Backend& backend = soe.model().backend();
  Vector r = soe.model().make_vector(), z = soe.model().make_vector(), image = soe.model().make_vector();
  soe.matrix().apply(x, r);
  backend.axpby(1.0, b, -1.0, r);
  if (soe.matrix().apply_dot(r, image) <= 0) return true;
  inverse.apply(r, z);
  return backend.norm(z) > 0 && soe.matrix().apply_dot(z, image) <= 0;
}

}  // namespace

SolveReport CgSolver::solve(LinearSOE& soe) {
  const AnalysisModel& model = soe.model();
  Backend& backend = model.backend();
  SolveReport report;
  report.solver = name() + " on " + soe.name();
  const Stopwatch setting_up;
  if (preconditioner_ && (soe_ != &soe || version_ != soe.version())) {
    preconditioner_->set_up(soe);
    soe_ = &soe;
    version_ = soe.version();
  }
  report.setup_seconds = setting_up.seconds();
  const Operator* inverse = preconditioner_ ? preconditioner_->inverse() : nullptr;

  int most_iterations = 0;   // of any column
  bool positive = true;      // the preconditioner, as far as was seen
  double strengthening = 0;  // belongs to setting up, though it happens on the way
  const Stopwatch solving;
  const int columns = soe.b().columns();
  report.converged = true;
  std::vector<double> pick(columns, 0.0);
  Vector one_b, one_x;
  if (columns > 1) {
    one_b = model.make_vector();
    one_x = model.make_vector();
  }
  for (int c = 0; c < columns && report.converged; ++c) {
    if (columns > 1) {
      std::fill(pick.begin(), pick.end(), 0.0);
      pick[c] = 1.0;
      backend.fill(one_b, 0.0);
      backend.block_axpy(soe.b(), pick, one_b);
      backend.fill(one_x, 0.0);
    }
    const Stopwatch solving_column;
    const double strengthening_before = strengthening;
    ColumnReport own;
    const Vector& b = columns > 1 ? one_b : soe.b();
    Vector& x = columns > 1 ? one_x : soe.x();
    const double size = backend.norm(b);
    CgRequest request;
    request.relative_tolerance = options_.relative_tolerance;
    request.flexible = preconditioner_ && preconditioner_->is_flexible();
    int allowed = options_.max_iterations, before = 0;  // before: iterations until the preconditioner was strengthened
    if (progress)
      request.progress = [&](int iteration, double residual) {
        return progress(before + iteration, size > 0 ? residual / size : 0.0);
      };
    // The recurrence's residual drifts from the true one by rounding; starting again from x makes them equal.
    CgOutcome outcome;
    double left = 0;  // true residual after the last restart
    for (int restart = 0; restart < 3; ++restart) {
      request.max_iterations = preconditioner_ ? std::min(allowed, preconditioner_->patience()) : allowed;
      const Preconditioner::Checkpoint early =
          preconditioner_ ? preconditioner_->checkpoint() : Preconditioner::Checkpoint();
      request.checkpoint = early.iterations;
      request.checkpoint_reduction = early.reduction;
      outcome = backend.cg(soe.matrix(), inverse, b, x, request);
      own.iterations += outcome.iterations;
      for (double r : outcome.history)
        own.history.push_back(outcome.right_hand_side > 0 ? r / outcome.right_hand_side : 0.0);
      const bool failed = outcome.stop != CgOutcome::Stop::converged && outcome.stop != CgOutcome::Stop::cancelled;
      if (failed && outcome.iterations < allowed && preconditioner_) {
        const Stopwatch again;
        if (preconditioner_->strengthen(soe)) {
          strengthening += again.seconds();
          allowed -= outcome.iterations;
          before += outcome.iterations;
          inverse = preconditioner_->inverse();
          if (outcome.stop == CgOutcome::Stop::not_finite) backend.fill(x, 0.0);
          --restart;  // it cannot be strengthened for ever
          continue;
        }
      }
      if (outcome.stop != CgOutcome::Stop::converged) break;
      Vector r = model.make_vector();
      soe.matrix().apply(x, r);
      backend.axpby(1.0, b, -1.0, r);
      left = backend.norm(r);
      if (left <= 1.05 * options_.relative_tolerance * size || outcome.iterations == 0) break;
    }
    const std::string after = " after " + std::to_string(own.iterations) + " iterations";
    if (outcome.stop == CgOutcome::Stop::bad_preconditioner && matrix_is_to_blame(soe, *inverse, b, x))
      outcome.stop = CgOutcome::Stop::breakdown;
    switch (outcome.stop) {
      case CgOutcome::Stop::converged:
        report.reason = "converged" + after;
        break;
      case CgOutcome::Stop::max_iterations:
      case CgOutcome::Stop::slow:
        report.reason = "the residual is " + short_number(outcome.residual / size) + after;
        break;
      case CgOutcome::Stop::breakdown:
        report.reason = "broke down" + after + ": the matrix is not positive definite";
        report.not_positive_definite = true;
        break;
      case CgOutcome::Stop::bad_preconditioner:
        report.reason = "broke down" + after + ": the preconditioner " + preconditioner_->name() +
                        " is not positive definite, though the matrix may be";
        positive = false;
        break;
      case CgOutcome::Stop::not_finite:
        report.reason = "a NaN or infinity appeared" + after;
        break;
      case CgOutcome::Stop::cancelled:
        report.reason = "cancelled" + after;
        break;
    }
    report.converged = outcome.stop == CgOutcome::Stop::converged;
    most_iterations = std::max(most_iterations, before + outcome.iterations);
    if (outcome.stop != CgOutcome::Stop::cancelled) {
      FreeMotionSearch search(soe);
      // Rounding bounds what can be reached: a little above the tolerance is still an answer, much above is none.
      if (report.converged && left > std::max(10 * options_.relative_tolerance * size, 50 * search.rounding(x))) {
        report.converged = false;
        report.reason = "rounding keeps the true residual at " + short_number(left / size) + after;
      }
      // Rounding gives a singular matrix a little stiffness everywhere, so that CG may end with an absurd solution.
      if (!report.converged) {
        if (auto motion = search.find(inverse, request.flexible, b, x); !motion.empty())
          report.free_motions.push_back(std::move(motion));
      } else if (search.is_free(x, FreeMotionSearch::converged)) {
        report.converged = false;
        report.reason = "the matrix is singular: the solution is a motion that nothing resists";
        report.free_motions.push_back(search.normalised(x));
      }
    }
    if (columns > 1) backend.block_axpy(one_x, pick, soe.x());
    own.converged = report.converged;
    own.reason = report.reason;
    own.solve_seconds = solving_column.seconds() - (strengthening - strengthening_before);
    report.iterations += own.iterations;
    if (c == 0) report.history = own.history;
    if (columns > 1) report.columns.push_back(std::move(own));
  }
  report.solve_seconds = solving.seconds() - strengthening;
  report.setup_seconds += strengthening;
  if (preconditioner_) {
    report.preconditioner = preconditioner_->summary();
    report.memory_bytes = preconditioner_->bytes();
    report.advice = positive ? preconditioner_->advice(most_iterations, report.converged)
                             : "Take another preconditioner, such as block-jacobi, or the direct solver";
  }
  report.true_residual = true_residual(soe);
  return report;
}

}  // namespace voussoir
