#pragma once
#include <string>

#include <voussoir/framework/analysis/integrator.hpp>

namespace voussoir::testing {

/// Newmark's method, average acceleration.
class Newmark : public Integrator {
 public:
  std::string name() const override { return "newmark"; }
  TangentCoefficients coefficients() const override { return {1, 2 / step, 4 / (step * step)}; }
  void begin_step(const AnalysisModel& model, AnalysisState& state) override {
    Backend& backend = model.backend();
    step = state.time_step;
    backend.axpy(step, state.rate, state.unknowns);
    backend.axpy(step * step / 4, state.second_rate, state.unknowns);
    backend.axpy(step / 2, state.second_rate, state.rate);
    backend.fill(state.second_rate, 0.0);
    set_prescribed(model, state);
    form_loads(model, state);
  }
  void update(const AnalysisModel& model, const Vector& increment, AnalysisState& state) override {
    const TangentCoefficients c = coefficients();
    add_increment(model, 1, increment, state.unknowns);
    add_increment(model, c.damping, increment, state.rate);
    add_increment(model, c.mass, increment, state.second_rate);
  }
  double step = 1;
};

}  // namespace voussoir::testing
