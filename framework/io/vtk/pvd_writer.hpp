#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace voussoir {

/// One time step of a series and the file that contains it.
struct PvdEntry {
  double time = 0;   ///< time of the step; must increase from entry to entry
  std::string file;  ///< path of the VTU file, relative to the folder of the PVD file
};

/// Writes a PVD file: a list of VTU files that ParaView shows as a time series. Times that do not increase from entry
/// to entry are an Error (bad_input), since ParaView takes files of the same time for parts of one data set. The file
/// is written atomically and replaces an existing one only with `overwrite`.
void write_pvd(const std::filesystem::path& path, const std::vector<PvdEntry>& entries, bool overwrite = false);

}  // namespace voussoir
