#include <voussoir/framework/analysis/explicit_analysis.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <voussoir/backends/number_text.hpp>
#include <voussoir/framework/analysis/detail/element_steps.hpp>
#include <voussoir/framework/analysis/detail/initial_motion.hpp>
#include <voussoir/framework/analysis/detail/length_changes.hpp>
#include <voussoir/framework/analysis/detail/stable_step.hpp>
#include <voussoir/framework/analysis/process_group.hpp>
#include <voussoir/framework/analysis/step.hpp>

namespace voussoir {
namespace {

constexpr double steps_fit = 1e-9;              // times within this share of a step are the same
constexpr double most_explicit_steps = 1e12;    // of a run
constexpr double viscous_margin = 1.5;          // by which the rates of compression may grow before steps are shortened
constexpr double allowed_length_change = 0.05;  // of distances between nodes, since the last estimate of the limit
constexpr double most_change_in_step = 0.05;    // of these distances, at the present rates
constexpr double length_rate_margin = 1.5;      // by which rates of these changes may grow until the next check
constexpr std::int64_t most_under_changes = 8;  // steps between checks of lengths where loads or supports change
constexpr std::int64_t most_in_one_go =
    4096;  // steps whose times and factors of loads are given to the devices at once

Analysis::Collaborators with_central_differences(Analysis::Collaborators parts) {
  if (!parts.integrator) parts.integrator = std::make_shared<CentralDifferences>();
  if (!std::dynamic_pointer_cast<CentralDifferences>(parts.integrator))
    throw Error(ErrorCode::misuse,
                "an explicit analysis needs CentralDifferences; it was given '" + parts.integrator->name() + "'");
  return parts;
}

/// The largest deformation on all processes.
detail::LengthChanges::Largest largest_deformation(const AnalysisModel& model, const detail::LengthChanges& lengths,
                                                   const Vector& unknowns, const Vector& velocity) {
  detail::LengthChanges::Largest found = lengths.largest(unknowns, velocity);
  if (ProcessGroup* const group = ProcessGroup::of(model)) {
    found.change = group->maximum(found.change);
    found.rate = group->maximum(found.rate);
  }
  return found;
}

}  // namespace

double supplied_energy(const EnergyBalance& energies) {
  return std::abs(energies.initial) + std::abs(energies.external) + std::max(0.0, -energies.internal);
}

ExplicitAnalysis::ExplicitAnalysis(const Domain& domain, Collaborators collaborators)
    : Analysis(domain, with_central_differences(std::move(collaborators))) {}
ExplicitAnalysis::ExplicitAnalysis(std::shared_ptr<const Domain> domain, Collaborators collaborators)
    : Analysis(std::move(domain), with_central_differences(std::move(collaborators))) {}
ExplicitAnalysis::~ExplicitAnalysis() = default;

CentralDifferences& ExplicitAnalysis::integrator() const {
  return static_cast<CentralDifferences&>(*parts_.integrator);
}

void ExplicitAnalysis::set_steps(ExplicitSteps steps) {
  const std::string where = "explicit steps";
  if (!std::isfinite(steps.start) || !std::isfinite(steps.end) || !(steps.end > steps.start))
    throw Error(ErrorCode::bad_input, "the end must be after the start", where);
  if (!(steps.step >= 0) || !std::isfinite(steps.step))
    throw Error(ErrorCode::bad_input, "the size of a step must be greater than 0, or 0 for the stability limit", where);
  if (!(steps.factor > 0 && steps.factor <= 1))
    throw Error(ErrorCode::bad_input, "the factor of the stability limit is greater than 0, up to 1", where);
  if (steps.step == 0 && !steps.limited)
    throw Error(ErrorCode::bad_input, "without an estimate of the stability limit, the size of steps must be given",
                where);
  if (!(steps.shortest >= 0) || !(steps.longest > 0) || !(steps.shortest <= steps.longest))
    throw Error(ErrorCode::bad_input, "the shortest step must not be negative, nor longer than the longest", where);
  if (!(steps.report_interval >= 0) || !std::isfinite(steps.report_interval))
    throw Error(ErrorCode::bad_input, "the time between reports must not be negative", where);
  if (steps.estimate_every < 1 || steps.report_every < 0 || (steps.report_every == 0 && steps.report_interval == 0))
    throw Error(ErrorCode::bad_input, "estimates and reports are made every 1, 2, 3, ... steps", where);
  if (!(steps.balance_tolerance > 0))
    throw Error(ErrorCode::bad_input, "the tolerance of the balance of energy must be greater than 0", where);
  for (std::size_t i = 0; i < steps.times.size(); ++i)
    if (!(steps.times[i] > (i == 0 ? steps.start : steps.times[i - 1])) || !(steps.times[i] <= steps.end))
      throw Error(ErrorCode::bad_input, "times that steps must end at must increase, between the start and the end",
                  where);
  steps_ = std::move(steps);
}

void ExplicitAnalysis::set_mass_scaling(const MassScaling& scaling) {
  if (!(scaling.step >= 0) || !std::isfinite(scaling.step) || !(scaling.most_added >= 0))
    throw Error(ErrorCode::bad_input, "the wanted step and the share of added mass must not be negative",
                "mass scaling");
  scaling_ = scaling;
}

const AnalysisState& ExplicitAnalysis::state() const {
  if (!started_) throw Error(ErrorCode::misuse, "an explicit analysis has a state after start()");
  return state_;
}

AnalysisState ExplicitAnalysis::initial_state() const {
  AnalysisState state;
  state.name = "explicit dynamics";
  state.time = steps_.start;
  state.case_factors.assign(domain().load_case_count(), 0.0);
  for (Vector* x : {&state.unknowns, &state.rate, &state.second_rate}) {
    *x = model_->make_vector();
    model_->backend().fill(*x, 0.0);
  }
  detail::take_initial_motion(*model_, displacement_, "displacement", state.unknowns);
  detail::take_initial_motion(*model_, velocity_, "velocity", state.rate);
  state.history = history_;
  return state;
}

/// What start() and restore() have in common: the model, and an analysis that has done nothing.
void ExplicitAnalysis::set_up() {
  prepare();
  if (model_->is_thermal() || model_->follows_unknown_temperature())
    throw Error(ErrorCode::bad_input, "dynamics needs displacements; this model has temperatures as unknowns");
  // The limit of a linear model is estimated once, and a tangent that follows the temperature would change it.
  if (model_->depends_on_temperature() && steps_.limited)
    for (const TimeLoads::Case& acting : loads_.cases())
      if (!domain().load_case(acting.name).temperatures().empty())
        throw Error(ErrorCode::bad_input,
                    "materials that depend on the temperature are not possible in explicit dynamics with temperatures "
                    "that act: the stability limit would follow them; use implicit dynamics, or properties at one "
                    "temperature",
                    "explicit dynamics, load case '" + acting.name + "'");
  started_ = false;
  report_ = {};
  largest_supply_ = 0;
  undamped_limit_ = unit_rate_ = planned_ratio_ = length_rate_ = 0;
  products_before_ = 0;
  stable_.reset();
  lengths_.reset();
  next_estimate_ = next_check_ = 0;
  steps_between_checks_ = 1;
  next_report_ = steps_.start + steps_.report_interval;
}

void ExplicitAnalysis::start() {
  set_up();
  state_ = initial_state();
  CentralDifferences& method = integrator();
  stage("initial state", [&] {
    method.prepare(*model_, state_);
    method.set_loads(std::make_shared<TimeLoads>(loads_), steps_.start);
    // Load cases are sampled over a step; the first estimate of the limit needs the supports in place alone.
    method.begin(*model_, state_, steps_.step > 0 ? steps_.step : 1e-6 * (steps_.end - steps_.start));
    scale_mass();
    prepare_estimates();
    method.probe_viscosity(*model_, state_);
    plan_segment();
    std::optional<double> strain_energy;
    if (!detail::on_any(*model_, state_.history != nullptr)) strain_energy = detail::strain_energy_of(*model_, state_);
    method.start(*model_, state_, size_, strain_energy);
  });
  started_ = true;
  report_state();
}

void ExplicitAnalysis::prepare_estimates() {
  if (!steps_.limited) return;
  stable_ = std::make_unique<detail::StableStep>(*model_, integrator().inverse_root_mass(*model_));
  if (!detail::all_linear(*model_)) lengths_ = std::make_unique<detail::LengthChanges>(*model_);
}

namespace {

/// The sum of the masses of displacements; rotary inertia is no mass. On several processes, each equation counts once.
double sum_of_translations(const AnalysisModel& model, const std::vector<double>& masses) {
  std::vector<double> counted(masses.size(), 0.0);
  double sum = 0;
  for (std::int32_t e = 0; e < model.equation_count(); ++e) {
    if (model.unknown_names()[static_cast<std::size_t>(model.place(e).component)][0] != 'u') continue;
    counted[static_cast<std::size_t>(e)] = 1;
    sum += masses[static_cast<std::size_t>(e)];
  }
  if (!ProcessGroup::of(model)) return sum;
  Vector mass = model.make_vector(), translations = model.make_vector();
  mass.from_host(masses);
  translations.from_host(counted);
  return detail::product_of_unknowns(model, mass, translations);
}

}  // namespace

/// Adds mass to the elements whose stable steps are shorter than what is wanted.
void ExplicitAnalysis::scale_mass() {
  if (scaling_.step == 0) return;
  const std::string where = "explicit dynamics, mass scaling";
  CentralDifferences& method = integrator();
  if (method.base_moves())
    throw Error(
        ErrorCode::bad_input,
        "mass is not scaled where the base accelerates: added mass would not follow the base; move the supports "
        "instead",
        where);
  const detail::ElementSteps elements(*model_, state_);
  const double limit = scaling_.step / steps_.factor;
  const std::vector<double> added = elements.added_mass(limit);
  ProcessGroup* const group = ProcessGroup::of(*model_);
  std::vector<double> sums = added;  // over the processes that have an equation
  if (group) group->assemble(*model_, sums);
  const double sum = sum_of_translations(*model_, sums), whole = sum_of_translations(*model_, method.masses());
  report_.added_mass = whole > 0 ? sum / whole : 0.0;
  report_.scaled_elements =
      std::llround(detail::sum_of_all(*model_, static_cast<double>(elements.shorter_than(limit))));
  report_.critical_element = elements.critical_element();
  const double shortest = group ? -group->maximum(-elements.shortest()) : elements.shortest();
  // Of several processes, the one with the critical element names it.
  const bool has_critical = elements.shortest() == shortest;
  if (report_.added_mass > scaling_.most_added && !has_critical) group->fence();
  if (report_.added_mass > scaling_.most_added)
    throw Error(ErrorCode::bad_input,
                "steps of " + short_number(scaling_.step, 6) + " need " + short_number(100 * report_.added_mass, 4) +
                    " % more mass, added to " + std::to_string(report_.scaled_elements) + " elements, and at most " +
                    short_number(100 * scaling_.most_added, 4) +
                    " % are allowed; choose shorter steps, or allow more mass. The shortest stable step, " +
                    short_number(steps_.factor * elements.shortest(), 4) + ", is that of " + report_.critical_element,
                where);
  if (report_.scaled_elements > 0) method.add_mass(*model_, added);
}

/// Of bulk viscosity, on all processes.
double ExplicitAnalysis::largest_viscous_ratio() const {
  const CentralDifferences& method = integrator();
  ProcessGroup* const group = ProcessGroup::of(*model_);
  return group && method.bulk_viscosity().acts() ? group->maximum(method.viscous_ratio()) : method.viscous_ratio();
}

/// Whether elements are compressed faster than the size of the steps takes into account.
bool ExplicitAnalysis::viscosity_outgrew() const {
  return stable_ && integrator().bulk_viscosity().quadratic > 0 && largest_viscous_ratio() > planned_ratio_;
}

/// Whether the limit must be estimated at the state before the next step is planned.
bool ExplicitAnalysis::limit_due() {
  if (!stable_) return false;
  if (lengths_ && report_.estimates == 0)
    start_lengths();
  else if (lengths_ && report_.steps >= next_check_)
    check_lengths();
  const bool deformed = lengths_ && steps_between_checks_ == 0;
  return report_.steps >= next_estimate_ || deformed || viscosity_outgrew();
}

/// Whether supports move, or the factor of a load case changes before the time `until`.
bool ExplicitAnalysis::loads_change(double until) const {
  const CentralDifferences& method = integrator();
  if (method.supports_move() || method.base_moves()) return true;
  for (const double kink : loads_.kinks())
    if (kink >= state_.time && kink <= until) return true;
  const std::vector<double> now = method.case_factors(state_.time, size_);
  for (const double share : {0.25, 0.5, 0.75, 1.0})
    if (method.case_factors(state_.time + share * (until - state_.time), size_) != now) return true;
  return false;
}

void ExplicitAnalysis::start_lengths() {
  lengths_->set_reference(state_.unknowns);
  length_rate_ = largest_deformation(*model_, *lengths_, state_.unknowns, integrator().step_velocity(state_)).rate;
  next_check_ = report_.steps + 1;
}

/// Makes an estimate due if elements have deformed so much that the limit may have changed by more than a few per cent,
/// and decides when to look again: before they can have deformed so much at the present rates, with a margin. Checks
/// are a step apart at first, and at most twice as far apart each time. `steps_between_checks_` is 0 from a check that
/// requires an estimate until that estimate.
void ExplicitAnalysis::check_lengths() {
  const detail::LengthChanges::Largest found =
      largest_deformation(*model_, *lengths_, state_.unknowns, integrator().step_velocity(state_));
  length_rate_ = found.rate;
  const double per_step = length_rate_margin * found.rate * size_, left = allowed_length_change - found.change;
  if (!(left > per_step)) {
    steps_between_checks_ = 0;
    next_check_ = report_.steps + 1;
    return;
  }
  std::int64_t most = std::min<std::int64_t>(2 * steps_between_checks_, steps_.estimate_every);
  if (most > most_under_changes &&
      detail::on_any(*model_, loads_change(state_.time + static_cast<double>(most) * size_)))
    most = most_under_changes;
  std::int64_t count = 1;
  while (2 * count <= most && static_cast<double>(2 * count) * per_step < left) count *= 2;
  steps_between_checks_ = count;
  next_check_ = report_.steps + count;
}

/// Estimates the limit at the state: of the tangent where it is due, and of bulk viscosity for rates of compression
/// that are somewhat larger than the present ones.
void ExplicitAnalysis::estimate_limit() {
  const CentralDifferences& method = integrator();
  const bool linear = detail::all_linear(*model_), due = report_.steps >= next_estimate_;
  int products = 0;
  const bool deformed = lengths_ && steps_between_checks_ == 0;
  if (report_.estimates == 0 || ((due || deformed) && !linear)) {
    Vector unloaded;
    const double found = stable_->limit(state_, method.elements_unloaded(*model_, state_, unloaded));
    // What yields is softer, and as stiff as before when it is unloaded. Between regular estimates, steps are not
    // lengthened: elastic bodies that vibrate keep their energy better with steps of one size.
    const bool yields = detail::on_any(*model_, model_->has_history());
    undamped_limit_ = report_.estimates > 0 && (yields || !due) ? std::min(undamped_limit_, found) : found;
    unit_rate_ = method.viscous_rate(*model_, state_, products);
    ++report_.estimates;
    if (lengths_) lengths_->set_reference(state_.unknowns);
    steps_between_checks_ = std::max<std::int64_t>(steps_between_checks_, 1);
  }
  const BulkViscosity& viscosity = method.bulk_viscosity();
  planned_ratio_ = viscosity.linear + viscous_margin * std::max(largest_viscous_ratio() - viscosity.linear, 0.0);
  report_.limit = detail::damped_limit(undamped_limit_, planned_ratio_ * unit_rate_);
  report_.smallest_limit =
      report_.smallest_limit == 0 ? report_.limit : std::min(report_.smallest_limit, report_.limit);
  report_.products = products_before_ + stable_->products();
  if (due)
    next_estimate_ = linear && viscosity.quadratic == 0 ? std::numeric_limits<std::int64_t>::max()
                                                        : report_.steps + steps_.estimate_every;
}

/// The size that steps may have now: what is given, or a share of the limit, which is estimated where it is due.
double ExplicitAnalysis::allowed_step() {
  if (limit_due()) estimate_limit();
  if (steps_.step == 0) return share_of_limit();
  if (stable_ && steps_.step > report_.limit)
    throw Error(ErrorCode::bad_input,
                "the step of " + short_number(steps_.step, 6) + " is too long: it is stable up to " +
                    short_number(report_.limit, 6) + "; choose a shorter one, or none for " +
                    short_number(steps_.factor, 3) + " of the limit",
                "explicit dynamics, time " + short_number(state_.time, 9));
  return steps_.step;
}

double ExplicitAnalysis::share_of_limit() const {
  const double share = steps_.factor * report_.limit;
  if (share < steps_.shortest) {
    // That of one of several parts need not be that of the model.
    const std::string critical =
        ProcessGroup::of(*model_) ? "" : detail::ElementSteps(*model_, state_).critical_element();
    throw Error(ErrorCode::bad_input,
                "steps must not be shorter than " + short_number(steps_.shortest, 6) + ", and " +
                    short_number(steps_.factor, 3) + " of the stability limit is " + short_number(share, 6) +
                    "; allow shorter steps, make the smallest elements larger, or scale their mass" +
                    (critical.empty() ? "" : ". The shortest step is that of " + critical),
                "explicit dynamics, time " + short_number(state_.time, 9));
  }
  // Elements that are compressed by a large share of their size within a step are stiffer at its end.
  const double gentle = std::max(most_change_in_step / length_rate_, steps_.shortest);
  return std::min({share, steps_.longest, gentle > 0 ? gentle : share});
}

/// Divides the time up to the next one that must be met into steps of one size.
void ExplicitAnalysis::plan_segment() {
  const double allowed = allowed_step();
  double target = steps_.end;
  const double span = steps_.end - steps_.start;
  for (auto time = steps_.times.rbegin(); time != steps_.times.rend(); ++time)
    if (*time > state_.time + 1e-13 * span) target = *time;
  const double left = target - state_.time, count = std::max(1.0, std::ceil(left / allowed * (1 - steps_fit)));
  if (!(count <= most_explicit_steps) || !(state_.time + left / count > state_.time))
    throw Error(ErrorCode::bad_input,
                "steps of " + short_number(allowed, 6) + " would be too many up to time " + short_number(target, 9),
                "explicit dynamics, time " + short_number(state_.time, 9));
  segment_start_ = state_.time;
  segment_end_ = target;
  segment_steps_ = static_cast<std::int64_t>(count);
  taken_ = 0;
  size_ = left / count;
}

bool ExplicitAnalysis::at_end() const { return state_.time >= steps_.end; }

/// The time at the end of a step of the segment, counted from 1.
double ExplicitAnalysis::end_of(std::int64_t step) const {
  if (step == segment_steps_) return segment_end_;
  return segment_start_ +
         static_cast<double>(step) * ((segment_end_ - segment_start_) / static_cast<double>(segment_steps_));
}

/// One step: to the end of the step that was begun, whose velocities are known, and on to the next one's. The size of
/// that next one is decided at the state between them. True where the step ends at a time that must be met.
bool ExplicitAnalysis::step() {
  const double step = size_;
  ++taken_;
  const bool meets = taken_ == segment_steps_;
  CentralDifferences& method = integrator();
  method.move(*model_, state_, end_of(taken_));
  count_steps(1, step);
  const bool due = limit_due();
  if (meets && !at_end()) {
    plan_segment();
  } else if (due && !meets) {
    const bool regular = report_.steps >= next_estimate_ || viscosity_outgrew();
    if (allowed_step() < size_ || regular) plan_segment();
  }
  method.turn(*model_, state_, size_);
  return meets;
}

void ExplicitAnalysis::count_steps(std::int64_t count, double size) {
  report_.largest_step = std::max(report_.largest_step, size);
  report_.smallest_step = report_.steps == 0 ? size : std::min(report_.smallest_step, size);
  report_.steps += count;
}

/// Takes from 1 to `most` steps: several in one go as long as nothing is decided between them, which is their size, an
/// estimate of the limit, or what happens at a time that must be met.
ExplicitAnalysis::Taken ExplicitAnalysis::take_steps(std::int64_t most) {
  std::int64_t count = std::min({most, segment_steps_ - taken_ - 1, most_in_one_go});
  if (stable_) count = std::min(count, next_estimate_ - report_.steps - 1);
  if (lengths_) count = std::min(count, next_check_ - report_.steps - 1);
  if (count > 0) {
    std::vector<double> ends(static_cast<std::size_t>(count));
    for (std::size_t k = 0; k < ends.size(); ++k) ends[k] = end_of(taken_ + 1 + static_cast<std::int64_t>(k));
    if (integrator().advance(*model_, state_, size_, ends)) {
      taken_ += count;
      count_steps(count, size_);
      return {count, false};
    }
  }
  return {1, step()};
}

/// How many steps lead to the next report, if none of them meets a time before.
std::int64_t ExplicitAnalysis::steps_to_report() const {
  std::int64_t count = segment_steps_ - taken_;
  if (steps_.report_every > 0) count = std::min(count, steps_.report_every - report_.steps % steps_.report_every);
  if (steps_.report_interval <= 0) return count;
  const double due = next_report_ - steps_fit * steps_.report_interval;
  const double estimate = std::ceil((due - state_.time) / size_);
  if (estimate < static_cast<double>(count)) count = std::max<std::int64_t>(1, static_cast<std::int64_t>(estimate));
  while (count > 1 && end_of(taken_ + count - 1) >= due) --count;
  return count;
}

/// Whether a report is to be made of a state, besides those at times that must be met.
bool ExplicitAnalysis::report_due() const {
  if (steps_.report_every > 0 && report_.steps % steps_.report_every == 0) return true;
  return steps_.report_interval > 0 && state_.time >= next_report_ - steps_fit * steps_.report_interval;
}

/// Energies, their balance, recorders. Elements take over their history as the state is committed.
void ExplicitAnalysis::report_state() {
  integrator().measure(*model_, state_);
  check_balance();
  if (steps_.report_interval > 0 && state_.time >= next_report_ - steps_fit * steps_.report_interval)
    next_report_ =
        steps_.start +
        steps_.report_interval * (std::floor((state_.time - steps_.start) / steps_.report_interval + steps_fit) + 1);
  SolveReport report;
  report.converged = true;
  report.reason = "explicit";
  commit(state_, report);
}

void ExplicitAnalysis::check_balance() {
  const EnergyBalance& e = energies();
  const std::string where = "explicit dynamics, time " + short_number(state_.time, 9);
  const double missing = e.numerical();
  if (!std::isfinite(missing) || !std::isfinite(e.scale()))
    throw Error(ErrorCode::not_converged,
                "the energies are not finite after " + std::to_string(report_.steps) +
                    " steps: the steps are too long for the model, or its loads are not finite",
                where);
  largest_supply_ = std::max({largest_supply_, supplied_energy(e), integrator().forcing()});
  if (largest_supply_ == 0) return;
  const double share = std::abs(missing) / largest_supply_;
  report_.worst_balance = std::max(report_.worst_balance, share);
  if (share <= steps_.balance_tolerance) return;
  throw Error(ErrorCode::not_converged,
              "the energies are out of balance after " + std::to_string(report_.steps) +
                  " steps: " + short_number(std::abs(missing), 4) +
                  (missing < 0 ? " appeared from nothing" : " were lost") + ", " + short_number(100 * share, 4) +
                  " % of the energy that was supplied (allowed are " + short_number(100 * steps_.balance_tolerance, 4) +
                  " %; kinetic " + short_number(e.kinetic, 4) + ", internal " + short_number(e.internal, 4) +
                  ", external work " + short_number(e.external, 4) + ", damped " + short_number(e.damping, 4) +
                  (e.viscous != 0 ? ", by bulk viscosity " + short_number(e.viscous, 4) : "") +
                  "); choose shorter steps",
              where);
}

void ExplicitAnalysis::advance(std::int64_t steps) {
  state();
  if (steps < 1) throw Error(ErrorCode::misuse, "an explicit analysis advances by 1, 2, 3, ... steps");
  for (std::int64_t k = 0; k < steps && !at_end();) {
    k += take_steps(steps - k).steps;
    if (k < steps && !at_end()) CentralDifferences::take_history(*model_, state_);
  }
  report_state();
}

void ExplicitAnalysis::report_progress() {
  if (!watch) return;
  const double seconds = watch_since_->seconds();
  const double done = state_.time - watched_from_, left = steps_.end - state_.time;
  const int steps = static_cast<int>(std::min<std::int64_t>(report_.steps, std::numeric_limits<int>::max()));
  if (!watch({state_.time, steps_.end, size_, steps, seconds, done > 0 ? seconds * std::max(0.0, left) / done : 0.0}))
    throw Error(ErrorCode::cancelled, "cancelled at time " + short_number(state_.time, 9));
}

StepResult ExplicitAnalysis::result(bool recover) {
  const AnalysisState& now = state();
  StepResult found = make_step_result(*model_, integrator(), now, {}, recover);
  found.step = "time " + short_number(now.time, 10);
  return found;
}

std::vector<StepResult> ExplicitAnalysis::run() {
  start();
  return finish();
}

std::vector<StepResult> ExplicitAnalysis::finish() {
  state();
  std::vector<StepResult> results;
  watched_from_ = state_.time;
  watch_since_.emplace();
  while (!at_end()) {
    bool met = take_steps(steps_to_report()).met;
    while (!met && !report_due()) {
      CentralDifferences::take_history(*model_, state_);
      met = take_steps(steps_to_report()).met;
    }
    report_state();
    if (met) {
      StepResult found = result(recover_);
      if (finished)
        finished(state_.time, std::move(found));
      else
        results.push_back(std::move(found));
    }
    report_progress();
  }
  return results;
}

}  // namespace voussoir
