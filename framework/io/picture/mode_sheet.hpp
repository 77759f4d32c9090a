#pragma once
#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include <voussoir/framework/analysis/mode_set.hpp>
#include <voussoir/framework/analysis/results.hpp>
#include <voussoir/framework/domain/domain.hpp>

namespace voussoir {

/// How a sheet of modes is drawn.
struct ModeSheetOptions {
  bool overwrite = false;                     ///< whether an existing file is replaced; otherwise it is an Error
  int cell_width = 440;                       ///< width of the picture of a mode, in pixels; 100 to 2000
  double amplitude = 0.08;                    ///< largest displacement shown, as a part of the body's diagonal
  std::array<double, 3> view{-1, -1.6, 0.9};  ///< direction from the model to the viewer
  std::array<double, 3> up{0, 0, 1};          ///< direction that points upwards in the picture
  std::string title,                          ///< first line of text; may be empty
      subtitle;                               ///< second line of text; may be empty
  bool outline = true;                        ///< whether the edges of the body at rest are drawn
  bool shadow = true;                         ///< whether the body stands on a ground plane with a shadow
};

/// Draws mode shapes side by side to one PNG file, all of them seen from the same place and at the same scale: deformed
/// to the same largest displacement, coloured by the displacement relative to it, each below its label.
///
///   ModeSheet(domain).add(modes).write("frame_modes.png", {.title = "Frame"});
///
/// The same shapes and options give the same pixels. Domain and shapes are kept by reference and must live until
/// write() returns.
class ModeSheet {
 public:
  /// How many modes a sheet shows unless told otherwise.
  static constexpr int usual_count = 12;

  /// An empty sheet.
  explicit ModeSheet(const Domain& domain) : domain_(&domain) {}

  /// Adds a shape with its label and, in small letters below it, a note that may be empty. Throws Error (bad_input) if
  /// the shape does not fit the nodes of the domain.
  ModeSheet& add(const NodalField& shape, std::string label, std::string note = {});
  ModeSheet& add(NodalField&& shape, std::string label, std::string note = {}) = delete;  // gone before write()
  /// Adds the first modes of a set, labelled "1 · 12.34 Hz"; the note is the largest effective mass.
  ModeSheet& add(const ModeSet& modes, int most = usual_count);
  ModeSheet& add(ModeSet&& modes, int most = usual_count) = delete;

  int count() const { return static_cast<int>(shapes_.size()); }  ///< shapes that were added
  /// Draws the sheet and writes it. Throws Error (bad_input) if it has no shapes or nothing is visible, and Error (io)
  /// with the path and the system's error message if the file cannot be written.
  void write(const std::filesystem::path& path, const ModeSheetOptions& options = {}) const;

 private:
  struct Entry {
    const NodalField* shape;
    std::string label, note;
  };
  const Domain* domain_;
  std::vector<Entry> shapes_;
};

/// "1 · 12.34 Hz": the number of a mode, from 1, and its frequency.
std::string mode_label(const ModeSet& modes, int mode);

}  // namespace voussoir
