#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <voussoir/framework/analysis/recorder.hpp>
#include <voussoir/framework/analysis/results.hpp>
#include <voussoir/framework/analysis/solution_algorithm.hpp>
#include <voussoir/framework/analysis/stopwatch.hpp>
#include <voussoir/framework/model/constraint_handler.hpp>
#include <voussoir/framework/model/dof_numberer.hpp>

namespace voussoir {

/// How far an analysis is; see Analysis::observer.
struct Progress {
  /// "number", "pattern", "update", "check supports", "loads", "assemble and solve", "solve", "check mechanisms",
  /// "recover".
  std::string stage;
  double seconds = 0;   ///< since the analysis began
  int iteration = 0;    ///< of the solver
  double residual = 0;  ///< relative
};

/// Time of a stage, for reports.
struct StageTime {
  std::string stage;   ///< as in Progress
  double seconds = 0;  ///< wall-clock time
};

/// An analysis of a Domain: it owns the collaborators that do the work and defines their order. To write
/// another one, derive and define run(): prepare() numbers the model, the integrator and the algorithm work on an
/// AnalysisState (docs/tutorials/write_an_analysis.md).
class Analysis {
 public:
  /// The collaborators of an analysis. Each is replaceable; none depends on the others' types. A null pointer means the
  /// default; where there is none, it is an Error. Only an analysis without a matrix has neither SOE nor solver.
  struct Collaborators {
    std::shared_ptr<Backend> backend;              ///< required
    std::shared_ptr<ConstraintHandler> handler;    ///< default: TransformationHandler
    std::shared_ptr<DofNumberer> numberer;         ///< default: PlainNumberer
    std::shared_ptr<Integrator> integrator;        ///< default: that of the analysis
    std::shared_ptr<SolutionAlgorithm> algorithm;  ///< default: AutomaticAlgorithm
    std::shared_ptr<LinearSOE> soe;                ///< storage of the matrix; no default
    std::shared_ptr<Solver> solver;                ///< no default
    ModelOptions model = {};                       ///< how the domain is numbered
  };

  /// The domain must live as long as the analysis, which throws Error (misuse) if it finds it gone.
  Analysis(const Domain& domain, Collaborators collaborators);
  Analysis(const Domain&& domain, Collaborators collaborators) = delete;  // a temporary Domain would be gone at once
  /// The same with a domain that the analysis shares and keeps alive.
  Analysis(std::shared_ptr<const Domain> domain, Collaborators collaborators);
  virtual ~Analysis();
  Analysis(const Analysis&) = delete;
  Analysis& operator=(const Analysis&) = delete;

  /// Runs the analysis from its beginning; the results of its steps.
  virtual std::vector<StepResult> run() = 0;

  const Domain& domain() const;                         ///< the model as given; Error (misuse) if it is gone
  Backend& backend() const { return *parts_.backend; }  ///< the backend of the collaborators
  /// The numbered model; built by the first run. Where the domain has changed since, it is brought up to date if
  /// AnalysisModel::update() can do that, and otherwise built again.
  const AnalysisModel& model();
  const Collaborators& collaborators() const { return parts_; }  ///< defaults replace null pointers

  /// Called at each stage and every few iterations of a solver. Returning false requests a stop: the analysis then
  /// throws Error (cancelled).
  std::function<bool(const Progress&)> observer;
  /// Has a recorder see every state that is committed from now on.
  void add_recorder(std::shared_ptr<Recorder> recorder);
  /// Notes for the user in addition to the results: elements that use a slow route, unused nodes.
  const std::vector<std::string>& notes() const { return notes_; }
  /// Where the time went.
  const std::vector<StageTime>& stage_times() const { return times_; }

 protected:
  /// Numbers the model and passes it to the SOE, if there is one, unless that has been done and nothing has changed.
  void prepare();
  /// Throws Error (misuse) where there is no SOE and solver: for the constructors of analyses that need them.
  void require_system() const;
  /// Commits a balanced state and shows it to the recorders.
  void commit(AnalysisState& state, const SolveReport& report);
  /// Runs `work` as a named stage: notifies the observer, records the time.
  void stage(const std::string& name, const std::function<void()>& work);

  Collaborators parts_;                   ///< as used by run(), with defaults filled in
  std::unique_ptr<AnalysisModel> model_;  ///< null before prepare()

 private:
  double elapsed() const;
  void take_notes();
  bool soe_has_model() const;
  bool update_model();
  const Domain* domain_;
  std::shared_ptr<const Domain> shared_domain_;
  std::weak_ptr<const void> domain_lifetime_;
  std::vector<std::shared_ptr<Recorder>> recorders_;
  std::vector<StageTime> times_;
  std::vector<std::string> notes_;
  std::optional<Stopwatch> since_start_;
};

}  // namespace voussoir
