#include <voussoir/solvers/eigen/lobpcg.hpp>

#include <algorithm>
#include <cmath>
#include <memory>

#include <voussoir/backends/multigrid.hpp>
#include <voussoir/backends/number_text.hpp>
#include <voussoir/solvers/eigen/detail/spectral_search.hpp>
#include <voussoir/solvers/eigen/detail/symmetric_eigen.hpp>
#include <voussoir/solvers/registries.hpp>
#include <voussoir/solvers/static_problem.hpp>

namespace voussoir {
namespace {

using detail::EigenBlocks;
using detail::RitzPairs;
using detail::SearchResult;
using detail::SpectralSearch;

/// An approximate inverse of K + sM.
class ShiftedPreconditioner {
 public:
  ShiftedPreconditioner(const EigenProblem& problem, const std::string& name) : problem_(problem) {
    soe_ = make_soe(problem.model().device_model().uniform_components() > 0 ? "bsr" : "csr");
    soe_->set_model(problem.model());
    const std::size_t colon = name.find(':');
    preconditioner_ =
        preconditioners().find(name.substr(0, colon)).make(colon == std::string::npos ? "" : name.substr(colon + 1));
    if (!preconditioner_ || preconditioner_->is_flexible())
      throw Error(ErrorCode::bad_input, "LOBPCG needs a preconditioner that is the same in every application",
                  "preconditioner '" + name + "'");
  }
  ~ShiftedPreconditioner() {
    preconditioner_.reset();  // it may refer to the matrix
    soe_->forget_model();
  }
  ShiftedPreconditioner(const ShiftedPreconditioner&) = delete;
  ShiftedPreconditioner& operator=(const ShiftedPreconditioner&) = delete;

  void set_up(double shift) {
    problem_.form(*soe_, 1, shift);
    preconditioner_->set_up(*soe_);
    shift_ = shift;
  }
  double shift() const { return shift_; }
  Vector apply(const Vector& r) const {
    Vector z = problem_.model().make_vector(r.columns());
    if (const Operator* inverse = preconditioner_->inverse())
      inverse->apply(r, z);
    else
      problem_.backend().copy(r, z);
    return z;
  }
  std::string describe() const {
    return preconditioner_->name() + (shift_ > 0 ? " of K + " + short_number(shift_, 3) + " M" : "");
  }

 private:
  const EigenProblem& problem_;
  std::shared_ptr<LinearSOE> soe_;
  std::shared_ptr<Preconditioner> preconditioner_;
  double shift_ = 0;
};

/// The iteration: X with its Ritz values, and P, the last changes of those that have not converged.
class Iteration {
 public:
  Iteration(const SpectralSearch& search, ShiftedPreconditioner& preconditioner, int columns)
      : search_(search), blocks_(search.blocks), preconditioner_(preconditioner) {
    // One application of the preconditioner to noise leaves mostly low modes.
    const Vector noise = blocks_.mass(blocks_.random(columns, search.seed));
    pairs_ = rayleigh_ritz(blocks_, blocks_.orthonormal(preconditioner_.apply(noise), search.deflated));
    applications_ = columns;
  }

  const RitzPairs& pairs() const { return pairs_; }
  std::int64_t applications() const { return applications_; }
  bool is_exhausted() const { return exhausted_; }

  /// Residuals of all columns; those above the tolerance will be improved.
  const std::vector<double>& measure(double tolerance) {
    residuals_ = relative_residuals(blocks_, pairs_, &rest_);
    active_.clear();
    for (std::size_t i = 0; i < residuals_.size(); ++i)
      if (!(residuals_[i] <= tolerance)) active_.push_back(static_cast<int>(i));
    return residuals_;
  }

  /// The best vectors in the span of X, preconditioned residuals and P.
  void improve() {
    if (active_.empty()) return;
    const Vector w = preconditioned_residuals();
    const std::vector<const Vector*> pieces{&w, &p_};
    std::vector<const Vector*> others = search_.deflated;
    others.push_back(&pairs_.vectors);
    const Vector q = blocks_.orthonormal(blocks_.joined(pieces), others);
    if (!q.layout()) {
      exhausted_ = true;
      return;
    }
    const Eigen::Index n = pairs_.count(), m = q.columns();
    const Vector kq = blocks_.stiffness(q);
    Eigen::MatrixXd h = Eigen::MatrixXd::Zero(n + m, n + m);
    h.topLeftCorner(n, n) = Eigen::Map<const Eigen::VectorXd>(pairs_.values.data(), n).asDiagonal();
    h.topRightCorner(n, m) = blocks_.dot(pairs_.vectors, kq);
    h.bottomLeftCorner(m, n) = h.topRightCorner(n, m).transpose();
    h.bottomRightCorner(m, m) = blocks_.symmetric_dot(q, kq);
    const detail::SymmetricEigen s = detail::symmetric_eigen(h);
    const Eigen::MatrixXd of_x = s.vectors.topLeftCorner(n, n), of_q = s.vectors.bottomLeftCorner(m, n);
    Eigen::MatrixXd change(m, static_cast<Eigen::Index>(active_.size()));
    for (std::size_t c = 0; c < active_.size(); ++c) change.col(static_cast<Eigen::Index>(c)) = of_q.col(active_[c]);
    p_ = blocks_.combined(q, change);
    Vector x = blocks_.combined(pairs_.vectors, of_x);
    blocks_.add(q, of_q, x);
    pairs_.vectors = std::move(x);
    pairs_.values.assign(s.values.data(), s.values.data() + n);
  }

  /// Takes X as new, without the rounding errors that many combinations have left.
  void refresh() { pairs_ = rayleigh_ritz(blocks_, blocks_.orthonormal(std::move(pairs_.vectors), search_.deflated)); }

 private:
  Vector preconditioned_residuals() {
    const Vector r = blocks_.columns(rest_, active_);
    applications_ += r.columns();
    return preconditioner_.apply(r);
  }

  const SpectralSearch& search_;
  const EigenBlocks& blocks_;
  ShiftedPreconditioner& preconditioner_;
  RitzPairs pairs_;
  Vector p_, rest_;  // rest_: K X − M X Λ
  std::vector<double> residuals_;
  std::vector<int> active_;
  std::int64_t applications_ = 0;
  bool exhausted_ = false;
};

/// A first shift where K is singular. Of the order of the lowest modes of a compact body.
double first_shift(const EigenProblem& problem) {
  if (problem.free_motion_count() == 0 && !problem.may_have_other_free_motions()) return 0;
  return 1e-2 * problem.largest_ratio() *
         std::pow(static_cast<double>(std::max<std::int64_t>(problem.free_equations(), 1)), -2.0 / 3);
}

}  // namespace

void Lobpcg::check(const EigenProblem& problem) const {
  if (problem.equations_without_mass() > 0)
    throw Error(ErrorCode::bad_input,
                std::to_string(problem.equations_without_mass()) +
                    " unknowns have no mass, which LOBPCG cannot handle; use the eigen-solver lanczos");
}

SearchResult Lobpcg::search(const SpectralSearch& search) const {
  const EigenBlocks& blocks = search.blocks;
  const EigenRequest& request = search.request;
  const bool multigrid = blocks.backend().find<MultigridServices>() != nullptr;
  ShiftedPreconditioner preconditioner(blocks.problem(), !preconditioner_.empty() ? preconditioner_
                                                         : multigrid              ? "amg"
                                                                                  : "block-jacobi");
  preconditioner.set_up(first_shift(blocks.problem()));
  const int guard = std::max(4, static_cast<int>(std::ceil(0.28 * search.want)));
  Iteration iteration(search, preconditioner, std::max(request.block, search.want + guard));
  SearchResult result;
  if (!iteration.pairs().vectors.layout()) {
    result.exhausted = result.converged = true;
    return result;
  }
  int converged = 0;
  constexpr int look_at_shift = 5, refresh_every = 40;
  while (true) {
    const std::vector<double>& residuals = iteration.measure(0.5 * request.tolerance);
    const int count = iteration.pairs().count(), wanted = std::min(search.want, count);
    for (converged = 0; converged < count && residuals[static_cast<std::size_t>(converged)] <= 0.5 * request.tolerance;)
      ++converged;
    search.tell(result.iterations, *std::max_element(residuals.begin(), residuals.begin() + wanted));
    if (converged >= wanted || iteration.is_exhausted() || result.iterations >= request.max_iterations) break;
    iteration.improve();
    ++result.iterations;
    if (result.iterations % refresh_every == 0) iteration.refresh();
    // A shift far above the lowest modes makes them all alike.
    if (const double lowest = iteration.pairs().values.front();
        result.iterations % look_at_shift == 0 && lowest > 0 && preconditioner.shift() > 2 * lowest)
      preconditioner.set_up(std::max(0.1 * lowest, 1e-12 * blocks.problem().largest_ratio()));
  }
  result.exhausted = iteration.pairs().count() < search.want && converged == iteration.pairs().count();
  result.converged = converged >= search.want || result.exhausted;
  result.applications = iteration.applications();
  result.method = "lobpcg, " + preconditioner.describe();
  const auto taken = static_cast<std::size_t>(converged);
  if (taken < iteration.pairs().values.size()) result.next = iteration.pairs().values[taken];
  if (converged > 0) {
    result.pairs.vectors = blocks.columns(iteration.pairs().vectors, 0, converged);
    result.pairs.values.assign(iteration.pairs().values.begin(), iteration.pairs().values.begin() + converged);
  }
  return result;
}

}  // namespace voussoir
