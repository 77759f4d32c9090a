#pragma once
#include <algorithm>
#include <cstdint>

#include <voussoir/backends/device_model.hpp>

namespace voussoir::detail {

/// Elements of a batch's description, on whichever devices they are.
inline std::int32_t described_elements(const DeviceModel& model, int batch_number) {
  std::int32_t count = 0;
  for (int d = 0; d < model.devices(); ++d) {
    const ElementBatch& batch = model.part(d).batches[static_cast<std::size_t>(batch_number)];
    if (batch.origin.empty())
      count = std::max(count, batch.element_count);
    else
      count = std::max(count, *std::max_element(batch.origin.begin(), batch.origin.end()) + 1);
  }
  return count;
}

}  // namespace voussoir::detail
