#pragma once
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace voussoir {

/// The bytes of a file, to be read from front to end. A plain file is mapped, so that it takes no memory of its own;
/// what cannot be mapped (a pipe, an empty file) is read whole. A file that cannot be opened is an Error (io) that
/// names the path and what the system said.
class MappedFile {
 public:
  explicit MappedFile(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::string_view bytes() const { return bytes_; }
  /// Lets the pages before `position` go: they were read and will not be looked at soon.
  void forget_before(std::size_t position) const;

 private:
  void* mapping_ = nullptr;
  std::string copy_;
  std::string_view bytes_;
  mutable std::size_t forgotten_ = 0;
};

}  // namespace voussoir
