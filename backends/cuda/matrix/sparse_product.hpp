#pragma once
#include <voussoir/backends/cuda/matrix/sliced_rows.hpp>

namespace voussoir::cuda {

/// The blocks left of the diagonal of half a matrix (symmetric_tiles.hpp), in the same slices and lanes as its rows:
/// for each the row in which its mirror image is stored, and where, as cell · 32 + lane.
struct MirrorView {
  const std::uint32_t* slice_first = nullptr;
  const std::int32_t* length = nullptr;  ///< per place
  const std::int32_t* column = nullptr;
  const std::uint32_t* stored = nullptr;  ///< null: the whole matrix is stored
};

/// A product y = A x with a sliced matrix, and the x·y that goes with it.
struct SparseProduct {
  SlicedView rows;
  const double* value = nullptr;
  const double* x = nullptr;
  double* y = nullptr;
  int columns = 1;                            ///< of x and y
  const std::int32_t* long_slices = nullptr;  ///< see SlicedRows
  int long_count = 0;
  /// Where partial sums of x·y go, or null. For one column only.
  double* partials = nullptr;
  MirrorView mirrored;  ///< for multiply_wide() alone
};

/// How many partial sums a product leaves.
int partials_of_product(const SlicedRows& rows);
/// Enqueues a product, inside a section. `block_size` goes from 1 to 6.
void multiply(const SparseProduct& product, int block_size, const CudaMemory& memory);
/// Enqueues the product of columns from `first` on, where more than four are left, inside a section; returns how many.
int multiply_wide(const SparseProduct& product, int block_size, int first, const CudaMemory& memory);
/// Enqueues the sum of x_i y_i over `count` entries to *result, inside a section.
void enqueue_dot(const double* x, const double* y, std::int64_t count, double* result, const CudaMemory& memory);
/// Enqueues the sum of partial sums to *result, inside a section.
void enqueue_sum(const double* partials, int count, double* result, const CudaMemory& memory);

}  // namespace voussoir::cuda
