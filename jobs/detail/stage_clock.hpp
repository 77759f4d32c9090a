#pragma once
#include <algorithm>
#include <vector>

#include <voussoir/framework/analysis/analysis.hpp>
#include <voussoir/framework/analysis/stopwatch.hpp>

namespace voussoir::detail {

/// Adds up the time that work takes, by stage.
class StageClock {
 public:
  /// Does a part of the work and adds its time to those of its kind. Work that throws is not counted.
  template <class Work>
  void timed(const char* stage, Work work) {
    const Stopwatch watch;
    work();
    const auto same =
        std::find_if(stages_.begin(), stages_.end(), [&](const StageTime& t) { return t.stage == stage; });
    if (same == stages_.end())
      stages_.push_back({stage, watch.seconds()});
    else
      same->seconds += watch.seconds();
  }

  /// The stages in the order in which they were first finished, each with the sum of its times.
  const std::vector<StageTime>& times() const { return stages_; }

 private:
  std::vector<StageTime> stages_;
};

}  // namespace voussoir::detail
