#pragma once
#include <algorithm>
#include <array>
#include <string>

namespace voussoir::detail {

/// The place of an unknown among ux, uy, uz, rx, ry, rz; 6 for any other.
inline int rigid_unknown(const std::string& name) {
  static const std::array<const char*, 6> names{"ux", "uy", "uz", "rx", "ry", "rz"};
  return static_cast<int>(std::find(names.begin(), names.end(), name) - names.begin());
}

/// What an unknown (rigid_unknown()) of a node at x does in a rigid motion: a translation along an axis for directions
/// 0 to 2, a rotation about one through the origin, ω × x, for 3 to 5.
inline double rigid_value(int unknown, int direction, const double* x) {
  if (direction < 3 || unknown >= 3) return unknown == direction ? 1 : 0;
  const int axis = direction - 3;
  if (unknown == (axis + 1) % 3) return -x[(axis + 2) % 3];
  if (unknown == (axis + 2) % 3) return x[(axis + 1) % 3];
  return 0;
}

}  // namespace voussoir::detail
