#pragma once
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include <voussoir/framework/io/job/job.hpp>
#include <voussoir/jobs/result_files.hpp>

namespace voussoir::app {

/// What a command line asks of results beyond the files of a job: pictures, points, paths, names of units.
struct ResultOptions {
  std::string picture;  ///< "worst", "each" or empty
  std::string picture_field;
  std::vector<std::string> points, paths;
  std::string units;

  /// Whether and which pictures are drawn; naming a field asks for one.
  Pictures pictures() const;
  /// Gives a job what is asked for; units replace those of the job. Throws CLI::ValidationError for what cannot be
  /// read.
  void apply(Job& job) const;
};

/// The words of a command line with the values of options that may omit them: "--picture" becomes "--picture=worst"
/// where neither "worst" nor "each" follows, and "--animate" becomes "--animate=24" where no number does. What follows
/// then is a file, or another option.
std::vector<std::string> with_omitted_values(std::vector<std::string> words);

/// Adds --picture, --picture-field, --point, --path and --units to a group of a command's help.
void add_result_options(CLI::App& command, ResultOptions& options, const std::string& group);

}  // namespace voussoir::app
