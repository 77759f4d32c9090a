#pragma once
#include <span>
#include <string>

#include <voussoir/framework/analysis/integrator.hpp>

namespace voussoir {

/// How a step's equations are driven to balance.
class SolutionAlgorithm {
 public:
  virtual ~SolutionAlgorithm() = default;
  virtual std::string name() const = 0;  ///< for reports
  /// Solves steps that share one matrix (their states have begun). One report per step.
  virtual std::vector<SolveReport> solve(const AnalysisModel& model, const Integrator& integrator, LinearSOE& soe,
                                         Solver& solver, std::span<StepState> steps) const = 0;
};

/// One solve per step: exact for linear models. All steps are passed to the solver at once, as columns.
class LinearAlgorithm : public SolutionAlgorithm {
 public:
  std::string name() const override { return "linear"; }
  std::vector<SolveReport> solve(const AnalysisModel& model, const Integrator& integrator, LinearSOE& soe,
                                 Solver& solver, std::span<StepState> steps) const override;
};

/// Repeats until the unbalanced force is small against the first one: for conductivity that depends on temperature, and
/// for elements whose residual is not linear.
class NewtonRaphsonAlgorithm : public SolutionAlgorithm {
 public:
  explicit NewtonRaphsonAlgorithm(double tolerance = 1e-8, int max_iterations = 50)
      : tolerance_(tolerance), max_iterations_(max_iterations) {}
  std::string name() const override { return "newton-raphson"; }
  std::vector<SolveReport> solve(const AnalysisModel& model, const Integrator& integrator, LinearSOE& soe,
                                 Solver& solver, std::span<StepState> steps) const override;

 private:
  double tolerance_;
  int max_iterations_;
};

/// One solve per step where the model is linear, Newton–Raphson where it is not: the default of an Analysis.
class AutomaticAlgorithm : public SolutionAlgorithm {
 public:
  std::string name() const override { return "automatic"; }
  std::vector<SolveReport> solve(const AnalysisModel& model, const Integrator& integrator, LinearSOE& soe,
                                 Solver& solver, std::span<StepState> steps) const override;
};

}  // namespace voussoir
