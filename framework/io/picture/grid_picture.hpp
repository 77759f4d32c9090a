#pragma once
#include <filesystem>
#include <span>
#include <string>

#include <voussoir/framework/grid/grid.hpp>

namespace voussoir {

/// How a field on a grid is drawn.
struct GridPictureOptions {
  bool overwrite = false;             ///< whether an existing file is replaced; otherwise it is an Error
  int width = 1400,                   ///< width in pixels
      height = 900;                   ///< height in pixels
  std::string title,                  ///< first line of text; may be empty
      subtitle;                       ///< second line of text; may be empty
  std::string label = "temperature";  ///< name of the values, at the colour bar
};

/// Draws values at the nodes of a grid to a PNG file: a plane grid as it is, x to the right and y upwards, of a box the
/// plane in the middle of z. The extremes beside the colour bar are those of what is drawn. Between nodes, values are
/// interpolated; a periodic axis is drawn over its whole length. Throws Error (bad_input) for a grid of one dimension,
/// a wrong number of values or values that are not finite, and Error (io) with the path where the file cannot be
/// written. The same values give the same pixels.
void write_grid_picture(const Grid& grid, std::span<const double> values, const std::filesystem::path& path,
                        const GridPictureOptions& options = {});

}  // namespace voussoir
