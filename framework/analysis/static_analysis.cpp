#include <voussoir/framework/analysis/static_analysis.hpp>

#include <algorithm>

#include <voussoir/framework/analysis/mechanism_check.hpp>
#include <voussoir/framework/model/free_motion.hpp>

namespace voussoir {
namespace {

bool eliminated(const SolveReport& report) { return report.solver.find("direct") != std::string::npos; }

}  // namespace

void StaticAnalysis::check_supports() {
  if (supports_checked_for_ == model_->matrix_serial()) return;
  stage("check supports", [&] { require_no_free_motion(find_free_motions(*model_)); });
  supports_checked_for_ = model_->matrix_serial();
}

/// Looks for what an iteration does not see: throws where something can move freely, and notes where that could not be
/// excluded. Clusters are found once for a model, and a matrix is looked at once.
void StaticAnalysis::check_mechanisms(std::unique_ptr<RigidClusters>& clusters, std::vector<SolveReport>& reports) {
  // Elimination, where it came second, has looked; and a motion that was found is named already.
  for (const SolveReport& report : reports)
    if (eliminated(report) || !report.free_motions.empty()) return;
  const LinearSOE& soe = *parts_.soe;
  if (mechanisms_.version != soe.version())
    stage("check mechanisms", [&] {
      if (!clusters) clusters = std::make_unique<RigidClusters>(soe.model());
      const MechanismReport verdict = find_mechanisms(soe, *clusters);
      if (!verdict.motion.empty()) require_no_free_motion({describe_motion(soe.model(), verdict.motion)});
      mechanisms_ = {soe.version(), verdict.note};
    });
  for (SolveReport& report : reports) report.note = mechanisms_.note;
}

StaticAnalysis::StaticAnalysis(const Domain& domain, Collaborators collaborators)
    : Analysis(domain, std::move(collaborators)) {
  require_system();
}

StaticAnalysis::StaticAnalysis(std::shared_ptr<const Domain> domain, Collaborators collaborators)
    : Analysis(std::move(domain), std::move(collaborators)) {
  require_system();
}

std::vector<StepResult> StaticAnalysis::run() {
  if (!fallback_.empty()) parts_.model.full_tangents = true;  // what the last run came to does not count
  fallback_.clear();
  prepare();
  last_ = {};
  if (free_motion_check_) check_supports();
  std::unique_ptr<RigidClusters> clusters;
  // The state of a step has a number for each load case, and jobs have a case for each step: all states at once would
  // take the square of their number in memory.
  constexpr std::size_t most_at_once = 256;
  std::vector<StepResult> results;
  std::size_t done = 0;
  do {
    const std::size_t end = std::min(done + most_at_once, steps_.size());
    run_steps({steps_.begin() + static_cast<std::ptrdiff_t>(done), steps_.begin() + static_cast<std::ptrdiff_t>(end)},
              clusters, results);
    done = end;
  } while (done < steps_.size());
  return results;
}

void StaticAnalysis::run_steps(const std::vector<Step>& steps, std::unique_ptr<RigidClusters>& clusters,
                               std::vector<StepResult>& results) {
  const Domain& domain = this->domain();
  std::vector<AnalysisState> states = step_states(domain, steps);
  std::vector<std::size_t> heating;  // load cases with temperatures
  for (std::size_t c = 0; c < domain.load_case_count(); ++c)
    if (!domain.load_case(c).temperatures().empty()) heating.push_back(c);
  for (std::size_t first = 0; first < states.size();) {
    // Steps with temperatures or springs are solved one after another, as those of heat and those that follow from each
    // other.
    std::size_t last = first + 1;
    const auto heated = [&](const AnalysisState& s) {
      return std::any_of(heating.begin(), heating.end(), [&](std::size_t c) { return s.case_factors[c] != 0; });
    };
    const auto can_join = [&](const AnalysisState& s) {
      return !model_->is_thermal() && !model_->follows_unknown_temperature() && !model_->has_history() &&
             model_->constraints().springs.empty() && !heated(states[first]) && !heated(s) &&
             model_->same_matrix(states[first].case_factors, s.case_factors);
    };
    while (last < states.size() && can_join(states[last])) ++last;
    solve_steps({states.data() + first, last - first}, clusters, results);
    first = last;
  }
}

std::vector<SolveReport> StaticAnalysis::balance(std::span<AnalysisState> group) {
  std::vector<SolveReport> reports;
  stage("loads", [&] {
    for (AnalysisState& state : group) parts_.integrator->begin_step(*model_, state);
  });
  stage("assemble and solve",
        [&] { reports = parts_.algorithm->solve(*model_, *parts_.integrator, *parts_.soe, *parts_.solver, group); });
  return reports;
}

/// Balances steps, by symmetric tangents where full ones fail. States of a model with a history cannot begin again.
std::vector<SolveReport> StaticAnalysis::balance_or_fall_back(std::span<AnalysisState> group,
                                                              std::unique_ptr<RigidClusters>& clusters) {
  const bool can_fall_back = symmetric_fallback_ && model_->options().full_tangents && !model_->has_history();
  std::vector<SolveReport> reports;
  if (!can_fall_back) {
    reports = balance(group);
  } else {
    std::string failure;
    try {
      reports = balance(group);
      for (const SolveReport& report : reports)
        if (!report.converged) failure = report.reason;
    } catch (const Error& error) {
      // A factor of the whole matrix takes more memory. Whatever else is wrong with the model is found again.
      if (error.code() != ErrorCode::singular && error.code() != ErrorCode::out_of_memory) throw;
      failure = error.text();
    }
    if (failure.empty()) return reports;
    fallback_ = "the step '" + group[0].name + "' failed with the full tangent (" + failure +
                "), so the symmetric one was used";
    parts_.model.full_tangents = false;
    clusters.reset();
    for (AnalysisState& state : group) {
      AnalysisState again;
      again.name = std::move(state.name);
      again.case_factors = std::move(state.case_factors);
      again.prescribed_factor = state.prescribed_factor;
      state = std::move(again);
    }
    prepare();
    reports = balance(group);
  }
  for (SolveReport& report : reports)
    if (!report.converged && report.advice.empty() && report.free_motions.empty() && model_->options().full_tangents)
      report.advice = "Try the symmetric tangent, which may take more iterations";
  if (!fallback_.empty())
    for (SolveReport& report : reports) report.choice += (report.choice.empty() ? "" : "; ") + fallback_;
  return reports;
}

void StaticAnalysis::solve_steps(std::span<AnalysisState> group, std::unique_ptr<RigidClusters>& clusters,
                                 std::vector<StepResult>& results) {
  const bool follows = model_->has_history();
  if (follows && last_.is_committed()) {
    last_.name = std::move(group[0].name);
    last_.case_factors = std::move(group[0].case_factors);
    last_.prescribed_factor = group[0].prescribed_factor;
    group[0] = std::move(last_);
  }
  std::vector<SolveReport> reports = balance_or_fall_back(group, clusters);
  if (!parts_.solver->finds_mechanisms()) check_mechanisms(clusters, reports);
  for (std::size_t i = 0; i < group.size(); ++i) {
    const SolveReport& report = reports[i];
    if (!report.free_motions.empty()) {
      std::vector<FreeMotion> motions;
      for (const auto& motion : report.free_motions) motions.push_back(describe_motion(*model_, motion));
      require_no_free_motion(motions);
    }
    if (!report.converged) {
      if (!report.impossible_state) check_stiffness();
      throw NotConverged(report, std::move(results), group[i].name);
    }
    StepResult result;
    stage("recover", [&] { result = make_result(group[i], report); });
    commit(group[i], report);
    if (finished)
      finished(std::move(result));
    else
      results.push_back(std::move(result));
    if (follows)
      last_ = std::move(group[i]);
    else
      group[i] = AnalysisState();  // no longer needed; frees its memory on the devices
  }
}

namespace {

/// What to do after a solver has failed: never the same again.
std::string advice_after(const SolveReport& report) {
  const bool eliminated = voussoir::eliminated(report);
  if (report.not_positive_definite)
    return std::string("The model may be under-constrained: check its supports") +
           (eliminated ? "" : ", or use the direct solver, which names the free motion") +
           (report.advice.empty() ? "" : ". " + report.advice);
  if (!report.advice.empty()) return report.advice;
  if (eliminated)
    return "Look for weakly restrained parts, and for springs or materials that are many times stiffer or softer "
           "than their surroundings; or try cg+amg, which loses fewer digits with weakly restrained parts";
  return "Try another preconditioner, more iterations, or the direct solver";
}

}  // namespace

NotConverged::NotConverged(const SolveReport& report, std::vector<StepResult> finished, const std::string& step)
    : Error(report.not_positive_definite ? ErrorCode::singular : ErrorCode::not_converged,
            report.solver + " did not converge: " + report.reason + ". " + advice_after(report), "step '" + step + "'"),
      report_(std::make_shared<SolveReport>(report)),
      finished_(std::make_shared<std::vector<StepResult>>(std::move(finished))) {}

void StaticAnalysis::check_stiffness() const {
  Backend& backend = model_->backend();
  const LinearSOE& soe = *parts_.soe;
  const bool symmetric = model_->device_model().symmetric();
  BlockDiagonal diagonal = soe.sparse_matrix()
                               ? backend.block_diagonal(*soe.sparse_matrix(), 1)
                               : backend.block_diagonal(model_->device_model(), *soe.element_operator(), 1);
  for (int d = 0; d < backend.devices(); ++d) {
    const auto values = diagonal.blocks[d].read_host();
    for (std::size_t i = 0; i < values.size(); ++i)
      // The diagonal of a matrix that is not symmetric may be negative.
      if (symmetric ? !(values[i] > 0) : values[i] == 0) {
        const auto equation = static_cast<std::int32_t>(diagonal.layout->first(d) + static_cast<std::int64_t>(i));
        throw Error(ErrorCode::singular,
                    "no element gives this unknown any stiffness; prescribe it, or add an element that does",
                    model_->equation_label(equation));
      }
  }
}

StepResult StaticAnalysis::make_result(const AnalysisState& state, const SolveReport& report) {
  return make_step_result(*model_, *parts_.integrator, state, report, recover_);
}

}  // namespace voussoir
