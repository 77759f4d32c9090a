// Pivots, and the motions that nothing resists: what a factorisation meets in a matrix that may be singular.
#include <algorithm>
#include <cmath>
#include <limits>
#include <voussoir/backends/error.hpp>
#include <voussoir/framework/model/unrestrained_unknowns.hpp>
#include <voussoir/solvers/direct/detail/free_motions.hpp>
#include <voussoir/solvers/direct/detail/guards.hpp>
#include <voussoir/solvers/direct/factorization.hpp>

namespace voussoir {
namespace {

// The pivot of a free motion is rounding error times the square of the motion, measured in units of the pivot's
// equation. That of a rotation can be large, so the net is cast wide; what is caught is looked at more closely.
constexpr double suspicious = 1e-6;

}  // namespace

/// Factorises a matrix with unit springs at the equations whose pivots vanish, and finds out which those are.
class Factorization::PivotSearch {
 public:
  PivotSearch(Factorization& method, const SymmetricCsr& matrix)
      : method_(method), matrix_(matrix), partial_(matrix.n == method.matrix_.n && !method.boundary_.empty()) {
    find_empty();
    find_left_over();
  }

  /// Leaves the method with the factor, and with what was found.
  void run() {
    factorise_until_all_are_caught();
    if (!candidates_.empty()) judge_candidates();
    keep();
  }
  /// The same with the pivots as they are.
  void run_once() {
    empty_.clear();
    candidates_.clear();
    factorise_restrained(0, false);
    if (!pivots_.complete)
      throw Error(ErrorCode::singular, "factorisation without pivoting encountered a zero pivot", "direct solver");
    keep();
  }

 private:
  bool is_kept(std::int64_t i) const { return partial_ && method_.boundary_place_[i] >= 0; }
  void find_empty();
  void find_left_over();
  void factorise_restrained(double small, bool shaken);
  void factorise_until_all_are_caught();
  void judge_candidates();
  void keep();

  Factorization& method_;
  const SymmetricCsr& matrix_;
  const bool partial_;                    // the method eliminates all but the boundary itself
  std::vector<char> is_empty_;            // per equation: nothing in its row
  std::vector<std::int32_t> empty_;       // of these, those that are eliminated
  std::vector<std::int32_t> candidates_;  // equations whose pivots may be those of free motions
  std::vector<double> lost_;              // energy that rounding may have left, per equation; empty where unknown
  SymmetricCsr prescribed_;  // with springs; copied only where one is needed, which a sound model never does
  Pivots pivots_;            // of the last factorisation
};

// Equations with nothing in them are free without question, and may be many.
void Factorization::PivotSearch::find_empty() {
  is_empty_.assign(static_cast<std::size_t>(matrix_.n), 1);
  for (std::int64_t i = 0; i < matrix_.n; ++i) {
    for (std::int64_t k = matrix_.row_start[i]; k < matrix_.row_start[i + 1]; ++k) {
      if (matrix_.value[k] != 0) is_empty_[i] = is_empty_[matrix_.column[k]] = 0;
    }
  }
  for (std::int64_t i = 0; i < matrix_.n; ++i) {
    if (is_empty_[i] && !is_kept(i)) empty_.push_back(static_cast<std::int32_t>(i));
  }
}

// Where the diagonal itself is left over from a cancellation, no pivot tells how small it should have been.
void Factorization::PivotSearch::find_left_over() {
  const std::vector<double>& sizes = method_.size_;
  for (std::int64_t i = 0; i < matrix_.n && !sizes.empty(); ++i) {
    const double size = sizes[matrix_.n == method_.matrix_.n ? i : method_.eliminated_equation_[i]];
    lost_.push_back(lost_in_rounding * size);
    if (!is_kept(i) && !is_empty_[i] && std::abs(matrix_.value[matrix_.row_start[i]]) <= suspicious * size)
      candidates_.push_back(static_cast<std::int32_t>(i));
  }
}

// With springs at the empty equations and the candidates; `shaken` changes the last digits of the diagonal.
void Factorization::PivotSearch::factorise_restrained(double small, bool shaken) {
  if (empty_.empty() && candidates_.empty() && !shaken) {
    pivots_ = method_.do_factorise(matrix_, small);
    return;
  }
  if (prescribed_.n == 0) prescribed_ = matrix_;
  prescribed_.value = matrix_.value;
  for (std::int32_t i : empty_) prescribed_.value[matrix_.row_start[i]] += 1;
  for (std::int32_t i : candidates_) prescribed_.value[matrix_.row_start[i]] += 1;
  if (shaken) {
    for (std::int64_t i = 0; i < matrix_.n; ++i) {
      const std::uint64_t mixed = (static_cast<std::uint64_t>(i) + 1) * 0x9E3779B97F4A7C15ull;
      prescribed_.value[matrix_.row_start[i]] *=
          1 + (static_cast<int>(mixed >> 61) - 3.5) * std::numeric_limits<double>::epsilon();
    }
  }
  pivots_ = method_.do_factorise(prescribed_, small);
}

void Factorization::PivotSearch::factorise_until_all_are_caught() {
  bool shaken = false;
  for (int round = 0;; ++round) {
    factorise_restrained(suspicious, shaken);
    if (pivots_.complete && pivots_.small.empty() && !shaken) return;
    if (round == 100) {
      throw Error(
          ErrorCode::singular,
          "the matrix has too many zero pivots for factorisation without pivoting; restrain the model, give every "
          "node stiffness, or use the direct method mumps",
          "direct solver");
    }
    // A pivot of exactly zero stops some methods, and one round would be needed for each. A change in the last digits,
    // up and down without a pattern, turns all of them into small numbers that are found at once.
    const bool caught = !pivots_.small.empty() && (pivots_.complete || shaken);
    if (caught) candidates_.insert(candidates_.end(), pivots_.small.begin(), pivots_.small.end());
    shaken = caught ? shaken && !pivots_.complete : !pivots_.complete;
    std::sort(candidates_.begin(), candidates_.end());
    candidates_.erase(std::unique(candidates_.begin(), candidates_.end()), candidates_.end());
  }
}

// A unit force against the spring of an equation moves the body freely where nothing else resists. The candidates that
// remain are those of free motions; the others are soft but sound, and must not keep their springs.
void Factorization::PivotSearch::judge_candidates() {
  const std::size_t n = static_cast<std::size_t>(matrix_.n), numbers = n * candidates_.size();
  std::vector<double> motions = detail::allocating(static_cast<double>(numbers) * sizeof(double), "free motions",
                                                   [&] { return std::vector<double>(numbers, 0.0); });
  for (std::size_t c = 0; c < candidates_.size(); ++c) motions[c * n + candidates_[c]] = 1;
  method_.do_solve(motions.data(), static_cast<int>(candidates_.size()));
  if (partial_) {
    for (std::size_t c = 0; c < candidates_.size(); ++c) {
      for (std::int32_t b : method_.boundary_) motions[c * n + b] = 0;
    }
  }
  const double tolerance = method_.options_.free_motion_tolerance;
  const double fraction = tolerance > 0 ? tolerance : 2 * std::numeric_limits<double>::epsilon();
  detail::FreeMotions found =
      detail::find_free_motions(matrix_, candidates_, motions, fraction * infinity_norm(matrix_), lost_);
  method_.free_motions_ = std::move(found.basis);
  const bool all = found.equation.size() == candidates_.size();
  candidates_ = std::move(found.equation);
  if (!all) factorise_restrained(0, false);
  if (!pivots_.complete) {
    throw Error(ErrorCode::singular,
                "factorisation without pivoting encountered a zero pivot; use the direct method mumps",
                "direct solver");
  }
}

void Factorization::PivotSearch::keep() {
  std::vector<double>& motions = method_.free_motions_;
  for (std::int32_t i : empty_) {
    candidates_.push_back(i);
    const std::size_t at = motions.size();
    motions.resize(at + static_cast<std::size_t>(matrix_.n), 0.0);
    motions[at + i] = 1;
  }
  method_.null_pivots_ = std::move(candidates_);
  Inertia& inertia = method_.inertia_;
  inertia.negative = pivots_.negative;
  inertia.zero = static_cast<std::int64_t>(method_.null_pivots_.size());
  inertia.positive = static_cast<std::int64_t>(method_.eliminated_equation_.size()) - inertia.negative - inertia.zero;
}

void Factorization::find_pivots(const SymmetricCsr& matrix, Search search) {
  PivotSearch pivots(*this, matrix);
  if (search == Search::free_motions)
    pivots.run();
  else
    pivots.run_once();
}

}  // namespace voussoir
