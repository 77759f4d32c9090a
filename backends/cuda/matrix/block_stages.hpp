#pragma once
#include <voussoir/backends/cuda/matrix/sparse_product.hpp>
#include <voussoir/backends/cuda/runtime/async_copy.hpp>
#include <voussoir/backends/cuda/runtime/passing_through.hpp>
#include <voussoir/backends/cuda/runtime/runtime.hpp>
#include <voussoir/backends/cuda/runtime/shared_memory.hpp>
#include <voussoir/backends/cuda/runtime/streaming.hpp>

// Products of a sliced matrix with many columns. The blocks of a slice pass through shared memory, a stage after the
// other: while one is multiplied, the next is copied without a detour through registers, and the places of the one
// after that are read. So all that a thread waits for is x, which eight threads of a row read from the caches.

namespace voussoir::cuda {

/// Threads of a block that multiplies a slice: eight for each row.
inline constexpr int threads_of_row = 8;
inline constexpr int stage_threads = slice_rows * threads_of_row;

/// Some blocks of each row of a slice, in shared memory.
template <int B>
struct BlockStage {
  static constexpr int depth = B <= 3 ? 8 : 4;  ///< blocks of a row
  double value[depth * B * B * slice_rows];
  std::int32_t column[depth * slice_rows];
};

/// The blocks of a slice, stage by stage: those that are stored and then, where `Mirrored`, the mirror images of what
/// half a matrix stores elsewhere. Where a row has ended, blocks are zero and belong to the row itself.
///
/// Every thread of the block of `stage_threads` threads takes part in every call.
template <int B, bool Mirrored>
class BlockStages {
 public:
  static constexpr int depth = BlockStage<B>::depth;
  static constexpr int stages_in_memory = 2;

  /// `room` has `stages_in_memory` stages that no thread reads any more. Starts to copy the first.
  __device__ BlockStages(const SlicedView& rows, const double* value, const MirrorView& mirrored, std::int64_t slice,
                         BlockStage<B>* room)
      : rows_(rows), mirrored_(mirrored), value_(value), room_(room) {
    first_ = rows.slice_first[slice];
    stored_width_ = static_cast<int>(rows.slice_first[slice + 1] - first_);
    width_ = stored_width_;
    const std::int64_t place = slice * slice_rows + lane();
    row_ = rows.row[place];
    length_ = row_ < 0 ? 0 : rows.length[place];
    if constexpr (Mirrored) {
      first_mirrored_ = mirrored.slice_first[slice];
      width_ += static_cast<int>(mirrored.slice_first[slice + 1] - first_mirrored_);
      mirrored_length_ = row_ < 0 ? 0 : mirrored.length[place];
    }
    find();
    copy();
  }

  /// Blocks of the longest row, mirror images included.
  __device__ int width() const { return width_; }

  /// The next stage. Starts to copy the one behind it.
  __device__ const BlockStage<B>& next() {
    wait_for_copies_but<0>();
    __syncthreads();
    const BlockStage<B>& ready = room_[(copied_ / depth + 1) % stages_in_memory];
    copy();
    return ready;
  }

 private:
  static __device__ int lane() { return static_cast<int>(threadIdx.x) % slice_rows; }
  static __device__ int block_of_stage() { return static_cast<int>(threadIdx.x) / slice_rows; }

  /// The block that this thread copies next: one of its lane.
  __device__ void find() {
    const int k = copied_ + block_of_stage();
    column_ = row_ < 0 ? 0 : row_;
    valid_ = false;
    turned_ = Mirrored && k >= stored_width_;
    if (block_of_stage() >= depth) return;
    if (!turned_) {
      if (k >= length_) return;
      const std::int64_t cell = static_cast<std::int64_t>(first_) + k;
      column_ = rows_.column[cell * slice_rows + lane()];
      from_ = value_ + cell * (B * B * slice_rows) + lane();
    } else {
      if (k - stored_width_ >= mirrored_length_) return;
      const std::int64_t at = (static_cast<std::int64_t>(first_mirrored_) + k - stored_width_) * slice_rows + lane();
      const std::uint32_t stored = mirrored_.stored[at];
      column_ = mirrored_.column[at];
      from_ = value_ + static_cast<std::int64_t>(stored / slice_rows) * (B * B * slice_rows) + stored % slice_rows;
    }
    valid_ = true;
  }

  /// Starts to copy what was found, and finds the block of the stage behind it.
  __device__ void copy() {
    if (copied_ < width_ && block_of_stage() < depth) {
      BlockStage<B>& stage = room_[copied_ / depth % stages_in_memory];
      const double* from = valid_ ? from_ : value_;
      double* to = stage.value + block_of_stage() * (B * B * slice_rows) + lane();
      stage.column[threadIdx.x] = column_;
#pragma unroll
      for (int e = 0; e < B * B; ++e)
        start_copy_or_zero(to + (Mirrored && turned_ ? e % B * B + e / B : e) * slice_rows, from + e * slice_rows,
                           valid_);
    }
    close_copies();
    copied_ += depth;
    if (copied_ < width_) find();
  }

  SlicedView rows_;
  MirrorView mirrored_;
  const double* value_;
  BlockStage<B>* room_;
  std::uint32_t first_ = 0, first_mirrored_ = 0;
  int stored_width_ = 0, width_ = 0, copied_ = 0;
  std::int32_t row_ = -1;
  int length_ = 0, mirrored_length_ = 0;
  std::int32_t column_ = 0;
  const double* from_ = nullptr;
  bool valid_ = false, turned_ = false;
};

/// The C columns of a block of vectors that one of the eight threads of a row takes. `Paired` columns are two
/// neighbours each, read at once; the number of columns and the first of them are even then.
template <int C, bool Paired>
struct RowShare {
  static_assert(!Paired || C % 2 == 0);
  int left;  ///< columns that there are

  __device__ static int column(int c) {
    const int thread = static_cast<int>(threadIdx.x) % threads_of_row;
    return Paired ? c / 2 * (2 * threads_of_row) + 2 * thread + c % 2 : c * threads_of_row + thread;
  }
  /// Columns of a row of x; zero behind the last.
  __device__ void load(const double* x, double (&numbers)[C]) const {
    if constexpr (Paired) {
#pragma unroll
      for (int c = 0; c < C; c += 2) {
        const Pair both = column(c) < left ? load_pair_often(x + column(c)) : Pair{0, 0};
        numbers[c] = both.first;
        numbers[c + 1] = both.second;
      }
    } else {
#pragma unroll
      for (int c = 0; c < C; ++c) numbers[c] = column(c) < left ? __ldg(x + column(c)) : 0.0;
    }
  }
  /// Writes columns of a row of y.
  __device__ void store(const double (&numbers)[C], double* y) const {
#pragma unroll
    for (int c = 0; c < C; c += Paired ? 2 : 1) {
      if (column(c) >= left) continue;
      if constexpr (Paired)
        store_passing_pair(y + column(c), 0, {numbers[c], numbers[c + 1]});
      else
        write_once(y + column(c), numbers[c]);
    }
  }
};

/// sum += block `k` of a stage, weighted, times columns of x, for the row of this thread. `x` is the first column.
template <int B, int C, bool Paired, class Weight>
__device__ inline void add_block(const BlockStage<B>& stage, int k, const double* x, int columns,
                                 const RowShare<C, Paired>& share, const Weight& weight, double (&sum)[B][C]) {
  const int lane = static_cast<int>(threadIdx.x) / threads_of_row;
  const std::int32_t at = stage.column[k * slice_rows + lane];
  const double* from = x + static_cast<std::int64_t>(at) * B * columns;
  double in[B][C];
#pragma unroll
  for (int j = 0; j < B; ++j) share.load(from + static_cast<std::int64_t>(j) * columns, in[j]);
  if (const double factor = weight(at); factor != 1) {
#pragma unroll
    for (int j = 0; j < B; ++j)
#pragma unroll
      for (int c = 0; c < C; ++c) in[j][c] *= factor;
  }
  const double* value = stage.value + k * (B * B * slice_rows) + lane;
#pragma unroll
  for (int j = 0; j < B; ++j)
#pragma unroll
    for (int i = 0; i < B; ++i) {
      const double a = value[(i * B + j) * slice_rows];
#pragma unroll
      for (int c = 0; c < C; ++c) sum[i][c] += a * in[j][c];
    }
}

}  // namespace voussoir::cuda
