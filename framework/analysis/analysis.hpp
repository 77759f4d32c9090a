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

/// A computation on a Domain: it owns the collaborators that do the work and says in which order they do it. To write
/// another one, derive, use the collaborators, and return results.
class Analysis {
 public:
  /// The parts of an analysis. Each is replaceable; none knows the others' types. A null pointer stands for the
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

  const Domain& domain() const { return domain_; }
  Backend& backend() const { return *parts_.backend; }
  /// The numbered model; built by the first run, and again when the domain has changed since.
  const AnalysisModel& model();
  const Collaborators& collaborators() const { return parts_; }

  /// Called at each stage and now and then while a solver iterates. Returning false asks to stop: the analysis then
  /// throws Error (cancelled).
  std::function<bool(const Progress&)> observer;
  /// What a user should know besides the results: elements that run by a slow route, nodes that nothing uses.
  const std::vector<std::string>& notes() const { return notes_; }
  /// Where the time went.
  const std::vector<StageTime>& stage_times() const { return times_; }

 protected:
  /// Numbers the model and gives it to the SOE, unless that has been done and nothing has changed.
  void prepare();
  /// Runs `work` as a named stage: tells the observer, keeps the time.
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
