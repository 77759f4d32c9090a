#pragma once
#include <filesystem>
#include <string>

namespace voussoir::app {

/// A folder for the files of a workload, which is removed with this object.
struct Scratch {
  std::filesystem::path path;
  explicit Scratch(const char* workload);
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
};

/// The content of a file, as it is.
std::string content(const std::filesystem::path& path);

}  // namespace voussoir::app
