#include <voussoir/partition/process/process_statics.hpp>

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>

#include <voussoir/framework/analysis/solution_algorithm.hpp>
#include <voussoir/framework/analysis/static_analysis.hpp>
#include <voussoir/framework/io/checkpoint/bytes.hpp>
#include <voussoir/partition/process/part_product.hpp>
#include <voussoir/solvers/registries.hpp>
#include <voussoir/solvers/soe/sparse_soe.hpp>

namespace voussoir {
namespace {

std::string bytes_of_report(const SolveReport& report) {
  ByteWriter out;
  out.put(report.converged).put(report.not_positive_definite).put(report.impossible_state).put(report.iterations);
  out.put(report.reduced_increments).put(report.line_searches).put(report.true_residual);
  out.put(report.setup_seconds).put(report.solve_seconds).put(static_cast<std::uint64_t>(report.memory_bytes));
  for (const std::string* text : {&report.solver, &report.choice, &report.reason, &report.advice, &report.note})
    out.put(*text);
  out.put(report.history);
  return out.take();
}

SolveReport report_of_bytes(const std::string& bytes) {
  ByteReader in(bytes, "a report between processes");
  SolveReport report;
  report.converged = in.get<bool>();
  report.not_positive_definite = in.get<bool>();
  report.impossible_state = in.get<bool>();
  report.iterations = in.get<int>();
  report.reduced_increments = in.get<int>();
  report.line_searches = in.get<int>();
  report.true_residual = in.get<double>();
  report.setup_seconds = in.get<double>();
  report.solve_seconds = in.get<double>();
  report.memory_bytes = static_cast<std::size_t>(in.get<std::uint64_t>());
  for (std::string* text : {&report.solver, &report.choice, &report.reason, &report.advice, &report.note})
    *text = in.text();
  report.history = in.list<double>();
  return report;
}

/// The report of the lowest process that has one, for all of them.
void share_report(Processes& processes, bool has_one, SolveReport& report) {
  std::string chosen;
  processes.collect(has_one ? bytes_of_report(report) : std::string(), [&](int, const std::string& bytes) {
    if (chosen.empty()) chosen = bytes;
  });
  processes.broadcast(chosen);
  if (!has_one) report = report_of_bytes(chosen);
}

/// The largest of numbers of all processes. Collective.
double largest_of(Processes& processes, double number) {
  double largest = number;
  std::string bytes(reinterpret_cast<const char*>(&number), sizeof number);
  processes.collect(bytes, [&](int, const std::string& from) {
    double other = 0;
    std::memcpy(&other, from.data(), std::min(from.size(), sizeof other));
    largest = std::max(largest, other);
  });
  bytes.assign(reinterpret_cast<const char*>(&largest), sizeof largest);
  processes.broadcast(bytes);
  std::memcpy(&largest, bytes.data(), sizeof largest);
  return largest;
}

}  // namespace

/// Begins where the whole model does: AnalysisModel::initial_unknowns() of a part knows neither the radiation nor the
/// supports of others, and temperatures of nodes that several parts have would differ.
class ProcessStatics::PartIntegrator : public StaticIntegrator {
 public:
  bool radiates = false, follows = false;  ///< some part radiates, or follows the unknown temperature
  double radiation_start = 0;              ///< as AnalysisModel::radiation_start(), of the whole model

  void begin_step(const AnalysisModel& model, AnalysisState& state) override {
    if (!radiates && !follows) return StaticIntegrator::begin_step(model, state);
    const ConstraintPlan& plan = model.constraints();
    std::vector<double> u(static_cast<std::size_t>(model.equation_count()), 0.0);
    for (std::int32_t e = 0; e < model.equation_count(); ++e)
      u[static_cast<std::size_t>(e)] = model.is_prescribed(e)
                                           ? state.prescribed_factor * plan.value[static_cast<std::size_t>(e)]
                                       : radiates ? radiation_start
                                                  : model.domain().initial_temperature(model.place(e).node);
    for (const AffineDependency& d : plan.dependent) {
      double value = state.prescribed_factor * d.constant;
      for (std::size_t k = 0; k < d.others.size(); ++k)
        value += d.coefficients[k] * u[static_cast<std::size_t>(d.others[k])];
      u[static_cast<std::size_t>(d.equation)] = value;
    }
    state.unknowns = model.make_vector();
    state.unknowns.from_host(u);
    form_loads(model, state);
  }
};

ProcessStatics::ProcessStatics(const ProcessPart& part, std::size_t domain, Engine& engine,
                               std::shared_ptr<Backend> backend, const EngineSettings& settings)
    : ProcessAnalysis(part, domain, engine, std::move(backend)),
      integrator_(std::make_unique<PartIntegrator>()),
      settings_(settings) {
  agree(processes_, [&] {
    storage_ = settings.storage;
    const StorageFactory* const storage = storage_ == "auto" ? nullptr : &storages().find(storage_);
    if (storage && storage->is_envelope)
      throw Error(ErrorCode::bad_input, "storage '" + storage_ +
                                            "' is for one process; with --engine there are auto, csr, bsr and those "
                                            "without a stored matrix, such as matrix-free");
    multiplies_ = storage && !storage->stores_matrix;
    full_tangents_ = allows_full_tangents(part_, domain_index_, *backend_, settings_);
  });
  full_tangents_ = !processes_.any(!full_tangents_);
  solves_nonlinear_heat_ = true;
  make_solver();
}

ProcessStatics::~ProcessStatics() = default;

void ProcessStatics::make_solver() {
  agree(processes_, [&] {
    solver_ = engine_.make_solver(settings_);
    solver_->progress = [this](int iteration, double residual) {
      return !observer || observer({"solve", since_start_.seconds(), iteration, residual});
    };
  });
}

/// Products of the part's backend with the matrix that soe_ has when they are asked for.
void ProcessStatics::add_product(SystemShare& share) {
  if (!model_) {
    share.product = [](std::span<const double>, std::span<double>) {};
    return;
  }
  share.product =
      PartProduct{[this]() -> const Operator& { return soe_->matrix(); },
                  std::make_shared<Vector>(model_->make_vector()), std::make_shared<Vector>(model_->make_vector())};
}

void ProcessStatics::form(AnalysisState& state) {
  const bool has_old = is_formed_ && (!model_ || integrator_->has_formed(*model_, state, *soe_));
  if (!processes_.any(!has_old)) return;
  SystemShare share = numbered_share();
  together("assemble", [&] {
    if (multiplies_) add_product(share);
    if (!model_) return;
    integrator_->form_tangent(*model_, state, *soe_);
    if (multiplies_) {
      if (!soe_->element_operator())
        throw Error(ErrorCode::unavailable,
                    "storage '" + storage_ +
                        "' has neither a matrix nor element products, so that it cannot be used "
                        "with --engine");
      const BlockDiagonal diagonal = backend_->block_diagonal(model_->device_model(), *soe_->element_operator(), 1);
      Vector ones = model_->make_vector(), product = model_->make_vector();
      ones.from_host(std::vector<double>(share.number.size(), 1.0));
      backend_->apply(diagonal, ones, product);
      share.diagonal = product.to_host();
      return;
    }
    share.matrix = soe_->sparse_matrix()->to_host();
    if (auto* const sparse = dynamic_cast<SparseSOE*>(soe_.get())) sparse->release_matrix();
  });
  const Stopwatch watch;
  solver_->set_system(std::move(share));
  add_time("set up", watch.seconds());
  is_formed_ = true;
}

SolveReport ProcessStatics::balance(AnalysisState& state) {
  std::vector<double> b, x;
  together("loads", [&] {
    if (!model_) return;
    Vector unbalance = model_->make_vector();
    integrator_->form_unbalance(*model_, state, unbalance);
    b = unbalance.to_host();
  });
  x.assign(b.size(), 0.0);
  const Stopwatch watch;
  SolveReport report = solver_->solve(b, x);
  add_time("solve", watch.seconds());
  if (!report.converged) return report;
  together("update", [&] {
    if (!model_) return;
    Vector increment = model_->make_vector();
    increment.from_host(x);
    integrator_->update(*model_, increment, state);
  });
  return report;
}

StepResult ProcessStatics::result_of(const AnalysisState& state, const SolveReport& report) {
  StepResult result;
  together("recover", [&] {
    if (model_) {
      result = make_step_result(*model_, *integrator_, state, report, true);
    } else {
      result.step = state.name;
      result.report = report;
    }
  });
  complete_result(result);
  return result;
}

/// Where Newton's method begins on all processes.
void ProcessStatics::agree_on_start() {
  double highest = -std::numeric_limits<double>::infinity();
  bool radiates = false, follows = false;
  integrator_->radiates = integrator_->follows = false;
  if (is_linear_) return;
  if (model_) {
    const std::optional<double> own = model_->radiation_start();
    radiates = own.has_value();
    follows = model_->follows_unknown_temperature();
    highest = own.value_or(highest);
    for (std::int32_t e = 0; e < model_->equation_count(); ++e)
      if (model_->is_prescribed(e))
        highest = std::max(highest, model_->constraints().value[static_cast<std::size_t>(e)]);
  }
  integrator_->radiates = processes_.any(radiates);
  integrator_->follows = processes_.any(follows);
  integrator_->radiation_start = largest_of(processes_, highest);
}

AnalysisState ProcessStatics::begin(const Step& step) {
  agree_on_start();
  AnalysisState state;
  together("begin", [&] {
    if (multiplies_ && !is_linear_)
      throw Error(ErrorCode::unavailable,
                  "on several processes, heat that depends on temperature needs a stored matrix; leave out --storage " +
                      storage_);
    state = std::move(step_states(domain_, {step}).front());
    if (model_) integrator_->begin_step(*model_, state);
  });
  return state;
}

/// Newton's method on all processes, which make the same decisions.
SolveReport ProcessStatics::iterate(AnalysisState& state) {
  if (!group_) group_ = std::make_unique<DividedGroup>(part_, processes_);
  backend_->provide<ProcessGroup>(*group_);
  SolveReport report;
  bool factorised = true;
  const Stopwatch watch;
  group_->run(domain_index_, *solver_, [&] {
    group_->set_model(*model_);
    GroupSolver solver(*group_);
    report = NewtonRaphsonAlgorithm().solve(*model_, *integrator_, *soe_, solver, {&state, 1}).front();
    factorised = solver.finds_mechanisms();
  });
  is_formed_ = false;
  iterated_ = processes_.any(!factorised) || iterated_;
  add_time("assemble and solve", watch.seconds());
  share_report(processes_, model_ != nullptr, report);
  return report;
}

/// With symmetric tangents where full ones fail, as on one process.
SolveReport ProcessStatics::balance_nonlinear(const Step& step, AnalysisState& state) {
  std::string failure;
  if (!full_tangents_) return iterate(state);
  try {
    SolveReport report = iterate(state);
    if (report.converged) return report;
    failure = report.reason;
  } catch (const SharedError& error) {
    if (error.code() != ErrorCode::singular && error.code() != ErrorCode::out_of_memory) throw;
    failure = error.text();
  }
  full_tangents_ = false;
  forget_numbers();
  prepare();
  state = begin(step);
  SolveReport report = iterate(state);
  report.choice +=
      (report.choice.empty() ? "" : "; ") +
      ("the step '" + step.name + "' failed with the full tangent (" + failure + "), so the symmetric one was used");
  return report;
}

StepResult ProcessStatics::solve(const Step& step, bool is_last) {
  if (prepare()) is_formed_ = false;
  if (!solver_) make_solver();
  AnalysisState state = begin(step);
  SolveReport report;
  if (is_linear_) {
    form(state);
    report = balance(state);
    iterated_ = iterated_ || report.iterations > 0;
  } else {
    report = balance_nonlinear(step, state);
  }
  // The report is the same on all processes, so that all of them throw.
  if (!report.converged) throw SharedError(NotConverged(report, {}, step.name), 0);
  if (is_last) {
    solver_.reset();
    is_formed_ = false;
  }
  return result_of(state, report);
}

}  // namespace voussoir
