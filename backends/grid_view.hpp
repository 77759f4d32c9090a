#pragma once

// The arguments of kernels over the nodes of a grid, on the host and on devices. Kernels that are compiled at run time
// include this, so it needs nothing of the standard library.

namespace voussoir {

/// What holds at one side of a grid.
enum class GridSideKind : int {
  none,        ///< the axis has one node only: there is no side
  periodic,    ///< the first and the last node of a line are neighbours
  prescribed,  ///< the value at the nodes of the side is given
  slope        ///< the derivative along the outward normal is given
};

/// A side of a grid on a device.
struct GridSideView {
  GridSideKind kind = GridSideKind::none;  ///< what holds there
  double value = 0;                        ///< the prescribed value or slope, where it is the same on the whole side
  /// Values at the nodes of the side, where they differ: at j + ny·k of a side across x, i + nx·k across y,
  /// i + nx·j across z. Null: `value` everywhere.
  const double* values = nullptr;
};

/// The part of a grid that a device has: whole planes across the last axis that has more than one node. Nodes are
/// ordered by x, then y, then z; entries of vectors are those of the device's own planes, followed by ghosts.
struct GridView {
  int nodes[3] = {1, 1, 1};              ///< nodes of the whole grid along x, y, z
  double origin[3] = {0, 0, 0};          ///< position of node (0, 0, 0)
  double spacing[3] = {1, 1, 1};         ///< distance of neighbouring nodes
  double inverse_square[3] = {0, 0, 0};  ///< 1 / spacing²; 0 along an axis with one node
  int split_axis = 0;                    ///< axis across which the planes lie
  int first_plane = 0;                   ///< first plane of this device
  int plane_count = 1;                   ///< planes of this device
  long long plane_nodes = 1;             ///< nodes of a plane
  long long below = -1;                  ///< entry at which the plane before the first one begins; −1: none
  long long above = -1;                  ///< entry at which the plane after the last one begins; −1: none
  GridSideView side[6];                  ///< lower and upper side across x, y, z
};

/// Largest size of the parameters of a grid kernel, in bytes.
inline constexpr int grid_parameter_bytes = 256;
/// Most fields that a grid kernel reads.
inline constexpr int grid_fields = 4;

/// What a kernel over the nodes of a grid is given. It writes
///
///   out = from_field · field 0 + factor · value + keep · out
///
/// with the value of the kernel at each node, which counts as zero at prescribed nodes. Terms with a factor of zero are
/// left out, even where they are NaN.
struct GridJob {
  GridView grid;                           ///< the nodes
  double time = 0;                         ///< for kernels that depend on time
  double step = 0;                         ///< time step, for kernels that use it
  const double* fields[grid_fields] = {};  ///< values at the nodes; neighbours only of the first field
  double from_field = 0;                   ///< factor of the first field
  double factor = 1;                       ///< factor of the kernel's value
  double keep = 0;                         ///< factor of what is in `out`
  double* out = nullptr;                   ///< the result, at the device's own nodes
  alignas(16) unsigned char parameters[grid_parameter_bytes] = {};  ///< the kernel's Parameters
};

/// Whether a node lies on a prescribed side.
constexpr bool is_prescribed(const GridView& grid, int i, int j, int k) {
  const int at[3] = {i, j, k};
  for (int a = 0; a < 3; ++a) {
    if (at[a] == 0 && grid.side[2 * a].kind == GridSideKind::prescribed) return true;
    if (at[a] == grid.nodes[a] - 1 && grid.side[2 * a + 1].kind == GridSideKind::prescribed) return true;
  }
  return false;
}

/// Where the value of a node is among the values of a side across `axis`.
constexpr long long place_on_side(const GridView& grid, int axis, int i, int j, int k) {
  if (axis == 0) return j + static_cast<long long>(grid.nodes[1]) * k;
  return i + static_cast<long long>(grid.nodes[0]) * (axis == 1 ? k : j);
}

/// The prescribed value or slope of a side at one of its nodes.
constexpr double value_on_side(const GridView& grid, int side, int i, int j, int k) {
  const GridSideView& it = grid.side[side];
  return it.values ? it.values[place_on_side(grid, side / 2, i, j, k)] : it.value;
}

}  // namespace voussoir
