#include <voussoir/framework/analysis/detail/initial_motion.hpp>

#include <cmath>

#include <voussoir/framework/analysis/process_group.hpp>

namespace voussoir::detail {

void take_initial_motion(const AnalysisModel& model, const NodalField& field, const std::string& what, Vector& x) {
  if (field.values.empty()) return;
  const auto& names = model.unknown_names();
  const std::string where = "initial " + what;
  if (field.components != names ||
      field.values.size() != static_cast<std::size_t>(model.domain().node_count()) * names.size())
    throw Error(ErrorCode::bad_input, "the field is that of another model: its nodes or unknowns differ", where);
  std::vector<double> values = x.to_host();
  for (std::int32_t e = 0; e < model.equation_count(); ++e) {
    const auto at = model.place(e);
    const double value = field.at(at.node, at.component);
    if (std::isinf(value))
      throw Error(ErrorCode::bad_input, "the value is not finite", where + ", " + model.equation_label(e));
    if (!std::isnan(value)) values[static_cast<std::size_t>(e)] = value;
  }
  x.from_host(values);
}

double strain_energy_of(const AnalysisModel& model, const AnalysisState& state) {
  Backend& backend = model.backend();
  if (!on_any(model, backend.norm(state.unknowns) != 0)) return 0;
  const bool linear = all_linear(model);
  auto factors = model.batch_factors(state.case_factors);
  for (std::size_t b = 0; b < factors.size(); ++b)
    if (model.batches()[b].kind == BatchOrigin::Kind::surface_load) factors[b] = 0;
  // Gauss's rule with five points over the path; a linear model needs one.
  const double outer = std::sqrt(5 + 2 * std::sqrt(10.0 / 7)) / 3, inner = std::sqrt(5 - 2 * std::sqrt(10.0 / 7)) / 3;
  const double far = (322 - 13 * std::sqrt(70.0)) / 900, near = (322 + 13 * std::sqrt(70.0)) / 900;
  const double places[] = {0, -inner, inner, -outer, outer}, weights[] = {128.0 / 225, near, near, far, far};
  Vector u = model.make_vector(), f = model.make_vector();
  double energy = 0;
  for (int k = 0; k < (linear ? 1 : 5); ++k) {
    backend.copy(state.unknowns, u);
    backend.scale(0.5 * (1 + places[k]), u);
    backend.fill(f, 0.0);
    ElementState at = state.elements();
    at.unknowns = &u;
    model.translating([&] { backend.residual(model.device_model(), at, factors, false, f); });
    energy += (linear ? 1 : 0.5 * weights[k]) * work_of(model, f, state.unknowns);
  }
  return energy;
}

}  // namespace voussoir::detail
