#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <voussoir/framework/analysis/results.hpp>
#include <voussoir/framework/io/job/job.hpp>
#include <voussoir/jobs/job_fingerprint.hpp>

namespace voussoir::detail {

/// What later steps of a job need of those that were solved: the contents of a restart file at the end of a step.
struct RestartState {
  /// The last unknowns of each model that were kept, by the step that found them.
  struct Unknowns {
    std::size_t step;
    NodalField values;
  };
  std::vector<Unknowns> unknowns;
  /// Where the last step ended, if it was one over time or of statics in increments.
  struct Motion {
    std::size_t step;
    NodalField displacement, velocity;
    std::string history;  ///< of elements, as save_state() writes it; empty: none
  };
  std::optional<Motion> motion;

  std::string to_bytes() const;
  /// Throws Error (bad_input) that names the restart file.
  static RestartState of(const RestartStart& start);
};

/// What a job is solved with, as checksums: the same where it is continued.
struct RestartFingerprint {
  struct Step {
    Procedure procedure = {};
    std::vector<FingerprintPart> parts;  ///< loads, supports, times, requested results
  };
  std::vector<FingerprintPart> model;  ///< nodes, elements, materials, sets
  std::vector<Step> steps;

  /// Before the first step is solved: steps change the supports of their domain.
  static RestartFingerprint of(const Job& job);
  std::string to_bytes() const;
  /// Throws Error (bad_input) that names the restart file.
  static RestartFingerprint of(const RestartStart& start);
};

/// The number that the deck counts a step by, from 1: steps of heat and of the stress that follows are one step.
int deck_step(const Job& job, std::size_t step);

/// The state that a job continues. Throws Error (bad_input) if the model or the steps that were solved differ from
/// those of the job that wrote the file, and where a new step needs something that the file does not have.
RestartState read_restart_state(const Job& job);

}  // namespace voussoir::detail
