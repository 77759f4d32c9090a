#include <voussoir/backends/cuda/matrix/assembly_plan.hpp>

#include <algorithm>
#include <bit>

#include <voussoir/backends/cuda/cuda_backend.hpp>
#include <voussoir/backends/cuda/matrix/dependent_gather.hpp>
#include <voussoir/backends/cuda/matrix/matrix_pattern.hpp>
#include <voussoir/backends/cuda/matrix/sliced_search.hpp>
#include <voussoir/backends/cuda/matrix/sparse_matrix.hpp>
#include <voussoir/backends/cuda/model_plans.hpp>
#include <voussoir/backends/cuda/primitives/scan.hpp>

// The plan by which element matrices are summed: for every block of nodes the pairs of element nodes that add to it.

namespace voussoir::cuda {

namespace {

/// A run of elements and where they stand at nodes.
struct RunIncidence {
  const std::int32_t* nodes;
  const std::uint32_t* start;
  const std::uint32_t* incidence;
  const std::uint8_t* skip;  // null: none
  int per_element;
  int node_bits;
  std::int32_t first;
  std::int32_t count;
  bool half;  // blocks left of the diagonal are not stored
};

/// Calls visit(code, place in an array over cells and lanes) for the pairs of nodes of the elements at place p,
/// ascending.
template <class Visit>
__device__ void for_contributions(const SlicedView& rows, const RunIncidence& run, std::int64_t p, Visit visit) {
  const std::int32_t row = rows.row[p];
  if (row < 0) return;
  const auto n = static_cast<std::uint32_t>(run.per_element);
  const std::int64_t first = static_cast<std::int64_t>(rows.slice_first[p / slice_rows]);
  for (std::uint32_t i = run.start[row]; i < run.start[row + 1]; ++i) {
    const std::uint32_t e = run.incidence[i] / n, a = run.incidence[i] % n;
    const auto element = static_cast<std::int32_t>(e) - run.first;
    if (element < 0 || element >= run.count || (run.skip && run.skip[e])) continue;
    const std::int32_t* nodes = run.nodes + static_cast<std::int64_t>(e) * n;
    for (std::uint32_t b = 0; b < n; ++b) {
      if (run.half && nodes[b] < row) continue;
      const std::int32_t k = find_column(rows, static_cast<std::int32_t>(p), nodes[b]);
      visit(static_cast<std::uint32_t>(element) << (2 * run.node_bits) | a << run.node_bits | b,
            (first + k) * slice_rows + p % slice_rows);
    }
  }
}

/// How many contributions each block gets, a thread per place.
__global__ void count_contributions(SlicedView rows, RunIncidence run, std::uint32_t* counts) {
  const std::int64_t p = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (p >= static_cast<std::int64_t>(rows.slices) * slice_rows) return;
  for_contributions(rows, run, p, [&](std::uint32_t, std::int64_t at) { ++counts[at]; });
}

/// The longest list of each cell, and whether it has any: a warp per cell.
__global__ void measure_cells(std::int64_t cells, const std::uint32_t* counts, std::uint32_t* depth,
                              std::uint32_t* used) {
  const std::int64_t cell = (static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) / 32;
  if (cell >= cells) return;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  std::uint32_t most = counts[cell * slice_rows + lane];
  for (int step = 16; step > 0; step /= 2) {
    const std::uint32_t other = __shfl_xor_sync(0xffffffffu, most, step);
    most = other > most ? other : most;
  }
  if (lane != 0) return;
  depth[cell] = most;
  used[cell] = most > 0 ? 1 : 0;
}

/// Lists the cells that are used, a warp per slice. `depth` and `used` are sums over the cells before by now.
__global__ void list_cells(SlicedView rows, const std::uint32_t* depth, const std::uint32_t* used,
                           std::uint8_t* touched, GatherCell* list) {
  const std::int64_t slice = (static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) / 32;
  if (slice >= rows.slices) return;
  for (std::int64_t cell = rows.slice_first[slice] + threadIdx.x % 32; cell < rows.slice_first[slice + 1]; cell += 32) {
    if (used[cell + 1] == used[cell]) continue;
    GatherCell entry;
    entry.first_code = depth[cell];
    entry.cell = static_cast<std::uint32_t>(cell);
    entry.slice = static_cast<std::int32_t>(slice);
    entry.depth_and_first = 2 * (depth[cell + 1] - depth[cell]) + (touched[cell] ? 0u : 1u);
    touched[cell] = 1;
    list[used[cell]] = entry;
  }
}

/// Writes the codes, a thread per place; `counts` counts again.
__global__ void write_codes(SlicedView rows, RunIncidence run, const std::uint32_t* depth, std::uint32_t* counts,
                            std::uint32_t* codes) {
  const std::int64_t p = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (p >= static_cast<std::int64_t>(rows.slices) * slice_rows) return;
  for_contributions(rows, run, p, [&](std::uint32_t code, std::int64_t at) {
    const std::int64_t d = static_cast<std::int64_t>(depth[at / slice_rows]) + counts[at]++;
    codes[d * slice_rows + p % slice_rows] = code;
  });
}

/// Which cells have an equation that is not free, a warp per slice.
__global__ void mark_constrained(SlicedView rows, int b, const std::uint8_t* constrained, std::uint32_t* marks) {
  const std::int64_t slice = (static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) / 32;
  if (slice >= rows.slices) return;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const std::int32_t row = rows.row[slice * slice_rows + lane], length = rows.length[slice * slice_rows + lane];
  const auto any = [&](std::int32_t block) {
    for (int i = 0; i < b; ++i)
      if (constrained[static_cast<std::int64_t>(block) * b + i]) return true;
    return false;
  };
  const bool row_constrained = row >= 0 && any(row);
  const std::int64_t first = rows.slice_first[slice], last = rows.slice_first[slice + 1];
  for (std::int64_t cell = first; cell < last; ++cell) {
    const bool mine = cell - first < length && (row_constrained || any(rows.column[cell * slice_rows + lane]));
    const int some = __any_sync(0xffffffffu, mine ? 1 : 0);
    if (lane == 0) marks[cell] = some ? 1 : 0;
  }
}

__global__ void list_constrained(SlicedView rows, const std::uint32_t* before, ConstrainedCell* list) {
  const std::int64_t slice = (static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) / 32;
  if (slice >= rows.slices) return;
  for (std::int64_t cell = rows.slice_first[slice] + threadIdx.x % 32; cell < rows.slice_first[slice + 1]; cell += 32)
    if (before[cell + 1] != before[cell])
      list[before[cell]] = {static_cast<std::uint32_t>(cell), static_cast<std::int32_t>(slice)};
}

Grid grid_of_places(const SlicedRows& rows) { return grid_for(static_cast<std::int64_t>(rows.slices) * slice_rows); }

/// What the runs of one device are planned with.
struct Planner {
  const DeviceModel& model;
  int device;
  const SlicedRows& rows;  // of nodes
  bool half;
  Array<std::uint32_t> counts;
  Array<std::uint8_t> touched;

  Planner(const DeviceModel& from, int on, const SlicedRows& pattern, bool half_pattern)
      : model(from), device(on), rows(pattern), half(half_pattern) {
    const auto& memory = model.layout()->memory(device);
    counts = Array<std::uint32_t>(memory, rows.room());
    touched = Array<std::uint8_t>(memory, static_cast<std::size_t>(rows.cells));
    DeviceSection section(*memory);
    fill_bytes_async(touched.write_device(), 0, touched.bytes(), stream_of(memory));
  }

  BatchGather plan(int number, std::int32_t first, std::int32_t count, const Array<std::uint8_t>& skip) {
    const ElementBatch& batch = model.part(device).batches[static_cast<std::size_t>(number)];
    const NodeGather& incidence = ModelPlans::of(model).gather(device, number);
    const auto& memory = model.layout()->memory(device);
    const cudaStream_t stream = stream_of(memory);
    const int n = batch.program->nodes();
    BatchGather gather;
    gather.batch = number;
    gather.first = first;
    gather.count = count;
    gather.node_bits = std::bit_width(static_cast<unsigned>(n - 1));

    DeviceSection section(*memory);
    const RunIncidence run{batch.nodes.read_device(),
                           incidence.start.read_device(),
                           incidence.incidence.read_device(),
                           skip.read_device(),
                           n,
                           gather.node_bits,
                           first,
                           count,
                           half};
    const SlicedView view = rows.view();
    std::uint32_t* count_of = counts.write_device();
    const auto cells = static_cast<std::size_t>(rows.cells);
    Array<std::uint32_t> depth(memory, cells + 1), used(memory, cells + 1);
    std::uint32_t* depths = depth.write_device();
    std::uint32_t* uses = used.write_device();
    fill_bytes_async(count_of, 0, counts.bytes(), stream);
    launch(count_contributions, grid_of_places(rows), stream, view, run, count_of);
    launch(measure_cells, grid_for(rows.cells * 32), stream, rows.cells, count_of, depths, uses);
    exclusive_sums(depths, rows.cells, memory);
    exclusive_sums(uses, rows.cells, memory);
    gather.cells = fetch(memory, uses + rows.cells);
    if (gather.cells == 0) return gather;
    gather.cell = Array<GatherCell>(memory, static_cast<std::size_t>(gather.cells));
    gather.code = Array<std::uint32_t>(memory, static_cast<std::size_t>(fetch(memory, depths + rows.cells)) * 32);
    std::uint32_t* codes = gather.code.write_device();
    launch(list_cells, grid_of_places(rows), stream, view, depths, uses, touched.update_device(),
           gather.cell.write_device());
    fill_bytes_async(count_of, 0, counts.bytes(), stream);
    fill_bytes_async(codes, 0xff, gather.code.bytes(), stream);
    launch(write_codes, grid_of_places(rows), stream, view, run, depths, count_of, codes);
    return gather;
  }
};

/// Marks on the elements with dependent equations.
Array<std::uint8_t> skip_marks(const ElementBatch& batch, const std::shared_ptr<DeviceMemory>& memory) {
  if (batch.dependent_elements.empty()) return {};
  std::vector<std::uint8_t> marks(static_cast<std::size_t>(batch.element_count), 0);
  for (const std::int32_t e : batch.dependent_elements) marks[static_cast<std::size_t>(e)] = 1;
  Array<std::uint8_t> skip(memory, marks);
  skip.drop_host_mirror();
  return skip;
}

void plan_runs(const DeviceModel& model, int device, const SlicedRows& nodes, bool half, AssemblyPlan& plan) {
  const DeviceModel::Part& part = model.part(device);
  Planner planner(model, device, nodes, half);
  plan.skip.resize(part.batches.size());
  plan.whole_blocks = true;
  for (std::size_t b = 0; b < part.batches.size(); ++b) {
    const ElementBatch& batch = part.batches[b];
    if (!has_matrix(batch)) continue;
    const ElementProgram& program = *batch.program;
    if (program.nodes() > 1 << 12)
      throw Error(ErrorCode::misuse,
                  "element type " + program.name() + " has " + std::to_string(program.nodes()) +
                      " nodes; matrices of this backend support at most 4096; use the backend openmp");
    plan.skip[b] = skip_marks(batch, model.layout()->memory(device));
    if (program.components() != model.uniform_components() || !batch.slot.empty()) plan.whole_blocks = false;
    // As many elements as a code can tell apart, in whole groups of lanes.
    const int bits = 32 - 2 * std::bit_width(static_cast<unsigned>(program.nodes() - 1));
    const auto most = static_cast<std::int32_t>(bits >= 31 ? INT32_MAX / 32 * 32 : ((1ll << bits) - 1) / 32 * 32);
    for (std::int32_t first = 0; first < batch.element_count;) {
      const std::int32_t count = std::min(most, batch.element_count - first);
      plan.gathers.push_back(planner.plan(static_cast<int>(b), first, count, plan.skip[b]));
      first += count;
    }
  }
}

void plan_constrained(const DeviceModel& model, int device, const SlicedRows& rows, int block_size,
                      AssemblyPlan& plan) {
  const auto& memory = model.layout()->memory(device);
  const cudaStream_t stream = stream_of(memory);
  Array<std::uint32_t> before(memory, static_cast<std::size_t>(rows.cells) + 1);
  DeviceSection section(*memory);
  std::uint32_t* marks = before.write_device();
  launch(mark_constrained, grid_of_places(rows), stream, rows.view(), block_size,
         model.part(device).constrained.read_device(), marks);
  exclusive_sums(marks, rows.cells, memory);
  plan.constrained_cells = fetch(memory, marks + rows.cells);
  plan.constrained = Array<ConstrainedCell>(memory, static_cast<std::size_t>(plan.constrained_cells));
  if (plan.constrained_cells > 0)
    launch(list_constrained, grid_of_places(rows), stream, rows.view(), marks, plan.constrained.write_device());
}

/// Takes the pattern of a matrix, or half of it where that is enough and pays.
void take_pattern(SlicedRows rows, int block_size, bool symmetric, const std::shared_ptr<DeviceMemory>& memory,
                  CudaSparseMatrix::Part& part) {
  part.rows = std::move(rows);
  if (!symmetric || !prefers_half(part.rows.rows, block_size)) return;
  DeviceSection section(*memory);
  SlicedRows half = take_half(part.rows, memory);
  part.tiles = make_tiles(half, block_size, memory);
  if (part.tiles) part.rows = std::move(half);
}

void build(const DeviceModel& model, int device, CudaSparseMatrix& matrix) {
  const auto& memory = model.layout()->memory(device);
  CudaSparseMatrix::Part& part = matrix.part(device);
  const int b = matrix.block_size();
  auto plan = std::make_shared<AssemblyPlan>();
  plan->revision = model.revision();
  const std::vector<DependentElements> dependents = dependent_elements(model, device);
  SlicedRows nodes = make_node_pattern(model, device, dependency_pairs(model, device, dependents));
  plan->expanded = b != model.uniform_components();
  if (plan->expanded) {
    part.rows = expand_pattern(model, device, nodes, plan->offset);
    plan->nodes = std::move(nodes);
  } else {
    take_pattern(std::move(nodes), b, model.symmetric(), memory, part);
  }
  part.value = Array<double>(memory, part.rows.room() * static_cast<std::size_t>(b * b));
  {
    // What nobody adds to stays zero for good.
    DeviceSection section(*memory);
    fill_bytes_async(part.value.write_device(), 0, part.value.bytes(), stream_of(memory));
  }
  const bool half = part.tiles != nullptr;
  plan_runs(model, device, plan->expanded ? plan->nodes : part.rows, half, *plan);
  plan_constrained(model, device, part.rows, b, *plan);
  for (std::size_t k = 0; k < dependents.size(); ++k)
    plan->dependents.push_back(
        make_dependent_gather(model, device, static_cast<int>(k), dependents[k], {part.rows, b, half}));
  if (plan->expanded) plan->nodes.column = {};  // blocks of nodes find their columns by `offset`
  part.plan = std::move(plan);
}

}  // namespace

std::size_t AssemblyPlan::bytes() const {
  std::size_t total = nodes.bytes() + offset.bytes() + constrained.bytes();
  for (const BatchGather& gather : gathers) total += gather.bytes();
  for (const DependentGather& gather : dependents) total += gather.bytes();
  for (const Array<std::uint8_t>& marks : skip) total += marks.bytes();
  return total;
}

void follow_model(const DeviceModel& model, int device, CudaSparseMatrix& matrix) {
  CudaSparseMatrix::Part& part = matrix.part(device);
  const ModelRevision now = model.revision();
  if (part.plan->revision == now) return;
  if (part.plan->revision.matrices != now.matrices) {
    part.plan.reset();
    part.tiles.reset();
    part.value = {};
    build(model, device, matrix);
    return;
  }
  if (part.plan->revision.constraints != now.constraints)
    plan_constrained(model, device, part.rows, matrix.block_size(), *part.plan);
  part.plan->revision = now;
}

std::unique_ptr<SparseMatrix> CudaBackend::make_matrix(const DeviceModel& model, int block_size) {
  if (block_size != 1 && block_size != model.uniform_components())
    throw Error(
        ErrorCode::misuse,
        "make_matrix: blocks of " + std::to_string(block_size) + " need as many equations on every node" +
            (model.uniform_components() == 0 ? "; the nodes of this model differ"
                                             : "; here there are " + std::to_string(model.uniform_components())));
  auto matrix = std::make_unique<CudaSparseMatrix>(model, block_size);
  for (int d = 0; d < devices(); ++d) build(model, d, *matrix);
  return matrix;
}

}  // namespace voussoir::cuda
