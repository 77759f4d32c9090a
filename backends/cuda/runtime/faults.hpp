#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include <voussoir/backends/cuda/runtime/memory.hpp>
#include <voussoir/backends/device_model.hpp>

namespace voussoir::cuda {

/// A word in which kernels leave the lowest faulty element of a batch: element · 4 + fault, the least one wins;
/// `no_fault` where all is well. Elements are counted in the device's batch.
using FaultWord = unsigned long long;
inline constexpr FaultWord no_fault = ~0ULL;

/// Fault words for every batch of a model on every device, and their way back: the Error that the CPU would throw.
class FaultWords {
 public:
  explicit FaultWords(const DeviceModel& model);
  /// On the device.
  FaultWord* word(int device, int batch) const;
  /// Notes a fault that the host found (elements of route host).
  void note(int device, int batch, const ElementStatus& status);
  /// Waits for the devices; throws ElementError for the lowest element of the first faulty batch, and is clean again.
  void rethrow();

 private:
  const DeviceModel& model_;
  mutable std::vector<Array<FaultWord>> words_;
  std::vector<std::vector<FaultWord>> from_host_;
};

}  // namespace voussoir::cuda
