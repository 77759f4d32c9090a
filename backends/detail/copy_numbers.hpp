#pragma once
#include <cstddef>

namespace voussoir::detail {

/// Copies numbers within host memory, by several threads where that is faster.
void copy_numbers(const double* from, std::size_t count, double* to);

}  // namespace voussoir::detail
