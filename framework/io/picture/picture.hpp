#pragma once
#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include <voussoir/framework/analysis/results.hpp>
#include <voussoir/framework/domain/domain.hpp>

namespace voussoir {

/// How a picture is taken.
struct PictureOptions {
  bool overwrite = false;                     ///< replace a file of that name; otherwise it is an Error
  int width = 1400, height = 900;             ///< in pixels
  std::array<double, 3> view{-1, -1.6, 0.9};  ///< from the model to the viewer
  std::array<double, 3> up{0, 0, 1};          ///< what is up in the picture
  std::string title, subtitle;
  bool mesh = true;     ///< draw the edges of elements
  bool outline = true;  ///< show where the edges of the body were before it was deformed
  bool shadow = true;   ///< rest the body on the ground plane
};

/// The scale of colours of a picture, in the unit of its label.
struct ColourScale {
  double low = 0, high = 1;  ///< where the colours begin and end
  /// The least and the greatest value of all nodes (elements), those inside the body included, as in tables of results;
  /// NaN where there is none.
  double least = 0, greatest = 0;
  Id greatest_at = 0;  ///< the node (element) that has it, in the user's numbering
  /// Whether values exceed the range of the scale, which the colour bar then shows with a pointed end and "≥" or "≤".
  bool clipped_low = false, clipped_high = false;
};

/// Draws the surface of a model, deformed and coloured by a result, into a PNG file: a parallel projection with hidden
/// surfaces, light and shade, a bar that explains the colours, and a title. Quadratic faces are drawn through their
/// midside nodes.
///
///   Picture(domain)
///       .deform(result.unknowns)
///       .colour(nodal_stress(domain, result), "mises", "von Mises stress in MPa", 1e-6)
///       .write("pump.png", options);
///
/// The same model and options give the same pixels. The picture only remembers what it is given: the domain and the
/// displacements must live until write() returns.
class Picture {
 public:
  explicit Picture(const Domain& domain) : domain_(&domain) {}

  /// Shows the body displaced by `factor` times the field's ux, uy, uz; 0 chooses a factor that makes the largest
  /// displacement a twentieth of the body's size, rounded to 1, 2 or 5 times a power of ten.
  Picture& deform(const NodalField& displacements, double factor = 0);
  Picture& deform(NodalField&&, double = 0) = delete;  // it would be gone before write()
  /// Colours the surface by a component of nodal values, times `unit`. Where one visible value in 500 lies far beyond
  /// the others, as at a stress singularity, the colour range ends before it and the colour bar shows it.
  Picture& colour(std::vector<MaterialField> fields, const std::string& component, const std::string& label,
                  double unit = 1);
  /// The same by values that nodes have whatever the material: temperatures, displacements. Lines are coloured too.
  Picture& colour(NodalField field, const std::string& component, const std::string& label, double unit = 1);
  /// The same by one value per element, block by block (NaN: none), as VtuWriter::add_cells() takes them.
  Picture& colour_elements(std::vector<double> values, const std::string& label, double unit = 1);

  /// The factor by which displacements are shown; 0 where none are.
  double deformation() const { return factor_; }
  /// The scale of colours that write() takes.
  ColourScale scale() const;

  /// Throws Error (bad_input) if nothing is visible, and Error (io) with the path and the system's error message.
  void write(const std::filesystem::path& path, const PictureOptions& options = {}) const;

 private:
  const Domain* domain_;
  const NodalField* displacements_ = nullptr;
  double factor_ = 0;
  std::vector<MaterialField> fields_;  // of materials,
  bool any_material_ = false;          // or one for all blocks
  std::vector<double> elements_;       // or one value per element
  std::string component_, label_;
  double unit_ = 1;
};

}  // namespace voussoir
