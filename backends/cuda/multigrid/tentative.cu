#include <voussoir/backends/cuda/multigrid/level_rows.hpp>
#include <voussoir/backends/cuda/multigrid/member_lists.hpp>
#include <voussoir/backends/cuda/multigrid/services.hpp>
#include <voussoir/backends/cuda/primitives/reduction.hpp>
#include <voussoir/backends/cuda/primitives/scan.hpp>
#include <voussoir/backends/detail/aggregation_rules.hpp>

// The tentative prolongator: near-null vectors cut by groups, orthonormal on each.

namespace voussoir::cuda {

namespace {

constexpr int threads = 256;
constexpr int warps = 4;
/// Numbers of a group that fit in shared memory.
constexpr int room_of_group = 1280;

/// How many nodes each group has, and which nodes have a block at all.
__global__ void __launch_bounds__(threads)
    count_members(std::int32_t nodes, const std::int32_t* of_node, std::int64_t* blocks, unsigned long long* members) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
  if (i >= nodes) return;
  blocks[i] = of_node[i] >= 0 ? 1 : 0;
  if (of_node[i] >= 0) atomicAdd(&members[of_node[i]], 1ULL);
}

/// In any order: they are sorted next.
__global__ void __launch_bounds__(threads)
    list_members(std::int32_t nodes, const std::int32_t* of_node, const std::int64_t* start, unsigned* cursor,
                 std::int32_t* member, const std::int64_t* block, std::int32_t* column) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
  if (i >= nodes || of_node[i] < 0) return;
  const std::int32_t group = of_node[i];
  member[start[group] + atomicAdd(&cursor[group], 1u)] = static_cast<std::int32_t>(i);
  column[block[i]] = group;
}

struct BasisWork {
  std::int32_t groups = 0;
  int height = 1, modes = 1;
  const std::int64_t* start = nullptr;  // of groups
  const std::int32_t* member = nullptr;
  const std::int64_t* block = nullptr;  // per node, the number of its block
  const double* near_null = nullptr;
  double* value = nullptr;
  double* coarse = nullptr;
};

/// Makes the columns of a group orthonormal by Gram and Schmidt, twice over, since once leaves columns that are all but
/// dependent askew. A warp per group; each lane has its own rows, in shared memory where the group fits.
__global__ void __launch_bounds__(32 * warps) make_basis(BasisWork work) {
  VSR_SHARED double room[warps][room_of_group];
  const int lane = static_cast<int>(threadIdx.x) % 32, modes = work.modes;
  const std::int64_t group = static_cast<std::int64_t>(blockIdx.x) * warps + threadIdx.x / 32;
  if (group >= work.groups) return;  // whole warps
  const std::int64_t first = work.start[group];
  const auto rows = static_cast<std::int32_t>(work.start[group + 1] - first) * work.height;
  const bool fits = rows <= room_of_group / modes;
  double* kept = room[threadIdx.x / 32];
  double* factor = work.coarse + group * modes * modes;
  // A row of the tentative prolongator, which is row `source` of the near-null vectors.
  const auto place_of = [&](std::int32_t q, std::int64_t& source) {
    const std::int64_t node = work.member[first + q / work.height];
    source = (node * work.height + q % work.height) * modes;
    return work.value + (work.block[node] * work.height + q % work.height) * modes;
  };
  // Calls visit(a row as it is now) for the rows of this lane.
  const auto for_rows = [&](auto&& visit) {
    std::int64_t source;
    for (std::int32_t q = lane; q < rows; q += 32) visit(fits ? kept + q * modes : place_of(q, source));
  };
  for (std::int32_t q = lane; q < rows; q += 32) {
    std::int64_t source;
    double* row = place_of(q, source);
    if (fits) row = kept + q * modes;
    for (int c = 0; c < modes; ++c) row[c] = work.near_null[source + c];
  }
  for (int j = 0; j < modes; ++j) {
    double square = 0;
    for_rows([&](const double* row) { square += row[j] * row[j]; });
    const double before = sqrt(sum_of_warp(square));
    for (int pass = 0; pass < 2; ++pass)
      for (int i = 0; i < j; ++i) {
        double share = 0;
        for_rows([&](const double* row) { share += row[i] * row[j]; });
        share = sum_of_warp(share);
        for_rows([&](double* row) { row[j] -= share * row[i]; });
        if (lane == 0) factor[i * modes + j] = pass == 0 ? share : factor[i * modes + j] + share;
      }
    square = 0;
    for_rows([&](const double* row) { square += row[j] * row[j]; });
    const double after = sqrt(sum_of_warp(square));
    const bool dropped = voussoir::detail::is_dependent(after, before);
    const double scale = dropped ? 0 : 1 / after;
    for_rows([&](double* row) { row[j] = dropped ? 0 : row[j] * scale; });
    for (int i = j + lane; i < modes; i += 32) factor[i * modes + j] = i == j && !dropped ? after : 0;
  }
  if (!fits) return;
  for (std::int32_t q = lane; q < rows; q += 32) {
    std::int64_t source;
    double* row = place_of(q, source);
    for (int c = 0; c < modes; ++c) row[c] = kept[q * modes + c];
  }
}

}  // namespace

LevelMatrix CudaMultigrid::tentative(const Aggregates& groups, int height, int modes, const Array<double>& near_null,
                                     Array<double>& coarse) {
  require_small_blocks(height, modes);
  const auto nodes = static_cast<std::int32_t>(groups.of_node.size());
  const std::int64_t block = static_cast<std::int64_t>(height) * modes;
  if (static_cast<std::int64_t>(near_null.size()) != nodes * block)
    throw Error(ErrorCode::misuse, "tentative: " + std::to_string(near_null.size()) + " near-null numbers for " +
                                       std::to_string(nodes) + " nodes of " + std::to_string(height) + " × " +
                                       std::to_string(modes));
  LevelMatrix t;
  t.rows = nodes;
  t.columns = groups.count;
  t.height = height;
  t.width = modes;
  t.start = array<std::int64_t>(nodes + std::int64_t{1});
  coarse = array<double>(static_cast<std::int64_t>(groups.count) * modes * modes);

  DeviceSection section(*memory());
  auto group_start = array<std::int64_t>(groups.count + std::int64_t{1});
  auto cursor = array<unsigned>(groups.count);
  const std::int32_t* of_node = groups.of_node.read_device();
  std::int64_t* start = t.start.write_device();
  std::int64_t* members = group_start.write_device();
  unsigned* cursors = cursor.write_device();
  fill_bytes_async(members, 0, group_start.bytes(), stream());
  fill_bytes_async(cursors, 0, cursor.bytes(), stream());
  const Grid grid = grid_for(nodes, threads);
  launch(count_members, grid, stream(), nodes, of_node, start, reinterpret_cast<unsigned long long*>(members));
  exclusive_sums(start, nodes, memory());
  exclusive_sums(members, groups.count, memory());
  const std::int64_t grouped = fetch_total(memory(), start + nodes);
  t.column = array<std::int32_t>(grouped);
  t.value = array<double>(grouped * block);
  auto member = array<std::int32_t>(grouped);
  launch(list_members, grid, stream(), nodes, of_node, members, cursors, member.write_device(), start,
         t.column.write_device());
  sort_lists(groups.count, members, grouped, member.update_device(), memory());
  BasisWork work;
  work.groups = groups.count;
  work.height = height;
  work.modes = modes;
  work.start = members;
  work.member = member.read_device();
  work.block = start;
  work.near_null = near_null.read_device();
  work.value = t.value.write_device();
  work.coarse = coarse.write_device();
  launch(make_basis, grid_of_warps(groups.count, warps), stream(), work);
  return t;
}

}  // namespace voussoir::cuda
