#include <voussoir/backends/cuda/matrix/matrix_sums.hpp>

#include <voussoir/backends/cuda/matrix/sliced_search.hpp>
#include <voussoir/backends/cuda/runtime/passing_through.hpp>
#include <voussoir/backends/detail/upper_triangle.hpp>

// Sums of element matrices in the numbers of an assembled matrix: by a gather in a fixed order, and by atomics.

namespace voussoir::cuda {

using voussoir::detail::matrix_entry;
using voussoir::detail::triangle_row;

namespace {

/// Few, since cells of different depth take different time, and a block ends with its last warp.
constexpr int gather_threads = 128;

/// The matrix of an element, counted from the start of the run; its numbers are 32 apart.
__device__ const double* matrix_of(const ElementMatrices& m, std::uint32_t element) {
  const int dofs = m.nodes * m.components;
  const std::int64_t entries =
      m.symmetric ? static_cast<std::int64_t>(dofs) * (dofs + 1) / 2 : std::int64_t{dofs} * dofs;
  return m.value + static_cast<std::int64_t>(element / 32) * entries * 32 + element % 32;
}

/// One number of a matrix.
__device__ double number_of(const double* matrix, int dofs, bool symmetric, int row, int column) {
  return matrix[static_cast<std::int64_t>(matrix_entry(row, column, dofs, symmetric)) * 32];
}

/// sum += the block of nodes (a, b), where it is `there`. All loads come before the first addition.
template <int C>
__device__ void add_block(const double* matrix, int dofs, int a, int b, bool there, double (&sum)[C * C]) {
  const int low = (a < b ? a : b) * C, high = (a < b ? b : a) * C;
  const bool turned = a > b, diagonal = a == b;
  double t[C * C];
#pragma unroll
  for (int i = 0; i < C; ++i) {
    const int row = triangle_row(low + i, dofs) + high;
#pragma unroll
    for (int j = 0; j < C; ++j) {
      int at = row + j;
      if (j < i && diagonal) at = triangle_row(low + j, dofs) + high + i;
      t[i * C + j] = there ? matrix[static_cast<std::int64_t>(at) * 32] : 0.0;
    }
  }
#pragma unroll
  for (int i = 0; i < C; ++i)
#pragma unroll
    for (int j = 0; j < C; ++j) sum[i * C + j] += turned ? t[j * C + i] : t[i * C + j];
}

/// The same of a whole matrix.
template <int C>
__device__ void add_whole_block(const double* matrix, int dofs, int a, int b, bool there, double (&sum)[C * C]) {
#pragma unroll
  for (int i = 0; i < C; ++i)
#pragma unroll
    for (int j = 0; j < C; ++j)
      sum[i * C + j] += there ? matrix[static_cast<std::int64_t>((a * C + i) * dofs + b * C + j) * 32] : 0.0;
}

/// What gathers are given.
struct GatherJob {
  const GatherCell* cell;
  std::int64_t cells;
  const std::uint32_t* code;
  int node_bits;
  std::int32_t first_element;  // of the plan, in the batch
  bool set_first;
};

/// One contribution: which block of which element of the run.
struct Contribution {
  bool there;
  std::uint32_t element;
  int a, b;
};
__device__ Contribution read_contribution(const GatherJob& job, const ElementMatrices& m, const GatherCell& cell,
                                          std::uint32_t d, int lane) {
  const std::uint32_t code = read_once(job.code + (static_cast<std::int64_t>(cell.first_code) + d) * 32 + lane);
  const std::uint32_t mask = (1u << job.node_bits) - 1;
  const std::int64_t element = static_cast<std::int64_t>(code >> (2 * job.node_bits)) + job.first_element - m.first;
  const bool there = code != no_code && element >= 0 && element < m.count;
  return {there, there ? static_cast<std::uint32_t>(element) : 0u, static_cast<int>(code >> job.node_bits & mask),
          static_cast<int>(code & mask)};
}

/// Where the entries of a block of nodes stand; row_of() gives its rows, whose entries are 32 apart.
struct BlockPlace {
  bool there;
  double* value;          // blocks: entry (0, 0)
  std::int32_t equation;  // expanded: first equation of the row's node
  std::int32_t offset;    // expanded: first column in its rows
};
__device__ BlockPlace find_block(const GatherJob& job, const MatrixTarget& t, const GatherCell& cell, int lane) {
  BlockPlace place{true, nullptr, 0, 0};
  const std::int64_t at = static_cast<std::int64_t>(cell.cell) * 32 + lane;
  // Nodes that these elements do not add to may have fewer equations than they. Lists have no gaps.
  if (!job.set_first && job.code[static_cast<std::int64_t>(cell.first_code) * 32 + lane] == no_code) {
    place.there = false;
    return place;
  }
  if (t.expanded) {
    place.offset = t.offset[at];
    place.there = place.offset >= 0;
    if (place.there) place.equation = t.first_equation[t.node_row[static_cast<std::int64_t>(cell.slice) * 32 + lane]];
  } else {
    place.value = t.value + static_cast<std::int64_t>(cell.cell) * (t.block_size * t.block_size * 32) + lane;
  }
  return place;
}
__device__ double* row_of(const MatrixTarget& t, const BlockPlace& place, int i) {
  if (!t.expanded) return place.value + static_cast<std::int64_t>(i) * t.block_size * 32;
  const std::int32_t at = t.rows.place[place.equation + i];
  return t.value + (static_cast<std::int64_t>(t.rows.slice_first[at / 32]) + place.offset) * 32 + at % 32;
}

/// Sums the contributions to a cell, a lane per block, from what stands there or from zero.
template <int C, bool symmetric>
__global__ void __launch_bounds__(gather_threads) gather_blocks(GatherJob job, ElementMatrices m, MatrixTarget t) {
  const std::int64_t at = (static_cast<std::int64_t>(blockIdx.x) * gather_threads + threadIdx.x) / 32;
  if (at >= job.cells) return;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const GatherCell cell = job.cell[at];
  const BlockPlace place = find_block(job, t, cell, lane);
  double* row[C];
  double sum[C * C];
  const bool fresh = !place.there || (job.set_first && cell.comes_first());
#pragma unroll
  for (int i = 0; i < C; ++i) {
    row[i] = place.there ? row_of(t, place, i) : t.value;
#pragma unroll
    for (int j = 0; j < C; ++j) sum[i * C + j] = fresh ? 0.0 : row[i][j * 32];
  }
  m.symmetric = symmetric;  // as it is, but known to the compiler
  const int dofs = m.nodes * C;
  const std::uint32_t depth = cell.depth();
#pragma unroll 2
  for (std::uint32_t d = 0; d < depth; ++d) {
    const Contribution c = read_contribution(job, m, cell, d, lane);
    if constexpr (symmetric)
      add_block<C>(matrix_of(m, c.element), dofs, c.a, c.b, c.there, sum);
    else
      add_whole_block<C>(matrix_of(m, c.element), dofs, c.a, c.b, c.there, sum);
  }
  if (!place.there) return;
#pragma unroll
  for (int i = 0; i < C; ++i)
#pragma unroll
    for (int j = 0; j < C; ++j) write_once(row[i] + j * 32, sum[i * C + j]);
}

/// The two nodes of a cell's block, by the first of its contributions: all have the same.
struct NodePair {
  std::int32_t row = 0, column = 0;
};
__device__ NodePair nodes_of(const GatherJob& job, const ElementMatrices& m, std::uint32_t code) {
  const std::uint32_t mask = (1u << job.node_bits) - 1;
  const std::int32_t* nodes =
      m.element_nodes + (static_cast<std::int64_t>(code >> (2 * job.node_bits)) + job.first_element) * m.nodes;
  return {nodes[code >> job.node_bits & mask], nodes[code & mask]};
}

/// The same for any number of components, one entry after another; with `slots` also where components are not the first
/// equations of their nodes.
template <bool slots>
__global__ void __launch_bounds__(gather_threads) gather_entries(GatherJob job, ElementMatrices m, MatrixTarget t) {
  const std::int64_t at = (static_cast<std::int64_t>(blockIdx.x) * gather_threads + threadIdx.x) / 32;
  if (at >= job.cells) return;
  const int lane = static_cast<int>(threadIdx.x) % 32, dofs = m.nodes * m.components;
  const GatherCell cell = job.cell[at];
  const BlockPlace place = find_block(job, t, cell, lane);
  if (!place.there) return;
  NodePair pair;
  if constexpr (slots) {
    const std::uint32_t code = job.code[static_cast<std::int64_t>(cell.first_code) * 32 + lane];
    if (code == no_code) return;
    pair = nodes_of(job, m, code);
  }
  for (int i = 0; i < m.components; ++i) {
    double* row = row_of(t, place, slots ? m.slot_of(pair.row, i) : i);
    for (int j = 0; j < m.components; ++j) {
      double& entry = row[static_cast<std::int64_t>(slots ? m.slot_of(pair.column, j) : j) * 32];
      double sum = job.set_first && cell.comes_first() ? 0.0 : entry;
      for (std::uint32_t d = 0; d < cell.depth(); ++d) {
        const Contribution c = read_contribution(job, m, cell, d, lane);
        if (c.there)
          sum += number_of(matrix_of(m, c.element), dofs, m.symmetric, c.a * m.components + i, c.b * m.components + j);
      }
      entry = sum;
    }
  }
}

/// A thread per pair of nodes of an element; neighbouring threads take neighbouring elements.
template <bool slots>
__global__ void __launch_bounds__(gather_threads)
    scatter_blocks(const std::int32_t* nodes, const std::uint8_t* skip, ElementMatrices m, MatrixTarget t) {
  const std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * gather_threads + threadIdx.x;
  const int n = m.nodes;
  if (at >= static_cast<std::int64_t>(m.count) * n * n) return;
  const auto e = static_cast<std::int32_t>(at % m.count);
  const auto pair = static_cast<int>(at / m.count);
  const int a = pair / n, b = pair % n;
  if (skip && skip[m.first + e]) return;
  const std::int64_t first = (static_cast<std::int64_t>(m.first) + e) * n;
  const std::int32_t row = nodes[first + a], column = nodes[first + b];
  if (row >= t.owned_nodes) return;
  const double* matrix = matrix_of(m, static_cast<std::uint32_t>(e));
  const int c = m.components, dofs = n * c;
  const std::int32_t row_number = t.expanded ? t.first_equation[row] : row;
  const std::int32_t k = find_column(t.rows, t.rows.place[row_number], t.expanded ? t.first_equation[column] : column);
  if (k < 0) return;  // its mirror image is stored
  for (int i = 0; i < c; ++i) {
    const int row_slot = slots ? m.slot_of(row, i) : i;
    const std::int32_t place = t.rows.place[t.expanded ? row_number + row_slot : row_number];
    const std::int64_t cell = static_cast<std::int64_t>(t.rows.slice_first[place / 32]) + k;
    double* target = t.expanded ? t.value + cell * 32 + place % 32
                                : t.value + (cell * t.block_size + row_slot) * t.block_size * 32 + place % 32;
    for (int j = 0; j < c; ++j)
      atomicAdd(target + static_cast<std::int64_t>(slots ? m.slot_of(column, j) : j) * 32,
                number_of(matrix, dofs, m.symmetric, a * c + i, b * c + j));
  }
}

__global__ void copy_dependent(const std::int32_t* element, std::int64_t count, int entries, ElementMatrices m,
                               double* kept) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= count * entries) return;
  const std::int32_t e = element[i / entries] - m.first;
  if (e >= 0 && e < m.count) kept[i] = matrix_of(m, static_cast<std::uint32_t>(e))[i % entries * 32];
}

__global__ void add_terms(std::int64_t count, const std::int64_t* target, const std::uint32_t* start,
                          const std::int64_t* source, const double* factor, const double* kept, double* value) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= count) return;
  double sum = value[target[i]];
  for (std::uint32_t k = start[i]; k < start[i + 1]; ++k) sum += factor[k] * kept[source[k]];
  value[target[i]] = sum;
}

__global__ void isolate_cells(const ConstrainedCell* cells, std::int64_t count, const std::uint8_t* constrained,
                              MatrixTarget t) {
  const std::int64_t at = (static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) / 32;
  if (at >= count) return;
  const int lane = static_cast<int>(threadIdx.x) % 32, b = t.block_size;
  const std::int64_t cell = cells[at].cell, place = static_cast<std::int64_t>(cells[at].slice) * 32 + lane;
  const std::int32_t row = t.rows.row[place];
  if (cell - t.rows.slice_first[cells[at].slice] >= t.rows.length[place]) return;
  const std::int32_t column = t.rows.column[cell * 32 + lane];
  for (int i = 0; i < b; ++i)
    for (int j = 0; j < b; ++j) {
      const std::int64_t r = static_cast<std::int64_t>(row) * b + i, c = static_cast<std::int64_t>(column) * b + j;
      if (!constrained[r] && !constrained[c]) continue;
      double& entry = t.value[((cell * b + i) * b + j) * 32 + lane];
      if (r != c)
        entry = 0;
      else
        entry = entry == 0 ? 1 : fabs(entry);
    }
}

using GatherKernel = void (*)(GatherJob, ElementMatrices, MatrixTarget);
template <bool symmetric>
GatherKernel gather_kernel(int components) {
  switch (components) {
    case 1:
      return gather_blocks<1, symmetric>;
    case 2:
      return gather_blocks<2, symmetric>;
    case 3:
      return gather_blocks<3, symmetric>;
    case 4:
      return gather_blocks<4, symmetric>;
    case 5:
      return gather_blocks<5, symmetric>;
    case 6:
      return gather_blocks<6, symmetric>;
    default:
      return gather_entries<false>;
  }
}

}  // namespace

MatrixTarget MatrixTarget::of(const DeviceModel& model, int device, CudaSparseMatrix& matrix) {
  CudaSparseMatrix::Part& part = matrix.part(device);
  MatrixTarget target;
  target.rows = part.rows.view();
  target.value = part.value.update_device();
  target.block_size = matrix.block_size();
  target.expanded = part.plan->expanded;
  target.node_row = part.plan->nodes.row.read_device();
  target.offset = part.plan->offset.read_device();
  target.first_equation = model.part(device).first_equation.read_device();
  target.owned_nodes = model.part(device).owned_nodes;
  return target;
}

void gather_matrices(const BatchGather& plan, const ElementMatrices& matrices, const MatrixTarget& target,
                     bool set_first, cudaStream_t stream) {
  const GatherJob job{plan.cell.read_device(), plan.cells, plan.code.read_device(),
                      plan.node_bits,          plan.first, set_first};
  GatherKernel kernel = gather_entries<true>;
  if (!matrices.slot)
    kernel = matrices.symmetric ? gather_kernel<true>(matrices.components) : gather_kernel<false>(matrices.components);
  launch(kernel, grid_for(plan.cells * 32, gather_threads), stream, job, matrices, target);
}

void scatter_matrices(const std::int32_t* nodes, const std::uint8_t* skip, const ElementMatrices& matrices,
                      const MatrixTarget& target, cudaStream_t stream) {
  const std::int64_t pairs = static_cast<std::int64_t>(matrices.count) * matrices.nodes * matrices.nodes;
  launch(matrices.slot ? scatter_blocks<true> : scatter_blocks<false>, grid_for(pairs, gather_threads), stream, nodes,
         skip, matrices, target);
}

void keep_dependent(const DependentGather& plan, const ElementMatrices& matrices, double* kept, cudaStream_t stream) {
  const auto count = static_cast<std::int64_t>(plan.element.size());
  const int entries = matrices.entries();
  launch(copy_dependent, grid_for(count * entries), stream, plan.element.read_device(), count, entries, matrices, kept);
}

void add_dependent(const DependentGather& plan, const double* kept, const MatrixTarget& target, cudaStream_t stream) {
  const auto count = static_cast<std::int64_t>(plan.target.size());
  launch(add_terms, grid_for(count), stream, count, plan.target.read_device(), plan.start.read_device(),
         plan.source.read_device(), plan.factor.read_device(), kept, target.value);
}

void isolate_constrained(const AssemblyPlan& plan, const std::uint8_t* constrained, const MatrixTarget& target,
                         cudaStream_t stream) {
  launch(isolate_cells, grid_for(plan.constrained_cells * 32), stream, plan.constrained.read_device(),
         plan.constrained_cells, constrained, target);
}

}  // namespace voussoir::cuda
