#pragma once
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include <voussoir/framework/domain/reduced_part.hpp>

// Reduced parts as files, NAME.vsup: a JSON header that describes all arrays, then the arrays as they are in memory.
// The layout is described in docs/superelements.md; other programs can read and write it with a JSON parser alone.

namespace voussoir {

/// Version of the format that write_reduced_part() writes, and the highest one that read_reduced_part() reads.
inline constexpr int reduced_part_version = 1;

/// The bytes of a file.
std::string reduced_part_bytes(const ReducedPart& part);
/// Writes a reduced part. Throws Error (io) if the file exists and `overwrite` is false, or cannot be written.
void write_reduced_part(const std::filesystem::path& path, const ReducedPart& part, bool overwrite = false);

/// Reads a reduced part. A file that is damaged or not consistent, or of a newer version, is an Error (bad_input); one
/// that cannot be opened is an Error (io).
std::shared_ptr<const ReducedPart> read_reduced_part(const std::filesystem::path& path);
/// The same from the bytes of a file; `name` stands for the file in messages.
std::shared_ptr<const ReducedPart> read_reduced_part_bytes(std::string_view bytes, const std::string& name);

}  // namespace voussoir
