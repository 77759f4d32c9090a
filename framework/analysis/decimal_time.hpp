#pragma once
#include <charconv>
#include <cmath>
#include <limits>
#include <system_error>

namespace voussoir {

/// A time without the rounding of the sums that led to it: the number with at most 12 significant digits that is within
/// 16 units in the last place of it, or the time itself where there is none. 49 · 0.02, 0.96 + 0.02 and 0.98 are the
/// same time then, and tables show 0.98.
inline double decimal_time(double time) {
  constexpr int digits = 12;
  if (!std::isfinite(time) || time == 0) return time;
  char text[40];
  const auto written = std::to_chars(text, text + sizeof(text), time, std::chars_format::scientific, digits - 1);
  double rounded = time;
  if (written.ec != std::errc() || std::from_chars(text, written.ptr, rounded).ec != std::errc()) return time;
  const double near = 16 * std::numeric_limits<double>::epsilon() * std::abs(time);
  return std::abs(rounded - time) <= near ? rounded : time;
}

}  // namespace voussoir
