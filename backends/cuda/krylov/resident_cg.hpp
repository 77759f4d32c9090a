#pragma once
#include <cstddef>
#include <cstdint>

#include <voussoir/backends/cuda/krylov/cg_state.hpp>
#include <voussoir/backends/cuda/matrix/diagonal_blocks.hpp>
#include <voussoir/backends/cuda/matrix/sliced_rows.hpp>

// Conjugate gradients for small matrices. Where an iteration moves little, most of its time is spent on starting
// kernels and on their waiting for each other. Here one kernel stays on the device for many iterations: each of its
// blocks keeps one slice of rows in shared memory, and x, r and p of these rows in registers. Blocks send each other
// their shares of the sums, and wait for those of the others twice in an iteration.

namespace voussoir::cuda {

/// Most slices of a matrix, and so blocks. All of them must be on the device at a time.
inline constexpr int most_resident_slices = 256;

/// The widest slice of a matrix that is small enough for all of its slices to stay on the current device; 0: it is not.
/// Waits.
int resident_width(const SlicedRows& rows, int block_size);

/// Numbers of 64 bits that blocks need to write to each other: two for each of three sums.
inline constexpr std::size_t resident_mail = std::size_t{3} * 2 * most_resident_slices;

/// What iterations are given, all on the device.
struct ResidentCg {
  SlicedView rows;
  int width = 0;  ///< resident_width()
  const double* value = nullptr;
  double* x = nullptr;
  double* r = nullptr;
  double* p = nullptr;        ///< a direction before and after, as turn() leaves it
  double* other_p = nullptr;  ///< room for one more
  double* z = nullptr;        ///< room
  DiagonalBlocks diagonal;    ///< of the preconditioner
  int diagonal_size = 0;      ///< of its blocks: 1, or as in the matrix; 0: there is none
  CgState* state = nullptr;
  CgRecord* record = nullptr;
  std::uint64_t* mail = nullptr;  ///< `resident_mail` of them, zeros before the first iteration
};

/// Enqueues up to `count` iterations, which end before that where they stop. Inside a section.
void enqueue_resident(const ResidentCg& cg, int block_size, int count, cudaStream_t stream);

}  // namespace voussoir::cuda
