#pragma once
#include <memory>
#include <string>
#include <vector>

#include <voussoir/framework/analysis/probe.hpp>
#include <voussoir/framework/io/job/job.hpp>
#include <voussoir/jobs/summary.hpp>

// Results at the points and along the paths that a job asks for.

namespace voussoir::detail {

/// What was found along a path.
struct PathResult {
  std::size_t path = 0;  ///< of Job::paths
  std::vector<std::string> names;
  std::vector<ProbeValues> values;
  int outside = 0;  ///< points of the path that are in no element
};

class StepProbes {
 public:
  /// Points that are in none of the job's models are an Error with their distance; paths of which no point is,
  /// likewise.
  explicit StepProbes(const Job& job);

  bool empty() const { return locators_.empty(); }
  /// What the files of each path are called: "_path_A"; paths with the same name get numbers.
  std::vector<std::string> file_names() const;
  struct Found {
    std::vector<PointResult> points;
    std::vector<PathResult> paths;
  };
  /// Of the points and paths that lie in the model of the step.
  Found find(const JobStep& step, const StepResult& result) const;

 private:
  const Job& job_;
  std::vector<std::unique_ptr<PointLocator>> locators_;  // of each model
};

/// A path as a plot: stress (heat flux), displacements (temperature), forces and moments of lines, each in a panel.
std::string plot_of_path(const PathResult& path, const std::string& title, const Units& units);

}  // namespace voussoir::detail
