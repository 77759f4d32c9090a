#pragma once
#include <memory>

#include <voussoir/backends/backend.hpp>
#include <voussoir/backends/grouped_dots.hpp>

namespace voussoir::cuda {

/// Grouped dot products of a backend's vectors.
std::unique_ptr<GroupedDots> make_grouped_dots(Backend& backend);

}  // namespace voussoir::cuda
