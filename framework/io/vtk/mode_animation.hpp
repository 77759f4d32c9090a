#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include <voussoir/framework/analysis/results.hpp>
#include <voussoir/framework/domain/domain.hpp>
#include <voussoir/framework/io/vtk/vtu_writer.hpp>

namespace voussoir {

/// How the vibration of a mode is written.
struct ModeAnimationOptions {
  bool overwrite = false;   ///< whether existing files are replaced; otherwise they are an Error
  int frames = 24;          ///< pictures of one period; 2 to 1000
  double amplitude = 0.05;  ///< largest displacement, as a part of the diagonal of the body's box
  std::string comment;      ///< a line at the head of each file; may be empty
};

/// Writes one period of the vibration of a mode shape, shape · sin(2π t), as VTU files NAME_frame_001.vtu … and
/// NAME.pvd, a series that ParaView plays: warp by the displacement with a scale factor of 1, and loop. Time is the
/// fraction of the period, 0 to 1 without the end, which is the beginning of the next one. Shapes have no size of their
/// own; they are scaled so that the largest displacement is `amplitude` times the diagonal of the body's box. Needs
/// memory for one frame besides `mesh`, the compressed mesh that all frames share. Returns the path of the PVD file.
/// Throws Error (bad_input) for a shape that is zero or does not fit the domain, or for a wrong number of frames; Error
/// (io) with the path where a file cannot be written.
std::filesystem::path write_mode_animation(const Domain& domain, const NodalField& shape,
                                           const std::filesystem::path& folder, const std::string& name, VtuMesh& mesh,
                                           const ModeAnimationOptions& options = {});

/// The names of the files that write_mode_animation() writes, the PVD file first.
std::vector<std::string> mode_animation_files(const std::string& name, int frames);

}  // namespace voussoir
