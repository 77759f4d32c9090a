#include <voussoir/jobs/detail/dynamic_runner.hpp>

#include <algorithm>
#include <cmath>
#include <set>

#include <voussoir/backends/number_text.hpp>
#include <voussoir/framework/analysis/mode_set.hpp>
#include <voussoir/framework/analysis/static_analysis.hpp>
#include <voussoir/framework/analysis/step.hpp>
#include <voussoir/framework/analysis/stopwatch.hpp>
#include <voussoir/jobs/detail/nan.hpp>
#include <voussoir/jobs/detail/step_fields.hpp>
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

  bool is_last(double time) const { return same_time(time, request_.times.period); }

  /// What the state after `increment` increments, at a time of the step, is for.
  void decide(int increment, double time, StepState& state) {
    const bool last = is_last(time);
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

/// Whether histories show an unknown: displacements and temperatures, not rotations.
bool has_curve(const std::string& component) { return component[0] == 'u' || component == "T"; }

/// Sees every state: peaks, histories, energies, and the states that are asked for.
class DynamicRecorder : public Recorder {
 public:
  DynamicRecorder(const Job& job, std::size_t step, const DynamicStep& request, StepReceiver& receiver,
                  std::map<std::size_t, std::vector<HeatedState>>& heated)
      : job_(job),
        asked_(job.steps[step]),
        domain_(*job.domains[asked_.domain]),
        step_(step),
        request_(request),
        receiver_(receiver),
        outputs_(asked_, request),
        heat_(asked_.procedure == Procedure::transient_heat) {
    for (std::size_t i = step + 1; i < job.steps.size(); ++i)
      if (const auto* stress = std::get_if<ThermalStressStep>(&job.steps[i].modal);
          stress && job.steps[i].heated_by == step)
        stresses_.push_back(std::make_unique<Stress>(job.steps[i], request, stress->states, heated[i]));
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
  /// Times that increments must end at.
  std::vector<double> targets() const {
    std::vector<double> all = outputs_.targets();
    const auto add = [&](const std::vector<double>& more) { all.insert(all.end(), more.begin(), more.end()); };
    for (const auto& stress : stresses_) add(stress->outputs.targets());
    // Automatic increments end where a course is not smooth; the analysis knows the points of amplitudes alone.
    for (const StepLoad& load : request_.loads)
      if (load.course && request_.times.automatic)
        for (const Amplitude::Point& point : load.amplitude.points()) all.push_back(point.first);
    std::sort(all.begin(), all.end());
    std::vector<double> list;
    const double near = 1e-9 * request_.times.increment;
    for (const double time : all)
      if (time > near && time < request_.times.period - near && (list.empty() || time > list.back() + near))
        list.push_back(time);
    return list;
  }

  void record(const CommittedState& committed) override {
    auto& method = static_cast<TimeIntegrator&>(committed.integrator);
    const AnalysisModel& model = committed.model;
    const double time = request_.times.start + committed.state.time;
    response_.axis.push_back(time);
    NodalField displacement = method.motion(model, committed.state, 0);
    if (response_.axis.size() == 1) begin(model, displacement);
    take_peaks(displacement, time);
    take_reactions(model, method, committed.state, time);
    if (heat_)
      take_heat(method.heat());
    else
      take_energies(method.energies());
    for (const std::int32_t n : curve_nodes_) keep(displacement, n);
    if (keeps_all_) all_.push_back(displacement.values);
    if (increment_ > 0) {
      for (const auto& stress : stresses_) stress->take(increment_, committed.state.time, displacement);
      pass_on(committed, method, time);
    }
    ++increment_;
  }

  /// What the step amounts to.
  StepResponse finish(TransientAnalysis& analysis) {
    const EnergyBalance& e = analysis.energies();
    const TransientReport& report = analysis.report();
    for (std::size_t c = 0; c < peaks_.size(); ++c)
      if (peaks_[c].node >= 0)
        response_.peaks.push_back({components_[c], peaks_[c].value, peaks_[c].time, name_of(peaks_[c].node)});
    for (std::size_t c = 0; c < reaction_peaks_.size(); ++c)
      response_.peaks.push_back({reaction_word(components_[c]), reaction_peaks_[c].value, reaction_peaks_[c].time, ""});
    add_curves();
    const HeatAccount& heat = analysis.heat();
    if (heat_)
      response_.totals = {
          {"stored", heat.stored}, {"loads", heat.loads}, {"supports", heat.supports}, {"missing", heat.missing()}};
    else
      response_.totals = {{"kinetic", e.kinetic}, {"internal", e.internal}, {"external", e.external},
                          {"damping", e.damping}, {"initial", e.initial},   {"numerical", e.numerical()}};
    response_.counts = {{"increments", report.steps},
                        {"rejected", report.rejected},
                        {"not_converged", report.failed},
                        {"matrices", report.factorisations},
                        {"iterations", static_cast<double>(report.iterations)},
                        {"smallest_increment", report.smallest_step},
                        {"largest_increment", report.largest_step}};
    response_.statement = heat_ ? heat_statement(analysis) : statement(analysis);
    if (!outputs_.note().empty()) response_.notes.push_back(outputs_.note());
    if (analysis.integrator().base_moves())
      response_.notes.emplace_back("the base moves: displacements, velocities and energies are relative to it");
    for (const std::string& text : analysis.integrator().load_notes()) response_.notes.push_back(text);
    if (!sums_)
      response_.notes.emplace_back(
          "sums of reactions are left out of the peaks: the model has supports along directions, by penalty, or of "
          "rotations of rigid bodies; *NODE PRINT has the reactions of nodes");
    return std::move(response_);
  }

 private:
  /// A step of thermal stress that takes temperatures of this one.
  struct Stress {
    Stress(const JobStep& step, const DynamicStep& heat, const StateOutput& states, std::vector<HeatedState>& taken)
        : request(with_states(heat, states)), outputs(step, request), states(taken) {}
    static DynamicStep with_states(const DynamicStep& heat, const StateOutput& states) {
      DynamicStep request;
      request.times = heat.times;
      request.states = states;
      return request;
    }
    void take(int increment, double time, const NodalField& temperatures) {
      StepState state;
      outputs.decide(increment, time, state);
      const bool printed = std::any_of(state.prints.begin(), state.prints.end(), [](char p) { return p != 0; });
      if (state.for_viewers || printed)
        states.push_back({time, state.for_viewers, std::move(state.prints), temperatures.values});
    }
    DynamicStep request;
    DynamicOutputs outputs;
    std::vector<HeatedState>& states;
  };
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
    for (const char* name : heat_ ? std::vector<const char*>{"stored", "loads", "supports", "missing"}
                                  : std::vector<const char*>{"kinetic", "internal", "external", "damping", "numerical"})
      response_.energies.emplace_back(name, std::vector<double>());
    for (const std::int32_t n : curve_nodes_)
      for (const std::string& component : components_)
        if (has_curve(component) && !std::isnan(displacement.at(n, component)))
          response_.histories.emplace_back(name_of(n) + " " + component, std::vector<double>());
  }

  std::string name_of(std::int32_t node) const { return "node " + job_.instances.node(domain_.node_id(node)); }
  static std::string reaction_word(const std::string& unknown) {
    if (unknown == "T") return "heat flow of supports";
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
  void take_reactions(const AnalysisModel& model, TimeIntegrator& method, const AnalysisState& state, double time) {
    if (!sums_) return;
    Backend& backend = model.backend();
    const TimeIntegrator::Memory& forces = method.memory();
    Vector r = heat_ ? method.out_of_balance(model, state) : forces.internal.clone();
    if (!heat_) {
      backend.axpy(-1.0, forces.external, r);
      for (const Vector* force : {&forces.damping, &forces.inertial})
        if (force->layout()) backend.axpy(1.0, *force, r);
    }
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

  void take_heat(const HeatAccount& heat) {
    const double values[] = {heat.stored, heat.loads, heat.supports, heat.missing()};
    for (std::size_t i = 0; i < response_.energies.size(); ++i) response_.energies[i].second.push_back(values[i]);
  }

  void keep(const NodalField& field, std::int32_t node) {
    std::size_t at = 0;
    const std::string prefix = name_of(node) + " ";
    for (const std::string& component : components_) {
      if (!has_curve(component) || std::isnan(field.at(node, component))) continue;
      while (response_.histories[at].first != prefix + component) ++at;
      response_.histories[at].second.push_back(field.at(node, component));
    }
  }

  void pass_on(const CommittedState& committed, TimeIntegrator& method, double time) {
    StepState state;
    outputs_.decide(increment_, committed.state.time, state);
    const bool printed = std::any_of(state.prints.begin(), state.prints.end(), [](char wanted) { return wanted != 0; });
    const bool needed = heat_ && outputs_.is_last(committed.state.time);  // what comes next begins with it
    if (!state.for_viewers && !printed && !needed) return;
    state.at = state.time = time;
    state.result = make_step_result(committed.model, method, committed.state, committed.report,
                                    state.for_viewers || step_prints(asked_, PrintRequest::At::elements));
    state.result.step = "time " + short_number(time, 10);
    if (!heat_) {
      state.velocity = method.motion(committed.model, committed.state, 1);
      state.temperatures = acting_temperatures(job_, asked_, time);
    }
    receiver_.state(step_, std::move(state));
  }

  /// The curve of the node that moves farthest, where no table names any.
  void add_curves() {
    if (!keeps_all_) return;
    TimedPeak farthest;
    for (std::size_t c = 0; c < components_.size(); ++c)
      if (has_curve(components_[c]) && peaks_[c].node >= 0 && std::abs(peaks_[c].value) > std::abs(farthest.value))
        farthest = peaks_[c];
    if (farthest.node < 0) return;
    for (std::size_t c = 0; c < components_.size(); ++c) {
      const std::size_t place = static_cast<std::size_t>(farthest.node) * components_.size() + c;
      if (!has_curve(components_[c]) || std::isnan(all_.front()[place])) continue;
      std::vector<double> curve;
      for (const std::vector<double>& values : all_) curve.push_back(values[place]);
      response_.histories.emplace_back(name_of(farthest.node) + " " + components_[c], std::move(curve));
    }
  }

  std::string increments_text(const TransientReport& report) const {
    std::string text = "direct integration (" + request_.method + "): " + std::to_string(report.steps) +
                       (report.steps == 1 ? " increment" : " increments");
    if (report.smallest_step != report.largest_step)
      text += " from " + short_number(report.smallest_step, 4) + " to " + short_number(report.largest_step, 4);
    if (report.rejected + report.failed > 0)
      text += ", " + std::to_string(report.rejected + report.failed) + " more were repeated with shorter ones";
    return text;
  }

  std::string heat_statement(TransientAnalysis& analysis) const {
    const HeatAccount& heat = analysis.heat();
    return increments_text(analysis.report()) + "; heat since the beginning: stored " + short_number(heat.stored, 4) +
           ", from loads " + short_number(heat.loads, 4) + ", from prescribed temperatures " +
           short_number(heat.supports, 4) + ", missing " + short_number(heat.missing(), 2);
  }

  std::string statement(TransientAnalysis& analysis) const {
    const EnergyBalance& e = analysis.energies();
    std::string text = increments_text(analysis.report());
    text += "; energy at the end: kinetic " + short_number(e.kinetic, 4) + ", internal " + short_number(e.internal, 4) +
            ", damped " + short_number(e.damping, 4) + ", external work " + short_number(e.external, 4) +
            "; the method of integration has dissipated " + short_number(e.numerical(), 4);
    if (e.scale() > 0) text += " (" + short_number(100 * e.numerical() / e.scale(), 3) + " % of the largest)";
    return text;
  }

  const Job& job_;
  const JobStep& asked_;
  const Domain& domain_;
  std::size_t step_;
  const DynamicStep& request_;
  StepReceiver& receiver_;
  DynamicOutputs outputs_;
  std::vector<std::unique_ptr<Stress>> stresses_;
  bool heat_;  // temperatures instead of displacements
  StepResponse response_;
  std::vector<std::int32_t> curve_nodes_;
  std::vector<char> hidden_;  // nodes that are not reported
  std::vector<std::string> components_;
  std::vector<TimedPeak> peaks_, reaction_peaks_;
  std::vector<std::vector<double>> all_;
  bool keeps_all_ = false, sums_ = true;
  int increment_ = 0;
};

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

std::string DynamicRunner::where(std::size_t step) const {
  const JobStep& asked = job_.steps[step];
  return asked.where.empty() ? "step '" + asked.name + "'" : asked.where;
}

void DynamicRunner::run(std::size_t step, const NodalField* initial) {
  try {
    integrate(step, std::get<DynamicStep>(job_.steps[step].modal), initial);
  } catch (const NotConverged&) {
    throw;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::bad_input || error.where().find(where(step)) != std::string::npos) throw;
    throw Error(error.code(), error.text(), where(step) + (error.where().empty() ? "" : ", " + error.where()));
  }
}

void DynamicRunner::set_motion(TransientAnalysis& analysis, const DynamicStep& request,
                               const NodalField* initial) const {
  TimeLoads& loads = analysis.loads();
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
  if (initial) {
    analysis.set_initial_displacement(*initial);
    return;
  }
  if (request.continues) {
    const End& end = ends_.at(*request.continues);
    analysis.set_initial_displacement(end.displacement);
    analysis.set_initial_velocity(end.velocity);
    return;
  }
  if (!request.displacement.empty())
    analysis.set_initial_displacement(motion_field(analysis.model(), request.displacement));
  if (!request.velocity.empty()) analysis.set_initial_velocity(motion_field(analysis.model(), request.velocity));
}

void DynamicRunner::integrate(std::size_t step, const DynamicStep& request, const NodalField* initial) {
  const Stopwatch stopwatch;
  const JobStep& asked = job_.steps[step];
  TransientOptions options(options_);
  if (options.relative_tolerance == StaticOptions().relative_tolerance)  // nobody asked for another
    options.relative_tolerance = TransientOptions().relative_tolerance;
  options.method = request.method;
  options.damping = {request.alpha, request.beta};
  const auto analysis = make_transient_analysis(*job_.domains[asked.domain], backend_, options);
  analysis->observer = [&](const Progress& progress) { return !tell_ || tell_(step, progress, -1); };
  const auto recorder = std::make_shared<DynamicRecorder>(job_, step, request, receiver_, heated_);
  TimeSteps steps;
  steps.end = request.times.period;
  steps.step = request.times.increment;
  steps.automatic = request.times.automatic;
  steps.tolerance = request.times.tolerance;
  steps.shortest = request.times.shortest;
  if (request.times.largest_change > 0) steps.largest_change = request.times.largest_change;
  if (request.times.longest > 0) steps.longest = request.times.longest;
  steps.times = recorder->targets();
  analysis->set_steps(std::move(steps));
  analysis->add_recorder(recorder);
  analysis->finished = [](double, StepResult) {};  // the recorder passes states on
  analysis->set_recovery(false);
  set_motion(*analysis, request, initial);
  analysis->watch = [&](const TransientProgress& p) {
    Progress progress;
    progress.stage =
        "time " + short_number(request.times.start + p.time, 4) + " of " + short_number(request.times.start + p.end, 4);
    progress.seconds = p.seconds;
    return !tell_ || tell_(step, progress, p.seconds_left);
  };
  analysis->run();
  ends_.clear();
  ends_[step] = {analysis->integrator().motion(analysis->model(), analysis->state(), 0),
                 analysis->integrator().motion(analysis->model(), analysis->state(), 1)};
  take_report(*analysis, stopwatch.seconds());
  receiver_.end(step, recorder->finish(*analysis));
}

void DynamicRunner::take_report(TransientAnalysis& analysis, double seconds) {
  const AnalysisModel& model = analysis.model();
  equations_ = std::max<std::int64_t>(equations_, model.equation_count());
  free_equations_ = std::max<std::int64_t>(free_equations_, model.free_equation_count());
  matrix_ = analysis.collaborators().soe->describe();
  if (const int count = analysis.report().inaccurate; count > 0)
    notes_.push_back(std::to_string(count) + (count == 1 ? " increment has" : " increments have") +
                     " a larger estimated error than the tolerance, because the smallest increment does not allow "
                     "shorter ones; allow a smaller one");
  if (times_.empty()) times_.push_back({"integrate", 0});
  times_.front().seconds += seconds;
  for (const std::string& note : analysis.notes())
    if (std::find(notes_.begin(), notes_.end(), note) == notes_.end()) notes_.push_back(note);
}

}  // namespace voussoir::detail
