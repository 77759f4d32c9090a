#pragma once
#include <voussoir/backends/detail/checks.hpp>

namespace voussoir::cpu {

using detail::owned_entries;
using detail::require_alike;
using detail::require_batch;
using detail::require_factors;
using detail::require_layout;
using detail::require_one_column;
using detail::require_own;

}  // namespace voussoir::cpu
