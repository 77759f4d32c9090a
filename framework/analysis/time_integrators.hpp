#pragma once
#include <memory>
#include <string>
#include <vector>

#include <voussoir/framework/analysis/integrator.hpp>
#include <voussoir/framework/analysis/results.hpp>
#include <voussoir/framework/analysis/time_loads.hpp>

namespace voussoir {

namespace detail {
class LoadsOverTime;
}  // namespace detail

/// The energies of a structure over time. Works are integrals of force times motion by the trapezoidal rule, which the
/// method of average acceleration balances to rounding where the model is linear. With base accelerations, motions and
/// energies are relative to the base, and −M r a(t) is an external force.
struct EnergyBalance {
  double kinetic = 0;  ///< ½ v·M v
  /// Strain energy. In implicit analyses with elements for large displacements that have a stored energy, that of the
  /// state; otherwise the initial strain energy plus the work of the forces of elements and springs.
  double internal = 0;
  double external = 0;  ///< work of loads, and of supports that move
  double damping = 0;   ///< dissipated by damping
  double initial = 0;   ///< kinetic + internal at the start
  double viscous = 0;   ///< dissipated by bulk viscosity, which is not part of `internal`
  /// The part of `internal` that plastic flow has dissipated, of laws with a history variable "plastic_energy" per
  /// volume. Explicit dynamics computes it, counted from the same moment as `internal`: if a step begins with elements
  /// that have a history, from the beginning of the step.
  double plastic = 0;
  /// The part of `internal` that the hourglass control of one-point elements stores, counted from the same moment.
  /// Explicit dynamics computes it.
  double hourglass = 0;

  /// What the method of integration has dissipated (positive) or created: the energy that is missing in the balance.
  double numerical() const { return initial + external - kinetic - internal - damping - viscous; }
  /// The largest of the energies, to compare numerical() with.
  double scale() const;
  bool operator==(const EnergyBalance&) const = default;  ///< the same energies
};

/// The heat of a body over time, counted from the start of an analysis. Backward Euler, Crank-Nicolson and BDF2 balance
/// it to rounding, as their rates say what is stored.
struct HeatAccount {
  double stored = 0;    ///< in the body: capacity times change of temperature
  double loads = 0;     ///< that came in by fluxes, sources, films and radiation
  double supports = 0;  ///< that came in where temperatures are prescribed

  /// What came in and is not stored: rounding, and what solvers leave.
  double missing() const { return loads + supports - stored; }
  bool operator==(const HeatAccount&) const = default;  ///< the same heat
};

/// Implicit integration of M a + C v + f(u) = p(t) with Newmark's relations over a step h,
///
///   u₁ = u₀ + h v₀ + h² ((½ − β) a₀ + β a₁),   v₁ = v₀ + h ((1 − γ) a₀ + γ a₁),
///
/// and balance of forces weighted over the step as in the generalised-α method (Chung and Hulbert, J. Appl. Mech. 60,
/// 1993): (1 − α_m) M a₁ + α_m M a₀ + (1 − α_f) (C v + f − p)₁ + α_f (C v + f − p)₀ = 0. Forces of both ends are
/// weighted, so that elements with history and finite strain need no state in between.
///
/// A state begins with begin(), which also needs balance of the accelerations: TransientAnalysis does that. Steps
/// follow as for every Integrator; the size may change from step to step. What the object remembers of the committed
/// state is in memory(), so that a run can be saved and continued with the same bits.
class TimeIntegrator : public Integrator {
 public:
  /// The coefficients of a method.
  struct Coefficients {
    double alpha_m = 0;  ///< weight of the inertia at the beginning of a step
    double alpha_f = 0;  ///< weight of all other forces there
    double beta = 0.25;  ///< β of Newmark's relations
    double gamma = 0.5;  ///< γ of Newmark's relations
  };

  ~TimeIntegrator() override;
  const Coefficients& method() const { return method_; }  ///< as chosen
  TangentCoefficients coefficients() const override;

  /// What acts over time, from the time `start` on. Without, load cases have the state's factors, and supports rest.
  void set_loads(std::shared_ptr<const TimeLoads> loads, double start = 0);
  /// Begins at a state that has unknowns and rates: puts supports in place and forms loads at the state's time. `step`
  /// is the size of the first step.
  virtual void begin(const AnalysisModel& model, AnalysisState& state, double step);
  /// Throws Error (bad_input) for a model that the method is not for: here, one whose unknowns are temperatures.
  virtual void check_model(const AnalysisModel& model) const;
  /// Whether the start needs rates in balance, which begin_initial() solves for.
  virtual bool needs_initial_rates() const { return true; }
  /// Whether steps have neither inertia nor an error in time: statics in increments.
  virtual bool is_static() const { return false; }
  /// Puts what unknowns are at the start, unless somebody says otherwise, into them; here they are zero already.
  virtual void set_initial(const AnalysisModel& model, Vector& unknowns) const;
  /// From now on until `finish_initial()`, solving gives accelerations: (M + stiffness · K) a = p − C v − f(u).
  void begin_initial(double stiffness);
  /// Takes the accelerations as those of the start: measures forces and energies. Commit the state afterwards.
  void finish_initial(const AnalysisModel& model, const AnalysisState& state, double strain_energy);

  void begin_step(const AnalysisModel& model, AnalysisState& state) override;
  void form_unbalance(const AnalysisModel& model, const AnalysisState& state, Vector& b) override;
  void update(const AnalysisModel& model, const Vector& increment, AnalysisState& state) override;
  void commit(const AnalysisModel& model, AnalysisState& state) override;
  void revert(const AnalysisModel& model, AnalysisState& state) override;
  Vector out_of_balance(const AnalysisModel& model, const AnalysisState& state) override;

  /// The norm of what the trial state lacks in the weighted balance, relative to the largest of the forces in it.
  double relative_unbalance(const AnalysisModel& model, const AnalysisState& state);
  /// The largest norm of internal, external, damping and inertial forces of the committed state on all equations.
  virtual double force_scale(const AnalysisModel& model) const;
  /// An estimate of the increment that the step's solve will find, extrapolated from accelerations of former steps.
  virtual void extrapolate(const AnalysisModel& model, const AnalysisState& state, Vector& increment) const;
  /// An estimate of the local error of displacements of the trial state, |β − 1/6| h² (a₁ − a₀) (Zienkiewicz and Xie,
  /// Earthquake Eng. Struct. Dyn. 20, 1991), as √(eᵀMe).
  virtual double error_estimate(const AnalysisModel& model, const AnalysisState& state);
  /// √(uᵀMu) of the trial state, to compare error_estimate() with.
  virtual double displacement_measure(const AnalysisModel& model, const AnalysisState& state);

  const EnergyBalance& energies() const { return memory_.energies; }  ///< of the committed state
  const HeatAccount& heat() const { return memory_.heat; }            ///< of the committed state; zero in dynamics
  /// Whether energies are computed (default: yes): two products with M and one evaluation of the elements per step.
  void set_energies(bool on) { with_energies_ = on; }
  bool supports_move() const;  ///< whether a support changes its place
  bool base_moves() const;     ///< whether there are base accelerations: unknowns are relative to the base
  /// Displacements, velocities or accelerations (0, 1, 2) of a committed state as a field of all nodes, relative to the
  /// base or absolute. NaN where a node has no such unknown.
  NodalField motion(const AnalysisModel& model, const AnalysisState& state, int derivative, bool absolute = false);
  /// Notes for the user on base accelerations.
  std::vector<std::string> load_notes() const;

  /// What the integrator remembers of the committed state. Forces on all equations have no layout where they are zero.
  struct Memory {
    Vector internal /**< of the elements */, external /**< loads */, damping /**< C v */, inertial /**< M a */;
    /// Of former steps, the last first; not that of the state itself. Temperatures of methods of first order.
    std::vector<Vector> accelerations;
    std::vector<double> times;  ///< of these accelerations
    EnergyBalance energies;     ///< of the committed state
    HeatAccount heat = {};      ///< likewise, of methods of first order
    Vector balance = {};        ///< of these: what the last step left out of balance at all equations; may be absent
    Vector reference = {};      ///< of these: temperatures at the start
    Memory clone() const;       ///< a copy
  };
  const Memory& memory() const { return memory_; }  ///< of the committed state
  /// Continues from a saved state: what memory() was when it was committed.
  void restore(Memory memory) { memory_ = std::move(memory); }

 protected:
  /// Throws Error (bad_input) for coefficients with which no step is stable.
  explicit TimeIntegrator(const Coefficients& method);
  /// What acts over time, for the model that begin() was called with; null before.
  const detail::LoadsOverTime* bound_loads() const { return bound_.get(); }

  /// Forces of a state on all equations. Damping and inertial ones have no layout where they are zero.
  struct Forces {
    Vector internal /**< of the elements */, external /**< loads */, damping /**< C v */, inertial /**< M a */;
  };
  /// Makes what belongs to a model: operators, and what acts on it.
  void bind(const AnalysisModel& model);
  /// y = M x on all equations.
  void mass_times(const AnalysisModel& model, const AnalysisState& state, const Vector& x, Vector& y);
  /// Forms M at the trial state.
  void form_mass(const AnalysisModel& model, const AnalysisState& state, ElementOperator& mass) const;
  /// y = the inertial forces of the trial state: M a; of methods of first order, C dT/dt.
  virtual void inertia(const AnalysisModel& model, const AnalysisState& state, Vector& y);
  /// Puts prescribed unknowns and their rates in place, with what depends on them; free ones stay.
  virtual void put_supports(const AnalysisModel& model, AnalysisState& state) const;
  /// Adds the works of the step between the committed state and the trial state to the balance.
  virtual void add_work(const AnalysisModel& model, const AnalysisState& state);
  /// What of a committed state is kept when the next one is committed.
  virtual const Vector& kept_of(const StateValues& committed) const { return committed.second_rate; }
  double step_of(const AnalysisState& state) const;  ///< its own, or that of the method

  double step_ = 0;                               ///< of the step that was begun, or will be
  bool at_rest_ = false;                          ///< the trial accelerations are zero
  std::shared_ptr<const TimeLoads> loads_;        ///< what acts over time; null: nothing
  std::unique_ptr<detail::LoadsOverTime> bound_;  ///< the same, for the model that begin() was called with
  std::unique_ptr<Forces> trial_;                 ///< of the trial state, where they were measured
  Memory memory_;                                 ///< of the committed state

 private:
  bool add_damping(const AnalysisModel& model, const AnalysisState& state, const Vector& v, Vector& y);
  void measure(const AnalysisModel& model, const AnalysisState& state);

  Coefficients method_;
  double initial_stiffness_ = -1;  // ≥ 0: solving for the initial accelerations
  bool with_energies_ = true;
  double start_ = 0;
  std::uint64_t bound_to_ = 0;  // AnalysisModel::serial()
  std::unique_ptr<ElementOperator> mass_, damping_matrix_;
  bool mass_formed_ = false;
};

/// Newmark's method. Average acceleration (β = ¼, γ = ½) is of second order, stable for any step where the model is
/// linear, and dissipates nothing.
class NewmarkIntegrator : public TimeIntegrator {
 public:
  /// Throws Error (bad_input) unless γ ≥ ½ and β ≥ ¼ (½ + γ)² , within rounding: smaller ones are stable for small
  /// steps alone.
  explicit NewmarkIntegrator(double beta = 0.25, double gamma = 0.5);
  std::string name() const override { return "newmark"; }
};

/// The method of Hilber, Hughes and Taylor: second order, with numerical damping of high frequencies. β = ¼ (1 − α)²,
/// γ = ½ − α.
class HhtIntegrator : public TimeIntegrator {
 public:
  /// α from −1/3 (most damping) to 0 (average acceleration). Throws Error (bad_input) for another.
  explicit HhtIntegrator(double alpha = -0.05);
  std::string name() const override { return "hht"; }
  double alpha() const { return -method().alpha_f; }  ///< as given
};

/// The generalised-α method: second order, with the least damping of low frequencies for the spectral radius at high
/// ones.
class GeneralisedAlphaIntegrator : public TimeIntegrator {
 public:
  /// The spectral radius at infinite frequency, from 0 (annihilated within a step) to 1 (no damping). Throws Error
  /// (bad_input) for another.
  explicit GeneralisedAlphaIntegrator(double spectral_radius = 0.9);
  std::string name() const override { return "generalised-alpha"; }
  double spectral_radius() const { return radius_; }  ///< as given

 private:
  double radius_;
};

}  // namespace voussoir
