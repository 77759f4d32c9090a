#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <voussoir/solvers/cost/calibration.hpp>

// What the parts of calibrate() share: the clock, the profile that is being made, and what is done about bad numbers.

namespace voussoir::detail {

/// Measures operations of one backend and adds them to a profile.
class Calibrator {
 public:
  Calibrator(std::shared_ptr<Backend> backend, const CalibrationOptions& options);

  const std::shared_ptr<Backend>& backend() const { return backend_; }
  const CalibrationOptions& options() const { return options_; }
  MachineProfile& profile() { return profile_; }
  bool on_host() const { return backend_->memory(0)->shares_host_memory(); }
  /// Bytes that all arrays of one measurement may have.
  double largest_bytes() const { return largest_bytes_; }

  /// Announces a group of measurements; throws Error (cancelled) where the caller wants to stop.
  void begin(const std::string& what) const;
  /// The least time of one call of `work`, after a first one that does not count. Short calls are timed together.
  CostSample measure(double units, double working_set, const std::function<void()>& work) const;
  /// The same for work that is long or cannot be repeated at once: `work` returns its own time in seconds.
  CostSample measure_reported(double units, double working_set, int runs, const std::function<double()>& work) const;
  /// Adds an operation. `samples` measures all sizes; where its numbers make no sense it is called again, twice at
  /// most, and then the operation is left out with a note. An operation that the backend lacks is a note too.
  void add(const std::string& operation, const std::function<std::vector<CostSample>()>& samples, double width = 1);
  void note(const std::string& text) { profile_.notes.push_back(text); }
  /// Runs a group of measurements; an Error of a backend that lacks something is a note, others are thrown.
  void group(const std::string& what, const std::function<void()>& work);

 private:
  std::shared_ptr<Backend> backend_;
  const CalibrationOptions& options_;
  MachineProfile profile_;
  double largest_bytes_ = 0;
};

/// An even distribution of n entries over the devices of a backend; `ghosts` entries of the device before are ghosts of
/// every device but the first.
std::shared_ptr<const Layout> even_layout(const Backend& backend, std::int64_t n, std::int64_t ghosts = 0);
/// Numbers with many digits: zeros and equal numbers may be faster.
std::vector<double> rough_numbers(std::int64_t n);

void calibrate_vectors(Calibrator& calibrator);       ///< vector operations, copies to and from the device, halos
void calibrate_elements(Calibrator& calibrator);      ///< patterns, integration, assembly, products
void calibrate_solvers(Calibrator& calibrator);       ///< CG, multigrid, direct solvers, stages of an analysis
void calibrate_grids(Calibrator& calibrator);         ///< stencils, pyramids
void calibrate_long_vectors(Calibrator& calibrator);  ///< the operations of explicit steps on long vectors, and copies
void calibrate_heat(Calibrator& calibrator);          ///< second differences and tridiagonal sweeps of heat on grids

}  // namespace voussoir::detail
