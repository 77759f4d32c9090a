#pragma once

namespace voussoir {

/// The numbers of a beam's cross-section about its local axes y and z. Shear areas of rectangle, ellipse and tube
/// depend a little on Poisson's ratio `nu`: G. R. Cowper, J. Appl. Mech. 33 (1966), 335–340.
struct CrossSection {
  double area, inertia_y, inertia_z, torsion, shear_area_y, shear_area_z;

  /// `a` along y, `b` along z.
  static CrossSection rectangle(double a, double b, double nu);
  static CrossSection ellipse(double diameter_y, double diameter_z, double nu);
  static CrossSection tube(double outer_radius, double thickness, double nu);
  /// Walls across y are `t_y` thick, those across z `t_z`. Torsion by Bredt's formula for thin walls; shear is carried
  /// by the walls along it.
  static CrossSection box(double a, double b, double t_y, double t_z);
};

}  // namespace voussoir
