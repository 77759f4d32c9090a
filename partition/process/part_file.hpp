#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>

#include <voussoir/partition/process/process_part.hpp>

namespace voussoir {

namespace detail {
class StoredParts;
}

/// Writes all parts of a job to one file, from which each process reads its own part, so that no process holds the
/// whole model. Names that end in .h5 or .hdf5 become HDF5 files, all others files of our own format (.vpart);
/// docs/distributed_parts.md describes both. Parts are made and written one at a time. The file appears complete or not
/// at all; it replaces an existing one only with `overwrite`. Failures are Errors (io); HDF5 that is missing is an
/// Error (unavailable).
void write_part_file(const std::filesystem::path& path, const JobDivision& division, bool overwrite = false);

/// Throws Error (unavailable) if a file of this name would be one in HDF5, and this Voussoir has no HDF5 or the process
/// another one: a check before the job is divided.
void require_part_format(const std::filesystem::path& path);

/// Whether a name ends as those of files of parts do: .vpart, .h5 or .hdf5, in upper or lower case.
bool is_part_file_name(const std::filesystem::path& path);

/// A file of parts, in our own format or in HDF5; its contents tell which. Opening it reads a table of contents.
class PartFile {
 public:
  /// Throws Error (io) if the file cannot be read, Error (bad_input) if it is damaged or not a file of parts, and Error
  /// (unavailable) if it is an HDF5 file and this Voussoir has no HDF5.
  explicit PartFile(std::filesystem::path path);
  /// Whether a file begins like one of parts. False for a file that cannot be read, and for HDF5 files that contain
  /// something else or that this Voussoir cannot read.
  static bool is_one(const std::filesystem::path& path);

  int parts() const;                    ///< number of parts
  std::uint64_t bytes(int part) const;  ///< size of an encoded part, before any compression
  /// Reads one part. Throws Error (io, bad_input) with the path and the part; Error (misuse) for a part that the file
  /// does not have.
  ProcessPart read(int part) const;

 private:
  void require_part(int part) const;

  std::filesystem::path path_;
  std::shared_ptr<const detail::StoredParts> stored_;
};

}  // namespace voussoir
