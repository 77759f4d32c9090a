#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <voussoir/backends/device_model.hpp>

namespace voussoir {

/// How a model is distributed over the devices of its backend.
struct DeviceDistribution {
  /// What one device has.
  struct Device {
    std::int32_t nodes = 0;            ///< whose equations it owns
    std::int32_t equations = 0;        ///< that it owns
    std::int32_t ghost_nodes = 0;      ///< of other devices, of which it has copies
    std::int32_t ghost_equations = 0;  ///< their equations, received before a product
    std::int64_t elements = 0;         ///< computed here; those on a boundary are computed by several devices
    int neighbours = 0;                ///< devices from which it receives values
  };
  std::vector<Device> devices;         ///< in the order of the backend
  std::int64_t bytes_per_product = 0;  ///< received by all devices together before a product with one vector

  /// The largest number of owned equations divided by the mean.
  double imbalance() const;
  /// One line of text.
  std::string describe() const;
};

/// The distribution of a model.
DeviceDistribution device_distribution(const DeviceModel& model);

}  // namespace voussoir
