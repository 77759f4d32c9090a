#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <voussoir/framework/analysis/analysis_state.hpp>
#include <voussoir/framework/analysis/linear_soe.hpp>

namespace voussoir {

/// How much of each matrix is in the tangent of a step: c_K K + c_C C + c_M M.
struct TangentCoefficients {
  double stiffness = 1;                                         ///< c_K
  double damping = 0;                                           ///< c_C
  double mass = 0;                                              ///< c_M
  bool operator==(const TangentCoefficients&) const = default;  ///< the same coefficients
};

/// C = Σ (stiffness_b K_b + mass_b M_b) over the batches b of a model: the damping of the model and, where it has any,
/// that of each block's material (Material::set_damping()). Springs of constraints and surface loads do not damp. As
/// factors of MatrixTerms they give C as an element operator:
///
///   const DampingFactors damping = damping_factors(model);
///   backend.assemble(model.device_model(), state.elements(), damping.terms(), *element_operator);
struct DampingFactors {
  std::vector<double> stiffness;  ///< of K, per batch
  std::vector<double> mass;       ///< of M, per batch
  bool uniform = true;            ///< no material damps, so that all blocks have the factors of the model

  /// C as factors of assembled terms; they refer to this object.
  MatrixTerms terms(MassKind kind = MassKind::consistent) const { return {1, 1, kind, stiffness, mass}; }
  bool operator==(const DampingFactors&) const = default;  ///< the same factors
};
DampingFactors damping_factors(const AnalysisModel& model, const RayleighDamping& of_model = {});

/// Turns a step of an analysis into systems of equations, and their solutions into a state. Statics, a method of
/// Newmark or a path of loads is a class of its own; what it remembers from step to step beyond the AnalysisState are
/// its members.
///
/// A step is: begin_step(); then form_tangent(), form_unbalance() and update() as often as the algorithm wants; then
/// commit() or revert(). What every integrator needs is here; another one defines name(), coefficients(), begin_step()
/// and update().
class Integrator {
 public:
  Integrator();
  virtual ~Integrator();
  Integrator(const Integrator&) = delete;
  Integrator& operator=(const Integrator&) = delete;

  virtual std::string name() const = 0;  ///< for reports
  /// Of the step that was begun.
  virtual TangentCoefficients coefficients() const = 0;

  /// Begins a step that ends with the state's time, time_step and factors: predicts the state at its end, with
  /// prescribed values in place and loads formed.
  virtual void begin_step(const AnalysisModel& model, AnalysisState& state) = 0;
  /// A = the tangent at the trial state.
  virtual void form_tangent(const AnalysisModel& model, const AnalysisState& state, LinearSOE& soe);
  /// b = what the trial state lacks in balance, zero where equations are not free. Throws Error (inverted, not_finite)
  /// for a trial state that is impossible.
  virtual void form_unbalance(const AnalysisModel& model, const AnalysisState& state, Vector& b);
  /// Takes an increment of the free unknowns into the trial state; dependent unknowns and rates follow. Half of an
  /// increment twice must be the same as all of it.
  virtual void update(const AnalysisModel& model, const Vector& increment, AnalysisState& state) = 0;
  /// Accepts the trial state.
  virtual void commit(const AnalysisModel& model, AnalysisState& state) { state.commit(model); }
  /// Returns to the state that was committed last.
  virtual void revert(const AnalysisModel& model, AnalysisState& state) { state.revert(model); }

  /// Internal + damping + inertial − external forces on every equation: at prescribed ones, the reactions.
  virtual Vector out_of_balance(const AnalysisModel& model, const AnalysisState& state);
  /// Damping and inertial forces C v + M a on every equation; a Vector without a layout where the state has no rates.
  Vector inertial_forces(const AnalysisModel& model, const AnalysisState& state);

  /// Damping of the whole model. Materials add their own (Material::set_damping()).
  void set_damping(const RayleighDamping& damping) { damping_ = damping; }
  const RayleighDamping& damping() const { return damping_; }  ///< of the whole model; zero unless set
  /// Promises that no element's tangent depends on time, so that the matrix of a linear model is formed, and
  /// factorised, once for steps that have the same coefficients and loads with the same matrix. Without the promise
  /// (the default) it is kept only for the same time and step size, and only where all elements are kernels: the
  /// virtual functions of a HostElement may depend on what they like.
  void keep_matrix_over_time(bool keep = true) { keeps_matrix_ = keep; }
  /// Whether the SOE still has the matrix that form_tangent() would form at this state.
  bool has_formed(const AnalysisModel& model, const AnalysisState& state, const LinearSOE& soe) const;
  /// Consistent (default) or lumped masses.
  void set_mass_kind(MassKind kind) { mass_kind_ = kind; }
  MassKind mass_kind() const { return mass_kind_; }  ///< consistent unless set

 protected:
  /// Temperatures and loads of the state's factors, at its trial values.
  static void form_loads(const AnalysisModel& model, AnalysisState& state);
  /// Prescribed values, times the state's factor, into unknowns whose free entries stay; dependents follow.
  static void set_prescribed(const AnalysisModel& model, AnalysisState& state);
  /// Adds factor · an increment of free unknowns to a vector; those that depend on them follow, prescribed ones stay.
  static void add_increment(const AnalysisModel& model, double factor, const Vector& increment, Vector& x);

 private:
  struct Formed;
  struct Product;
  /// y += (stiffness · K + mass · M) x on all equations, with the K and M of the elements.
  void add_product(const AnalysisModel& model, const AnalysisState& state, double stiffness, double mass,
                   const Vector& x, Vector& y);
  void add_product(const AnalysisModel& model, const AnalysisState& state, const MatrixTerms& terms, const Vector& x,
                   Vector& y);

  RayleighDamping damping_;
  MassKind mass_kind_ = MassKind::consistent;
  bool keeps_matrix_ = false;
  std::unique_ptr<Formed> formed_;    // what the SOE was formed for
  std::unique_ptr<Product> product_;  // K and M on all equations
};

/// Equilibrium without inertia: K u = f. A state that has committed nothing starts from rest, any other from what it
/// has committed.
class StaticIntegrator : public Integrator {
 public:
  std::string name() const override { return "static"; }
  TangentCoefficients coefficients() const override { return {}; }
  void begin_step(const AnalysisModel& model, AnalysisState& state) override;
  void update(const AnalysisModel& model, const Vector& increment, AnalysisState& state) override;
};

}  // namespace voussoir
