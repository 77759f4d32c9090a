#pragma once
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <system_error>

namespace voussoir::testing {

/// A folder that this run of a test program has for itself, and that is gone when it ends: two of them may run at once.
inline const std::filesystem::path& scratch_folder() {
  struct Folder {
    std::filesystem::path path;
    Folder() {
      std::string name = (std::filesystem::temp_directory_path() / "voussoir_test_XXXXXX").string();
      if (!::mkdtemp(name.data())) throw std::runtime_error("cannot make a folder like " + name);
      path = name;
    }
    ~Folder() {
      std::error_code ignored;  // what cannot be removed stays behind
      std::filesystem::remove_all(path, ignored);
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
  };
  static const Folder folder;
  return folder.path;
}

/// A file in it that is not there yet.
inline std::filesystem::path scratch_file(const std::string& name) {
  std::filesystem::remove(scratch_folder() / name);
  return scratch_folder() / name;
}

/// A folder in it that is there, and empty.
inline std::filesystem::path empty_scratch_folder(const std::string& name) {
  const auto folder = scratch_folder() / name;
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  return folder;
}

}  // namespace voussoir::testing
