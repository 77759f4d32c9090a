#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include <voussoir/framework/analysis/mode_set.hpp>
#include <voussoir/framework/domain/domain.hpp>

namespace voussoir {

/// Where files of modes go, and what they are called.
struct ModeFileNames {
  std::filesystem::path folder;  ///< exists
  std::string name;              ///< NAME of NAME_modes.png, …
  bool overwrite = false;        ///< whether existing files are replaced; otherwise they are an Error
};

/// Draws the first modes as NAME_modes.png and the accumulated effective masses as NAME_modes.svg. A model without
/// visible elements (masses, springs to ground) has no PNG file; without modes there is neither. Returns the paths.
std::vector<std::filesystem::path> write_mode_pictures(const Domain& domain, const ModeSet& modes,
                                                       const std::string& title, const ModeFileNames& files);

/// Writes a period of the vibration of a mode, counted from 1, or of all modes (0), as the series
/// NAME_mode_001_animation.pvd … for ParaView. Returns the paths of the PVD files. Throws Error (bad_input) for a mode
/// that does not exist.
std::vector<std::filesystem::path> write_mode_animations(const Domain& domain, const ModeSet& modes, int mode,
                                                         int frames, const ModeFileNames& files);

/// "NAME_mode_001_animation" without an ending.
std::string mode_animation_name(const std::string& name, int mode);

}  // namespace voussoir
