#pragma once
#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace voussoir {

/// The bytes of a whole file, read into memory. Files are not mapped: a mapped file that another program cuts short
/// ends the process with SIGBUS. Large files are read by several threads.
///
/// A file that cannot be opened, or that changes while it is read, is an Error (io) that names the path and the reason.
class FileBytes {
 public:
  explicit FileBytes(const std::filesystem::path& path);

  std::string_view bytes() const { return bytes_; }

 private:
  struct Free {
    void operator()(char* memory) const;
  };
  std::unique_ptr<char, Free> memory_;  // of a plain file, whose size is known
  std::string pieces_;                  // of a pipe
  std::string_view bytes_;
};

}  // namespace voussoir
