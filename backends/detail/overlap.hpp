#pragma once
#include <algorithm>
#include <cstdlib>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <voussoir/backends/device_model.hpp>

// Products with elements whose interior is computed while the values of other devices are on their way.

namespace voussoir::detail {

/// Which part of a product with elements is done: it may begin with what needs no values of other devices.
enum class ProductPhase { all, interior, rest };

/// Whether a dependent equation, or one of those that it depends on, is owned by another device.
inline bool needs_ghosts(const Dependency& dependency, std::int32_t owned) {
  return dependency.equation >= owned ||
         std::any_of(dependency.others.begin(), dependency.others.end(), [=](std::int32_t e) { return e >= owned; });
}

/// Per local node of a device, 1 where its values are those of another device, or depend on such values.
/// `first_equation` is that of the part, on the host.
inline std::vector<std::uint8_t> waiting_nodes(const DeviceModel& model, int device,
                                               std::span<const std::int32_t> first_equation) {
  const DeviceModel::Part& part = model.part(device);
  std::vector<std::uint8_t> waits(static_cast<std::size_t>(part.local_nodes), 0);
  std::fill(waits.begin() + part.owned_nodes, waits.end(), std::uint8_t{1});
  for (const Dependency& dependency : part.dependencies) {
    if (!needs_ghosts(dependency, model.layout()->owned(device))) continue;
    const auto after = std::upper_bound(first_equation.begin(), first_equation.end(), dependency.equation);
    waits[static_cast<std::size_t>(after - first_equation.begin() - 1)] = 1;
  }
  return waits;
}

/// What the user says of overlap: VOUSSOIR_OVERLAP=1 or 0, or VOUSSOIR_CUDA_OVERLAP, its name when only CUDA had it.
inline std::optional<bool> requested_overlap() {
  for (const char* name : {"VOUSSOIR_OVERLAP", "VOUSSOIR_CUDA_OVERLAP"})
    if (const char* value = std::getenv(name); value && *value) return std::string(value) != "0";
  return std::nullopt;
}

}  // namespace voussoir::detail
