#pragma once
#include <algorithm>

#include <voussoir/partition/process/engine.hpp>

namespace voussoir {

/// Processors that a process has to itself: its equal share of those that it has in common with other processes, at
/// least one.
inline int own_processors(const ProcessPlacement& placement) {
  return std::max(1, placement.processors / std::max(1, placement.sharers));
}

}  // namespace voussoir
