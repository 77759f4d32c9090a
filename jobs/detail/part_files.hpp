#pragma once
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <voussoir/framework/analysis/part_recovery.hpp>
#include <voussoir/jobs/result_files.hpp>

namespace voussoir::detail {

/// Files with the recovered results inside the superelements of a job: NAME_PART.vtu.
class PartFiles {
 public:
  PartFiles(const Job& job, const OutputOptions& options);
  ~PartFiles();

  bool empty() const { return recovered_.empty(); }
  /// Files of a step, as far as they are known before it is solved.
  std::vector<std::string> plan(const JobStep& step, const std::string& stem) const;
  /// What acts on each superelement in a step of statics or heat.
  std::vector<SuperelementInstance::Acting> acting(const JobStep& step) const;
  /// Writes a file for each superelement whose inside is known; returns the files. Without `acting`, nothing acts.
  std::vector<std::filesystem::path> write(const JobStep& step, const std::string& stem, const NodalField& unknowns,
                                           const std::vector<SuperelementInstance::Acting>& acting);
  /// "_mode_001"
  static std::string mode_suffix(int mode);

 private:
  std::string file(const std::string& stem, std::size_t which) const;

  const Job& job_;
  const OutputOptions& options_;
  std::vector<std::shared_ptr<SuperelementInstance>> superelements_;  // of the first model
  std::vector<std::size_t> recovered_;                                // those whose inside is known
  std::map<std::size_t, std::unique_ptr<PartRecovery>> made_;         // when they were first needed
};

}  // namespace voussoir::detail
