#pragma once
#include <cstdint>
#include <filesystem>
#include <vector>

#include <voussoir/partition/process/process_part.hpp>

namespace voussoir {

/// Writes all parts of a job to one file (.vpart), from which each process reads its own part, so that no process holds
/// the whole model. Parts are made and written one at a time. The file appears complete or not at all; it replaces an
/// existing one only with `overwrite`. Failures are Errors (io).
void write_part_file(const std::filesystem::path& path, const JobDivision& division, bool overwrite = false);

/// A file of parts. Opening it reads a table of contents.
class PartFile {
 public:
  /// Throws Error (io) if the file cannot be read, and Error (bad_input) if it is damaged or not a file of parts.
  explicit PartFile(std::filesystem::path path);
  /// Whether a file begins like one of parts. False for a file that cannot be read.
  static bool is_one(const std::filesystem::path& path);

  int parts() const { return static_cast<int>(slices_.size()); }  ///< number of parts
  std::uint64_t bytes(int part) const;                            ///< size of a part in the file
  /// Reads one part. Throws Error (io, bad_input) with the path and the part; Error (misuse) for a part that the file
  /// does not have.
  ProcessPart read(int part) const;

 private:
  struct Slice {
    std::uint64_t offset, size;
  };
  std::filesystem::path path_;
  std::vector<Slice> slices_;
};

}  // namespace voussoir
