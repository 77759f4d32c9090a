#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace voussoir {

/// Writes a PVTU file: a list of VTU files that ParaView and VTK show as one mesh. `pieces` are their paths, relative
/// to the folder of the PVTU file; they must have the same arrays. `sample` is one of them as a path that can be
/// opened: the names and types of the arrays are taken from its head. Errors: bad_input for no pieces, or for a sample
/// that is not a VTU file of VtuWriter; io. The file is written atomically and replaces an existing one only with
/// `overwrite`.
void write_pvtu(const std::filesystem::path& path, const std::vector<std::string>& pieces,
                const std::filesystem::path& sample, bool overwrite = false);

}  // namespace voussoir
