#pragma once
#include <memory>
#include <string>
#include <vector>

#include <voussoir/framework/analysis/linear_soe.hpp>

namespace voussoir {

/// The definition of one step, and its unknowns during the solution.
struct StepState {
  std::string name;
  std::vector<double> case_factors;  ///< of the domain's load cases, in their order
  double prescribed_factor = 1;      ///< of prescribed values
  Vector unknowns;
  Vector loads;                                    ///< nodal and body loads
  std::shared_ptr<const NodalValues> temperature;  ///< null: the initial temperatures

  /// What the elements see of the state; valid as long as it.
  ElementState elements() const {
    ElementState state(unknowns);
    state.temperature = temperature;
    state.prescribed_factor = prescribed_factor;
    return state;
  }
};

/// Turns the model's state into a system of equations and the system's solution into a state. A static integrator forms
/// K; a dynamic one adds mass and damping. The integrator defines the terms; the backend computes them.
class Integrator {
 public:
  virtual ~Integrator() = default;
  virtual std::string name() const = 0;  ///< for reports

  /// Prepares a step: prescribed values in place, loads formed.
  virtual void begin(const AnalysisModel& model, StepState& state) const = 0;
  /// A = the tangent at the state.
  virtual void form_tangent(const AnalysisModel& model, const StepState& state, LinearSOE& soe) const = 0;
  /// b = external − internal forces at the state, zero where equations are not free.
  virtual void form_unbalance(const AnalysisModel& model, const StepState& state, Vector& b) const = 0;
  /// Takes an increment of the free unknowns into the state; dependents follow.
  virtual void update(const AnalysisModel& model, const Vector& increment, StepState& state) const = 0;
};

/// Equilibrium without inertia: K u = f.
class StaticIntegrator : public Integrator {
 public:
  std::string name() const override { return "static"; }
  void begin(const AnalysisModel& model, StepState& state) const override;
  void form_tangent(const AnalysisModel& model, const StepState& state, LinearSOE& soe) const override;
  void form_unbalance(const AnalysisModel& model, const StepState& state, Vector& b) const override;
  void update(const AnalysisModel& model, const Vector& increment, StepState& state) const override;

  /// Internal minus external forces on every equation: at prescribed ones, the reactions.
  Vector out_of_balance(const AnalysisModel& model, const StepState& state) const;
};

}  // namespace voussoir
