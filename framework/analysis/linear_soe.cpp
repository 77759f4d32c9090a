#include <voussoir/framework/analysis/linear_soe.hpp>

#include <atomic>
#include <cmath>

namespace voussoir {

void LinearSOE::set_model(const AnalysisModel& model) {
  model_ = &model;
  b_ = Vector();
  x_ = Vector();
  size_changed();
  set_columns(1);
}

void LinearSOE::forget_model() {
  model_ = nullptr;
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

double true_residual(const LinearSOE& soe) {
  Backend& backend = soe.model().backend();
  const int columns = soe.b().columns();
  Vector r = soe.model().make_vector(columns);
  soe.matrix().apply(soe.x(), r);
  backend.axpby(1.0, soe.b(), -1.0, r);
  if (columns == 1) {
    const double b = backend.norm(soe.b());
    const double rest = backend.norm(r);
    return b > 0 ? rest / b : rest;
  }
  std::vector<double> rr(columns * columns), bb(columns * columns);
  backend.block_dot(r, r, rr);
  backend.block_dot(soe.b(), soe.b(), bb);
  double worst = 0;
  for (int c = 0; c < columns; ++c) {
    const double b = std::sqrt(bb[c * columns + c]), rest = std::sqrt(rr[c * columns + c]);
    worst = std::max(worst, b > 0 ? rest / b : rest);
  }
  return worst;
}

}  // namespace voussoir
