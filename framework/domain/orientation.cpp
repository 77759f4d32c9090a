#include <voussoir/framework/domain/orientation.hpp>

#include <cmath>
#include <numbers>
#include <string>

#include <voussoir/backends/error.hpp>

namespace voussoir {
namespace {

using V = std::array<double, 3>;
V minus(const V& a, const V& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }
double dot(const V& a, const V& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
V cross(const V& a, const V& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
V unit(const V& a, const char* what) {
  const double length = std::sqrt(dot(a, a));
  if (!(length > 1e-300)) throw Error(ErrorCode::bad_input, what, "orientation");
  return {a[0] / length, a[1] / length, a[2] / length};
}
Orientation::Axes rows(const V& a, const V& b, const V& c) {
  return {a[0], a[1], a[2], b[0], b[1], b[2], c[0], c[1], c[2]};
}
Orientation::Axes product(const Orientation::Axes& a, const Orientation::Axes& b) {
  Orientation::Axes c{};
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 3; ++k) c[3 * i + j] += a[3 * i + k] * b[3 * k + j];
  return c;
}

}  // namespace

Orientation::Orientation() : axes_{1, 0, 0, 0, 1, 0, 0, 0, 1} {}

Orientation Orientation::rectangular(V a, V b) {
  Orientation o;
  const V one = unit(a, "the first axis is zero");
  const V three = unit(cross(one, b), "the two vectors are parallel; give two that span a plane");
  o.axes_ = rows(one, cross(three, one), three);
  return o;
}

Orientation Orientation::cylindrical(V p, V q) {
  Orientation o;
  o.cylindrical_ = true;
  o.origin_ = p;
  o.axis_ = unit(minus(q, p), "the two points of the cylinder's axis are the same");
  return o;
}

Orientation::Axes Orientation::at(const V& position) const {
  if (!cylindrical_) return product(turn_, axes_);
  V radial = minus(position, origin_);
  const double along = dot(radial, axis_);
  for (int i = 0; i < 3; ++i) radial[i] -= along * axis_[i];
  const V one =
      unit(radial, "the centre of an element is on the axis of the cylinder, where the radial direction is undefined");
  return product(turn_, rows(one, cross(axis_, one), axis_));
}

Orientation Orientation::turned(int axis, double degrees) const {
  if (axis < 1 || axis > 3)
    throw Error(ErrorCode::bad_input, "there is no axis " + std::to_string(axis) + "; rotate about 1, 2 or 3",
                "orientation");
  const double angle = degrees * std::numbers::pi / 180, c = std::cos(angle), s = std::sin(angle);
  const int i = axis % 3, j = (axis + 1) % 3;  // the two axes that move
  Axes turn{1, 0, 0, 0, 1, 0, 0, 0, 1};
  turn[4 * i] = turn[4 * j] = c;
  turn[3 * i + j] = s;
  turn[3 * j + i] = -s;
  Orientation o = *this;
  o.turn_ = product(turn, turn_);
  return o;
}

}  // namespace voussoir
