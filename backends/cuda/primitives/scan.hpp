#pragma once
#include <cstdint>
#include <memory>

#include <voussoir/backends/cuda/runtime/memory.hpp>

namespace voussoir::cuda {

/// values[i] = Σ of the values before i, in place, for `count` values on a device; values[count] gets the total, so
/// there is room for one more. Inside a section; only enqueued.
void exclusive_sums(std::uint32_t* values, std::int64_t count, const std::shared_ptr<DeviceMemory>& memory);
void exclusive_sums(std::int64_t* values, std::int64_t count, const std::shared_ptr<DeviceMemory>& memory);

}  // namespace voussoir::cuda
