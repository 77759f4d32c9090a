#include <cmath>
#include <optional>

#include <voussoir/backends/number_text.hpp>
#include <voussoir/framework/analysis/detail/energy_parts.hpp>
#include <voussoir/framework/analysis/detail/first_step.hpp>
#include <voussoir/framework/analysis/detail/initial_motion.hpp>
#include <voussoir/framework/analysis/process_group.hpp>
#include <voussoir/framework/analysis/transient_analysis.hpp>

// How a transient analysis begins: the state at the start, and the accelerations that balance it.

namespace voussoir {
namespace {

/// Motions that are faster than a step are left out of the accelerations at the start: stiffness counts as at the end
/// of this share of the first step.
constexpr double initial_share = 0.1;
/// They are left out where they are more than half of the accelerations.
constexpr double most_initial = 2;

}  // namespace

/// Unknowns that follow others have no initial motion of their own.
void TransientAnalysis::check_followers(const NodalField& field, const std::string& what, const Vector& x) const {
  if (field.values.empty()) return;
  double largest = 0;
  for (const double value : field.values)
    if (!std::isnan(value)) largest = std::max(largest, std::abs(value));
  const std::vector<double> values = x.to_host();
  for (std::int32_t e = 0; e < model_->equation_count(); ++e) {
    if (model_->is_free(e) || model_->is_prescribed(e)) continue;
    const auto at = model_->place(e);
    const double given = field.at(at.node, at.component), taken = values[static_cast<std::size_t>(e)];
    if (!std::isnan(given) && std::abs(given - taken) > 1e-6 * largest)
      throw Error(ErrorCode::bad_input,
                  "the value " + short_number(given, 6) + " contradicts the equation, rigid body or inclined support " +
                      "that this unknown follows, which gives " + short_number(taken, 6) +
                      "; give the unknowns that it follows, such as those of the reference node, their values",
                  "initial " + what + ", " + model_->equation_label(e));
  }
}

AnalysisState TransientAnalysis::initial_state() const {
  AnalysisState state;
  state.name = integrator().is_static()             ? "statics"
               : integrator().needs_initial_rates() ? "dynamics"
                                                    : "transient heat";
  state.time = steps_.start;
  state.time_step = 0;
  state.case_factors.assign(domain().load_case_count(), 0.0);
  for (Vector* x : {&state.unknowns, &state.rate, &state.second_rate}) {
    *x = model_->make_vector();
    model_->backend().fill(*x, 0.0);
  }
  integrator().set_initial(*model_, state.unknowns);
  detail::take_initial_motion(*model_, displacement_, "displacement", state.unknowns);
  detail::take_initial_motion(*model_, velocity_, "velocity", state.rate);
  state.history = history_;
  return state;
}

bool TransientAnalysis::has_massless_unknowns() {
  Backend& backend = model_->backend();
  const LinearSOE& soe = *parts_.soe;
  const BlockDiagonal diagonal = soe.sparse_matrix()
                                     ? backend.block_diagonal(*soe.sparse_matrix(), 1)
                                     : backend.block_diagonal(model_->device_model(), *soe.element_operator(), 1);
  std::vector<double> masses(static_cast<std::size_t>(model_->equation_count()));
  for (int d = 0; d < backend.devices(); ++d) {
    const auto values = diagonal.blocks[static_cast<std::size_t>(d)].read_host();
    for (std::int64_t i = 0; i < diagonal.layout->owned(d); ++i)
      masses[static_cast<std::size_t>(diagonal.layout->first(d) + i)] = values[static_cast<std::size_t>(i)];
  }
  if (ProcessGroup* const group = ProcessGroup::of(*model_)) group->assemble(*model_, masses);
  bool any_mass = false;
  massless_.clear();
  for (std::int32_t equation = 0; equation < model_->equation_count(); ++equation) {
    if (!model_->is_free(equation)) continue;
    if (masses[static_cast<std::size_t>(equation)] > 0)
      any_mass = true;
    else
      massless_.push_back(equation);
  }
  any_mass = detail::on_any(*model_, any_mass);
  const bool some_without = detail::on_any(*model_, !massless_.empty());
  if (!any_mass && some_without)
    throw Error(ErrorCode::bad_input,
                "no element has mass where the structure can move, and dynamics needs it; give materials a density");
  return some_without;
}

/// Accelerations with (M + stiffness · K) a = p − C v − f(u); false where the solver fails.
bool TransientAnalysis::solve_initial(double stiffness) {
  TimeIntegrator& method = integrator();
  method.begin_initial(stiffness);
  LinearSOE& soe = *parts_.soe;
  method.form_tangent(*model_, state_, soe);
  if (stiffness == 0 && has_massless_unknowns()) return false;
  soe.set_columns(1);
  backend().fill(soe.x(), 0.0);
  method.form_unbalance(*model_, state_, soe.b());
  if (stiffness > 0) {
    // What is out of balance without mass is put in place by the first step, and is no acceleration.
    std::vector<double> forces = soe.b().to_host();
    for (const std::int32_t equation : massless_) forces[static_cast<std::size_t>(equation)] = 0;
    soe.b().from_host(forces);
  }
  try {
    const SolveReport report = parts_.solver->solve(soe);
    if (!report.converged || !report.free_motions.empty()) return false;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::singular) throw;
    return false;
  }
  method.update(*model_, soe.x(), state_);
  return true;
}

/// A sudden force accelerates the nodes that it acts on, and motions that reduced integration leaves almost without
/// mass, more than steps of this size can follow: the first one would throw them far beyond where they come to rest.
/// (M + β h² K) a = p − C v − f is small there, and of second order everywhere else.
void TransientAnalysis::balance_initial() {
  TimeIntegrator& method = integrator();
  const Vector given = state_.second_rate.clone();
  const auto stiffness_after = [&](double h) { return (1 - method.method().alpha_f) * method.method().beta * h * h; };
  // Unknowns without mass follow the others: as the end of a short step has it.
  const bool by_mass = solve_initial(0);
  if (!by_mass && !solve_initial(stiffness_after(1e-3 * steps_.step)))
    throw Error(ErrorCode::not_converged,
                massless_.empty()
                    ? "accelerations at the start could not be computed: some motions have neither stiffness nor mass "
                      "at the integration points, as in a single layer of quadratic elements with reduced "
                      "integration (C3D20R); use full integration, or more elements over the thickness"
                    : "accelerations at the start could not be computed; check densities, and supports of unknowns "
                      "without mass");
  // Linear models with a sound mass matrix keep their balance, and with it their energy, whatever the step.
  const Domain& domain = model_->domain();
  const bool reduced = detail::has_elements(domain, ".hex20.reduced") || detail::has_elements(domain, ".quad8.reduced");
  if (!by_mass || !detail::all_linear(*model_) || detail::on_any(*model_, reduced)) {
    const Vector found = state_.second_rate.clone();
    backend().copy(given, state_.second_rate);
    const bool solved =
        solve_initial(stiffness_after(initial_share * steps_.step * (steps_.automatic ? detail::first_moving : 1)));
    const auto size = [&](const Vector& a) { return std::sqrt(detail::product_of_unknowns(*model_, a, a)); };
    if (!solved || size(found) <= most_initial * size(state_.second_rate)) backend().copy(found, state_.second_rate);
  }
  const std::optional<double> stored = detail::stored_energy(*model_, state_);
  // The strain energy of a body that has yielded does not follow from its displacements: the work since the start
  // counts.
  const bool yielded = detail::on_any(*model_, state_.history != nullptr);
  const double energy = stored ? *stored : yielded ? 0.0 : detail::strain_energy_of(*model_, state_);
  method.finish_initial(*model_, state_, energy);
}

/// Elements beside a support that is displaced at once would yield, and stay deformed, before anything else has moved.
void TransientAnalysis::refuse_sudden_supports(const Vector& given) {
  if (!integrator().is_static() || !detail::on_any(*model_, model_->has_history())) return;
  Vector jump = state_.unknowns.clone();
  backend().axpy(-1.0, given, jump);
  if (detail::on_any(*model_, backend().norm(jump) > 1e-9 * backend().norm(state_.unknowns)))
    throw Error(ErrorCode::bad_input,
                "a support is displaced at the start of statics, and elements with a history beside it would yield; "
                "give it a motion over time that begins where it is");
}

void TransientAnalysis::start() {
  set_up();
  report_ = {};
  state_ = initial_state();
  stage("initial state", [&] {
    const Vector given = state_.unknowns.clone();
    integrator().begin(*model_, state_, steps_.step);
    refuse_sudden_supports(given);
    check_followers(displacement_, "displacement", state_.unknowns);
    check_followers(velocity_, "velocity", state_.rate);
    if (integrator().needs_initial_rates())
      balance_initial();
    else
      integrator().finish_initial(*model_, state_, detail::stored_energy(*model_, state_).value_or(0));
    largest_ = integrator().displacement_measure(*model_, state_);
  });
  started_ = true;
  matrix_is_lost_ = false;
  next_step_ = steps_.step;
  SolveReport report;
  report.converged = true;
  report.reason = "the initial state";
  commit(state_, report);
}

}  // namespace voussoir
