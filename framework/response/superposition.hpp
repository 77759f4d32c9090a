#pragma once
#include <cmath>
#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include <voussoir/framework/response/modal_time_history.hpp>
#include <voussoir/framework/response/modal_values.hpp>

// Results over time, r(t) = Σ_i q_i(t) r_i, from the coordinates q and the modal values r of any quantity. Sizes that
// do not fit are Errors (misuse); values that are not finite are Errors (not_finite).

namespace voussoir {

/// The largest and the smallest value of a result over time, and the first times at which they occur.
struct Extremes {
  double maximum = 0;       ///< the largest value
  double maximum_time = 0;  ///< the first time of the largest value
  double minimum = 0;       ///< the smallest value
  double minimum_time = 0;  ///< the first time of the smallest value

  /// The value of greater magnitude, with its sign; the earlier one of two equal ones.
  Peak peak() const {
    const double high = std::abs(maximum), low = std::abs(minimum);
    return high > low || (high == low && maximum_time <= minimum_time) ? Peak{maximum, maximum_time}
                                                                       : Peak{minimum, minimum_time};
  }
};

/// The extremes of all entries over the times of the history. Uses all threads; needs memory for the extremes alone.
std::vector<Extremes> extremes(const CoordinateHistory& history, const ModalValues& values);

/// The extremes of a scalar that is not linear in the displacements, such as the Mises stress: entries belong together
/// in groups of `group` (6 for a stress tensor), and `scalar` computes it from a group at one time. The function is
/// called by several threads at once. Returns one set of extremes per group.
std::vector<Extremes> extremes_of(const CoordinateHistory& history, const ModalValues& values, std::size_t group,
                                  const std::function<double(std::span<const double>)>& scalar);

/// The histories of chosen entries, one after the other: result[k · times + t] for entries[k].
std::vector<double> histories(const CoordinateHistory& history, const ModalValues& values,
                              std::span<const std::size_t> entries);

/// All entries at one time of the history, given by its index.
std::vector<double> values_at(const CoordinateHistory& history, const ModalValues& values, std::size_t time_index);

}  // namespace voussoir
