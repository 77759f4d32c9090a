#pragma once
#include <memory>
#include <string>

#include <voussoir/framework/analysis/time_integrators.hpp>

namespace voussoir {

/// Implicit integration of C dT/dt + f(T) = q(t), for TransientAnalysis: heat conduction, or another field with one
/// unknown T. C is the heat capacity ρ c of the elements; f(T) contains conduction, films and radiation. Over a step h
/// the methods balance
///
///   C r + (1 − θ) (f − q)₁ + θ (f − q)₀ = 0,
///
/// where the rate r is a difference of temperatures. Conductivity and capacity may follow the temperature; Newton's
/// method within the step leaves the derivative of the capacity out of its matrix, which costs iterations and no
/// accuracy.
///
/// A state starts at the initial temperatures of the domain, supports included: a prescribed temperature that differs
/// from them acts from the first step on, and the heat that it takes is counted. Heat flows at supports are those of
/// the balance above, so that those of Crank-Nicolson are means over the step.
class FirstOrderIntegrator : public TimeIntegrator {
 public:
  ~FirstOrderIntegrator() override;
  TangentCoefficients coefficients() const override;
  void begin(const AnalysisModel& model, AnalysisState& state, double step) override;
  /// Throws Error (bad_input) for unknowns other than T, Rayleigh damping, and materials without heat capacity.
  void check_model(const AnalysisModel& model) const override;
  bool needs_initial_rates() const override { return false; }
  void set_initial(const AnalysisModel& model, Vector& unknowns) const override;
  void begin_step(const AnalysisModel& model, AnalysisState& state) override;
  void update(const AnalysisModel& model, const Vector& increment, AnalysisState& state) override;
  Vector out_of_balance(const AnalysisModel& model, const AnalysisState& state) override;
  /// What an unbalance is compared with: a tenth of the largest heat flows, and a hundredth of C T/h, so that a body at
  /// rest in one temperature is in balance within rounding.
  double force_scale(const AnalysisModel& model) const override;
  void extrapolate(const AnalysisModel& model, const AnalysisState& state, Vector& increment) const override;
  /// An estimate of the local error of temperatures of the trial state, from divided differences of this state and
  /// former ones, as √(eᵀCe): zero in the first step; of the order of backward Euler until there are enough states.
  double error_estimate(const AnalysisModel& model, const AnalysisState& state) override;
  /// √((T − T₀)ᵀC(T − T₀)) of the trial state, with the temperatures T₀ at the start.
  double displacement_measure(const AnalysisModel& model, const AnalysisState& state) override;

 protected:
  /// `theta` is the weight of the beginning of a step; `three_levels` makes the rate a difference of three temperatures
  /// from the second step on.
  FirstOrderIntegrator(double theta, bool three_levels);
  void inertia(const AnalysisModel& model, const AnalysisState& state, Vector& y) override;
  void put_supports(const AnalysisModel& model, AnalysisState& state) const override;
  void add_work(const AnalysisModel& model, const AnalysisState& state) override;
  const Vector& kept_of(const StateValues& committed) const override { return committed.unknowns; }

 private:
  /// The rate as first (T₁ − T₀) + former (T₋₁ − T₀).
  struct Weights {
    double first = 0, former = 0;
  };
  void set_rate(const AnalysisModel& model, AnalysisState& state) const;
  Vector balance_of_step(const AnalysisModel& model) const;

  bool three_levels_;
  Weights weights_;
  double content_ = 0;                             // ‖C T/h‖ of the committed state, where the model is not linear
  std::uint64_t old_capacity_of_ = 0;              // AnalysisModel::serial()
  std::unique_ptr<ElementOperator> old_capacity_;  // of the committed state, where it follows the temperature
};

/// Backward Euler: first order, never oscillates, damps what is too fast for the step.
class BackwardEulerIntegrator : public FirstOrderIntegrator {
 public:
  BackwardEulerIntegrator() : FirstOrderIntegrator(0, false) {}
  std::string name() const override { return "backward-euler"; }
};

/// Crank-Nicolson: second order, stable for any step. What is too fast for the step oscillates and hardly decays: a
/// sudden change of temperature needs small steps at first, or another method.
class CrankNicolsonIntegrator : public FirstOrderIntegrator {
 public:
  CrankNicolsonIntegrator() : FirstOrderIntegrator(0.5, false) {}
  std::string name() const override { return "crank-nicolson"; }
};

/// The backward differentiation formula of second order, for steps of any sizes: second order, and damps what is too
/// fast for the step. Its first step is one of backward Euler.
class Bdf2Integrator : public FirstOrderIntegrator {
 public:
  Bdf2Integrator() : FirstOrderIntegrator(0, true) {}
  std::string name() const override { return "bdf2"; }
};

}  // namespace voussoir
