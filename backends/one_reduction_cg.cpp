#include <voussoir/backends/one_reduction_cg.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include <voussoir/backends/detail/cg_parts.hpp>
#include <voussoir/backends/grouped_dots.hpp>

namespace voussoir {
namespace {

/// s = A p, t = M s, and with the sums r·r, r·z, p·s, r·t and s·t of one reduction
///
///   alpha = r·z / p·s,  x += alpha p,  r −= alpha s,  z −= alpha t,
///   beta = (r·z − 2 alpha r·t + alpha² s·t) / r·z,  p = z + beta p.
///
/// The numerator of beta predicts the next r·z, which is then computed for alpha (Chen and Carson 2020).
class OneReductionIteration {
 public:
  OneReductionIteration(Backend& backend, const Operator& a, const Operator* preconditioner, const Vector& b, Vector& x,
                        const CgRequest& request, CgOutcome& outcome)
      : backend_(backend),
        dots_(backend.service<GroupedDots>()),
        a_(a),
        preconditioner_(preconditioner),
        x_(x),
        request_(request),
        outcome_(outcome),
        progress_(request),
        goal_(std::max(request.relative_tolerance * outcome.right_hand_side, request.absolute_tolerance)),
        r_(a.layout()),
        p_(a.layout()),
        s_(a.layout()) {
    a_.apply(x_, s_);
    backend_.copy(b, r_);
    backend_.axpy(-1, s_, r_);
    if (preconditioner_) {
      z_ = Vector(a.layout());
      t_ = Vector(a.layout());
      preconditioner_->apply(r_, z_);
    }
    backend_.copy(z(), p_);
  }

  CgOutcome::Stop run() {
    for (;;) {
      add_up();
      if (const auto end = stopped()) return *end;
      if (!progress_.tell(outcome_.iterations, outcome_.residual)) return CgOutcome::Stop::cancelled;
      advance();
      turn();
    }
  }

  void report_ritz_values() const {
    if (lanczos_.diagonal.empty()) return;
    outcome_.smallest_ritz = lanczos_.eigenvalue(0);
    outcome_.largest_ritz = lanczos_.eigenvalue(lanczos_.diagonal.size() - 1);
  }

 private:
  const Vector& z() const { return preconditioner_ ? z_ : r_; }
  const Vector& t() const { return preconditioner_ ? t_ : s_; }

  /// The products and the sums of an iteration.
  void add_up() {
    a_.apply(p_, s_);
    if (preconditioner_) preconditioner_->apply(s_, t_);
    const std::array<GroupedDots::Pair, 5> pairs{{{r_, r_}, {r_, z()}, {p_, s_}, {r_, t()}, {s_, t()}}};
    std::array<double, 5> sums{};
    dots_.dots(pairs, sums);
    r_z_ = sums[1];
    p_s_ = sums[2];
    r_t_ = sums[3];
    s_t_ = sums[4];
    outcome_.residual = std::sqrt(sums[0]);
    if (request_.keep_history) outcome_.history.push_back(outcome_.residual);
    if (outcome_.iterations == 0) first_residual_ = fresh_residual_ = outcome_.residual;
  }

  std::optional<CgOutcome::Stop> stopped() const {
    if (!std::isfinite(outcome_.residual)) return CgOutcome::Stop::not_finite;
    if (outcome_.residual <= goal_) return CgOutcome::Stop::converged;
    if (outcome_.iterations >= request_.max_iterations) return CgOutcome::Stop::max_iterations;
    if (detail::is_slow(request_, outcome_.iterations, outcome_.residual, first_residual_))
      return CgOutcome::Stop::slow;
    if (!std::isfinite(r_z_) || !std::isfinite(p_s_)) return CgOutcome::Stop::not_finite;
    if (r_z_ <= 0) return CgOutcome::Stop::bad_preconditioner;
    if (p_s_ <= 0) return CgOutcome::Stop::breakdown;
    return std::nullopt;
  }

  /// The step along p.
  void advance() {
    const double previous_alpha = alpha_;
    alpha_ = r_z_ / p_s_;
    lanczos_.add(alpha_, previous_alpha, beta_);
    backend_.axpy(alpha_, p_, x_);
    backend_.axpy(-alpha_, s_, r_);
    ++outcome_.iterations;
    if (!preconditioner_) return;
    if (outcome_.residual <= refreshed_after * fresh_residual_) {
      preconditioner_->apply(r_, z_);
      fresh_residual_ = outcome_.residual;
    } else {
      backend_.axpy(-alpha_, t_, z_);
    }
  }

  /// The next direction.
  void turn() {
    double next = r_z_ - 2 * alpha_ * r_t_ + alpha_ * alpha_ * s_t_;
    if (!(next > 0)) next = std::max(0.0, backend_.dot(r_, z()));  // r is tiny beside the last one
    beta_ = next / r_z_;
    backend_.axpby(1, z(), beta_, p_);
  }

  /// z is computed from r whenever r has shrunk by this factor: z −= alpha t carries the rounding errors of larger
  /// ones, those of a preconditioner in single precision above all.
  static constexpr double refreshed_after = 0.01;

  Backend& backend_;
  GroupedDots& dots_;
  const Operator& a_;
  const Operator* preconditioner_;
  Vector& x_;
  const CgRequest& request_;
  CgOutcome& outcome_;
  detail::Progress progress_;
  double goal_;
  Vector r_, z_, p_, s_, t_;
  double r_z_ = 0, p_s_ = 0, r_t_ = 0, s_t_ = 0;
  double alpha_ = 0, beta_ = 0, first_residual_ = 0, fresh_residual_ = 0;
  LanczosMatrix lanczos_;
};

}  // namespace

CgOutcome one_reduction_cg(Backend& backend, const Operator& a, const Operator* preconditioner, const Vector& b,
                           Vector& x, const CgRequest& request) {
  if (b.columns() != 1 || x.columns() != 1)
    throw Error(ErrorCode::misuse, "CG with one reduction solves for one right-hand side at a time");
  if (request.flexible && preconditioner)
    throw Error(ErrorCode::misuse, "CG with one reduction needs a preconditioner that does not vary");
  CgOutcome outcome;
  outcome.right_hand_side = backend.norm(b);
  if (!std::isfinite(outcome.right_hand_side)) {
    outcome.stop = CgOutcome::Stop::not_finite;
    return outcome;
  }
  if (outcome.right_hand_side == 0) {  // the answer is known, and relative accuracy has no meaning
    backend.fill(x, 0);
    if (request.keep_history) outcome.history.push_back(0);
    outcome.stop = CgOutcome::Stop::converged;
    return outcome;
  }
  OneReductionIteration iteration(backend, a, preconditioner, b, x, request, outcome);
  outcome.stop = iteration.run();
  if (request.progress && outcome.stop != CgOutcome::Stop::cancelled)
    request.progress(outcome.iterations, outcome.residual);
  if (outcome.stop != CgOutcome::Stop::not_finite) iteration.report_ritz_values();
  return outcome;
}

}  // namespace voussoir
