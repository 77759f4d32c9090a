#include <voussoir/framework/analysis/linear_soe.hpp>

#include <atomic>
#include <cmath>

namespace voussoir {

void LinearSOE::set_model(const AnalysisModel& model) {
  model_ = &model;
  version_ = 0;
  bodies_.reset();
  b_ = Vector();
  x_ = Vector();
  size_changed();
  set_columns(1);
}

void LinearSOE::follow_model(const ModelUpdate& update) {
  if (update.constraints || update.pattern) bodies_.reset();
  const bool kept = !(update.constraints || update.batches) || model_changed(update);
  if (update.matrix || !kept) version_ = 0;  // to be formed again
}

void LinearSOE::forget_model() {
  model_ = nullptr;
  version_ = 0;
  bodies_.reset();
  b_ = Vector();
  x_ = Vector();
}

const AnalysisModel& LinearSOE::model() const {
  if (!model_) throw Error(ErrorCode::misuse, "the SOE '" + name() + "' has no model yet; call set_model() first");
  return *model_;
}

void LinearSOE::set_columns(int columns) {
  const AnalysisModel& m = model();
  if (b_.layout() == m.device_model().layout() && b_.columns() == columns) return;
  b_ = m.make_vector(columns);
  x_ = m.make_vector(columns);
  m.backend().fill(b_, 0.0);
  m.backend().fill(x_, 0.0);
}

void LinearSOE::formed() {
  static std::atomic<std::uint64_t> forms{0};
  version_ = ++forms;
}

SolveReport SolveReport::of_column(int column) const {
  SolveReport one = *this;
  one.columns.clear();
  one.column_residuals.clear();
  if (static_cast<std::size_t>(column) < column_residuals.size())
    one.true_residual = column_residuals[static_cast<std::size_t>(column)];
  if (columns.empty()) return one;
  if (column > 0) one.setup_seconds = 0;
  if (static_cast<std::size_t>(column) >= columns.size()) {  // the solver gave up before
    one.iterations = 0;
    one.solve_seconds = 0;
    one.history.clear();
    return one;
  }
  const ColumnReport& own = columns[static_cast<std::size_t>(column)];
  one.converged = own.converged;
  one.reason = own.reason;
  one.iterations = own.iterations;
  one.solve_seconds = own.solve_seconds;
  one.history = own.history;
  return one;
}

const Bodies& LinearSOE::bodies() const {
  if (!bodies_) bodies_ = std::make_unique<Bodies>(model());
  return *bodies_;
}

std::vector<double> column_residuals(const LinearSOE& soe) {
  Backend& backend = soe.model().backend();
  const auto columns = static_cast<std::size_t>(soe.b().columns());
  Vector r = soe.model().make_vector(soe.b().columns());
  soe.matrix().apply(soe.x(), r);
  backend.axpby(1.0, soe.b(), -1.0, r);
  const std::vector<double> left = soe.bodies().norms(backend, r), load = soe.bodies().norms(backend, soe.b());
  std::vector<double> residuals(columns);
  for (std::size_t c = 0; c < columns; ++c) {
    double whole = 0;
    for (std::size_t k = c; k < load.size(); k += columns) whole = std::hypot(whole, load[k]);
    std::vector<double> of_bodies;
    for (std::size_t k = c; k < load.size(); k += columns) {
      const double against = load[k] > 0 ? load[k] : whole;
      of_bodies.push_back(against > 0 ? left[k] / against : left[k]);
    }
    residuals[c] = largest_or_nan(of_bodies);
  }
  return residuals;
}

double true_residual(const LinearSOE& soe) { return largest_or_nan(column_residuals(soe)); }

double largest_or_nan(std::span<const double> numbers) {
  double largest = 0;
  for (const double x : numbers)
    if (!(x <= largest)) {
      if (std::isnan(x)) return x;
      largest = x;
    }
  return largest;
}

}  // namespace voussoir
