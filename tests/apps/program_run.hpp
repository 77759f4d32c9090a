#pragma once
#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

// Runs the program as a user does, with both streams apart.

namespace voussoir::testing {

struct Outcome {
  int code = -1;      ///< exit code; 128 + signal where a signal ended it
  std::string out;    ///< standard output
  std::string error;  ///< standard error
};

struct RunSettings {
  std::filesystem::path program;  ///< the program; empty: the one of this build
  std::filesystem::path folder;   ///< where it is started; empty: here
  bool terminal = false;          ///< standard error is a terminal
  int signal = 0;                 ///< sent once `when` appears in the output, or after `after` seconds
  std::string when;
  double after = -1;
  std::vector<std::string> environment;  ///< "NO_COLOR=1"
  std::size_t address_space = 0;         ///< limit in bytes, as of `ulimit -v`; 0: none
  double limit_seconds = 0;              ///< killed after so many; 0: never
};

/// Runs `voussoir ARGUMENTS…` and waits for its end.
Outcome run_program(const std::vector<std::string>& arguments, const RunSettings& settings = {});

/// An empty folder of this name below the test's own.
std::filesystem::path fresh_folder(const std::string& name);

void write_text(const std::filesystem::path& path, const std::string& text);
std::string read_text(const std::filesystem::path& path);
bool contains(const std::string& text, const std::string& part);
/// Names of the files in a folder, sorted.
std::vector<std::string> files_in(const std::filesystem::path& folder);

/// A cantilever of nx × ny × nz cubes of size 1 (C3D8), clamped at x = 0, pulled at its free end; one step per factor
/// of the load.
std::string cantilever_deck(int nx, int ny, int nz, const std::vector<double>& factors = {1.0});

}  // namespace voussoir::testing
