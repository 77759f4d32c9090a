#include <algorithm>
#include <cmath>

#include <voussoir/backends/backend.hpp>
#include <voussoir/backends/detail/cg_parts.hpp>
#include <voussoir/backends/detail/checks.hpp>

// Conjugate gradients for several right-hand sides at once, each with its own scalars: the iterations of
// backends/cg.cpp side by side, so that matrix and preconditioner are read once for all of them.

namespace voussoir {
namespace {

using Stop = CgOutcome::Stop;

/// One right-hand side on its way.
struct Column {
  int number = 0;  ///< among the columns of b
  double goal = 0;
  double first_residual = 0;
  double rho = 0;
  bool runs = true;
};

/// The iteration of those columns that are still in it.
class ColumnIteration {
 public:
  ColumnIteration(Backend& backend, const Operator& a, const Operator* preconditioner, Vector& x,
                  const CgRequest& request, std::vector<CgOutcome>& outcomes)
      : backend_(backend),
        a_(a),
        preconditioner_(preconditioner),
        all_x_(x),
        request_(request),
        outcomes_(outcomes),
        progress_(request) {}

  void run(const Vector& b, std::vector<Column> columns) {
    columns_ = std::move(columns);
    if (columns_.empty()) return;
    begin(b);
    while (decide()) advance();
    leave();
    if (request_.progress && !cancelled_) request_.progress(iteration_, worst_);
  }

 private:
  bool flexible() const { return request_.flexible && preconditioner_; }
  Vector block() const { return Vector(a_.layout(), static_cast<int>(columns_.size())); }
  CgOutcome& outcome(const Column& column) const { return outcomes_[static_cast<std::size_t>(column.number)]; }
  void stop(Column& column, Stop how) {
    outcome(column).stop = how;
    column.runs = false;
  }

  /// The columns of `from` that stand at `places`.
  Vector picked(const Vector& from, const std::vector<int>& places) const {
    Vector to(a_.layout(), static_cast<int>(places.size()));
    backend_.fill(to, 0.0);
    for (std::size_t c = 0; c < places.size(); ++c) backend_.copy_columns(from, places[c], 1, to, static_cast<int>(c));
    return to;
  }

  void begin(const Vector& b) {
    std::vector<int> numbers;
    for (const Column& c : columns_) numbers.push_back(c.number);
    x_ = picked(all_x_, numbers);
    r_ = picked(b, numbers);
    p_ = block();
    q_ = block();
    backend_.fill(p_, 0.0);
    if (preconditioner_) z_ = block();
    if (flexible()) previous_r_ = block();
    scalars_.resize(columns_.size());
    a_.apply(x_, q_);
    backend_.axpy(-1, q_, r_);
    squares_.resize(columns_.size());
    backend_.column_dots(r_, r_, squares_);
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      columns_[c].first_residual = std::sqrt(squares_[c]);
      keep_residual(c);
    }
  }

  void keep_residual(std::size_t c) {
    CgOutcome& out = outcome(columns_[c]);
    out.residual = std::sqrt(squares_[c]);
    if (request_.keep_history) out.history.push_back(out.residual);
  }

  /// Looks who stops here; false where nobody goes on.
  bool decide() {
    bool slow = false, broken = false;
    worst_ = 0;
    for (Column& c : columns_) {
      if (!c.runs) continue;
      const CgOutcome& out = outcome(c);
      worst_ = std::max(worst_, out.residual / out.right_hand_side);
      if (!std::isfinite(out.residual)) {
        stop(c, Stop::not_finite);
        broken = true;
      } else if (out.residual <= c.goal) {
        stop(c, Stop::converged);
      } else if (out.iterations >= request_.max_iterations) {
        stop(c, Stop::max_iterations);
      } else {
        slow = slow || detail::is_slow(request_, out.iterations, out.residual, c.first_residual);
      }
    }
    if (slow) stop_all(Stop::slow);
    if (runs() > 0 && !progress_.tell(iteration_, worst_)) {
      cancelled_ = true;
      stop_all(Stop::cancelled);
    }
    const std::size_t left = runs();
    if (left == 0) return false;
    // A column that has stopped is carried along idly until that costs too much, or endangers the others.
    if (broken || 2 * left <= columns_.size()) drop_stopped();
    return true;
  }
  std::size_t runs() const {
    return static_cast<std::size_t>(
        std::count_if(columns_.begin(), columns_.end(), [](const Column& c) { return c.runs; }));
  }
  void stop_all(Stop how) {
    for (Column& c : columns_)
      if (c.runs) stop(c, how);
  }

  /// Puts the solutions of the present columns where they belong.
  void leave() {
    for (std::size_t c = 0; c < columns_.size(); ++c)
      backend_.copy_columns(x_, static_cast<int>(c), 1, all_x_, columns_[c].number);
  }
  void drop_stopped() {
    leave();
    std::vector<int> places;
    std::vector<Column> left;
    std::vector<double> squares;
    for (std::size_t c = 0; c < columns_.size(); ++c)
      if (columns_[c].runs) {
        places.push_back(static_cast<int>(c));
        left.push_back(columns_[c]);
        squares.push_back(squares_[c]);
      }
    for (Vector* v : {&x_, &r_, &p_}) *v = picked(*v, places);
    if (flexible()) previous_r_ = picked(previous_r_, places);
    columns_ = std::move(left);
    squares_ = std::move(squares);
    scalars_.resize(columns_.size());
    q_ = block();
    if (preconditioner_) z_ = block();
  }

  void advance() {
    const std::size_t width = columns_.size();
    std::vector<double> rho = squares_, step(width, 0.0), back(width, 0.0), beta(width, 0.0), ones(width, 1.0);
    if (preconditioner_) {
      preconditioner_->apply(r_, z_);
      backend_.column_dots(r_, z_, rho);
    }
    // The new direction is made conjugate to the last one, even where z·(last r) is not zero.
    if (flexible() && iteration_ > 0) backend_.column_dots(z_, previous_r_, scalars_);
    for (std::size_t c = 0; c < width; ++c) {
      Column& column = columns_[c];
      if (!column.runs) continue;
      if (!std::isfinite(rho[c]))
        stop(column, Stop::not_finite);
      else if (rho[c] <= 0)
        stop(column, Stop::bad_preconditioner);
      else if (iteration_ > 0)
        beta[c] = (flexible() ? rho[c] - scalars_[c] : rho[c]) / column.rho;
      if (column.runs) column.rho = rho[c];
    }
    backend_.column_axpby(ones, preconditioner_ ? z_ : r_, beta, p_);
    if (flexible()) backend_.copy(r_, previous_r_);
    a_.apply(p_, q_);
    backend_.column_dots(p_, q_, scalars_);
    for (std::size_t c = 0; c < width; ++c) {
      Column& column = columns_[c];
      if (!column.runs) continue;
      if (!std::isfinite(scalars_[c]))
        stop(column, Stop::not_finite);
      else if (scalars_[c] <= 0)
        stop(column, Stop::breakdown);
      else
        step[c] = column.rho / scalars_[c];
      back[c] = -step[c];
    }
    backend_.column_axpby(step, p_, ones, x_);
    backend_.column_axpby(back, q_, ones, r_);
    backend_.column_dots(r_, r_, squares_);
    ++iteration_;
    for (std::size_t c = 0; c < width; ++c) {
      if (!columns_[c].runs) continue;
      ++outcome(columns_[c]).iterations;
      keep_residual(c);
    }
  }

  Backend& backend_;
  const Operator& a_;
  const Operator* preconditioner_;
  Vector& all_x_;
  const CgRequest& request_;
  std::vector<CgOutcome>& outcomes_;
  detail::Progress progress_;
  std::vector<Column> columns_;
  Vector x_, r_, p_, q_, z_, previous_r_;
  std::vector<double> squares_;  // r·r
  std::vector<double> scalars_;
  int iteration_ = 0;
  double worst_ = 0;
  bool cancelled_ = false;
};

}  // namespace

std::vector<CgOutcome> Backend::cg_columns(const Operator& a, const Operator* preconditioner, const Vector& b,
                                           Vector& x, const CgRequest& request,
                                           std::span<const double> relative_tolerances) {
  if (!a.layout()) throw Error(ErrorCode::misuse, "cg_columns: the matrix has no layout");
  detail::require_layout(*a.layout(), b, "cg_columns");
  detail::require_alike(b, x, "cg_columns");
  detail::require_per_column(relative_tolerances.size(), b, "cg_columns");
  const std::vector<double> norms = column_norms(b);
  std::vector<CgOutcome> outcomes(norms.size());
  std::vector<Column> columns;
  std::vector<double> kept(norms.size(), 1.0);
  bool some_zero = false;
  for (std::size_t c = 0; c < norms.size(); ++c) {
    CgOutcome& out = outcomes[c];
    out.right_hand_side = norms[c];
    if (!std::isfinite(norms[c])) {
      out.stop = Stop::not_finite;
    } else if (norms[c] == 0) {  // the answer is known, and relative accuracy has no meaning
      kept[c] = 0;
      some_zero = true;
      if (request.keep_history) out.history.push_back(0);
      out.stop = Stop::converged;
    } else if (std::isinf(relative_tolerances[c])) {
      out.stop = Stop::converged;
    } else {
      columns.push_back({static_cast<int>(c), std::max(relative_tolerances[c] * norms[c], request.absolute_tolerance)});
    }
  }
  if (some_zero) column_axpby(std::vector<double>(norms.size(), 0.0), x, kept, x);
  ColumnIteration(*this, a, preconditioner, x, request, outcomes).run(b, std::move(columns));
  return outcomes;
}

}  // namespace voussoir
