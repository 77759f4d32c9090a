#include <voussoir/framework/analysis/modal_analysis.hpp>

#include <limits>

#include <voussoir/backends/number_text.hpp>

namespace voussoir {
namespace {

/// An SOE of a statics problem has no use here, and would be given a model.
Analysis::Collaborators without_system(Analysis::Collaborators collaborators) {
  collaborators.soe = nullptr;
  collaborators.solver = nullptr;
  return collaborators;
}

void require(const std::shared_ptr<EigenSolver>& solver) {
  if (!solver)
    throw Error(ErrorCode::misuse, "a modal analysis needs an eigen-solver; get one from make_eigen_solver()");
}

constexpr int usual_modes = 10;

}  // namespace

ModalAnalysis::ModalAnalysis(const Domain& domain, Collaborators collaborators, std::shared_ptr<EigenSolver> solver)
    : Analysis(domain, without_system(std::move(collaborators))), solver_(std::move(solver)) {
  require(solver_);
  request_.modes = usual_modes;
}

ModalAnalysis::ModalAnalysis(std::shared_ptr<const Domain> domain, Collaborators collaborators,
                             std::shared_ptr<EigenSolver> solver)
    : Analysis(std::move(domain), without_system(std::move(collaborators))), solver_(std::move(solver)) {
  require(solver_);
  request_.modes = usual_modes;
}

ModeSet ModalAnalysis::solve(const EigenRequest& request) {
  prepare();
  std::unique_ptr<EigenProblem> problem;
  stage("assemble", [&] { problem = std::make_unique<EigenProblem>(*model_, mass_kind_); });
  EigenRequest asked = request;
  const Stopwatch since_start;
  asked.progress = [&](int iteration, double residual) {
    if (request.progress && !request.progress(iteration, residual)) return false;
    return !observer || observer({"solve", since_start.seconds(), iteration, residual});
  };
  EigenSolution solution;
  stage("solve", [&] { solution = solver_->solve(*problem, asked); });
  ModeSet set;
  stage("recover", [&] { set = make_mode_set(*problem, solution); });
  modes_ = set;
  return set;
}

const ModeSet& ModalAnalysis::modes() const {
  if (!modes_) throw Error(ErrorCode::misuse, "a modal analysis has no modes yet; call solve() or run() first");
  return *modes_;
}

std::vector<StepResult> ModalAnalysis::run() {
  const ModeSet set = solve(request_);
  const EigenReport& report = set.report;
  if (!report.converged)
    throw Error(
        ErrorCode::not_converged,
        "the eigen-solver did not reach its tolerance for all modes; allow more iterations or a larger tolerance",
        report.solver);
  if (report.completeness == Completeness::incomplete)
    throw Error(ErrorCode::not_converged, report.statement, report.solver);
  std::vector<StepResult> results;
  for (int m = 0; m < set.count(); ++m) {
    const auto place = static_cast<std::size_t>(m);
    StepResult& result = results.emplace_back();
    result.step = "mode " + std::to_string(m + 1) + ", " + short_number(set.frequency(m), 6) + " Hz";
    result.unknowns = set.shapes[place];
    result.reactions = result.internal_forces = result.unknowns;
    result.reactions.name = "reaction";
    result.internal_forces.name = "internal_force";
    for (NodalField* field : {&result.reactions, &result.internal_forces})
      field->values.assign(field->values.size(), std::numeric_limits<double>::quiet_NaN());
    result.report.converged = true;
    result.report.solver = report.solver;
    result.report.choice = report.choice;
    result.report.reason = report.statement;
    result.report.iterations = report.iterations;
    result.report.true_residual = report.modes[place].residual;
  }
  return results;
}

}  // namespace voussoir
