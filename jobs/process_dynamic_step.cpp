#include <voussoir/jobs/detail/process_dynamic_step.hpp>

#include <algorithm>
#include <functional>
#include <utility>

#include <voussoir/framework/analysis/step.hpp>
#include <voussoir/jobs/detail/own_state.hpp>
#include <voussoir/partition/process/process_analysis.hpp>
#include <voussoir/solvers/static_problem.hpp>

namespace voussoir::detail {
namespace {

/// What process 0 asks the others for.
constexpr int ask_motion = 1;  // and 2, 3: its derivatives
constexpr int ask_sums = 4, ask_heat_sums = 5, ask_result = 6, ask_points = 7;
/// What all processes do together when they save the step, and when they resume one that other parts have saved.
constexpr int gather_saved = 8, divide_saved = 9;

TimeIntegrator& integrator_of(const CommittedState& committed) {
  return static_cast<TimeIntegrator&>(committed.integrator);
}

EngineSettings settings_over_time(EngineSettings settings) {
  if (settings.relative_tolerance == EngineSettings().relative_tolerance)  // nobody asked for another
    settings.relative_tolerance = TransientOptions().relative_tolerance;
  return settings;
}

}  // namespace

/// Of processes that pass nothing on by themselves: keeps the response of a step.
class ProcessDynamicStep::KeptResponse : public StepReceiver {
 public:
  void step(std::size_t, StepResult) override {}
  void modes(std::size_t, std::shared_ptr<const ModeSet>) override {}
  void state(std::size_t, StepState) override {}
  void end(std::size_t, StepResponse found) override { response = std::move(found); }
  StepResponse response;
};

/// The state of the whole model, on process 0: what the recorder wants is gathered from the parts.
class ProcessDynamicStep::Merged : public RecordedState {
 public:
  explicit Merged(ProcessDynamicStep& step) : step_(step) {}
  double time() const override { return step_.current_->state.time; }
  const SolveReport& report() const override { return step_.current_->report; }
  const TimeIntegrator& method() const override { return integrator_of(*step_.current_); }
  bool has_springs() const override { return !step_.current_->model.constraints().springs.empty(); }
  NodalField motion(int derivative) override {
    step_.group_.request(ask_motion + derivative);
    return std::move(step_.merged_.unknowns);
  }
  ForceSums sums(bool heat) override {
    step_.group_.request(heat ? ask_heat_sums : ask_sums);
    return step_.sums_;
  }
  StepResult result(bool with_points) override {
    step_.group_.request(with_points ? ask_points : ask_result);
    return std::move(step_.merged_);
  }

 private:
  ProcessDynamicStep& step_;
};

/// Shows the states of a part to the recorder of the whole model, which process 0 has.
class ProcessDynamicStep::PartRecorder : public StepRecorder {
 public:
  PartRecorder(ProcessDynamicStep& step, std::shared_ptr<StepRecorder> recorder)
      : step_(step), recorder_(std::move(recorder)) {}

  std::vector<double> targets() const override {
    std::vector<double> times = recorder_ ? recorder_->targets() : std::vector<double>();
    step_.group_.unite(times);
    return times;
  }
  void record(const CommittedState& committed) override {
    if (recorder_) recorder_->increments = increments;
    show(committed, [&](RecordedState& state) { recorder_->take(state); });
  }
  void save(ByteWriter& out) const override {
    if (recorder_) recorder_->save(out);
  }
  void resume(const CommittedState& committed, ByteReader& in) override {
    show(committed, [&](RecordedState& state) { recorder_->resume_from(state, in); });
  }
  void take(RecordedState&) override { refuse(); }
  void resume_from(RecordedState&, ByteReader&) override { refuse(); }
  StepResponse finish(TimeIntegrator& method) override {
    if (!recorder_) return {};
    StepResponse response = recorder_->finish(method);
    response.notes.insert(response.notes.end(), step_.step_notes_.begin(), step_.step_notes_.end());
    return response;
  }

 private:
  /// Shows a state to the recorder on process 0; the others send it what it asks for.
  void show(const CommittedState& committed, const std::function<void(RecordedState&)>& work) {
    step_.current_ = &committed;
    if (recorder_) {
      recorder_->checkpoint = checkpoint;
      Merged state(step_);
      work(state);
      step_.group_.done();
    } else {
      step_.group_.respond_until_done();
    }
    step_.current_ = nullptr;
  }
  [[noreturn]] static void refuse() { throw Error(ErrorCode::internal, "a part has no states of the whole model"); }
  ProcessDynamicStep& step_;
  std::shared_ptr<StepRecorder> recorder_;  // of the whole model, on process 0
};

ProcessDynamicStep::ProcessDynamicStep(Engine& engine, ProcessPart& part, std::shared_ptr<Backend> backend,
                                       const EngineSettings& settings, const std::vector<PartPlaces>& places,
                                       const Job* whole, StepReceiver* receiver, PartReceiver* part_receiver,
                                       RunCheckpoints* checkpoints, DynamicRunner::Tell tell)
    : engine_(engine),
      processes_(engine.processes()),
      part_(part),
      backend_(std::move(backend)),
      settings_(settings),
      places_(places),
      whole_(whole),
      receiver_(receiver),
      part_receiver_(part_receiver),
      kept_(std::make_unique<KeptResponse>()),
      group_(part, engine.processes()),
      saved_(part, engine.processes(), group_, engine.processes().is_first() ? checkpoints : nullptr),
      runner_(part.job, backend_, options_, std::move(tell), whole ? *receiver : *kept_, nullptr) {
  if (part_receiver) records_.emplace(processes_, part, *part_receiver);
  agree(processes_, [&] { solver_ = engine_.make_solver(settings_over_time(settings)); });
  solver_->starts_from_x = true;
  group_.respond = [this](int code) { respond(code); };
  runner_.make_analysis = [this](const Domain& domain, const TransientOptions& options) {
    return make_analysis(domain, options);
  };
  runner_.numbered = [this](const AnalysisModel& model) { group_.set_model(model); };
  runner_.whole_job = whole_;
  if (records_) {
    saved_.settle = [this] { part_receiver_->settle(); };
    saved_.save_more = [this](ByteWriter& out) { records_->save(out); };
    saved_.restore_more = [this](ByteReader& in) { records_->restore(in); };
  }
  runner_.make_checkpoint = [this](std::size_t) { return saved_.link(gather_saved, divide_saved); };
  runner_.make_recorder = [this](std::size_t step, const DynamicStep& request) -> std::shared_ptr<StepRecorder> {
    std::shared_ptr<StepRecorder> recorder;
    if (records_ && processes_.is_first()) {
      recorded_ = request;
      recorder =
          make_step_recorder(part_.job, step, recorded_, records_->model([this](int code) { group_.request(code); }));
    }
    if (whole_) recorded_ = std::get<DynamicStep>(whole_->steps[step].modal);
    recorded_.times = request.times;
    if (whole_) recorder = make_step_recorder(*whole_, step, recorded_, *receiver_, heated_);
    return std::make_shared<PartRecorder>(*this, std::move(recorder));
  };
}

ProcessDynamicStep::~ProcessDynamicStep() = default;

std::unique_ptr<TransientAnalysis> ProcessDynamicStep::make_analysis(const Domain& domain,
                                                                     const TransientOptions& options) {
  Analysis::Collaborators parts;
  parts.backend = backend_;
  parts.handler = std::make_shared<TransformationHandler>();
  parts.numberer = std::make_shared<PlainNumberer>();
  const auto integrator = make_time_integrator(options.method);
  integrator->set_damping(options.damping);
  integrator->set_mass_kind(options.mass);
  parts.integrator = integrator;
  parts.soe = make_soe("csr");
  group_solver_ = std::make_shared<GroupSolver>(group_);
  parts.solver = group_solver_;
  parts.model.full_tangents = !group_.any(!allows_full_tangents(part_, domain_, *backend_, settings_));
  auto analysis = std::make_unique<TransientAnalysis>(domain, std::move(parts));
  analysis->set_whole_pressure_tangent(options.tangent != "symmetric");
  group_.set_model(analysis->model());
  solver_->progress = analysis->collaborators().solver->progress;
  return analysis;
}

void ProcessDynamicStep::run(std::size_t step, const NodalField* initial, const std::vector<std::string>& notes) {
  const Stopwatch watch;
  domain_ = part_.job.steps[step].domain;
  step_notes_ = notes;
  current_ = nullptr;
  if (records_) records_->begin(step);
  saved_.begin(step);
  backend_->provide<ProcessGroup>(group_);  // other steps may have had a group of their own
  try {
    group_.run(domain_, *solver_, [&] { runner_.run(step, initial); });
  } catch (...) {
    solver_->progress = nullptr;  // it refers to the analysis
    throw;
  }
  solver_->progress = nullptr;
  const bool iterated = group_solver_ && !group_solver_->finds_mechanisms();
  iterated_ = iterated_ || (saved_.is_complete() ? saved_.account.iterated : iterated);
  group_solver_.reset();
  equations_ = std::max(equations_, part_.domains[domain_].unknown_count());
  free_equations_ =
      std::max(free_equations_, saved_.is_complete() ? saved_.account.free_equations : group_.free_equation_count());
  if (part_receiver_) part_receiver_->end(step, std::move(kept_->response));
  seconds_ += watch.seconds();
}

NodalField ProcessDynamicStep::end_of(std::size_t step) const {
  return part_.has_elements(part_.job.steps[step].domain) ? runner_.end_of(step) : NodalField();
}

/// Those of a step of heat that an earlier run has finished are in its checkpoint, which the runner has read.
std::vector<HeatedState> ProcessDynamicStep::take_heated(std::size_t stress_step) {
  if (records_) return records_->take_heated(stress_step);
  std::vector<HeatedState> states = runner_.take_heated(stress_step);
  return states.empty() ? std::move(heated_[stress_step]) : std::move(states);
}

void ProcessDynamicStep::respond(int code) {
  if (PartRecords::is_code(code)) return records_->respond(code, current_);
  if (code == gather_saved) {
    saved_.account = {group_.free_equation_count(), group_solver_ && !group_solver_->finds_mechanisms()};
    saved_.gather();
  } else if (code == divide_saved) {
    saved_.divide();
  } else if (code < ask_sums) {
    gather_motion(code - ask_motion);
  } else if (code <= ask_heat_sums) {
    gather_sums(code == ask_heat_sums);
  } else {
    gather_result(code == ask_points);
  }
}

void ProcessDynamicStep::gather_motion(int derivative) {
  StepResult own;
  agree(processes_, [&] {
    if (current_) own.unknowns = integrator_of(*current_).motion(current_->model, current_->state, derivative);
  });
  merged_ = gather_step(processes_, part_, places_, whole_, domain_, own);
  merged_.unknowns.name = own.unknowns.name;
}

/// By the unknowns of the whole model, which a part may not have.
void ProcessDynamicStep::gather_sums(bool heat) {
  const std::vector<std::string>& names = part_.domains[domain_].unknown_names;
  std::vector<double> numbers(2 * names.size(), 0.0);
  agree(processes_, [&] {
    if (!current_) return;
    const ForceSums own = force_sums(*current_, heat);
    const std::vector<std::string>& unknowns = current_->model.unknown_names();
    for (std::size_t u = 0; u < unknowns.size(); ++u) {
      const auto at = static_cast<std::size_t>(std::find(names.begin(), names.end(), unknowns[u]) - names.begin());
      numbers[at] = own.reactions[u];
      numbers[names.size() + at] = own.loads[u];
    }
  });
  processes_.sum(numbers);
  const auto half = numbers.begin() + static_cast<std::ptrdiff_t>(names.size());
  sums_ = {{numbers.begin(), half}, {half, numbers.end()}};
}

void ProcessDynamicStep::gather_result(bool with_points) {
  StepResult own;
  agree(processes_, [&] {
    if (!current_) return;
    own = make_step_result(current_->model, current_->integrator, current_->state, current_->report, with_points);
  });
  complete_part_result(processes_, part_, domain_, current_ ? &current_->model : nullptr, own);
  merged_ = gather_step(processes_, part_, places_, whole_, domain_, own);
}

}  // namespace voussoir::detail
