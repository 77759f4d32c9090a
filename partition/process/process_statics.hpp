#pragma once
#include <memory>

#include <voussoir/framework/analysis/step.hpp>
#include <voussoir/partition/process/divided_group.hpp>
#include <voussoir/partition/process/process_analysis.hpp>

namespace voussoir {

/// Linear statics and steady heat on several processes. Each process forms the matrix, the loads and the results of the
/// elements of its own part on its own backend; the engine solves the system that is the sum of all parts. Heat that
/// depends on temperature, by conductivity or radiation, is solved by Newton's method.
class ProcessStatics : public ProcessAnalysis {
 public:
  /// For a domain of the part. All arguments must outlive the object. With a storage that keeps no matrix
  /// (EngineSettings::storage), the engine gets products of the part's backend.
  ProcessStatics(const ProcessPart& part, std::size_t domain, Engine& engine, std::shared_ptr<Backend> backend,
                 const EngineSettings& settings);
  ~ProcessStatics() override;

  /// Solves one step and returns the results of the part: on nodes that other parts share, reactions and forces are
  /// those of all parts together; sums and energies are those of the whole model. Supports and load cases of the domain
  /// may change between two steps.
  ///
  /// What is not implemented for several processes is an Error (unavailable) that says so: elements with
  /// displacements that are not linear, or elements that have a history. A system that was not solved is an Error
  /// (not_converged or singular).
  ///
  /// With `is_last`, the engine's matrix and preconditioner are released before results are computed, which need
  /// memory, too; another step would set them up again.
  StepResult solve(const Step& step, bool is_last = false);
  /// Whether a system was solved by iteration so far, so that mechanisms may not have been found.
  bool iterated() const { return iterated_; }

 private:
  void make_solver();
  void form(AnalysisState& state);
  void add_product(SystemShare& share);
  SolveReport balance(AnalysisState& state);
  void agree_on_start();
  AnalysisState begin(const Step& step);
  SolveReport balance_nonlinear(const Step& step, AnalysisState& state);
  SolveReport iterate(AnalysisState& state);
  StepResult result_of(const AnalysisState& state, const SolveReport& report);

  class PartIntegrator;
  std::unique_ptr<PartIntegrator> integrator_;
  EngineSettings settings_;
  std::unique_ptr<ProcessSolver> solver_;
  bool is_formed_ = false;   // whether the solver has a matrix
  bool multiplies_ = false;  // whether the solver gets products instead of a stored matrix
  bool iterated_ = false;
  std::unique_ptr<DividedGroup> group_;  // of Newton's method, from its first step on
};

}  // namespace voussoir
