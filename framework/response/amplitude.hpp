#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace voussoir {

/// A piecewise linear function of time, or of frequency: the factor of a load. Before its first point and after its
/// last one it is constant, as *AMPLITUDE is. Two points at the same time are a jump.
///
///   const Amplitude ramp({{0, 0}, {0.5, 1}});
///   ramp.at(0.25);  // 0.5
class Amplitude {
 public:
  using Point = std::pair<double, double>;  ///< (time, value)

  /// The constant 1.
  Amplitude() : points_{{0, 1}} {}
  /// The function through these points. Throws Error (bad_input) with `name` if there is none, if a number is not
  /// finite, if a time is before the previous one, or if three points have the same time.
  explicit Amplitude(std::vector<Point> points, const std::string& name = "amplitude");

  /// The points, in the order of their times.
  std::span<const Point> points() const { return points_; }
  /// The value at a time; where the function jumps, the value after the jump.
  double at(double time) const;
  /// The value just before a time: that of at(), except where the function jumps.
  double before(double time) const;

 private:
  std::vector<Point> points_;
};

}  // namespace voussoir
