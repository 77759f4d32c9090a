#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <voussoir/framework/analysis/time_integrators.hpp>

namespace voussoir {

namespace detail {
class ViscousForces;
}  // namespace detail

/// Bulk viscosity: a pressure that resists the rate of volume change of solid elements. It damps the ringing of the
/// highest element frequency and spreads shock fronts over a few elements. With the density ρ, the dilatational wave
/// speed c, the characteristic length L and the rate θ of volumetric strain of an element, the mean stress
///
///   linear · ρ c L θ + ρ (quadratic · L)² |θ| min(θ, 0)
///
/// acts in addition to that of the law; the second term acts in compression only. These are Abaqus's definitions; its
/// default coefficients are 0.06 and 1.2. Stresses of results do not include it.
struct BulkViscosity {
  double linear = 0;     ///< coefficient of the linear term; 0: none
  double quadratic = 0;  ///< coefficient of the quadratic term; 0: none

  bool acts() const { return linear != 0 || quadratic != 0; }  ///< whether there is any
  bool operator==(const BulkViscosity&) const = default;       ///< the same coefficients
};

/// Central differences with lumped mass M and damping D, both diagonal. With the forces F = p − f(u), steps of the same
/// size h are
///
///   u(t+h) = a0 F + a1 u(t) + a2 u(t−h),
///   a0 = 1 / (D/2h + M/h²),  a1 = 2 a0 M/h²,  a2 = a0 D/2h − a1/2.
///
/// Since a1 + a2 = 1, this is u(t+h) − u(t) = a0 F − a2 (u(t) − u(t−h)). It is computed in this form, with velocities
/// w = (u(t+h) − u(t)) / h in the middle of steps in place of differences: fewer digits are lost, and the size of a
/// step may change. The first step begins with u(t−h) = u − h v + ½ h² a.
///
/// An ExplicitAnalysis drives it. Velocities, accelerations and energies of a state are computed on
/// request; in between, all numbers stay on the backend. Energies are sums of works by the trapezoidal rule, which are
/// kept per equation and summed in a fixed order.
class CentralDifferences : public TimeIntegrator {
 public:
  CentralDifferences();
  ~CentralDifferences() override;
  std::string name() const override { return "central-differences"; }
  TangentCoefficients coefficients() const override { return {0, 0, 1}; }

  /// Bulk viscosity of solid elements, from prepare() on. Throws Error (bad_input) for coefficients that are negative
  /// or not finite.
  void set_bulk_viscosity(const BulkViscosity& viscosity);
  const BulkViscosity& bulk_viscosity() const { return viscosity_; }  ///< as set
  /// The largest rate, 1/time, of M⁻¹ C of bulk viscosity with the linear coefficient 1, C the damping matrix at a
  /// state; 0 without viscosity. `products` counts the products that it took.
  double viscous_rate(const AnalysisModel& model, const AnalysisState& state, int& products) const;
  /// The largest linearised coefficient of all elements when forces were formed last, the linear coefficient included:
  /// linear + 2 quadratic² (L/c) |min(θ, 0)|. 0 without viscosity.
  double viscous_ratio() const;
  /// Evaluates viscous_ratio() at a state with displacements and velocities, before start().
  void probe_viscosity(const AnalysisModel& model, const AnalysisState& state);

  /// Prepares masses for a model. Throws Error (bad_input) that names an unknown without mass, a multi-point equation
  /// or support along a direction, damping by the stiffness, or an element whose lumped mass is not diagonal.
  void prepare(const AnalysisModel& model, const AnalysisState& state);
  /// Lumped masses of all equations, after prepare().
  const std::vector<double>& masses() const;
  /// Adds to the masses, after prepare() and before start(): one number per equation, on several processes its share.
  void add_mass(const AnalysisModel& model, const std::vector<double>& added);
  /// 1/√m at free equations, and 0 elsewhere: scales the tangent for the estimate of the stable step.
  Vector inverse_root_mass(const AnalysisModel& model) const;
  /// Begins at a state with unknowns and rates; `step` is the size of the first step. Elements with a
  /// history do not know the strain energy of the state: without it, energies of elements are counted from here. Then
  /// measure() and commit.
  void start(const AnalysisModel& model, AnalysisState& state, double step, std::optional<double> strain_energy);
  /// Goes to the end of the step that was begun, at the time `end`. Nothing is copied to the host.
  void move(const AnalysisModel& model, AnalysisState& state, double end);
  /// Forces at the state that move() has led to, and with them the velocities of the next step, of size `next`. With
  /// elements that have a history, take_history() or a commit follows.
  void turn(const AnalysisModel& model, AnalysisState& state, double next);
  /// Takes several steps of size `step` that end at `times`, as move(), turn() and take_history() would, but in one
  /// call on the devices (ExplicitServices). Call take_history() or commit afterwards. Does nothing and returns false
  /// if the backend cannot do this: supports move, loads depend on the displacements, temperatures are loads, elements
  /// are computed on the host, there is bulk viscosity, or the steps before and after the state are not of this size.
  bool advance(const AnalysisModel& model, AnalysisState& state, double step, std::span<const double> times);
  /// How advance() takes steps, on one line; empty if it does not.
  std::string describe_steps() const;
  /// The elements at a state that move() has led to, for the estimate of the stable step. Those with a history have
  /// taken it over and went half a step back, to `unknowns`: what has yielded in the step answers elastically there, as
  /// stiff as it is when it is unloaded.
  ElementState elements_unloaded(const AnalysisModel& model, const AnalysisState& state, Vector& unknowns) const;
  /// Velocities of the step that was begun or has led to the state: those in its middle; before start(), those of the
  /// state.
  const Vector& step_velocity(const AnalysisState& state) const;
  /// Factors of the domain's load cases at a time, for a step of size `step` that ends then.
  std::vector<double> case_factors(double time, double step) const;
  /// Accepts the history of elements at a state that is not committed.
  static void take_history(const AnalysisModel& model, AnalysisState& state);
  /// Rates of the state, its forces in memory(), and its energies.
  void measure(const AnalysisModel& model, AnalysisState& state);

  /// The energy that loads and supports give to a mesh at rest in one step, as measured last: the scale of energies
  /// where motion has just begun.
  double forcing() const;

  /// What the method keeps from step to step, to be saved with a committed state: vectors of the model, some of which
  /// may be without a layout, and numbers.
  struct Kept {
    std::vector<Vector> vectors;   ///< velocities, forces and works
    std::vector<bool> are_shares;  ///< per vector: whether each process of a ProcessGroup has a share of it
    std::vector<double> numbers;   ///< sizes of steps, and energies at the start
  };
  Kept kept() const;  ///< at the state that was measured last
  /// Continues at a committed state with what kept() gave there, after prepare() and set_loads(). Throws Error
  /// (bad_input) if it is not complete.
  void resume(const AnalysisModel& model, AnalysisState& state, Kept kept);

  void commit(const AnalysisModel& model, AnalysisState& state) override;
  void begin_step(const AnalysisModel& model, AnalysisState& state) override;                       ///< misuse
  void form_unbalance(const AnalysisModel& model, const AnalysisState& state, Vector& b) override;  ///< misuse
  void update(const AnalysisModel& model, const Vector& increment, AnalysisState& state) override;  ///< misuse

 private:
  struct Work;
  void form_mass(const AnalysisModel& model, const AnalysisState& state);
  void set_coefficients(double step, bool first);
  void form_forces(const AnalysisModel& model, AnalysisState& state, const Vector& velocity);
  void follow_factors(const AnalysisModel& model, AnalysisState& state, std::vector<double> factors);
  void make_stepper(const AnalysisModel& model, const AnalysisState& state);
  void next_velocity(const AnalysisModel& model, const AnalysisState& state, double next);
  void put_support_velocities(const AnalysisModel& model, const AnalysisState& state, double next);
  void find_rates(const AnalysisModel& model, Vector& velocity, Vector& acceleration) const;
  void form_support_forces(const AnalysisModel& model);
  void add_works(const AnalysisModel& model);

  std::unique_ptr<Work> work_;
  BulkViscosity viscosity_;
};

}  // namespace voussoir
