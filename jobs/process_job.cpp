#include <voussoir/jobs/process_job.hpp>

#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>

#include <voussoir/framework/analysis/judged_steps.hpp>
#include <voussoir/framework/io/checkpoint/bytes.hpp>
#include <voussoir/framework/model/bodies.hpp>
#include <voussoir/framework/model/free_motion.hpp>
#include <voussoir/framework/model/rigid_clusters.hpp>
#include <voussoir/jobs/detail/integration_notes.hpp>
#include <voussoir/jobs/detail/load_case_index.hpp>
#include <voussoir/jobs/detail/mechanism_search.hpp>
#include <voussoir/jobs/detail/merged_step.hpp>
#include <voussoir/jobs/detail/process_checks.hpp>
#include <voussoir/jobs/detail/process_dynamic_step.hpp>
#include <voussoir/jobs/detail/process_mode_step.hpp>
#include <voussoir/jobs/mode_files.hpp>
#include <voussoir/partition/process/part_file.hpp>
#include <voussoir/partition/process/process_modes.hpp>
#include <voussoir/partition/process/process_statics.hpp>
#include <voussoir/solvers/registries.hpp>

namespace voussoir {
namespace {

/// Whether the states of a step follow each other in increments.
bool has_increments(Procedure procedure) {
  return procedure == Procedure::dynamic || procedure == Procedure::nonlinear_statics ||
         procedure == Procedure::transient_heat;
}

std::string place_of(const JobStep& step) { return step.where.empty() ? "step '" + step.name + "'" : step.where; }

/// Looks at the whole model before it is divided: whatever is wrong is named as in a run on one process, and what can
/// move freely is found, which a part alone cannot tell.
class WholeModelCheck {
 public:
  WholeModelCheck(Job& job, std::shared_ptr<Backend> backend) : job_(job), backend_(std::move(backend)) {}

  /// Throws where something can move freely. Returns notes on what iterative methods would not find, and puts those on
  /// the model itself into `general`.
  std::vector<std::string> run(std::vector<std::string>& general) {
    std::set<std::pair<std::size_t, const Supports*>> done;
    for (std::size_t s = 0; s < job_.steps.size(); ++s) {
      const JobStep& step = job_.steps[s];
      const bool vibrates = step.procedure == Procedure::frequency;
      if (has_increments(step.procedure)) {
        if (step.supports) step.supports->apply(*job_.domains[step.domain]);
        look_at_increments(s, general);
        continue;
      }
      if (!vibrates && !done.insert({step.domain, step.supports.get()}).second) continue;
      if (step.supports) step.supports->apply(*job_.domains[step.domain]);
      if (vibrates)
        look_for_free_motions(s, general);
      else
        look_at(*job_.domains[step.domain], general);
    }
    return std::move(notes_);
  }

  /// Of each step in increments, after run(): remarks on initial motions.
  std::map<std::size_t, std::vector<std::string>> take_step_notes() { return std::move(step_notes_); }
  /// Of each frequency step, after run().
  std::map<std::size_t, PossibleFreeMotions> take_possible_motions() { return std::move(possible_motions_); }

 private:
  /// A free body may fly, but not in statics, nor where errors of increments are compared with its displacements.
  void look_at_increments(std::size_t index, std::vector<std::string>& general) {
    const JobStep& step = job_.steps[index];
    const auto& request = std::get<DynamicStep>(step.modal);
    const AnalysisModel model(*job_.domains[step.domain], backend_, TransformationHandler(), PlainNumberer());
    note_unused_nodes(model, general);
    if (step.procedure == Procedure::nonlinear_statics) require_no_free_motion(find_free_motions(model));
    if (step.procedure == Procedure::dynamic && request.times.automatic && !request.explicit_method)
      require_judged_steps(model);
    const std::string bodies =
        "the model consists of bodies that do not touch; on several processes, Newton's method judges the unbalanced "
        "forces of all of them together";
    if (!model.is_linear() && !request.explicit_method && Bodies(model).count() > 1 &&
        std::find(general.begin(), general.end(), bodies) == general.end())
      general.push_back(bodies);
    if (!request.continues)
      step_notes_[index] = detail::notes_on_held_motions(
          model, request, [&](std::int32_t node) { return job_.instances.node(model.domain().node_id(node)); });
  }

  /// A free body vibrates, too.
  void look_for_free_motions(std::size_t step, std::vector<std::string>& general) {
    const AnalysisModel model(*job_.domains[job_.steps[step].domain], backend_, TransformationHandler(),
                              PlainNumberer());
    note_unused_nodes(model, general);
    const RigidClusters clusters(model);
    possible_motions_[step] = {static_cast<int>(clusters.motions().size()), !clusters.undecided().empty()};
  }

  static void note_unused_nodes(const AnalysisModel& model, std::vector<std::string>& general) {
    const auto unused = model.unused_nodes();
    if (unused.empty()) return;
    const std::string first = model.domain().node_label(unused.front());
    const std::string text =
        unused.size() == 1 ? first + " is used by no element"
                           : std::to_string(unused.size()) + " nodes are used by no element, the first is " + first;
    if (std::find(general.begin(), general.end(), text) == general.end()) general.push_back(text);
  }

  void look_at(const Domain& domain, std::vector<std::string>& general) {
    const AnalysisModel model(domain, backend_, TransformationHandler(), PlainNumberer());
    note_unused_nodes(model, general);
    require_no_free_motion(find_free_motions(model));
    if (const std::int32_t bodies = Bodies(model).count(); bodies > 1)
      add_note("the model consists of " + std::to_string(bodies) +
               " bodies that do not touch; the tolerance of iterative methods holds for all of them "
               "together");
    const auto& names = model.unknown_names();
    if (std::none_of(names.begin(), names.end(), [](const std::string& name) { return name == "ux"; })) return;  // heat
    const RigidClusters clusters(model);
    detail::require_no_mechanism(model, clusters);
    if (!clusters.undecided().empty()) add_note("mechanisms could not be excluded: " + clusters.undecided());
  }

  void add_note(const std::string& note) {
    if (std::find(notes_.begin(), notes_.end(), note) == notes_.end()) notes_.push_back(note);
  }

  Job& job_;
  std::shared_ptr<Backend> backend_;
  std::vector<std::string> notes_;
  std::map<std::size_t, PossibleFreeMotions> possible_motions_;
  std::map<std::size_t, std::vector<std::string>> step_notes_;
};

/// A job on one of the processes.
class ProcessRunner {
 public:
  ProcessRunner(Engine& engine, Job* whole, const ProcessOptions& options,
                const std::function<bool(const JobProgress&)>& observer, StepReceiver* receiver)
      : engine_(engine),
        processes_(engine.processes()),
        whole_(processes_.is_first() ? whole : nullptr),
        options_(options),
        observer_(observer),
        receiver_(receiver),
        part_(own_.part) {}
  /// With a part that each process has already.
  ProcessRunner(Engine& engine, ReceivedPart& part, const ProcessOptions& options,
                const std::function<bool(const JobProgress&)>& observer, PartReceiver& receiver)
      : engine_(engine),
        processes_(engine.processes()),
        whole_(nullptr),
        options_(options),
        observer_(observer),
        receiver_(nullptr),
        part_receiver_(&receiver),
        part_(part.part) {
    own_.bytes = part.bytes;
    own_.mechanisms = std::move(part.mechanisms);
    own_.notes = std::move(part.notes);
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
      collect_places();
    }
    load_cases_.emplace(part_.job);
    find_heaters();
    for (std::size_t s = 0; s < part_.job.steps.size(); ++s) {
      if (part_.job.steps[s].procedure == Procedure::frequency)
        find_modes(s);
      else if (has_increments(part_.job.steps[s].procedure))
        integrate(s);
      else
        solve(s);
    }
    report();
    return std::move(result_);
  }

  ReceivedPart take_part() {
    open_backend();
    check_whole();
    divide();
    return std::move(own_);
  }

 private:
  void open_backend() {
    placement_ = engine_.placement();
    agree(processes_, [&] {
      backend_ = Backend::open(process_backend(options_.backend, placement_));
      backend_->choose(options_.work);
    });
  }

  void check_whole() {
    agree(processes_, [&] {
      if (!processes_.is_first()) return;
      if (!whole_) throw Error(ErrorCode::misuse, "process 0 needs a job");
      check_process_job(*whole_);
      tell("check supports");
      WholeModelCheck check(*whole_, backend_);
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

  /// Where the results of each part belong in those of the whole model.
  void collect_places() {
    std::function<void()> rethrow = [] {};
    processes_.collect(detail::pack_places(part_), [&](int, const std::string& places) {
      try {
        places_.push_back(detail::unpack_places(places));
      } catch (...) {
        rethrow = [error = std::current_exception()] { std::rethrow_exception(error); };
      }
    });
    agree(processes_, [&] { rethrow(); });
  }

  /// Notes which steps need the unknowns of which others.
  void find_heaters() {
    for (const JobStep& step : part_.job.steps) {
      if (step.heated_by) heaters_.insert(*step.heated_by);
      const auto* request = std::get_if<DynamicStep>(&step.modal);
      if (request && request->continues) heaters_.insert(*request->continues);
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

  void apply_supports(const JobStep& step) {
    Domain& domain = *part_.job.domains[step.domain];
    const auto before = previous_.find(step.domain);
    const NodalField* const field = before == previous_.end() ? nullptr : &before->second;
    if (!step.supports || applied_[step.domain] == step.supports) return;
    step.supports->apply(domain, field && !field->components.empty() ? field : nullptr);
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
          place_of(step));
    if (processes_.is_first() && !part_.has_elements(step.domain))
      throw Error(ErrorCode::unavailable,
                  "process 0 has no elements of the model of this step, so that it cannot record it; take fewer "
                  "processes",
                  place_of(step));
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
      apply_supports(step);
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
    iterated_ = iterated_ || found.report.iterations > 0;
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
      apply_supports(step);
    });
    if (!dynamics_)
      dynamics_ = std::make_unique<detail::ProcessDynamicStep>(
          engine_, part_, backend_, options_.engine, places_, whole_, receiver_,
          [this](std::size_t s, const Progress& progress, double left) {
            return !observer_ || observer_({s, part_.job.steps.size(), part_.job.steps[s].name, progress, left});
          });
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
    agree(processes_, [&] { apply_supports(step); });
    auto& analysis = modal_[step.domain];
    if (!analysis) analysis = std::make_unique<ProcessModes>(part_, step.domain, engine_, backend_, options_.engine);
    if (observer_)
      analysis->observer = [&](const Progress& progress) {
        return observer_({index, part_.job.steps.size(), step.name, progress});
      };
    analysis->set_possible_free_motions(possible_motions(index));
    const EigenReport report =
        part_receiver_ ? detail::modes_in_pieces(part_, index, *analysis, *part_receiver_)
                       : detail::ProcessModeStep(processes_, part_, places_, whole_, receiver_).run(index, *analysis);
    analysis->observer = nullptr;
    JobResult& job = result_.job;
    for (const std::string& note : report.notes)
      if (std::find(job.notes.begin(), job.notes.end(), note) == job.notes.end()) job.notes.push_back(note);
    if (const std::string fault = fault_of(report, EigenRequest().tolerance); !fault.empty())
      job.faults.push_back(place_of(step) + ": " + fault);
    job.equations = std::max(job.equations, analysis->equation_count());
    job.free_equations = std::max(job.free_equations, analysis->free_equation_count());
  }

  /// Merges the results of all parts on process 0 and passes them on.
  void pass_on(std::size_t index, const StepResult& own) {
    const std::size_t domain = part_.job.steps[index].domain;
    StepResult merged = detail::gather_step(processes_, part_, places_, whole_, domain, own);
    agree(processes_, [&] {
      if (!whole_) return;
      if (whole_->steps[index].procedure == Procedure::statics) detail::take_moments_off(*whole_, merged);
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
    collect_shares();
  }

  void collect_shares() {
    std::vector<double> numbers;
    std::int64_t elements = 0, owned = 0;
    if (!part_.job.domains.empty()) elements = part_.job.domains.front()->element_count();
    for (std::int32_t n = 0; n < part_.node_count(); ++n) owned += part_.owns(n);
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const std::int64_t kilobyte = 1024;
    const std::string text = std::to_string(placement_.processors) + " " + std::to_string(backend_->threads()) + " " +
                             std::to_string(elements) + " " + std::to_string(part_.node_count()) + " " +
                             std::to_string(owned) + " " + std::to_string(own_.bytes) + " " +
                             std::to_string(usage.ru_maxrss * kilobyte) + " " + placement_.machine + "\n" +
                             backend_->describe();
    processes_.collect(text, [&](int, const std::string& from) {
      ProcessShare share;
      char* at = const_cast<char*>(from.c_str());
      share.processors = static_cast<int>(std::strtoll(at, &at, 10));
      share.threads = static_cast<int>(std::strtoll(at, &at, 10));
      share.elements = std::strtoll(at, &at, 10);
      share.nodes = std::strtoll(at, &at, 10);
      share.owned_nodes = std::strtoll(at, &at, 10);
      share.part_bytes = std::strtoll(at, &at, 10);
      share.peak_bytes = std::strtoll(at, &at, 10);
      const std::string rest = *at ? at + 1 : at;
      share.machine = rest.substr(0, rest.find('\n'));
      share.backend = rest.substr(std::min(rest.size(), rest.find('\n') + 1));
      result_.parts.push_back(std::move(share));
    });
  }

  Engine& engine_;
  Processes& processes_;
  Job* whole_;  // null on all processes but the first
  const ProcessOptions& options_;
  const std::function<bool(const JobProgress&)>& observer_;
  StepReceiver* receiver_;
  PartReceiver* part_receiver_ = nullptr;  // null: process 0 merges the results of the parts
  ProcessPlacement placement_;
  std::shared_ptr<Backend> backend_;
  ReceivedPart own_;
  ProcessPart& part_;  // own_.part, or that of the caller
  std::optional<detail::LoadCaseIndex> load_cases_;
  std::vector<detail::PartPlaces> places_;  // of all parts, on process 0
  std::map<std::size_t, std::unique_ptr<ProcessStatics>> analyses_;
  std::map<std::size_t, std::unique_ptr<ProcessModes>> modal_;
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

std::string process_backend(const std::string& specification, const ProcessPlacement& placement) {
  if (specification == "cuda") return "cuda:process=" + std::to_string(placement.position);
  if (specification != "auto" && specification != "openmp") return specification;
  if (std::getenv("OMP_NUM_THREADS")) return "openmp";
  return "openmp:" + std::to_string(std::max(1, placement.processors / std::max(1, placement.sharers)));
}

namespace detail {

void check_process_steps(const Job& job) {
  for (const JobStep& step : job.steps) {
    if (step.procedure != Procedure::statics && step.procedure != Procedure::steady_heat &&
        step.procedure != Procedure::frequency && !has_increments(step.procedure))
      throw Error(ErrorCode::unavailable,
                  "several processes solve statics, heat, natural frequencies and dynamics, but not yet " +
                      to_string(step.procedure) + "; run without --engine",
                  place_of(step));
    const auto* request = std::get_if<DynamicStep>(&step.modal);
    if (request && request->explicit_method && request->explicit_method->scaled_step > 0)
      throw Error(ErrorCode::unavailable, "mass scaling is not supported on several processes; run without --engine",
                  place_of(step));
    if (!step.procedure_name.empty() && step.procedure_name != "static" && step.procedure_name != "heat")
      throw Error(
          ErrorCode::unavailable,
          "the procedure '" + step.procedure_name + "' is not supported on several processes; run without --engine",
          place_of(step));
  }
}

/// Tables of modes and states in time are made on process 0, which needs the whole model for it.
void check_steps_in_pieces(const Job& job) {
  for (const JobStep& step : job.steps) {
    if (has_increments(step.procedure))
      throw Error(ErrorCode::unavailable,
                  "states of " + to_string(step.procedure) +
                      " are not written in pieces, nor computed from divided jobs; run the deck or the job file "
                      "itself, without --pieces",
                  place_of(step));
    if (step.procedure == Procedure::frequency && !step.prints.empty())
      throw Error(ErrorCode::unavailable,
                  "tables of modes (*NODE PRINT, *EL PRINT) are not written in pieces, nor from divided jobs; leave "
                  "them out, or run the deck or the job file itself, without --pieces",
                  place_of(step));
  }
}

}  // namespace detail

namespace {

/// All parts of one division have the same fingerprint.
std::int64_t fingerprint_of_division(const ProcessPart& part) {
  ByteWriter bytes;
  bytes.put(part.parts).put(part.whole_nodes).put(part.ownership).put(part.job.name).put(part.job.source);
  for (const DomainShare& share : part.domains)
    bytes.put(share.ownership).put(share.part_elements).put(share.block_sizes).put(share.unknown_names);
  for (const JobStep& step : part.job.steps) bytes.put(step.name).put(step.load_case).put(step.load_factor);
  return static_cast<std::int64_t>(checksum(bytes.bytes()) >> 1);
}

}  // namespace

void check_process_job(const Job& job) {
  if (job.mesh_only)
    throw Error(ErrorCode::bad_input, "this is a mesh without sections, which can be checked, not solved", job.source);
  detail::check_process_steps(job);
  check_divisible(job);
}

ProcessJobResult run_process_job(Engine& engine, Job* job, const ProcessOptions& options,
                                 const std::function<bool(const JobProgress&)>& observer, StepReceiver* receiver) {
  return ProcessRunner(engine, job, options, observer, receiver).run();
}

ReceivedPart divide_process_job(Engine& engine, Job* job, const ProcessOptions& options,
                                const std::function<bool(const JobProgress&)>& observer) {
  agree(engine.processes(), [&] {
    if (engine.processes().is_first() && job) detail::check_steps_in_pieces(*job);
  });
  return ProcessRunner(engine, job, options, observer, nullptr).take_part();
}

ReceivedPart read_process_part(Engine& engine, const std::string& path) {
  Processes& processes = engine.processes();
  ReceivedPart own;
  agree(processes, [&] {
    const PartFile file(path);
    if (file.parts() != processes.count())
      throw Error(ErrorCode::bad_input,
                  "the job was divided into " + std::to_string(file.parts()) +
                      (file.parts() == 1 ? " part" : " parts") + ", and this run has " +
                      std::to_string(processes.count()) + (processes.count() == 1 ? " process" : " processes") +
                      "; start as many processes as there are parts (mpirun -n " + std::to_string(file.parts()) +
                      "), or divide the job again with 'voussoir partition FILE --parts " +
                      std::to_string(processes.count()) + " --output MODEL.vpart'",
                  "file '" + path + "'");
    own.part = file.read(processes.own());
    own.bytes = static_cast<std::int64_t>(file.bytes(processes.own()));
    detail::check_process_steps(own.part.job);
    detail::check_steps_in_pieces(own.part.job);
  });
  const std::int64_t fingerprint = fingerprint_of_division(own.part);
  const std::int64_t largest = processes.maximum(fingerprint);
  agree(processes, [&] {
    if (fingerprint != largest)
      throw Error(ErrorCode::bad_input,
                  "processes see different files of this name; copy the same file to all machines, or put it into a "
                  "folder that all of them share",
                  "file '" + path + "'");
  });
  const auto moves = [](const DomainShare& share) {
    return std::find(share.unknown_names.begin(), share.unknown_names.end(), "ux") != share.unknown_names.end();
  };
  if (processes.is_first() && std::any_of(own.part.domains.begin(), own.part.domains.end(), moves))
    own.mechanisms.push_back(
        "mechanisms such as hinges were not looked for, since no process has the whole model; the method mumps of the "
        "engine detects them, iterative methods do not");
  return own;
}

ProcessJobResult run_process_part(Engine& engine, ReceivedPart& part, const ProcessOptions& options,
                                  const std::function<bool(const JobProgress&)>& observer, PartReceiver& receiver) {
  return ProcessRunner(engine, part, options, observer, receiver).run();
}

}  // namespace voussoir
