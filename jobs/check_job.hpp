#pragma once
#include <array>
#include <functional>
#include <string>
#include <vector>

#include <voussoir/framework/io/job/job.hpp>
#include <voussoir/framework/mesh/mesh_quality.hpp>
#include <voussoir/jobs/memory_estimate.hpp>

// Checks of a job before it is solved: completeness, supports, mesh quality, memory.

namespace voussoir {

/// Something that a check found.
struct Finding {
  /// How serious it is.
  enum class Severity {
    error,    ///< the job cannot be solved as it is
    warning,  ///< it can, but the answer should not be trusted before this is understood
    hint      ///< for information
  } severity = Severity::hint;
  std::string kind;          ///< "inverted", "free motion", "duplicate elements", …
  std::string text;          ///< what is wrong and what to do
  std::string where;         ///< file and line, element, node or set; "" for the whole model
  std::vector<Id> elements;  ///< that it is about, the first hundred
  std::vector<Id> nodes;     ///< that it is about, the first hundred
};
std::string to_string(Finding::Severity severity);

/// How many there are of a kind.
struct Count {
  std::string name;        ///< of the kind: a type, a material, a set
  std::int64_t count = 0;  ///< its members
};

/// What a check saw of one domain of a job.
struct DomainCheck {
  std::int64_t nodes = 0;                                ///< all
  std::int64_t unused_nodes = 0;                         ///< that no element uses
  std::int64_t elements = 0;                             ///< of all blocks
  std::vector<Count> element_types;                      ///< in the order of first use
  std::vector<Count> materials;                          ///< elements of each
  std::vector<Count> node_sets, element_sets, surfaces;  ///< by name, with their sizes
  std::int64_t equations = 0;                            ///< multi-point equations
  std::int64_t parts = 0;                     ///< number of disconnected parts; 0 if the model could not be numbered
  std::array<double, 3> lower{}, upper{};     ///< the box around all nodes
  MeshQuality quality;                        ///< of the elements
  Id longest_element = 0, worst_element = 0;  ///< those that `quality` names
  ModelSize size;                             ///< basis of the memory estimate
  std::vector<MemoryEstimate> memory;         ///< per solver and storage
  std::string chosen_solver;                  ///< what solver `auto` would take, and why
};

/// What a check saw of one step.
struct StepCheck {
  std::string name;                          ///< of the step
  Procedure procedure = Procedure::statics;  ///< of the step
  std::size_t domain = 0;                    ///< index in CheckReport::domains
  std::int64_t prescribed = 0;               ///< prescribed unknowns
  std::int64_t unknowns = 0;                 ///< solved for; 0 where the model could not be numbered
  std::string loads;                         ///< "gravity, 2 pressures, 14 nodal loads"
};

/// The result of check_job(): sizes, steps and findings.
struct CheckReport {
  std::string name, title, source;   ///< as in Job
  std::vector<DomainCheck> domains;  ///< in the order of Job::domains
  std::vector<StepCheck> steps;      ///< in the order of Job::steps
  std::vector<Finding> findings;     ///< errors first
  std::vector<JobNote> notes;        ///< of the reader
  bool mesh_only = false;            ///< there was a mesh and nothing else: Job::mesh_only

  /// Whether nothing was found that keeps the job from being solved.
  bool can_run() const;
};

/// Looks at everything that can be known of a job without solving it: sizes, shapes of elements, elements that are
/// inside out, numbers that are missing, nodes that nothing uses, nodes at the same place that nothing joins, elements
/// that are duplicated, parts and motions that are not restrained in each step, memory. Problems become findings,
/// not an Error; only `progress` returning false is one (cancelled). The job's domains are given the supports of its
/// steps in turn.
CheckReport check_job(Job& job, const std::function<bool(const std::string& stage)>& progress = {});

/// The same as a JSON document; docs/command-line.md describes it.
std::string to_json(const CheckReport& report);

}  // namespace voussoir
