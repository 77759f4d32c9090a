#pragma once
#include <limits>

namespace voussoir::detail {

/// A value that is not known.
inline constexpr double nan = std::numeric_limits<double>::quiet_NaN();

}  // namespace voussoir::detail
