#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

// The time of one operation of a machine as a function of its size: the building block of the cost model.

namespace voussoir {

/// The time of an operation on n units (entries of a vector, bytes of a copy, elements of a mesh) whose data occupy w
/// bytes:
///
///   T(n, w) = latency + ⌈n / s⌉ s · c(w)
///
/// It is the model of vector operations in "Models of GPU computing for difference schemes" (docs/cost_model.md), whose
/// term t_kernel + t_op ⌈n / s⌉ has t_op = s · c. There c is a number; here it depends on the working set w, since
/// caches make processors faster on small data: between two levels, log c is interpolated linearly in log w, and
/// outside of all levels c is that of the nearest one.
///
/// Where operations are queued, as on a GPU, the host starts the next one while the device still executes: then an
/// operation among others of its kind takes T(n, w) = max(latency, ⌈n / s⌉ s · c(w)).
///
/// The width s is the number of units in progress at once: threads in flight on a GPU, where a vector that is one entry
/// longer may cost another round of all threads. With s = 1 the time has no steps.
struct OperationCost {
  /// The rate of the operation at one size of its data.
  struct Level {
    double working_set = 0;       ///< bytes that the operation reads and writes
    double seconds_per_unit = 0;  ///< c at this working set
    double units = 0;             ///< units of the measurement; 0 if unknown
  };

  double latency = 0;          ///< seconds of a call that has nothing to do
  double width = 1;            ///< s: units in progress at once; at least 1
  std::vector<Level> levels;   ///< by ascending working set; at least one
  bool queued = false;         ///< whether the latency overlaps with the execution of earlier operations
  double noise = 0;            ///< relative difference of median and minimum of the measurements, the largest of all
  bool is_assumption = false;  ///< true for a built-in default, which nobody measured on this machine

  /// T(n, w). Zero units cost nothing, not even the latency.
  double seconds(double units, double working_set) const;
  /// T(n, w) without the latency.
  double work_seconds(double units, double working_set) const;
  /// c(w), the seconds per unit without latency and ceiling.
  double seconds_per_unit(double working_set) const;
  /// The last level's seconds per unit: what large data take.
  double streaming_rate() const;
  /// Seconds per unit in caches: the least of all levels whose work takes at least half of the latency. Below that,
  /// times do not show a rate. Nothing if no level does, or none is faster than streaming_rate() by a tenth.
  std::optional<double> cached_rate() const;
  /// The working set in bytes at which the rate changes from cached_rate() to streaming_rate(): where it passes their
  /// geometric mean. Nothing without a cached rate.
  std::optional<double> cache_bytes() const;
  /// Whether the last level's work takes at least half of the latency, so that streaming_rate() means something.
  bool resolved() const;
};

/// One measurement: the time of an operation on so many units.
struct CostSample {
  double units = 0;        ///< size of the operation
  double working_set = 0;  ///< bytes that it reads and writes
  double seconds = 0;      ///< the least of the repeated measurements
  double noise = 0;        ///< (median − minimum) / minimum of the repetitions
};

/// A straight line t = intercept + slope · n.
struct LineFit {
  double intercept = 0;  ///< not negative
  double slope = 0;      ///< not negative
  double deviation = 0;  ///< root mean square of the relative differences from the measurements
};
/// The line with the least relative differences, Σ ((a + b n_i − t_i) / t_i)², and a, b ≥ 0. Fewer than two different
/// sizes and times that are not positive numbers are an Error (bad_input).
LineFit fit_line(std::span<const CostSample> samples);

/// The cost of an operation from measurements at several sizes, in any order.
///
/// Noise on a shared machine only adds time, so a time counts no more than that of a larger size. The latency is the
/// intercept of a line through the four smallest sizes; each size then gives one level. Times that are not positive
/// numbers, and times that do not grow although the size does by a factor of 100 or more, are an Error (bad_input) that
/// starts with `name`: there is nothing to predict from them. `width` is the s of OperationCost.
OperationCost fit_operation(const std::string& name, std::vector<CostSample> samples, double width = 1);

/// The cost of an operation that is queued on a device: `launch` is the time between two launches by the host, and
/// `execution` are the times on the device alone, by size. Numbers that are not positive are an Error (bad_input) that
/// starts with `name`.
OperationCost queued_operation(const std::string& name, double launch, std::vector<CostSample> execution);

/// The width s for which t = a + b ⌈n / s⌉ fits the measurements best, among the multiples of `grain` up to half of the
/// largest size; 1 unless it fits clearly better (by 30 %) than a line without steps. The sizes should be spaced more
/// closely than the width that is looked for.
double fit_width(std::span<const CostSample> samples, double grain);

/// The deviation by which the paper judges its model: the root mean square of (t_i − T_i) / t_i over all measurements
/// t_i and predictions T_i. Lists of different lengths, empty ones and times that are not positive are an Error
/// (bad_input).
double normalised_deviation(std::span<const double> measured, std::span<const double> predicted);

}  // namespace voussoir
