#include <voussoir/framework/analysis/first_order_integrators.hpp>

#include <algorithm>
#include <cmath>

#include <voussoir/framework/analysis/detail/loads_over_time.hpp>
#include <voussoir/framework/analysis/process_group.hpp>

namespace voussoir {
namespace {

TimeIntegrator::Coefficients first_order_coefficients(double theta) {
  TimeIntegrator::Coefficients c;
  c.alpha_f = theta;
  return c;
}

/// The divided difference of the second or third order of temperatures at these times.
Vector divided_difference(Backend& backend, const std::vector<const Vector*>& values,
                          const std::vector<double>& times) {
  Vector sum = values.front()->clone();
  backend.fill(sum, 0.0);
  for (std::size_t i = 0; i < values.size(); ++i) {
    double weight = 1;
    for (std::size_t j = 0; j < values.size(); ++j)
      if (j != i) weight /= times[i] - times[j];
    backend.axpy(weight, *values[i], sum);
  }
  return sum;
}

void refuse_without_capacity(const Material& material, const std::string& where) {
  for (const char* name : {"density", "specific_heat"}) {
    const std::string what = std::string(name) == "density" ? "a density" : "a specific heat";
    if (!material.has(name))
      throw Error(ErrorCode::bad_input, "transient heat needs heat capacity, and this material has not " + what, where);
    std::vector<double> temperatures = material.temperatures();
    if (temperatures.empty()) temperatures.push_back(0);
    for (const double temperature : temperatures)
      if (!(material.value(name, temperature) > 0))
        throw Error(ErrorCode::bad_input, "transient heat needs " + what + " greater than 0", where);
  }
}

}  // namespace

FirstOrderIntegrator::FirstOrderIntegrator(double theta, bool three_levels)
    : TimeIntegrator(first_order_coefficients(theta)), three_levels_(three_levels) {}
FirstOrderIntegrator::~FirstOrderIntegrator() = default;

TangentCoefficients FirstOrderIntegrator::coefficients() const {
  if (!(step_ > 0)) throw Error(ErrorCode::misuse, "a step of time must be begun with a time_step greater than 0");
  return {1 - method().alpha_f, 0, weights_.first};
}

void FirstOrderIntegrator::check_model(const AnalysisModel& model) const {
  if (!model.is_thermal())
    throw Error(ErrorCode::bad_input, "the method '" + name() +
                                          "' integrates temperatures, and this model has other unknowns; use "
                                          "'newmark', 'hht' or 'generalised-alpha' for dynamics");
  if (damping().mass != 0 || damping().stiffness != 0)
    throw Error(ErrorCode::bad_input, "Rayleigh damping is for dynamics; heat conduction has none");
  for (std::size_t b = 0; b < model.domain().block_count(); ++b) {
    const auto& block = model.domain().block(b);
    if (block.size() == 0 || !block.material()) continue;
    const std::string where = "material '" + block.material()->name() + "'";
    refuse_without_capacity(*block.material(), where);
    if (!(block.material()->damping() == RayleighDamping{}))
      throw Error(ErrorCode::bad_input, "Rayleigh damping is for dynamics; heat conduction has none", where);
  }
  if (model.constraints().springs.empty()) return;
  for (const auto& spring : model.constraints().springs)
    if (spring.constant != 0)
      throw Error(ErrorCode::bad_input,
                  "temperatures prescribed by penalty are not supported over time; use the constraints "
                  "'transformation'");
}

void FirstOrderIntegrator::set_initial(const AnalysisModel& model, Vector& unknowns) const {
  std::vector<double> values(static_cast<std::size_t>(model.equation_count()));
  for (std::int32_t e = 0; e < model.equation_count(); ++e)
    values[static_cast<std::size_t>(e)] = model.domain().initial_temperature(model.place(e).node);
  unknowns.from_host(values);
}

void FirstOrderIntegrator::begin(const AnalysisModel& model, AnalysisState& state, double step) {
  if (!state.unknowns.layout() || !state.rate.layout())
    throw Error(ErrorCode::misuse, "a state of transient heat needs temperatures and their rates");
  bind(model);
  if (bound_->base_moves()) throw Error(ErrorCode::bad_input, "accelerations of the base do not act on temperatures");
  step_ = step;
  weights_ = {1 / step, 0};
  trial_.reset();
  memory_ = {};
  model.backend().fill(state.rate, 0.0);
  if (loads_) state.case_factors = bound_->case_factors(state.time, step_of(state));
  form_loads(model, state);
}

/// The rate of the trial state as a difference of temperatures, on all equations.
void FirstOrderIntegrator::set_rate(const AnalysisModel& model, AnalysisState& state) const {
  Backend& backend = model.backend();
  const Vector& before = state.committed().unknowns;
  backend.copy(state.unknowns, state.rate);
  backend.axpy(-1.0, before, state.rate);
  backend.scale(weights_.first, state.rate);
  if (weights_.former == 0) return;
  backend.axpy(weights_.former, memory_.accelerations.front(), state.rate);
  backend.axpy(-weights_.former, before, state.rate);
}

void FirstOrderIntegrator::put_supports(const AnalysisModel& model, AnalysisState& state) const {
  Backend& backend = model.backend();
  backend.clear_constrained(model.device_model(), state.unknowns);
  backend.expand_dependencies(model.device_model(), state.unknowns);
  bound_->add_supports(0, state.time, step_of(state), state.unknowns);
}

void FirstOrderIntegrator::begin_step(const AnalysisModel& model, AnalysisState& state) {
  bind(model);
  if (!state.is_committed() || !memory_.internal.layout())
    throw Error(ErrorCode::misuse, "steps of time follow a state that was begun and committed");
  if (!(state.time_step > 0) || !std::isfinite(state.time_step))
    throw Error(ErrorCode::misuse, "a step of time needs a size greater than 0");
  step_ = state.time_step;
  weights_ = {1 / step_, 0};
  if (three_levels_ && !memory_.accelerations.empty()) {
    const double ratio = step_ / state.committed().time_step;
    weights_ = {(1 + 2 * ratio) / ((1 + ratio) * step_), ratio * ratio / ((1 + ratio) * step_)};
  }
  trial_.reset();
  at_rest_ = false;
  Backend& backend = model.backend();
  if (!memory_.reference.layout()) memory_.reference = state.unknowns.clone();
  if (method().alpha_f != 0 && model.depends_on_temperature()) {
    if (!old_capacity_ || old_capacity_of_ != model.serial()) {
      old_capacity_ =
          backend.make_element_operator(model.device_model(), ElementProduct::matrix_free, OperatorEquations::all);
      old_capacity_of_ = model.serial();
    }
    form_mass(model, state, *old_capacity_);
  }
  if (detail::all_linear(model)) {
    backend.axpy(step_, state.rate, state.unknowns);
  } else {
    Vector content = model.make_vector();
    mass_times(model, state, state.unknowns, content);
    content_ = detail::force_norm(model, content) / step_;
  }
  put_supports(model, state);
  set_rate(model, state);
  if (loads_) {
    if (method().alpha_f != 0)
      state.case_factors = bound_->case_factors(state.time, step_);
    else if (three_levels_ || !bound_->meets_kinks())
      state.case_factors = bound_->case_factors_before(state.time, step_);
    else
      state.case_factors = bound_->mean_case_factors(state.time, step_);
  }
  form_loads(model, state);
}

void FirstOrderIntegrator::update(const AnalysisModel& model, const Vector& increment, AnalysisState& state) {
  trial_.reset();
  add_increment(model, 1.0, increment, state.unknowns);
  set_rate(model, state);
  if (model.follows_unknown_temperature()) state.temperature = model.temperatures_from(state.unknowns);
}

void FirstOrderIntegrator::inertia(const AnalysisModel& model, const AnalysisState& state, Vector& y) {
  mass_times(model, state, state.rate, y);
  if (method().alpha_f == 0 || !model.depends_on_temperature() || !state.is_committed()) return;
  // The mean of the capacities of both ends keeps the second order.
  Vector of_old = model.make_vector();
  model.translating([&] { old_capacity_->apply(state.rate, of_old); });
  model.backend().scale(0.5, y);
  model.backend().axpy(0.5, of_old, y);
}

/// C r + (1 − θ) (f − q)₁ + θ (f − q)₀ of the trial state on all equations: at supports, the heat that comes in there.
Vector FirstOrderIntegrator::balance_of_step(const AnalysisModel& model) const {
  Backend& backend = model.backend();
  const double theta = method().alpha_f;
  Vector r = trial_->inertial.clone();
  backend.axpy(1 - theta, trial_->internal, r);
  backend.axpy(theta - 1, trial_->external, r);
  if (theta == 0) return r;
  backend.axpy(theta, memory_.internal, r);
  backend.axpy(-theta, memory_.external, r);
  return r;
}

void FirstOrderIntegrator::add_work(const AnalysisModel& model, const AnalysisState& state) {
  Backend& backend = model.backend();
  const double theta = method().alpha_f, h = state.time_step;
  memory_.balance = balance_of_step(model);
  Vector ones = model.make_vector();
  backend.fill(ones, 1.0);
  HeatAccount& heat = memory_.heat;
  heat.stored += h * detail::work_of(model, trial_->inertial, ones);
  double loads = (1 - theta) * detail::work_of(model, trial_->external, ones);
  if (theta != 0) loads += theta * detail::work_of(model, memory_.external, ones);
  heat.loads += h * loads;
  // What dependent equations have left is that of the equations that they follow.
  Vector supports = memory_.balance.clone();
  backend.reduce_dependencies(model.device_model(), supports);
  Vector free = supports.clone();
  backend.clear_constrained(model.device_model(), free);
  backend.axpy(-1.0, free, supports);
  heat.supports += h * detail::work_of(model, supports, ones);
}

Vector FirstOrderIntegrator::out_of_balance(const AnalysisModel& model, const AnalysisState& state) {
  if (memory_.balance.layout() && state.is_committed() && state.time == state.committed().time)
    return memory_.balance.clone();
  return TimeIntegrator::out_of_balance(model, state);
}

double FirstOrderIntegrator::force_scale(const AnalysisModel& model) const {
  return 0.1 * TimeIntegrator::force_scale(model) + 0.01 * content_;
}

void FirstOrderIntegrator::extrapolate(const AnalysisModel& model, const AnalysisState&, Vector& increment) const {
  model.backend().fill(increment, 0.0);  // the trial state is extrapolated itself
}

double FirstOrderIntegrator::error_estimate(const AnalysisModel& model, const AnalysisState& state) {
  Backend& backend = model.backend();
  const StateValues& before = state.committed();
  if (memory_.accelerations.empty()) return 0;
  std::vector<const Vector*> values{&state.unknowns, &before.unknowns};
  std::vector<double> times{state.time, before.time};
  const bool second_order = method().alpha_f != 0 || three_levels_;
  const std::size_t former = second_order ? std::min<std::size_t>(2, memory_.accelerations.size()) : 1;
  for (std::size_t k = 0; k < former; ++k) {
    values.push_back(&memory_.accelerations[k]);
    times.push_back(memory_.times[k]);
  }
  // Backward Euler: h² T''/2. Crank-Nicolson: h³ T'''/12. BDF2: h² (h + h₀)² / (2 h + h₀) T'''/6.
  const double h = times[0] - times[1], last = times[1] - times[2];
  const double factor = former == 1     ? h * h
                        : three_levels_ ? h * h * (h + last) * (h + last) / (2 * h + last)
                                        : h * h * h / 2;
  Vector e = divided_difference(backend, values, times), image = model.make_vector();
  backend.clear_constrained(model.device_model(), e);
  mass_times(model, state, e, image);
  const double error = factor * std::sqrt(std::max(0.0, detail::work_of(model, image, e)));
  // Differences of temperatures that hardly change are rounding, however small the step.
  mass_times(model, state, state.unknowns, image);
  const double rounding = 1e-10 * std::sqrt(std::max(0.0, detail::work_of(model, image, state.unknowns)));
  return error > rounding ? error : 0;
}

double FirstOrderIntegrator::displacement_measure(const AnalysisModel& model, const AnalysisState& state) {
  if (!memory_.reference.layout()) return 0;
  Vector change = state.unknowns.clone(), image = model.make_vector();
  model.backend().axpy(-1.0, memory_.reference, change);
  mass_times(model, state, change, image);
  return std::sqrt(std::max(0.0, detail::work_of(model, image, change)));
}

}  // namespace voussoir
