#pragma once
#include <voussoir/backends/cuda/runtime/early_start.hpp>
#include <voussoir/elements/grid/neighbourhood.hpp>

// The kernel over the nodes of a grid, for every stencil and source. Compiled by nvcc and NVRTC: nothing of the
// standard library here.

namespace voussoir::cuda {

inline constexpr int grid_threads = 256;  ///< threads of a block: neighbouring nodes of a row

/// Blocks of a row.
inline constexpr int blocks_of_row(int row_nodes) { return (row_nodes + grid_threads - 1) / grid_threads; }

/// A node of which all neighbours are values of the field: its distances to them are computed once.
struct NearNode : GridNode<NearNode> {
  const double* here;        ///< the node's value
  long long local;           ///< entry of the node
  long long distance[3][2];  ///< to the neighbours before and after the node along each axis

  VSR_FN double operator()(int di = 0, int dj = 0, int dk = 0) const {
    return here[(di == 0 ? 0 : distance[0][di > 0]) + (dj == 0 ? 0 : distance[1][dj > 0]) +
                (dk == 0 ? 0 : distance[2][dk > 0])];
  }
  VSR_FN double other(int f) const { return job->fields[f][local]; }

  /// Sets the distances. Returns false where a neighbour lies across a side with a slope.
  __device__ bool find(int row, int m, int row_nodes) {
    const GridView& g = job->grid;
    local = static_cast<long long>(row) * row_nodes + m;
    here = job->fields[0] + local;
    const int at[3] = {i, j, k};
    const long long stride[3] = {1, g.nodes[0], static_cast<long long>(g.nodes[0]) * g.nodes[1]};
    bool near = true;
    for (int a = 0; a < 3; ++a) {
      const int n = g.nodes[a];
      const bool low = at[a] == 0, high = at[a] == n - 1;
      distance[a][0] = low ? (n - 1) * stride[a] : -stride[a];
      distance[a][1] = high ? (1 - n) * stride[a] : stride[a];
      near = near && !(low && g.side[2 * a].kind == GridSideKind::slope) &&
             !(high && g.side[2 * a + 1].kind == GridSideKind::slope);
      if (n == 1) distance[a][0] = distance[a][1] = 0;
      if (a != g.split_axis || n == 1) continue;
      // Planes before and after those of the device are ghosts, or, with one device, its own at the other end.
      const int own = at[a] - g.first_plane;
      if (own == 0) distance[a][0] = g.below;
      if (own == g.plane_count - 1) distance[a][1] = g.above - own * g.plane_nodes;
    }
    return near;
  }
};

/// A thread per node; block b has nodes of row b / blocks_of_row.
template <class Kernel>
__global__ void __launch_bounds__(grid_threads) grid_values(GridJob job) {
  const GridView& g = job.grid;
  const int row_nodes = g.split_axis == 0 ? g.plane_count : g.nodes[0];
  const int pieces = blocks_of_row(row_nodes);
  const int row = static_cast<int>(blockIdx.x) / pieces;
  const int m = (static_cast<int>(blockIdx.x) - row * pieces) * grid_threads + static_cast<int>(threadIdx.x);
  if (m >= row_nodes) return;
  NearNode u;
  u.job = &job;
  u.i = m + (g.split_axis == 0 ? g.first_plane : 0);
  u.j = g.split_axis == 1 ? g.first_plane + row : g.split_axis == 2 ? row % g.nodes[1] : 0;
  u.k = g.split_axis == 2 ? g.first_plane + row / g.nodes[1] : 0;
  const bool near = u.find(row, m, row_nodes);
  double value = 0;
  if (is_prescribed(g, u.i, u.j, u.k)) {
    value = 0;
  } else if (near) {
    value = voussoir::detail::grid_value<Kernel>(u);
  } else {
    SearchedNode searched;
    searched.job = &job;
    searched.i = u.i;
    searched.j = u.j;
    searched.k = u.k;
    value = voussoir::detail::grid_value<Kernel>(searched);
  }
  job.out[u.local] = voussoir::detail::combine(job, value, *u.here, job.out + u.local);
}

}  // namespace voussoir::cuda
