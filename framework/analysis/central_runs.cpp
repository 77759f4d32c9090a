#include <algorithm>

#include <voussoir/framework/analysis/central_differences.hpp>
#include <voussoir/framework/analysis/detail/central_work.hpp>
#include <voussoir/framework/analysis/detail/loads_over_time.hpp>
#include <voussoir/framework/analysis/process_group.hpp>

// Runs of equal steps of central differences, taken by the backend in one go.

namespace voussoir {
namespace {

/// Whether the external forces are Σ factor · vector, with vectors that stay the same.
bool has_plain_loads(const AnalysisModel& model) {
  for (std::size_t c = 0; c < model.domain().load_case_count(); ++c)
    if (!model.domain().load_case(c).temperatures().empty()) return false;
  for (std::size_t b = 0; b < model.batches().size(); ++b)
    if (model.batches()[b].kind == BatchOrigin::Kind::surface_load &&
        model.device_model().part(0).batches[b].program->has_tangent())
      return false;
  return true;
}

/// The external forces of one load case at factor 1, surface loads included.
Vector forces_of_case(const AnalysisModel& model, const AnalysisState& state, std::size_t load_case) {
  Backend& backend = model.backend();
  std::vector<double> factors(model.domain().load_case_count(), 0.0);
  factors[load_case] = 1;
  Vector forces = model.make_vector(), surface = model.make_vector();
  backend.fill(forces, 0.0);
  model.translating([&] { model.add_loads(factors, state.elements(), forces); });
  std::vector<double> outer = model.batch_factors(factors);
  for (std::size_t b = 0; b < outer.size(); ++b)
    if (model.batches()[b].kind != BatchOrigin::Kind::surface_load) outer[b] = 0;
  if (std::all_of(outer.begin(), outer.end(), [](double f) { return f == 0; })) return forces;
  backend.fill(surface, 0.0);
  model.translating([&] { backend.residual(model.device_model(), state.elements(), outer, false, surface); });
  backend.axpy(-1.0, surface, forces);
  return forces;
}

}  // namespace

void CentralDifferences::make_stepper(const AnalysisModel& model, const AnalysisState& state) {
  Work& w = *work_;
  w.stepper_tried = true;
  w.load_vectors.clear();
  w.load_cases.clear();
  ExplicitServices* services = model.backend().find<ExplicitServices>();
  if (!services || !has_plain_loads(model)) return;
  const detail::LoadsOverTime& loads = *bound_loads();
  for (std::size_t c = 0; c < model.domain().load_case_count(); ++c)
    if (loads.has_course(c)) w.load_cases.push_back(c);
  if (w.load_cases.size() + loads.base_count() > ExplicitServices::most_loads) return;
  for (const std::size_t c : w.load_cases) w.load_vectors.push_back(forces_of_case(model, state, c));
  ExplicitSystem system;
  system.model = &model.device_model();
  system.batch_factors = w.inner;
  for (const Vector& load : w.load_vectors) system.loads.push_back(&load);
  for (std::size_t k = 0; k < loads.base_count(); ++k) system.loads.push_back(&loads.base_inertia(k));
  if (w.damps) system.damping = &w.damping_on_device;
  w.stepper = services->make_stepper(system);
}

bool CentralDifferences::advance(const AnalysisModel& model, AnalysisState& state, double step,
                                 std::span<const double> times) {
  Work& w = *work_;
  if (ProcessGroup::of(model)) return false;  // forces of the others are needed after each step
  if (times.empty() || w.moving || w.viscosity || w.next != step || w.last != step || w.formed_for != step)
    return false;
  if (!w.stepper_tried) make_stepper(model, state);
  if (!w.stepper) return false;
  const detail::LoadsOverTime& loads = *bound_loads();
  std::vector<double> factors, of_cases;
  for (const double time : times) {
    of_cases = loads.case_factors(time, step);
    for (const std::size_t c : w.load_cases) factors.push_back(of_cases[c]);
    for (std::size_t k = 0; k < loads.base_count(); ++k) factors.push_back(-loads.base_acceleration(k, time, step));
  }
  ExplicitMotion motion;
  motion.unknowns = &state.unknowns;
  motion.velocity = &w.velocity;
  motion.before = &w.before;
  motion.internal = &w.internal;
  motion.external = &w.external;
  motion.gain = &w.gain;
  motion.keep = w.damps ? &w.keep : nullptr;
  motion.step = step;
  motion.elements = state.elements();
  for (std::size_t k = 0; k < 3; ++k) motion.works[k] = &w.works[k];
  state.history = model.translating([&] { return w.stepper->advance(motion, {times, factors}); });
  state.time = times.back();
  state.time_step = step;
  follow_factors(model, state, std::move(of_cases));
  return true;
}

std::string CentralDifferences::describe_steps() const {
  return work_ && work_->stepper ? work_->stepper->describe() : std::string();
}

}  // namespace voussoir
