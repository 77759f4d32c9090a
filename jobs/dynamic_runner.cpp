#include <voussoir/jobs/detail/dynamic_runner.hpp>

#include <algorithm>
#include <cmath>

#include <voussoir/backends/number_text.hpp>
#include <voussoir/framework/analysis/mode_set.hpp>
#include <voussoir/framework/analysis/static_analysis.hpp>
#include <voussoir/framework/analysis/step.hpp>
#include <voussoir/framework/analysis/stopwatch.hpp>
#include <voussoir/framework/domain/large_displacements.hpp>
#include <voussoir/jobs/detail/dynamic_recorder.hpp>
#include <voussoir/jobs/detail/integration_notes.hpp>
#include <voussoir/jobs/detail/nan.hpp>
#include <voussoir/jobs/detail/step_bytes.hpp>
#include <voussoir/jobs/summary.hpp>
#include <voussoir/solvers/numbering.hpp>

namespace voussoir::detail {
namespace {

/// Why statics has increments.
std::string statics_text(const Domain& domain) {
  for (std::size_t b = 0; b < domain.block_count(); ++b)
    if (has_large_displacements(domain.block(b).type())) return "statics with large displacements: ";
  return "statics in increments: ";
}

/// What the increments of a step were, and what its energies are.
std::string implicit_statement(TransientAnalysis& analysis, const std::string& method) {
  const TransientReport& report = analysis.report();
  const bool is_static = analysis.integrator().is_static();
  std::string text = (is_static ? statics_text(analysis.model().domain()) : "direct integration (" + method + "): ") +
                     std::to_string(report.steps) + (report.steps == 1 ? " increment" : " increments");
  if (report.smallest_step != report.largest_step)
    text += " from " + short_number(report.smallest_step, 4) + " to " + short_number(report.largest_step, 4);
  if (report.rejected + report.failed > 0)
    text += ", " + std::to_string(report.rejected + report.failed) + " more were repeated with shorter ones";
  if (is_static)
    return text + ", " + std::to_string(report.factorisations) + " iterations of Newton's method; internal energy " +
           short_number(analysis.energies().internal, 4) + ", work of loads and supports " +
           short_number(analysis.energies().external, 4) + " (trapezoidal rule)";
  const HeatAccount& heat = analysis.heat();
  if (!analysis.integrator().needs_initial_rates())
    return text + "; heat since the beginning: stored " + short_number(heat.stored, 4) + ", from loads " +
           short_number(heat.loads, 4) + ", from prescribed temperatures " + short_number(heat.supports, 4) +
           ", missing " + short_number(heat.missing(), 2);
  return text + energies_text(analysis.energies());
}

std::vector<std::pair<std::string, double>> implicit_counts(const TransientReport& report) {
  return {{"increments", report.steps},
          {"rejected", report.rejected},
          {"not_converged", report.failed},
          {"matrices", report.factorisations},
          {"iterations", static_cast<double>(report.iterations)},
          {"smallest_increment", report.smallest_step},
          {"largest_increment", report.largest_step}};
}

/// A transient analysis with a numberer of its own; null: as the options say.
std::unique_ptr<TransientAnalysis> make_numbered_analysis(const Domain& domain, std::shared_ptr<Backend> backend,
                                                          TransientOptions options,
                                                          const std::shared_ptr<DofNumberer>& numberer) {
  if (!numberer) return make_transient_analysis(domain, std::move(backend), options);
  options.numbering = "plain";  // nothing is measured for a division that is replaced
  Analysis::Collaborators parts = make_transient_analysis(domain, std::move(backend), options)->collaborators();
  parts.numberer = numberer;
  auto analysis = std::make_unique<TransientAnalysis>(domain, std::move(parts));
  analysis->set_whole_pressure_tangent(options.tangent != "symmetric");
  return analysis;
}

/// Displacements or velocities of single nodes as a field of the model; NaN elsewhere.
NodalField motion_field(const AnalysisModel& model, const std::vector<InitialMotion>& entries) {
  NodalField field{field_name(model.unknown_names()), model.unknown_names(), {}};
  field.values.assign(static_cast<std::size_t>(model.domain().node_count()) * field.components.size(), nan);
  for (const InitialMotion& entry : entries)
    field.values[static_cast<std::size_t>(entry.node) * field.components.size() +
                 static_cast<std::size_t>(field.component_index(entry.unknown))] = entry.value;
  return field;
}

/// A field with the unknowns of a model, in their order. The field of a step that was divided in another way has those
/// of the whole model.
NodalField field_of(const AnalysisModel& model, NodalField field) {
  if (field.components.empty() || field.components == model.unknown_names()) return field;
  NodalField own{field.name, model.unknown_names(), {}};
  std::vector<int> columns;
  for (const std::string& name : own.components) columns.push_back(field.component_index(name));
  for (std::int32_t n = 0; n < model.domain().node_count(); ++n)
    for (const int column : columns) own.values.push_back(field.at(n, column));
  return own;
}

/// The history of elements as bytes, which the next step reads with its own model; empty where they have none.
std::string history_bytes(const AnalysisModel& model, const AnalysisState& state) {
  if (!model.has_history() || !state.history) return {};
  AnalysisState carrier;
  carrier.name = "history";
  carrier.history = state.history;
  std::ostringstream bytes;
  save_state(model, carrier, bytes);
  return bytes.str();
}

}  // namespace

std::shared_ptr<const ElementHistory> DynamicRunner::read_history(const AnalysisModel& model,
                                                                  const std::string& bytes) {
  if (bytes.empty()) return nullptr;
  std::istringstream in(bytes);
  return restore_state(model, in).history;
}

std::string DynamicRunner::where(std::size_t step) const {
  const JobStep& asked = job_.steps[step];
  return asked.where.empty() ? "step '" + asked.name + "'" : asked.where;
}

void DynamicRunner::run(std::size_t step, const NodalField* initial) {
  const DynamicStep& request = std::get<DynamicStep>(job_.steps[step].modal);
  const auto saved = make_checkpoint ? make_checkpoint(step) : std::make_shared<StepCheckpoint>(checkpoints_, step);
  if (saved->is_complete()) return take_over(step, *saved);
  try {
    if (request.explicit_method)
      integrate_explicitly(step, request, *saved);
    else
      integrate(step, request, initial, *saved);
  } catch (const NotConverged&) {
    throw;
  } catch (const Error& error) {
    const bool has_place = error.where().find(where(step)) != std::string::npos;
    if ((error.code() != ErrorCode::bad_input && error.code() != ErrorCode::not_converged) || has_place) throw;
    throw Error(error.code(), error.text(), where(step) + (error.where().empty() ? "" : ", " + error.where()));
  }
}

/// A step that an earlier run of the job has finished.
void DynamicRunner::take_over(std::size_t step, const StepCheckpoint& saved) {
  saved.replay_files();
  saved.visit_rows([&](std::string_view bytes) { take_heated_row(bytes, heated_); });
  const std::string bytes = saved.ending();
  ByteReader in(bytes, "the end of step '" + job_.steps[step].name + "'");
  StepEnd end = get_end(in);
  in.expect_end();
  ends_.clear();
  ends_[step] = {std::move(end.displacement), std::move(end.velocity), std::move(end.history)};
  equations_ = end.account.equations;
  free_equations_ = end.account.free_equations;
  matrix_ = std::move(end.account.matrix);
  notes_ = std::move(end.account.notes);
  times_ = {{"integrate", end.account.seconds}};
  receiver_.end(step, std::move(end.response));
}

void DynamicRunner::conclude(std::size_t step, const DynamicStep& request, StepResponse response,
                             StepCheckpoint& saved) {
  if (saved.is_on()) {
    const End& reached = ends_.at(step);
    StepEnd end{std::move(response), reached.displacement, reached.velocity, reached.history, {}};
    end.account = {equations_, free_equations_, matrix_, notes_, times_.empty() ? 0 : times_.front().seconds};
    ByteWriter out;
    put(out, end);
    response = std::move(end.response);
    saved.finish(request.times.start + request.times.period, out.bytes());
  }
  receiver_.end(step, std::move(response));
}

void DynamicRunner::set_loads(TimeLoads& loads, const DynamicStep& request) {
  for (const StepLoad& load : request.loads)
    if (load.course)
      loads.add_load_case(load.load_case, load.course);
    else
      loads.add_load_case(load.load_case, load.amplitude, load.real);
  for (const BaseMotion& base : request.base)
    loads.add_base_acceleration(ModeSet::direction_names()[static_cast<std::size_t>(base.direction)], base.acceleration,
                                base.real);
  for (const MovedSupports& moved : request.moved) {
    std::vector<TimeLoads::Place> places;
    for (const MovedSupports::Place& place : moved.places) places.push_back({place.node, place.unknown});
    if (places.empty())
      loads.move_supports(SupportMotion::by_displacement(moved.displacement));
    else
      loads.move_supports(std::move(places), SupportMotion::by_displacement(moved.displacement));
  }
}

DynamicRunner::End DynamicRunner::initial_motion(const AnalysisModel& model, const DynamicStep& request,
                                                 const NodalField* initial) const {
  if (initial) return {*initial, {}, {}};
  if (request.continues) {
    End motion = ends_.at(*request.continues);
    motion.displacement = field_of(model, std::move(motion.displacement));
    motion.velocity = field_of(model, std::move(motion.velocity));
    return motion;
  }
  End motion;
  if (!request.displacement.empty()) motion.displacement = motion_field(model, request.displacement);
  if (!request.velocity.empty()) motion.velocity = motion_field(model, request.velocity);
  return motion;
}

void DynamicRunner::integrate(std::size_t step, const DynamicStep& request, const NodalField* initial,
                              StepCheckpoint& saved) {
  const Stopwatch stopwatch;
  const JobStep& asked = job_.steps[step];
  TransientOptions options(options_);
  if (options.relative_tolerance == StaticOptions().relative_tolerance)  // nobody asked for another
    options.relative_tolerance = TransientOptions().relative_tolerance;
  options.method = request.method;
  options.damping = {request.alpha, request.beta};
  const Domain& domain = *job_.domains[asked.domain];
  const auto recorder =
      make_recorder ? make_recorder(step, request) : make_step_recorder(job_, step, request, receiver_, heated_);
  recorder->checkpoint = &saved;
  TimeSteps steps;
  steps.end = request.times.period;
  steps.step = request.times.increment;
  steps.automatic = request.times.automatic;
  steps.tolerance = request.times.tolerance;
  steps.shortest = request.times.shortest;
  if (request.times.largest_change > 0) steps.largest_change = request.times.largest_change;
  if (request.times.longest > 0) steps.longest = request.times.longest;
  steps.times = recorder->targets();
  steps.most_steps = request.times.most_increments;
  const auto make = [&](const std::shared_ptr<DofNumberer>& numberer) {
    auto made =
        make_analysis ? make_analysis(domain, options) : make_numbered_analysis(domain, backend_, options, numberer);
    // With checkpoints, an increment is brought to its end before the run stops.
    made->observer = [&](const Progress& progress) { return !tell_ || tell_(step, progress, -1) || saved.is_on(); };
    made->set_steps(steps);
    made->add_recorder(recorder);
    made->finished = [](double, StepResult) {};  // the recorder passes states on
    made->set_recovery(false);
    set_loads(made->loads(), request);
    End motion = initial_motion(made->model(), request, initial);
    made->set_initial_unknowns(std::move(motion.displacement));
    made->set_initial_velocity(std::move(motion.velocity));
    made->set_initial_history(read_history(made->model(), motion.history));
    return made;
  };
  const auto analysis = run_saved(step, request, make, *recorder, saved);
  keep_end(step, analysis->integrator(), analysis->model(), analysis->state());
  take_report(*analysis, stopwatch.seconds());
  StepResponse response = recorder->finish(analysis->integrator());
  response.counts = implicit_counts(analysis->report());
  const bool is_static = asked.procedure == Procedure::nonlinear_statics;
  if (!request.times.automatic && !is_static)
    for (std::string& note : notes_on_missed_pulses(request, request.times.increment))
      response.notes.push_back(std::move(note));
  if (std::string note = note_on_created_energy(analysis->energies()); !note.empty() && !is_static)
    response.notes.push_back(std::move(note));
  for (std::string& note : notes_on_hardening(analysis->model(), *(whole_job ? *whole_job : job_).domains[asked.domain],
                                              [&] { return analysis->result(); }))
    response.notes.push_back(std::move(note));
  add_held_notes(analysis->model(), request, response);
  response.statement = implicit_statement(*analysis, request.method);
  conclude(step, request, std::move(response), saved);
}

std::unique_ptr<StepBalancer> DynamicRunner::make_balancer() const {
  if (make_analysis || backend_->devices() == 1 || !measures_speeds(options_.numbering)) return nullptr;
  return std::make_unique<StepBalancer>(balancing);
}

bool DynamicRunner::tell_time(std::size_t step, const DynamicStep& request, const TransientProgress& p) const {
  Progress progress;
  progress.stage =
      "time " + short_number(request.times.start + p.time, 4) + " of " + short_number(request.times.start + p.end, 4);
  progress.seconds = p.seconds;
  return !tell_ || tell_(step, progress, p.seconds_left);
}

void DynamicRunner::add_held_notes(const AnalysisModel& model, const DynamicStep& request,
                                   StepResponse& response) const {
  if (request.continues || make_analysis) return;
  const auto name = [&](std::int32_t node) { return job_.instances.node(model.domain().node_id(node)); };
  for (std::string& note : notes_on_held_motions(model, request, name)) response.notes.push_back(std::move(note));
}

void DynamicRunner::keep_end(std::size_t step, TimeIntegrator& method, const AnalysisModel& model,
                             const AnalysisState& state) {
  ends_.clear();
  ends_[step] = {method.motion(model, state, 0), method.motion(model, state, 1), history_bytes(model, state)};
}

std::optional<RestartState::Motion> DynamicRunner::motion() const {
  if (ends_.empty()) return std::nullopt;
  const auto& [step, end] = *ends_.begin();
  return RestartState::Motion{step, end.displacement, end.velocity, end.history};
}

void DynamicRunner::set_motion(const RestartState::Motion& motion) {
  ends_[motion.step] = {motion.displacement, motion.velocity, motion.history};
}

void DynamicRunner::take_model_report(Analysis& analysis, double seconds) {
  const AnalysisModel& model = analysis.model();
  equations_ = std::max<std::int64_t>(equations_, model.equation_count());
  free_equations_ = std::max<std::int64_t>(free_equations_, model.free_equation_count());
  if (times_.empty()) times_.push_back({"integrate", 0});
  times_.front().seconds += seconds;
  if (make_analysis) return;
  for (const std::string& note : analysis.notes())
    if (std::find(notes_.begin(), notes_.end(), note) == notes_.end()) notes_.push_back(note);
}

void DynamicRunner::take_report(TransientAnalysis& analysis, double seconds) {
  take_model_report(analysis, seconds);
  matrix_ = analysis.collaborators().soe->describe();
  if (const int count = analysis.report().inaccurate; count > 0)
    notes_.push_back(std::to_string(count) + (count == 1 ? " increment has" : " increments have") +
                     " a larger estimated error than the tolerance, because the smallest increment does not allow "
                     "shorter ones; allow a smaller one");
}

}  // namespace voussoir::detail
