#include <voussoir/framework/analysis/central_differences.hpp>

#include <algorithm>
#include <cmath>

#include <voussoir/backends/splitmix64.hpp>
#include <voussoir/framework/analysis/detail/central_work.hpp>
#include <voussoir/framework/analysis/detail/energy_parts.hpp>
#include <voussoir/framework/analysis/detail/loads_over_time.hpp>
#include <voussoir/framework/analysis/detail/stable_step.hpp>
#include <voussoir/framework/analysis/process_group.hpp>

namespace voussoir {

CentralDifferences::CentralDifferences() : TimeIntegrator({0, 0, 0, 0.5}) { set_mass_kind(MassKind::lumped); }
CentralDifferences::~CentralDifferences() = default;

namespace {

[[noreturn]] void refuse_implicit_use() {
  throw Error(ErrorCode::misuse, "central differences need no systems of equations; use them by an ExplicitAnalysis");
}

/// The diagonal of Σ factor · lumped M of the batches. Products with two vectors show whether it is diagonal.
std::vector<double> lumped_diagonal(const AnalysisModel& model, const AnalysisState& state,
                                    const std::vector<double>& factors) {
  Backend& backend = model.backend();
  const auto matrix =
      backend.make_element_operator(model.device_model(), ElementProduct::matrix_free, OperatorEquations::all);
  MatrixTerms terms;
  terms.stiffness = 0;
  terms.mass = 1;
  terms.mass_kind = MassKind::lumped;
  terms.batch_factors = factors;
  Vector x = model.make_vector(), y = model.make_vector();
  model.translating([&] { backend.assemble(model.device_model(), state.elements(), terms, *matrix); });
  backend.fill(x, 1.0);
  model.translating([&] { matrix->apply(x, y); });
  std::vector<double> diagonal = y.to_host(), probe(diagonal.size());
  std::uint64_t seed = 0;
  for (double& value : probe) value = symmetric_unit(splitmix64(seed += splitmix_increment));
  x.from_host(probe);
  model.translating([&] { matrix->apply(x, y); });
  const std::vector<double> image = y.to_host();
  double largest = 0;
  for (const double value : diagonal) largest = std::max(largest, std::abs(value));
  for (std::size_t e = 0; e < probe.size(); ++e)
    if (!(std::abs(image[e] - diagonal[e] * probe[e]) <= 1e-12 * largest))
      throw Error(ErrorCode::bad_input,
                  "the lumped mass of an element is not diagonal here, and explicit dynamics needs a diagonal one",
                  model.equation_label(static_cast<std::int32_t>(e)));
  return diagonal;
}

void require_no_equations(const AnalysisModel& model) {
  if (model.constraints().dependent.empty()) return;
  throw Error(ErrorCode::bad_input,
              "explicit dynamics takes supports along the unknowns alone; this unknown belongs to a multi-point "
              "equation, a rigid body, or a support along another direction: use implicit dynamics, or constraints by "
              "penalty",
              model.equation_label(model.constraints().dependent.front().equation));
}

void require_no_stiffness_damping(const AnalysisModel& model, const DampingFactors& factors) {
  for (std::size_t b = 0; b < factors.stiffness.size(); ++b)
    if (factors.stiffness[b] != 0)
      throw Error(
          ErrorCode::bad_input,
          "damping by the stiffness is not diagonal, and explicit dynamics takes damping by the mass alone; set "
          "beta to 0, or use implicit dynamics",
          "block '" + model.domain().block(model.batches()[b].block).name() + "'");
}

void fill_zero(Backend& backend, const AnalysisModel& model, Vector& x) {
  if (!x.layout()) x = model.make_vector();
  backend.fill(x, 0.0);
}

}  // namespace

void CentralDifferences::begin_step(const AnalysisModel&, AnalysisState&) { refuse_implicit_use(); }
void CentralDifferences::form_unbalance(const AnalysisModel&, const AnalysisState&, Vector&) { refuse_implicit_use(); }
void CentralDifferences::update(const AnalysisModel&, const Vector&, AnalysisState&) { refuse_implicit_use(); }

void CentralDifferences::form_mass(const AnalysisModel& model, const AnalysisState& state) {
  Work& w = *work_;
  std::vector<double> blocks;
  for (const BatchOrigin& origin : model.batches())
    blocks.push_back(origin.kind == BatchOrigin::Kind::block ? 1.0 : 0.0);
  w.mass = lumped_diagonal(model, state, blocks);
  w.mass_on_device = model.make_vector();
  w.mass_on_device.from_host(w.mass);
  ProcessGroup* const group = ProcessGroup::of(model);
  if (group) group->assemble(model, w.mass);
  const DampingFactors factors = damping_factors(model, damping());
  require_no_stiffness_damping(model, factors);
  w.damps =
      detail::on_any(model, std::any_of(factors.mass.begin(), factors.mass.end(), [](double f) { return f != 0; }));
  if (w.damps) {
    w.damping = lumped_diagonal(model, state, factors.mass);
    w.damping_on_device = model.make_vector();
    w.damping_on_device.from_host(w.damping);
    if (group) group->assemble(model, w.damping);
  }
  w.free.resize(w.mass.size());
  for (std::size_t e = 0; e < w.mass.size(); ++e) {
    const auto equation = static_cast<std::int32_t>(e);
    w.free[e] = model.is_free(equation);
    if (w.free[e] && !(w.mass[e] > 0))
      throw Error(
          ErrorCode::bad_input,
          "this unknown has no mass, and explicit dynamics needs one; give the material a density, or prescribe "
          "the unknown",
          model.equation_label(equation));
    if (w.damps && w.damping[e] < 0)
      throw Error(ErrorCode::bad_input, "damping is negative here", model.equation_label(equation));
  }
}

void CentralDifferences::prepare(const AnalysisModel& model, const AnalysisState& state) {
  require_no_equations(model);
  if (mass_kind() != MassKind::lumped) throw Error(ErrorCode::bad_input, "explicit dynamics needs lumped masses");
  work_ = std::make_unique<Work>();
  Work& w = *work_;
  form_mass(model, state);
  std::vector<double> mask(w.mass.size());
  for (std::size_t e = 0; e < mask.size(); ++e) mask[e] = w.free[e] ? 0.0 : 1.0;
  w.prescribed = model.make_vector();
  w.prescribed.from_host(mask);
  const auto& batches = model.batches();
  w.with_surfaces = std::any_of(batches.begin(), batches.end(),
                                [](const BatchOrigin& batch) { return batch.kind == BatchOrigin::Kind::surface_load; });
  w.gain = model.make_vector();
  w.keep = model.make_vector();
  for (Vector* x : {&w.scratch, &w.other, &w.rate, &w.second_rate, &w.ones}) *x = model.make_vector();
  model.backend().fill(w.ones, 1.0);
  if (viscosity_.acts()) w.viscosity = std::make_unique<detail::ViscousForces>(model, viscosity_);
}

void CentralDifferences::set_bulk_viscosity(const BulkViscosity& viscosity) {
  for (const double coefficient : {viscosity.linear, viscosity.quadratic})
    if (!(coefficient >= 0) || !std::isfinite(coefficient))
      throw Error(ErrorCode::bad_input, "the coefficients of bulk viscosity must be finite and not negative",
                  "explicit dynamics, bulk viscosity");
  viscosity_ = viscosity;
}

double CentralDifferences::viscous_rate(const AnalysisModel& model, const AnalysisState& state, int& products) const {
  if (!work_ || !work_->viscosity) return 0;
  const detail::ViscousForces::Matrix matrix = work_->viscosity->unit_matrix(state.unknowns);
  return detail::largest_eigenvalue(
      model, inverse_root_mass(model), [&](const Vector& x, Vector& y) { work_->viscosity->multiply(matrix, x, y); },
      products);
}

double CentralDifferences::viscous_ratio() const {
  return work_ && work_->viscosity ? work_->viscosity->largest_ratio() : 0.0;
}

void CentralDifferences::probe_viscosity(const AnalysisModel&, const AnalysisState& state) {
  if (work_ && work_->viscosity) work_->viscosity->form(state.unknowns, state.rate, work_->scratch);
}

const std::vector<double>& CentralDifferences::masses() const {
  if (!work_) throw Error(ErrorCode::misuse, "central differences have masses after prepare()");
  return work_->mass;
}

void CentralDifferences::add_mass(const AnalysisModel& model, const std::vector<double>& added) {
  Work& w = *work_;
  if (added.size() != w.mass.size()) throw Error(ErrorCode::misuse, "every equation needs a number of added mass");
  w.mass = w.mass_on_device.to_host();
  for (std::size_t e = 0; e < added.size(); ++e) w.mass[e] += added[e];
  w.mass_on_device.from_host(w.mass);
  if (ProcessGroup* const group = ProcessGroup::of(model)) group->assemble(model, w.mass);
  w.formed_for = 0;
}

Vector CentralDifferences::inverse_root_mass(const AnalysisModel& model) const {
  std::vector<double> values(work_->mass.size(), 0.0);
  for (std::size_t e = 0; e < values.size(); ++e)
    if (work_->free[e]) values[e] = 1 / std::sqrt(work_->mass[e]);
  Vector made = model.make_vector();
  made.from_host(values);
  return made;
}

/// gain = a0 / h, keep = −a2; at the first step, half a step from the velocity at the state itself.
void CentralDifferences::set_coefficients(double step, bool first) {
  Work& w = *work_;
  if (!first && step == w.formed_for) return;
  std::vector<double> gain(w.mass.size(), 0.0), keep(gain);
  for (std::size_t e = 0; e < gain.size(); ++e) {
    if (!w.free[e]) continue;
    const double mass = w.mass[e], half = w.damps ? 0.5 * w.damping[e] : 0.0;
    gain[e] = first ? 0.5 * step / mass : 1 / (mass / step + half);
    keep[e] = first ? 1 - step * half / mass : gain[e] * (mass / step - half);
  }
  w.gain.from_host(gain);
  w.keep.from_host(keep);
  w.formed_for = first ? 0 : step;
}

/// Loads of the state and factors of batches for factors of load cases.
void CentralDifferences::follow_factors(const AnalysisModel& model, AnalysisState& state, std::vector<double> factors) {
  Work& w = *work_;
  state.case_factors = std::move(factors);
  if (state.loads.layout() && state.case_factors == w.formed_factors) return;
  form_loads(model, state);
  w.formed_factors = state.case_factors;
  w.inner = w.outer = model.batch_factors(state.case_factors);
  for (std::size_t b = 0; b < w.inner.size(); ++b)
    (model.batches()[b].kind == BatchOrigin::Kind::surface_load ? w.inner : w.outer)[b] = 0;
}

/// Internal and external forces at the state, and its loads. Bulk viscosity acts by the velocities of the step that led
/// to the state.
void CentralDifferences::form_forces(const AnalysisModel& model, AnalysisState& state, const Vector& velocity) {
  Work& w = *work_;
  Backend& backend = model.backend();
  const detail::LoadsOverTime& loads = *bound_loads();
  const double step = state.time_step > 0 ? state.time_step : w.next;
  follow_factors(model, state, loads.case_factors(state.time, step));
  fill_zero(backend, model, w.internal);
  model.translating([&] { backend.residual(model.device_model(), state.elements(), w.inner, false, w.internal); });
  if (w.viscosity) {
    if (!w.viscous.layout()) w.viscous = model.make_vector();
    w.viscosity->form(state.unknowns, velocity, w.viscous);
    backend.axpy(1.0, w.viscous, w.internal);
  }
  if (!w.external.layout()) w.external = model.make_vector();
  backend.copy(state.loads, w.external);
  if (!w.with_surfaces && !loads.base_moves()) return;
  backend.fill(w.scratch, 0.0);
  if (w.with_surfaces)
    model.translating([&] { backend.residual(model.device_model(), state.elements(), w.outer, false, w.scratch); });
  loads.add_base_inertia(state.time, step, w.scratch);
  backend.axpy(-1.0, w.scratch, w.external);
}

/// Velocities of supports over the next step: where they are to be at its end, less where they are.
void CentralDifferences::put_support_velocities(const AnalysisModel& model, const AnalysisState& state, double next) {
  Work& w = *work_;
  Backend& backend = model.backend();
  backend.multiply(w.prescribed, state.unknowns, w.scratch);
  backend.scale(-1.0, w.scratch);
  bound_loads()->add_supports(0, state.time + next, next, w.scratch);
  backend.axpy(1 / next, w.scratch, w.velocity);
}

/// w in the middle of the next step from the forces at the state.
void CentralDifferences::next_velocity(const AnalysisModel& model, const AnalysisState& state, double next) {
  Work& w = *work_;
  Backend& backend = model.backend();
  w.last = w.next;
  w.next = next;
  w.between = 0.5 * (w.last + w.next);
  set_coefficients(w.between, false);
  std::swap(w.before, w.velocity);
  backend.copy(w.external, w.scratch);
  backend.axpy(-1.0, w.internal, w.scratch);
  detail::assemble_forces(model, w.scratch);
  backend.multiply(w.gain, w.scratch, w.velocity);
  if (w.damps || w.moving) {
    backend.multiply(w.keep, w.before, w.scratch);
    backend.axpy(1.0, w.scratch, w.velocity);
  } else {
    backend.axpy(1.0, w.before, w.velocity);
  }
  if (!w.moving) return;
  put_support_velocities(model, state, next);
  form_support_forces(model);
}

void CentralDifferences::find_rates(const AnalysisModel& model, Vector& velocity, Vector& acceleration) const {
  const Work& w = *work_;
  Backend& backend = model.backend();
  backend.copy(w.before, velocity);
  backend.axpby(0.5, w.velocity, 0.5, velocity);
  backend.copy(w.before, acceleration);
  backend.axpby(1 / w.between, w.velocity, -1 / w.between, acceleration);
}

/// What supports push with: what all other forces leave there.
void CentralDifferences::form_support_forces(const AnalysisModel& model) {
  Work& w = *work_;
  Backend& backend = model.backend();
  if (!w.support.layout()) w.support = model.make_vector();
  find_rates(model, w.rate, w.second_rate);
  backend.multiply(w.mass_on_device, w.second_rate, w.scratch);
  backend.axpy(1.0, w.internal, w.scratch);
  backend.axpy(-1.0, w.external, w.scratch);
  if (w.damps) {
    backend.multiply(w.damping_on_device, w.rate, w.other);
    backend.axpy(1.0, w.other, w.scratch);
  }
  backend.multiply(w.prescribed, w.scratch, w.support);
}

/// Works of the forces at the state over half of the last and half of the next step.
void CentralDifferences::add_works(const AnalysisModel& model) {
  Work& w = *work_;
  Backend& backend = model.backend();
  const auto add = [&](const Vector& force, const Vector& along, Vector& sum) {
    backend.multiply(force, along, w.other);
    backend.axpy(1.0, w.other, sum);
  };
  backend.copy(w.before, w.scratch);
  backend.axpby(0.5 * w.next, w.velocity, 0.5 * w.last, w.scratch);
  add(w.internal, w.scratch, w.works[0]);
  add(w.external, w.scratch, w.works[1]);
  if (w.moving) add(w.support, w.scratch, w.works[1]);
  if (w.viscosity) add(w.viscous, w.scratch, w.works[3]);
  if (!w.damps) return;
  // D v · (h₋ w₋ + h₊ w₊) / 2 with v = (w₋ + w₊) / 2
  backend.copy(w.before, w.rate);
  backend.axpby(0.5, w.velocity, 0.5, w.rate);
  backend.multiply(w.damping_on_device, w.rate, w.second_rate);
  add(w.second_rate, w.scratch, w.works[2]);
}

void CentralDifferences::start(const AnalysisModel& model, AnalysisState& state, double step,
                               std::optional<double> strain_energy) {
  Work& w = *work_;
  Backend& backend = model.backend();
  w.moving = supports_move();
  for (Vector& sum : w.works) fill_zero(backend, model, sum);
  w.forget_stepper();
  w.formed_factors.clear();
  state.loads = Vector();
  state.time_step = 0;
  w.last = 0;
  w.next = w.between = step;
  form_forces(model, state, state.rate);
  // Half a step from v, then before = 2 v − w, so that v and a of the start come out by the formulas of every state.
  set_coefficients(step, true);
  w.velocity = model.make_vector();
  w.before = model.make_vector();
  backend.copy(w.external, w.scratch);
  backend.axpy(-1.0, w.internal, w.scratch);
  detail::assemble_forces(model, w.scratch);
  backend.multiply(w.gain, w.scratch, w.velocity);
  backend.multiply(w.keep, state.rate, w.scratch);
  backend.axpy(1.0, w.scratch, w.velocity);
  if (w.moving) put_support_velocities(model, state, step);
  backend.copy(w.velocity, w.before);
  backend.axpby(2.0, state.rate, -1.0, w.before);
  if (w.moving) form_support_forces(model);
  Memory memory;
  restore(std::move(memory));
  w.begin = {};
  w.begin.internal = strain_energy.value_or(0);
  if (!strain_energy) {
    const detail::EnergyParts parts = detail::energy_parts(model, state);
    w.begin.plastic = -parts.plastic;
    w.begin.hourglass = -parts.hourglass;
  }
  measure(model, state);
  w.begin.initial = energies().kinetic + w.begin.internal;
  measure(model, state);
}

void CentralDifferences::move(const AnalysisModel& model, AnalysisState& state, double end) {
  Work& w = *work_;
  add_works(model);
  model.backend().axpy(w.next, w.velocity, state.unknowns);
  state.time = end;
  state.time_step = w.next;
}

void CentralDifferences::turn(const AnalysisModel& model, AnalysisState& state, double next) {
  form_forces(model, state, work_->velocity);
  next_velocity(model, state, next);
}

ElementState CentralDifferences::elements_unloaded(const AnalysisModel& model, const AnalysisState& state,
                                                   Vector& unknowns) const {
  ElementState elements = state.elements();
  if (!model.has_history() || !work_->velocity.layout() || state.time_step == 0) return elements;
  Backend& backend = model.backend();
  elements.history = model.translating([&] { return backend.history(model.device_model(), state.elements()); });
  unknowns = state.unknowns.clone();
  backend.axpy(-0.5 * work_->next, work_->velocity, unknowns);
  elements.unknowns = &unknowns;
  return elements;
}

const Vector& CentralDifferences::step_velocity(const AnalysisState& state) const {
  return work_ && work_->velocity.layout() ? work_->velocity : state.rate;
}

std::vector<double> CentralDifferences::case_factors(double time, double step) const {
  return bound_loads()->case_factors(time, step);
}

void CentralDifferences::take_history(const AnalysisModel& model, AnalysisState& state) {
  if (model.has_history())
    state.history = model.translating([&] { return model.backend().history(model.device_model(), state.elements()); });
}

void CentralDifferences::measure(const AnalysisModel& model, AnalysisState& state) {
  Work& w = *work_;
  Backend& backend = model.backend();
  find_rates(model, state.rate, state.second_rate);
  Memory memory;
  memory.internal = w.internal.clone();
  memory.external = w.external.clone();
  memory.inertial = model.make_vector();
  backend.multiply(w.mass_on_device, state.second_rate, memory.inertial);
  EnergyBalance& e = memory.energies;
  e = w.begin;
  backend.multiply(w.mass_on_device, state.rate, w.scratch);
  e.kinetic = 0.5 * detail::work_of(model, w.scratch, state.rate);
  const double half = 0.5 * w.last;
  const auto work = [&](const Vector& sums, const Vector& force) {
    return detail::work_of(model, sums, w.ones) + half * detail::work_of(model, force, w.before);
  };
  e.internal += work(w.works[0], w.internal);
  e.external += work(w.works[1], w.external);
  backend.copy(w.external, w.other);
  detail::assemble_forces(model, w.other);
  backend.multiply(w.gain, w.other, w.scratch);
  w.forcing = 0.25 * w.between * detail::work_of(model, w.external, w.scratch);
  if (w.moving) {
    e.external += half * detail::work_of(model, w.support, w.before);
    backend.multiply(w.prescribed, memory.inertial, w.scratch);
    w.forcing += 0.25 * w.between * w.between * detail::work_of(model, w.scratch, state.second_rate);
  }
  if (w.damps) {
    memory.damping = model.make_vector();
    backend.multiply(w.damping_on_device, state.rate, memory.damping);
    e.damping += work(w.works[2], memory.damping);
  }
  if (w.viscosity) {
    e.viscous = work(w.works[3], w.viscous);
    e.internal -= e.viscous;  // `internal` includes these forces
  }
  const detail::EnergyParts parts = detail::energy_parts(model, state);
  e.plastic += parts.plastic;
  e.hourglass += parts.hourglass;
  restore(std::move(memory));
}

CentralDifferences::Kept CentralDifferences::kept() const {
  if (!work_) throw Error(ErrorCode::misuse, "central differences have nothing to save before they start");
  const Work& w = *work_;
  Kept kept;
  for (const Vector* x : {&w.velocity, &w.before, &w.internal, &w.external, &w.support, &w.works[0], &w.works[1],
                          &w.works[2], &w.mass_on_device, &w.works[3], &w.viscous})
    kept.vectors.push_back(x->layout() ? x->clone() : Vector());
  kept.are_shares.assign(kept.vectors.size(), true);
  kept.are_shares[0] = kept.are_shares[1] = false;  // velocities
  kept.numbers = {
      w.next,          w.last,          w.between,       w.begin.kinetic,   w.begin.internal,     w.begin.external,
      w.begin.damping, w.begin.initial, w.begin.plastic, w.begin.hourglass, w.moving ? 1.0 : 0.0, viscous_ratio()};
  return kept;
}

void CentralDifferences::resume(const AnalysisModel& model, AnalysisState& state, Kept kept) {
  bind(model);
  Work& w = *work_;
  Vector* const places[] = {&w.velocity, &w.before,   &w.internal,       &w.external, &w.support, &w.works[0],
                            &w.works[1], &w.works[2], &w.mass_on_device, &w.works[3], &w.viscous};
  const bool complete = kept.vectors.size() == std::size(places) && kept.numbers.size() == 12;
  if (!complete || (kept.numbers[10] != 0) != supports_move())
    throw Error(ErrorCode::bad_input, "what was saved is not a state of central differences with the same loads");
  for (std::size_t k = 0; k < kept.vectors.size(); ++k) {
    *places[k] = std::move(kept.vectors[k]);
    const bool needed = places[k] == &w.support ? supports_move() : places[k] != &w.viscous || w.viscosity != nullptr;
    if (!places[k]->layout() && needed)
      throw Error(ErrorCode::bad_input, "what was saved of central differences is not complete");
  }
  if (w.viscosity) w.viscosity->set_largest_ratio(kept.numbers[11]);
  w.mass = w.mass_on_device.to_host();  // with what was added
  if (ProcessGroup* const group = ProcessGroup::of(model)) group->assemble(model, w.mass);
  const std::vector<double>& n = kept.numbers;
  w.next = n[0];
  w.last = n[1];
  w.between = n[2];
  w.begin = {n[3], n[4], n[5], n[6], n[7]};
  w.begin.plastic = n[8];
  w.begin.hourglass = n[9];
  w.moving = n[10] != 0;
  w.formed_for = 0;
  w.forget_stepper();
  set_coefficients(w.between, w.last == 0);
  w.formed_factors.clear();
  state.loads = Vector();
  // Runs of steps need the loads and the factors of batches before forces are formed again.
  const double step = state.time_step > 0 ? state.time_step : w.next;
  follow_factors(model, state, bound_loads()->case_factors(state.time, step));
  measure(model, state);
}

double CentralDifferences::forcing() const { return work_ ? work_->forcing : 0; }

void CentralDifferences::commit(const AnalysisModel& model, AnalysisState& state) { state.commit(model); }

}  // namespace voussoir
