#pragma once
#include <chrono>

namespace voussoir {

/// Measures time since its construction, by a monotonic clock.
class Stopwatch {
 public:
  /// Wall-clock time since it was made.
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

}  // namespace voussoir
