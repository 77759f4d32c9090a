#pragma once
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <voussoir/framework/analysis/results.hpp>
#include <voussoir/framework/io/job/job.hpp>
#include <voussoir/jobs/summary.hpp>

// What a picture of a step shows, made of its results.

namespace voussoir::detail {

/// Temperatures that act in a step of statics, one for each node; empty where none do. `heat` are the temperatures of
/// the step that heats it, or null.
std::vector<double> acting_temperatures(const Job& job, const JobStep& step, const LoadCase* loads,
                                        const NodalField* heat);

/// Temperatures that act in a state of direct integration at this total time, likewise.
std::vector<double> acting_temperatures(const Job& job, const JobStep& step, double total_time);

/// Fields at nodes and at elements, and the ranges of what was recovered in elements.
struct StepFields {
  /// Some components of a nodal field as an array of a picture.
  struct Shown {
    std::string name;
    const NodalField* of;
    int first, count;
  };
  std::deque<NodalField> nodal;  // a deque, because `shown` and a writer point at them
  std::vector<Shown> shown;
  std::vector<std::pair<std::string, std::vector<double>>> cells;
  std::vector<Range> ranges;
  bool too_many_materials = false;  ///< for a nodal stress of each: elements have their means instead
};

/// Stress (flux) at nodes, averaged within each material: names end in the material's where there are several. With
/// `ranges_only` the fields are left out. The points of `result` are borrowed and given back.
StepFields make_step_fields(const Job& job, const JobStep& step, StepResult& result, bool ranges_only);

/// Mean of a value over the points of each element, block by block; NaN in elements that do not have it. Empty where
/// none has.
std::vector<double> element_means(const Domain& domain, const std::vector<PointField>& points, std::string_view name);
/// Whether the stress of each material for itself would be too many fields.
bool has_many_materials(const Domain& domain, const std::vector<PointField>& points);

}  // namespace voussoir::detail
