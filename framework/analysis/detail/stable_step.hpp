#pragma once
#include <functional>
#include <memory>

#include <voussoir/framework/analysis/analysis_state.hpp>

namespace voussoir::detail {

/// y = A x with a symmetric matrix of a model.
using MatrixProduct = std::function<void(const Vector& x, Vector& y)>;

/// The largest eigenvalue of M⁻¹ A by the method of Lanczos, with the bound of its error added: `scaling` is 1/√m at
/// free equations and 0 elsewhere. Adds the number of products to `products`. Throws Error (not_finite) where a product
/// is not finite.
double largest_eigenvalue(const AnalysisModel& model, const Vector& scaling, const MatrixProduct& apply, int& products);

/// The limit of central differences with damping that acts by the velocities of the middle of the last step: h with
/// h² ω² + 2 h c = 4, where `limit` is 2 / ω and `rate` is c, the largest eigenvalue of M⁻¹ C. With c = 2 ξ ω this is
/// (2 / ω) (√(1 + ξ²) − ξ). Larger steps are unstable for a mode that belongs to both eigenvalues.
double damped_limit(double limit, double rate);

/// Estimates the largest step with which central differences are stable: h = 2 / ω with the highest frequency of
/// K φ = ω² M φ, M lumped, at the tangent of a state. The method of Lanczos finds ω² on the backend with products of
/// the elements alone, and the bound of its error is added to it.
class StableStep {
 public:
  /// `scaling` is 1/√m at free equations and 0 elsewhere. Throws Error (unavailable) where tangents are not symmetric.
  StableStep(const AnalysisModel& model, Vector scaling);
  /// The limit at a state, with the tangents of `elements`; infinite where nothing resists.
  double limit(const AnalysisState& state, const ElementState& elements);
  int products() const { return products_; }  ///< with the tangent, of all estimates together

 private:
  const AnalysisModel& model_;
  Vector scaling_;
  std::unique_ptr<ElementOperator> tangent_;
  int products_ = 0;
};

}  // namespace voussoir::detail
