#pragma once

#include <string>

#include <voussoir/framework/domain/domain.hpp>

// What the start of a transient analysis and its first step have in common.

namespace voussoir::detail {

/// The longest automatic step in which something may move for the first time, of the first step that was asked for.
inline constexpr double first_moving = 1.0 / 64;

/// Whether the domain has elements of a shape and formulation, such as ".hex20.reduced". Reduced integration of
/// quadratic shapes leaves motions without strain, and without mass, at its points.
inline bool has_elements(const Domain& domain, const std::string& shape) {
  for (std::size_t b = 0; b < domain.block_count(); ++b)
    if (domain.block(b).type().name().find(shape) != std::string::npos) return true;
  return false;
}

}  // namespace voussoir::detail
