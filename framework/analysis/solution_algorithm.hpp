#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <voussoir/framework/analysis/convergence_test.hpp>
#include <voussoir/framework/analysis/integrator.hpp>

namespace voussoir {

/// How a step's equations are driven to balance.
class SolutionAlgorithm {
 public:
  virtual ~SolutionAlgorithm() = default;
  virtual std::string name() const = 0;  ///< for reports
  /// Solves steps that share one matrix (their states have begun). One report per step. Several steps at once need an
  /// integrator that remembers nothing of a step, as the static one.
  virtual std::vector<SolveReport> solve(const AnalysisModel& model, Integrator& integrator, LinearSOE& soe,
                                         Solver& solver, std::span<AnalysisState> steps) const = 0;
};

/// One solve per step: exact for linear models. All steps are passed to the solver at once, as columns.
class LinearAlgorithm : public SolutionAlgorithm {
 public:
  std::string name() const override { return "linear"; }
  std::vector<SolveReport> solve(const AnalysisModel& model, Integrator& integrator, LinearSOE& soe, Solver& solver,
                                 std::span<AnalysisState> steps) const override;
};

/// How Newton's method shortens an increment that does not reduce the unbalanced force: it backtracks along the
/// increment until the unbalance is at most (1 − decrease · factor) times that before, where `factor` is how much of
/// the increment is taken. Increments that reduce the unbalance are taken whole.
struct LineSearchOptions {
  bool enabled = true;     ///< false takes every increment whole
  double decrease = 1e-4;  ///< from 0 to less than 1; a larger one searches more often
  int max_trials = 10;     ///< shortened increments that are tried in an iteration
};

/// Repeats until the convergence test passes, by default until the unbalanced force is small against the first one: for
/// conductivity that depends on temperature, and for elements whose residual is not linear. An increment that leads to
/// an impossible state, with an element turned inside out or forces that are not finite, is halved until the state is
/// possible; if that does not help, the report names the element. One that does not reduce the unbalance is shortened
/// by a line search.
class NewtonRaphsonAlgorithm : public SolutionAlgorithm {
 public:
  /// With `tolerance` of the force criterion.
  explicit NewtonRaphsonAlgorithm(double tolerance = 1e-8, int max_iterations = 50);
  /// With a test of one's own.
  explicit NewtonRaphsonAlgorithm(std::shared_ptr<const ConvergenceTest> test, int max_iterations = 50);
  std::string name() const override { return "newton-raphson"; }
  std::vector<SolveReport> solve(const AnalysisModel& model, Integrator& integrator, LinearSOE& soe, Solver& solver,
                                 std::span<AnalysisState> steps) const override;
  const ConvergenceTest& test() const { return *test_; }   ///< when the iteration stops
  void set_line_search(const LineSearchOptions& options);  ///< Throws Error (misuse) for options out of their range
  const LineSearchOptions& line_search() const { return line_search_; }  ///< as set
  /// Whether pressures that follow deformed faces have their whole tangent (default), with which the iteration
  /// converges quadratically, or its symmetric part.
  void set_whole_pressure_tangent(bool on) { whole_pressure_tangent_ = on; }

 private:
  std::shared_ptr<const ConvergenceTest> test_;
  int max_iterations_;
  LineSearchOptions line_search_;
  bool whole_pressure_tangent_ = true;
};

/// One solve per step where the model is linear, Newton–Raphson where it is not: the default of an Analysis.
class AutomaticAlgorithm : public SolutionAlgorithm {
 public:
  std::string name() const override { return "automatic"; }
  std::vector<SolveReport> solve(const AnalysisModel& model, Integrator& integrator, LinearSOE& soe, Solver& solver,
                                 std::span<AnalysisState> steps) const override;
};

}  // namespace voussoir
