#include <voussoir/jobs/plan.hpp>

#include <algorithm>
#include <set>

#include <voussoir/jobs/detail/planned_backend.hpp>
#include <voussoir/solvers/cost/choice_reason.hpp>
#include <voussoir/solvers/cost/model_shape.hpp>
#include <voussoir/solvers/registries.hpp>

namespace voussoir {
namespace {

std::optional<double> added(std::initializer_list<std::optional<double>> parts) {
  double sum = 0;
  for (const auto& part : parts) {
    if (!part) return std::nullopt;
    sum += *part;
  }
  return sum;
}

std::optional<double> times(double factor, const std::optional<double>& seconds) {
  if (!seconds) return std::nullopt;
  return factor * *seconds;
}

std::optional<OperatorForm> form_of(const std::string& storage) {
  for (const auto form : {OperatorForm::bsr, OperatorForm::csr, OperatorForm::element, OperatorForm::matrix_free})
    if (storage == to_string(form)) return form;
  return std::nullopt;
}

/// Preconditioner of an iterative solver; "" for a direct one.
std::string preconditioner_of(const std::string& solver) {
  const SolverName name = parse_solver_name(solver);
  if (name.solver.name == "direct") return "";
  return name.preconditioner ? name.preconditioner->name : "block-jacobi";
}

/// A solver of the library without options, from the name of one; "" for those of users and for unsymmetric models.
std::string stock_solver(const std::string& name) {
  if (name.starts_with("direct")) return "direct";
  for (const char* known : {"cg+amg", "cg+block-jacobi", "cg+jacobi", "cg+chebyshev", "cg+fsai"})
    if (name == known || name.starts_with(std::string(known) + ":")) return known;
  return name == "cg" ? "cg+none" : "";
}

/// One iteration with a preconditioner: products and cycles beside the vectors.
std::optional<double> iteration_time(const CostModel& model, const ModelShape& shape, OperatorForm form,
                                     const std::string& preconditioner, int devices) {
  const auto iteration = model.cg_iteration(shape, form, devices), product = model.product(shape, form);
  if (preconditioner == "amg") return added({iteration, times(1.0 / devices, model.multigrid_cycle(shape))});
  if (preconditioner == "chebyshev") return added({iteration, times(4.0 / devices, product)});
  if (preconditioner == "fsai")
    return added({iteration, times(2.0 / devices, model.product(shape, OperatorForm::csr))});
  return iteration;
}

/// The stages of an analysis around the solver, by the rates that the profile has of them.
void add_other_stages(const CostModel& model, const ModelShape& shape, double matrices, double steps,
                      std::vector<StagePrediction>& stages) {
  const auto stage = [&](const std::string& name, double count) {
    stages.push_back({name, times(count, model.operation(operations::stage(name), shape.nodes, 24 * shape.nodes))});
  };
  stage("number", matrices);
  stage("check supports", matrices);
  stage("loads", matrices);
  stage("recover", steps);
}

/// Models of steps that are not made of modes.
std::vector<std::size_t> static_domains(const Job& job) {
  std::set<std::size_t> found;
  for (const JobStep& step : job.steps)
    if (!has_states(step.procedure) && step.domain < job.domains.size()) found.insert(step.domain);
  return {found.begin(), found.end()};
}

bool is_linear(const Domain& domain) {
  bool radiates = false;
  for (std::size_t c = 0; c < domain.load_case_count(); ++c)
    for (const LoadCase::Surface& load : domain.load_case(c).surface_loads()) radiates |= load.kind == "radiation";
  if (radiates) return false;
  for (std::size_t b = 0; b < domain.block_count(); ++b)
    if (domain.block(b).size() > 0 && !domain.block(b).type().program().linear()) return false;
  return true;
}

/// Counts the steps of a model and their different supports.
void count_steps(const Job& job, ModelPlan& plan) {
  std::set<const Supports*> supports;
  for (const JobStep& step : job.steps) {
    if (step.domain != plan.domain || has_states(step.procedure)) continue;
    ++plan.steps;
    supports.insert(step.supports.get());
    plan.procedure = to_string(step.procedure);
  }
  plan.matrices = supports.size();
}

/// What `auto` takes, and why.
void add_choice(const Domain& domain, const std::shared_ptr<Backend>& backend, const StaticOptions& options,
                ModelPlan& plan) {
  try {
    const auto analysis = make_static_analysis(domain, backend, options);
    plan.chosen_solver = analysis->collaborators().solver->name();
    plan.chosen_storage = analysis->collaborators().soe->name();
    plan.reason = choice_reason(*analysis->collaborators().solver);
  } catch (const Error& error) {
    plan.notes.push_back("`auto` cannot choose for this model: " + std::string(error.what()));
  }
}

ModelPlan plan_model(const Job& job, std::size_t domain_index, const CostModel& model,
                     const std::shared_ptr<Backend>& backend, const StaticOptions& options) {
  const Domain& domain = *job.domains[domain_index];
  ModelPlan plan;
  plan.domain = domain_index;
  count_steps(job, plan);
  plan.shape = model_shape(domain);
  plan.linear = is_linear(domain);
  add_choice(domain, backend, options, plan);
  const MainMemory machine = main_memory();
  for (const MemoryEstimate& memory : estimate_memory(model_size(domain))) {
    const int devices = model.choose_devices(plan.shape, form_of(memory.storage).value_or(OperatorForm::bsr),
                                             memory.solver == "direct" ? 1 : backend->devices());
    StrategyPlan strategy = predict_strategy(model, plan.shape, memory.solver, memory.storage, plan.matrices,
                                             plan.steps, options.relative_tolerance, devices);
    strategy.memory = memory.total();
    strategy.fits = machine.available <= 0 || strategy.memory < machine.available;
    strategy.chosen = plan.chosen_solver.starts_with(memory.solver) && plan.chosen_storage == memory.storage;
    plan.strategies.push_back(std::move(strategy));
  }
  std::stable_sort(plan.strategies.begin(), plan.strategies.end(), [](const StrategyPlan& a, const StrategyPlan& b) {
    return a.seconds.value_or(1e300) < b.seconds.value_or(1e300);
  });
  if (!plan.linear)
    plan.notes.emplace_back(
        "the model is not linear: the number of Newton iterations is unknown. The times are those of one iteration per "
        "step, set-up included");
  if (plan.steps > plan.matrices)
    plan.notes.emplace_back("steps with the same supports share a matrix; each is counted with its own iterations");
  return plan;
}

BackendPlan plan_backend(const Job& job, const std::string& specification, const StaticOptions& options) {
  BackendPlan plan;
  const auto opened = detail::open_planned(specification, plan);
  if (!opened) return plan;
  const CostModel& model = opened->model;
  for (const std::size_t domain : static_domains(job))
    plan.models.push_back(plan_model(job, domain, model, opened->backend, options));
  return plan;
}

}  // namespace

StrategyPlan predict_strategy(const CostModel& model, const ModelShape& shape, const std::string& solver,
                              const std::string& storage, std::size_t matrices, std::size_t steps,
                              double relative_tolerance, int devices) {
  StrategyPlan plan;
  plan.solver = solver;
  plan.storage = storage;
  plan.devices = devices;
  const auto form = form_of(storage);
  const auto count = static_cast<double>(matrices), columns = static_cast<double>(steps);
  const std::string preconditioner = preconditioner_of(solver);
  std::optional<double> pattern, assemble, prepare, solve;
  if (form) {
    pattern = model.pattern(shape, *form);
    assemble = times(1.0 / devices, model.assemble(shape, *form));
  }
  if (preconditioner.empty()) {
    prepare = model.factorise(shape);
    // Substitution reads the factor twice; its rate is that of streaming through memory.
    solve = model.operation(operations::copy, factor_numbers(shape), 16 * factor_numbers(shape));
    plan.iteration_seconds = solve;
  } else if (form) {
    plan.count = assumed_iterations(preconditioner, shape, relative_tolerance);
    prepare = preconditioner == "amg" ? times(1.0 / devices, model.multigrid_set_up(shape)) : 0.0;
    // Rows of the approximate inverse are small dense systems, on the host; there is no rate for them.
    if (preconditioner == "fsai") prepare = std::nullopt;
    plan.iteration_seconds = iteration_time(model, shape, *form, preconditioner, devices);
    if (plan.count) solve = times(plan.count->iterations, plan.iteration_seconds);
  }
  plan.set_up_seconds = added({pattern, assemble, prepare});
  add_other_stages(model, shape, count, columns, plan.stages);
  plan.stages.push_back({"pattern", times(count, pattern)});
  plan.stages.push_back(
      {"assemble and solve", added({times(count, assemble), times(count, prepare), times(columns, solve)})});
  // Without rates of the stages around the solver, the sum is that of the solver's stages.
  double sum = 0;
  bool known = true;
  for (const StagePrediction& stage : plan.stages) {
    if (stage.seconds)
      sum += *stage.seconds;
    else if (stage.stage == "pattern" || stage.stage == "assemble and solve")
      known = false;
  }
  if (known) plan.seconds = sum;
  return plan;
}

JobPlan plan_job(const Job& job, const std::vector<std::string>& backends, const StaticOptions& options) {
  if (job.mesh_only)
    throw Error(ErrorCode::bad_input,
                "this is a mesh without sections and steps; write a job file for it (docs/job-file.md) and plan that",
                job.source);
  if (job.steps.empty())
    throw Error(ErrorCode::bad_input, "there is no step, so there is nothing to predict; add one", job.source);
  if (backends.empty()) throw Error(ErrorCode::misuse, "name at least one backend");
  JobPlan plan;
  plan.name = job.name;
  plan.title = job.title;
  plan.source = job.source;
  const auto modal =
      std::count_if(job.steps.begin(), job.steps.end(), [](const JobStep& step) { return has_states(step.procedure); });
  if (modal > 0)
    plan.notes.push_back(std::to_string(modal) + (modal == 1 ? " step" : " steps") +
                         " of modes or dynamics, whose time is not predicted");
  for (const std::string& backend : backends) plan.backends.push_back(plan_backend(job, backend, options));
  return plan;
}

RunPrediction predict_run(const Job& job, const std::shared_ptr<Backend>& backend, const StaticOptions& options) {
  RunPrediction prediction;
  ProfileSearch found = find_profile(*backend);
  prediction.note = found.note;
  if (!found.profile) return prediction;
  const CostModel model(std::move(*found.profile));
  std::map<std::string, std::optional<double>> sums;
  for (const std::size_t index : static_domains(job)) {
    const Domain& domain = *job.domains[index];
    if (!is_linear(domain)) {
      prediction.note = "the model is not linear: the number of Newton iterations is unknown";
      prediction.stages.clear();
      return prediction;
    }
    ModelPlan plan;
    plan.domain = index;
    count_steps(job, plan);
    add_choice(domain, backend, options, plan);
    const std::string solver = stock_solver(plan.chosen_solver);
    if (solver.empty()) {
      prediction.note = "there is no prediction for the solver '" + plan.chosen_solver + "'";
      prediction.stages.clear();
      return prediction;
    }
    const StrategyPlan strategy = predict_strategy(model, model_shape(domain), solver, plan.chosen_storage,
                                                   plan.matrices, plan.steps, options.relative_tolerance);
    for (const StagePrediction& stage : strategy.stages) {
      auto [entry, is_new] = sums.try_emplace(stage.stage, stage.seconds);
      if (!is_new) entry->second = added({entry->second, stage.seconds});
    }
    prediction.iterations = strategy.count;
  }
  for (const auto& [stage, seconds] : sums) prediction.stages.push_back({stage, seconds});
  return prediction;
}

}  // namespace voussoir
