#pragma once
#include <voussoir/backends/cuda/matrix/symmetric_tiles.hpp>

namespace voussoir::cuda {

/// Which tiles of half a matrix are multiplied: a product may begin with those that need no values of other devices.
enum class TilePhase {
  all,
  interior,  ///< the first ones, SymmetricTiles::interior_tiles; y is not finished
  rest       ///< the others, after which y is finished
};

/// A product y = A x with half a matrix, and the x·y that goes with it.
struct HalfProduct {
  const SlicedRows& rows;
  const SymmetricTiles& tiles;
  const double* value = nullptr;
  const double* x = nullptr;
  double* y = nullptr;
  int columns = 1;  ///< of x and y
  /// Where partial sums of x·y go, or null. For one column only.
  double* partials = nullptr;
  TilePhase phase = TilePhase::all;  ///< other phases are for one column only
};

/// Whether the shared memory of a device is large enough for the tiles.
bool fits_half_product(const SymmetricTiles& tiles, int block_size, const CudaMemory& memory);
/// How many partial sums a product leaves.
int partials_of_half_product(const SlicedRows& rows, int block_size);
/// Enqueues a product, inside a section. `block_size` goes from 2 to 6.
void multiply_half(const HalfProduct& product, int block_size, const std::shared_ptr<DeviceMemory>& memory);

}  // namespace voussoir::cuda
