#pragma once
#include <functional>
#include <iosfwd>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <voussoir/framework/analysis/analysis.hpp>
#include <voussoir/framework/analysis/time_integrators.hpp>

namespace voussoir {

/// How a TransientAnalysis divides time.
struct TimeSteps {
  double start = 0;        ///< time at which it begins
  double end = 1;          ///< time at which it ends
  double step = 0.01;      ///< size of all steps; with `automatic`, of the first one
  bool automatic = false;  ///< whether the size follows from the estimated error, and from failures of Newton's method
  /// Of automatic steps: the largest error of displacements that one step may add, relative to the largest displacement
  /// so far, both measured as √(uᵀMu). The first step that moves anything cannot be judged by that: it is at most 1/64
  /// of `step` long.
  double tolerance = 1e-3;
  double shortest = 0;                                       ///< of automatic steps; 0: 1e-5 · step
  double longest = std::numeric_limits<double>::infinity();  ///< of automatic steps
  /// Of automatic steps of transient heat: the largest change of a temperature in one step. Prescribed ones do not
  /// count.
  double largest_change = std::numeric_limits<double>::infinity();
  std::vector<double> times = {};  ///< that steps must end at, besides `end`; ascending
  int most_steps = 0;              ///< if `end` is not reached within this number, run() throws Error; 0: no limit
};

/// What a transient analysis did.
struct TransientReport {
  int steps = 0;                ///< that were accepted
  int rejected = 0;             ///< because of their estimated error
  int failed = 0;               ///< because Newton's method did not converge
  int inaccurate = 0;           ///< accepted with a larger error than wanted, since they could not be shorter
  int factorisations = 0;       ///< matrices that were formed
  std::int64_t iterations = 0;  ///< of the linear solver, or solves by elimination
  double smallest_step = 0;     ///< of the accepted ones
  double largest_step = 0;      ///< likewise
};

/// How far a transient analysis is.
struct TransientProgress {
  double time = 0;          ///< of the state that was committed last
  double end = 0;           ///< of the analysis
  double step = 0;          ///< size of the last step
  int steps = 0;            ///< accepted so far
  double seconds = 0;       ///< since the analysis began
  double seconds_left = 0;  ///< estimated from the time per unit of simulated time so far
};

/// Implicit dynamics, M a + C v + f(u) = p(t), and transient heat, C dT/dt + f(T) = q(t), from an initial state, on any
/// backend. The integrator decides which of them: one of Newmark's family, or a FirstOrderIntegrator. Linear models are
/// solved once per step with a matrix that is formed once for all steps of the same size; iterative solvers start from
/// an extrapolation of former steps. Models that are not linear are solved by Newton's method within the step.
///
///   auto analysis = make_transient_analysis(domain);  // <solvers/transient_problem.hpp>
///   analysis->loads().add_load_case("blast", Amplitude({{0, 1}, {0.02, 0}}));
///   analysis->set_steps({.end = 0.5, .step = 1e-3});
///   auto tip = std::make_shared<HistoryRecorder>();
///   tip->add(17, "uz");
///   analysis->add_recorder(tip);
///   analysis->run();
///
/// The integrator of the collaborators must be a TimeIntegrator; the default is average acceleration. All that changes
/// while it runs is in the AnalysisState, the integrator's Memory and a few numbers: save() and restore().
class TransientAnalysis : public Analysis {
 public:
  /// The domain must outlive the analysis. Throws Error (misuse) without a backend, SOE or solver, or with an
  /// integrator that is not a TimeIntegrator.
  TransientAnalysis(const Domain& domain, Collaborators collaborators);
  TransientAnalysis(const Domain&& domain, Collaborators collaborators) = delete;
  TransientAnalysis(std::shared_ptr<const Domain> domain, Collaborators collaborators);  ///< shares the domain
  ~TransientAnalysis() override;

  /// What acts over time. Changes take effect when the analysis starts.
  TimeLoads& loads() { return loads_; }
  /// Steps of time. Throws Error (bad_input) for sizes that are not positive, or an end that is not after the start.
  void set_steps(TimeSteps steps);
  const TimeSteps& steps() const { return steps_; }  ///< as set
  /// Unknowns at the start, displacements relative to the base or temperatures: a field of the model's unknowns, such
  /// as StepResult::unknowns. NaN counts as 0, or as the domain's initial temperature; unknowns of supports are what is
  /// prescribed.
  void set_initial_unknowns(NodalField unknowns) { displacement_ = std::move(unknowns); }
  /// The same as set_initial_unknowns(), for dynamics.
  void set_initial_displacement(NodalField displacement) { set_initial_unknowns(std::move(displacement)); }
  /// Velocities at the start, likewise.
  void set_initial_velocity(NodalField velocity) { velocity_ = std::move(velocity); }
  /// The history of elements at the start, as AnalysisState::history of a model of the same domain on the same backend;
  /// null: none. It belongs to the initial displacements.
  void set_initial_history(std::shared_ptr<const ElementHistory> history) { history_ = std::move(history); }
  /// Promises that tangents of linear elements do not depend on time (default: yes, unless elements are computed by
  /// virtual functions on the host). A step that is found out of balance forms its matrix again in any case.
  void set_matrix_kept(bool on) { matrix_kept_ = on; }
  /// NewtonRaphsonAlgorithm::set_whole_pressure_tangent() of the iterations within a step (default: yes).
  void set_whole_pressure_tangent(bool on) { whole_pressure_tangent_ = on; }
  /// Recover stresses, fluxes and section forces for the results of run() (default: yes).
  void set_recovery(bool on) { recover_ = on; }
  /// Results of run(): every so many steps, besides those at the times that set_steps() names and at the end; 0: those
  /// alone.
  void set_results_every(int steps) { results_every_ = steps; }
  /// Takes the result of a state as soon as it is there; run() then returns none.
  std::function<void(double time, StepResult result)> finished;
  /// Called after each step; returning false stops the analysis with Error (cancelled).
  std::function<bool(const TransientProgress&)> watch;

  /// Integrates from the start to the end; results as set_results_every() says. Throws NotConverged where a step cannot
  /// be balanced, Error (not_converged) where TimeSteps::most_steps are not enough, Error where the model is wrong.
  std::vector<StepResult> run() override;

  /// Prepares the initial state: supports in place, accelerations in balance. run() does it.
  void start();
  /// Takes one step of this size, which must be balanced: for loops of one's own, after start().
  void advance(double step);
  /// Integrates from where the state is to the end, after start() or restore().
  std::vector<StepResult> finish();
  const AnalysisState& state() const;                              ///< committed last; Error (misuse) before start()
  const EnergyBalance& energies() const;                           ///< of that state
  const HeatAccount& heat() const { return integrator().heat(); }  ///< of that state, in transient heat
  const TransientReport& report() const { return report_; }        ///< so far
  TimeIntegrator& integrator() const;                              ///< of the collaborators
  /// The result of the committed state.
  StepResult result(bool recover = true);

  /// Writes the complete state: unknowns, rates, history, time, size of the next step, forces and energies. Throws
  /// Error (io) where the stream fails.
  void save(std::ostream& to);
  /// Continues from what save() wrote, of an analysis of the same domain with the same loads and method. On the same
  /// backend with the same number of threads and devices, finish() goes on with the same bits. Throws Error (bad_input)
  /// for bytes that are damaged or belong to another model.
  void restore(std::istream& from);

 private:
  enum class Outcome { accepted, rejected, failed };
  void set_up();
  AnalysisState initial_state() const;
  void balance_initial();
  void refuse_sudden_supports(const Vector& given);
  bool solve_initial(double stiffness);
  bool has_massless_unknowns();
  void refuse_unjudged_steps() const;
  void check_followers(const NodalField& field, const std::string& what, const Vector& x) const;
  struct NextStep {
    double step, end;
    bool meets;      // a time that a step must end at
    bool shortened;  // to meet it, or to end where what acts is not smooth
  };
  NextStep next_step() const;
  bool blows_at(double time) const;
  Outcome try_step(double end, double step, SolveReport& report);
  bool changes_too_much(double step, SolveReport& report);
  SolveReport solve(AnalysisState& state);
  SolveReport solve_linear(AnalysisState& state);
  bool would_have_kept_matrix(const AnalysisState& state) const;
  void accept(const SolveReport& report);
  void report_progress();

  TimeLoads loads_;
  TimeSteps steps_;
  NodalField displacement_, velocity_;
  std::shared_ptr<const ElementHistory> history_;
  std::optional<bool> matrix_kept_;
  bool recover_ = true, whole_pressure_tangent_ = true;
  int results_every_ = 0;
  AnalysisState state_;
  bool started_ = false;
  bool matrix_is_lost_ = false;         // by restore(); forming it again does not count
  double next_step_ = 0;                // size of the next step, before it is shortened to meet a time
  double largest_ = 0;                  // displacement_measure() so far
  double estimated_ = 0;                // relative error of the last step
  std::vector<double> kinks_;           // of what acts; automatic steps end there
  std::vector<std::int32_t> massless_;  // free equations without mass
  double changed_ = 0;  // largest change of a temperature in the last step, as a share of what is allowed
  TransientReport report_;
  std::unique_ptr<SolutionAlgorithm> newton_;
  std::shared_ptr<double> force_scale_;
  std::optional<Stopwatch> watch_since_;
  double watched_from_ = 0;
};

/// Motions of single unknowns over time, with the energies.
class HistoryRecorder : public Recorder {
 public:
  /// What is recorded of an unknown.
  enum class Quantity {
    displacement,  ///< the unknown itself
    velocity,      ///< its first derivative
    acceleration,  ///< its second derivative
    reaction       ///< force of a support; 0 where the unknown is free
  };
  /// Records an unknown of a node, given by the user's number, from now on; relative to the base unless `absolute`.
  /// Throws Error (misuse) after the first state. Returns the place in values().
  std::size_t add(Id node, std::string unknown, Quantity quantity = Quantity::displacement, bool absolute = false);
  void record(const CommittedState& committed) override;

  const std::vector<double>& times() const { return times_; }                               ///< of all states
  const std::vector<double>& values(std::size_t place) const { return values_.at(place); }  ///< at these times
  const std::vector<EnergyBalance>& energies() const { return energies_; }  ///< where a TimeIntegrator has them

 private:
  struct Item {
    Id node;
    std::string unknown;
    Quantity quantity;
    bool absolute;
  };
  std::vector<Item> items_;
  std::vector<double> times_;
  std::vector<std::vector<double>> values_;
  std::vector<EnergyBalance> energies_;
};

}  // namespace voussoir
