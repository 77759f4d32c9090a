#pragma once

namespace voussoir {

/// The numbers of a beam's cross-section about its local axes y and z, for ElementBlock::set_section():
///
///   block.set_section(CrossSection::tube(0.05, 0.004));
///
/// Shear areas of rectangle, ellipse and tube depend a little on Poisson's ratio `nu`: G. R. Cowper, J. Appl. Mech. 33
/// (1966), 335–340. Throws Error (bad_input) for sizes that are not positive or walls that do not fit.
struct CrossSection {
  /// Cross-sectional area, second moments of area about y and z, torsion constant, effective shear areas along y and z.
  double area, inertia_y, inertia_z, torsion, shear_area_y, shear_area_z;

  /// `a` along y, `b` along z.
  static CrossSection rectangle(double a, double b, double nu = 0);
  static CrossSection ellipse(double diameter_y, double diameter_z, double nu = 0);  ///< full diameters along y and z
  /// A circular tube; `thickness` of its wall.
  static CrossSection tube(double outer_radius, double thickness, double nu = 0);
  /// Walls across y are `t_y` thick, those across z `t_z`. Torsion by Bredt's formula for thin walls; shear is carried
  /// by the walls along it.
  static CrossSection box(double a, double b, double t_y, double t_z);
};

}  // namespace voussoir
