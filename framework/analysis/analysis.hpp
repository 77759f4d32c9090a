#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <voussoir/framework/analysis/results.hpp>
#include <voussoir/framework/analysis/solution_algorithm.hpp>
#include <voussoir/framework/analysis/stopwatch.hpp>
#include <voussoir/framework/model/constraint_handler.hpp>
#include <voussoir/framework/model/dof_numberer.hpp>

namespace voussoir {

/// How far an analysis is; see Analysis::observer.
struct Progress {
  std::string stage;    ///< "number", "pattern", "check supports", "loads", "assemble and solve", "solve", "recover"
  double seconds = 0;   ///< since the analysis began
  int iteration = 0;    ///< of the solver
  double residual = 0;  ///< relative
};

/// Time of a stage, for reports.
struct StageTime {
  std::string stage;
  double seconds = 0;
};

/// An analysis of a Domain: it owns the collaborators that do the work and defines their order. To write
/// another one, derive, use the collaborators, and return results.
class Analysis {
 public:
  /// The collaborators of an analysis. Each is replaceable; none depends on the others' types. A null pointer means the
  /// default; where there is none, it is an Error. In an Analysis no part is null.
  struct Collaborators {
    std::shared_ptr<Backend> backend;
    std::shared_ptr<ConstraintHandler> handler;    ///< default: TransformationHandler
    std::shared_ptr<DofNumberer> numberer;         ///< default: PlainNumberer
    std::shared_ptr<Integrator> integrator;        ///< default: StaticIntegrator
    std::shared_ptr<SolutionAlgorithm> algorithm;  ///< default: AutomaticAlgorithm
    std::shared_ptr<LinearSOE> soe;
    std::shared_ptr<Solver> solver;
  };

  Analysis(const Domain& domain, Collaborators collaborators);
  virtual ~Analysis();
  Analysis(const Analysis&) = delete;
  Analysis& operator=(const Analysis&) = delete;

  const Domain& domain() const { return domain_; }      ///< the model as given
  Backend& backend() const { return *parts_.backend; }  ///< the backend of the collaborators
  /// The numbered model; built by the first run, and again when the domain has changed since.
  const AnalysisModel& model();
  const Collaborators& collaborators() const { return parts_; }

  /// Called at each stage and every few iterations of a solver. Returning false requests a stop: the analysis then
  /// throws Error (cancelled).
  std::function<bool(const Progress&)> observer;
  /// Notes for the user in addition to the results: elements that use a slow route, unused nodes.
  const std::vector<std::string>& notes() const { return notes_; }
  /// Where the time went.
  const std::vector<StageTime>& stage_times() const { return times_; }

 protected:
  /// Numbers the model and passes it to the SOE, unless that has been done and nothing has changed.
  void prepare();
  /// Runs `work` as a named stage: notifies the observer, records the time.
  void stage(const std::string& name, const std::function<void()>& work);

  const Domain& domain_;
  Collaborators parts_;
  std::unique_ptr<AnalysisModel> model_;

 private:
  double elapsed() const;
  void take_notes();
  std::vector<StageTime> times_;
  std::vector<std::string> notes_;
  std::optional<Stopwatch> since_start_;
};

}  // namespace voussoir
