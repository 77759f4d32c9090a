#pragma once
#include <voussoir/backends/cuda/runtime/early_start.hpp>
#include <voussoir/elements/grid/neighbourhood.hpp>

// The kernel over the nodes of a grid, for every stencil and source. Compiled by nvcc and NVRTC: nothing of the
// standard library here.

namespace voussoir::cuda {

inline constexpr int grid_threads = 256;  ///< threads of a block: neighbouring nodes of a row

/// Blocks of a row.
inline constexpr int blocks_of_row(int row_nodes) { return (row_nodes + grid_threads - 1) / grid_threads; }

/// A thread per node; block b has nodes of row b / blocks_of_row.
template <class Kernel>
__global__ void __launch_bounds__(grid_threads) grid_values(GridJob job) {
  const GridView& g = job.grid;
  const int row_nodes = g.split_axis == 0 ? g.plane_count : g.nodes[0];
  const int pieces = blocks_of_row(row_nodes);
  const int row = static_cast<int>(blockIdx.x) / pieces;
  const int m = (static_cast<int>(blockIdx.x) - row * pieces) * grid_threads + static_cast<int>(threadIdx.x);
  if (m >= row_nodes) return;
  SearchedNode u;
  u.job = &job;
  u.i = m + (g.split_axis == 0 ? g.first_plane : 0);
  u.j = g.split_axis == 1 ? g.first_plane + row : g.split_axis == 2 ? row % g.nodes[1] : 0;
  u.k = g.split_axis == 2 ? g.first_plane + row / g.nodes[1] : 0;
  const long long at = static_cast<long long>(row) * row_nodes + m;
  const double value = is_prescribed(g, u.i, u.j, u.k) ? 0.0 : voussoir::detail::grid_value<Kernel>(u);
  job.out[at] = voussoir::detail::combine(job, value, job.fields[0][at], job.out + at);
}

}  // namespace voussoir::cuda
