#pragma once

namespace voussoir {

/// Section properties of a beam about its local axes y and z, for ElementBlock::set_section():
///
///   block.set_section(CrossSection::tube(0.05, 0.004));
///
/// Shear areas of rectangle, ellipse and tube depend a little on Poisson's ratio `nu`: G. R. Cowper, J. Appl. Mech. 33
/// (1966), 335–340. Dimensions that are not positive, and walls too thick for the outline, are an Error (bad_input).
struct CrossSection {
  double area,       ///< cross-sectional area
      inertia_y,     ///< second moment of area about y, ∫ z² dA
      inertia_z,     ///< second moment of area about z, ∫ y² dA
      torsion,       ///< torsion constant J
      shear_area_y,  ///< effective shear area for forces along y
      shear_area_z;  ///< effective shear area for forces along z

  /// A solid rectangle, `a` wide along y and `b` along z.
  static CrossSection rectangle(double a, double b, double nu = 0);
  /// A solid ellipse with the given full diameters along y and z.
  static CrossSection ellipse(double diameter_y, double diameter_z, double nu = 0);
  /// A circular tube with the given wall thickness.
  static CrossSection tube(double outer_radius, double thickness, double nu = 0);
  /// A rectangular tube with outer dimensions `a` along y and `b` along z; the walls normal to y are `t_y` thick, those
  /// normal to z `t_z`. Torsion by Bredt's formula for thin walls; shear is carried by the walls parallel to it.
  static CrossSection box(double a, double b, double t_y, double t_z);
};

}  // namespace voussoir
