#include <voussoir/jobs/detail/own_state.hpp>

#include <cstdint>
#include <vector>

#include <voussoir/framework/analysis/step.hpp>

namespace voussoir::detail {

NodalField OwnState::motion(int derivative) {
  return integrator().motion(committed_.model, committed_.state, derivative);
}

StepResult OwnState::result(bool with_points) {
  return make_step_result(committed_.model, committed_.integrator, committed_.state, committed_.report, with_points);
}

// What all other forces leave at prescribed unknowns is the force of supports.
ForceSums force_sums(const CommittedState& committed, bool heat) {
  const AnalysisModel& model = committed.model;
  auto& method = static_cast<TimeIntegrator&>(committed.integrator);
  Backend& backend = model.backend();
  const TimeIntegrator::Memory& forces = method.memory();
  Vector r = heat ? method.out_of_balance(model, committed.state) : forces.internal.clone();
  if (!heat) {
    backend.axpy(-1.0, forces.external, r);
    for (const Vector* force : {&forces.damping, &forces.inertial})
      if (force->layout()) backend.axpy(1.0, *force, r);
  }
  backend.reduce_dependencies(model.device_model(), r);
  const std::vector<double> values = r.to_host();
  const std::size_t unknowns = model.unknown_names().size();
  ForceSums sums{std::vector<double>(unknowns, 0.0), std::vector<double>(unknowns, 0.0)};
  for (std::int32_t e = 0; e < model.equation_count(); ++e)
    if (model.is_prescribed(e))
      sums.reactions[static_cast<std::size_t>(model.place(e).component)] += values[static_cast<std::size_t>(e)];
  if (heat || !forces.external.layout()) return sums;
  const std::vector<double> loads = forces.external.to_host();
  for (std::int32_t e = 0; e < model.equation_count(); ++e)
    sums.loads[static_cast<std::size_t>(model.place(e).component)] += loads[static_cast<std::size_t>(e)];
  return sums;
}

}  // namespace voussoir::detail
