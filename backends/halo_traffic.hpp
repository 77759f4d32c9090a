#pragma once
#include <cstdint>

namespace voussoir {

class Layout;

/// Halo values that devices exchanged, counted where they are copied.
struct HaloTraffic {
  std::int64_t exchanges = 0;  ///< times that ghosts of a vector were refreshed, where it has some
  std::int64_t bytes = 0;      ///< received by all devices together

  /// What was exchanged since an earlier count.
  HaloTraffic operator-(const HaloTraffic& earlier) const {
    return {exchanges - earlier.exchanges, bytes - earlier.bytes};
  }
  bool operator==(const HaloTraffic&) const = default;  ///< the same counts
};

/// What all backends of the process have exchanged so far. Differences between two calls are meaningful while no other
/// thread uses a backend with several devices.
HaloTraffic halo_traffic();
/// Adds to the count: for backends, at each exchange. Negative numbers take back what was only recorded for later.
void count_halo_traffic(const HaloTraffic& traffic);

/// Bytes that one exchange of a vector with `columns` columns moves: all ghosts of all devices. This is what a product
/// exchanges.
std::int64_t halo_bytes(const Layout& layout, int columns = 1);

}  // namespace voussoir
