#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace voussoir {

/// One moment of a series: a file and the time that it shows.
struct PvdEntry {
  double time = 0;
  std::string file;  ///< as seen from the folder of the PVD file
};

/// Writes a PVD file: a list of VTU files that ParaView shows as one series. Times must rise from entry to entry, since
/// ParaView takes files of the same time for parts of one picture; anything else is an Error (bad_input). The file
/// appears complete or not at all and replaces another one only with `overwrite`.
void write_pvd(const std::filesystem::path& path, const std::vector<PvdEntry>& entries, bool overwrite = false);

}  // namespace voussoir
