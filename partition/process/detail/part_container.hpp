#pragma once
#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include <voussoir/framework/io/output_file.hpp>
#include <voussoir/partition/process/process_part.hpp>

// The kinds of files that keep encoded parts. PartFile reads all of them.

namespace voussoir::detail {

/// A file of parts whose table of contents was read.
class StoredParts {
 public:
  virtual ~StoredParts() = default;
  virtual int parts() const = 0;                    ///< number of parts
  virtual std::uint64_t bytes(int part) const = 0;  ///< of encode(); the part exists
  virtual std::string read(int part) const = 0;     ///< what encode() returned; the part exists
};

/// Sizes of the classes that inline code of libvoussoir and of libvoussoir-hdf5.so reads, as each was compiled.
consteval std::array<std::uint64_t, 8> shared_class_sizes() {
  return {sizeof(ProcessPart), sizeof(DomainShare), sizeof(Job),          sizeof(JobStep),
          sizeof(JobDivision), sizeof(Domain),      sizeof(ElementBlock), sizeof(OutputFile)};
}

/// What libvoussoir-hdf5.so offers. It is a library of its own because HDF5 loads some thirty others, which no run
/// without such a file needs.
struct Hdf5Container {
  std::int32_t abi;                            ///< abi_number that it was compiled with
  decltype(shared_class_sizes()) class_sizes;  ///< likewise
  /// Throws Error (unavailable) at `path` if the HDF5 of this process is not the one that it was built with.
  void (*check)(const std::filesystem::path& path);
  void (*write)(const std::filesystem::path& path, const JobDivision& division, bool overwrite);
  std::shared_ptr<const StoredParts> (*open)(const std::filesystem::path& path);
};

/// Type and name of the one function that libvoussoir-hdf5.so exports.
using Hdf5ContainerEntry = const Hdf5Container* (*)();
inline constexpr const char* hdf5_container_symbol = "voussoir_hdf5_container";

/// Loads libvoussoir-hdf5.so once. Throws Error (unavailable) at `path` if it is missing or cannot be loaded.
const Hdf5Container& hdf5_container(const std::filesystem::path& path);

}  // namespace voussoir::detail
