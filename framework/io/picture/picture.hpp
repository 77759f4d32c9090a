#pragma once
#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include <voussoir/framework/analysis/results.hpp>
#include <voussoir/framework/domain/domain.hpp>

namespace voussoir {

/// How a picture is drawn.
struct PictureOptions {
  bool overwrite = false;                     ///< whether an existing file is replaced; otherwise it is an Error
  int width = 1400,                           ///< width in pixels
      height = 900;                           ///< height in pixels
  std::array<double, 3> view{-1, -1.6, 0.9};  ///< direction from the model to the viewer
  std::array<double, 3> up{0, 0, 1};          ///< direction that points upwards in the picture
  std::string title,                          ///< first line of text; may be empty
      subtitle;                               ///< second line of text; may be empty
  bool mesh = true;                           ///< whether element edges are drawn
  bool outline = true;                        ///< whether the edges of the undeformed body are drawn
  bool shadow = true;                         ///< whether the body stands on a ground plane with a shadow
};

/// The colour scale of a picture, in the unit of its label.
struct ColourScale {
  double low = 0,            ///< value at the lower end of the scale
      high = 1;              ///< value at the upper end of the scale
  double least = 0,          ///< smallest value of all nodes (elements), also inside the body; NaN if there is none
      greatest = 0;          ///< largest value of all nodes (elements), also inside the body; NaN if there is none
  Id greatest_at = 0;        ///< the node (element) with the largest value, in the user's numbering
  bool clipped_low = false,  ///< whether values lie below the scale; the colour bar then has a pointed end and "≤"
      clipped_high = false;  ///< whether values lie above the scale; the colour bar then has a pointed end and "≥"
};

/// Draws the surface of a model, deformed and coloured by a result, to a PNG file: a parallel projection with hidden
/// surfaces removed, shading, a colour bar and a title. Quadratic faces are drawn through their mid-side nodes.
///
///   Picture(domain)
///       .deform(result.unknowns)
///       .colour(nodal_stress(domain, result), "mises", "von Mises stress in MPa", 1e-6)
///       .write("pump.png", options);
///
/// The same model and options give the same pixels. Domain and displacements are kept by reference and must live until
/// write() returns.
class Picture {
 public:
  /// A picture of a domain, undeformed and without colours until these are set.
  explicit Picture(const Domain& domain) : domain_(&domain) {}

  /// Shows the body displaced by `factor` times the field's ux, uy, uz; 0 chooses a factor that makes the largest
  /// displacement a twentieth of the body's size, rounded to 1, 2 or 5 times a power of ten.
  Picture& deform(const NodalField& displacements, double factor = 0);
  Picture& deform(NodalField&&, double = 0) = delete;  // it would be gone before write()
  /// Colours the surface by a component of nodal values, times `unit`. Where one visible value in 500 lies far beyond
  /// the others, as at a stress singularity, the colour range ends before it and the colour bar shows it.
  Picture& colour(std::vector<MaterialField> fields, const std::string& component, const std::string& label,
                  double unit = 1);
  /// As above, by nodal values that do not depend on the material, such as temperatures or displacements. Line elements
  /// are coloured too.
  Picture& colour(NodalField field, const std::string& component, const std::string& label, double unit = 1);
  /// Colours the surface by one value per element, block by block, as VtuWriter::add_cells() takes them. NaN means no
  /// value.
  Picture& colour_elements(std::vector<double> values, const std::string& label, double unit = 1);

  /// The factor by which displacements are magnified; 0 if none are shown.
  double deformation() const { return factor_; }
  /// The colour scale that write() uses.
  ColourScale scale() const;

  /// Draws the picture and writes it. Throws Error (bad_input) if nothing is visible, and Error (io) with the path and
  /// the system's error message if the file cannot be written.
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

/// Whether all elements lie in a plane z = constant, so that a picture should be taken along z.
bool lies_in_a_plane(const Domain& domain);

}  // namespace voussoir
