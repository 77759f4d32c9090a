#pragma once
#include <cstddef>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include <voussoir/jobs/detail/part_files.hpp>
#include <voussoir/jobs/detail/step_picture.hpp>
#include <voussoir/jobs/detail/step_probes.hpp>
#include <voussoir/jobs/result_files.hpp>

namespace voussoir::detail {

/// Whether a step has results in the .frd file: all but harmonic ones and spectra.
bool is_in_frd(Procedure procedure);
/// Whether a job writes a restart file.
bool writes_restarts(const Job& job);
/// Whether a job has a step of statics or heat, with one result.
bool has_single_results(const Job& job);

/// The names of a job's result files, and whether they are free.
class ResultNames {
 public:
  /// Both must outlive the object.
  ResultNames(const Job& job, const OutputOptions& options)
      : job_(job), options_(options), name_(options.name.empty() ? job.name : options.name) {}

  const std::string& name() const { return name_; }
  /// What the names of a step's files begin with.
  std::string stem(std::size_t step) const;
  /// Every file that the job may write. Gives the tables their names.
  std::vector<std::string> plan(const StepProbes& probes, const StepPictures& pictures, const PartFiles& parts);
  /// The file of a table without ending, by step, request and quantity; after plan().
  const std::string& table(std::size_t step, std::size_t request, std::size_t item) const {
    return tables_.at({step, request, item});
  }
  /// Of the files of each path, without stem and ending; after plan().
  const std::vector<std::string>& paths() const { return paths_; }

  /// Reports file names that are too long before anything is computed.
  void check_lengths(const std::vector<std::string>& files) const;
  /// Existing files are an Error (io) unless OutputOptions::overwrite is set.
  void check_free(const std::vector<std::string>& files) const;
  void make_folder() const;

 private:
  const Job& job_;
  const OutputOptions& options_;
  std::string name_;
  std::map<std::tuple<std::size_t, std::size_t, std::size_t>, std::string> tables_;
  std::vector<std::string> paths_;
};

}  // namespace voussoir::detail
