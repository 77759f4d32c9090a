#include <voussoir/jobs/process_job.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <voussoir/jobs/detail/load_case_index.hpp>
#include <voussoir/jobs/detail/merged_step.hpp>
#include <voussoir/jobs/detail/modal_runner.hpp>
#include <voussoir/jobs/detail/process_checks.hpp>
#include <voussoir/jobs/detail/process_dynamic_step.hpp>
#include <voussoir/jobs/detail/process_mode_step.hpp>
#include <voussoir/jobs/detail/process_restart.hpp>
#include <voussoir/jobs/detail/process_shares.hpp>
#include <voussoir/jobs/detail/process_stress_step.hpp>
#include <voussoir/jobs/detail/whole_model_check.hpp>
#include <voussoir/jobs/mode_files.hpp>
#include <voussoir/partition/process/process_modes.hpp>
#include <voussoir/partition/process/process_statics.hpp>
#include <voussoir/solvers/registries.hpp>

namespace voussoir {
namespace {

/// A job on one of the processes.
class ProcessRunner {
 public:
  ProcessRunner(Engine& engine, Job* whole, const ProcessOptions& options,
                const std::function<bool(const JobProgress&)>& observer, StepReceiver* receiver,
                RunCheckpoints* checkpoints)
      : engine_(engine),
        processes_(engine.processes()),
        whole_(processes_.is_first() ? whole : nullptr),
        options_(options),
        observer_(observer),
        receiver_(receiver),
        checkpoints_(checkpoints),
        part_(own_.part) {}
  /// With a part that each process has already.
  ProcessRunner(Engine& engine, ReceivedPart& part, const ProcessOptions& options,
                const std::function<bool(const JobProgress&)>& observer, PartReceiver& receiver,
                RunCheckpoints* checkpoints)
      : engine_(engine),
        processes_(engine.processes()),
        whole_(nullptr),
        options_(options),
        observer_(observer),
        receiver_(nullptr),
        checkpoints_(checkpoints),
        part_receiver_(&receiver),
        part_(part.part) {
    own_.bytes = part.bytes;
    own_.mechanisms = std::move(part.mechanisms);
    own_.notes = std::move(part.notes);
    step_notes_ = std::move(part.step_notes);
  }

  ProcessJobResult run() {
    open_backend();
    if (!part_receiver_) {
      agree(processes_, [&] {
        if (processes_.is_first() && !receiver_)
          throw Error(ErrorCode::misuse, "process 0 needs a receiver of the results");
      });
      check_whole();
      divide();
      places_ = detail::collect_places(processes_, part_);
    }
    load_cases_.emplace(part_.job);
    find_heaters();
    if (!part_receiver_) begin_restart();
    for (std::size_t s = start_.first_step; s < part_.job.steps.size(); ++s) {
      const Procedure procedure = part_.job.steps[s].procedure;
      if (procedure == Procedure::frequency)
        find_modes(s);
      else if (uses_modes(procedure))
        superpose(s);
      else if (procedure == Procedure::thermal_stress)
        stress(s);
      else if (detail::has_increments(procedure))
        integrate(s);
      else
        solve(s);
      if (restart_) restart_->end_step(s, dynamics_.get());
    }
    report();
    return std::move(result_);
  }

  ReceivedPart take_part() {
    open_backend();
    check_whole();
    divide();
    own_.step_notes = std::move(step_notes_);
    return std::move(own_);
  }

 private:
  void open_backend() {
    placement_ = engine_.placement();
    share_processors(placement_);
    agree(processes_, [&] {
      backend_ = Backend::open(process_backend(backend_in_list(options_.backend, processes_.own()), placement_));
      backend_->choose(options_.work);
    });
  }

  void check_whole() {
    agree(processes_, [&] {
      if (!processes_.is_first()) return;
      if (!whole_) throw Error(ErrorCode::misuse, "process 0 needs a job");
      check_process_job(*whole_);
      tell("check supports");
      detail::WholeModelCheck check(*whole_, backend_);
      own_.mechanisms = check.run(own_.notes);
      possible_motions_ = check.take_possible_motions();
      step_notes_ = check.take_step_notes();
    });
  }

  /// Divides the job on process 0 and sends each process its part.
  void divide() {
    std::optional<JobDivision> division;
    agree(processes_, [&] {
      tell("divide");
      if (whole_) division.emplace(*whole_, processes_.count(), options_.partitioner);
    });
    // An error while other processes wait for their parts is thrown after all of them have received a message.
    std::function<void()> rethrow = [] {};
    const std::string bytes = processes_.distribute([&](int p) -> std::string {
      try {
        return encode(division->part(p));
      } catch (...) {
        rethrow = [error = std::current_exception()] { std::rethrow_exception(error); };
        return {};
      }
    });
    division.reset();
    agree(processes_, [&] { rethrow(); });
    agree(processes_, [&] { part_ = decode(bytes, "the part of process " + std::to_string(processes_.own())); });
    own_.bytes = static_cast<std::int64_t>(bytes.size());
  }

  /// Notes which steps need the unknowns of which others.
  void find_heaters() {
    for (const JobStep& step : part_.job.steps) {
      if (step.heated_by) heaters_.insert(*step.heated_by);
      const auto* request = std::get_if<DynamicStep>(&step.modal);
      if (request && request->continues) heaters_.insert(*request->continues);
    }
  }

  /// Takes what the job continues (*RESTART, READ).
  void begin_restart() {
    restart_.emplace(processes_, part_, places_, whole_, receiver_);
    start_ = restart_->begin();
    for (auto& [step, unknowns] : start_.unknowns) {
      previous_[part_.job.steps[step].domain] = unknowns;
      unknowns_[step] = std::move(unknowns);
    }
  }

  bool tell(const char* stage) {
    if (observer_ && !observer_({0, std::max<std::size_t>(1, whole_ ? whole_->steps.size() : 1), "", {stage, 0, 0, 0}}))
      throw Error(ErrorCode::cancelled, std::string("cancelled before '") + stage + "'");
    return true;
  }

  /// The temperatures of an earlier step as a load case; those that the step itself specifies take precedence.
  std::string add_heat(std::size_t index) {
    const JobStep& step = part_.job.steps[index];
    Domain& domain = *part_.job.domains[step.domain];
    const LoadCase* const loads = load_cases_->find(step);
    const std::vector<double>* const own = loads && !loads->temperatures().empty() ? &loads->temperatures() : nullptr;
    std::vector<double> values(static_cast<std::size_t>(domain.node_count()), std::numeric_limits<double>::quiet_NaN());
    const NodalField& field = unknowns_.at(*step.heated_by);
    if (!field.components.empty()) values = field.values;  // a part without elements has no field
    for (std::size_t n = 0; n < values.size(); ++n)
      if (std::isnan(values[n]) || (own && n < own->size() && !std::isnan((*own)[n])))
        values[n] = domain.initial_temperature(static_cast<std::int32_t>(n));
    std::string name = "temperatures of '" + part_.job.steps[*step.heated_by].name + "' in '" + step.name + "'";
    const auto is_taken = [&] {
      return std::any_of(domain.load_cases().begin(), domain.load_cases().end(),
                         [&](const auto& c) { return c->name() == name; });
    };
    while (is_taken()) name += " again";
    domain.add_load_case(name).temperature_field(std::move(values));
    return name;
  }

  void apply_supports(std::size_t index) {
    const JobStep& step = part_.job.steps[index];
    Domain& domain = *part_.job.domains[step.domain];
    const auto before = previous_.find(step.domain);
    const NodalField* const field = before == previous_.end() ? nullptr : &before->second;
    if (!step.supports || applied_[step.domain] == step.supports) return;
    step.supports->apply(domain, field && !field->components.empty() ? field : nullptr);
    // Process 0 judges by the supports of the whole model which sums of reactions are meaningful.
    if (whole_) whole_->steps[index].supports->apply(*whole_->domains[step.domain]);
    // Supports that stay where the step before has left them differ from step to step.
    if (step.supports->kept.empty()) applied_[step.domain] = step.supports;
  }

  /// Refuses what steps in increments do not do on several processes.
  void check_increments(const JobStep& step) const {
    const std::string& storage = options_.engine.storage;
    if (!std::get<DynamicStep>(step.modal).explicit_method && storage != "auto" && storage != "csr")
      throw Error(
          ErrorCode::unavailable,
          "on several processes, steps in increments store their matrices by rows; leave out --storage " + storage,
          detail::place_of_step(step));
    if (processes_.is_first() && !part_.has_elements(step.domain))
      throw Error(ErrorCode::unavailable,
                  "process 0 has no elements of the model of this step, so that it cannot record it; use fewer "
                  "processes",
                  detail::place_of_step(step));
  }

  ProcessStatics& analysis_of(std::size_t domain) {
    auto& analysis = analyses_[domain];
    if (!analysis) analysis = std::make_unique<ProcessStatics>(part_, domain, engine_, backend_, options_.engine);
    return *analysis;
  }

  void solve(std::size_t index) {
    const JobStep& step = part_.job.steps[index];
    Step asked{step.name, {}, 1.0};
    agree(processes_, [&] {
      apply_supports(index);
      if (!step.load_case.empty()) asked.load_cases[step.load_case] = step.load_factor;
      if (step.heated_by) asked.load_cases[add_heat(index)] = 1.0;
    });
    ProcessStatics& analysis = analysis_of(step.domain);
    if (observer_)
      analysis.observer = [&](const Progress& progress) {
        return observer_({index, part_.job.steps.size(), step.name, progress});
      };
    const auto later = part_.job.steps.begin() + static_cast<std::ptrdiff_t>(index) + 1;
    const bool is_last = std::none_of(later, part_.job.steps.end(), [&](const JobStep& other) {
      return other.domain == step.domain && other.procedure != Procedure::frequency;
    });
    StepResult found = analysis.solve(asked, is_last);
    iterated_ = iterated_ || analysis.iterated();
    analysis.observer = nullptr;
    if (heaters_.count(index)) unknowns_[index] = found.unknowns;
    previous_[step.domain] = found.unknowns;
    if (part_receiver_)
      part_receiver_->step(index, std::move(found), step.heated_by ? &unknowns_.at(*step.heated_by) : nullptr);
    else
      pass_on(index, found);
    result_.job.equations = std::max(result_.job.equations, analysis.equation_count());
    result_.job.free_equations = std::max(result_.job.free_equations, analysis.free_equation_count());
  }

  /// Implicit dynamics, transient heat and statics in increments.
  void integrate(std::size_t index) {
    const JobStep& step = part_.job.steps[index];
    agree(processes_, [&] {
      check_increments(step);
      apply_supports(index);
    });
    if (!dynamics_)
      dynamics_ = std::make_unique<detail::ProcessDynamicStep>(
          engine_, part_, backend_, options_.engine, places_, whole_, receiver_, part_receiver_, checkpoints_,
          [this](std::size_t s, const Progress& progress, double left) {
            return !observer_ || observer_({s, part_.job.steps.size(), part_.job.steps[s].name, progress, left});
          });
    if (start_.motion) dynamics_->set_motion(*std::exchange(start_.motion, std::nullopt));
    const bool heat = step.procedure == Procedure::transient_heat;
    const auto& continues = std::get<DynamicStep>(step.modal).continues;
    const NodalField* initial = nullptr;
    if (heat && continues && part_.has_elements(step.domain)) initial = &unknowns_.at(*continues);
    dynamics_->run(index, initial, step_notes_[index]);
    if (heat) previous_[step.domain] = dynamics_->end_of(index);
    if (heat && heaters_.count(index)) unknowns_[index] = previous_[step.domain];
    result_.job.equations = std::max(result_.job.equations, dynamics_->equation_count());
    result_.job.free_equations = std::max(result_.job.free_equations, dynamics_->free_equation_count());
  }

  /// What process 0 has found in the geometry of the whole model.
  PossibleFreeMotions possible_motions(std::size_t index) {
    std::string text;
    if (const auto known = possible_motions_.find(index); known != possible_motions_.end())
      text = (known->second.others_possible ? "+" : "=") + std::to_string(known->second.count);
    processes_.broadcast(text);
    return text.empty() ? PossibleFreeMotions() : PossibleFreeMotions{std::stoi(text.substr(1)), text[0] == '+'};
  }

  void find_modes(std::size_t index) {
    const JobStep& step = part_.job.steps[index];
    agree(processes_, [&] { apply_supports(index); });
    auto& analysis = modal_[step.domain];
    if (!analysis) analysis = std::make_unique<ProcessModes>(part_, step.domain, engine_, backend_, options_.engine);
    if (observer_)
      analysis->observer = [&](const Progress& progress) {
        return observer_({index, part_.job.steps.size(), step.name, progress});
      };
    analysis->set_possible_free_motions(possible_motions(index));
    EigenReport report;
    if (part_receiver_) {
      report = detail::modes_in_pieces(part_, index, *analysis, *part_receiver_);
    } else {
      detail::ProcessModeStep found(processes_, part_, places_, whole_, receiver_);
      report = found.run(index, *analysis);
      agree(processes_, [&] {
        if (whole_) superposition().take_modes(index, found.modes());
      });
    }
    analysis->observer = nullptr;
    JobResult& job = result_.job;
    for (const std::string& note : report.notes)
      if (std::find(job.notes.begin(), job.notes.end(), note) == job.notes.end()) job.notes.push_back(note);
    if (const std::string fault = fault_of(report, EigenRequest().tolerance); !fault.empty())
      job.faults.push_back(detail::place_of_step(step) + ": " + fault);
    job.equations = std::max(job.equations, analysis->equation_count());
    job.free_equations = std::max(job.free_equations, analysis->free_equation_count());
  }

  /// On process 0, which superposes the modes that all processes have found.
  detail::ModalRunner& superposition() {
    if (!superposition_)
      superposition_ = std::make_unique<detail::ModalRunner>(*whole_, backend_, tell_modes_, *receiver_);
    return *superposition_;
  }

  void superpose(std::size_t index) {
    agree(processes_, [&] {
      apply_supports(index);
      if (whole_) superposition().run(index);
    });
  }

  /// Static states under the temperatures that a step of transient heat has recorded.
  void stress(std::size_t index) {
    const JobStep& step = part_.job.steps[index];
    std::vector<detail::HeatedState> states;
    if ((whole_ || part_receiver_) && dynamics_) states = dynamics_->take_heated(index);
    ProcessStatics& analysis = analysis_of(step.domain);
    if (observer_)
      analysis.observer = [&](const Progress& progress) {
        return observer_({index, part_.job.steps.size(), step.name, progress});
      };
    applied_[step.domain] = nullptr;  // supports move from state to state
    detail::ProcessStressStep(processes_, part_, places_, whole_, receiver_, part_receiver_)
        .run(index, std::move(states), analysis);
    analysis.observer = nullptr;
    iterated_ = iterated_ || analysis.iterated();
    result_.job.equations = std::max(result_.job.equations, analysis.equation_count());
    result_.job.free_equations = std::max(result_.job.free_equations, analysis.free_equation_count());
  }

  /// Merges the results of all parts on process 0 and passes them on.
  void pass_on(std::size_t index, const StepResult& own) {
    const std::size_t domain = part_.job.steps[index].domain;
    StepResult merged = detail::gather_step(processes_, part_, places_, whole_, domain, own);
    agree(processes_, [&] {
      if (!whole_) return;
      if (whole_->steps[index].procedure == Procedure::statics) detail::take_moments_off(*whole_, merged);
      restart_->keep(index, merged.unknowns);
      receiver_->step(index, std::move(merged));
    });
  }

  void add_times(const ProcessAnalysis& analysis) {
    auto& times = result_.job.stage_times;
    for (const StageTime& time : analysis.stage_times()) {
      const auto same =
          std::find_if(times.begin(), times.end(), [&](const StageTime& t) { return t.stage == time.stage; });
      if (same == times.end())
        times.push_back(time);
      else
        same->seconds += time.seconds;
    }
  }

  void report() {
    JobResult& job = result_.job;
    for (const auto& [domain, analysis] : analyses_) add_times(*analysis);
    for (const auto& [domain, analysis] : modal_) add_times(*analysis);
    if (superposition_) {
      for (const StageTime& time : superposition_->stage_times()) job.stage_times.push_back(time);
      job.notes.insert(job.notes.end(), superposition_->notes().begin(), superposition_->notes().end());
    }
    if (dynamics_) {
      job.stage_times.push_back({"integrate", dynamics_->seconds()});
      job.notes.insert(job.notes.end(), dynamics_->notes().begin(), dynamics_->notes().end());
      iterated_ = iterated_ || dynamics_->iterated();
    }
    job.backend = backend_->describe();
    job.threads = backend_->threads();
    job.backend_bytes = backend_->bytes_peak();
    const std::string& storage = options_.engine.storage;
    const bool stored = storage == "auto" || storages().find(storage).stores_matrix;
    job.matrix = (stored ? "sparse rows on " : storage + ", no stored matrix, on ") +
                 std::to_string(processes_.count()) + (processes_.count() == 1 ? " process" : " processes");
    job.notes.insert(job.notes.begin(), own_.notes.begin(), own_.notes.end());
    if (iterated_) job.notes.insert(job.notes.end(), own_.mechanisms.begin(), own_.mechanisms.end());
    for (const std::string& note : engine_.notes()) job.notes.push_back(note);
    result_.parts = detail::collect_shares(processes_, placement_, *backend_, part_, own_.bytes);
  }

  Engine& engine_;
  Processes& processes_;
  Job* whole_;  // null on all processes but the first
  const ProcessOptions& options_;
  const std::function<bool(const JobProgress&)>& observer_;
  StepReceiver* receiver_;
  RunCheckpoints* checkpoints_ = nullptr;  // on process 0
  PartReceiver* part_receiver_ = nullptr;  // null: process 0 merges the results of the parts
  ProcessPlacement placement_;
  std::shared_ptr<Backend> backend_;
  ReceivedPart own_;
  ProcessPart& part_;  // own_.part, or that of the caller
  std::optional<detail::LoadCaseIndex> load_cases_;
  std::vector<detail::PartPlaces> places_;  // of all parts, on process 0
  std::map<std::size_t, std::unique_ptr<ProcessStatics>> analyses_;
  std::map<std::size_t, std::unique_ptr<ProcessModes>> modal_;
  std::unique_ptr<detail::ModalRunner> superposition_;  // on process 0, of modes that were found
  const detail::ModalRunner::Tell tell_modes_ = [this](std::size_t step, const Progress& progress) {
    return !observer_ || observer_({step, part_.job.steps.size(), part_.job.steps[step].name, progress});
  };
  std::optional<detail::ProcessRestart> restart_;  // where process 0 merges the results of the parts
  detail::ProcessRestart::Start start_;
  std::unique_ptr<detail::ProcessDynamicStep> dynamics_;            // of steps in increments
  std::map<std::size_t, PossibleFreeMotions> possible_motions_;     // on process 0, of frequency steps
  std::map<std::size_t, std::vector<std::string>> step_notes_;      // on process 0, of steps in increments
  std::map<std::size_t, std::shared_ptr<const Supports>> applied_;  // per domain
  std::set<std::size_t> heaters_;
  std::map<std::size_t, NodalField> unknowns_;  // of steps that heat others
  std::map<std::size_t, NodalField> previous_;  // per domain: of the step before
  bool iterated_ = false;                       // whether a system was solved by iteration
  ProcessJobResult result_;
};

}  // namespace

ProcessJobResult run_process_job(Engine& engine, Job* job, const ProcessOptions& options,
                                 const std::function<bool(const JobProgress&)>& observer, StepReceiver* receiver,
                                 RunCheckpoints* checkpoints) {
  return ProcessRunner(engine, job, options, observer, receiver, checkpoints).run();
}

ReceivedPart divide_process_job(Engine& engine, Job* job, const ProcessOptions& options,
                                const std::function<bool(const JobProgress&)>& observer) {
  agree(engine.processes(), [&] {
    if (engine.processes().is_first() && job) detail::check_steps_in_pieces(*job);
  });
  return ProcessRunner(engine, job, options, observer, nullptr, nullptr).take_part();
}

ProcessJobResult run_process_part(Engine& engine, ReceivedPart& part, const ProcessOptions& options,
                                  const std::function<bool(const JobProgress&)>& observer, PartReceiver& receiver,
                                  RunCheckpoints* checkpoints) {
  return ProcessRunner(engine, part, options, observer, receiver, checkpoints).run();
}

}  // namespace voussoir
