#pragma once
#include <voussoir/backends/detail/checks.hpp>

namespace voussoir::cpu {

using detail::owned_entries;
using detail::require_alike;
using detail::require_layout;
using detail::same_shape;

}  // namespace voussoir::cpu
