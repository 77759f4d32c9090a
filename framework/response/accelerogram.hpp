#pragma once
#include <span>
#include <string>
#include <vector>

#include <voussoir/framework/response/amplitude.hpp>

namespace voussoir {

/// The value of greatest magnitude of a history, with its sign, and the first time at which it occurs.
struct Peak {
  double value = 0;  ///< with its sign
  double time = 0;   ///< the first time at which the magnitude occurs
};

/// An acceleration over time, of the ground or of a floor: linear between its points, whose steps may be uneven, and
/// zero before the first and after the last of them. read_accelerogram() reads one from a file.
class Accelerogram {
 public:
  /// The acceleration with these values at these times. Throws Error (bad_input) with `name` if there are fewer than
  /// two points, if the two lists differ in length, if a number is not finite or if times do not increase.
  Accelerogram(std::vector<double> times, std::vector<double> values, const std::string& name = "accelerogram");
  /// Values at constant steps of time, the first of them at `start`.
  static Accelerogram evenly_spaced(double step, std::vector<double> values, double start = 0,
                                    const std::string& name = "accelerogram");

  std::span<const double> times() const { return times_; }            ///< strictly increasing
  std::span<const double> values() const { return values_; }          ///< one for each time
  double duration() const { return times_.back() - times_.front(); }  ///< from the first point to the last
  double at(double time) const;                                       ///< the acceleration at a time
  Peak peak() const;                                                  ///< the peak ground acceleration
  /// The acceleration multiplied by a factor, for example to change its unit.
  Accelerogram scaled(double factor) const;
  /// The acceleration `delay` later; earlier if that is negative.
  Accelerogram shifted(double delay) const;
  /// The same function of time, with jumps where it begins or ends with a value other than zero.
  Amplitude amplitude() const;

 private:
  std::vector<double> times_, values_;
};

}  // namespace voussoir
