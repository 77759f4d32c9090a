#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <voussoir/framework/analysis/analysis.hpp>
#include <voussoir/partition/process/engine.hpp>
#include <voussoir/partition/process/process_part.hpp>

namespace voussoir {

/// The part of an analysis on several processes that all kinds of analyses share: the numbered model of a process's own
/// part, and its share in systems that an engine solves.
///
/// All functions are collective. Errors of one process are thrown by all of them (SharedError).
class ProcessAnalysis {
 public:
  /// For a domain of the part. All arguments must outlive the object.
  ProcessAnalysis(const ProcessPart& part, std::size_t domain, Engine& engine, std::shared_ptr<Backend> backend);
  virtual ~ProcessAnalysis();
  ProcessAnalysis(const ProcessAnalysis&) = delete;
  ProcessAnalysis& operator=(const ProcessAnalysis&) = delete;

  std::int64_t equation_count() const { return equations_; }            ///< of the whole model
  std::int64_t free_equation_count() const { return free_equations_; }  ///< of the whole model, after the first step
  /// Time of this process for numbering, matrices, the engine and results, summed over all steps.
  const std::vector<StageTime>& stage_times() const { return times_; }
  /// Called at each stage and now and then during a solution. Returning false on one process stops all of them with an
  /// Error (cancelled).
  std::function<bool(const Progress&)> observer;

 protected:
  /// Numbers the part where that has not been done, or where the domain has changed since on some process. Returns
  /// whether it was numbered anew.
  bool prepare();
  /// Has the next prepare() number the part anew.
  void forget_numbers() { is_numbered_ = false; }
  /// The numbers of the part's equations in the whole system and the near-null space, without a matrix.
  SystemShare numbered_share() const;
  /// Runs `work`, which does not communicate, as a stage on all processes.
  void together(const std::string& stage, const std::function<void()>& work);
  void add_time(const std::string& stage, double seconds);  ///< adds to stage_times()
  /// Adds what other parts have: reactions and forces at shared nodes, sums of loads and reactions, energy.
  void complete_result(StepResult& result);

  const ProcessPart& part_;               ///< as given
  const std::size_t domain_index_;        ///< as given
  const Domain& domain_;                  ///< of the part
  Engine& engine_;                        ///< as given
  Processes& processes_;                  ///< of the engine
  std::shared_ptr<Backend> backend_;      ///< as given
  std::unique_ptr<AnalysisModel> model_;  ///< null on a process without elements
  std::shared_ptr<LinearSOE> soe_;        ///< of the part alone; null on a process without elements
  Stopwatch since_start_;                 ///< since the object was made
  std::string storage_ = "auto";          ///< of soe_, a name for make_soe(); auto: a stored matrix
  bool solves_nonlinear_heat_ = false;    ///< whether models of heat may depend on temperature; set by derived classes
  bool is_linear_ = true;                 ///< whether the steady state of the whole model is linear; after prepare()
  bool full_tangents_ = false;            ///< of a model that is not linear: as ModelOptions::full_tangents

 private:
  void number();
  void check_model();

  bool is_numbered_ = false;
  std::int64_t equations_ = 0, free_equations_ = 0;
  std::vector<StageTime> times_;
};

/// The numbers of the equations of a part's model in the whole system and the near-null space, without a matrix.
/// `model` is null on a process without elements. Collective.
SystemShare number_share(Processes& processes, const ProcessPart& part, std::size_t domain, const AnalysisModel* model);
/// Whether this part allows elements that depend on the unknown temperature their whole tangent, which is not
/// symmetric: as on one process, where the system is small enough to be factorised, and where the engine factorises it.
bool allows_full_tangents(const ProcessPart& part, std::size_t domain, const Backend& backend,
                          const EngineSettings& settings);
/// Counts the equations of the whole model that are solved for. Throws Error (internal) if parts do not agree on them.
/// Collective; arguments as in number_share().
std::int64_t count_free_equations(Processes& processes, const ProcessPart& part, std::size_t domain,
                                  const AnalysisModel* model);
/// Adds to the result of a part what other parts have: reactions and forces at shared nodes, sums of loads and
/// reactions, energy. Collective; arguments as in number_share().
void complete_part_result(Processes& processes, const ProcessPart& part, std::size_t domain, const AnalysisModel* model,
                          StepResult& result);
/// Adds the values of shared nodes over all parts that have them, by the names of unknowns and in the order of the
/// parts; NaN counts as no value. Collective. `field` has the unknowns of the part's domain as components.
void sum_shared_nodes(Processes& processes, const ProcessPart& part, std::size_t domain, NodalField& field);

}  // namespace voussoir
