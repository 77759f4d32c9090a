#include <voussoir/framework/analysis/integrator.hpp>

namespace voussoir {

void StaticIntegrator::begin(const AnalysisModel& model, StepState& state) const {
  Backend& backend = model.backend();
  state.unknowns = model.initial_unknowns(state.prescribed_factor);
  state.loads = model.make_vector();
  backend.fill(state.loads, 0.0);
  state.temperature = model.follows_unknown_temperature() ? model.temperatures_from(state.unknowns)
                                                          : model.temperatures(state.case_factors);
  model.add_loads(state.case_factors, state.elements(), state.loads);
}

void StaticIntegrator::form_tangent(const AnalysisModel& model, const StepState& state, LinearSOE& soe) const {
  const auto factors = model.batch_factors(state.case_factors);
  MatrixTerms terms;
  terms.batch_factors = factors;
  model.translating([&] { soe.form(state.elements(), terms); });
}

Vector StaticIntegrator::out_of_balance(const AnalysisModel& model, const StepState& state) const {
  Backend& backend = model.backend();
  Vector r = model.make_vector();
  backend.copy(state.loads, r);
  backend.scale(-1.0, r);
  const auto factors = model.batch_factors(state.case_factors);
  model.translating([&] { backend.residual(model.device_model(), state.elements(), factors, false, r); });
  return r;
}

void StaticIntegrator::form_unbalance(const AnalysisModel& model, const StepState& state, Vector& b) const {
  Backend& backend = model.backend();
  const Vector r = out_of_balance(model, state);
  backend.copy(r, b);
  backend.scale(-1.0, b);
  backend.reduce_dependencies(model.device_model(), b);
  backend.clear_constrained(model.device_model(), b);
}

void StaticIntegrator::update(const AnalysisModel& model, const Vector& increment, StepState& state) const {
  Backend& backend = model.backend();
  Vector full = model.make_vector();
  backend.copy(increment, full);
  backend.clear_constrained(model.device_model(), full);
  backend.expand_dependencies(model.device_model(), full);
  backend.axpy(1.0, full, state.unknowns);
  if (model.follows_unknown_temperature()) state.temperature = model.temperatures_from(state.unknowns);
}

}  // namespace voussoir
