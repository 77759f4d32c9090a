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
#include <voussoir/jobs/detail/farthest_node.hpp>
#include <voussoir/jobs/detail/integration_notes.hpp>
#include <voussoir/jobs/detail/nan.hpp>
#include <voussoir/jobs/detail/step_bytes.hpp>
#include <voussoir/jobs/summary.hpp>

namespace voussoir::detail {
namespace {

/// Curves of more nodes than this are not read by anybody; tables have them.
constexpr std::size_t most_curve_nodes = 20;
/// Displacements of nodes are kept up to so many numbers, so that the curve of the one that moves farthest can be
/// drawn; of models of which not even so many states fit there is none.
constexpr std::size_t most_kept_values = 4'000'000, fewest_kept_states = 16;
/// Files for viewers, unless somebody says how many.
constexpr double usual_states = 100;
/// Temperatures that are kept for a step of thermal stress: 2 GB.
constexpr double most_heated_values = 2.5e8;

/// What a row of the history that checkpoints keep is.
constexpr std::uint8_t history_row = 0, heated_row = 1;

void put(ByteWriter& out, const HeatedState& state) {
  out.put(state.time).put(state.for_viewers).put(state.prints).put(state.temperatures);
}

HeatedState get_heated(ByteReader& in) {
  HeatedState state;
  state.time = in.get<double>();
  state.for_viewers = in.get<bool>();
  state.prints = in.list<char>();
  state.temperatures = in.list<double>();
  return state;
}

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
    if (every_ > 0 || !request.states.times.empty() || request.states.change > 0) return;
    if (request.states.interval > 0) {
      spacing_ = next_ = request.states.interval;
      return;
    }
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

  /// Where even spacing has come to, for checkpoints.
  double next() const { return next_; }
  void set_next(double next) { next_ = next; }
  bool is_last(double time) const { return same_time(time, request_.times.period); }

  /// What the state after `increment` increments, at a time of the step, is for.
  void decide(std::int64_t increment, double time, StepState& state) {
    const bool last = is_last(time);
    if (!request_.states.times.empty()) {
      state.for_viewers = listed(request_.states.times, time);
    } else if (every_ > 0) {
      state.for_viewers = last || increment % every_ == 0;
    } else if (request_.states.change > 0) {
      state.for_viewers = last;  // or as the recorder finds it
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
class DynamicRecorder : public StepRecorder {
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
        heat_(asked_.procedure == Procedure::transient_heat),
        static_(asked_.procedure == Procedure::nonlinear_statics) {
    for (std::size_t i = step + 1; i < job.steps.size(); ++i)
      if (std::holds_alternative<ThermalStressStep>(job.steps[i].modal) && job.steps[i].heated_by == step)
        stresses_.push_back(std::make_unique<Stress>(job, i, request, heated[i]));
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
  std::vector<double> targets() const override {
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
    else if (static_)
      take_increment(method.energies(), committed.report);
    else
      take_energies(method.energies());
    add_row(displacement, time);
    if (increment_ > 0) {
      for (const auto& stress : stresses_)
        if (stress->take(increment_, committed.state.time, displacement)) save_heated(*stress);
      pass_on(committed, method, time, displacement);
    }
    ++increment_;
  }

  void save(ByteWriter& out) const override {
    out.put(increment_).put(outputs_.next()).put(last_written_);
    for (const auto& stress : stresses_) out.put(stress->outputs.next());
    for (const auto* peaks : {&peaks_, &reaction_peaks_}) {
      out.put(static_cast<std::uint64_t>(peaks->size()));
      for (const TimedPeak& peak : *peaks) out.put(peak.value).put(peak.time).put(peak.node);
    }
  }

  void resume(const AnalysisModel& model, TimeIntegrator& method, const AnalysisState& state, ByteReader& in) override {
    begin(model, method.motion(model, state, 0));
    checkpoint->visit_rows([&](std::string_view bytes) {
      ByteReader row(bytes, "the history of the step");
      if (row.get<std::uint8_t>() == heated_row) {
        const auto of = static_cast<std::size_t>(row.get<std::uint64_t>());
        for (const auto& stress : stresses_)
          if (stress->step == of) stress->states.push_back(get_heated(row));
        return;
      }
      response_.axis.push_back(row.get<double>());
      const auto energies = row.list<double>(), curves = row.list<double>();
      if (energies.size() != response_.energies.size() || curves.size() != response_.histories.size())
        row.fail("a row has another number of values");
      for (std::size_t i = 0; i < energies.size(); ++i) response_.energies[i].second.push_back(energies[i]);
      for (std::size_t i = 0; i < curves.size(); ++i) response_.histories[i].second.push_back(curves[i]);
      if (farthest_) farthest_->add_kept(row.list<double>());
    });
    increment_ = in.get<int>();
    outputs_.set_next(in.get<double>());
    last_written_ = in.list<double>();
    for (const auto& stress : stresses_) stress->outputs.set_next(in.get<double>());
    for (auto* peaks : {&peaks_, &reaction_peaks_}) {
      if (in.get<std::uint64_t>() != peaks->size()) in.fail("it has another number of peaks");
      for (TimedPeak& peak : *peaks) {
        peak.value = in.get<double>();
        peak.time = in.get<double>();
        peak.node = in.get<std::int32_t>();
      }
    }
  }

  StepResponse finish(TimeIntegrator& method) override {
    const EnergyBalance& e = method.energies();
    for (std::size_t c = 0; c < peaks_.size(); ++c)
      if (peaks_[c].node >= 0)
        response_.peaks.push_back({components_[c], peaks_[c].value, peaks_[c].time, name_of(peaks_[c].node)});
    for (std::size_t c = 0; c < reaction_peaks_.size(); ++c)
      response_.peaks.push_back({reaction_word(components_[c]), reaction_peaks_[c].value, reaction_peaks_[c].time, ""});
    add_curves();
    const HeatAccount& heat = method.heat();
    if (heat_)
      response_.totals = {
          {"stored", heat.stored}, {"loads", heat.loads}, {"supports", heat.supports}, {"missing", heat.missing()}};
    else if (static_)
      response_.totals = {{"internal", e.internal}, {"external", e.external}};
    else
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
  /// A step of thermal stress that takes temperatures of this one.
  struct Stress {
    Stress(const Job& job, std::size_t index, const DynamicStep& heat, std::vector<HeatedState>& taken)
        : step(index),
          request(with_states(heat, std::get<ThermalStressStep>(job.steps[index].modal).states)),
          outputs(job.steps[index], request),
          states(taken) {}
    static DynamicStep with_states(const DynamicStep& heat, const StateOutput& states) {
      DynamicStep request;
      request.times = heat.times;
      request.states = states;
      return request;
    }
    /// Whether the state is one that the step of thermal stress needs.
    bool take(int increment, double time, const NodalField& temperatures) {
      StepState state;
      outputs.decide(increment, time, state);
      const bool printed = std::any_of(state.prints.begin(), state.prints.end(), [](char p) { return p != 0; });
      if (!state.for_viewers && !printed) return false;
      if (static_cast<double>(states.size() + 1) * static_cast<double>(temperatures.values.size()) > most_heated_values)
        throw Error(
            ErrorCode::out_of_memory,
            "the temperatures of more than " + std::to_string(states.size()) +
                " increments, at which thermal stress is written or printed, do not fit into 2 GB; choose fewer "
                "by FREQUENCY=N or TIME POINTS= of *NODE PRINT, *EL PRINT and *NODE FILE, or by "
                "\"states_every\" and \"states_at\"");
      states.push_back({time, state.for_viewers, std::move(state.prints), temperatures.values});
      return true;
    }
    std::size_t step;
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
    if (curve_nodes_.empty() && displacement.values.size() * fewest_kept_states <= most_kept_values) {
      std::vector<char> counts;
      for (const std::string& component : components_) counts.push_back(has_curve(component));
      farthest_ = std::make_unique<FarthestNode>(std::move(counts), hidden_, most_kept_values);
    }
    using Names = std::vector<const char*>;
    for (const char* name : heat_     ? Names{"stored", "loads", "supports", "missing"}
                            : static_ ? Names{"internal", "external", "iterations", "unbalance"}
                                      : Names{"kinetic", "internal", "external", "damping", "numerical"})
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

  /// Energies of an increment of statics, and how it converged: Newton's iterations, and what the last one left of the
  /// unbalanced force.
  void take_increment(const EnergyBalance& e, const SolveReport& report) {
    const double iterations = report.history.empty() ? 0.0 : static_cast<double>(report.history.size() - 1);
    const double values[] = {e.internal, e.external, iterations, report.true_residual};
    for (std::size_t i = 0; i < response_.energies.size(); ++i) response_.energies[i].second.push_back(values[i]);
  }

  void take_heat(const HeatAccount& heat) {
    const double values[] = {heat.stored, heat.loads, heat.supports, heat.missing()};
    for (std::size_t i = 0; i < response_.energies.size(); ++i) response_.energies[i].second.push_back(values[i]);
  }

  /// Adds a state to the curves, and to the history that checkpoints keep.
  void add_row(const NodalField& displacement, double time) {
    std::vector<double> curves, kept;
    for (const std::int32_t n : curve_nodes_) keep(displacement, n, curves);
    if (farthest_) kept = farthest_->add(displacement.values);
    if (!checkpoint || !checkpoint->is_on()) return;
    ByteWriter row;
    std::vector<double> energies;
    for (const auto& [name, values] : response_.energies) energies.push_back(values.back());
    row.put(history_row).put(time).put(energies).put(curves).put(kept);
    checkpoint->add_row(row.bytes());
  }

  void save_heated(const Stress& stress) {
    if (!checkpoint || !checkpoint->is_on()) return;
    ByteWriter row;
    row.put(heated_row).put(static_cast<std::uint64_t>(stress.step));
    put(row, stress.states.back());
    checkpoint->add_row(row.bytes());
  }

  void keep(const NodalField& field, std::int32_t node, std::vector<double>& row) {
    std::size_t at = 0;
    const std::string prefix = name_of(node) + " ";
    for (const std::string& component : components_) {
      if (!has_curve(component) || std::isnan(field.at(node, component))) continue;
      while (response_.histories[at].first != prefix + component) ++at;
      response_.histories[at].second.push_back(field.at(node, component));
      row.push_back(field.at(node, component));
    }
  }

  /// A state is written where an unknown differs from the last one that was by more than a share of the largest value.
  void choose_by_change(const NodalField& field, StepState& state) {
    double largest = 0, change = 0;
    for (std::size_t c = 0; c < peaks_.size(); ++c)
      if (has_curve(components_[c])) largest = std::max(largest, std::abs(peaks_[c].value));
    if (last_written_.empty()) last_written_.assign(field.values.size(), 0.0);
    for (std::size_t i = 0; i < field.values.size(); ++i)
      if (has_curve(components_[i % components_.size()]) && !std::isnan(field.values[i]))
        change = std::max(change, std::abs(field.values[i] - last_written_[i]));
    if (change > request_.states.change * largest) state.for_viewers = true;
    if (state.for_viewers) last_written_ = field.values;
  }

  void pass_on(const CommittedState& committed, TimeIntegrator& method, double time, const NodalField& displacement) {
    StepState state;
    outputs_.decide(increments ? increments() : increment_, committed.state.time, state);
    if (request_.states.change > 0) choose_by_change(displacement, state);
    const bool printed = std::any_of(state.prints.begin(), state.prints.end(), [](char wanted) { return wanted != 0; });
    const bool needed = heat_ && outputs_.is_last(committed.state.time);  // what comes next begins with it
    if (!state.for_viewers && !printed && !needed) return;
    state.at = state.time = time;
    state.result = make_step_result(committed.model, method, committed.state, committed.report,
                                    state.for_viewers || step_prints(asked_, PrintRequest::At::elements));
    state.result.step = "time " + short_number(time, 10);
    if (!heat_ && !static_) state.velocity = method.motion(committed.model, committed.state, 1);
    receiver_.state(step_, std::move(state));
  }

  /// The curve of the node that moves farthest, where no table names any.
  void add_curves() {
    if (!farthest_) return;
    TimedPeak farthest;
    for (std::size_t c = 0; c < components_.size(); ++c)
      if (has_curve(components_[c]) && peaks_[c].node >= 0 && std::abs(peaks_[c].value) > std::abs(farthest.value))
        farthest = peaks_[c];
    if (farthest.node < 0) return;
    std::int32_t node = farthest.node;
    if (!farthest_->has(node)) {
      node = farthest_->farthest();
      if (node < 0) return;
      response_.notes.push_back("the history is that of " + name_of(node) + ", because that of " +
                                name_of(farthest.node) +
                                ", which moves farthest in the end, was not kept; name nodes by *NODE PRINT");
    }
    for (std::size_t c = 0; c < components_.size(); ++c) {
      if (!has_curve(components_[c])) continue;
      std::vector<double> curve = farthest_->curve(node, c);
      if (!std::isnan(curve.front()))
        response_.histories.emplace_back(name_of(node) + " " + components_[c], std::move(curve));
    }
  }

  const Job& job_;
  const JobStep& asked_;
  const Domain& domain_;
  std::size_t step_;
  const DynamicStep& request_;
  StepReceiver& receiver_;
  DynamicOutputs outputs_;
  std::vector<std::unique_ptr<Stress>> stresses_;
  bool heat_;    // temperatures instead of displacements
  bool static_;  // no velocities
  StepResponse response_;
  std::vector<std::int32_t> curve_nodes_;
  std::vector<char> hidden_;  // nodes that are not reported
  std::vector<std::string> components_;
  std::vector<TimedPeak> peaks_, reaction_peaks_;
  std::vector<double> last_written_;        // of states that are chosen by change
  std::unique_ptr<FarthestNode> farthest_;  // where no table names nodes
  bool sums_ = true;
  int increment_ = 0;
};

/// What the increments of a step were, and what its energies are.
std::string implicit_statement(TransientAnalysis& analysis, const std::string& method) {
  const TransientReport& report = analysis.report();
  const bool is_static = analysis.integrator().is_static();
  std::string text = (is_static ? "statics with large displacements: " : "direct integration (" + method + "): ") +
                     std::to_string(report.steps) + (report.steps == 1 ? " increment" : " increments");
  if (report.smallest_step != report.largest_step)
    text += " from " + short_number(report.smallest_step, 4) + " to " + short_number(report.largest_step, 4);
  if (report.rejected + report.failed > 0)
    text += ", " + std::to_string(report.rejected + report.failed) + " more were repeated with shorter ones";
  if (is_static)
    return text + ", " + std::to_string(report.factorisations) +
           " iterations of Newton's method; energy at the end: internal " +
           short_number(analysis.energies().internal, 4) + ", external work " +
           short_number(analysis.energies().external, 4);
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
                                                 StepReceiver& receiver,
                                                 std::map<std::size_t, std::vector<HeatedState>>& heated) {
  return std::make_shared<DynamicRecorder>(job, step, request, receiver, heated);
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

void DynamicRunner::run(std::size_t step, const NodalField* initial) {
  const DynamicStep& request = std::get<DynamicStep>(job_.steps[step].modal);
  const StepCheckpoint saved(checkpoints_, step);
  if (saved.is_complete()) return take_over(step, saved);
  try {
    if (request.explicit_method)
      integrate_explicitly(step, request);
    else
      integrate(step, request, initial);
  } catch (const NotConverged&) {
    throw;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::bad_input || error.where().find(where(step)) != std::string::npos) throw;
    throw Error(error.code(), error.text(), where(step) + (error.where().empty() ? "" : ", " + error.where()));
  }
}

/// A step that an earlier run of the job has finished.
void DynamicRunner::take_over(std::size_t step, const StepCheckpoint& saved) {
  saved.replay_files();
  saved.visit_rows([&](std::string_view bytes) {
    ByteReader row(bytes, "the history of the step");
    if (row.get<std::uint8_t>() != heated_row) return;
    const auto stress = static_cast<std::size_t>(row.get<std::uint64_t>());
    heated_[stress].push_back(get_heated(row));
  });
  const std::string bytes = saved.ending();
  ByteReader in(bytes, "the end of step '" + job_.steps[step].name + "'");
  StepResponse response = get_response(in);
  ends_.clear();
  ends_[step].displacement = get_field(in);
  ends_[step].velocity = get_field(in);
  StepAccount account = get_account(in);
  in.expect_end();
  equations_ = account.equations;
  free_equations_ = account.free_equations;
  matrix_ = std::move(account.matrix);
  notes_ = std::move(account.notes);
  times_ = {{"integrate", account.seconds}};
  receiver_.end(step, std::move(response));
}

void DynamicRunner::conclude(std::size_t step, const DynamicStep& request, StepResponse response,
                             StepCheckpoint& saved) {
  if (saved.is_on()) {
    ByteWriter out;
    put(out, response);
    put(out, ends_.at(step).displacement);
    put(out, ends_.at(step).velocity);
    put(out, StepAccount{equations_, free_equations_, matrix_, notes_, times_.empty() ? 0 : times_.front().seconds});
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
  if (initial) return {*initial, {}};
  if (request.continues) return ends_.at(*request.continues);
  End motion;
  if (!request.displacement.empty()) motion.displacement = motion_field(model, request.displacement);
  if (!request.velocity.empty()) motion.velocity = motion_field(model, request.velocity);
  return motion;
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
  StepCheckpoint saved(checkpoints_, step);
  // With checkpoints, an increment is brought to its end before the run stops.
  analysis->observer = [&](const Progress& progress) { return !tell_ || tell_(step, progress, -1) || saved.is_on(); };
  const auto recorder = make_step_recorder(job_, step, request, receiver_, heated_);
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
  analysis->set_steps(std::move(steps));
  analysis->add_recorder(recorder);
  analysis->finished = [](double, StepResult) {};  // the recorder passes states on
  analysis->set_recovery(false);
  set_loads(analysis->loads(), request);
  End motion = initial_motion(analysis->model(), request, initial);
  analysis->set_initial_displacement(std::move(motion.displacement));
  analysis->set_initial_velocity(std::move(motion.velocity));
  run_saved(step, request, *analysis, *recorder, saved);
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
  add_held_notes(analysis->model(), request, response);
  response.statement = implicit_statement(*analysis, request.method);
  conclude(step, request, std::move(response), saved);
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
  if (request.continues) return;
  const auto name = [&](std::int32_t node) { return job_.instances.node(model.domain().node_id(node)); };
  for (std::string& note : notes_on_held_motions(model, request, name)) response.notes.push_back(std::move(note));
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
