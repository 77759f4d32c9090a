#pragma once
#include <memory>

#include <voussoir/backends/backend.hpp>
#include <voussoir/backends/grouped_dots.hpp>

namespace voussoir::cpu {

/// Grouped dot products of a backend's vectors: one parallel loop per device for all pairs.
std::unique_ptr<GroupedDots> make_grouped_dots(Backend& backend);

}  // namespace voussoir::cpu
