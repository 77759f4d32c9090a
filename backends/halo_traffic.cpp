#include <voussoir/backends/halo_traffic.hpp>

#include <atomic>

#include <voussoir/backends/layout.hpp>

namespace voussoir {

namespace {

std::atomic<std::int64_t> exchanges_counted{0}, bytes_counted{0};

}  // namespace

HaloTraffic halo_traffic() { return {exchanges_counted.load(), bytes_counted.load()}; }

void count_halo_traffic(const HaloTraffic& traffic) {
  exchanges_counted += traffic.exchanges;
  bytes_counted += traffic.bytes;
}

std::int64_t halo_bytes(const Layout& layout, int columns) {
  std::int64_t ghosts = 0;
  for (int d = 0; d < layout.devices(); ++d) ghosts += layout.ghosts(d);
  return ghosts * columns * static_cast<std::int64_t>(sizeof(double));
}

}  // namespace voussoir
