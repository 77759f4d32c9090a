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

/// A result of a check: an error, a warning or a hint.
struct Finding {
  /// How serious it is.
  enum class Severity {
    error,                      ///< the job cannot be solved as it is
    warning,                    ///< it can be solved, but the results may be wrong
    hint                        ///< for information
  } severity = Severity::hint;  ///< how serious it is
  std::string kind;             ///< "inverted", "free motion", "duplicate elements", …
  std::string text;             ///< what is wrong and what to do
  std::string where;            ///< file and line, element, node or set; "" for the whole model
  std::vector<Id> elements;     ///< the first hundred elements concerned
  std::vector<Id> nodes;        ///< the first hundred nodes concerned
};
/// "error", "warning" or "hint".
std::string to_string(Finding::Severity severity);

/// An element type, a material or a set, and its size.
struct Count {
  std::string name;        ///< name of the type, material or set
  std::int64_t count = 0;  ///< its elements, nodes or faces
};

/// Sizes and properties of one domain of a job.
struct DomainCheck {
  std::int64_t nodes = 0;              ///< all nodes
  std::int64_t unused_nodes = 0;       ///< nodes that no element uses
  std::int64_t elements = 0;           ///< elements of all blocks
  std::vector<Count> element_types;    ///< elements of each type, in the order of first use
  std::vector<Count> materials;        ///< elements of each material
  std::vector<Count> node_sets,        ///< nodes of each set
      element_sets,                    ///< elements of each set
      surfaces;                        ///< faces of each surface
  std::int64_t equations = 0;          ///< multi-point equations
  std::int64_t parts = 0;              ///< disconnected parts; 0 if the model could not be numbered
  std::array<double, 3> lower{},       ///< smallest coordinates of all nodes
      upper{};                         ///< largest coordinates of all nodes
  MeshQuality quality;                 ///< shape measures of the elements
  Id longest_element = 0,              ///< the user's number of MeshQuality::longest
      worst_element = 0;               ///< the user's number of MeshQuality::worst
  ModelSize size;                      ///< the input of the memory estimate
  std::vector<MemoryEstimate> memory;  ///< required memory for each solver and storage
  std::string chosen_solver;           ///< the solver that `auto` would choose, and why
};

/// Sizes and loads of one step.
struct StepCheck {
  std::string name;                          ///< JobStep::name
  Procedure procedure = Procedure::statics;  ///< the physics of the step
  std::size_t domain = 0;                    ///< index in CheckReport::domains
  std::int64_t prescribed = 0;               ///< number of prescribed unknowns
  std::int64_t unknowns = 0;                 ///< unknowns to be solved for; 0 if the model could not be numbered
  std::string loads;                         ///< its loads in words: "gravity, 2 pressures, 14 nodal loads"
};

/// The result of check_job(): sizes, steps and findings.
struct CheckReport {
  std::string name,                  ///< Job::name
      title,                         ///< Job::title
      source;                        ///< Job::source
  std::vector<DomainCheck> domains;  ///< one entry per entry of Job::domains
  std::vector<StepCheck> steps;      ///< one entry per entry of Job::steps
  std::vector<Finding> findings;     ///< everything that was found, errors first
  std::vector<JobNote> notes;        ///< remarks of the reader: Job::notes
  bool mesh_only = false;            ///< whether the job is only a mesh: Job::mesh_only

  /// Whether the job can be solved: no finding is an error.
  bool can_run() const;
};

/// Checks a job without solving it: sizes, element shapes, inverted elements, missing parameters, unused nodes,
/// coincident nodes that are not connected, duplicate elements, disconnected parts, rigid-body motions that are not
/// restrained in a step, and memory. Problems become findings and are not thrown; the only Error is that of `progress`
/// returning false (cancelled). Changes the supports of the job's domains: those of its steps are applied in turn.
CheckReport check_job(Job& job, const std::function<bool(const std::string& stage)>& progress = {});

/// A report as a JSON document, which docs/command-line.md describes.
std::string to_json(const CheckReport& report);

}  // namespace voussoir
