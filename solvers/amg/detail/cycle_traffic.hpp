#pragma once
#include <cstdint>
#include <vector>

#include <voussoir/backends/halo_traffic.hpp>
#include <voussoir/solvers/amg/detail/divided_levels.hpp>

namespace voussoir::detail {

/// The halos that one cycle over divided levels exchanges, counted from the ghosts of each level: for vectors of one
/// column. `steps` are the smoothing steps of the divided levels. `product_bytes` is what a product with the SOE's own
/// matrix exchanges, which the finest level uses where it has no matrix of its own.
HaloTraffic divided_cycle_traffic(const DividedLevels& levels, bool k_cycle, const std::vector<int>& steps,
                                  std::int64_t product_bytes);

}  // namespace voussoir::detail
