#pragma once
#include <memory>

#include <voussoir/framework/analysis/analysis_state.hpp>

namespace voussoir::detail {

/// Estimates the largest step with which central differences are stable: h = 2 / ω with the highest frequency of
/// K φ = ω² M φ, M lumped, at the tangent of a state. The method of Lanczos finds ω² on the backend with products of
/// the elements alone, and the bound of its error is added to it.
class StableStep {
 public:
  /// `scaling` is 1/√m at free equations and 0 elsewhere. Throws Error (unavailable) where tangents are not symmetric.
  StableStep(const AnalysisModel& model, Vector scaling);
  /// The limit at a state; infinite where nothing resists.
  double limit(const AnalysisState& state);
  int products() const { return products_; }  ///< with the tangent, of all estimates together

 private:
  const AnalysisModel& model_;
  Vector scaling_;
  std::unique_ptr<ElementOperator> tangent_;
  int products_ = 0;
};

}  // namespace voussoir::detail
