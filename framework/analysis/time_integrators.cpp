#include <voussoir/framework/analysis/time_integrators.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <voussoir/backends/number_text.hpp>
#include <voussoir/framework/analysis/detail/energy_parts.hpp>
#include <voussoir/framework/analysis/detail/loads_over_time.hpp>
#include <voussoir/framework/analysis/process_group.hpp>

namespace voussoir {

double EnergyBalance::scale() const {
  return std::max({std::abs(kinetic), std::abs(internal), std::abs(external), std::abs(damping), std::abs(initial),
                   std::abs(viscous)});
}

namespace {

/// Former accelerations that are kept for extrapolation, beyond that of the state.
constexpr std::size_t most_former = 2;

Vector cleared(const AnalysisModel& model) {
  Vector x = model.make_vector();
  model.backend().fill(x, 0.0);
  return x;
}

Vector copy_of(const Vector& x) { return x.layout() ? x.clone() : Vector(); }

/// y += factor · x, where x may be absent.
void add_where(Backend& backend, double factor, const Vector& x, Vector& y) {
  if (factor != 0 && x.layout()) backend.axpy(factor, x, y);
}

/// Factors of batches of one kind; other batches have 0.
template <class Takes>
std::vector<double> factors_where(const AnalysisModel& model, const AnalysisState& state, const Takes& takes) {
  auto factors = model.batch_factors(state.case_factors);
  for (std::size_t b = 0; b < factors.size(); ++b)
    if (!takes(model.batches()[b])) factors[b] = 0;
  return factors;
}

bool is_surface_load(const BatchOrigin& batch) { return batch.kind == BatchOrigin::Kind::surface_load; }

TimeIntegrator::Coefficients newmark_coefficients(double beta, double gamma) {
  if (!(gamma >= 0.5) || !(beta >= 0.25 * (0.5 + gamma) * (0.5 + gamma) * (1 - 1e-12)))
    throw Error(ErrorCode::bad_input,
                "Newmark's method is stable for steps of any size if gamma >= 1/2 and beta >= (1/2 + gamma)^2 / 4; "
                "given are beta = " +
                    short_number(beta, 9) + " and gamma = " + short_number(gamma, 9));
  return {0, 0, beta, gamma};
}

TimeIntegrator::Coefficients hht_coefficients(double alpha) {
  if (!(alpha >= -1.0 / 3 - 1e-12 && alpha <= 0))
    throw Error(ErrorCode::bad_input, "alpha of the method of Hilber, Hughes and Taylor is from -1/3 to 0; given is " +
                                          short_number(alpha, 9));
  return {0, -alpha, (1 - alpha) * (1 - alpha) / 4, 0.5 - alpha};
}

TimeIntegrator::Coefficients alpha_coefficients(double radius) {
  if (!(radius >= 0 && radius <= 1))
    throw Error(ErrorCode::bad_input, "the spectral radius of the generalised-alpha method is from 0 to 1; given is " +
                                          short_number(radius, 9));
  const double m = (2 * radius - 1) / (radius + 1), f = radius / (radius + 1);
  return {m, f, (1 - m + f) * (1 - m + f) / 4, 0.5 - m + f};
}

}  // namespace

NewmarkIntegrator::NewmarkIntegrator(double beta, double gamma) : TimeIntegrator(newmark_coefficients(beta, gamma)) {}
HhtIntegrator::HhtIntegrator(double alpha) : TimeIntegrator(hht_coefficients(alpha)) {}
GeneralisedAlphaIntegrator::GeneralisedAlphaIntegrator(double spectral_radius)
    : TimeIntegrator(alpha_coefficients(spectral_radius)), radius_(spectral_radius) {}

TimeIntegrator::TimeIntegrator(const Coefficients& method) : method_(method) {}
TimeIntegrator::~TimeIntegrator() = default;

TimeIntegrator::Memory TimeIntegrator::Memory::clone() const {
  Memory copy{copy_of(internal), copy_of(external), copy_of(damping), copy_of(inertial), {}, times, energies, heat,
              copy_of(balance),  copy_of(reference)};
  for (const Vector& a : accelerations) copy.accelerations.push_back(copy_of(a));
  return copy;
}

void TimeIntegrator::set_loads(std::shared_ptr<const TimeLoads> loads, double start) {
  loads_ = std::move(loads);
  start_ = start;
  bound_.reset();
}

TangentCoefficients TimeIntegrator::coefficients() const {
  if (initial_stiffness_ >= 0) return {initial_stiffness_, 0, 1};
  if (!(step_ > 0)) throw Error(ErrorCode::misuse, "a step of time must be begun with a time_step greater than 0");
  return {1 - method_.alpha_f, (1 - method_.alpha_f) * method_.gamma / (method_.beta * step_),
          (1 - method_.alpha_m) / (method_.beta * step_ * step_)};
}

void TimeIntegrator::bind(const AnalysisModel& model) {
  if (bound_ && bound_to_ == model.serial()) return;
  Backend& backend = model.backend();
  const auto make = [&] {
    return backend.make_element_operator(model.device_model(), ElementProduct::matrix_free, OperatorEquations::all);
  };
  mass_ = make();
  damping_matrix_ = make();
  mass_formed_ = false;
  AnalysisState none;
  static const TimeLoads nothing;
  bound_ = std::make_unique<detail::LoadsOverTime>(model, loads_ ? *loads_ : nothing, start_,
                                                   [&](const Vector& x, Vector& y) { mass_times(model, none, x, y); });
  bound_to_ = model.serial();
}

void TimeIntegrator::form_mass(const AnalysisModel& model, const AnalysisState& state, ElementOperator& mass) const {
  std::vector<double> factors;
  for (const BatchOrigin& origin : model.batches()) factors.push_back(origin.kind == BatchOrigin::Kind::block ? 1 : 0);
  MatrixTerms terms;
  terms.stiffness = 0;
  terms.mass = 1;
  terms.mass_kind = mass_kind();
  terms.batch_factors = factors;
  const ElementState elements = state.unknowns.layout() ? state.elements() : ElementState{};
  model.translating([&] { model.backend().assemble(model.device_model(), elements, terms, mass); });
}

void TimeIntegrator::mass_times(const AnalysisModel& model, const AnalysisState& state, const Vector& x, Vector& y) {
  // Densities may follow temperatures.
  if (!mass_formed_ || model.depends_on_temperature()) {
    form_mass(model, state, *mass_);
    mass_formed_ = true;
  }
  model.translating([&] { mass_->apply(x, y); });
}

/// y += C v; false, and y untouched, where nothing damps.
bool TimeIntegrator::add_damping(const AnalysisModel& model, const AnalysisState& state, const Vector& v, Vector& y) {
  const DampingFactors factors = damping_factors(model, damping());
  const auto zero = [](const std::vector<double>& list) {
    return std::all_of(list.begin(), list.end(), [](double f) { return f == 0; });
  };
  if (zero(factors.stiffness) && zero(factors.mass)) return false;
  Vector product = model.make_vector();
  model.translating([&] {
    model.backend().assemble(model.device_model(), state.elements(), factors.terms(mass_kind()), *damping_matrix_);
    damping_matrix_->apply(v, product);
  });
  model.backend().axpy(1.0, product, y);
  return true;
}

double TimeIntegrator::step_of(const AnalysisState& state) const {
  return state.time_step > 0 ? state.time_step : step_;
}

void TimeIntegrator::check_model(const AnalysisModel& model) const {
  if (model.is_thermal() || model.follows_unknown_temperature())
    throw Error(ErrorCode::bad_input,
                "dynamics needs displacements; this model has temperatures as unknowns: use a method of first order, "
                "such as 'backward-euler', 'crank-nicolson' or 'bdf2'");
}

void TimeIntegrator::set_initial(const AnalysisModel&, Vector&) const {}

void TimeIntegrator::inertia(const AnalysisModel& model, const AnalysisState& state, Vector& y) {
  mass_times(model, state, state.second_rate, y);
}

void TimeIntegrator::put_supports(const AnalysisModel& model, AnalysisState& state) const {
  Backend& backend = model.backend();
  Vector* const motion[] = {&state.unknowns, &state.rate, &state.second_rate};
  for (int derivative = 0; derivative < 3; ++derivative) {
    backend.clear_constrained(model.device_model(), *motion[derivative]);
    backend.expand_dependencies(model.device_model(), *motion[derivative]);
    bound_->add_supports(derivative, state.time, step_of(state), *motion[derivative]);
  }
}

void TimeIntegrator::begin(const AnalysisModel& model, AnalysisState& state, double step) {
  if (!state.unknowns.layout() || !state.rate.layout() || !state.second_rate.layout())
    throw Error(ErrorCode::misuse, "a state of dynamics needs displacements, velocities and accelerations");
  bind(model);
  step_ = step;
  trial_.reset();
  memory_ = {};
  put_supports(model, state);
  if (loads_) state.case_factors = bound_->case_factors(state.time, step_of(state));
  form_loads(model, state);
}

void TimeIntegrator::begin_initial(double stiffness) { initial_stiffness_ = stiffness; }

void TimeIntegrator::finish_initial(const AnalysisModel& model, const AnalysisState& state, double strain_energy) {
  initial_stiffness_ = -1;
  measure(model, state);
  memory_ = {};
  EnergyBalance& e = memory_.energies;
  if (with_energies_) {
    Vector momentum = model.make_vector();
    mass_times(model, state, state.rate, momentum);
    e.kinetic = 0.5 * detail::work_of(model, momentum, state.rate);
    e.internal = strain_energy;
    e.initial = e.kinetic + e.internal;
  }
}

void TimeIntegrator::begin_step(const AnalysisModel& model, AnalysisState& state) {
  bind(model);
  if (!state.is_committed() || !memory_.internal.layout())
    throw Error(ErrorCode::misuse, "steps of time follow a state that was begun, balanced and committed");
  if (!(state.time_step > 0) || !std::isfinite(state.time_step))
    throw Error(ErrorCode::misuse, "a step of time needs a size greater than 0");
  step_ = state.time_step;
  initial_stiffness_ = -1;
  trial_.reset();
  Backend& backend = model.backend();
  const double h = step_;
  backend.axpy(h, state.rate, state.unknowns);
  backend.axpy(h * h * (0.5 - method_.beta), state.second_rate, state.unknowns);
  backend.axpy(h * (1 - method_.gamma), state.second_rate, state.rate);
  backend.fill(state.second_rate, 0.0);
  at_rest_ = !bound_->supports_move();
  put_supports(model, state);
  if (loads_) state.case_factors = bound_->case_factors(state.time, h);
  form_loads(model, state);
}

void TimeIntegrator::form_unbalance(const AnalysisModel& model, const AnalysisState& state, Vector& b) {
  Backend& backend = model.backend();
  trial_.reset();
  backend.copy(state.loads, b);
  backend.scale(-1.0, b);
  const auto factors = model.batch_factors(state.case_factors);
  model.translating([&] { backend.residual(model.device_model(), state.elements(), factors, false, b); });
  bound_->add_base_inertia(state.time, step_of(state), b);
  add_damping(model, state, state.rate, b);
  const bool initial = initial_stiffness_ >= 0;
  const double f = initial ? 0 : method_.alpha_f, m = initial ? 0 : method_.alpha_m;
  backend.scale(-(1 - f), b);
  if (f != 0) {
    backend.axpy(-f, memory_.internal, b);
    backend.axpy(f, memory_.external, b);
    add_where(backend, -f, memory_.damping, b);
  }
  if (!at_rest_ || initial) {
    Vector inertia = model.make_vector();
    this->inertia(model, state, inertia);
    backend.axpy(-(1 - m), inertia, b);
  }
  if (m != 0) add_where(backend, -m, memory_.inertial, b);
  backend.reduce_dependencies(model.device_model(), b);
  backend.clear_constrained(model.device_model(), b);
}

void TimeIntegrator::update(const AnalysisModel& model, const Vector& increment, AnalysisState& state) {
  Backend& backend = model.backend();
  trial_.reset();
  at_rest_ = false;
  Vector full = model.make_vector();
  backend.copy(increment, full);
  backend.clear_constrained(model.device_model(), full);
  backend.expand_dependencies(model.device_model(), full);
  if (initial_stiffness_ >= 0) {
    backend.axpy(1.0, full, state.second_rate);
    return;
  }
  backend.axpy(1.0, full, state.unknowns);
  backend.axpy(method_.gamma / (method_.beta * step_), full, state.rate);
  backend.axpy(1 / (method_.beta * step_ * step_), full, state.second_rate);
}

/// Forces of the trial state, which commit() takes over.
void TimeIntegrator::measure(const AnalysisModel& model, const AnalysisState& state) {
  Backend& backend = model.backend();
  trial_ = std::make_unique<Forces>();
  trial_->internal = cleared(model);
  const auto inner = factors_where(model, state, [](const BatchOrigin& batch) { return !is_surface_load(batch); });
  model.translating([&] { backend.residual(model.device_model(), state.elements(), inner, false, trial_->internal); });
  trial_->external = cleared(model);
  if (std::any_of(model.batches().begin(), model.batches().end(), is_surface_load)) {
    const auto outer = factors_where(model, state, is_surface_load);
    model.translating(
        [&] { backend.residual(model.device_model(), state.elements(), outer, false, trial_->external); });
  }
  bound_->add_base_inertia(state.time, step_of(state), trial_->external);
  backend.scale(-1.0, trial_->external);
  backend.axpy(1.0, state.loads, trial_->external);
  Vector damping = cleared(model);
  if (add_damping(model, state, state.rate, damping)) trial_->damping = std::move(damping);
  trial_->inertial = model.make_vector();
  inertia(model, state, trial_->inertial);
}

double TimeIntegrator::relative_unbalance(const AnalysisModel& model, const AnalysisState& state) {
  Backend& backend = model.backend();
  if (!trial_) measure(model, state);
  const double f = method_.alpha_f, m = method_.alpha_m;
  Vector r = cleared(model);
  backend.axpy(1 - f, trial_->internal, r);
  backend.axpy(f - 1, trial_->external, r);
  add_where(backend, 1 - f, trial_->damping, r);
  backend.axpy(1 - m, trial_->inertial, r);
  backend.axpy(f, memory_.internal, r);
  backend.axpy(-f, memory_.external, r);
  add_where(backend, f, memory_.damping, r);
  add_where(backend, m, memory_.inertial, r);
  backend.reduce_dependencies(model.device_model(), r);
  backend.clear_constrained(model.device_model(), r);
  double largest = 0;
  for (const Vector* force : {&trial_->internal, &trial_->external, &trial_->damping, &trial_->inertial})
    largest = std::max(largest, detail::force_norm(model, *force));
  const double left = detail::force_norm(model, r);
  return left == 0 ? 0 : left / largest;
}

double TimeIntegrator::force_scale(const AnalysisModel& model) const {
  double largest = 0;
  for (const Vector* force : {&memory_.internal, &memory_.external, &memory_.damping, &memory_.inertial})
    largest = std::max(largest, detail::force_norm(model, *force));
  return largest;
}

void TimeIntegrator::add_work(const AnalysisModel& model, const AnalysisState& state) {
  Backend& backend = model.backend();
  EnergyBalance& e = memory_.energies;
  const StateValues& before = state.committed();
  Vector motion = state.unknowns.clone();
  backend.axpy(-1.0, before.unknowns, motion);
  const auto work = [&](const Vector& a, const Vector& b, const Vector& along) {
    return 0.5 * (detail::work_of(model, a, along) + detail::work_of(model, b, along));
  };
  if (const std::optional<double> stored = detail::stored_energy(model, state))
    e.internal = *stored;
  else
    e.internal += work(memory_.internal, trial_->internal, motion);
  e.external += work(memory_.external, trial_->external, motion);
  e.damping += work(memory_.damping, trial_->damping, motion);
  if (bound_->supports_move()) {
    // What supports push with is what all other forces leave there.
    Vector moved = cleared(model), ends = cleared(model);
    bound_->add_supports(0, before.time, state.time_step, moved);
    backend.scale(-1.0, moved);
    bound_->add_supports(0, state.time, state.time_step, moved);
    for (const Vector* force : {&memory_.internal, &trial_->internal, &memory_.damping, &trial_->damping,
                                &memory_.inertial, &trial_->inertial})
      add_where(backend, 0.5, *force, ends);
    backend.axpy(-0.5, memory_.external, ends);
    backend.axpy(-0.5, trial_->external, ends);
    e.external += detail::work_of(model, ends, moved);
  }
  Vector momentum = model.make_vector();
  mass_times(model, state, state.rate, momentum);
  e.kinetic = 0.5 * detail::work_of(model, momentum, state.rate);
}

void TimeIntegrator::commit(const AnalysisModel& model, AnalysisState& state) {
  if (!trial_) measure(model, state);
  const bool first = !state.is_committed() || !memory_.internal.layout();
  if (!first) {
    if (with_energies_) add_work(model, state);
    memory_.accelerations.insert(memory_.accelerations.begin(), kept_of(state.committed()).clone());
    memory_.times.insert(memory_.times.begin(), state.committed().time);
    if (memory_.accelerations.size() > most_former) {
      memory_.accelerations.pop_back();
      memory_.times.pop_back();
    }
  }
  memory_.internal = std::move(trial_->internal);
  memory_.external = std::move(trial_->external);
  memory_.damping = std::move(trial_->damping);
  memory_.inertial = std::move(trial_->inertial);
  trial_.reset();
  Integrator::commit(model, state);
}

void TimeIntegrator::revert(const AnalysisModel& model, AnalysisState& state) {
  trial_.reset();
  Integrator::revert(model, state);
}

Vector TimeIntegrator::out_of_balance(const AnalysisModel& model, const AnalysisState& state) {
  bind(model);
  if (needs_initial_rates() && memory_.internal.layout() && state.is_committed() &&
      state.time == state.committed().time) {
    // What was measured has all forces, those of bulk viscosity and of added mass included.
    Backend& backend = model.backend();
    Vector r = memory_.internal.clone();
    backend.axpy(-1.0, memory_.external, r);
    add_where(backend, 1.0, memory_.damping, r);
    add_where(backend, 1.0, memory_.inertial, r);
    return r;
  }
  Vector r = Integrator::out_of_balance(model, state);
  bound_->add_base_inertia(state.time, step_of(state), r);
  return r;
}

void TimeIntegrator::extrapolate(const AnalysisModel& model, const AnalysisState& state, Vector& increment) const {
  Backend& backend = model.backend();
  const StateValues& last = state.committed();
  std::vector<const Vector*> values{&last.second_rate};
  std::vector<double> times{last.time};
  for (std::size_t k = 0; k < memory_.accelerations.size(); ++k) {
    values.push_back(&memory_.accelerations[k]);
    times.push_back(memory_.times[k]);
  }
  backend.fill(increment, 0.0);
  for (std::size_t i = 0; i < values.size(); ++i) {
    double weight = method_.beta * step_ * step_;
    for (std::size_t j = 0; j < values.size(); ++j)
      if (j != i) weight *= (state.time - times[j]) / (times[i] - times[j]);
    backend.axpy(weight, *values[i], increment);
  }
  backend.clear_constrained(model.device_model(), increment);
}

double TimeIntegrator::error_estimate(const AnalysisModel& model, const AnalysisState& state) {
  Backend& backend = model.backend();
  Vector e = state.second_rate.clone(), image = model.make_vector();
  backend.axpy(-1.0, state.committed().second_rate, e);
  backend.clear_constrained(model.device_model(), e);
  mass_times(model, state, e, image);
  const double factor = std::max(std::abs(method_.beta - 1.0 / 6), 1.0 / 24) * step_ * step_;
  return factor * std::sqrt(std::max(0.0, detail::work_of(model, image, e)));
}

double TimeIntegrator::displacement_measure(const AnalysisModel& model, const AnalysisState& state) {
  Vector image = model.make_vector();
  mass_times(model, state, state.unknowns, image);
  return std::sqrt(std::max(0.0, detail::work_of(model, image, state.unknowns)));
}

bool TimeIntegrator::supports_move() const { return bound_ && bound_->supports_move(); }
bool TimeIntegrator::base_moves() const { return bound_ && bound_->base_moves(); }
std::vector<std::string> TimeIntegrator::load_notes() const {
  return bound_ ? bound_->notes() : std::vector<std::string>();
}

NodalField TimeIntegrator::motion(const AnalysisModel& model, const AnalysisState& state, int derivative,
                                  bool absolute) {
  static const char* const names[] = {"", "velocity", "acceleration"};
  if (derivative < 0 || derivative > 2)
    throw Error(ErrorCode::misuse, "motions are displacements (0), velocities (1) and accelerations (2)");
  const Vector& own = derivative == 0 ? state.unknowns : derivative == 1 ? state.rate : state.second_rate;
  Vector shown;
  if (absolute && base_moves()) {
    shown = own.clone();
    bound_->add_base_motion(derivative, state.time, step_of(state), shown);
  }
  const std::vector<double> values = (shown.layout() ? shown : own).to_host();
  const auto& unknowns = model.unknown_names();
  NodalField field{derivative == 0 ? field_name(unknowns) : names[derivative], unknowns, {}};
  field.values.assign(static_cast<std::size_t>(model.domain().node_count()) * unknowns.size(),
                      std::numeric_limits<double>::quiet_NaN());
  for (std::int32_t e = 0; e < model.equation_count(); ++e) {
    const auto at = model.place(e);
    field.values[static_cast<std::size_t>(at.node) * unknowns.size() + static_cast<std::size_t>(at.component)] =
        values[static_cast<std::size_t>(e)];
  }
  return field;
}

}  // namespace voussoir
