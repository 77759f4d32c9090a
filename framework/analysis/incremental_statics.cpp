#include <voussoir/framework/analysis/incremental_statics.hpp>

#include <cmath>

#include <voussoir/framework/analysis/detail/loads_over_time.hpp>

namespace voussoir {

IncrementalStatics::IncrementalStatics() : TimeIntegrator(Coefficients{}) {}
IncrementalStatics::~IncrementalStatics() = default;

void IncrementalStatics::begin(const AnalysisModel& model, AnalysisState& state, double step) {
  motion_ = {};
  TimeIntegrator::begin(model, state, step);
  if (bound_->base_moves())
    throw Error(ErrorCode::bad_input, "accelerations of the base do not act in statics; use gravity loads");
  model.backend().fill(state.rate, 0.0);
  model.backend().fill(state.second_rate, 0.0);
}

void IncrementalStatics::put_supports(const AnalysisModel& model, AnalysisState& state) const {
  Backend& backend = model.backend();
  backend.clear_constrained(model.device_model(), state.unknowns);
  backend.expand_dependencies(model.device_model(), state.unknowns);
  bound_->add_supports(0, state.time, step_of(state), state.unknowns);
}

void IncrementalStatics::begin_step(const AnalysisModel& model, AnalysisState& state) {
  bind(model);
  if (!state.is_committed() || !memory_.internal.layout())
    throw Error(ErrorCode::misuse, "increments follow a state that was begun and committed");
  if (!(state.time_step > 0) || !std::isfinite(state.time_step))
    throw Error(ErrorCode::misuse, "an increment needs a size greater than 0");
  step_ = state.time_step;
  trial_.reset();
  at_rest_ = true;
  motion_ = {};
  Backend& backend = model.backend();
  const Vector before = state.unknowns.clone();
  put_supports(model, state);
  motion_ = state.unknowns.clone();
  backend.axpy(-1.0, before, motion_);
  if (backend.norm(motion_) == 0) motion_ = {};
  backend.copy(before, state.unknowns);
  if (loads_) state.case_factors = bound_->case_factors_before(state.time, step_);
  form_loads(model, state);
}

void IncrementalStatics::form_unbalance(const AnalysisModel& model, const AnalysisState& state, Vector& b) {
  at_rest_ = true;
  TimeIntegrator::form_unbalance(model, state, b);
  if (!motion_.layout()) return;
  Backend& backend = model.backend();
  if (!stiffness_ || stiffness_of_ != model.serial()) {
    stiffness_ =
        backend.make_element_operator(model.device_model(), ElementProduct::matrix_free, OperatorEquations::all);
    stiffness_of_ = model.serial();
  }
  const auto factors = model.batch_factors(state.case_factors);
  MatrixTerms terms;
  terms.batch_factors = factors;
  Vector force = model.make_vector();
  model.translating([&] {
    backend.assemble(model.device_model(), state.elements(), terms, *stiffness_);
    stiffness_->apply(motion_, force);
  });
  backend.reduce_dependencies(model.device_model(), force);
  backend.clear_constrained(model.device_model(), force);
  backend.axpy(-1.0, force, b);
}

void IncrementalStatics::update(const AnalysisModel& model, const Vector& increment, AnalysisState& state) {
  trial_.reset();
  if (motion_.layout()) {
    model.backend().axpy(1.0, motion_, state.unknowns);
    motion_ = {};
  }
  add_increment(model, 1.0, increment, state.unknowns);
}

void IncrementalStatics::commit(const AnalysisModel& model, AnalysisState& state) {
  // A motion that puts no free equation out of balance needs no solve.
  if (motion_.layout()) {
    model.backend().axpy(1.0, motion_, state.unknowns);
    motion_ = {};
    trial_.reset();
  }
  TimeIntegrator::commit(model, state);
}

void IncrementalStatics::revert(const AnalysisModel& model, AnalysisState& state) {
  motion_ = {};
  TimeIntegrator::revert(model, state);
}

void IncrementalStatics::extrapolate(const AnalysisModel& model, const AnalysisState&, Vector& increment) const {
  model.backend().fill(increment, 0.0);
}

double IncrementalStatics::error_estimate(const AnalysisModel&, const AnalysisState&) { return 0; }
double IncrementalStatics::displacement_measure(const AnalysisModel&, const AnalysisState&) { return 0; }

void IncrementalStatics::inertia(const AnalysisModel& model, const AnalysisState&, Vector& y) {
  model.backend().fill(y, 0.0);
}

}  // namespace voussoir
