#pragma once
#include <cstdint>
#include <memory>

#include <voussoir/backends/cuda/runtime/memory.hpp>

namespace voussoir::cuda {

/// Sorts the members of each of `lists` lists, ascending; list i is list[start[i]] … list[start[i+1]]. Inside a
/// section; only enqueued.
void sort_lists(std::int32_t lists, const std::int64_t* start, std::int64_t members, std::int32_t* list,
                const std::shared_ptr<DeviceMemory>& memory);

}  // namespace voussoir::cuda
