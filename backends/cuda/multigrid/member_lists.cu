#include <voussoir/backends/cuda/multigrid/member_lists.hpp>

#include <voussoir/backends/array.hpp>
#include <voussoir/backends/cuda/primitives/bitonic_sort.hpp>

// Lists that were filled in any order are sorted, so that what follows does not depend on it.

namespace voussoir::cuda {

namespace {

constexpr int threads = 128;
constexpr int most_in_shared = 2048;

/// A block of threads per list. Members differ from each other; where a list is too long for shared memory, the place
/// of each is how many are below it.
__global__ void __launch_bounds__(threads)
    sort_members(const std::int64_t* start, std::int32_t* list, std::int32_t* copy) {
  VSR_SHARED std::int32_t keys[most_in_shared];
  const std::int64_t first = start[blockIdx.x];
  const auto count = static_cast<std::int32_t>(start[blockIdx.x + 1] - first);
  std::int32_t* own = list + first;
  const auto rank = static_cast<std::int32_t>(threadIdx.x);
  if (count <= most_in_shared) {
    int room = 1;
    while (room < count) room *= 2;
    for (std::int32_t i = rank; i < room; i += threads) keys[i] = i < count ? own[i] : INT32_MAX;
    sort_keys(BlockGroup{}, keys, room);
    for (std::int32_t i = rank; i < count; i += threads) own[i] = keys[i];
    return;
  }
  for (std::int32_t i = rank; i < count; i += threads) copy[first + i] = own[i];
  __syncthreads();
  for (std::int32_t i = rank; i < count; i += threads) {
    const std::int32_t member = copy[first + i];
    std::int32_t below = 0;
    for (std::int32_t k = 0; k < count; ++k) below += copy[first + k] < member ? 1 : 0;
    own[below] = member;
  }
}

}  // namespace

void sort_lists(std::int32_t lists, const std::int64_t* start, std::int64_t members, std::int32_t* list,
                const std::shared_ptr<DeviceMemory>& memory) {
  Array<std::int32_t> copy(memory, static_cast<std::size_t>(members));
  launch(sort_members, Grid{lists, threads, 0}, stream_of(memory), start, list, copy.write_device());
}

}  // namespace voussoir::cuda
