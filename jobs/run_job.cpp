#include <voussoir/jobs/run_job.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include <voussoir/backends/number_text.hpp>
#include <voussoir/jobs/detail/dynamic_runner.hpp>
#include <voussoir/jobs/detail/load_case_index.hpp>
#include <voussoir/jobs/detail/merged_step.hpp>
#include <voussoir/jobs/detail/modal_runner.hpp>
#include <voussoir/jobs/detail/restart_state.hpp>
#include <voussoir/jobs/plan.hpp>
#include <voussoir/jobs/procedures.hpp>
#include <voussoir/partition/load_balancer.hpp>
#include <voussoir/solvers/cost/device_speeds.hpp>
#include <voussoir/solvers/numbering.hpp>

namespace voussoir {
namespace {

/// A step of mode superposition uses modes of an earlier step of the same model.
void check_modal(const Job& job, std::size_t index, const std::string& where) {
  const JobStep& step = job.steps[index];
  const auto fail = [&](const std::string& text) { throw Error(ErrorCode::misuse, text, where); };
  const auto check_modes = [&](std::size_t modes_of) {
    if (modes_of >= index || job.steps[modes_of].procedure != Procedure::frequency)
      fail("the step superposes the modes of a step that is not an earlier frequency step");
    if (job.steps[modes_of].domain != step.domain) fail("the step superposes the modes of another model");
    if (job.steps[modes_of].supports != step.supports)
      fail("the step has other supports than the step whose modes it superposes");
  };
  if (const auto* dynamic = std::get_if<ModalDynamicStep>(&step.modal)) {
    check_modes(dynamic->modes_of);
    if (dynamic->continues && (*dynamic->continues >= index || *dynamic->continues <= dynamic->modes_of ||
                               !std::holds_alternative<ModalDynamicStep>(job.steps[*dynamic->continues].modal)))
      fail("the step continues a step that is not an earlier one of modal dynamics with the same modes");
  } else if (const auto* harmonic = std::get_if<HarmonicStep>(&step.modal)) {
    check_modes(harmonic->modes_of);
  } else if (const auto* spectrum = std::get_if<SpectrumStep>(&step.modal)) {
    check_modes(spectrum->modes_of);
  } else if (!std::holds_alternative<FrequencyStep>(step.modal)) {
    fail("the step has no request for its procedure");
  }
}

/// A step of direct integration starts at rest, or where an earlier one of the same model ended.
void check_dynamic(const Job& job, std::size_t index, const std::string& where) {
  const auto* request = std::get_if<DynamicStep>(&job.steps[index].modal);
  if (!request) throw Error(ErrorCode::misuse, "the step has no request for its procedure", where);
  if (request->continues &&
      (*request->continues + 1 != index || !std::holds_alternative<DynamicStep>(job.steps[*request->continues].modal) ||
       job.steps[*request->continues].domain != job.steps[index].domain))
    throw Error(ErrorCode::misuse, "the step continues a step other than the dynamic step before it", where);
}

/// A step of transient heat starts at the initial temperatures, or where an earlier heat step of the same model ended.
void check_transient_heat(const Job& job, std::size_t index, const std::string& where) {
  const auto* request = std::get_if<DynamicStep>(&job.steps[index].modal);
  if (!request) throw Error(ErrorCode::misuse, "the step has no request for its procedure", where);
  if (!request->continues) return;
  const std::size_t before = *request->continues;
  if (before >= index || !is_heat(job.steps[before].procedure) || job.steps[before].domain != job.steps[index].domain)
    throw Error(ErrorCode::misuse, "the step continues a step that is not an earlier heat step of the same model",
                where);
}

/// A step of thermal stress takes the temperatures of an earlier step of transient heat.
void check_thermal_stress(const Job& job, std::size_t index, const std::string& where) {
  const JobStep& step = job.steps[index];
  if (!std::holds_alternative<ThermalStressStep>(step.modal))
    throw Error(ErrorCode::misuse, "the step has no request for its procedure", where);
  if (!step.heated_by || *step.heated_by >= index || job.steps[*step.heated_by].procedure != Procedure::transient_heat)
    throw Error(ErrorCode::misuse, "the step takes no temperatures from an earlier step of transient heat", where);
  if (step.supports && !step.supports->kept.empty())
    throw Error(ErrorCode::misuse, "supports of a thermal-stress step cannot keep the displacements of an earlier step",
                where);
}

/// The names of the job's parts must fit each other; a Job may be made by hand.
void check(const Job& job) {
  for (std::size_t i = 0; i < job.steps.size(); ++i) {
    const JobStep& step = job.steps[i];
    const std::string where = step.where.empty() ? "step '" + step.name + "'" : step.where;
    if (step.domain >= job.domains.size() || !job.domains[step.domain])
      throw Error(ErrorCode::misuse,
                  "the step refers to model " + std::to_string(step.domain) + ", but the job has " +
                      std::to_string(job.domains.size()),
                  where);
    if (uses_modes(step.procedure)) {
      check_modal(job, i, where);
      continue;
    }
    if (step.procedure == Procedure::dynamic || step.procedure == Procedure::nonlinear_statics) {
      check_dynamic(job, i, where);
      continue;
    }
    if (step.procedure == Procedure::transient_heat) {
      check_transient_heat(job, i, where);
      continue;
    }
    if (step.procedure == Procedure::thermal_stress)
      check_thermal_stress(job, i, where);
    else
      try {
        procedures().find(procedure_name(step));
      } catch (const Error& error) {
        throw Error(error.code(), error.what(), where);
      }
    if (!step.heated_by) continue;
    if (*step.heated_by >= i || !is_heat(job.steps[*step.heated_by].procedure))
      throw Error(ErrorCode::misuse, "the step takes its temperatures from a step that is not an earlier heat step",
                  where);
    const JobStep& heat = job.steps[*step.heated_by];
    if (job.domains[heat.domain]->node_count() != job.domains[step.domain]->node_count())
      throw Error(ErrorCode::misuse, "the step takes its temperatures from a model with other nodes", where);
  }
}

/// Runs the steps of a job; keeps of finished steps what later ones need.
class Runner {
 public:
  Runner(Job& job, const StaticOptions& options, const std::function<bool(const JobProgress&)>& observer,
         StepReceiver& receiver, RunCheckpoints* checkpoints, const StepBalancer::Options& balancing)
      : job_(job),
        options_(options),
        observer_(observer),
        receiver_(receiver),
        backend_(Backend::open(options.backend)),
        tell_([this](std::size_t step, const Progress& progress) {
          return !observer_ || observer_({step, job_.steps.size(), job_.steps[step].name, progress});
        }),
        tell_left_([this](std::size_t step, const Progress& progress, double left) {
          return !observer_ || observer_({step, job_.steps.size(), job_.steps[step].name, progress, left});
        }),
        modal_(job, backend_, tell_, receiver),
        dynamic_(job, backend_, options, tell_left_, receiver, checkpoints),
        stress_(job, backend_, options, tell_left_, receiver),
        load_cases_(job) {
    dynamic_.balancing = balancing;
    backend_->choose(options.work);
    result_.backend = backend_->describe();
    result_.threads = backend_->threads();
    find_needs();
    if (job.restart) begin_with(detail::read_restart_state(job));
    result_.prediction = predict_run(job, backend_, options);
  }

  JobResult run() {
    for (std::size_t first = job_.first_step(); first < job_.steps.size();) {
      std::size_t last = first + 1;
      if (uses_modes(job_.steps[first].procedure)) {
        apply_supports(job_.steps[first]);
        modal_.run(first);
      } else if (job_.steps[first].procedure == Procedure::dynamic ||
                 job_.steps[first].procedure == Procedure::nonlinear_statics) {
        apply_supports(job_.steps[first]);
        dynamic_.run(first);
      } else if (job_.steps[first].procedure == Procedure::transient_heat) {
        run_transient_heat(first);
      } else if (job_.steps[first].procedure == Procedure::thermal_stress) {
        stress_.run(first, dynamic_.take_heated(first));
      } else {
        while (last < job_.steps.size() && can_join(first, last)) ++last;
        solve_together(first, last);
      }
      if (has_states(job_.steps[first].procedure)) pass_restart(first);
      first = last;
    }
    take_modal_report();
    result_.backend_bytes = backend_->bytes_peak();
    return std::move(result_);
  }

 private:
  bool can_join(std::size_t first, std::size_t step) const {
    const JobStep &a = job_.steps[first], &b = job_.steps[step];
    return a.domain == b.domain && a.supports == b.supports && !has_states(b.procedure) &&
           procedure_name(a) == procedure_name(b) && (!b.heated_by || *b.heated_by < first);
  }

  /// Takes the states that a restart file has of steps that are not solved again.
  void begin_with(detail::RestartState state) {
    if (state.motion) dynamic_.set_motion(*state.motion);
    for (detail::RestartState::Unknowns& found : state.unknowns) {
      // Linear statics is the beginning of a step over time without velocities.
      if (!state.motion && found.step + 1 == job_.first_step() && !is_heat(job_.steps[found.step].procedure))
        dynamic_.set_motion({found.step, found.values, {}, {}});
      previous_[job_.steps[found.step].domain] = found.step;
      unknowns_[found.step] = std::move(found.values);
    }
  }

  /// Passes on what steps of another job need to continue this one.
  void pass_restart(std::size_t step) {
    if (job_.steps[step].restart == RestartWrite::none) return;
    detail::RestartState state;
    for (const auto& [domain, last] : previous_) state.unknowns.push_back({last, unknowns_.at(last)});
    if (auto motion = dynamic_.motion(); motion && motion->step == step) state.motion = std::move(motion);
    receiver_.restart(step, state.to_bytes());
  }

  /// Notes which steps need the unknowns of which others.
  void find_needs() {
    last_heated_.assign(job_.steps.size(), 0);
    last_kept_.assign(job_.domains.size(), 0);
    for (std::size_t i = 0; i < job_.steps.size(); ++i) {
      const JobStep& s = job_.steps[i];
      if (s.heated_by) last_heated_[*s.heated_by] = i;
      // The next step of transient heat begins with the temperatures of the one before.
      if (const auto* request = std::get_if<DynamicStep>(&s.modal);
          request && request->continues && s.procedure == Procedure::transient_heat)
        last_heated_[*request->continues] = i;
      if (s.supports && !s.supports->kept.empty()) last_kept_[s.domain] = i;
    }
  }

  /// Whether a step after `step` needs its unknowns: to be heated by them, or to be held where they are. Those of
  /// another job that continues this one may need them, too.
  bool is_needed_later(std::size_t step) const {
    if (std::any_of(job_.steps.begin() + static_cast<std::ptrdiff_t>(step), job_.steps.end(),
                    [](const JobStep& s) { return s.restart != RestartWrite::none; }))
      return true;
    return last_heated_[step] > step || last_kept_[job_.steps[step].domain] > step;
  }

  /// Temperatures of a step of heat as a load case of their own, which no factor of the step scales. What the step says
  /// itself of a node's temperature counts more.
  std::string add_heat(const JobStep& step) {
    Domain& domain = *job_.domains[step.domain];
    // Steps with the same temperatures share one load case: it has a number for every node.
    const LoadCase* const loads = load_cases_.find(step);
    const bool own_temperatures = loads && !loads->temperatures().empty();
    std::string& name = heating_[{*step.heated_by, step.domain, own_temperatures ? step.load_case : ""}];
    if (!name.empty()) return name;
    const NodalField& field = unknowns_.at(*step.heated_by);
    std::vector<double> values(field.values);
    const std::vector<double>* const own = own_temperatures ? &loads->temperatures() : nullptr;
    for (std::size_t n = 0; n < values.size(); ++n)
      if (std::isnan(values[n]) || (own && n < own->size() && !std::isnan((*own)[n])))
        values[n] = domain.initial_temperature(static_cast<std::int32_t>(n));
    name = "temperatures of '" + job_.steps[*step.heated_by].name + "' in '" + step.name + "'";
    const auto taken = [&] {
      return std::any_of(domain.load_cases().begin(), domain.load_cases().end(),
                         [&](const auto& c) { return c->name() == name; });
    };
    while (taken()) name += " again";
    domain.add_load_case(name).temperature_field(std::move(values));
    return name;
  }

  void apply_supports(const JobStep& step) {
    if (!step.supports) return;
    const auto before = previous_.find(step.domain);
    step.supports->apply(*job_.domains[step.domain],
                         before == previous_.end() ? nullptr : &unknowns_.at(before->second));
  }

  void run_transient_heat(std::size_t step) {
    apply_supports(job_.steps[step]);
    const auto& continues = std::get<DynamicStep>(job_.steps[step].modal).continues;
    dynamic_.run(step, continues ? &unknowns_.at(*continues) : nullptr);
    if (is_needed_later(step)) keep_unknowns(step, dynamic_.end_of(step));
  }

  void keep_unknowns(std::size_t step, NodalField unknowns) {
    const std::size_t domain = job_.steps[step].domain;
    // Of a step that only kept the place of its supports nothing is needed once the next one is there.
    if (const auto before = previous_.find(domain); before != previous_.end() && !heats_later(before->second, step))
      unknowns_.erase(before->second);
    unknowns_[step] = std::move(unknowns);
    previous_[domain] = step;
  }

  void add_time(const StageTime& t) {
    const auto same = std::find_if(result_.stage_times.begin(), result_.stage_times.end(),
                                   [&](const StageTime& s) { return s.stage == t.stage; });
    if (same == result_.stage_times.end())
      result_.stage_times.push_back(t);
    else
      same->seconds += t.seconds;
  }

  void add_note(const std::string& note) {
    if (std::find(result_.notes.begin(), result_.notes.end(), note) == result_.notes.end())
      result_.notes.push_back(note);
  }

  void take_modal_report() {
    for (const StageTime& t : modal_.stage_times()) add_time(t);
    for (const std::string& note : modal_.notes()) add_note(note);
    result_.faults = modal_.faults();
    result_.equations = std::max(result_.equations, modal_.equations());
    result_.free_equations = std::max(result_.free_equations, modal_.free_equations());
    for (const StageTime& t : dynamic_.stage_times()) add_time(t);
    for (const std::string& note : dynamic_.notes()) add_note(note);
    result_.equations = std::max(result_.equations, dynamic_.equations());
    result_.free_equations = std::max(result_.free_equations, dynamic_.free_equations());
    for (const StageTime& t : stress_.stage_times()) add_time(t);
    for (const std::string& note : stress_.notes()) add_note(note);
    result_.equations = std::max(result_.equations, stress_.equations());
    result_.free_equations = std::max(result_.free_equations, stress_.free_equations());
    if (result_.matrix.empty()) result_.matrix = dynamic_.matrix();
    if (result_.matrix.empty()) result_.matrix = "stiffness and mass stored";
  }

  void solve_together(std::size_t first, std::size_t last) {
    Domain& domain = *job_.domains[job_.steps[first].domain];
    apply_supports(job_.steps[first]);
    std::vector<Step> steps;
    for (std::size_t i = first; i < last; ++i) {
      const JobStep& step = job_.steps[i];
      Step asked{step.name, {}, 1.0};
      if (!step.load_case.empty()) asked.load_cases[step.load_case] = step.load_factor;
      if (step.heated_by) asked.load_cases[add_heat(step)] = 1.0;
      steps.push_back(std::move(asked));
    }
    const auto analysis = procedures().find(procedure_name(job_.steps[first])).make(domain, backend_, balanced_);
    for (Step& step : steps) analysis->add_step(std::move(step));
    std::size_t current = first;
    if (observer_)
      analysis->observer = [&](const Progress& progress) {
        const std::size_t step = std::min(current, last - 1);
        return observer_({step, job_.steps.size(), job_.steps[step].name, progress});
      };
    analysis->finished = [&](StepResult found) { take(current++, std::move(found)); };
    analysis->run();

    const AnalysisModel& model = analysis->model();
    result_.equations = std::max<std::int64_t>(result_.equations, model.equation_count());
    result_.free_equations = std::max<std::int64_t>(result_.free_equations, model.free_equation_count());
    result_.matrix = analysis->collaborators().soe->describe();
    for (const StageTime& t : analysis->stage_times()) add_time(t);
    for (const std::string& note : analysis->notes()) add_note(note);
    if (last < job_.steps.size()) balance(model);
  }

  /// Steps that follow are divided by the speeds that devices have now, where those are to be measured and have
  /// changed.
  void balance(const AnalysisModel& model) {
    if (backend_->devices() == 1 || !measures_speeds(options_.numbering)) return;
    const Layout& layout = *model.device_model().layout();
    std::vector<double> work, seconds, busy;
    for (int d = 0; d < layout.devices(); ++d) work.push_back(layout.owned(d));
    seconds = device_seconds(*backend_, layout);
    for (const double s : seconds)
      if (s > 0) busy.push_back(s);
    if (busy.empty() || !LoadBalancer::worth_repartition(busy)) return;
    balanced_.numbering = with_speeds(options_.numbering, LoadBalancer().speeds(work, seconds));
    add_note("devices took different times for their shares (the longest was " +
             short_number(LoadBalancer::imbalance(busy), 3) +
             " times the mean): the steps that follow are divided by the speeds measured");
  }

  void take(std::size_t step, StepResult found) {
    if (job_.steps[step].procedure == Procedure::statics) detail::take_moments_off(job_, found);
    if (is_needed_later(step)) keep_unknowns(step, found.unknowns);
    receiver_.step(step, std::move(found));
    pass_restart(step);
  }

  bool heats_later(std::size_t heat, std::size_t step) const { return last_heated_[heat] > step; }

  Job& job_;
  const StaticOptions& options_;
  StaticOptions balanced_ = options_;  // with the speeds of devices that were measured between steps
  const std::function<bool(const JobProgress&)>& observer_;
  StepReceiver& receiver_;
  std::shared_ptr<Backend> backend_;
  const detail::ModalRunner::Tell tell_;
  detail::DynamicRunner::Tell tell_left_;  // the same, with the seconds that are left
  detail::ModalRunner modal_;
  detail::DynamicRunner dynamic_;
  detail::ThermalStressRunner stress_;
  JobResult result_;
  const detail::LoadCaseIndex load_cases_;
  std::vector<std::size_t> last_heated_;  // of each step: the last one that its temperatures act on; 0: none
  std::vector<std::size_t> last_kept_;    // of each model: the last step held where the one before left it; 0: none
  std::map<std::tuple<std::size_t, std::size_t, std::string>, std::string> heating_;  // load cases of add_heat()
  std::map<std::size_t, NodalField> unknowns_;   // of finished steps, where a later one needs them
  std::map<std::size_t, std::size_t> previous_;  // last finished step of each model, where one is needed
};

/// Takes the last result of each step.
class LastResults : public StepReceiver {
 public:
  explicit LastResults(std::function<void(std::size_t, StepResult)> finished) : finished_(std::move(finished)) {}
  void step(std::size_t step, StepResult result) override { finished_(step, std::move(result)); }
  void modes(std::size_t, std::shared_ptr<const ModeSet> modes) override {
    last_ = {};
    if (modes->count() > 0) last_.unknowns = modes->shapes.back();
  }
  void state(std::size_t, StepState state) override { last_ = std::move(state.result); }
  void end(std::size_t step, StepResponse) override { finished_(step, std::move(last_)); }

 private:
  std::function<void(std::size_t, StepResult)> finished_;
  StepResult last_;  // of a step that has several states
};

}  // namespace

JobResult run_job(Job& job, const StaticOptions& options, const std::function<bool(const JobProgress&)>& observer,
                  StepReceiver& receiver, RunCheckpoints* checkpoints, const StepBalancer::Options& balancing) {
  check(job);
  return Runner(job, options, observer, receiver, checkpoints, balancing).run();
}

JobResult run_job(Job& job, const StaticOptions& options, const std::function<bool(const JobProgress&)>& observer,
                  StepReceiver& receiver, RunCheckpoints* checkpoints) {
  return run_job(job, options, observer, receiver, checkpoints, StepBalancer::Options{});
}

JobResult run_job(Job& job, const StaticOptions& options, const std::function<bool(const JobProgress&)>& observer,
                  const std::function<void(std::size_t step, StepResult)>& finished) {
  std::vector<StepResult> kept;
  LastResults receiver(finished ? finished
                                : [&](std::size_t, StepResult result) { kept.push_back(std::move(result)); });
  JobResult result = run_job(job, options, observer, receiver);
  result.steps = std::move(kept);
  return result;
}

}  // namespace voussoir
