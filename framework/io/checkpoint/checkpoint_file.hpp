#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace voussoir {

/// Writes a file of bytes that survives a crash of the program or of the machine: it is written under a temporary name,
/// flushed to disk (fsync) and renamed, and the folder is flushed, too. It begins with a mark of eight characters that
/// identifies its contents, a format number, its length and a checksum. An earlier file of that name is kept until the
/// new one is complete. A failure, such as a full disk, is an Error (io) and leaves nothing behind.
void write_checkpoint_file(const std::filesystem::path& path, std::string_view mark, std::uint32_t format,
                           std::string_view bytes);
/// The bytes of such a file. Throws Error (io) if it cannot be read, and Error (bad_input) with its path if it is
/// damaged, or has another mark or format.
std::string read_checkpoint_file(const std::filesystem::path& path, std::string_view mark, std::uint32_t format);

/// A file of this kind that grows at its end. What is appended counts from the moment at which the length and the
/// checksum at the beginning of the file include it: a crash before that, or a failure, leaves the earlier contents.
class GrowingFile {
 public:
  /// `mark` and `format` are those of write_checkpoint_file().
  GrowingFile(std::filesystem::path path, std::string mark, std::uint32_t format)
      : path_(std::move(path)), mark_(std::move(mark)), format_(format) {}

  /// Begins with these bytes, in place of an existing file. Throws Error (io).
  void write(std::string_view bytes);
  /// Appends bytes; write() comes first. Throws Error (io).
  void append(std::string_view bytes);
  /// The bytes of such a file, as read_checkpoint_file() returns them.
  static std::string read(const std::filesystem::path& path, std::string_view mark, std::uint32_t format);

 private:
  std::filesystem::path path_;
  std::string mark_;
  std::uint32_t format_;
  std::uint64_t size_ = 0, sum_ = 0;  // of the bytes in the file
};

/// Two files of this kind, PATH-a and PATH-b, that are written in turn. The older one is always the one replaced, so
/// that there is a complete checkpoint at any moment after the first.
class CheckpointPair {
 public:
  /// `path` is the common part of both names; `mark` and `format` are those of write_checkpoint_file().
  CheckpointPair(std::filesystem::path path, std::string mark, std::uint32_t format)
      : path_(std::move(path)), mark_(std::move(mark)), format_(format) {}

  /// A generation that could be read.
  struct Found {
    std::filesystem::path path;  ///< of its file
    std::uint64_t number = 0;    ///< counts the checkpoints that were written, from 1
    std::string bytes;           ///< as they were written
  };
  /// All generations that can be read, newest first. `refused` receives messages that name the others and the reasons.
  std::vector<Found> read(std::vector<std::string>& refused) const;
  /// Declares the generation from which the run continues: the next write() replaces the other file.
  void go_on_from(const Found& found);
  /// Writes the next generation in place of the older one.
  void write(std::string_view bytes);
  /// Whether a file of either name exists.
  bool exists() const;
  /// Removes both files, and temporary files that a killed run has left. No other run may be writing them.
  void remove() const noexcept;
  std::vector<std::filesystem::path> files() const;  ///< both names

 private:
  std::filesystem::path path_;
  std::string mark_;
  std::uint32_t format_;
  std::uint64_t number_ = 0;  // of the generation that was written or read last
  std::size_t next_ = 0;      // which of the two names it gets
};

}  // namespace voussoir
