#pragma once
#include <functional>
#include <string>

#include <voussoir/backends/cost_model/machine_profile.hpp>

namespace voussoir {

/// How a machine is measured.
struct CalibrationOptions {
  bool quick = false;  ///< fewer and smaller sizes: for tests, and for a first look
  /// The largest vectors that are measured, in bytes of all vectors of one operation. Caches should be much smaller. At
  /// most a quarter of the host memory that is free is used, whatever this says.
  double largest_bytes = 4e8;
  bool elements = true;  ///< whether integration, assembly and products are measured
  bool solvers = true;   ///< whether CG, multigrid, direct factorisation and the stages of an analysis are measured
  bool grids = true;     ///< whether stencils, pyramids and tridiagonal sweeps are measured
  /// Called before each group of measurements with its name; returning false stops with an Error (cancelled).
  std::function<bool(const std::string& what)> progress;
};

/// Measures a backend on this machine by its public services, in some ten seconds (`quick`: one or two), and returns
/// the profile; save_profile() keeps it.
///
/// Each operation is measured at several sizes, several times each; the least time counts, since other programs on the
/// machine only add time, and the median tells how much (OperationCost::noise). Measurements that make no sense, such
/// as times that do not grow with the size, are repeated, and left out with a note if they stay so. Operations that the
/// backend does not have are left out with a note as well.
MachineProfile calibrate(const std::shared_ptr<Backend>& backend, const CalibrationOptions& options = {});

}  // namespace voussoir
