#include <voussoir/framework/analysis/integrator.hpp>

#include <algorithm>

namespace voussoir {

/// What the matrix of an SOE was last formed for.
struct Integrator::Formed {
  std::uint64_t model = 0;    ///< AnalysisModel::matrix_serial()
  std::uint64_t version = 0;  ///< LinearSOE::version()
  TangentCoefficients coefficients;
  RayleighDamping model_damping;
  DampingFactors damping;
  MassKind mass_kind = MassKind::consistent;
  std::vector<double> case_factors;
  double time = 0, time_step = 0;
};

/// K and M of a model's elements on all equations.
struct Integrator::Product {
  std::uint64_t model = 0;
  std::unique_ptr<ElementOperator> elements;
  Vector result;
};

DampingFactors damping_factors(const AnalysisModel& model, const RayleighDamping& of_model) {
  DampingFactors factors;
  for (const BatchOrigin& origin : model.batches()) {
    RayleighDamping damping;
    if (origin.kind == BatchOrigin::Kind::block) {
      damping = of_model;
      if (const auto& material = model.domain().block(origin.block).material()) {
        const RayleighDamping own = material->damping();
        damping.mass += own.mass;
        damping.stiffness += own.stiffness;
        factors.uniform = factors.uniform && own == RayleighDamping{};
      }
    }
    factors.stiffness.push_back(damping.stiffness);
    factors.mass.push_back(damping.mass);
  }
  return factors;
}

Integrator::Integrator() = default;
Integrator::~Integrator() = default;

namespace {

bool has_host_elements(const AnalysisModel& model) {
  const auto& batches = model.device_model().part(0).batches;
  return std::any_of(batches.begin(), batches.end(),
                     [](const ElementBatch& batch) { return batch.program->route() == Route::host; });
}

}  // namespace

bool Integrator::has_formed(const AnalysisModel& model, const AnalysisState& state, const LinearSOE& soe) const {
  if (!formed_ || formed_->model != model.matrix_serial() || formed_->version != soe.version()) return false;
  const bool same_time = formed_->time == state.time && formed_->time_step == state.time_step;
  if (!keeps_matrix_ && (!same_time || has_host_elements(model))) return false;
  // Where no material damps, the factors follow from the damping of the model, however many batches there are.
  const DampingFactors damping = damping_factors(model, damping_);
  const bool same_damping = formed_->model_damping == damping_ &&
                            ((formed_->damping.uniform && damping.uniform) || formed_->damping == damping);
  return model.is_linear() && same_damping && formed_->coefficients == coefficients() &&
         formed_->mass_kind == mass_kind_ && model.same_matrix(formed_->case_factors, state.case_factors);
}

void Integrator::form_tangent(const AnalysisModel& model, const AnalysisState& state, LinearSOE& soe) {
  const TangentCoefficients c = coefficients();
  DampingFactors damping = damping_factors(model, damping_);
  MatrixTerms terms;
  terms.mass_kind = mass_kind_;
  auto factors = model.batch_factors(state.case_factors);
  std::vector<double> mass_factors;
  if (damping.uniform) {
    terms.stiffness = c.stiffness + c.damping * damping_.stiffness;
    terms.mass = c.mass + c.damping * damping_.mass;
    if (terms.stiffness != c.stiffness && terms.stiffness != 0)  // only the elements damp
      for (std::size_t b = 0; b < factors.size(); ++b)
        if (model.batches()[b].kind != BatchOrigin::Kind::block) factors[b] *= c.stiffness / terms.stiffness;
  } else {
    terms.mass = 1;
    for (std::size_t b = 0; b < factors.size(); ++b) {
      mass_factors.push_back(c.mass * factors[b] + c.damping * damping.mass[b]);
      factors[b] = c.stiffness * factors[b] + c.damping * damping.stiffness[b];
    }
    terms.mass_factors = mass_factors;
  }
  terms.batch_factors = factors;
  formed_.reset();
  model.translating([&] { soe.form(state.elements(), terms); });
  formed_ = std::make_unique<Formed>(Formed{model.matrix_serial(), soe.version(), c, damping_, std::move(damping),
                                            mass_kind_, state.case_factors, state.time, state.time_step});
}

void Integrator::form_unbalance(const AnalysisModel& model, const AnalysisState& state, Vector& b) {
  Backend& backend = model.backend();
  const Vector r = out_of_balance(model, state);
  backend.copy(r, b);
  backend.scale(-1.0, b);
  backend.reduce_dependencies(model.device_model(), b);
  backend.clear_constrained(model.device_model(), b);
}

Vector Integrator::out_of_balance(const AnalysisModel& model, const AnalysisState& state) {
  Backend& backend = model.backend();
  Vector r = model.make_vector();
  backend.copy(state.loads, r);
  backend.scale(-1.0, r);
  const auto factors = model.batch_factors(state.case_factors);
  model.translating([&] { backend.residual(model.device_model(), state.elements(), factors, false, r); });
  if (const Vector inertia = inertial_forces(model, state); inertia.layout()) backend.axpy(1.0, inertia, r);
  return r;
}

Vector Integrator::inertial_forces(const AnalysisModel& model, const AnalysisState& state) {
  Backend& backend = model.backend();
  const DampingFactors damping = damping_factors(model, damping_);
  const bool damps = state.rate.layout() && (!damping.uniform || damping_.mass != 0 || damping_.stiffness != 0);
  if (!state.second_rate.layout() && !damps) return {};
  Vector force = model.make_vector();
  backend.fill(force, 0.0);
  if (!damping.uniform) {
    if (state.second_rate.layout()) add_product(model, state, 0, 1, state.second_rate, force);
    if (damps) add_product(model, state, damping.terms(mass_kind_), state.rate, force);
    return force;
  }
  // M (a + α v) in one product, and β K v.
  Vector motion = model.make_vector();
  backend.fill(motion, 0.0);
  if (state.second_rate.layout()) backend.copy(state.second_rate, motion);
  if (damps && damping_.mass != 0) backend.axpy(damping_.mass, state.rate, motion);
  add_product(model, state, 0, 1, motion, force);
  if (damps && damping_.stiffness != 0) add_product(model, state, damping_.stiffness, 0, state.rate, force);
  return force;
}

void Integrator::add_product(const AnalysisModel& model, const AnalysisState& state, double stiffness, double mass,
                             const Vector& x, Vector& y) {
  std::vector<double> factors;
  for (const BatchOrigin& origin : model.batches()) factors.push_back(origin.kind == BatchOrigin::Kind::block ? 1 : 0);
  MatrixTerms terms;
  terms.stiffness = stiffness;
  terms.mass = mass;
  terms.mass_kind = mass_kind_;
  terms.batch_factors = factors;
  add_product(model, state, terms, x, y);
}

void Integrator::add_product(const AnalysisModel& model, const AnalysisState& state, const MatrixTerms& terms,
                             const Vector& x, Vector& y) {
  Backend& backend = model.backend();
  if (!product_ || product_->model != model.serial()) {
    product_ = std::make_unique<Product>();
    product_->model = model.serial();
    product_->elements =
        backend.make_element_operator(model.device_model(), ElementProduct::matrix_free, OperatorEquations::all);
    product_->result = model.make_vector();
  }
  model.translating([&] {
    backend.assemble(model.device_model(), state.elements(), terms, *product_->elements);
    product_->elements->apply(x, product_->result);
  });
  backend.axpy(1.0, product_->result, y);
}

void Integrator::form_loads(const AnalysisModel& model, AnalysisState& state) {
  if (state.case_factors.size() != model.domain().load_case_count())
    throw Error(ErrorCode::misuse,
                "a state has " + std::to_string(state.case_factors.size()) + " factors of load cases, and the domain " +
                    std::to_string(model.domain().load_case_count()) + " load cases; get states from step_states()");
  state.loads = model.make_vector();
  model.backend().fill(state.loads, 0.0);
  state.temperature = model.follows_unknown_temperature() ? model.temperatures_from(state.unknowns)
                                                          : model.temperatures(state.case_factors);
  model.add_loads(state.case_factors, state.elements(), state.loads);
}

void Integrator::set_prescribed(const AnalysisModel& model, AnalysisState& state) {
  Backend& backend = model.backend();
  backend.clear_constrained(model.device_model(), state.unknowns);
  backend.expand_dependencies(model.device_model(), state.unknowns);
  backend.axpy(state.prescribed_factor, model.prescribed_unknowns(), state.unknowns);
}

void Integrator::add_increment(const AnalysisModel& model, double factor, const Vector& increment, Vector& x) {
  Backend& backend = model.backend();
  Vector full = model.make_vector();
  backend.copy(increment, full);
  backend.clear_constrained(model.device_model(), full);
  backend.expand_dependencies(model.device_model(), full);
  backend.axpy(factor, full, x);
}

void StaticIntegrator::begin_step(const AnalysisModel& model, AnalysisState& state) {
  if (state.is_committed())
    set_prescribed(model, state);
  else
    state.unknowns = model.initial_unknowns(state.prescribed_factor);
  form_loads(model, state);
}

void StaticIntegrator::update(const AnalysisModel& model, const Vector& increment, AnalysisState& state) {
  add_increment(model, 1.0, increment, state.unknowns);
  if (model.follows_unknown_temperature()) state.temperature = model.temperatures_from(state.unknowns);
}

}  // namespace voussoir
