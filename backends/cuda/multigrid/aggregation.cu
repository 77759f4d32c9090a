#include <voussoir/backends/cuda/multigrid/block_norms.hpp>
#include <voussoir/backends/cuda/multigrid/long_rows.hpp>
#include <voussoir/backends/cuda/multigrid/services.hpp>
#include <voussoir/backends/cuda/primitives/scan.hpp>
#include <voussoir/backends/detail/aggregation_rules.hpp>

// Groups of strongly connected nodes. Roots are chosen in rounds (Luby 1986, for sets in which any two are more than
// two steps apart: Bell, Dalton and Olson 2012); what a round decides depends on the round before alone.

namespace voussoir::cuda {

namespace {

using voussoir::detail::RootStatus;
using Word = unsigned long long;

constexpr int threads = 256;
constexpr int warps = threads / 32;
/// Lanes that look at the neighbours of a node.
constexpr int lanes = 8;
constexpr int nodes_of_block = threads / lanes;
/// A node with more strong neighbours is too much for them where neighbours are looked at again and again.
constexpr std::int64_t many_neighbours = 256;
constexpr std::int32_t no_group = INT32_MAX;

/// Nodes and their strong neighbours.
struct StrongView {
  std::int32_t nodes = 0;
  const std::int64_t* start = nullptr;
  const std::int32_t* neighbour = nullptr;
  __device__ std::int64_t length(std::int64_t node) const { return start[node + 1] - start[node]; }
};

/// Marks the strong blocks of each row and counts them, a warp per row; the word of a node that is tied to nothing says
/// so. Columns beyond the rows are those of other devices.
__global__ void __launch_bounds__(threads)
    measure_strength(LevelPattern rows, int size, const double* value, const double* norm, double threshold,
                     std::uint8_t* strong, std::int64_t* count, Word* word) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * warps + threadIdx.x / 32;
  if (row >= rows.rows) return;  // whole warps
  const std::int64_t start = rows.start[row];
  const std::int32_t n = rows.length(row);
  const double* own = value + start * (size * size);
  bool tied = false;
  int found = 0;
  for (std::int32_t k = lane; k < n; k += 32) {
    const std::int32_t other = rows.column[start + k];
    if (other >= rows.rows) {
      strong[start + k] = 0;
      continue;
    }
    const double sum = block_norm2(own + static_cast<std::int64_t>(k) * size, n, size);
    const bool is_strong = other != row && voussoir::detail::is_strong(sum, norm[row], norm[other], threshold);
    tied = tied || (other != row && voussoir::detail::is_tied(sum, norm[row], norm[other]));
    strong[start + k] = is_strong ? 1 : 0;
    found += is_strong ? 1 : 0;
  }
  for (int step = 16; step > 0; step /= 2) found += __shfl_xor_sync(0xffffffffu, found, step);
  tied = __any_sync(0xffffffffu, tied ? 1 : 0) != 0;
  if (lane != 0) return;
  count[row] = found;
  word[row] =
      voussoir::detail::root_word(tied ? RootStatus::undecided : RootStatus::out, static_cast<std::uint32_t>(row));
}

/// Lists the strong neighbours, in the order of the columns, a warp per row.
__global__ void __launch_bounds__(threads)
    list_strong(LevelPattern rows, const std::uint8_t* strong, const std::int64_t* start, std::int32_t* neighbour) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * warps + threadIdx.x / 32;
  if (row >= rows.rows) return;  // whole warps
  const std::int64_t first = rows.start[row];
  const std::int32_t n = rows.length(row);
  std::int64_t at = start[row];
  for (std::int32_t base = 0; base < n; base += 32) {
    const bool yes = base + lane < n && strong[first + base + lane] != 0;
    const unsigned votes = __ballot_sync(0xffffffffu, yes ? 1 : 0);
    if (yes) neighbour[at + __popc(votes & ((1u << lane) - 1u))] = rows.column[first + base + lane];
    at += __popc(votes);
  }
}

__device__ bool is_undecided(Word word) { return voussoir::detail::root_status(word) == RootStatus::undecided; }

/// The largest word of a node and its strong neighbours, in each of its lanes, or 0 where nobody is `looking`. All
/// lanes of the warp call.
__device__ Word largest_beside(const StrongView& graph, std::int64_t node, bool looking, int lane, const Word* word) {
  Word largest = 0;
  if (looking) {
    largest = word[node];
    for (std::int64_t k = graph.start[node] + lane; k < graph.start[node + 1]; k += lanes) {
      const Word other = word[graph.neighbour[k]];
      largest = other > largest ? other : largest;
    }
  }
  for (int step = lanes / 2; step > 0; step /= 2) {
    const Word other = __shfl_xor_sync(0xffffffffu, largest, step);
    largest = other > largest ? other : largest;
  }
  return largest;
}

/// The largest word within a step of each node. A root stays one, and where all are out nothing changes any more.
__global__ void __launch_bounds__(threads) look_beside(StrongView graph, const Word* word, Word* beside) {
  const int lane = static_cast<int>(threadIdx.x) % lanes;
  const std::int64_t node = static_cast<std::int64_t>(blockIdx.x) * nodes_of_block + threadIdx.x / lanes;
  const bool looking = node < graph.nodes && is_undecided(beside[node]);
  const Word largest = largest_beside(graph, node, looking, lane, word);
  if (lane == 0 && looking) beside[node] = largest;
}

/// Decides what can be decided; *undecided is set where something cannot.
__global__ void __launch_bounds__(threads)
    decide(StrongView graph, const Word* beside, Word* word, std::uint32_t* undecided) {
  const int lane = static_cast<int>(threadIdx.x) % lanes;
  const std::int64_t node = static_cast<std::int64_t>(blockIdx.x) * nodes_of_block + threadIdx.x / lanes;
  const bool looking = node < graph.nodes && is_undecided(word[node]);
  const Word largest = largest_beside(graph, node, looking, lane, beside);
  if (lane != 0 || !looking) return;
  const Word next = voussoir::detail::next_root_word(word[node], largest, static_cast<std::uint32_t>(node));
  word[node] = next;
  if (is_undecided(next)) *undecided = 1;  // all write the same
}

__global__ void __launch_bounds__(threads) mark_roots(std::int32_t nodes, const Word* word, std::uint32_t* root) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
  if (i < nodes) root[i] = voussoir::detail::root_status(word[i]) == RootStatus::root ? 1 : 0;
}

/// The groups of roots and of the nodes beside them, the lowest where there are several; a thread per node.
__global__ void __launch_bounds__(threads)
    join_roots(StrongView graph, const std::uint32_t* roots_before, std::int32_t* joined) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
  if (i >= graph.nodes) return;
  const auto group_of = [&](std::int64_t node) {
    return roots_before[node + 1] != roots_before[node] ? static_cast<std::int32_t>(roots_before[node]) : -1;
  };
  std::int32_t group = group_of(i);
  for (std::int64_t k = graph.start[i]; group < 0 && k < graph.start[i + 1]; ++k)
    group = group_of(graph.neighbour[k]);  // neighbours ascend, and so do the numbers of groups
  joined[i] = group;
}

/// The lowest group above `last` among neighbours, and how many of them are in it.
struct NextGroup {
  std::int32_t group = no_group, count = 0;

  /// Looks at neighbours rank, rank + size, …
  __device__ void look(const StrongView& graph, std::int64_t node, const std::int32_t* joined, std::int32_t last,
                       int rank, int size) {
    for (std::int64_t k = graph.start[node] + rank; k < graph.start[node + 1]; k += size) {
      const std::int32_t found = joined[graph.neighbour[k]];
      if (found <= last || found > group) continue;
      count = found == group ? count + 1 : 1;
      group = found;
    }
  }
};

/// The groups of the nodes that are left, where most of their neighbours are. Groups are met in the order of their
/// numbers, each with a look at all neighbours, so that of those that tie the lowest stays.
__global__ void __launch_bounds__(threads)
    join_neighbours(StrongView graph, const std::int32_t* joined, std::int32_t* of_node) {
  const int lane = static_cast<int>(threadIdx.x) % lanes;
  const std::int64_t node = static_cast<std::int64_t>(blockIdx.x) * nodes_of_block + threadIdx.x / lanes;
  const bool there = node < graph.nodes;
  std::int32_t best = there ? joined[node] : 0, most = 0, last = -1;
  bool looking = best < 0 && graph.length(node) <= many_neighbours;
  while (__any_sync(0xffffffffu, looking ? 1 : 0)) {  // all lanes of the warp, for the sake of the shuffles
    NextGroup next;
    if (looking) next.look(graph, node, joined, last, lane, lanes);
    for (int step = lanes / 2; step > 0; step /= 2) {
      const std::int32_t group = __shfl_xor_sync(0xffffffffu, next.group, step);
      const std::int32_t count = __shfl_xor_sync(0xffffffffu, next.count, step);
      next.count = group == next.group ? next.count + count : group < next.group ? count : next.count;
      next.group = group < next.group ? group : next.group;
    }
    looking = looking && next.group != no_group;
    if (looking && next.count > most) {
      best = next.group;
      most = next.count;
    }
    last = next.group;
  }
  if (lane == 0 && there) of_node[node] = best;
}

/// The same for nodes with many neighbours, a block of threads for each.
__global__ void __launch_bounds__(search_threads)
    join_many_neighbours(StrongView graph, const std::int32_t* joined, std::int32_t* of_node) {
  VSR_SHARED std::int32_t group, count;
  const auto left_over = [&](std::int64_t node) { return joined[node] < 0 && graph.length(node) > many_neighbours; };
  for_long_rows(graph.nodes, left_over, [&](std::int64_t node) {
    std::int32_t best = -1, most = 0, last = -1;
    do {
      if (threadIdx.x == 0) {
        group = no_group;
        count = 0;
      }
      __syncthreads();
      NextGroup own;
      own.look(graph, node, joined, last, static_cast<int>(threadIdx.x), search_threads);
      atomicMin(&group, own.group);
      __syncthreads();
      last = group;
      if (own.group == last) atomicAdd(&count, own.count);
      __syncthreads();
      if (last != no_group && count > most) {
        best = last;
        most = count;
      }
      __syncthreads();
    } while (last != no_group);
    if (threadIdx.x == 0) of_node[node] = best;
  });
}

/// The strong part of a matrix, and the words that its nodes start with.
struct StrongGraph {
  Array<std::int64_t> start;
  Array<std::int32_t> neighbour;
  Array<Word> word;
};

/// Inside a section; waits.
StrongGraph make_graph(const LevelMatrix& a, double threshold, const std::shared_ptr<DeviceMemory>& memory) {
  const cudaStream_t stream = stream_of(memory);
  const auto nodes = static_cast<std::size_t>(a.rows);
  const LevelPattern rows = pattern_of(a);
  const double* value = a.value.read_device();
  StrongGraph graph{Array<std::int64_t>(memory, nodes + 1), {}, Array<Word>(memory, nodes)};
  Array<double> norm(memory, nodes);
  Array<std::uint8_t> strong(memory, static_cast<std::size_t>(a.blocks()));
  std::int64_t* start = graph.start.write_device();
  enqueue_diagonal_norms(rows, a.height, value, norm.write_device(), stream);
  launch(measure_strength, grid_of_warps(a.rows, warps), stream, rows, a.height, value, norm.read_device(), threshold,
         strong.write_device(), start, graph.word.write_device());
  exclusive_sums(start, a.rows, memory);
  graph.neighbour = Array<std::int32_t>(memory, static_cast<std::size_t>(fetch_total(memory, start + a.rows)));
  launch(list_strong, grid_of_warps(a.rows, warps), stream, rows, strong.read_device(), start,
         graph.neighbour.write_device());
  return graph;
}

Grid grid_of_nodes(std::int32_t nodes) { return {(nodes + nodes_of_block - 1) / nodes_of_block, threads, 0}; }

/// Rounds until every node is a root or near one. Inside a section; waits in each round.
void choose_roots(const StrongView& graph, Word* word, const std::shared_ptr<DeviceMemory>& memory) {
  const cudaStream_t stream = stream_of(memory);
  const Grid grid = grid_of_nodes(graph.nodes);
  Array<Word> beside(memory, static_cast<std::size_t>(graph.nodes));
  Array<std::uint32_t> flag(memory, 1);
  std::uint32_t* undecided = flag.write_device();
  copy_async(beside.write_device(), word, beside.bytes(), stream);
  do {
    fill_bytes_async(undecided, 0, sizeof *undecided, stream);
    launch(look_beside, grid, stream, graph, word, beside.update_device());
    launch(decide, grid, stream, graph, beside.read_device(), word, undecided);
  } while (fetch_total(memory, undecided) != 0);
}

}  // namespace

Aggregates CudaMultigrid::aggregate(const LevelMatrix& a, double threshold) {
  voussoir::detail::require_own_rows(a, "aggregation");
  Aggregates groups;
  groups.of_node = array<std::int32_t>(a.rows);
  if (a.rows == 0) return groups;
  DeviceSection section(*memory());
  StrongGraph graph = make_graph(a, threshold, memory());
  const StrongView view{a.rows, graph.start.read_device(), graph.neighbour.read_device()};
  choose_roots(view, graph.word.update_device(), memory());

  auto roots = array<std::uint32_t>(a.rows + std::int64_t{1});
  auto joined = array<std::int32_t>(a.rows);
  std::uint32_t* roots_before = roots.write_device();
  const Grid grid = grid_for(a.rows, threads);
  launch(mark_roots, grid, stream(), a.rows, graph.word.read_device(), roots_before);
  exclusive_sums(roots_before, a.rows, memory());
  launch(join_roots, grid, stream(), view, roots_before, joined.write_device());
  launch(join_neighbours, grid_of_nodes(a.rows), stream(), view, joined.read_device(), groups.of_node.write_device());
  launch(join_many_neighbours, grid_of_search(a.rows), stream(), view, joined.read_device(),
         groups.of_node.update_device());
  groups.count = static_cast<std::int32_t>(fetch_total(memory(), roots_before + a.rows));
  return groups;
}

}  // namespace voussoir::cuda
