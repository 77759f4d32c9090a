#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <voussoir/framework/analysis/analysis.hpp>
#include <voussoir/framework/analysis/step.hpp>
#include <voussoir/partition/process/engine.hpp>
#include <voussoir/partition/process/process_part.hpp>

namespace voussoir {

/// Linear statics and steady heat on several processes. Each process forms the matrix, the loads and the results of the
/// elements of its own part on its own backend; the engine solves the system that is the sum of all parts.
///
/// All functions are collective. Errors of one process are thrown by all of them (SharedError).
class ProcessStatics {
 public:
  /// For a domain of the part. All arguments must outlive the object.
  ProcessStatics(const ProcessPart& part, std::size_t domain, Engine& engine, std::shared_ptr<Backend> backend,
                 const EngineSettings& settings);
  ~ProcessStatics();
  ProcessStatics(const ProcessStatics&) = delete;
  ProcessStatics& operator=(const ProcessStatics&) = delete;

  /// Solves one step and returns the results of the part: on nodes that other parts share, reactions and forces are
  /// those of all parts together; sums and energies are those of the whole model. Supports and load cases of the domain
  /// may change between two steps.
  ///
  /// What is not implemented for several processes is an Error (unavailable) that says so: elements that are not
  /// linear, or that have a history. A system that was not solved is an Error (not_converged or singular).
  StepResult solve(const Step& step);

  std::int64_t equation_count() const { return equations_; }            ///< of the whole model
  std::int64_t free_equation_count() const { return free_equations_; }  ///< of the whole model, after the first step
  /// Time of this process for numbering, matrices, the engine and results, summed over all steps.
  const std::vector<StageTime>& stage_times() const { return times_; }
  /// Called at each stage and now and then during a solution. Returning false on one process stops all of them with an
  /// Error (cancelled).
  std::function<bool(const Progress&)> observer;

 private:
  void prepare();
  void check_model();
  void check_free_flags();
  SystemShare system_share() const;
  void add_motions(SystemShare& share, bool has_equations) const;
  void form(AnalysisState& state);
  SolveReport balance(AnalysisState& state);
  StepResult result_of(const AnalysisState& state, const SolveReport& report);
  /// Runs `work`, which does not communicate, as a stage on all processes.
  void together(const std::string& stage, const std::function<void()>& work);
  void add_time(const std::string& stage, double seconds);

  const ProcessPart& part_;
  const std::size_t domain_index_;
  const Domain& domain_;
  Engine& engine_;
  Processes& processes_;
  std::shared_ptr<Backend> backend_;
  std::unique_ptr<Integrator> integrator_;
  std::unique_ptr<AnalysisModel> model_;  // null on a process without elements
  std::shared_ptr<LinearSOE> soe_;
  std::unique_ptr<ProcessSolver> solver_;
  bool is_formed_ = false;  // whether the solver has a matrix
  std::int64_t equations_ = 0, free_equations_ = 0;
  std::vector<StageTime> times_;
  Stopwatch since_start_;
};

/// Adds the values of shared nodes over all parts that have them, by the names of unknowns and in the order of the
/// parts; NaN counts as no value. Collective. `field` has the unknowns of the part's domain as components.
void sum_shared_nodes(Processes& processes, const ProcessPart& part, std::size_t domain, NodalField& field);

}  // namespace voussoir
