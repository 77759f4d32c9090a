#pragma once
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include <voussoir/framework/io/checkpoint/checkpoint_file.hpp>
#include <voussoir/framework/io/job/restart.hpp>

namespace voussoir {

/// The state at the end of a step in a restart file.
struct RestartPoint {
  int step = 0;               ///< number of the deck's step, from 1
  std::size_t job_steps = 0;  ///< steps of the job up to there: a step of heat and stress counts twice
  std::string bytes = {};     ///< the state
};

/// A restart file: the text of a deck with everything that it includes, and states at the ends of steps.
struct RestartFile {
  RestartDeck deck;                  ///< as it was read
  std::string version;               ///< of the program that wrote the file
  std::string job;                   ///< RestartStart::job
  std::vector<RestartPoint> points;  ///< by ascending step

  /// Reads a file. Throws Error (io or bad_input) if there is none, if it is damaged, of another format, or written by
  /// CalculiX; the text says what to do.
  static RestartFile read(const std::filesystem::path& path);
};

/// Writes restart files. Each state is added completely or not at all, with a checksum, and the states before it are
/// not written again.
class RestartFileWriter {
 public:
  /// `deck` must outlive the writer; `job` is RestartStart::job. An existing file is replaced by the first state.
  RestartFileWriter(const std::filesystem::path& path, const RestartDeck& deck, std::string job);
  /// Adds a state; with `alone`, in place of earlier ones. Throws Error (io), for example on a full disk.
  void add(const RestartPoint& point, bool alone);

 private:
  GrowingFile file_;
  const RestartDeck& deck_;
  std::string job_;
  bool begun_ = false;
};

}  // namespace voussoir
