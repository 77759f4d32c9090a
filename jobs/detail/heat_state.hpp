#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <voussoir/framework/grid/heat_analysis.hpp>

// What a heat job needs to go on after an interruption: a file that is complete or not there, with a checksum.

namespace voussoir::detail {

struct HeatProgress {
  GridHeatState state;
  std::vector<std::int64_t> written;  ///< steps whose fields are in files
  std::vector<double> history;        ///< rows of the history: step, time, values of points
};

/// Writes a state under its name, or replaces the one there. `fingerprint` says of which job it is.
void save_heat_state(const std::filesystem::path& path, const std::string& fingerprint, const HeatProgress& progress);
/// Reads a state. A file that is damaged, of another format or of another job is an Error (bad_input) with the path;
/// one that cannot be read an Error (io).
HeatProgress load_heat_state(const std::filesystem::path& path, const std::string& fingerprint);

}  // namespace voussoir::detail
