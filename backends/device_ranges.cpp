#include <voussoir/backends/device_ranges.hpp>

#include <utility>

namespace voussoir {

namespace {

thread_local const DeviceRanges* innermost_ranges = nullptr;

}  // namespace

DeviceRanges::DeviceRanges(std::vector<std::int32_t> first_node)
    : first_node_(std::move(first_node)), outer_(innermost_ranges) {
  innermost_ranges = this;
}

DeviceRanges::~DeviceRanges() { innermost_ranges = outer_; }

std::span<const std::int32_t> DeviceRanges::current() {
  if (!innermost_ranges) return {};
  return innermost_ranges->first_node_;
}

}  // namespace voussoir
