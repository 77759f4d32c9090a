#include <voussoir/backends/cuda/matrix/matrix_pattern.hpp>

#include <bit>

#include <voussoir/backends/cuda/model_plans.hpp>
#include <voussoir/backends/cuda/primitives/count_before.hpp>
#include <voussoir/backends/cuda/primitives/scan.hpp>

// Which nodes share an element. The nodes of all elements at a node are written down, sorted, and each is kept once: by
// a warp for most nodes, by a block for those with many elements, and outside shared memory for those with very many.

namespace voussoir::cuda {

namespace {

constexpr int list_warps = 8;
constexpr int most_by_warp = 128;    // candidates
constexpr int most_by_block = 8192;  // 32 KB of shared memory
constexpr int block_threads = 128;
constexpr int scratch_threads = 512;
constexpr int scratch_blocks = 16;
constexpr std::int32_t nobody = INT32_MAX;
/// Room for the candidates of a row is counted in pieces, so that 32 bits are enough for all of them.
constexpr std::uint32_t piece = 8;

/// The elements at each node, of one batch.
struct BatchIncidence {
  const std::int32_t* nodes;
  const std::uint32_t* start;
  const std::uint32_t* incidence;
  int per_element;
};

struct PatternInput {
  std::int32_t rows = 0;
  int batches = 0;
  const BatchIncidence* batch = nullptr;
  const std::uint32_t* extra_start = nullptr;  // null: no extra columns
  const std::int32_t* extra = nullptr;
};

/// Nodes that a row must look at, itself included.
__device__ std::uint32_t candidates_of(const PatternInput& in, std::int32_t row) {
  std::uint32_t count = 1;
  for (int b = 0; b < in.batches; ++b)
    count +=
        (in.batch[b].start[row + 1] - in.batch[b].start[row]) * static_cast<std::uint32_t>(in.batch[b].per_element);
  if (in.extra_start) count += in.extra_start[row + 1] - in.extra_start[row];
  return count;
}

/// Pieces of room per row, marks on the rows that are too much for a warp, and the most candidates of a row.
__global__ void measure_rows(PatternInput in, std::uint32_t* pieces, std::uint32_t* large, std::uint32_t* most) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= in.rows) return;
  const std::uint32_t count = candidates_of(in, static_cast<std::int32_t>(i));
  pieces[i] = (count + piece - 1) / piece;
  large[i] = count > most_by_warp ? 1 : 0;
  if (count > most_by_warp) atomicMax(most, count);
}

__global__ void list_large(std::int32_t rows, const std::uint32_t* before, std::int32_t* list) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < rows && before[i + 1] != before[i]) list[before[i]] = static_cast<std::int32_t>(i);
}

/// Writes the columns of a row, ascending, and returns how many there are. `keys` has room for the candidates, rounded
/// up to a power of two; `cursor` is a word that the group shares.
template <class Group>
__device__ int list_columns(const Group& group, const PatternInput& in, std::int32_t row, std::int32_t* keys,
                            unsigned* cursor, std::int32_t* columns) {
  if (group.rank() == 0) {
    keys[0] = row;
    *cursor = 1;
  }
  group.wait();
  // In any order: they are sorted next.
  for (int b = 0; b < in.batches; ++b) {
    const BatchIncidence& batch = in.batch[b];
    const auto n = static_cast<std::uint32_t>(batch.per_element);
    for (std::uint32_t i = batch.start[row] + static_cast<std::uint32_t>(group.rank()); i < batch.start[row + 1];
         i += static_cast<std::uint32_t>(group.size())) {
      const std::int32_t* nodes = batch.nodes + static_cast<std::int64_t>(batch.incidence[i] / n) * n;
      const unsigned at = atomicAdd(cursor, n);
      for (std::uint32_t k = 0; k < n; ++k) keys[at + k] = nodes[k];
    }
  }
  if (in.extra_start)
    for (std::uint32_t i = in.extra_start[row] + static_cast<std::uint32_t>(group.rank()); i < in.extra_start[row + 1];
         i += static_cast<std::uint32_t>(group.size()))
      keys[atomicAdd(cursor, 1u)] = in.extra[i];
  group.wait();
  const auto count = static_cast<int>(*cursor);
  int room = 1;
  while (room < count) room *= 2;
  for (int i = count + group.rank(); i < room; i += group.size()) keys[i] = nobody;
  sort_keys(group, keys, room);
  int found = 0;
  for (int base = 0; base < count; base += group.size()) {
    const int i = base + group.rank();
    const bool fresh = i < count && (i == 0 || keys[i] != keys[i - 1]);
    int total;
    const int before = count_before(group, fresh, total);
    if (fresh) columns[found + before] = keys[i];
    found += total;
  }
  group.wait();  // the keys are free for the next row
  return found;
}

/// Where columns of rows go until their number is known.
struct ColumnLists {
  const std::uint32_t* piece_start;
  std::int32_t* columns;
  std::int32_t* length;
  __device__ std::int32_t* of(std::int32_t row) const {
    return columns + static_cast<std::int64_t>(piece_start[row]) * piece;
  }
};

__global__ void __launch_bounds__(32 * list_warps) list_by_warps(PatternInput in, ColumnLists out) {
  VSR_SHARED std::int32_t keys[list_warps][most_by_warp];
  VSR_SHARED unsigned cursor[list_warps];
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * list_warps + warp;
  if (i >= in.rows) return;
  const auto row = static_cast<std::int32_t>(i);
  if (candidates_of(in, row) > most_by_warp) return;
  const int found = list_columns(WarpGroup{}, in, row, keys[warp], &cursor[warp], out.of(row));
  if (threadIdx.x % 32 == 0) out.length[row] = found;
}

__global__ void __launch_bounds__(block_threads)
    list_by_blocks(PatternInput in, const std::int32_t* large, ColumnLists out) {
  VSR_SHARED std::int32_t keys[most_by_block];
  VSR_SHARED unsigned cursor;
  const std::int32_t row = large[blockIdx.x];
  if (candidates_of(in, row) > most_by_block) return;
  const int found = list_columns(BlockGroup{}, in, row, keys, &cursor, out.of(row));
  if (threadIdx.x == 0) out.length[row] = found;
}

__global__ void __launch_bounds__(scratch_threads)
    list_in_scratch(PatternInput in, const std::int32_t* large, std::int32_t count, std::int32_t* scratch,
                    std::int64_t room, ColumnLists out) {
  VSR_SHARED unsigned cursor;
  for (std::int32_t k = static_cast<std::int32_t>(blockIdx.x); k < count; k += static_cast<std::int32_t>(gridDim.x)) {
    const std::int32_t row = large[k];
    if (candidates_of(in, row) <= most_by_block) continue;
    const int found = list_columns(BlockGroup{}, in, row, scratch + blockIdx.x * room, &cursor, out.of(row));
    if (threadIdx.x == 0) out.length[row] = found;
  }
}

/// Brings the columns from their lists to the slices, a thread per place.
__global__ void slice_columns(SlicedView rows, ColumnLists lists, std::int32_t* column) {
  const std::int64_t p = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const std::int64_t slice = p / slice_rows;
  if (slice >= rows.slices) return;
  const std::int32_t row = rows.row[p], length = rows.length[p];
  if (row < 0) return;
  const std::int32_t* source = lists.of(row);
  std::int32_t* target = column + static_cast<std::int64_t>(rows.slice_first[slice]) * slice_rows + p % slice_rows;
  for (std::int32_t k = 0; k < length; ++k) target[static_cast<std::int64_t>(k) * slice_rows] = source[k];
}

__global__ void pad_rows(SlicedView rows, std::int32_t* column) {
  const std::int64_t p = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const std::int64_t slice = p / slice_rows;
  if (slice >= rows.slices) return;
  const std::int32_t row = rows.row[p] < 0 ? 0 : rows.row[p];
  const auto width = static_cast<std::int32_t>(rows.slice_first[slice + 1] - rows.slice_first[slice]);
  for (std::int32_t k = rows.length[p]; k < width; ++k)
    column[(static_cast<std::int64_t>(rows.slice_first[slice]) + k) * slice_rows + p % slice_rows] = row;
}

/// Lengths of the rows of equations, a thread per place of the node pattern.
__global__ void measure_equations(SlicedView nodes, const std::int32_t* first_equation, std::int32_t* length) {
  const std::int64_t p = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const std::int64_t slice = p / slice_rows;
  if (slice >= nodes.slices) return;
  const std::int32_t node = nodes.row[p];
  if (node < 0) return;
  std::int32_t sum = 0;
  for (std::int32_t k = 0; k < nodes.length[p]; ++k) {
    const std::int32_t other =
        nodes.column[(static_cast<std::int64_t>(nodes.slice_first[slice]) + k) * slice_rows + p % slice_rows];
    sum += first_equation[other + 1] - first_equation[other];
  }
  for (std::int32_t i = first_equation[node]; i < first_equation[node + 1]; ++i) length[i] = sum;
}

/// Columns of the rows of equations, a thread per place of the node pattern.
__global__ void expand_columns(SlicedView nodes, const std::int32_t* first_equation, SlicedView rows,
                               std::int32_t* column, std::int32_t* offset) {
  const std::int64_t p = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const std::int64_t slice = p / slice_rows;
  if (slice >= nodes.slices) return;
  const std::int32_t node = nodes.row[p], length = nodes.length[p];
  const auto width = static_cast<std::int32_t>(nodes.slice_first[slice + 1] - nodes.slice_first[slice]);
  std::int32_t before = 0;
  for (std::int32_t k = 0; k < width; ++k) {
    const std::int64_t at = (static_cast<std::int64_t>(nodes.slice_first[slice]) + k) * slice_rows + p % slice_rows;
    offset[at] = k < length ? before : -1;
    if (k >= length) continue;
    const std::int32_t other = nodes.column[at];
    const std::int32_t first = first_equation[other], count = first_equation[other + 1] - first;
    for (std::int32_t i = first_equation[node]; i < first_equation[node + 1]; ++i) {
      const std::int32_t place = rows.place[i];
      const std::int64_t cell = static_cast<std::int64_t>(rows.slice_first[place / slice_rows]) + before;
      for (std::int32_t j = 0; j < count; ++j) column[(cell + j) * slice_rows + place % slice_rows] = first + j;
    }
    before += count;
  }
}

Grid grid_of_places(const SlicedRows& rows) { return grid_for(static_cast<std::int64_t>(rows.slices) * slice_rows); }

/// The extra columns as rows on the device.
struct ExtraColumns {
  Array<std::uint32_t> start;
  Array<std::int32_t> column;
  ExtraColumns(const std::shared_ptr<DeviceMemory>& memory, std::int32_t rows, const NodePairs& pairs) {
    if (pairs.empty()) return;
    start = Array<std::uint32_t>(memory, static_cast<std::size_t>(rows) + 1);
    column = Array<std::int32_t>(memory, pairs.size());
    const auto s = start.write_host();
    const auto c = column.write_host();
    std::size_t k = 0;
    for (std::int32_t row = 0; row <= rows; ++row) {
      while (k < pairs.size() && pairs[k].first < row) ++k;
      s[static_cast<std::size_t>(row)] = static_cast<std::uint32_t>(k);
    }
    for (std::size_t i = 0; i < pairs.size(); ++i) c[i] = pairs[i].second;
  }
};

/// Lists the columns of all rows.
void list_rows(const PatternInput& in, const ColumnLists& out, const Array<std::int32_t>& large, std::uint32_t most,
               const std::shared_ptr<DeviceMemory>& memory) {
  const cudaStream_t stream = stream_of(memory);
  launch(list_by_warps, Grid{(in.rows + list_warps - 1) / list_warps, 32 * list_warps, 0}, stream, in, out);
  if (large.empty()) return;
  const auto count = static_cast<std::int32_t>(large.size());
  launch(list_by_blocks, Grid{count, block_threads, 0}, stream, in, large.read_device(), out);
  if (most <= most_by_block) return;
  const auto room = static_cast<std::int64_t>(std::bit_ceil(most));
  Array<std::int32_t> scratch(memory, static_cast<std::size_t>(room) * scratch_blocks);
  launch(list_in_scratch, Grid{scratch_blocks, scratch_threads, 0}, stream, in, large.read_device(), count,
         scratch.write_device(), room, out);
}

}  // namespace

void pad_columns(SlicedRows& rows, cudaStream_t stream) {
  launch(pad_rows, grid_of_places(rows), stream, rows.view(), rows.column.update_device());
}

SlicedRows make_node_pattern(const DeviceModel& model, int device, const NodePairs& extra) {
  const DeviceModel::Part& part = model.part(device);
  const auto& memory = model.layout()->memory(device);
  const cudaStream_t stream = stream_of(memory);
  const std::int32_t owned = part.owned_nodes;
  ModelPlans& plans = ModelPlans::of(model);
  std::vector<const NodeGather*> gathers;
  std::vector<const ElementBatch*> batches;
  for (std::size_t b = 0; b < part.batches.size(); ++b) {
    if (!has_matrix(part.batches[b])) continue;
    gathers.push_back(&plans.gather(device, static_cast<int>(b)));
    batches.push_back(&part.batches[b]);
  }
  Array<BatchIncidence> table(memory, batches.size());
  const ExtraColumns columns(memory, owned, extra);
  if (!batches.empty()) {
    std::vector<BatchIncidence> entries;
    {
      DeviceSection section(*memory);
      for (std::size_t b = 0; b < batches.size(); ++b)
        entries.push_back({batches[b]->nodes.read_device(), gathers[b]->start.read_device(),
                           gathers[b]->incidence.read_device(), batches[b]->program->nodes()});
    }
    std::copy(entries.begin(), entries.end(), table.write_host().begin());
  }

  DeviceSection section(*memory);
  PatternInput in;
  in.rows = owned;
  in.batches = static_cast<int>(batches.size());
  in.batch = table.read_device();
  in.extra_start = columns.start.read_device();
  in.extra = columns.column.read_device();
  const auto rows = static_cast<std::size_t>(owned);
  Array<std::uint32_t> piece_start(memory, rows + 1), large_before(memory, rows + 1), most(memory, 1);
  std::uint32_t* pieces = piece_start.write_device();
  std::uint32_t* before = large_before.write_device();
  fill_bytes_async(most.write_device(), 0, most.bytes(), stream);
  launch(measure_rows, grid_for(owned), stream, in, pieces, before, most.update_device());
  exclusive_sums(pieces, owned, memory);
  exclusive_sums(before, owned, memory);
  const std::uint32_t large_rows = fetch(memory, before + owned);
  Array<std::int32_t> large(memory, large_rows);
  if (large_rows > 0) launch(list_large, grid_for(owned), stream, owned, before, large.write_device());

  Array<std::int32_t> lists(memory, static_cast<std::size_t>(fetch(memory, pieces + owned)) * piece);
  Array<std::int32_t> length(memory, rows);
  const ColumnLists out{pieces, lists.write_device(), length.write_device()};
  list_rows(in, out, large, large_rows > 0 ? fetch(memory, most.read_device()) : 0, memory);
  SlicedRows sliced = make_slices(memory, owned, length.read_device());
  std::int32_t* column = sliced.column.write_device();
  launch(slice_columns, grid_of_places(sliced), stream, sliced.view(), out, column);
  pad_columns(sliced, stream);
  return sliced;
}

SlicedRows expand_pattern(const DeviceModel& model, int device, const SlicedRows& nodes, Array<std::int32_t>& offset) {
  const DeviceModel::Part& part = model.part(device);
  const auto& memory = model.layout()->memory(device);
  const cudaStream_t stream = stream_of(memory);
  const std::int32_t equations = model.layout()->owned(device);
  DeviceSection section(*memory);
  const std::int32_t* first_equation = part.first_equation.read_device();
  Array<std::int32_t> length(memory, static_cast<std::size_t>(equations));
  launch(measure_equations, grid_of_places(nodes), stream, nodes.view(), first_equation, length.write_device());
  SlicedRows rows = make_slices(memory, equations, length.read_device());
  offset = Array<std::int32_t>(memory, nodes.room());
  std::int32_t* column = rows.column.write_device();
  launch(expand_columns, grid_of_places(nodes), stream, nodes.view(), first_equation, rows.view(), column,
         offset.write_device());
  pad_columns(rows, stream);
  return rows;
}

}  // namespace voussoir::cuda
