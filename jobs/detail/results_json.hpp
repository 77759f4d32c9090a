#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include <voussoir/jobs/result_files.hpp>

namespace voussoir::detail {

/// What results.json says, as far as it is known.
struct JsonContents {
  const Job* job = nullptr;
  const RunRecord* record = nullptr;
  const JobResult* result = nullptr;  ///< null where the job did not come to its end
  const Error* error = nullptr;       ///< what stopped it
  const std::vector<StepSummary>* steps = nullptr;
  const std::vector<std::filesystem::path>* files = nullptr;
  const std::vector<std::string>* notes = nullptr;
  double write_seconds = 0;
};

/// The text of results.json; docs/results.md says what stands in it.
std::string results_json(const JsonContents& contents);

}  // namespace voussoir::detail
