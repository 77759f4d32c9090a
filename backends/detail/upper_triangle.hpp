#pragma once
#include <voussoir/backends/detail/any_side.hpp>

// Symmetric m × m matrices of elements are kept as their upper triangles, others whole, by rows.

namespace voussoir::detail {

/// Entry (r, s ≥ r) stands at triangle_row(r, m) + s.
template <class Index>
VSR_ANY_SIDE constexpr Index triangle_row(Index r, Index m) {
  return r * (m - 1) - r * (r - 1) / 2;
}

/// Where entry (r, s) stands, or (s, r), which is the same.
template <class Index>
VSR_ANY_SIDE constexpr Index triangle_entry(Index r, Index s, Index m) {
  return r < s ? triangle_row(r, m) + s : triangle_row(s, m) + r;
}

/// Where entry (r, s) of an element matrix stands, whole or as a triangle.
template <class Index>
VSR_ANY_SIDE constexpr Index matrix_entry(Index r, Index s, Index m, bool symmetric) {
  return symmetric ? triangle_entry(r, s, m) : r * m + s;
}

}  // namespace voussoir::detail
