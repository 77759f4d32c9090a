#pragma once
#include <voussoir/backends/device_model.hpp>
#include <voussoir/backends/multigrid.hpp>
#include <voussoir/backends/operator.hpp>

namespace voussoir::cpu {

// The rows of an assembled matrix on one of several devices, by nodes.

/// Whether a matrix was made by this backend for the model, with rows by nodes or by equations.
bool has_device_rows(const DeviceModel& model, const SparseMatrix& matrix);
/// Owned nodes by local nodes, with values in double precision.
LevelMatrix make_device_rows(const DeviceModel& model, const SparseMatrix& matrix, int device, int threads);
/// New values in an old pattern.
void fill_device_rows(const DeviceModel& model, const SparseMatrix& matrix, int device, LevelMatrix& rows, bool single,
                      int threads);

}  // namespace voussoir::cpu
