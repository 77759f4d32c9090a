#include <voussoir/partition/process/process_statics.hpp>

#include <algorithm>

#include <voussoir/framework/analysis/static_analysis.hpp>

namespace voussoir {

ProcessStatics::ProcessStatics(const ProcessPart& part, std::size_t domain, Engine& engine,
                               std::shared_ptr<Backend> backend, const EngineSettings& settings)
    : ProcessAnalysis(part, domain, engine, std::move(backend)), integrator_(std::make_unique<StaticIntegrator>()) {
  agree(processes_, [&] {
    solver_ = engine_.make_solver(settings);
    solver_->progress = [this](int iteration, double residual) {
      return !observer || observer({"solve", since_start_.seconds(), iteration, residual});
    };
  });
}

ProcessStatics::~ProcessStatics() = default;

void ProcessStatics::form(AnalysisState& state) {
  const bool has_old = is_formed_ && (!model_ || integrator_->has_formed(*model_, state, *soe_));
  if (!processes_.any(!has_old)) return;
  SystemShare share = numbered_share();
  together("assemble", [&] {
    if (!model_) return;
    integrator_->form_tangent(*model_, state, *soe_);
    share.matrix = soe_->sparse_matrix()->to_host();
  });
  const Stopwatch watch;
  solver_->set_system(share);
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

StepResult ProcessStatics::solve(const Step& step) {
  if (prepare()) is_formed_ = false;
  AnalysisState state;
  together("begin", [&] {
    state = std::move(step_states(domain_, {step}).front());
    if (model_) integrator_->begin_step(*model_, state);
  });
  form(state);
  const SolveReport report = balance(state);
  // The report is the same on all processes, so that all of them throw.
  if (!report.converged) throw SharedError(NotConverged(report, {}, step.name), 0);
  return result_of(state, report);
}

}  // namespace voussoir
