#include <voussoir/backends/cuda/multigrid/finest_rows.hpp>
#include <voussoir/backends/cuda/multigrid/level_rows.hpp>
#include <voussoir/backends/cuda/multigrid/services.hpp>
#include <voussoir/backends/cuda/scan.hpp>
#include <voussoir/backends/cuda/sliced_search.hpp>

// Rows of nodes from rows of equations. A node's row has the nodes of all columns that its equations have, and itself.

namespace voussoir::cuda {

namespace {

constexpr int warps = 8;

/// The rows of equations and the nodes that they belong to.
struct EquationRows {
  SlicedView rows;
  const double* value = nullptr;
  std::int32_t nodes = 0;
  int height = 1;
  const std::int32_t* first = nullptr;    // equation of each node, and the total
  const std::int32_t* node_of = nullptr;  // per equation
};

__global__ void find_nodes(std::int32_t nodes, const std::int32_t* first, std::int32_t* node_of) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= nodes) return;
  for (std::int32_t e = first[i]; e < first[i + 1]; ++e) node_of[e] = static_cast<std::int32_t>(i);
}

/// The first column of an equation's row that is at least `least`, or −1 where there is none.
__device__ std::int32_t column_from(const SlicedView& rows, std::int32_t equation, std::int32_t least) {
  const std::int32_t place = rows.place[equation], length = rows.length[place];
  const std::int32_t* own =
      rows.column + static_cast<std::int64_t>(rows.slice_first[place / slice_rows]) * slice_rows + place % slice_rows;
  std::int32_t low = 0, high = length;
  while (low < high) {
    const std::int32_t middle = (low + high) / 2;
    if (own[static_cast<std::int64_t>(middle) * slice_rows] < least)
      low = middle + 1;
    else
      high = middle;
  }
  return low < length ? own[static_cast<std::int64_t>(low) * slice_rows] : -1;
}

/// Writes the columns of all nodes' rows, ascending, or only counts them; a thread per node.
template <bool Write>
__global__ void list_columns(EquationRows in, std::int64_t* start, std::int32_t* column) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= in.nodes) return;
  const auto node = static_cast<std::int32_t>(i);
  std::int32_t count = 0, last = -1;
  while (true) {
    // The lowest node beyond the last one that is in any of the rows.
    std::int32_t next = last < node ? node : in.nodes;
    for (std::int32_t e = in.first[node]; e < in.first[node + 1]; ++e) {
      const std::int32_t found = column_from(in.rows, e, in.first[last + 1]);
      if (found >= 0 && in.node_of[found] < next) next = in.node_of[found];
    }
    if (next >= in.nodes) break;
    if constexpr (Write) column[start[node] + count] = next;
    ++count;
    last = next;
  }
  if constexpr (!Write) start[node] = count;
}

/// A warp per node, whose lanes run over the numbers of its row.
__global__ void __launch_bounds__(32 * warps) fill_rows(EquationRows in, LevelPattern rows, double* value) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const std::int64_t node = static_cast<std::int64_t>(blockIdx.x) * warps + threadIdx.x / 32;
  if (node >= in.nodes) return;
  const std::int32_t n = rows.length(node), stretch = n * in.height;
  const std::int32_t own = in.first[node + 1] - in.first[node];
  double* target = value + rows.start[node] * (in.height * in.height);
  for (std::int32_t at = lane; at < stretch * in.height; at += 32) {
    const std::int32_t r = at / stretch, k = at % stretch / in.height, c = at % in.height;
    const std::int32_t other = rows.columns_of(node)[k];
    double entry = 0;
    if (r < own && c < in.first[other + 1] - in.first[other]) {
      const std::int32_t place = in.rows.place[in.first[node] + r];
      const std::int32_t found = find_column(in.rows, place, in.first[other] + c);
      if (found >= 0)
        entry = in.value[(static_cast<std::int64_t>(in.rows.slice_first[place / slice_rows]) + found) * slice_rows +
                         place % slice_rows];
    } else if (r >= own && r == c && other == node) {
      entry = 1;  // what a node lacks of equations stands alone
    }
    target[at] = entry;
  }
}

/// Inside a section.
EquationRows rows_by_nodes(const DeviceModel& model, const CudaSparseMatrix& matrix, int height) {
  EquationRows in;
  in.rows = matrix.part(0).rows.view();
  in.value = matrix.part(0).value.read_device();
  in.nodes = model.node_count();
  in.height = height;
  in.first = model.part(0).first_equation.read_device();
  return in;
}

}  // namespace

void take_equation_rows(const DeviceModel& model, const CudaSparseMatrix& matrix,
                        const std::shared_ptr<DeviceMemory>& memory, LevelMatrix& rows) {
  require_small_blocks(rows.height, rows.width);
  const cudaStream_t stream = stream_of(memory);
  DeviceSection section(*memory);
  EquationRows in = rows_by_nodes(model, matrix, rows.height);
  Array<std::int32_t> node_of(memory, static_cast<std::size_t>(model.layout()->size()));
  launch(find_nodes, grid_for(in.nodes), stream, in.nodes, in.first, node_of.write_device());
  in.node_of = node_of.read_device();
  rows.start = Array<std::int64_t>(memory, static_cast<std::size_t>(in.nodes) + 1);
  std::int64_t* start = rows.start.write_device();
  launch(list_columns<false>, grid_for(in.nodes, 128), stream, in, start, nullptr);
  exclusive_sums(start, in.nodes, memory);
  rows.column = Array<std::int32_t>(memory, static_cast<std::size_t>(fetch_total(memory, start + in.nodes)));
  launch(list_columns<true>, grid_for(in.nodes, 128), stream, in, start, rows.column.write_device());
  rows.value = Array<double>(memory, static_cast<std::size_t>(rows.entries()));
  refill_equation_rows(model, matrix, memory, rows);
}

void refill_equation_rows(const DeviceModel& model, const CudaSparseMatrix& matrix,
                          const std::shared_ptr<DeviceMemory>& memory, LevelMatrix& rows) {
  DeviceSection section(*memory);
  const EquationRows in = rows_by_nodes(model, matrix, rows.height);
  launch(fill_rows, grid_of_warps(in.nodes, warps), stream_of(memory), in, pattern_of(rows), rows.value.write_device());
}

}  // namespace voussoir::cuda
