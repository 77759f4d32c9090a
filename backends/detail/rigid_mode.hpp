#pragma once
#include <voussoir/backends/detail/any_side.hpp>
#include <voussoir/backends/multigrid.hpp>

// What rigid-body modes are at one equation, for hosts and devices.

namespace voussoir::detail {

/// What an equation of this motion is in each of `modes` rigid-body modes, at a point (x, y, z) that is counted from
/// the centre and divided by `length`. A rotation moves points by ω × x, so that with x divided by a length ω itself,
/// which is what rotations of nodes get, is one over that length.
VSR_ANY_SIDE inline void rigid_mode(Motion motion, int modes, double x, double y, double z, double length,
                                    double* value) {
  for (int m = 0; m < modes; ++m) value[m] = 0;
  const bool solid = modes == 6, plane = modes == 3;
  switch (motion) {
    case Motion::nothing:
      return;
    case Motion::x:
      value[0] = 1;
      if (solid) value[4] = z;
      if (solid) value[5] = -y;
      if (plane) value[2] = -y;
      return;
    case Motion::y:
      if (modes > 1) value[1] = 1;
      if (solid) value[3] = -z;
      if (solid) value[5] = x;
      if (plane) value[2] = x;
      return;
    case Motion::z:
      if (modes > 3) value[2] = 1;
      if (solid) value[3] = y;
      if (solid) value[4] = -x;
      return;
    case Motion::rotation_x:
      if (solid) value[3] = 1 / length;
      return;
    case Motion::rotation_y:
      if (solid) value[4] = 1 / length;
      return;
    case Motion::rotation_z:
      if (solid) value[5] = 1 / length;
      if (plane) value[2] = 1 / length;
      return;
    case Motion::value:
      if (modes == 1) value[0] = 1;
      return;
  }
}

}  // namespace voussoir::detail
