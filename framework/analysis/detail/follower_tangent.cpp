#include <voussoir/framework/analysis/detail/follower_tangent.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <voussoir/framework/analysis/process_group.hpp>

namespace voussoir::detail {
namespace {

/// Directions of GMRES; few iterations are usual.
constexpr int most_follower_directions = 40;
/// Residuals relative to b at which GMRES ends: iterations cost little where the matrix is factorised already, and a
/// whole iterative solve otherwise.
constexpr double factorised_target = 1e-8, iterated_target = 1e-3;

/// The least-squares problem of GMRES, by Givens rotations.
class FollowerLeastSquares {
 public:
  explicit FollowerLeastSquares(double residual) : right_{residual} {}

  /// Takes the next column of the Hessenberg matrix, whose last entry is below the diagonal. Returns the residual.
  double add(std::vector<double> column) {
    const std::size_t j = rotations_.size();
    for (std::size_t i = 0; i < j; ++i) rotate(rotations_[i], column[i], column[i + 1]);
    const double size = std::hypot(column[j], column[j + 1]);
    rotations_.push_back(size > 0 ? std::pair(column[j] / size, column[j + 1] / size) : std::pair(1.0, 0.0));
    rotate(rotations_.back(), column[j], column[j + 1]);
    right_.push_back(0.0);
    rotate(rotations_.back(), right_[j], right_[j + 1]);
    columns_.push_back(std::move(column));
    return std::abs(right_.back());
  }

  /// Factors of the directions; none where the matrix is singular.
  std::vector<double> solve() const {
    const std::size_t n = columns_.size();
    std::vector<double> y(n, 0.0);
    for (std::size_t i = n; i-- > 0;) {
      double sum = right_[i];
      for (std::size_t k = i + 1; k < n; ++k) sum -= columns_[k][i] * y[k];
      if (columns_[i][i] == 0) return {};
      y[i] = sum / columns_[i][i];
    }
    return y;
  }

 private:
  static void rotate(const std::pair<double, double>& by, double& a, double& b) {
    const double first = by.first * a + by.second * b;
    b = by.first * b - by.second * a;
    a = first;
  }
  std::vector<std::vector<double>> columns_;
  std::vector<std::pair<double, double>> rotations_;
  std::vector<double> right_;
};

}  // namespace

FollowerTangent::FollowerTangent(const AnalysisModel& model) : model_(model), backend_(model.backend()) {
  length_ = std::numeric_limits<double>::infinity();
  const Domain& domain = model.domain();
  for (std::size_t b = 0; b < model.batches().size(); ++b) {
    const BatchOrigin& origin = model.batches()[b];
    if (origin.kind != BatchOrigin::Kind::surface_load ||
        !model.device_model().part(0).batches[b].program->name().starts_with("follower_pressure."))
      continue;
    batches_.push_back(static_cast<int>(b));
    for (const ElementRef& ref : origin.elements) {
      const auto nodes = domain.block(ref.block).nodes(ref.element);
      const auto x = domain.coordinates();
      double square = 0;
      for (std::size_t i = 0; i < 3; ++i) {
        const double d = x[3 * static_cast<std::size_t>(nodes[1]) + i] - x[3 * static_cast<std::size_t>(nodes[0]) + i];
        square += d * d;
      }
      if (square > 0) length_ = std::min(length_, std::sqrt(square));
    }
  }
  ProcessGroup* const group = ProcessGroup::of(model);
  if (group) length_ = -group->maximum(-length_);
  exists_ = on_any(model, !batches_.empty());
}

bool FollowerTangent::begin(const AnalysisState& state, double stiffness) {
  factors_ = model_.batch_factors(state.case_factors);
  std::vector<double> acting(factors_.size(), 0.0);
  bool any = false;
  for (const int b : batches_) {
    acting[static_cast<std::size_t>(b)] = stiffness * factors_[static_cast<std::size_t>(b)];
    any = any || acting[static_cast<std::size_t>(b)] != 0;
  }
  factors_ = std::move(acting);
  if (!on_any(model_, any) || !std::isfinite(length_)) return false;
  state_ = state.elements();
  if (!symmetric_) {
    symmetric_ =
        backend_.make_element_operator(model_.device_model(), ElementProduct::matrix_free, OperatorEquations::all);
    full_ = model_.make_vector();
    moved_ = model_.make_vector();
    force_ = model_.make_vector();
  }
  MatrixTerms terms;
  terms.batch_factors = factors_;
  model_.translating([&] { backend_.assemble(model_.device_model(), state_, terms, *symmetric_); });
  return true;
}

/// The norm of a motion; on several processes, unknowns that several of them have count more than once, which changes
/// the length of the difference alone.
double FollowerTangent::motion_size(const Vector& motion) const {
  const double own = backend_.norm(motion);
  return ProcessGroup::of(model_) ? std::sqrt(sum_of_all(model_, own * own)) : own;
}

/// y += B x, x and y at free equations.
void FollowerTangent::add_product(const Vector& x, Vector& y) {
  backend_.copy(x, full_);
  backend_.clear_constrained(model_.device_model(), full_);
  backend_.expand_dependencies(model_.device_model(), full_);
  const double size = motion_size(full_);
  if (size == 0) return;
  const double step = length_ / size;
  Vector sum = model_.make_vector();
  model_.translating([&] { symmetric_->apply(full_, sum); });
  backend_.scale(-1.0, sum);
  for (const double side : {1.0, -1.0}) {
    backend_.copy(*state_.unknowns, moved_);
    backend_.axpy(side * step, full_, moved_);
    backend_.fill(force_, 0.0);
    ElementState moved = state_;
    moved.unknowns = &moved_;
    model_.translating([&] { backend_.residual(model_.device_model(), moved, factors_, false, force_); });
    backend_.axpy(side / (2 * step), force_, sum);
  }
  backend_.reduce_dependencies(model_.device_model(), sum);
  backend_.clear_constrained(model_.device_model(), sum);
  backend_.axpy(1.0, sum, y);
}

void FollowerTangent::complete(const AnalysisState& state, double stiffness, Solver& solver, LinearSOE& soe,
                               SolveReport& report) {
  if (!exists_ || !begin(state, stiffness)) return;
  const double load = force_norm(model_, soe.b());
  const double target = (solver.finds_mechanisms() ? factorised_target : iterated_target) * load;
  const Vector b = soe.b().clone();
  Vector x = soe.x().clone(), r = model_.make_vector();
  backend_.fill(r, 0.0);
  add_product(x, r);
  if (!(force_norm(model_, r) > target)) return;
  report.note.clear();  // on eigenvalues of the symmetric part, which then say nothing of stability

  soe.matrix().apply(x, force_);
  backend_.axpy(1.0, force_, r);
  backend_.scale(-1.0, r);
  backend_.axpy(1.0, b, r);
  std::vector<Vector> basis, directions;
  double residual = force_norm(model_, r);
  FollowerLeastSquares squares(residual);
  backend_.scale(1 / residual, r);
  basis.push_back(std::move(r));
  while (residual > target && directions.size() < most_follower_directions) {
    backend_.copy(basis.back(), soe.b());
    backend_.fill(soe.x(), 0.0);
    const SolveReport inner = solver.solve(soe);
    report.iterations += std::max(1, inner.iterations);
    report.setup_seconds += inner.setup_seconds;
    report.solve_seconds += inner.solve_seconds;
    if (!inner.converged) break;
    directions.push_back(soe.x().clone());
    Vector w = model_.make_vector();
    soe.matrix().apply(directions.back(), w);
    add_product(directions.back(), w);
    std::vector<double> column;
    for (const Vector& v : basis) {
      column.push_back(force_product(model_, w, v));
      backend_.axpy(-column.back(), v, w);
    }
    const double rest = force_norm(model_, w);
    column.push_back(rest);
    if (!std::isfinite(rest)) {
      directions.pop_back();
      break;
    }
    residual = squares.add(std::move(column));
    if (rest == 0) break;
    backend_.scale(1 / rest, w);
    basis.push_back(std::move(w));
  }
  const std::vector<double> y = squares.solve();
  for (std::size_t i = 0; i < y.size(); ++i) backend_.axpy(y[i], directions[i], x);
  backend_.copy(x, soe.x());
  backend_.copy(b, soe.b());
  report.choice +=
      (report.choice.empty() ? "" : "; ") +
      std::string("following pressures have their whole tangent, by GMRES preconditioned with this solver");
}

}  // namespace voussoir::detail
