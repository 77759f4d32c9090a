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
  std::vector<std::string> earlier_files;  ///< of an earlier run, still in the folder
  double write_seconds = 0;
};

/// The modes of a frequency step with what the solver says of them, as NAME_modes.json has them.
std::string modes_json(const ModeSet& modes, const Job& job, const JobStep& step);

/// The text of results.json; docs/results.md says what stands in it.
std::string results_json(const JsonContents& contents);

}  // namespace voussoir::detail
