#pragma once
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include <voussoir/framework/io/csv/csv_writer.hpp>
#include <voussoir/framework/io/frd/frd_writer.hpp>
#include <voussoir/framework/io/output_file.hpp>
#include <voussoir/jobs/detail/result_names.hpp>
#include <voussoir/jobs/result_files.hpp>

namespace voussoir::detail {

/// What the result files of all steps share: the folder, the list of complete files, the notes for the user, and the
/// two files that hold all steps, NAME.dat and NAME.frd. One thread at a time may use it.
class CommonFiles {
 public:
  /// All arguments must outlive the object.
  CommonFiles(const Job& job, const OutputOptions& options, const ResultNames& names)
      : job_(job), options_(options), names_(names) {}

  const Job& job() const { return job_; }
  const OutputOptions& options() const { return options_; }
  const ResultNames& names() const { return names_; }

  /// The path of a file in the output folder.
  std::filesystem::path path(const std::string& file) const { return options_.folder / file; }
  /// What the names of a step's files begin with.
  std::string stem(std::size_t step) const { return names_.stem(step); }

  /// Adds a complete file to written(), unless it is there.
  void done(const std::filesystem::path& file);
  /// Adds a sentence for the user to notes(), unless it is there.
  void note(const std::string& text);
  /// Writes a complete file into the output folder.
  void write(const std::string& file, std::string_view text);
  void write(const std::string& file, const CsvTable& table);

  /// Appends to NAME.dat, which begins with the first text.
  void append_to_dat(const std::string& text);
  /// NAME.frd, which begins with the first call.
  FrdWriter& frd();
  /// What NAME.frd holds so far; zeros before it begins.
  FrdWriter::Counts frd_counts() const { return frd_ ? frd_->counts() : FrdWriter::Counts(); }
  /// Gives NAME.frd and NAME.dat their names, where they were begun.
  void commit();
  /// Drops NAME.dat and NAME.frd, so that nothing of them remains.
  void discard();

  /// What a state adds to files that hold all of them, for checkpoints.
  struct Added {
    std::string dat, frd;
    std::vector<std::string> notes;
  };
  /// Keeps what a state adds, and forgets it in the end, also where a file cannot be written.
  class Adding {
   public:
    /// Keeps nothing unless `saved`. `files` must outlive the object.
    Adding(CommonFiles& files, bool saved) : files_(files) {
      if (saved) files_.added_.emplace();
    }
    ~Adding() {
      files_.added_.reset();
      if (files_.frd_) files_.frd_->set_copy(nullptr);
    }
    Adding(const Adding&) = delete;
    Adding& operator=(const Adding&) = delete;
    /// What was added so far. Only if it is saved.
    const Added& added() const { return *files_.added_; }

   private:
    CommonFiles& files_;
  };

  /// Paths of the complete files, in the order of writing.
  const std::vector<std::filesystem::path>& written() const { return written_; }
  /// Remarks on the results, for the user.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  const Job& job_;
  const OutputOptions& options_;
  const ResultNames& names_;
  std::vector<std::filesystem::path> written_;
  std::unordered_set<std::string> known_;  // the same, to be looked up
  std::vector<std::string> notes_;
  std::unique_ptr<OutputFile> dat_;  // begun, while the job runs
  std::unique_ptr<FrdWriter> frd_;   // likewise
  std::optional<Added> added_;       // of the state that is being written, if checkpoints save it
};

}  // namespace voussoir::detail
