#pragma once
#include <chrono>

namespace voussoir {

/// Measures time from its construction on, by a clock that nobody sets.
class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

}  // namespace voussoir
