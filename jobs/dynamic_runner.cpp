#include <voussoir/jobs/detail/dynamic_runner.hpp>

#include <algorithm>
#include <cmath>
#include <set>

#include <voussoir/backends/number_text.hpp>
#include <voussoir/framework/analysis/mode_set.hpp>
#include <voussoir/framework/analysis/static_analysis.hpp>
#include <voussoir/framework/analysis/step.hpp>
#include <voussoir/framework/analysis/stopwatch.hpp>
#include <voussoir/jobs/detail/dynamic_recorder.hpp>
#include <voussoir/jobs/detail/nan.hpp>
#include <voussoir/jobs/summary.hpp>

namespace voussoir::detail {
namespace {

/// Curves of more nodes than this are not read by anybody; tables have them.
constexpr std::size_t most_curve_nodes = 20;
/// Displacements of all nodes at all times are kept up to so many numbers, so that the curve of the largest can be
/// drawn.
constexpr double most_kept_values = 2e7;
/// Files for viewers, unless somebody says how many.
constexpr double usual_states = 100;

bool step_prints(const JobStep& step, PrintRequest::At at) {
  return std::any_of(step.prints.begin(), step.prints.end(), [&](const PrintRequest& print) { return print.at == at; });
}

/// Which states of a step files and tables are written of.
class DynamicOutputs {
 public:
  DynamicOutputs(const JobStep& step, const DynamicStep& request) : step_(step), request_(request) {
    const DynamicTimes& times = request.times;
    every_ = request.states.every;
    const double increments = std::ceil(times.period / times.increment * (1 - 1e-9));
    if (every_ > 0 || !request.states.times.empty()) return;
    if (times.automatic) {
      spacing_ = times.period / usual_states;
    } else {
      every_ = std::max(1, static_cast<int>(std::ceil(increments / usual_states)));
      if (every_ > 1)
        note_ = "files for viewers have every " + std::to_string(every_) + " of " + short_number(increments, 12) +
                " increments; choose others by *NODE FILE, FREQUENCY=N or TIME POINTS= in a deck, \"states_every\" in "
                "a job file";
    }
  }
  const std::string& note() const { return note_; }

  /// Times that increments must end at.
  std::vector<double> targets() const {
    std::set<double> all(request_.states.times.begin(), request_.states.times.end());
    for (const PrintRequest& print : step_.prints) all.insert(print.times.begin(), print.times.end());
    std::vector<double> list;
    const double near = 1e-9 * request_.times.increment;
    for (const double time : all)
      if (time > near && time < request_.times.period - near && (list.empty() || time > list.back() + near))
        list.push_back(time);
    return list;
  }

  /// What the state after `increment` increments, at a time of the step, is for.
  void decide(std::int64_t increment, double time, StepState& state) {
    const bool last = same_time(time, request_.times.period);
    if (!request_.states.times.empty()) {
      state.for_viewers = listed(request_.states.times, time);
    } else if (every_ > 0) {
      state.for_viewers = last || increment % every_ == 0;
    } else {
      state.for_viewers = last || time >= next_ - 1e-9 * spacing_;
      while (time >= next_ - 1e-9 * spacing_) next_ += spacing_;
    }
    for (const PrintRequest& print : step_.prints)
      state.prints.push_back(!print.times.empty() ? listed(print.times, time)
                                                  : last || increment % std::max(print.every, 1) == 0);
  }

 private:
  bool same_time(double a, double b) const { return std::abs(a - b) <= 1e-9 * request_.times.increment; }
  bool listed(const std::vector<double>& times, double time) const {
    return std::any_of(times.begin(), times.end(), [&](double t) { return same_time(t, time); });
  }

  const JobStep& step_;
  const DynamicStep& request_;
  int every_ = 0;
  double spacing_ = 0, next_ = 0;
  std::string note_;
};

/// Sees every state: peaks, histories, energies, and the states that are asked for.
class DynamicRecorder : public StepRecorder {
 public:
  DynamicRecorder(const Job& job, std::size_t step, const DynamicStep& request, StepReceiver& receiver)
      : job_(job),
        asked_(job.steps[step]),
        domain_(*job.domains[asked_.domain]),
        step_(step),
        request_(request),
        receiver_(receiver),
        outputs_(asked_, request) {
    std::set<std::int32_t> nodes;
    for (const PrintRequest& print : asked_.prints) {
      if (print.at != PrintRequest::At::nodes || print.set.empty()) continue;
      const auto set = domain_.node_set(print.set);
      if (nodes.size() + set.size() <= most_curve_nodes) nodes.insert(set.begin(), set.end());
    }
    curve_nodes_.assign(nodes.begin(), nodes.end());
    hidden_.assign(static_cast<std::size_t>(domain_.node_count()), 0);
    for (std::int32_t n = reported_nodes(job, domain_); n < domain_.node_count(); ++n)
      hidden_[static_cast<std::size_t>(n)] = 1;
    for (const std::int32_t n : job.rotation_nodes) hidden_[static_cast<std::size_t>(n)] = 1;
  }
  std::vector<double> targets() const override { return outputs_.targets(); }

  void record(const CommittedState& committed) override {
    auto& method = static_cast<TimeIntegrator&>(committed.integrator);
    const AnalysisModel& model = committed.model;
    const double time = request_.times.start + committed.state.time;
    response_.axis.push_back(time);
    NodalField displacement = method.motion(model, committed.state, 0);
    if (response_.axis.size() == 1) begin(model, displacement);
    take_peaks(displacement, time);
    take_reactions(model, method, time);
    take_energies(method.energies());
    for (const std::int32_t n : curve_nodes_) keep(displacement, n);
    if (keeps_all_) all_.push_back(displacement.values);
    if (increment_ > 0) pass_on(committed, method, time);
    ++increment_;
  }

  StepResponse finish(TimeIntegrator& method) override {
    const EnergyBalance& e = method.energies();
    for (std::size_t c = 0; c < peaks_.size(); ++c)
      if (peaks_[c].node >= 0)
        response_.peaks.push_back({components_[c], peaks_[c].value, peaks_[c].time, name_of(peaks_[c].node)});
    for (std::size_t c = 0; c < reaction_peaks_.size(); ++c)
      response_.peaks.push_back({reaction_word(components_[c]), reaction_peaks_[c].value, reaction_peaks_[c].time, ""});
    add_curves();
    response_.totals = {{"kinetic", e.kinetic}, {"internal", e.internal}, {"external", e.external},
                        {"damping", e.damping}, {"initial", e.initial},   {"numerical", e.numerical()}};
    if (!outputs_.note().empty()) response_.notes.push_back(outputs_.note());
    if (method.base_moves())
      response_.notes.emplace_back("the base moves: displacements, velocities and energies are relative to it");
    for (const std::string& text : method.load_notes()) response_.notes.push_back(text);
    if (!sums_)
      response_.notes.emplace_back(
          "sums of reactions are left out of the peaks: the model has supports along directions, by penalty, or of "
          "rotations of rigid bodies; *NODE PRINT has the reactions of nodes");
    return std::move(response_);
  }

 private:
  struct TimedPeak {
    double value = 0, time = 0;
    std::int32_t node = -1;
  };

  void begin(const AnalysisModel& model, const NodalField& displacement) {
    components_ = displacement.components;
    peaks_.resize(components_.size());
    sums_ = domain_.oblique_supports().empty() && model.constraints().springs.empty() && job_.rotation_nodes.empty();
    if (sums_) reaction_peaks_.resize(components_.size());
    const double states = request_.times.period / request_.times.increment + 1;
    keeps_all_ = curve_nodes_.empty() && static_cast<double>(displacement.values.size()) * states <= most_kept_values;
    for (const char* name : {"kinetic", "internal", "external", "damping", "numerical"})
      response_.energies.emplace_back(name, std::vector<double>());
    for (const std::int32_t n : curve_nodes_)
      for (const std::string& component : components_)
        if (component[0] == 'u' && !std::isnan(displacement.at(n, component)))
          response_.histories.emplace_back(name_of(n) + " " + component, std::vector<double>());
  }

  std::string name_of(std::int32_t node) const { return "node " + job_.instances.node(domain_.node_id(node)); }
  static std::string reaction_word(const std::string& unknown) {
    return "reaction " + (unknown.size() == 2 && unknown[0] == 'u' ? unknown.substr(1) : unknown);
  }

  void take_peaks(const NodalField& field, double time) {
    const std::size_t width = components_.size();
    for (std::size_t n = 0; n < hidden_.size(); ++n) {
      if (hidden_[n]) continue;
      for (std::size_t c = 0; c < width; ++c)
        if (const double value = field.values[n * width + c];
            !std::isnan(value) && (peaks_[c].node < 0 || std::abs(value) > std::abs(peaks_[c].value)))
          peaks_[c] = {value, time, static_cast<std::int32_t>(n)};
    }
  }

  /// Sums of the forces of supports: what all other forces leave at prescribed unknowns.
  void take_reactions(const AnalysisModel& model, const TimeIntegrator& method, double time) {
    if (!sums_) return;
    Backend& backend = model.backend();
    const TimeIntegrator::Memory& forces = method.memory();
    Vector r = forces.internal.clone();
    backend.axpy(-1.0, forces.external, r);
    for (const Vector* force : {&forces.damping, &forces.inertial})
      if (force->layout()) backend.axpy(1.0, *force, r);
    backend.reduce_dependencies(model.device_model(), r);
    const std::vector<double> values = r.to_host();
    std::vector<double> sums(components_.size(), 0.0);
    for (std::int32_t e = 0; e < model.equation_count(); ++e)
      if (model.is_prescribed(e))
        sums[static_cast<std::size_t>(model.place(e).component)] += values[static_cast<std::size_t>(e)];
    for (std::size_t c = 0; c < sums.size(); ++c)
      if (increment_ == 0 || std::abs(sums[c]) > std::abs(reaction_peaks_[c].value))
        reaction_peaks_[c] = {sums[c], time, -1};
  }

  void take_energies(const EnergyBalance& e) {
    const double values[] = {e.kinetic, e.internal, e.external, e.damping, e.numerical()};
    for (std::size_t i = 0; i < response_.energies.size(); ++i) response_.energies[i].second.push_back(values[i]);
  }

  void keep(const NodalField& field, std::int32_t node) {
    std::size_t at = 0;
    const std::string prefix = name_of(node) + " ";
    for (const std::string& component : components_) {
      if (component[0] != 'u' || std::isnan(field.at(node, component))) continue;
      while (response_.histories[at].first != prefix + component) ++at;
      response_.histories[at].second.push_back(field.at(node, component));
    }
  }

  void pass_on(const CommittedState& committed, TimeIntegrator& method, double time) {
    StepState state;
    outputs_.decide(increments ? increments() : increment_, committed.state.time, state);
    const bool printed = std::any_of(state.prints.begin(), state.prints.end(), [](char wanted) { return wanted != 0; });
    if (!state.for_viewers && !printed) return;
    state.at = state.time = time;
    state.result = make_step_result(committed.model, method, committed.state, committed.report,
                                    state.for_viewers || step_prints(asked_, PrintRequest::At::elements));
    state.result.step = "time " + short_number(time, 10);
    state.velocity = method.motion(committed.model, committed.state, 1);
    receiver_.state(step_, std::move(state));
  }

  /// The curve of the node that moves farthest, where no table names any.
  void add_curves() {
    if (!keeps_all_) return;
    TimedPeak farthest;
    for (std::size_t c = 0; c < components_.size(); ++c)
      if (components_[c][0] == 'u' && peaks_[c].node >= 0 && std::abs(peaks_[c].value) > std::abs(farthest.value))
        farthest = peaks_[c];
    if (farthest.node < 0) return;
    for (std::size_t c = 0; c < components_.size(); ++c) {
      const std::size_t place = static_cast<std::size_t>(farthest.node) * components_.size() + c;
      if (components_[c][0] != 'u' || std::isnan(all_.front()[place])) continue;
      std::vector<double> curve;
      for (const std::vector<double>& values : all_) curve.push_back(values[place]);
      response_.histories.emplace_back(name_of(farthest.node) + " " + components_[c], std::move(curve));
    }
  }

  const Job& job_;
  const JobStep& asked_;
  const Domain& domain_;
  std::size_t step_;
  const DynamicStep& request_;
  StepReceiver& receiver_;
  DynamicOutputs outputs_;
  StepResponse response_;
  std::vector<std::int32_t> curve_nodes_;
  std::vector<char> hidden_;  // nodes that are not reported
  std::vector<std::string> components_;
  std::vector<TimedPeak> peaks_, reaction_peaks_;
  std::vector<std::vector<double>> all_;
  bool keeps_all_ = false, sums_ = true;
  int increment_ = 0;
};

/// What the increments of a step were, and what its energies are.
std::string implicit_statement(TransientAnalysis& analysis, const std::string& method) {
  const TransientReport& report = analysis.report();
  std::string text = "direct integration (" + method + "): " + std::to_string(report.steps) +
                     (report.steps == 1 ? " increment" : " increments");
  if (report.smallest_step != report.largest_step)
    text += " from " + short_number(report.smallest_step, 4) + " to " + short_number(report.largest_step, 4);
  if (report.rejected + report.failed > 0)
    text += ", " + std::to_string(report.rejected + report.failed) + " more were repeated with shorter ones";
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

/// Displacements or velocities of single nodes as a field of the model; NaN elsewhere.
NodalField motion_field(const AnalysisModel& model, const std::vector<InitialMotion>& entries) {
  NodalField field{field_name(model.unknown_names()), model.unknown_names(), {}};
  field.values.assign(static_cast<std::size_t>(model.domain().node_count()) * field.components.size(), nan);
  for (const InitialMotion& entry : entries)
    field.values[static_cast<std::size_t>(entry.node) * field.components.size() +
                 static_cast<std::size_t>(field.component_index(entry.unknown))] = entry.value;
  return field;
}

}  // namespace

std::shared_ptr<StepRecorder> make_step_recorder(const Job& job, std::size_t step, const DynamicStep& request,
                                                 StepReceiver& receiver) {
  return std::make_shared<DynamicRecorder>(job, step, request, receiver);
}

std::string energies_text(const EnergyBalance& e) {
  std::string text = "; energy at the end: kinetic " + short_number(e.kinetic, 4) + ", internal " +
                     short_number(e.internal, 4) + ", damped " + short_number(e.damping, 4) + ", external work " +
                     short_number(e.external, 4) + "; the method of integration has dissipated " +
                     short_number(e.numerical(), 4);
  if (e.scale() > 0) text += " (" + short_number(100 * e.numerical() / e.scale(), 3) + " % of the largest)";
  return text;
}

std::string DynamicRunner::where(std::size_t step) const {
  const JobStep& asked = job_.steps[step];
  return asked.where.empty() ? "step '" + asked.name + "'" : asked.where;
}

void DynamicRunner::run(std::size_t step) {
  const DynamicStep& request = std::get<DynamicStep>(job_.steps[step].modal);
  try {
    if (request.explicit_method)
      integrate_explicitly(step, request);
    else
      integrate(step, request);
  } catch (const NotConverged&) {
    throw;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::bad_input || error.where().find(where(step)) != std::string::npos) throw;
    throw Error(error.code(), error.text(), where(step) + (error.where().empty() ? "" : ", " + error.where()));
  }
}

void DynamicRunner::set_loads(TimeLoads& loads, const DynamicStep& request) {
  for (const StepLoad& load : request.loads) loads.add_load_case(load.load_case, load.amplitude, load.real);
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

DynamicRunner::End DynamicRunner::initial_motion(const AnalysisModel& model, const DynamicStep& request) const {
  if (request.continues) return ends_.at(*request.continues);
  End motion;
  if (!request.displacement.empty()) motion.displacement = motion_field(model, request.displacement);
  if (!request.velocity.empty()) motion.velocity = motion_field(model, request.velocity);
  return motion;
}

void DynamicRunner::integrate(std::size_t step, const DynamicStep& request) {
  const Stopwatch stopwatch;
  const JobStep& asked = job_.steps[step];
  TransientOptions options(options_);
  if (options.relative_tolerance == StaticOptions().relative_tolerance)  // nobody asked for another
    options.relative_tolerance = TransientOptions().relative_tolerance;
  options.method = request.method;
  options.damping = {request.alpha, request.beta};
  const auto analysis = make_transient_analysis(*job_.domains[asked.domain], backend_, options);
  analysis->observer = [&](const Progress& progress) { return !tell_ || tell_(step, progress, -1); };
  const auto recorder = make_step_recorder(job_, step, request, receiver_);
  TimeSteps steps;
  steps.end = request.times.period;
  steps.step = request.times.increment;
  steps.automatic = request.times.automatic;
  steps.tolerance = request.times.tolerance;
  steps.shortest = request.times.shortest;
  if (request.times.longest > 0) steps.longest = request.times.longest;
  steps.times = recorder->targets();
  analysis->set_steps(std::move(steps));
  analysis->add_recorder(recorder);
  analysis->finished = [](double, StepResult) {};  // the recorder passes states on
  analysis->set_recovery(false);
  set_loads(analysis->loads(), request);
  End motion = initial_motion(analysis->model(), request);
  analysis->set_initial_displacement(std::move(motion.displacement));
  analysis->set_initial_velocity(std::move(motion.velocity));
  analysis->watch = [&](const TransientProgress& p) { return tell_time(step, request, p); };
  analysis->run();
  keep_end(step, analysis->integrator(), analysis->model(), analysis->state());
  take_report(*analysis, stopwatch.seconds());
  StepResponse response = recorder->finish(analysis->integrator());
  response.counts = implicit_counts(analysis->report());
  response.statement = implicit_statement(*analysis, request.method);
  receiver_.end(step, std::move(response));
}

bool DynamicRunner::tell_time(std::size_t step, const DynamicStep& request, const TransientProgress& p) const {
  Progress progress;
  progress.stage =
      "time " + short_number(request.times.start + p.time, 4) + " of " + short_number(request.times.start + p.end, 4);
  progress.seconds = p.seconds;
  return !tell_ || tell_(step, progress, p.seconds_left);
}

void DynamicRunner::keep_end(std::size_t step, TimeIntegrator& method, const AnalysisModel& model,
                             const AnalysisState& state) {
  ends_.clear();
  ends_[step] = {method.motion(model, state, 0), method.motion(model, state, 1)};
}

void DynamicRunner::take_model_report(Analysis& analysis, double seconds) {
  const AnalysisModel& model = analysis.model();
  equations_ = std::max<std::int64_t>(equations_, model.equation_count());
  free_equations_ = std::max<std::int64_t>(free_equations_, model.free_equation_count());
  if (times_.empty()) times_.push_back({"integrate", 0});
  times_.front().seconds += seconds;
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
