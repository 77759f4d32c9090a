#pragma once
#include <memory>
#include <vector>

#include <voussoir/framework/analysis/analysis.hpp>
#include <voussoir/framework/analysis/step.hpp>

namespace voussoir {

class RigidClusters;

/// A step that its solver could not balance (code not_converged, or singular where the matrix is not positive
/// definite). Carries the solver's report and the steps that were finished before.
class NotConverged : public Error {
 public:
  /// `step` is the name of the step that failed.
  NotConverged(const SolveReport& report, std::vector<StepResult> finished, const std::string& step);
  const SolveReport& report() const noexcept { return *report_; }                        ///< of the step that failed
  const std::vector<StepResult>& finished_steps() const noexcept { return *finished_; }  ///< in their order

 private:
  std::shared_ptr<const SolveReport> report_;  // shared, so that copies made while throwing cannot fail
  std::shared_ptr<const std::vector<StepResult>> finished_;
};

/// Statics and steady heat: equilibrium at the end of one or several steps. Steps are independent of each other, and
/// neighbouring steps of a structure that share a matrix and have no temperatures are solved together; where elements
/// have a history, each step starts from the one before.
class StaticAnalysis : public Analysis {
 public:
  /// The domain must outlive the analysis. Throws Error (misuse) without a backend, SOE or solver.
  StaticAnalysis(const Domain& domain, Collaborators collaborators);
  StaticAnalysis(const Domain&& domain, Collaborators collaborators) = delete;
  StaticAnalysis(std::shared_ptr<const Domain> domain, Collaborators collaborators);  ///< shares the domain

  /// Adds a step. Without any, run() does one with all load cases at factor 1.
  void add_step(Step step) { steps_.push_back(std::move(step)); }
  /// Recover stresses, fluxes and section forces after each step (default: yes).
  void set_recovery(bool on) { recover_ = on; }
  /// Whether to check for free rigid-body motions before solving (default: yes; takes little time).
  void set_free_motion_check(bool on) { free_motion_check_ = on; }
  /// Whether to solve a step with symmetric tangents if it does not converge with full ones (ModelOptions), and the
  /// steps after it (default: no). Their reports say so.
  void set_symmetric_fallback(bool on) { symmetric_fallback_ = on; }
  /// Takes the result of each step as soon as it is there; run() then returns none, and no more than one is in memory.
  std::function<void(StepResult)> finished;

  /// Solves all steps. Throws Error if the model is wrong (under-constrained, inverted elements, …) or the solver did
  /// not reach its tolerance, with the text of the report.
  std::vector<StepResult> run() override;

 protected:
  /// What is kept of a solved step; override to add to it.
  virtual StepResult make_result(const AnalysisState& state, const SolveReport& report);

 private:
  void check_supports();
  void check_mechanisms(std::unique_ptr<RigidClusters>& clusters, std::vector<SolveReport>& reports);
  void check_stiffness() const;
  std::vector<SolveReport> balance(std::span<AnalysisState> group);
  std::vector<SolveReport> balance_or_fall_back(std::span<AnalysisState> group,
                                                std::unique_ptr<RigidClusters>& clusters);
  void solve_steps(std::span<AnalysisState> group, std::unique_ptr<RigidClusters>& clusters,
                   std::vector<StepResult>& results);
  void run_steps(const std::vector<Step>& steps, std::unique_ptr<RigidClusters>& clusters,
                 std::vector<StepResult>& results);

  std::vector<Step> steps_;
  AnalysisState last_;  // where elements have a history: the state that the next step starts from
  bool recover_ = true;
  bool free_motion_check_ = true;
  std::uint64_t supports_checked_for_ = 0;  // AnalysisModel::matrix_serial()
  /// What the check of mechanisms said of a matrix.
  struct MechanismVerdict {
    std::uint64_t version = 0;  // LinearSOE::version()
    std::string note;
  };
  MechanismVerdict mechanisms_;
  bool symmetric_fallback_ = false;
  std::string fallback_;  // why tangents are symmetric; empty where they are as chosen
};

}  // namespace voussoir
