#pragma once
#include <charconv>
#include <cmath>
#include <limits>
#include <system_error>

namespace voussoir {

/// A time without the rounding errors of the sums that led to it: the number with at most 12 significant digits that
/// differs from it by at most 16 ε relative to the time, or the time itself if there is none. 49 · 0.02, 0.96 + 0.02
/// and 0.98 are then the same time, and tables show 0.98.
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
