#include <voussoir/backends/cuda/multigrid/finest_rows.hpp>
#include <voussoir/backends/cuda/multigrid/gathered_nodes.hpp>
#include <voussoir/backends/cuda/multigrid/level_rows.hpp>
#include <voussoir/backends/cuda/multigrid/services.hpp>
#include <voussoir/backends/cuda/primitives/scan.hpp>

// Rows of nodes from rows of equations. A node's row has the nodes of all columns that its equations have, and itself.

namespace voussoir::cuda {

namespace {

constexpr int warps = 8;

/// Rows of equations in slices, on the one device that there is.
struct SlicedEquations {
  SlicedView rows;
  const double* value = nullptr;

  __device__ std::int32_t length(std::int32_t equation) const { return rows.length[rows.place[equation]]; }
  __device__ std::int64_t at(std::int32_t equation, std::int32_t k) const {
    const std::int32_t place = rows.place[equation];
    return (static_cast<std::int64_t>(rows.slice_first[place / slice_rows]) + k) * slice_rows + place % slice_rows;
  }
  __device__ std::int32_t column(std::int32_t equation, std::int32_t k) const { return rows.column[at(equation, k)]; }
  __device__ double number(std::int32_t equation, std::int32_t k) const { return value[at(equation, k)]; }
};

/// The same, gathered from several devices: one stretch each.
struct GatheredEquations {
  LevelPattern rows;
  const double* value = nullptr;

  __device__ std::int32_t length(std::int32_t equation) const { return rows.length(equation); }
  __device__ std::int32_t column(std::int32_t equation, std::int32_t k) const { return rows.columns_of(equation)[k]; }
  __device__ double number(std::int32_t equation, std::int32_t k) const { return value[rows.start[equation] + k]; }
};

/// The rows of equations and the nodes that they belong to.
template <class Rows>
struct EquationRows {
  Rows rows;
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

/// Which column of an equation's row is the first that is at least `least`; the length of the row where there is none.
template <class Rows>
__device__ std::int32_t column_from(const Rows& rows, std::int32_t equation, std::int32_t least) {
  std::int32_t low = 0, high = rows.length(equation);
  while (low < high) {
    const std::int32_t middle = (low + high) / 2;
    if (rows.column(equation, middle) < least)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/// Writes the columns of all nodes' rows, ascending, or only counts them; a thread per node.
template <bool Write, class Rows>
__global__ void list_columns(EquationRows<Rows> in, std::int64_t* start, std::int32_t* column) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= in.nodes) return;
  const auto node = static_cast<std::int32_t>(i);
  std::int32_t count = 0, last = -1;
  while (true) {
    // The lowest node beyond the last one that is in any of the rows.
    std::int32_t next = last < node ? node : in.nodes;
    for (std::int32_t e = in.first[node]; e < in.first[node + 1]; ++e) {
      const std::int32_t k = column_from(in.rows, e, in.first[last + 1]);
      if (k >= in.rows.length(e)) continue;
      const std::int32_t found = in.node_of[in.rows.column(e, k)];
      if (found < next) next = found;
    }
    if (next >= in.nodes) break;
    if constexpr (Write) column[start[node] + count] = next;
    ++count;
    last = next;
  }
  if constexpr (!Write) start[node] = count;
}

/// A warp per node, whose lanes run over the numbers of its row.
template <class Rows>
__global__ void __launch_bounds__(32 * warps) fill_rows(EquationRows<Rows> in, LevelPattern rows, double* value) {
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
      const std::int32_t equation = in.first[node] + r, wanted = in.first[other] + c;
      const std::int32_t found = column_from(in.rows, equation, wanted);
      if (found < in.rows.length(equation) && in.rows.column(equation, found) == wanted)
        entry = in.rows.number(equation, found);
    } else if (r >= own && r == c && other == node) {
      entry = 1;  // what a node lacks of equations stands alone
    }
    target[at] = entry;
  }
}

/// Calls work(rows of equations) on the first device, inside a section.
template <class Work>
void with_equations(const CudaSparseMatrix& matrix, const std::shared_ptr<DeviceMemory>& memory, const Work& work) {
  const Layout& layout = *matrix.layout();
  if (layout.devices() == 1) {
    DeviceSection section(*memory);
    return work(SlicedEquations{matrix.part(0).rows.view(), matrix.part(0).value.read_device()});
  }
  LevelMatrix equations;
  equations.rows = equations.columns = static_cast<std::int32_t>(layout.size());
  take_gathered_rows(matrix, memory, equations);
  DeviceSection section(*memory);
  work(GatheredEquations{pattern_of(equations), equations.value.read_device()});
}

template <class Rows>
EquationRows<Rows> by_nodes(const Rows& rows, const GatheredNodes& nodes, int height) {
  EquationRows<Rows> in;
  in.rows = rows;
  in.nodes = nodes.count();
  in.height = height;
  in.first = nodes.first_equation().read_device();
  return in;
}

}  // namespace

void take_equation_rows(const DeviceModel& model, const CudaSparseMatrix& matrix,
                        const std::shared_ptr<DeviceMemory>& memory, LevelMatrix& rows) {
  require_small_blocks(rows.height, rows.width);
  const cudaStream_t stream = stream_of(memory);
  const GatheredNodes nodes(model);
  with_equations(matrix, memory, [&](const auto& equations) {
    auto in = by_nodes(equations, nodes, rows.height);
    using Rows = std::decay_t<decltype(equations)>;
    Array<std::int32_t> node_of(memory, static_cast<std::size_t>(model.layout()->size()));
    launch(find_nodes, grid_for(in.nodes), stream, in.nodes, in.first, node_of.write_device());
    in.node_of = node_of.read_device();
    rows.start = Array<std::int64_t>(memory, static_cast<std::size_t>(in.nodes) + 1);
    std::int64_t* start = rows.start.write_device();
    launch(list_columns<false, Rows>, grid_for(in.nodes, 128), stream, in, start, nullptr);
    exclusive_sums(start, in.nodes, memory);
    rows.column = Array<std::int32_t>(memory, static_cast<std::size_t>(fetch_total(memory, start + in.nodes)));
    launch(list_columns<true, Rows>, grid_for(in.nodes, 128), stream, in, start, rows.column.write_device());
    rows.value = Array<double>(memory, static_cast<std::size_t>(rows.entries()));
    launch(fill_rows<Rows>, grid_of_warps(in.nodes, warps), stream, in, pattern_of(rows), rows.value.write_device());
  });
}

void refill_equation_rows(const DeviceModel& model, const CudaSparseMatrix& matrix,
                          const std::shared_ptr<DeviceMemory>& memory, LevelMatrix& rows) {
  const GatheredNodes nodes(model);
  with_equations(matrix, memory, [&](const auto& equations) {
    const auto in = by_nodes(equations, nodes, rows.height);
    launch(fill_rows<std::decay_t<decltype(equations)>>, grid_of_warps(in.nodes, warps), stream_of(memory), in,
           pattern_of(rows), rows.value.write_device());
  });
}

}  // namespace voussoir::cuda
