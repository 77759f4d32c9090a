#pragma once
#include <functional>
#include <string>
#include <vector>

#include <voussoir/framework/response/accelerogram.hpp>
#include <voussoir/framework/response/amplitude.hpp>

namespace voussoir {

/// A motion at one time.
struct MotionAt {
  double displacement = 0;  ///< from the place at rest
  double velocity = 0;      ///< its first derivative
  double acceleration = 0;  ///< its second derivative
};

/// The value of an amplitude at a time for methods that sample it at the ends of steps: where it jumps at this time,
/// within rounding of the step, the mean of the values before and after the jump. With the mean a jump at the end of a
/// step costs no order of accuracy.
double sampled(const Amplitude& amplitude, double time, double step);

/// The motion whose acceleration is an amplitude, integrated exactly from rest at a time.
class IntegratedMotion {
 public:
  /// At rest in its place at the time `start`.
  explicit IntegratedMotion(const Amplitude& acceleration, double start = 0);
  /// At a time that is not before the start; earlier, the motion at the start.
  MotionAt at(double time) const;

 private:
  struct Point {
    double time, acceleration, velocity, displacement;
  };
  Amplitude acceleration_;
  std::vector<Point> points_;  // just after each point of the amplitude from the start on
};

/// How a support moves over time: factor of its prescribed value, with both derivatives.
class SupportMotion {
 public:
  /// Displacement, velocity and acceleration as functions of time.
  using Function = std::function<double(double time)>;

  /// At rest with the value 1.
  SupportMotion();
  /// A displacement that is linear between points. Its velocity jumps at the points, so that rates are differences over
  /// the step h of the analysis: v = (f(t+h) − f(t−h)) / 2h, a = (f(t+h) − 2 f(t) + f(t−h)) / h². A change of velocity
  /// ΔV is then an acceleration ΔV/h at one time. At the start the velocity is that after it, and the acceleration 0.
  static SupportMotion by_displacement(Amplitude displacement);
  /// From rest at the time `start` on, with this acceleration; integrated exactly.
  static SupportMotion by_acceleration(const Amplitude& acceleration, double start = 0);
  static SupportMotion by_acceleration(const Accelerogram& acceleration, double start = 0);  ///< likewise
  /// Three functions, which must be derivatives of each other. Throws Error (misuse) if one is empty.
  static SupportMotion by_functions(Function displacement, Function velocity, Function acceleration);

  /// The motion at a time, in an analysis that began at `start` and whose step is `step` > 0.
  /// `meets_kinks`: steps end at all its kinks, so that a change of velocity falls to that time alone.
  MotionAt at(double time, double step, double start, bool meets_kinks = false) const {
    return motion_(time, step, start, meets_kinks);
  }
  /// Whether it is at rest all the time.
  bool is_constant() const { return constant_; }
  /// Times at which it is not smooth, as far as they are known: the points of its amplitude.
  const std::vector<double>& kinks() const { return kinks_; }
  /// Times at which a displacement by points jumps. Temperatures may; supports of structures may not.
  const std::vector<double>& jumps() const { return jumps_; }

 private:
  std::function<MotionAt(double time, double step, double start, bool meets_kinks)> motion_;
  bool constant_ = false;
  std::vector<double> kinks_, jumps_;
};

}  // namespace voussoir
