#pragma once
#include <cstdint>

namespace voussoir {

class Layout;

/// Halo values that devices exchanged, counted where they are copied.
struct HaloTraffic {
  std::int64_t exchanges = 0;  ///< how often the ghosts of a vector that has ghosts were refreshed
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
/// Adds to the count; backends call it at each exchange. Negative numbers subtract exchanges that were only recorded
/// for a later replay.
void count_halo_traffic(const HaloTraffic& traffic);

/// Bytes that one exchange of a vector with `columns` columns moves, for all ghosts of all devices. A product needs one
/// exchange.
std::int64_t halo_bytes(const Layout& layout, int columns = 1);

}  // namespace voussoir
