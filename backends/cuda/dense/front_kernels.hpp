#pragma once
#include <voussoir/backends/cuda/runtime/runtime.hpp>

// Kernels on the fronts of a group of parts: everything but products of large matrices.

namespace voussoir::cuda {

/// The fronts of a group on the device, as in detail::PartGroup.
struct FrontView {
  std::int64_t count = 0, height = 0, interior = 0;
  double* front = nullptr;
  double* inverse = nullptr;
  double* pivot = nullptr;
};

/// The entries of a group on the device, as in detail::GroupEntries.
struct EntryView {
  std::int64_t most_rows = 0;
  const std::int32_t* interior = nullptr;
  const std::int64_t* first_row = nullptr;
  const std::int64_t* row_start = nullptr;
  const std::int32_t* column = nullptr;
  const double* value = nullptr;
};

constexpr int front_threads = 256;
constexpr int front_block = 64;  // detail::PartGroup::block

/// Writes the entries into the lower triangles of fronts that are zero: a warp per row of a member.
static __global__ void __launch_bounds__(front_threads) spread_entries(FrontView view, EntryView entries) {
  const std::int64_t warp = (static_cast<std::int64_t>(blockIdx.x) * front_threads + threadIdx.x) / 32;
  const std::int64_t member = warp / entries.most_rows, own = warp % entries.most_rows;
  if (member >= view.count) return;
  const std::int64_t row = entries.first_row[member] + own, interior = entries.interior[member];
  if (row >= entries.first_row[member + 1]) return;
  double* const front = view.front + member * view.height * view.height;
  const std::int64_t i = own < interior ? own : view.interior + (own - interior);
  for (std::int64_t k = entries.row_start[row] + threadIdx.x % 32; k < entries.row_start[row + 1]; k += 32) {
    const std::int64_t c = entries.column[k], j = c < interior ? c : view.interior + (c - interior);
    front[i < j ? i * view.height + j : j * view.height + i] = entries.value[k];
  }
}

/// The unit matrix that pads interiors: a thread per row of the padded interior.
static __global__ void __launch_bounds__(front_threads) pad_interiors(FrontView view, EntryView entries) {
  const std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * front_threads + threadIdx.x;
  const std::int64_t member = at / view.interior, i = at % view.interior;
  if (member >= view.count || i < entries.interior[member]) return;
  view.front[member * view.height * view.height + i * (view.height + 1)] = 1;
}

/// LDLᵀ of the diagonal block that begins at row `first`, and the inverse of its L: a block of threads per member.
///
/// The lower triangle of `own` is the matrix, in which column j becomes that of L D in step j. The rows of L⁻¹ are
/// transformed with it, from a unit matrix: L⁻¹[i][c] is own[c][i], above the diagonal. In step j both are updated by
/// multiples of own[.][j], which that step does not write.
static __global__ void __launch_bounds__(front_threads) factorise_diagonals(FrontView view, std::int64_t first) {
  VSR_SHARED double own[front_block][front_block + 1];
  const std::int64_t member = blockIdx.x, n = view.height;
  const double* const from = view.front + member * n * n + first * (n + 1);
  const int t = static_cast<int>(threadIdx.x), i = t % front_block, beside = t / front_block;
  constexpr int apart = front_threads / front_block;
  for (int c = beside; c < front_block; c += apart) own[i][c] = c <= i ? from[c * n + i] : 0.0;
  __syncthreads();
  for (int j = 0; j < front_block; ++j) {
    if (i > j) {
      const double l = own[i][j] / own[j][j];
      for (int c = beside; c <= i; c += apart) {
        if (c > j)
          own[i][c] -= l * own[c][j];
        else if (c < j)
          own[c][i] -= l * own[c][j];
        else
          own[j][i] = -l;
      }
    }
    __syncthreads();
  }
  double* const inverse = view.inverse + (member * view.interior + first) * front_block;
  for (int c = beside; c < front_block; c += apart)
    inverse[c * front_block + i] = c == i ? 1.0 : c < i ? own[c][i] : 0.0;
  if (beside == 0) view.pivot[member * view.interior + first + i] = own[i][i];
}

/// L of the rows below a diagonal block from L D, which `scaled` has: a block of threads per member, 8 columns and 256
/// rows.
static __global__ void __launch_bounds__(front_threads)
    divide_panels(FrontView view, std::int64_t first, const double* scaled, std::int64_t apart) {
  constexpr int together = 8;
  const std::int64_t n = view.height, begin = first + front_block,
                     chunks = (n - begin + front_threads - 1) / front_threads;
  const std::int64_t member = blockIdx.x / (chunks * (front_block / together)),
                     rest = blockIdx.x % (chunks * (front_block / together));
  const std::int64_t row = begin + rest % chunks * front_threads + threadIdx.x, column = rest / chunks * together;
  if (row >= n) return;
  const double* const pivot = view.pivot + member * view.interior + first;
  for (std::int64_t j = column; j < column + together; ++j)
    view.front[member * n * n + (first + j) * n + row] = scaled[member * apart + j * n + row] / pivot[j];
}

/// The upper triangles of the complements from the lower ones: a block of threads per tile.
static __global__ void __launch_bounds__(front_threads) mirror_complements(FrontView view) {
  constexpr int tile = 32, apart = front_threads / tile;
  VSR_SHARED double own[tile][tile + 1];
  const std::int64_t n = view.height, tiles = (n - view.interior) / tile;
  const std::int64_t member = blockIdx.x / (tiles * tiles), down = blockIdx.x % tiles,
                     over = blockIdx.x / tiles % tiles;
  if (down < over) return;  // the whole block
  double* const complement = view.front + member * n * n + view.interior * (n + 1);
  const int i = static_cast<int>(threadIdx.x) % tile, beside = static_cast<int>(threadIdx.x) / tile;
  for (int c = beside; c < tile; c += apart) own[c][i] = complement[(over * tile + c) * n + down * tile + i];
  __syncthreads();
  for (int c = beside; c < tile; c += apart)
    if (down > over || i < c) complement[(down * tile + c) * n + over * tile + i] = own[i][c];
}

/// Copies pieces of fronts: a warp per piece.
static __global__ void __launch_bounds__(front_threads)
    copy_pieces(std::int64_t pieces, const double* front, const std::int64_t* from, const std::int64_t* to,
                const std::int32_t* length, double* target) {
  const std::int64_t piece = (static_cast<std::int64_t>(blockIdx.x) * front_threads + threadIdx.x) / 32;
  if (piece >= pieces) return;
  for (std::int32_t k = static_cast<std::int32_t>(threadIdx.x % 32); k < length[piece]; k += 32)
    target[to[piece] + k] = front[from[piece] + k];
}

}  // namespace voussoir::cuda
