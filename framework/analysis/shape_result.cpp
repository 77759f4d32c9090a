#include <cmath>

#include <voussoir/framework/analysis/shape_result.hpp>
#include <voussoir/framework/analysis/static_analysis.hpp>

namespace voussoir {

StepResult result_of_shape(const AnalysisModel& model, const NodalField& shape, const std::string& name, bool recover) {
  StaticIntegrator integrator;
  AnalysisState state;
  state.name = name;
  state.prescribed_factor = 0;
  state.case_factors.assign(model.domain().load_case_count(), 0.0);
  integrator.begin_step(model, state);
  std::vector<double> values(static_cast<std::size_t>(model.equation_count()), 0.0);
  for (std::int32_t e = 0; e < model.equation_count(); ++e) {
    const auto place = model.place(e);
    const double value = shape.at(place.node, place.component);
    if (!std::isnan(value)) values[static_cast<std::size_t>(e)] = value;
  }
  state.unknowns.from_host(values);
  return make_step_result(model, integrator, state, {}, recover);
}

}  // namespace voussoir
