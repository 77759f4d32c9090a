#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace voussoir {

/// An append-only file of records, beside a checkpoint that stores how much of it is valid. The output of a run
/// (histories, rows of tables) is appended here once, so that the checkpoint itself stays small. When a run is resumed,
/// the journal is truncated to its length at the checkpoint.
///
/// Records are held in memory until flush(). If flush() fails, for example because the disk is full, the file is
/// truncated to its last complete length, and the records stay in memory, to be written later.
class Journal {
 public:
  /// The valid part of a journal.
  struct Place {
    std::uint64_t length = 0;                       ///< in bytes
    std::uint64_t sum = 14695981039346656037ull;    ///< checksum of these bytes
    bool operator==(const Place&) const = default;  ///< the same place
  };
  /// A record of the file.
  struct Record {
    std::uint8_t kind = 0;
    std::uint32_t step = 0;                ///< that it belongs to
    std::uint64_t offset = 0, length = 0;  ///< of its bytes
  };

  explicit Journal(std::filesystem::path path) : path_(std::move(path)) {}  ///< at this path; opens nothing yet
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  /// Begins with an empty file, and replaces an existing one. Throws Error (io).
  void create();
  /// Checks the file up to a place. Throws Error (bad_input) with the path if it is shorter or damaged.
  void check(const Place& place) const;
  /// Continues at a place of an existing file and truncates what follows. Throws Error (io).
  void continue_at(const Place& place);
  /// Adds a record, in memory. Several threads may do so.
  void append(std::uint8_t kind, std::uint32_t step, std::string_view bytes);
  /// Writes all records to the disk (fsync). Throws Error (io).
  void flush();
  const Place& place() const { return place_; }  ///< after the last flush()
  std::size_t waiting_bytes() const;             ///< of records that are not yet in the file
  /// The records of the file up to a place, in order. Throws Error (bad_input) with the path for a damaged file.
  std::vector<Record> records(const Place& place) const;
  /// Passes on the bytes of records, in the order given.
  void read(std::span<const Record> records, const std::function<void(std::string_view bytes)>& take) const;
  void remove() noexcept;                                      ///< closes and removes the file
  const std::filesystem::path& path() const { return path_; }  ///< of the file

 private:
  void open(int flags);
  [[noreturn]] void fail_at_end(const char* text) const;
  std::filesystem::path path_;
  int descriptor_ = -1;
  Place place_;
  mutable std::mutex mutex_;
  std::string waiting_;
};

}  // namespace voussoir
