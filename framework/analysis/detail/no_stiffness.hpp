#pragma once
#include <limits>

namespace voussoir::detail {

/// What rounding leaves of the energy of a motion without stiffness, relative to that of the diagonal alone.
inline constexpr double no_stiffness = 32 * std::numeric_limits<double>::epsilon();

}  // namespace voussoir::detail
