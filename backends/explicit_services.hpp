#pragma once
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <voussoir/backends/device_model.hpp>
#include <voussoir/backends/element_state.hpp>
#include <voussoir/backends/service.hpp>
#include <voussoir/backends/vector.hpp>

namespace voussoir {

/// The part of an explicit integration that stays the same from step to step: M a + D v + f(u) = Σ factor · load.
/// Vectors are not owned; they must outlive the stepper.
struct ExplicitSystem {
  const DeviceModel* model = nullptr;  ///< whose elements give the internal forces f(u)
  std::vector<double> batch_factors;   ///< of internal forces, one per batch; batches with 0 are left out
  std::vector<const Vector*> loads;    ///< external forces at factor 1; at most ExplicitServices::most_loads
  const Vector* damping = nullptr;     ///< the diagonal D; null: no damping
};

/// The vectors that steps of equal size update. At the beginning and at the end of a step, the velocities of the step
/// that follows are known. Vectors are not owned.
struct ExplicitMotion {
  Vector* unknowns = nullptr;    ///< u at the state
  Vector* velocity = nullptr;    ///< w in the middle of the step that follows the state
  Vector* before = nullptr;      ///< w in the middle of the step that led to the state
  Vector* internal = nullptr;    ///< f(u) at the state, on all equations
  Vector* external = nullptr;    ///< external forces at the state
  const Vector* gain = nullptr;  ///< of w₊ = gain (p − f) + keep w₋; 0 at prescribed equations
  const Vector* keep = nullptr;  ///< likewise; null: 1
  /// Work of internal forces, of external forces and of damping (unused without damping); the work of the steps is
  /// added. Only the sum over all entries is meaningful: a backend may add the work of many equations to the entry of
  /// one of them, but always in the same way, so that calls with fewer steps at a time give the same bits.
  Vector* works[3] = {nullptr, nullptr, nullptr};
  double step = 0;        ///< size of all steps, including the one that led to the state
  ElementState elements;  ///< temperatures and committed history at the state; its unknowns are not read
};

/// The steps that are taken in one call.
struct ExplicitRows {
  std::span<const double> times;    ///< at the ends of the steps; as many as there are steps
  std::span<const double> factors;  ///< of the loads at these times: those of the first step, then those of the next …
};

/// Takes steps of central differences for one system, entirely on the devices. Each step computes, in this order:
///
/// - works += forces · ½ h (w₋ + w₊)
/// - u += h w₊
/// - f = f(u), p = Σ factor · load
/// - w₋ = w₊, then w₊ = gain (p − f) + keep w₋
///
/// Sums are taken in a fixed order. Nothing is copied to the host between the first step and the last one of a call.
class ExplicitStepper {
 public:
  virtual ~ExplicitStepper() = default;
  /// Takes the steps. Returns the history of the elements, committed after every step except the last, which the caller
  /// commits; null if no element has a history. Throws ElementError if an element became invalid in one of the steps;
  /// the motion is then that of some later step.
  virtual std::shared_ptr<const ElementHistory> advance(const ExplicitMotion& motion, const ExplicitRows& rows) = 0;
  /// A description of how a step is computed, on one line: kernels, recorded or not.
  virtual std::string describe() const = 0;
};

/// Explicit dynamics with steps that are fused on the device.
class ExplicitServices : public Service {
 public:
  static constexpr std::string_view service_name = "explicit";  ///< by which Backend::service() finds it
  static constexpr std::size_t most_loads = 8;                  ///< vectors of loads of one system

  /// A stepper for a system; null if the backend would have to wait for the host in every step, for example because
  /// elements are computed there. The model must outlive the stepper.
  virtual std::unique_ptr<ExplicitStepper> make_stepper(const ExplicitSystem& system) = 0;
};

}  // namespace voussoir
