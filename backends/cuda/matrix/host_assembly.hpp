#pragma once
#include <voussoir/backends/cuda/matrix/sparse_matrix.hpp>
#include <voussoir/backends/cuda/programs/device_program.hpp>

namespace voussoir::cuda {

/// What is assembled on one device.
struct HostAssembly {
  const DeviceModel& model;
  int device = 0;
  const ElementState& state;
  const MatrixTerms& terms;
  Integration integration = Integration::automatic;
  FaultWords& faults;
};

/// FEStudio's first way to share the work: element matrices are integrated on the device and summed on the host, by the
/// same plan and in the same order as on the device, while the device integrates the next ones. Waits.
void assemble_on_host(const HostAssembly& what, CudaSparseMatrix& matrix);

}  // namespace voussoir::cuda
