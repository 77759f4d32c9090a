#pragma once
#include <array>

namespace voussoir {

/// The directions of the axes 1, 2, 3 of an orthotropic material.
class Orientation {
 public:
  using Axes = std::array<double, 9>;  ///< the orthonormal vectors 1, 2, 3, by rows

  /// Constant axes: axis 1 along `a`, axis 2 in the plane of `a` and `b`.
  static Orientation rectangular(std::array<double, 3> a, std::array<double, 3> b);
  /// Axes that follow a cylinder about the line through `p` and `q`: axis 1 radial, axis 2 circumferential, axis 3
  /// along the line from `p` to `q`.
  static Orientation cylindrical(std::array<double, 3> p, std::array<double, 3> q);

  Orientation();  ///< the global axes
  /// This orientation rotated about its own axis 1, 2 or 3 by an angle in degrees.
  Orientation turned(int axis, double degrees) const;
  bool varies() const { return cylindrical_; }  ///< whether the axes depend on the position
  /// A point on the axis of the cylinder. Meaningful only if varies().
  const std::array<double, 3>& axis_point() const { return origin_; }
  /// The unit vector along the axis of the cylinder. Meaningful only if varies().
  const std::array<double, 3>& axis_direction() const { return axis_; }
  /// The axes at a position. On the axis of a cylinder they are undefined, which is an Error.
  Axes at(const std::array<double, 3>& position) const;

 private:
  bool cylindrical_ = false;
  Axes axes_;
  std::array<double, 3> origin_{0, 0, 0};
  std::array<double, 3> axis_{0, 0, 1};
  Axes turn_{1, 0, 0, 0, 1, 0, 0, 0, 1};  // of the axes, in their own directions
};

}  // namespace voussoir
