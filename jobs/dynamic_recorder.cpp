#include <voussoir/jobs/detail/dynamic_recorder.hpp>

#include <algorithm>
#include <cmath>

#include <voussoir/backends/number_text.hpp>
#include <voussoir/framework/analysis/decimal_time.hpp>
#include <voussoir/jobs/detail/dynamic_outputs.hpp>
#include <voussoir/jobs/detail/farthest_node.hpp>
#include <voussoir/jobs/detail/nan.hpp>
#include <voussoir/jobs/detail/own_state.hpp>
#include <voussoir/jobs/detail/step_histories.hpp>

namespace voussoir::detail {
namespace {

/// Displacements of nodes are kept up to so many numbers, so that the curve of the one that moves farthest can be
/// drawn; of models of which not even so many states fit there is none.
constexpr std::size_t most_kept_values = 4'000'000, fewest_kept_states = 16;
/// What a row of the history that checkpoints keep is.
constexpr std::uint8_t history_row = 0, heated_row = 1, curves_row = 2;

bool step_prints(const JobStep& step, PrintRequest::At at) {
  return std::any_of(step.prints.begin(), step.prints.end(), [&](const PrintRequest& print) { return print.at == at; });
}

/// Sees every state: peaks, histories, energies, and the states that are asked for.
class DynamicRecorder : public StepRecorder {
 public:
  DynamicRecorder(const Job& job, std::size_t step, const DynamicStep& request, std::unique_ptr<RecordedModel> model)
      : job_(job),
        asked_(job.steps[step]),
        request_(request),
        model_(std::move(model)),
        outputs_(asked_, request),
        curves_(job, step, request.times),
        heat_(asked_.procedure == Procedure::transient_heat),
        static_(asked_.procedure == Procedure::nonlinear_statics) {
    for (std::size_t i = step + 1; i < job.steps.size(); ++i)
      if (std::holds_alternative<ThermalStressStep>(job.steps[i].modal) && job.steps[i].heated_by == step)
        stresses_.push_back(std::make_unique<Stress>(job, i, request));
  }
  std::vector<double> targets() const override {
    std::vector<double> all = outputs_.targets();
    const auto add = [&](const std::vector<double>& more) { all.insert(all.end(), more.begin(), more.end()); };
    for (const auto& stress : stresses_) add(stress->outputs.targets());
    add(curves_.targets());
    // Automatic increments end where a course is not smooth; the analysis knows the points of amplitudes alone.
    for (const StepLoad& load : request_.loads)
      if (load.course && request_.times.automatic)
        for (const Amplitude::Point& point : load.amplitude.points()) all.push_back(point.first);
    return times_within(std::move(all), request_.times);
  }

  void record(const CommittedState& committed) override {
    OwnState state(committed);
    take(state);
  }

  void take(RecordedState& state) override {
    const TimeIntegrator& method = state.method();
    const double time = decimal_time(request_.times.start + state.time());
    response_.axis.push_back(time);
    model_->show(state);
    if (response_.axis.size() == 1) begin();
    take_peaks(time);
    take_reactions(state, time);
    if (heat_)
      take_heat(method.heat());
    else if (static_)
      take_increment(method.energies(), state.report(), time);
    else
      take_energies(method.energies());
    add_row(time);
    if (increment_ > 0)
      for (const auto& stress : stresses_) keep_temperatures(*stress, state.time());
    pass_on(state.time(), time);
    ++increment_;
  }

  void save(ByteWriter& out) const override {
    out.put(increment_).put(outputs_.next()).put(model_->written());
    for (const auto& stress : stresses_) out.put(stress->outputs.next());
    curves_.save(out);
    out.put(last_loads_).put(unstable_);
    for (const auto* peaks : {&peaks_, &reaction_peaks_}) {
      out.put(static_cast<std::uint64_t>(peaks->size()));
      for (const TimedPeak& peak : *peaks) out.put(peak.value).put(peak.time).put(peak.place).put(peak.node);
    }
  }

  void resume(const CommittedState& committed, ByteReader& in) override {
    OwnState state(committed);
    resume_from(state, in);
  }

  void resume_from(RecordedState& state, ByteReader& in) override {
    model_->show(state);
    begin();
    checkpoint->visit_rows([&](std::string_view bytes) {
      ByteReader row(bytes, "the history of the step");
      const auto kind = row.get<std::uint8_t>();
      if (kind == curves_row) return curves_.restore_row(row);
      if (kind == heated_row) {
        const auto of = static_cast<std::size_t>(row.get<std::uint64_t>());
        return model_->restore_temperatures(of, get_heated(row));
      }
      response_.axis.push_back(row.get<double>());
      const auto energies = row.list<double>(), curves = row.list<double>(), sums = row.list<double>();
      if (energies.size() != response_.energies.size() || curves.size() != response_.histories.size() ||
          sums.size() != response_.sums.size())
        row.fail("a row has another number of values");
      for (std::size_t i = 0; i < sums.size(); ++i) response_.sums[i].second.push_back(sums[i]);
      for (std::size_t i = 0; i < energies.size(); ++i) response_.energies[i].second.push_back(energies[i]);
      for (std::size_t i = 0; i < curves.size(); ++i) response_.histories[i].second.push_back(curves[i]);
      if (farthest_) farthest_->add_kept(row.list<double>());
    });
    increment_ = in.get<int>();
    outputs_.set_next(in.get<double>());
    model_->set_written(in.list<double>());
    for (const auto& stress : stresses_) stress->outputs.set_next(in.get<double>());
    curves_.restore(in);
    last_loads_ = in.get<double>();
    unstable_ = in.text();
    for (auto* peaks : {&peaks_, &reaction_peaks_}) {
      if (in.get<std::uint64_t>() != peaks->size()) in.fail("it has another number of peaks");
      for (TimedPeak& peak : *peaks) {
        peak.value = in.get<double>();
        peak.time = in.get<double>();
        peak.place = in.get<std::int64_t>();
        peak.node = in.get<Id>();
      }
    }
  }

  StepResponse finish(TimeIntegrator& method) override {
    const EnergyBalance& e = method.energies();
    for (std::size_t c = 0; c < peaks_.size(); ++c)
      if (peaks_[c].place >= 0)
        response_.peaks.push_back({components_[c], peaks_[c].value, peaks_[c].time, name_of(peaks_[c].node)});
    for (std::size_t c = 0; c < reaction_peaks_.size(); ++c)
      response_.peaks.push_back({reaction_word(components_[c]), reaction_peaks_[c].value, reaction_peaks_[c].time, ""});
    add_curves();
    response_.recorded = curves_.take();
    for (const std::string& text : curves_.notes) response_.notes.push_back(text);
    const HeatAccount& heat = method.heat();
    if (heat_)
      response_.totals = {
          {"stored", heat.stored}, {"loads", heat.loads}, {"supports", heat.supports}, {"missing", heat.missing()}};
    else if (static_)
      response_.totals = {{"internal", e.internal}, {"external", e.external}};
    else
      response_.totals = {{"kinetic", e.kinetic}, {"internal", e.internal}, {"external", e.external},
                          {"damping", e.damping}, {"initial", e.initial},   {"numerical", e.numerical()}};
    if (request_.explicit_method)
      response_.totals.insert(response_.totals.end(),
                              {{"viscous", e.viscous}, {"plastic", e.plastic}, {"hourglass", e.hourglass}});
    if (!outputs_.note().empty()) response_.notes.push_back(outputs_.note());
    if (method.base_moves())
      response_.notes.emplace_back("the base moves: displacements, velocities and energies are relative to it");
    for (const std::string& text : method.load_notes()) response_.notes.push_back(text);
    if (!unstable_.empty()) response_.notes.push_back(unstable_);
    if (!sums_)
      response_.notes.emplace_back(
          "sums of reactions are left out of the peaks: the model has supports along directions, by penalty, or of "
          "rotations of rigid bodies; *NODE PRINT has the reactions of nodes");
    return std::move(response_);
  }

 private:
  /// A step of thermal stress that takes temperatures of this one.
  struct Stress {
    Stress(const Job& job, std::size_t index, const DynamicStep& heat)
        : step(index),
          request(with_states(heat, std::get<ThermalStressStep>(job.steps[index].modal).states)),
          outputs(job.steps[index], request) {}
    static DynamicStep with_states(const DynamicStep& heat, const StateOutput& states) {
      DynamicStep request;
      request.times = heat.times;
      request.states = states;
      return request;
    }
    std::size_t step;
    DynamicStep request;
    DynamicOutputs outputs;
  };
  struct TimedPeak {
    double value = 0, time = 0;
    std::int64_t place = -1;
    Id node = 0;
  };

  void begin() {
    const MotionDigest& motion = model_->motion();
    components_ = motion.components;
    peaks_.resize(components_.size());
    sums_ = model_->has_force_sums();
    if (sums_) reaction_peaks_.resize(components_.size());
    const std::size_t values = static_cast<std::size_t>(model_->node_count()) * components_.size();
    if (model_->curve_nodes().empty() && values * fewest_kept_states <= most_kept_values) {
      std::vector<char> counts;
      for (const std::string& component : components_) counts.push_back(has_curve(component));
      nodes_ = model_->nodes();
      farthest_ = std::make_unique<FarthestNode>(std::move(counts), nodes_.hidden, most_kept_values);
    }
    std::vector<const char*> names{"kinetic", "internal", "external", "damping", "numerical"};
    if (request_.explicit_method) names.insert(names.end(), {"viscous", "plastic", "hourglass"});
    if (heat_) names = {"stored", "loads", "supports", "missing"};
    if (static_) names = {"internal", "external", "iterations", "unbalance"};
    for (const char* name : names) response_.energies.emplace_back(name, std::vector<double>());
    if (sums_)
      for (const std::string& component : components_)
        for (const char* of : {"reaction", "load"})
          response_.sums.emplace_back(sum_word(of, component), std::vector<double>());
    visit_curves(motion, [&](std::size_t k, const std::string& component, double) {
      response_.histories.emplace_back(name_of(model_->curve_nodes()[k].node) + " " + component, std::vector<double>());
    });
  }

  /// The values that curves have of nodes of tables.
  template <class Visit>
  void visit_curves(const MotionDigest& motion, const Visit& visit) {
    const std::size_t width = components_.size();
    for (std::size_t i = 0; i < motion.at_curve_nodes.size(); ++i)
      if (const std::string& component = components_[i % width];
          has_curve(component) && !std::isnan(motion.at_curve_nodes[i]))
        visit(i / width, component, motion.at_curve_nodes[i]);
  }

  std::string name_of(Id node) const { return "node " + job_.instances.node(node); }
  static std::string reaction_word(const std::string& unknown) { return sum_word("reaction", unknown); }
  /// "reaction x", "load rx", "heat flow of loads".
  static std::string sum_word(const std::string& of, const std::string& unknown) {
    if (unknown == "T") return of == "load" ? "heat flow of loads" : "heat flow of supports";
    return of + " " + (unknown.size() == 2 && unknown[0] == 'u' ? unknown.substr(1) : unknown);
  }

  void take_peaks(double time) {
    const MotionDigest& motion = model_->motion();
    for (std::size_t c = 0; c < peaks_.size(); ++c)
      if (const LargestValue& of = motion.largest[c];
          of.place >= 0 && (peaks_[c].place < 0 || std::abs(of.value) > std::abs(peaks_[c].value)))
        peaks_[c] = {of.value, time, of.place, of.node};
  }

  /// Sums of the forces of supports: what all other forces leave at prescribed unknowns.
  void take_reactions(RecordedState& state, double time) {
    if (!sums_) return;
    const ForceSums sums = state.sums(heat_);
    for (std::size_t c = 0; c < sums.reactions.size(); ++c)
      if (increment_ == 0 || std::abs(sums.reactions[c]) > std::abs(reaction_peaks_[c].value))
        reaction_peaks_[c] = {sums.reactions[c], time, -1, 0};
    add_sums(sums, state.method().heat(), time);
  }

  /// Adds the sums of reactions and loads to their histories. The heat that came in by loads is known over a step, so
  /// that its flow is the mean of the step.
  void add_sums(const ForceSums& sums, const HeatAccount& heat, double time) {
    const double step = increment_ == 0 ? 0 : time - response_.axis[response_.axis.size() - 2];
    for (std::size_t c = 0; c < components_.size(); ++c) {
      const bool start_of_heat = heat_ && increment_ == 0;
      response_.sums[2 * c].second.push_back(start_of_heat ? nan : sums.reactions[c]);
      response_.sums[2 * c + 1].second.push_back(start_of_heat ? nan
                                                 : heat_       ? (heat.loads - last_loads_) / step
                                                               : sums.loads[c]);
    }
    last_loads_ = heat.loads;
  }

  void take_energies(const EnergyBalance& e) {
    const double values[] = {e.kinetic,     e.internal, e.external, e.damping,
                             e.numerical(), e.viscous,  e.plastic,  e.hourglass};
    for (std::size_t i = 0; i < response_.energies.size(); ++i) response_.energies[i].second.push_back(values[i]);
  }

  /// Energies of an increment of statics, and how it converged: Newton's iterations, and what the last one left of the
  /// unbalanced force.
  void take_increment(const EnergyBalance& e, const SolveReport& report, double time) {
    if (!report.note.empty() && unstable_.empty()) {
      unstable_ = "at time " + short_number(time, 6) + " " + report.note +
                  ": the equilibrium is not stable there, beyond a limit point or a bifurcation";
    }
    const double iterations = report.history.empty() ? 0.0 : static_cast<double>(report.history.size() - 1);
    // An increment that is in balance from the beginning has no unbalance to compare with.
    const double values[] = {e.internal, e.external, iterations, iterations > 0 ? report.true_residual : nan};
    for (std::size_t i = 0; i < response_.energies.size(); ++i) response_.energies[i].second.push_back(values[i]);
  }

  void take_heat(const HeatAccount& heat) {
    const double values[] = {heat.stored, heat.loads, heat.supports, heat.missing()};
    for (std::size_t i = 0; i < response_.energies.size(); ++i) response_.energies[i].second.push_back(values[i]);
  }

  /// Adds a state to the curves, and to the history that checkpoints keep.
  void add_row(double time) {
    std::vector<double> curves, kept;
    visit_curves(model_->motion(), [&](std::size_t, const std::string&, double value) {
      response_.histories[curves.size()].second.push_back(value);
      curves.push_back(value);
    });
    if (farthest_) kept = farthest_->add(model_->values());
    if (!checkpoint || !checkpoint->is_on()) return;
    ByteWriter row;
    std::vector<double> energies, sums;
    for (const auto& [name, values] : response_.energies) energies.push_back(values.back());
    for (const auto& [name, values] : response_.sums) sums.push_back(values.back());
    row.put(history_row).put(time).put(energies).put(curves).put(sums).put(kept);
    checkpoint->add_row(row.bytes());
  }

  /// Keeps the temperatures of a state that a step of thermal stress needs.
  void keep_temperatures(Stress& stress, double step_time) {
    StepState state;
    stress.outputs.decide(increment_, step_time, state);
    const bool printed = std::any_of(state.prints.begin(), state.prints.end(), [](char p) { return p != 0; });
    if (!state.for_viewers && !printed) return;
    const HeatedState* const kept =
        model_->keep_temperatures(stress.step, {step_time, state.for_viewers, std::move(state.prints), {}});
    if (!kept || !checkpoint || !checkpoint->is_on()) return;
    ByteWriter row;
    row.put(heated_row).put(static_cast<std::uint64_t>(stress.step));
    put(row, *kept);
    checkpoint->add_row(row.bytes());
  }

  /// A state is written where an unknown differs from the last one that was by more than a share of the largest value.
  void choose_by_change(StepState& state) {
    double largest = 0;
    for (std::size_t c = 0; c < peaks_.size(); ++c)
      if (has_curve(components_[c])) largest = std::max(largest, std::abs(peaks_[c].value));
    if (model_->change() > request_.states.change * largest) state.for_viewers = true;
    if (state.for_viewers) model_->mark_written();
  }

  /// Whether files, tables or what comes next need the state, and for what.
  bool is_needed(double step_time, StepState& state) {
    if (increment_ == 0) return false;
    outputs_.decide(increments ? increments() : increment_, step_time, state);
    if (request_.states.change > 0) choose_by_change(state);
    const bool printed = std::any_of(state.prints.begin(), state.prints.end(), [](char wanted) { return wanted != 0; });
    const bool needed = heat_ && outputs_.is_last(step_time);  // what comes next begins with it
    return state.for_viewers || printed || needed;
  }

  /// Gives the state to the curves and to the receiver, where they need it.
  void pass_on(double step_time, double time) {
    StepState state;
    const bool needed = is_needed(step_time, state);
    const StepHistories::Needs curves = curves_.choose(increments ? increments() : increment_, step_time);
    if (!needed && !curves.any) return;
    const bool with_points = needed && (state.for_viewers || step_prints(asked_, PrintRequest::At::elements));
    const bool moves = !heat_ && !static_;
    RecordedModel::Wanted wanted;
    wanted.time = time;
    wanted.points = with_points || curves.points;
    wanted.velocity = moves && (needed || curves.velocity);
    wanted.acceleration = moves && curves.acceleration;
    wanted.temperatures = !heat_ && curves.temperatures;
    model_->form(wanted);
    if (curves.any) add_to_curves(time);
    if (!needed) return;
    state.at = state.time = time;
    state.result.step = "time " + short_number(time, 10);
    model_->pass_on(std::move(state), with_points);
  }

  void add_to_curves(double time) {
    const auto tables = [&](std::size_t request) { return model_->tables_of_history(request, curves_.notes); };
    for (const std::string& bytes : curves_.add(time, increment_ == 0, tables)) {
      if (!checkpoint || !checkpoint->is_on()) continue;
      ByteWriter row;
      row.put(curves_row).raw(bytes);
      checkpoint->add_row(row.bytes());
    }
  }

  /// The curve of the node that moves farthest, where no table names any.
  void add_curves() {
    if (!farthest_) return;
    TimedPeak farthest;
    for (std::size_t c = 0; c < components_.size(); ++c)
      if (has_curve(components_[c]) && peaks_[c].place >= 0 && std::abs(peaks_[c].value) > std::abs(farthest.value))
        farthest = peaks_[c];
    if (farthest.place < 0) return;
    auto place = static_cast<std::int32_t>(farthest.place);
    if (!farthest_->has(place)) {
      place = farthest_->farthest();
      if (place < 0) return;
      response_.notes.push_back("the history is that of " + name_of(nodes_.numbers[static_cast<std::size_t>(place)]) +
                                ", because that of " + name_of(farthest.node) +
                                ", which moves farthest in the end, was not kept; name nodes by *NODE PRINT");
    }
    const std::string name = name_of(nodes_.numbers[static_cast<std::size_t>(place)]);
    for (std::size_t c = 0; c < components_.size(); ++c) {
      if (!has_curve(components_[c])) continue;
      std::vector<double> curve = farthest_->curve(place, c);
      if (!std::isnan(curve.front())) response_.histories.emplace_back(name + " " + components_[c], std::move(curve));
    }
  }

  const Job& job_;
  const JobStep& asked_;
  const DynamicStep& request_;
  std::unique_ptr<RecordedModel> model_;
  DynamicOutputs outputs_;
  StepHistories curves_;  // that the step asks for
  std::vector<std::unique_ptr<Stress>> stresses_;
  bool heat_;    // temperatures instead of displacements
  bool static_;  // no velocities
  StepResponse response_;
  std::vector<std::string> components_;
  std::vector<TimedPeak> peaks_, reaction_peaks_;
  RecordedModel::Nodes nodes_;              // where no table names nodes, and the model is small enough
  std::unique_ptr<FarthestNode> farthest_;  // likewise
  bool sums_ = true;
  double last_loads_ = 0;  // heat that loads have brought in up to the state before
  std::string unstable_;   // the note on the first equilibrium that is not stable
  int increment_ = 0;
};

}  // namespace

std::shared_ptr<StepRecorder> make_step_recorder(const Job& job, std::size_t step, const DynamicStep& request,
                                                 StepReceiver& receiver,
                                                 std::map<std::size_t, std::vector<HeatedState>>& heated) {
  return make_step_recorder(job, step, request, make_recorded_model(job, step, receiver, heated));
}

std::shared_ptr<StepRecorder> make_step_recorder(const Job& job, std::size_t step, const DynamicStep& request,
                                                 std::unique_ptr<RecordedModel> model) {
  return std::make_shared<DynamicRecorder>(job, step, request, std::move(model));
}

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

std::string energies_text(const EnergyBalance& e) {
  std::string parts;
  if (e.plastic != 0) parts += ", of which plastic " + short_number(e.plastic, 4);
  if (e.hourglass != 0) parts += ", of which hourglass " + short_number(e.hourglass, 4);
  if (e.viscous != 0) parts += ", by bulk viscosity " + short_number(e.viscous, 4);
  std::string text = "; energy at the end: kinetic " + short_number(e.kinetic, 4) + ", internal " +
                     short_number(e.internal, 4) + parts + ", damped " + short_number(e.damping, 4) +
                     ", external work " + short_number(e.external, 4) + "; the method of integration has dissipated " +
                     short_number(e.numerical(), 4);
  if (e.scale() > 0) text += " (" + short_number(100 * e.numerical() / e.scale(), 3) + " % of the largest)";
  return text;
}

void take_heated_row(std::string_view bytes, std::map<std::size_t, std::vector<HeatedState>>& heated) {
  ByteReader row(bytes, "the history of the step");
  if (row.get<std::uint8_t>() != heated_row) return;
  const auto stress = static_cast<std::size_t>(row.get<std::uint64_t>());
  heated[stress].push_back(get_heated(row));
}

}  // namespace voussoir::detail
