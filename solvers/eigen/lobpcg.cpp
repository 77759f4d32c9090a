#include <voussoir/solvers/eigen/lobpcg.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include <voussoir/backends/multigrid.hpp>
#include <voussoir/backends/number_text.hpp>
#include <voussoir/solvers/amg/detail/cycle.hpp>
#include <voussoir/solvers/eigen/detail/eigen_rules.hpp>
#include <voussoir/solvers/eigen/detail/lobpcg_iteration.hpp>
#include <voussoir/solvers/registries.hpp>
#include <voussoir/solvers/static_problem.hpp>

namespace voussoir {
namespace {

using detail::EigenBlocks;
using detail::LobpcgIteration;
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
    Backend& backend = problem_.backend();
    Vector z = problem_.model().make_vector(r.columns());
    const Operator* inverse = preconditioner_->inverse();
    // On CPUs, few columns at a time are as fast as many, and cycles keep vectors for each of them.
    const int at_once = backend.threads() > 0 ? columns_at_once : r.columns();
    if (!inverse) {
      backend.copy(r, z);
    } else if (r.columns() <= at_once) {
      inverse->apply(r, z);
    } else {
      for (int first = 0; first < r.columns(); first += at_once) {
        const int count = std::min(at_once, r.columns() - first);
        Vector some = problem_.model().make_vector(count), result = problem_.model().make_vector(count);
        backend.copy_columns(r, first, count, some, 0);
        inverse->apply(some, result);
        backend.copy_columns(result, 0, count, z, first);
      }
    }
    return z;
  }
  /// Where an iteration may begin; a Vector without a layout where nothing better than noise is known.
  Vector soft_motions(int columns) const {
    const auto* cycle = dynamic_cast<const detail::AmgCycle*>(preconditioner_->inverse());
    return cycle ? cycle->soft_motions(columns) : Vector();
  }
  std::string describe() const {
    return preconditioner_->name() + (shift_ > 0 ? " of K + " + short_number(shift_, 3) + " M" : "");
  }

 private:
  static constexpr int columns_at_once = 12;

  const EigenProblem& problem_;
  std::shared_ptr<LinearSOE> soe_;
  std::shared_ptr<Preconditioner> preconditioner_;
  double shift_ = 0;
};

/// How many values belong to the first `want`: equal ones are not cut, since a probe would find that the rest of them
/// is missing. Of many, half the guard are waited for.
int with_equal_values(const std::vector<double>& values, int want) {
  constexpr double nearly_equal = 1e-5;  // of values whose vectors have converged to a thousandth
  const int count = static_cast<int>(values.size());
  if (want < 1 || count <= want) return count;
  const int most = want + (count - want) / 2;
  int wanted = want;
  const auto value = [&](int i) { return values[static_cast<std::size_t>(i)]; };
  while (wanted < most && value(wanted) - value(want - 1) <= nearly_equal * std::abs(value(want - 1))) ++wanted;
  return wanted;
}

/// When the basis is to be renewed: after many combinations, or where rounding errors of them keep residuals from
/// falling.
class Renewals {
 public:
  /// Whether it is time, with the largest residual that matters after another iteration.
  bool are_due(double residual) {
    ++since_;
    const bool falls = !(residual > 0.5 * reached_), is_small = residual < 1e-3;
    if (falls) reached_ = residual;
    waited_ = falls || !is_small ? 0 : waited_ + 1;
    if (since_ < most && waited_ < patience) return false;
    since_ = waited_ = 0;
    reached_ = residual;
    return true;
  }

 private:
  static constexpr int most = 30, patience = 4;
  int since_ = 0, waited_ = 0;
  double reached_ = std::numeric_limits<double>::infinity();
};

/// A first shift where K may be singular.
double shift_to_begin_with(const EigenProblem& problem) {
  const bool singular = problem.free_motion_count() > 0 || problem.may_have_other_free_motions();
  return singular ? detail::first_shift(problem) : 0;
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
  if (!*search.kept) {
    auto made = std::make_shared<ShiftedPreconditioner>(blocks.problem(), !preconditioner_.empty() ? preconditioner_
                                                                          : multigrid              ? "amg"
                                                                                                   : "block-jacobi");
    made->set_up(shift_to_begin_with(blocks.problem()));
    *search.kept = std::move(made);
  }
  ShiftedPreconditioner& preconditioner = *std::static_pointer_cast<ShiftedPreconditioner>(*search.kept);
  const int guard = std::max(4, static_cast<int>(std::ceil(0.28 * search.want)));
  LobpcgIteration iteration(
      search, [&](const Vector& r) { return preconditioner.apply(r); },
      [&](int columns) { return preconditioner.soft_motions(columns); }, std::max(request.block, search.want + guard));
  SearchResult result;
  if (iteration.count() == 0) {
    result.exhausted = result.converged = true;
    return result;
  }
  int converged = 0;
  Renewals renewals;
  constexpr int look_at_shift = 5;
  while (true) {
    const std::vector<double>& residuals = iteration.measure(0.5 * request.tolerance);
    const int count = iteration.count(), wanted = with_equal_values(iteration.values(), search.want);
    for (converged = 0; converged < count && residuals[static_cast<std::size_t>(converged)] <= 0.5 * request.tolerance;)
      ++converged;
    const double worst = *std::max_element(residuals.begin(), residuals.begin() + wanted);
    search.tell(result.iterations, worst);
    if (converged >= wanted || iteration.is_exhausted() || result.iterations >= request.max_iterations) break;
    iteration.improve();
    ++result.iterations;
    if (renewals.are_due(worst)) iteration.renew();
    // A shift far above the lowest modes makes them all alike.
    if (const double lowest = iteration.values().empty() ? 0 : iteration.values().front();
        result.iterations % look_at_shift == 0 && lowest > 0 && preconditioner.shift() > 2 * lowest)
      preconditioner.set_up(std::max(0.1 * lowest, 1e-12 * blocks.problem().largest_ratio()));
  }
  result.exhausted = iteration.count() < search.want && converged == iteration.count();
  result.converged = converged >= search.want || result.exhausted;
  result.applications = iteration.applications();
  result.method = "lobpcg, " + preconditioner.describe();
  result.times = iteration.times();
  const auto taken = static_cast<std::size_t>(converged);
  if (taken < iteration.values().size()) result.next = iteration.values()[taken];
  if (converged > 0) {
    result.pairs.vectors = iteration.vectors(converged);
    result.pairs.values.assign(iteration.values().begin(), iteration.values().begin() + converged);
  }
  return result;
}

}  // namespace voussoir
