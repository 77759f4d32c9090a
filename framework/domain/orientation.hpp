#pragma once
#include <array>

namespace voussoir {

/// Where the axes 1, 2, 3 of an orthotropic material point.
class Orientation {
 public:
  using Axes = std::array<double, 9>;  ///< unit vectors 1, 2, 3 by rows

  /// Everywhere the same: axis 1 along `a`, axis 2 in the plane of `a` and `b`.
  static Orientation rectangular(std::array<double, 3> a, std::array<double, 3> b);
  /// Around an axis through `p` and `q`: axis 1 radial, axis 2 circumferential, axis 3 along the axis.
  static Orientation cylindrical(std::array<double, 3> p, std::array<double, 3> q);

  Orientation();  ///< the global axes
  /// This orientation rotated about its own axis 1, 2 or 3 by an angle in degrees.
  Orientation turned(int axis, double degrees) const;
  bool varies() const { return cylindrical_; }  ///< whether the axes differ from place to place
  /// Of a cylindrical one: a point on its axis, and the direction of it.
  const std::array<double, 3>& axis_point() const { return origin_; }
  const std::array<double, 3>& axis_direction() const { return axis_; }  ///< of length 1
  Axes at(const std::array<double, 3>& position) const;                  ///< the axes at a place

 private:
  bool cylindrical_ = false;
  Axes axes_;
  std::array<double, 3> origin_{0, 0, 0};
  std::array<double, 3> axis_{0, 0, 1};
  Axes turn_{1, 0, 0, 0, 1, 0, 0, 0, 1};  // of the axes, in their own directions
};

}  // namespace voussoir
