#pragma once
#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include <voussoir/framework/response/accelerogram.hpp>
#include <voussoir/framework/response/amplitude.hpp>
#include <voussoir/framework/response/modal_system.hpp>

namespace voussoir {

/// The modal coordinates at one time, as ModalTimeHistory::run() shows them. Valid during the call.
struct ModalState {
  double time;                           ///< the requested time
  std::span<const double> displacement;  ///< q of each mode
  std::span<const double> velocity;      ///< q′ of each mode
  std::span<const double> acceleration;  ///< q″ of each mode, relative to the base; after the jump where a load jumps
  std::span<const double> loads;         ///< the amplitude of each load, in the order in which they were added
};

/// Coordinates over time: what multiplies the columns of ModalValues.
struct CoordinateHistory {
  std::vector<double> times;    ///< strictly increasing
  std::size_t coordinates = 0;  ///< number of coordinates at each time
  std::vector<double> values;   ///< values[time · coordinates + coordinate]
};

/// The time history of modal coordinates under loads that are sums of patterns times amplitudes, q″ + 2 ζ ω q′ + ω² q =
/// Σ_j P_j f_j(t). Amplitudes are piecewise linear, so that the solution is exact at every requested time, whatever the
/// steps between these; the requested times alone decide how well peaks between them are seen.
///
///   ModalTimeHistory history(ModalSystem(omegas, ModalDamping::ratio(0.05)));
///   history.add_base_acceleration(participation_x, accelerogram);
///   const auto q = history.coordinates(even_times(0, 20, 0.005), ModalQuantity::displacement);
///   const auto peaks = extremes(q, ModalValues(modal_stresses, modes));
class ModalTimeHistory {
 public:
  /// Modes at rest at the time `start`, without loads.
  explicit ModalTimeHistory(ModalSystem modes, double start = 0);

  /// Adds a pattern of nodal loads with its amplitude: modal_loads[i] = φ_iᵀ f. Returns the number of the load, from 0.
  /// Throws Error (bad_input) if there is not one finite number for each mode.
  std::size_t add_load(std::vector<double> modal_loads, Amplitude amplitude);
  /// Adds an acceleration of the base in one direction: the modal loads are −Γ_i = −φ_iᵀ M r_d, and its amplitude is
  /// the accelerogram. Displacements, velocities and accelerations are then relative to the base. Throws Error
  /// (bad_input) in addition if the accelerogram begins before the history does.
  std::size_t add_base_acceleration(std::span<const double> participation, const Accelerogram& accelerogram);
  /// Modal coordinates and their rates at the start: q_i = φ_iᵀ M u. Both are zero by default.
  void set_initial_state(std::vector<double> displacement, std::vector<double> velocity);

  /// Integrates, and calls the observer at each of these times, which must increase and not be before the start. Needs
  /// memory for one state.
  void run(std::span<const double> times, const std::function<void(const ModalState&)>& observer) const;
  /// Integrates and returns the coordinates at these times: the modes and, with `with_loads`, the amplitudes of all
  /// loads after them. With displacements, the latter multiply residual_values(); with accelerations of base motions,
  /// they multiply the rigid-body motion of the base and make relative accelerations absolute ones. With velocities
  /// they are refused (Error, misuse).
  CoordinateHistory coordinates(std::span<const double> times, ModalQuantity quantity, bool with_loads = false) const;

  const ModalSystem& modes() const { return modes_; }  ///< the modes
  std::size_t loads() const { return loads_.size(); }  ///< number of loads

 private:
  struct Load {
    std::vector<double> modal;
    Amplitude amplitude;
  };
  std::vector<double> grid(std::span<const double> times) const;

  ModalSystem modes_;
  double start_;
  std::vector<Load> loads_;
  std::vector<double> displacement_, velocity_;
};

/// The times from `start` to `end` in steps of `step`; the last step may be shorter. Throws Error (bad_input) unless
/// step > 0 and end > start.
std::vector<double> even_times(double start, double end, double step);

}  // namespace voussoir
