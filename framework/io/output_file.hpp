#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>

#include <voussoir/backends/error.hpp>

namespace voussoir {

/// An output file or folder exists already and may not be overwritten.
class NameTaken : public Error {
 public:
  using Error::Error;
};

/// A file that appears under its name only when it is complete. Where the file system supports it, the file has no name
/// until commit(), so that even a killed program leaves nothing behind; elsewhere it is written under a temporary name
/// in the same folder, and the next OutputFile there removes what a killed program left. Without commit(), the
/// destructor discards the file. Every failure is an Error (io) with the path and the system's error message.
///
///   OutputFile file("results.txt", false);
///   file.write("u = 0.25\n");
///   file.commit();
class OutputFile {
 public:
  /// Opens the file for writing. Throws NameTaken if `path` exists, even as a dangling link, and `overwrite` is false.
  OutputFile(std::filesystem::path path, bool overwrite);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(const void* data, std::size_t bytes);                        ///< appends bytes
  void write(std::string_view text) { write(text.data(), text.size()); }  ///< appends text
  /// Number of bytes written so far.
  std::uint64_t position() const { return position_; }
  /// Overwrites bytes that were written before, starting at `position`. Bytes beyond the end extend the file, but do
  /// not count in position().
  void patch(std::uint64_t position, std::string_view text);
  /// Reads bytes that were written before, starting at `position`.
  void read_back(std::uint64_t position, void* data, std::size_t bytes);
  /// Completes the file and gives it its name. If another file has taken the name in the meantime, it is overwritten if
  /// allowed; otherwise NameTaken is thrown.
  void commit();

 private:
  [[noreturn]] void fail(const std::string& what, int error) const;
  void flush();
  void close();
  void name_temporary();
  void forget_temporary();

  std::filesystem::path path_;
  std::filesystem::path temporary_;  // empty while the file has no name
  bool overwrite_;
  bool nameless_ = false;
  std::FILE* file_ = nullptr;
  std::uint64_t position_ = 0;
};

/// Removes the unfinished files of this process that have a temporary name. For programs that end without unwinding the
/// stack, for example in a signal handler.
void remove_unfinished_files() noexcept;

}  // namespace voussoir
