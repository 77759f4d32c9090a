#pragma once
#include <array>
#include <utility>

// The corners of a brick by their place in it.

namespace voussoir::detail {

/// The corner at (i, j, k), each 0 or 1, in the order of a hex8; with k = 0, of a quad4.
constexpr int corner_of(int i, int j, int k) { return 4 * k + (j == 0 ? i : 3 - i); }

/// Both corners of the n-th edge along an axis: n counts the positions of the other axes in binary, lower axis first.
constexpr std::pair<int, int> brick_edge(int axis, int n) {
  std::array<int, 3> o{};
  const int b = axis == 0 ? 1 : 0, c = axis == 2 ? 1 : 2;
  o[b] = n & 1, o[c] = n >> 1;
  const int from = corner_of(o[0], o[1], o[2]);
  o[axis] = 1;
  return {from, corner_of(o[0], o[1], o[2])};
}

}  // namespace voussoir::detail
