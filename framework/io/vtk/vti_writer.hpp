#pragma once
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include <voussoir/framework/grid/grid.hpp>
#include <voussoir/framework/io/vtk/vtu_writer.hpp>

namespace voussoir {

/// Writes fields on a grid as a VTI file (image data), for ParaView, VisIt and VTK. Values are stored at the nodes, in
/// the form of VTU files: binary, appended, compressed. Axes that the grid does not have get one node.
///
///   VtiWriter(grid).add("temperature", values).write("plate.vti");
///
/// Grid and values are kept by reference and must live until write() returns.
class VtiWriter {
 public:
  explicit VtiWriter(const Grid& grid) : grid_(&grid) {}  ///< a file with a grid and no fields yet

  /// Adds values at the nodes, in their order. A wrong number of values, and a name that is empty or taken, are Errors
  /// (bad_input).
  VtiWriter& add(const std::string& name, std::span<const double> values);
  /// Writes the file with everything that was added, atomically.
  void write(const std::filesystem::path& path, const VtuOptions& options = {}) const;

 private:
  const Grid* grid_;
  std::vector<std::pair<std::string, std::span<const double>>> fields_;
};

}  // namespace voussoir
