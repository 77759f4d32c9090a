#include <voussoir/partition/process/process_statics.hpp>

#include <algorithm>

#include <voussoir/framework/analysis/static_analysis.hpp>
#include <voussoir/solvers/registries.hpp>
#include <voussoir/solvers/soe/sparse_soe.hpp>

namespace voussoir {

ProcessStatics::ProcessStatics(const ProcessPart& part, std::size_t domain, Engine& engine,
                               std::shared_ptr<Backend> backend, const EngineSettings& settings)
    : ProcessAnalysis(part, domain, engine, std::move(backend)),
      integrator_(std::make_unique<StaticIntegrator>()),
      settings_(settings) {
  agree(processes_, [&] {
    storage_ = settings.storage;
    const StorageFactory* const storage = storage_ == "auto" ? nullptr : &storages().find(storage_);
    if (storage && storage->is_envelope)
      throw Error(ErrorCode::bad_input, "storage '" + storage_ +
                                            "' is for one process; with --engine there are auto, csr, bsr and those "
                                            "without a stored matrix, such as matrix-free");
    multiplies_ = storage && !storage->stores_matrix;
  });
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
  const auto from = std::make_shared<Vector>(model_->make_vector()),
             to = std::make_shared<Vector>(model_->make_vector());
  share.product = [this, from, to](std::span<const double> x, std::span<double> y) {
    from->from_host(x);
    soe_->matrix().apply(*from, *to);
    to->to_host(y);
  };
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

StepResult ProcessStatics::solve(const Step& step, bool is_last) {
  if (prepare()) is_formed_ = false;
  if (!solver_) make_solver();
  AnalysisState state;
  together("begin", [&] {
    state = std::move(step_states(domain_, {step}).front());
    if (model_) integrator_->begin_step(*model_, state);
  });
  form(state);
  const SolveReport report = balance(state);
  // The report is the same on all processes, so that all of them throw.
  if (!report.converged) throw SharedError(NotConverged(report, {}, step.name), 0);
  if (is_last) {
    solver_.reset();
    is_formed_ = false;
  }
  return result_of(state, report);
}

}  // namespace voussoir
