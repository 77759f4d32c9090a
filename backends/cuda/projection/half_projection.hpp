#pragma once
#include <voussoir/backends/cuda/matrix/sliced_rows.hpp>
#include <voussoir/backends/cuda/projection/panels.hpp>

namespace voussoir::cuda {

/// Half a matrix (symmetric_tiles.hpp) and X, on a device.
struct ProjectedHalf {
  SlicedView rows;
  const double* value = nullptr;
  const double* x = nullptr;
  int columns = 1;
  bool ghosts = false;  ///< whether there may be columns of other devices
};

/// Shared memory that project_half() needs.
std::size_t half_projection_bytes(int block_size);
/// Enqueues sums += S for all_panels(), with XᵀAX = S + Sᵀ. `block_size` goes from 2 to 6. Inside a section.
void project_half(const ProjectedHalf& half, int block_size, PanelSums& sums, const CudaMemory& memory);

}  // namespace voussoir::cuda
