#include <voussoir/framework/analysis/transient_analysis.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

#include <voussoir/backends/number_text.hpp>
#include <voussoir/framework/analysis/decimal_time.hpp>
#include <voussoir/framework/analysis/detail/energy_parts.hpp>
#include <voussoir/framework/analysis/detail/first_step.hpp>
#include <voussoir/framework/analysis/judged_steps.hpp>
#include <voussoir/framework/analysis/process_group.hpp>
#include <voussoir/framework/analysis/static_analysis.hpp>
#include <voussoir/framework/analysis/step.hpp>
#include <voussoir/framework/model/free_motion.hpp>

namespace voussoir {
namespace {

constexpr double fits = 1e-9;  // times within this share of a step are the same
/// How much of what temperatures would change at their present rate until the loads are no longer smooth counts as
/// their change.
constexpr double counted_ahead = 0.5;

/// Automatic increments of statics grow where Newton's method needs no more iterations than these.
constexpr std::size_t most_easy_iterations = 6;
/// An increment of statics that takes more iterations is repeated with a shorter one.
constexpr int most_static_iterations = 40;

/// Forces of a structure that is nearly at rest leave an unbalance that is rounding from the beginning: it is compared
/// with the forces themselves as well.
class TransientTest : public ConvergenceTest {
 public:
  explicit TransientTest(std::shared_ptr<const double> scale) : scale_(std::move(scale)) {}
  bool converged(const IterationMeasures& measures) const override {
    // Before the first increment nothing is known of the step: small motions of a heavily loaded structure count.
    const double relative = measures.iteration == 0 ? 1e-14 : 1e-10;
    return measures.unbalance <= relative * *scale_ || ConvergenceTest::converged(measures);
  }

 private:
  std::shared_ptr<const double> scale_;
};

std::shared_ptr<TimeIntegrator> time_integrator_of(const std::shared_ptr<Integrator>& given) {
  if (!given) return std::make_shared<NewmarkIntegrator>();
  auto made = std::dynamic_pointer_cast<TimeIntegrator>(given);
  if (!made)
    throw Error(ErrorCode::misuse,
                "a transient analysis needs a TimeIntegrator, such as Newmark's; it was given '" + given->name() + "'");
  return made;
}

Analysis::Collaborators with_time_integrator(Analysis::Collaborators parts) {
  parts.integrator = time_integrator_of(parts.integrator);
  return parts;
}

/// A change that is expected counts as so many times the largest one so far, at most: what changes ever faster by
/// itself, as in ignition, must not be stepped over.
constexpr double most_ahead = 100;

/// What temperatures will have changed by when what acts is no longer smooth, where they change ever faster: the
/// measure of a load that begins with 0, of which the change so far is none. 0 where they slow down. The step that ends
/// at `time` has led from `before` to `size`.
double change_ahead(const TimeSteps& steps, const std::vector<double>& kinks, double time, double step, double before,
                    double size) {
  double from = steps.start, to = steps.end;
  for (const double kink : kinks) {
    if (kink <= time - step + fits * steps.step) from = std::max(from, kink);
    if (kink > time + fits * steps.step) to = std::min(to, kink);
  }
  const double rate = (size - before) / step;
  return rate * (time - from) > size ? counted_ahead * rate * (to - time) : 0;
}

/// What an element that motion has turned inside out is reported with: nothing is wrong with its nodes in the mesh.
std::string without_mesh_advice(std::string reason) {
  const std::string advice = "; check the order and the coordinates of its nodes";
  if (const auto at = reason.find(advice); at != std::string::npos)
    reason.replace(at, advice.size(), " in the deformed state");
  return reason;
}

/// For models whose materials may flow.
constexpr const char* limit_load_advice =
    "If materials are plastic, the load may be the largest that the body carries: reduce it, or prescribe "
    "displacements instead. ";

/// What to do where an increment of statics does not converge.
std::string advice_on_statics(const Domain& domain, bool whole_pressure_tangent, bool automatic) {
  std::string advice;
  if (detail::has_elements(domain, ".hex20.reduced"))
    advice =
        "A single layer of quadratic elements with reduced integration (C3D20R) has motions with almost no "
        "stiffness: use full integration, or more elements over the thickness. ";
  advice += "The load may be the largest that the structure carries, at a limit point or where it buckles. ";
  if (!whole_pressure_tangent) advice += "Pressures that follow a free surface need the whole tangent. ";
  return advice + "Otherwise " +
         (automatic ? "allow shorter increments" : "take smaller increments, or automatic ones");
}

bool has_virtual_elements(const AnalysisModel& model) {
  const auto& batches = model.device_model().part(0).batches;
  return std::any_of(batches.begin(), batches.end(),
                     [](const ElementBatch& batch) { return batch.program->route() == Route::host; });
}

}  // namespace

TransientAnalysis::TransientAnalysis(const Domain& domain, Collaborators collaborators)
    : Analysis(domain, with_time_integrator(std::move(collaborators))) {
  require_system();
}

TransientAnalysis::TransientAnalysis(std::shared_ptr<const Domain> domain, Collaborators collaborators)
    : Analysis(std::move(domain), with_time_integrator(std::move(collaborators))) {
  require_system();
}

TransientAnalysis::~TransientAnalysis() = default;

TimeIntegrator& TransientAnalysis::integrator() const { return static_cast<TimeIntegrator&>(*parts_.integrator); }

void TransientAnalysis::set_steps(TimeSteps steps) {
  const auto positive = [](double x) { return x > 0 && std::isfinite(x); };
  const std::string where = "steps of time";
  if (!positive(steps.step)) throw Error(ErrorCode::bad_input, "the size of a step must be greater than 0", where);
  if (!std::isfinite(steps.start) || !std::isfinite(steps.end) || !(steps.end > steps.start))
    throw Error(ErrorCode::bad_input, "the end must be after the start", where);
  if (steps.start + steps.step * 1e-3 == steps.start || steps.end + steps.step * 1e-3 == steps.end)
    throw Error(ErrorCode::bad_input, "steps are too small for times of this size: they would be lost in rounding",
                where);
  if (steps.automatic && !(positive(steps.tolerance) && steps.largest_change > 0 && steps.shortest >= 0 &&
                           steps.longest > 0 && steps.shortest <= steps.step && steps.step <= steps.longest))
    throw Error(ErrorCode::bad_input,
                "automatic steps need a tolerance and a largest change greater than 0, and a first step between the "
                "shortest and the "
                "longest",
                where);
  for (std::size_t i = 0; i < steps.times.size(); ++i)
    if (!(steps.times[i] > (i == 0 ? steps.start : steps.times[i - 1])) || steps.times[i] > steps.end)
      throw Error(ErrorCode::bad_input, "times that steps must end at must increase, between the start and the end",
                  where);
  if (steps.most_steps < 0) throw Error(ErrorCode::bad_input, "the largest number of steps is negative", where);
  if (steps.automatic && steps.shortest == 0) steps.shortest = 1e-5 * steps.step;
  steps_ = std::move(steps);
}

const AnalysisState& TransientAnalysis::state() const {
  if (!started_) throw Error(ErrorCode::misuse, "a transient analysis has a state after start()");
  return state_;
}

const EnergyBalance& TransientAnalysis::energies() const { return integrator().energies(); }

/// What every run needs: the numbered model, loads over time, the algorithm.
void TransientAnalysis::set_up() {
  prepare();
  TimeIntegrator& method = integrator();
  method.check_model(*model_);
  const auto loads = std::make_shared<TimeLoads>(loads_);
  loads->set_steps_meet_kinks(steps_.automatic);
  method.set_loads(loads, steps_.start);
  ProcessGroup* const group = ProcessGroup::of(*model_);
  method.keep_matrix_over_time(matrix_kept_.value_or(!detail::on_any(*model_, has_virtual_elements(*model_))));
  force_scale_ = std::make_shared<double>(0.0);
  const auto test = std::make_shared<TransientTest>(force_scale_);
  if (model_->is_thermal()) test->force = 1e-11;  // what one step leaves, later ones do not mend
  // A part has other supports than the whole model, which the caller checks.
  if (method.is_static() && !group) require_no_free_motion(find_free_motions(*model_));
  auto newton = std::make_unique<NewtonRaphsonAlgorithm>(test, method.is_static() ? most_static_iterations : 50);
  // The first iterations of a slender body that bends stretch it, and their unbalance is larger than that of the load:
  // shorter ones would lead to the same state in more of them.
  if (method.is_static()) newton->set_line_search({.enabled = false});
  newton->set_whole_pressure_tangent(whole_pressure_tangent_);
  newton_ = std::move(newton);
  watch_since_.emplace();
  kinks_ = steps_.automatic ? loads_.kinks() : std::vector<double>();
  if (group)
    group->unite(kinks_);
  else
    refuse_unjudged_steps();
}

void TransientAnalysis::refuse_unjudged_steps() const {
  if (steps_.automatic && integrator().needs_initial_rates()) require_judged_steps(*model_);
}

// Errors of steps are compared with displacements, which a body that flies away makes as large as one likes.
void require_judged_steps(const AnalysisModel& model) {
  bool held = false;
  for (std::int32_t e = 0; e < model.equation_count() && !held; ++e) held = model.is_prescribed(e);
  if (held && !model.is_linear()) return;  // a pendulum
  const std::vector<FreeMotion> motions = find_free_motions(model);
  if (motions.empty()) return;
  throw Error(ErrorCode::bad_input,
              "automatic steps are not possible where a part can move freely (" + motions.front().text +
                  "): errors are compared with displacements, and these grow without limit; give the size of steps "
                  "(DIRECT in a deck), or support the structure");
}

/// Whether the run that was saved would have taken this step with the matrix of the step before.
bool TransientAnalysis::would_have_kept_matrix(const AnalysisState& state) const {
  return matrix_is_lost_ && matrix_kept_.value_or(!has_virtual_elements(*model_)) &&
         state.time_step == state.committed().time_step &&
         model_->same_matrix(state.committed().case_factors, state.case_factors);
}

SolveReport TransientAnalysis::solve_linear(AnalysisState& state) {
  TimeIntegrator& method = integrator();
  LinearSOE& soe = *parts_.soe;
  soe.set_columns(1);
  SolveReport report;
  for (int attempt = 0; attempt < 2; ++attempt) {
    const bool kept = !detail::on_any(*model_, !method.has_formed(*model_, state, soe));
    if (!kept || attempt > 0) {
      method.form_tangent(*model_, state, soe);
      if (attempt > 0 || detail::on_any(*model_, !would_have_kept_matrix(state))) ++report_.factorisations;
      matrix_is_lost_ = false;
    }
    method.form_unbalance(*model_, state, soe.b());
    if (attempt == 0)
      method.extrapolate(*model_, state, soe.x());
    else
      backend().fill(soe.x(), 0.0);
    report = parts_.solver->solve(soe);
    report_.iterations += std::max(1, report.iterations);
    if (!report.converged) return report;
    method.update(*model_, soe.x(), state);
    // A matrix that was kept although it has changed leaves the step out of balance; one more solve mends it.
    if (!kept || attempt > 0 || method.relative_unbalance(*model_, state) <= 1e-4) break;
  }
  return report;
}

SolveReport TransientAnalysis::solve(AnalysisState& state) {
  if (detail::all_linear(*model_)) return solve_linear(state);
  *force_scale_ = integrator().force_scale(*model_);
  const SolveReport report = newton_->solve(*model_, integrator(), *parts_.soe, *parts_.solver, {&state, 1}).front();
  report_.iterations += report.iterations;
  report_.factorisations += std::max<int>(0, static_cast<int>(report.history.size()) - 1);
  return report;
}

/// Whether a temperature changes by more in the trial step than one step may.
bool TransientAnalysis::changes_too_much(double step, SolveReport& report) {
  changed_ = 0;
  if (std::isinf(steps_.largest_change)) return false;
  Vector change = state_.unknowns.clone();
  backend().axpy(-1.0, state_.committed().unknowns, change);
  backend().clear_constrained(model_->device_model(), change);
  double largest = 0;
  for (const double value : change.to_host()) largest = std::max(largest, std::abs(value));
  if (ProcessGroup* const group = ProcessGroup::of(*model_)) largest = group->maximum(largest);
  changed_ = largest / steps_.largest_change;
  if (changed_ <= 1 + fits) return false;
  report.reason = "a temperature changes by " + short_number(largest, 4) + " in a step of " + short_number(step, 4) +
                  ", and " + short_number(steps_.largest_change, 4) + " is the most that is allowed";
  report.advice = "Allow a shorter step, or a larger change of temperature in a step (DELTMX=, largest_change)";
  report.converged = false;
  return true;
}

/// One step from the committed state. A step that is not accepted leaves the state as it was.
TransientAnalysis::Outcome TransientAnalysis::try_step(double end, double step, SolveReport& report) {
  TimeIntegrator& method = integrator();
  const double before = model_->is_thermal() && steps_.automatic ? method.displacement_measure(*model_, state_) : 0;
  state_.time = end;
  state_.time_step = step;
  try {
    detail::together(*model_, [&] {
      method.begin_step(*model_, state_);
      report = solve(state_);
    });
  } catch (const Error& error) {
    // The prediction of a step that is too long may turn elements inside out.
    if (error.code() != ErrorCode::inverted && error.code() != ErrorCode::not_finite) throw;
    report = {};
    report.solver = "newton-raphson";
    report.reason = (error.where().empty() ? "" : error.where() + ": ") + error.text();
    report.advice = steps_.automatic     ? "Allow shorter increments"
                    : method.is_static() ? "Take smaller increments, or automatic ones"
                                         : "Take shorter steps of time, or automatic ones";
  }
  if (!report.converged || detail::on_any(*model_, !std::isfinite(backend().norm(state_.unknowns)))) {
    report.converged = false;
    report.reason = report.reason.empty() ? "unknowns are not finite" : without_mesh_advice(report.reason);
    if (!report.free_motions.empty())
      report.advice =
          std::string(method.is_static() && model_->has_history() ? limit_load_advice : "") +
          "Some motions have no strain at the integration points, as in a single layer of quadratic elements with "
          "reduced integration (C3D20R): use full integration, or more elements over the thickness. Otherwise look for "
          "parts that are not restrained";
    if (method.is_static() && report.advice.empty())
      report.advice = advice_on_statics(model_->domain(), whole_pressure_tangent_, steps_.automatic);
    method.revert(*model_, state_);
    return Outcome::failed;
  }
  if (!steps_.automatic) return Outcome::accepted;
  if (method.is_static()) {
    // Increments that Newton's method has trouble with are not made longer.
    estimated_ = report.history.size() > most_easy_iterations + 1 ? steps_.tolerance : 0;
    return Outcome::accepted;
  }
  if (changes_too_much(step, report)) {
    method.revert(*model_, state_);
    return step > steps_.shortest * (1 + fits) ? Outcome::rejected : Outcome::failed;
  }
  const double error = method.error_estimate(*model_, state_);
  const double size = method.displacement_measure(*model_, state_);
  double scale = std::max(largest_, size);
  if (model_->is_thermal())
    scale = std::max(scale, std::min(change_ahead(steps_, kinks_, end, step, before, size), most_ahead * scale));
  // While nothing has moved there is nothing to judge a longer step by. The first step that moves anything has an
  // error of the size of what it moves, whatever its length: it must be short.
  estimated_ = scale > 0 ? error / scale : steps_.tolerance;
  if (largest_ == 0 && size > 0 && step > detail::first_moving * steps_.step * (1 + fits)) {
    if (step > steps_.shortest * (1 + fits)) {
      method.revert(*model_, state_);
      return Outcome::rejected;
    }
  }
  if (estimated_ > steps_.tolerance && largest_ > 0) {
    if (step > steps_.shortest * (1 + fits) && !blows_at(end - step)) {
      method.revert(*model_, state_);
      return Outcome::rejected;
    }
    ++report_.inaccurate;
  }
  largest_ = std::max(largest_, size);
  return Outcome::accepted;
}

void TransientAnalysis::accept(const SolveReport& report) {
  const double step = state_.time_step;
  commit(state_, report);
  ++report_.steps;
  report_.largest_step = std::max(report_.largest_step, step);
  report_.smallest_step = report_.steps == 1 ? step : std::min(report_.smallest_step, step);
}

void TransientAnalysis::advance(double step) {
  state();
  SolveReport report;
  if (!(step > 0) || !std::isfinite(step)) throw Error(ErrorCode::misuse, "a step of time needs a size greater than 0");
  const bool automatic = std::exchange(steps_.automatic, false);
  Outcome outcome = Outcome::failed;
  try {
    outcome = try_step(state_.time + step, step, report);
  } catch (...) {
    steps_.automatic = automatic;
    throw;
  }
  steps_.automatic = automatic;
  if (outcome != Outcome::accepted) throw NotConverged(report, {}, "time " + short_number(state_.time + step, 9));
  accept(report);
}

/// Whether supports change their velocity at a time. That is an acceleration at one time, ΔV / h, which acts in the
/// step before and in the step after it: these must be equally long.
bool TransientAnalysis::blows_at(double time) const {
  if (!steps_.automatic || model_->is_thermal() || !integrator().supports_move()) return false;
  return std::any_of(kinks_.begin(), kinks_.end(),
                     [&](double kink) { return std::abs(kink - time) <= fits * steps_.step; });
}

/// The next step: its size, and the time at its end. Fixed steps are counted from the last time that one had to meet,
/// so that rounding does not add up to a tiny step at the end.
TransientAnalysis::NextStep TransientAnalysis::next_step() const {
  double target = steps_.end, origin = steps_.start;
  for (auto time = steps_.times.rbegin(); time != steps_.times.rend(); ++time)
    if (*time > state_.time + fits * steps_.step) target = *time;
  for (const double time : steps_.times)
    if (time <= state_.time + fits * steps_.step) origin = time;
  bool smooth = true;
  for (const double kink : kinks_)
    if (kink > state_.time + fits * steps_.step && kink < target - fits * steps_.step) {
      target = kink;
      smooth = false;
      break;
    }
  const double left = target - state_.time;
  // The step that ends at a kink is not longer than the next one can be.
  if (blows_at(target) && next_step_ > left - fits * steps_.step) {
    double beyond = steps_.end;
    for (const std::vector<double>* list : {&steps_.times, &kinks_})
      for (const double time : *list)
        if (time > target + fits * steps_.step) beyond = std::min(beyond, time);
    const double most = beyond - target;
    if (most > fits * steps_.step && left > most + fits * steps_.step)
      return {left - most, decimal_time(state_.time + (left - most)), false, true};
  }
  // The same size to the last bit keeps the matrix.
  if (std::abs(next_step_ - left) <= fits * steps_.step) return {next_step_, target, smooth, true};
  if (next_step_ > left) return {left, target, smooth, true};
  if (steps_.automatic) {
    const bool last = next_step_ > 0.5 * left;  // no tiny last step
    const double step = last ? 0.5 * left : next_step_;
    return {step, decimal_time(state_.time + step), false, last};
  }
  const double counted = origin + (std::round((state_.time - origin) / next_step_) + 1) * next_step_;
  const double plain = state_.time + next_step_;
  return {next_step_, decimal_time(std::abs(counted - plain) <= 1e-3 * next_step_ ? counted : plain), false, false};
}

void TransientAnalysis::report_progress() {
  if (!watch) return;
  const double seconds = watch_since_->seconds();
  const double done = state_.time - watched_from_, left = steps_.end - state_.time;
  if (!watch({state_.time, steps_.end, state_.time_step, report_.steps, seconds,
              done > 0 ? seconds * std::max(0.0, left) / done : 0.0}))
    throw Error(ErrorCode::cancelled, "cancelled at time " + short_number(state_.time, 9));
}

std::vector<StepResult> TransientAnalysis::run() {
  start();
  return finish();
}

StepResult TransientAnalysis::result(bool recover) {
  const AnalysisState& now = state();
  StepResult found = make_step_result(*model_, integrator(), now, {}, recover);
  found.step = "time " + short_number(now.time, 10);
  return found;
}

std::vector<StepResult> TransientAnalysis::finish() {
  state();
  std::vector<StepResult> results;
  watched_from_ = state_.time;
  watch_since_.emplace();
  while (state_.time < steps_.end - fits * steps_.step) {
    if (steps_.most_steps > 0 && report_.steps >= steps_.most_steps)
      throw Error(ErrorCode::not_converged,
                  "the step has reached time " + short_number(state_.time, 9) + " of " + short_number(steps_.end, 9) +
                      " after " + std::to_string(report_.steps) + (report_.steps == 1 ? " increment" : " increments") +
                      ", the most that are allowed (INC= in a deck, \"most_increments\" in a job file); allow more, or "
                      "larger ones");
    const auto [step, end, meets, shortened] = next_step();
    SolveReport report;
    const Outcome outcome = try_step(end, step, report);
    if (outcome != Outcome::accepted) {
      ++(outcome == Outcome::failed ? report_.failed : report_.rejected);
      if (!steps_.automatic || step <= steps_.shortest * (1 + fits))
        throw NotConverged(report, std::move(results), "time " + short_number(state_.time + step, 9));
      double shorter = 0.5 * std::min(step, next_step_);
      if (outcome == Outcome::rejected && largest_ == 0)
        shorter = std::min(shorter, detail::first_moving * steps_.step);
      next_step_ = std::max(shorter, steps_.shortest);
      continue;
    }
    accept(report);
    if (blows_at(state_.time)) next_step_ = std::min(next_step_, step);
    // The error grows with the third power of the step. Doubling needs some reserve, so that it is not undone at once.
    if (steps_.automatic && !shortened && estimated_ < steps_.tolerance / 12 && changed_ < 0.45)
      next_step_ = std::min(2 * next_step_, steps_.longest);
    const bool ends = state_.time >= steps_.end - fits * steps_.step;
    if (ends || (meets && !steps_.times.empty()) || (results_every_ > 0 && report_.steps % results_every_ == 0)) {
      StepResult found = result(recover_);
      found.report = report;
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
