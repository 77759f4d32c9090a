#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>

#include <voussoir/backends/error.hpp>

namespace voussoir {

/// Something else has the name of an output that must not be overwritten.
class NameTaken : public Error {
 public:
  using Error::Error;
};

/// A file that appears under its name when it is complete and not before. Where the file system can, it has no name at
/// all until commit(), so that even a killed program leaves nothing; elsewhere it is written under a temporary name in
/// the same folder, and the next OutputFile there removes what a killed program left. Without commit() nothing is left
/// behind. Every failure is an Error (io) with the path and the system's error message.
///
///   OutputFile file("results.txt", false);
///   file.write("u = 0.25\n");
///   file.commit();
class OutputFile {
 public:
  /// Throws NameTaken if `path` exists, even as a dangling link, and may not be overwritten.
  OutputFile(std::filesystem::path path, bool overwrite);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(const void* data, std::size_t bytes);
  void write(std::string_view text) { write(text.data(), text.size()); }
  /// Bytes written so far.
  std::uint64_t position() const { return position_; }
  /// Replaces bytes that were written before.
  void patch(std::uint64_t position, std::string_view text);
  /// Gives the file its name. Where another file took it meanwhile: overwrites that if allowed, throws NameTaken if
  /// not.
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

/// Removes the files of this process that have a temporary name: for a program that ends without unwinding, such as one
/// that was sent a signal.
void remove_unfinished_files() noexcept;

}  // namespace voussoir
