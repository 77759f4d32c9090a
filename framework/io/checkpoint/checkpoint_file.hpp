#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace voussoir {

/// Writes a file of bytes that survives a crash of the program or of the machine: it is written under a temporary name,
/// flushed to the disk (fsync) and renamed, and the folder is flushed too. It has a mark of eight characters that says
/// what is in it, a format number, its length and a checksum. What had the name before stays until the new file is
/// complete. A failure, such as a full disk, is an Error (io) and leaves nothing behind.
void write_checkpoint_file(const std::filesystem::path& path, std::string_view mark, std::uint32_t format,
                           std::string_view bytes);
/// The bytes of such a file. Throws Error (io) if it cannot be read, and Error (bad_input) with its path if it is
/// damaged, or has another mark or format.
std::string read_checkpoint_file(const std::filesystem::path& path, std::string_view mark, std::uint32_t format);

/// Two files of this kind, PATH-a and PATH-b, that are written in turn: the file that is replaced is always the older
/// one, so that there is a complete checkpoint at any moment after the first.
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
  /// All generations that can be read, the newest first. Texts in `refused` name the others and say what is wrong.
  std::vector<Found> read(std::vector<std::string>& refused) const;
  /// Declares a generation to be the one that the run goes on from: the next write() replaces the other file.
  void go_on_from(const Found& found);
  /// Writes the next generation in place of the older one.
  void write(std::string_view bytes);
  /// Whether a file of either name exists.
  bool exists() const;
  /// Removes both files, and what a killed run has left of them under temporary names. No other run may write them.
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
