#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace voussoir {

/// While an object of this class exists, it determines the ranges of nodes that devices get in models made by its
/// thread. Without one, a DeviceModel divides its nodes into ranges with nearly equal numbers of equations.
///
///   const DeviceRanges ranges({0, 1200, 2500});   // device 0 owns the nodes 0 … 1199, device 1 those up to 2499
///   auto model = backend->make_model(description);
///
/// Ranges that do not fit the backend and the description are an Error (misuse) when the model is made.
class DeviceRanges {
 public:
  /// `first_node` has the first node of each device, in the order of the description, and the number of nodes.
  explicit DeviceRanges(std::vector<std::int32_t> first_node);
  ~DeviceRanges();
  DeviceRanges(const DeviceRanges&) = delete;
  DeviceRanges& operator=(const DeviceRanges&) = delete;

  /// The ranges that apply to this thread; empty if there are none.
  static std::span<const std::int32_t> current();

 private:
  std::vector<std::int32_t> first_node_;
  const DeviceRanges* outer_;
};

}  // namespace voussoir
