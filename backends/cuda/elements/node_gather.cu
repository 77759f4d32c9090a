#include <voussoir/backends/cuda/elements/node_gather.hpp>

#include <string>

#include <voussoir/backends/cuda/elements/element_equations.hpp>
#include <voussoir/backends/cuda/primitives/scan.hpp>
#include <voussoir/backends/cuda/runtime/memory.hpp>

// Lists of the elements at each node, and sums by them.

namespace voussoir::cuda {

namespace {

/// The rows that a device computes: owned nodes, and those marked in `extra` (null: none).
struct ComputedRows {
  std::int32_t owned = 0;
  const std::uint8_t* extra = nullptr;
  __device__ bool has(std::int32_t node) const { return node < owned || (extra && extra[node] != 0); }
};

__global__ void count_incidences(const std::int32_t* nodes, std::int64_t count, ComputedRows rows,
                                 std::uint32_t* counts) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < count && rows.has(nodes[i])) atomicAdd(&counts[nodes[i]], 1u);
}

/// Lists the incidences of every row, in any order; `next` has the place of the next of each row.
__global__ void fill_incidences(const std::int32_t* nodes, std::int64_t count, ComputedRows rows, std::uint32_t* next,
                                std::uint32_t* incidence) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= count || !rows.has(nodes[i])) return;
  incidence[atomicAdd(&next[nodes[i]], 1u)] = static_cast<std::uint32_t>(i);
}

/// Sorts the incidences of a row: heapsort, so that a node with very many elements takes no squared time.
__device__ void sift_down(std::uint32_t* heap, std::uint32_t root, std::uint32_t size) {
  const std::uint32_t value = heap[root];
  for (std::uint32_t child = 2 * root + 1; child < size; child = 2 * root + 1) {
    if (child + 1 < size && heap[child + 1] > heap[child]) ++child;
    if (heap[child] <= value) break;
    heap[root] = heap[child];
    root = child;
  }
  heap[root] = value;
}
__global__ void sort_rows(std::int32_t rows, const std::uint32_t* start, std::uint32_t* incidence) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  std::uint32_t* own = incidence + start[row];
  const std::uint32_t count = start[row + 1] - start[row];
  if (count <= 32) {
    for (std::uint32_t i = 1; i < count; ++i) {
      const std::uint32_t value = own[i];
      std::uint32_t at = i;
      for (; at > 0 && own[at - 1] > value; --at) own[at] = own[at - 1];
      own[at] = value;
    }
    return;
  }
  for (std::uint32_t root = count / 2; root-- > 0;) sift_down(own, root, count);
  for (std::uint32_t size = count - 1; size > 0; --size) {
    const std::uint32_t last = own[size];
    own[size] = own[0];
    own[0] = last;
    sift_down(own, 0, size);
  }
}

/// A thread per node; neighbouring nodes have neighbouring elements, so that reads of a warp fall together.
template <int components>
__global__ void __launch_bounds__(256)
    gather_values(std::int32_t rows, int nodes, const std::uint32_t* __restrict__ start,
                  const std::uint32_t* __restrict__ incidence, const double* __restrict__ values,
                  const std::int32_t* __restrict__ first_equation, double factor, NodalTarget target) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  const std::uint32_t begin = start[row], end = start[row + 1];
  if (begin == end) return;
  double* y = target.y + static_cast<std::int64_t>(first_equation[row]) * target.columns + target.column;
  double sum[components];
#pragma unroll
  for (int i = 0; i < components; ++i) sum[i] = y[static_cast<std::int64_t>(i) * target.columns];
#pragma unroll 4
  for (std::uint32_t k = begin; k < end; ++k) {
    const std::uint32_t which = incidence[k];
    const std::uint32_t e = which / static_cast<std::uint32_t>(nodes), a = which % static_cast<std::uint32_t>(nodes);
    const double* source =
        values + (static_cast<std::int64_t>(e / 32) * nodes + a) * (components * 32) + static_cast<int>(e % 32);
#pragma unroll
    for (int i = 0; i < components; ++i) sum[i] += factor * source[i * 32];
  }
#pragma unroll
  for (int i = 0; i < components; ++i) y[static_cast<std::int64_t>(i) * target.columns] = sum[i];
}

using GatherKernel = void (*)(std::int32_t, int, const std::uint32_t*, const std::uint32_t*, const double*,
                              const std::int32_t*, double, NodalTarget);
GatherKernel gather_kernel(int components) {
  switch (components) {
    case 1:
      return gather_values<1>;
    case 2:
      return gather_values<2>;
    case 3:
      return gather_values<3>;
    case 4:
      return gather_values<4>;
    case 5:
      return gather_values<5>;
    case 6:
      return gather_values<6>;
    default:
      return nullptr;
  }
}

/// The same for any number of components, at any slots.
__global__ void gather_any(std::int32_t rows, int nodes, int components, const std::uint32_t* start,
                           const std::uint32_t* incidence, const double* values, ElementEquations equations,
                           double factor, NodalTarget target) {
  const std::int64_t item = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const std::int64_t row = item / components;
  const int i = static_cast<int>(item % components);
  if (row >= rows || start[row] == start[row + 1]) return;
  const auto equation = static_cast<std::int64_t>(equations.of(static_cast<std::int32_t>(row), i));
  double& y = target.y[equation * target.columns + target.column];
  double sum = y;
  for (std::uint32_t k = start[row]; k < start[row + 1]; ++k) {
    const std::uint32_t e = incidence[k] / static_cast<std::uint32_t>(nodes);
    const std::uint32_t a = incidence[k] % static_cast<std::uint32_t>(nodes);
    sum += factor * values[((static_cast<std::int64_t>(e / 32) * nodes + a) * components + i) * 32 + e % 32];
  }
  y = sum;
}

/// Marks on the nodes of other devices whose rows this device computes; empty where there are none.
Array<std::uint8_t> extra_rows(const DeviceModel& model, int device) {
  const DeviceModel::Part& part = model.part(device);
  if (part.dependency_rows.empty()) return {};
  Array<std::uint8_t> marks(model.layout()->memory(device), static_cast<std::size_t>(part.local_nodes));
  const auto host = marks.write_host();
  for (std::uint8_t& mark : host) mark = 0;
  for (const std::int32_t node : part.dependency_rows) host[static_cast<std::size_t>(node)] = 1;
  return marks;
}

}  // namespace

NodeGather make_node_gather(const DeviceModel& model, int device, int batch) {
  const DeviceModel::Part& part = model.part(device);
  const ElementBatch& elements = part.batches[static_cast<std::size_t>(batch)];
  const auto& memory = model.layout()->memory(device);
  const cudaStream_t stream = stream_of(memory);
  const std::int64_t count = std::int64_t{elements.element_count} * elements.program->nodes();
  if (count > std::int64_t{0xffffffff})
    throw Error(ErrorCode::misuse, "a block of " + std::to_string(elements.element_count) + " elements of type " +
                                       elements.program->name() +
                                       " is too large for one device; split it into two blocks, or use more devices");
  NodeGather plan;
  plan.rows = part.local_nodes;
  plan.start = Array<std::uint32_t>(memory, static_cast<std::size_t>(plan.rows) + 1);
  const Array<std::uint8_t> extra = extra_rows(model, device);
  DeviceSection section(*memory);
  std::uint32_t* start = plan.start.write_device();
  fill_bytes_async(start, 0, plan.start.bytes(), stream);
  const ComputedRows rows{part.owned_nodes, extra.empty() ? nullptr : extra.read_device()};
  if (count > 0) launch(count_incidences, grid_for(count), stream, elements.nodes.read_device(), count, rows, start);
  exclusive_sums(start, plan.rows, memory);
  // Ghost rows that are not computed leave room unused at the end; on one device there are none.
  plan.incidence = Array<std::uint32_t>(memory, static_cast<std::size_t>(count));
  if (count == 0) return plan;
  Array<std::uint32_t> next(memory, static_cast<std::size_t>(plan.rows) + 1);
  copy_async(next.write_device(), start, plan.start.bytes(), stream);
  std::uint32_t* incidence = plan.incidence.write_device();
  launch(fill_incidences, grid_for(count), stream, elements.nodes.read_device(), count, rows, next.update_device(),
         incidence);
  launch(sort_rows, grid_for(plan.rows), stream, plan.rows, start, incidence);
  return plan;
}

void add_to_nodes(const DeviceModel& model, int device, int batch, const NodeGather& plan, const double* values,
                  double factor, const NodalTarget& target) {
  const DeviceModel::Part& part = model.part(device);
  const ElementProgram& program = *part.batches[static_cast<std::size_t>(batch)].program;
  const cudaStream_t stream = stream_of(model.layout()->memory(device));
  const int nodes = program.nodes(), components = program.components();
  const ElementEquations equations = element_equations(part, batch);
  const GatherKernel kernel = equations.slot ? nullptr : gather_kernel(components);
  if (kernel)
    launch(kernel, grid_for(plan.rows), stream, plan.rows, nodes, plan.start.read_device(),
           plan.incidence.read_device(), values, equations.first, factor, target);
  else
    launch(gather_any, grid_for(std::int64_t{plan.rows} * components), stream, plan.rows, nodes, components,
           plan.start.read_device(), plan.incidence.read_device(), values, equations, factor, target);
}

}  // namespace voussoir::cuda
