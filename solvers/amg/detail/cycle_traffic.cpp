#include <voussoir/solvers/amg/detail/cycle_traffic.hpp>

namespace voussoir::detail {
namespace {

/// Bytes of one exchange of the ghosts of a level; values travel in double precision.
std::int64_t ghost_bytes(const DividedLevel& level, const NodeHalo& halo) {
  std::int64_t rows = 0;
  for (int d = 0; d < level.nodes.devices(); ++d)
    rows += halo.local_rows(d) - std::int64_t{level.nodes.owned(d)} * level.height;
  return rows * static_cast<std::int64_t>(sizeof(double));
}

/// An exchange without ghosts is not counted.
void add_exchanges(HaloTraffic& traffic, std::int64_t count, std::int64_t bytes) {
  if (bytes == 0) return;
  traffic.exchanges += count;
  traffic.bytes += count * bytes;
}

}  // namespace

HaloTraffic divided_cycle_traffic(const DividedLevels& levels, bool k_cycle, const std::vector<int>& steps,
                                  std::int64_t product_bytes) {
  HaloTraffic traffic;
  const std::size_t count = levels.levels().size();
  std::int64_t solutions = 1;  // of the level, in one cycle of the finest
  for (std::size_t l = 0; l < count; ++l) {
    const DividedLevel& level = levels.levels()[l];
    const DividedLevel& next = l + 1 < count ? levels.levels()[l + 1] : levels.gathered();
    const bool twice = k_cycle && l > 0;  // a K-cycle combines two cycles, with a product each
    const std::int64_t cycles = solutions * (twice ? 2 : 1);
    const std::int64_t bytes = l == 0 && levels.outside() ? product_bytes : ghost_bytes(level, *level.halo);
    // Steps before and after the correction, the first of them with x = 0, and the residual that is restricted.
    add_exchanges(traffic, cycles * (2 * steps[l] + (twice ? 1 : 0)), bytes);
    add_exchanges(traffic, cycles, ghost_bytes(level, *level.restriction_halo));
    add_exchanges(traffic, cycles, ghost_bytes(next, *next.halo));
    solutions = cycles;
  }
  return traffic;
}

}  // namespace voussoir::detail
