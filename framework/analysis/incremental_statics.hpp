#pragma once
#include <memory>
#include <string>

#include <voussoir/framework/analysis/time_integrators.hpp>

namespace voussoir {

/// Statics in increments, for TransientAnalysis: each step ends in balance, f(u) = p(t), without inertia and damping.
/// Time only orders what acts: loads and prescribed values follow their amplitudes. It is meant for models that are not
/// linear, such as those with large displacements.
///
/// A step begins at the committed state. Prescribed displacements change within the first solve, together with the free
/// ones: its right-hand side contains K Δu of the supports, so that elements next to a support do not take all of its
/// motion.
class IncrementalStatics : public TimeIntegrator {
 public:
  IncrementalStatics();
  ~IncrementalStatics() override;
  std::string name() const override { return "static"; }
  TangentCoefficients coefficients() const override { return {}; }
  bool needs_initial_rates() const override { return false; }
  bool is_static() const override { return true; }
  /// Throws Error (bad_input) for a base that accelerates, which statics has no inertia for.
  void begin(const AnalysisModel& model, AnalysisState& state, double step) override;
  void begin_step(const AnalysisModel& model, AnalysisState& state) override;
  void form_unbalance(const AnalysisModel& model, const AnalysisState& state, Vector& b) override;
  void update(const AnalysisModel& model, const Vector& increment, AnalysisState& state) override;
  void commit(const AnalysisModel& model, AnalysisState& state) override;
  void revert(const AnalysisModel& model, AnalysisState& state) override;
  void extrapolate(const AnalysisModel& model, const AnalysisState& state, Vector& increment) const override;
  double error_estimate(const AnalysisModel& model, const AnalysisState& state) override;
  double displacement_measure(const AnalysisModel& model, const AnalysisState& state) override;

 protected:
  void inertia(const AnalysisModel& model, const AnalysisState& state, Vector& y) override;
  void put_supports(const AnalysisModel& model, AnalysisState& state) const override;

 private:
  Vector motion_;                               // of the supports in this step, until the first solve has taken it
  std::unique_ptr<ElementOperator> stiffness_;  // K on all equations
  std::uint64_t stiffness_of_ = 0;              // AnalysisModel::serial()
};

}  // namespace voussoir
