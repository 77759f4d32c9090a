#pragma once
#include <cstddef>
#include <map>
#include <unordered_set>
#include <utility>

#include <voussoir/framework/analysis/results.hpp>
#include <voussoir/framework/io/job/job.hpp>
#include <voussoir/jobs/detail/restart_state.hpp>

namespace voussoir::detail {

/// The steps of a job that heat later ones, and the temperatures that were kept of them.
class HeatingSteps {
 public:
  /// Takes the temperatures that a restart file has. One that cannot be read is an Error (bad_input).
  explicit HeatingSteps(const Job& job) {
    for (const JobStep& step : job.steps)
      if (step.heated_by) heating_.insert(*step.heated_by);
    if (!job.restart) return;
    for (auto& found : RestartState::of(*job.restart).unknowns)
      if (heating_.contains(found.step)) heat_[found.step] = std::move(found.values);
  }

  /// Whether a step heats later ones.
  bool contains(std::size_t step) const { return heating_.contains(step); }
  /// Keeps the temperatures that a step has found, instead of those that were kept of it before.
  void keep(std::size_t step, NodalField temperatures) { heat_[step] = std::move(temperatures); }
  /// The temperatures that were kept of a step; null if there are none.
  const NodalField* find(std::size_t step) const {
    const auto found = heat_.find(step);
    return found != heat_.end() ? &found->second : nullptr;
  }

 private:
  std::unordered_set<std::size_t> heating_;
  std::map<std::size_t, NodalField> heat_;
};

}  // namespace voussoir::detail
