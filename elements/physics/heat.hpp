#pragma once
#include <voussoir/elements/kernel/point_kernel.hpp>

// Heat conduction, Fourier's law. The kernel's flux is k ∇T, as in the weak form ∫ k ∇T · ∇N dV; the reported heat flux
// is −k ∇T, from warm to cold. The heat capacity ρ c replaces the density. Sources are loads: LoadCase::heat_source().

namespace voussoir {

namespace detail {

struct IsotropicHeat {
  static constexpr int components = 1;
  static constexpr const char* unknowns[] = {"T"};
  static constexpr const char* parameters[] = {"conductivity", "density", "specific_heat"};
  enum : int { conductivity, mass_density, specific_heat };  // their places
  static constexpr bool linear = true, reads_temperature = false;

  template <class R>
  VSR_FN static Mat<R, 1, 3> flux(const Point<R>& p, const Mat<R, 1, 3>& grad) {
    return p[conductivity] * grad;
  }
  template <class R>
  VSR_FN static Mat<R, 1, 3> dflux(const Point<R>& p, const Mat<R, 1, 3>&, const Mat<R, 1, 3>& dgrad) {
    return p[conductivity] * dgrad;
  }
  template <class R>
  VSR_FN static Mat<R, 1, 1> pair_block(const Point<R>& p, const Mat3<R>& outer) {
    return {{{p[conductivity] * trace(outer)}}};
  }
  template <class R>
  VSR_FN static R density(const Point<R>& p) {
    return p[mass_density] * p[specific_heat];
  }
  template <class R>
  VSR_FN static R valid(const R* p) {
    return select_less(min(p[mass_density], p[specific_heat]), R(0.0), R(-1.0), p[conductivity]);
  }
};

/// Conductivities k1, k2, k3 along the material's axes, which are the last nine parameters: unit vectors 1, 2, 3.
struct OrthotropicHeatLaw {
  static constexpr int components = 1;
  static constexpr const char* unknowns[] = {"T"};
  static constexpr const char* parameters[] = {"k1",     "k2",     "k3",     "density", "specific_heat",
                                               "axis11", "axis12", "axis13", "axis21",  "axis22",
                                               "axis23", "axis31", "axis32", "axis33"};
  enum : int { k1, k2, k3, mass_density, specific_heat, first_axis };  // their places
  static constexpr bool linear = true, reads_temperature = false;
  static constexpr int constants = 9;

  /// The conductivity tensor, by rows.
  template <class R>
  VSR_FN static void prepare(const R* p, R* c) {
    const R* axis = p + first_axis;
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j)
        c[3 * i + j] =
            p[k1] * axis[i] * axis[j] + p[k2] * axis[3 + i] * axis[3 + j] + p[k3] * axis[6 + i] * axis[6 + j];
  }

  template <class R>
  VSR_FN static Mat<R, 1, 3> flux(const Point<R>& p, const Mat<R, 1, 3>& grad) {
    Mat<R, 1, 3> q;
    for (int i = 0; i < 3; ++i) {
      const R* row = p.constants + 3 * i;
      q(0, i) = row[0] * grad(0, 0) + row[1] * grad(0, 1) + row[2] * grad(0, 2);
    }
    return q;
  }
  template <class R>
  VSR_FN static Mat<R, 1, 3> dflux(const Point<R>& p, const Mat<R, 1, 3>&, const Mat<R, 1, 3>& dgrad) {
    return flux(p, dgrad);
  }
  template <class R>
  VSR_FN static Mat<R, 1, 1> pair_block(const Point<R>& p, const Mat3<R>& outer) {
    R sum = R(0.0);
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) sum += p.constants[3 * i + j] * outer(i, j);
    return {{{sum}}};
  }
  template <class R>
  VSR_FN static R density(const Point<R>& p) {
    return p[mass_density] * p[specific_heat];
  }
  template <class R>
  VSR_FN static R valid(const R* p) {
    R least = select_less(min(p[mass_density], p[specific_heat]), R(0.0), R(-1.0), min(p[k1], min(p[k2], p[k3])));
    for (int i = 0; i < 3; ++i)
      for (int j = i; j < 3; ++j) {
        R product = R(i == j ? -1.0 : 0.0);
        for (int k = 0; k < 3; ++k) product += p[first_axis + 3 * i + k] * p[first_axis + 3 * j + k];
        least = min(least, R(1e-6) - abs(product));
      }
    return least;
  }
};

}  // namespace detail

/// Isotropic heat conduction in a solid.
struct Heat : detail::IsotropicHeat {
  static constexpr const char* name = "heat";  ///< first part of element type names
};
/// Isotropic heat conduction in a plane body: no flow normal to the plane.
struct PlaneHeat : detail::IsotropicHeat {
  static constexpr const char* name = "plane_heat";      ///< first part of element type names
  static constexpr Geometry geometry = Geometry::plane;  ///< volume is area times thickness
};
/// Isotropic heat conduction in a body of revolution about the y axis; heat flows are those of the full circle.
struct AxisymmetricHeat : detail::IsotropicHeat {
  static constexpr const char* name = "axisymmetric_heat";      ///< first part of element type names
  static constexpr Geometry geometry = Geometry::axisymmetric;  ///< the plane (x, y) revolved about y
};

/// Orthotropic heat conduction in a solid.
struct OrthotropicHeat : detail::OrthotropicHeatLaw {
  static constexpr const char* name = "orthotropic_heat";  ///< first part of element type names
};
/// Orthotropic heat conduction in a plane body.
struct OrthotropicPlaneHeat : detail::OrthotropicHeatLaw {
  static constexpr const char* name = "orthotropic_plane_heat";  ///< first part of element type names
  static constexpr Geometry geometry = Geometry::plane;          ///< volume is area times thickness
};
/// Orthotropic heat conduction in a body of revolution.
struct OrthotropicAxisymmetricHeat : detail::OrthotropicHeatLaw {
  static constexpr const char* name = "orthotropic_axisymmetric_heat";  ///< first part of element type names
  static constexpr Geometry geometry = Geometry::axisymmetric;          ///< the plane (x, y) revolved about y
};

}  // namespace voussoir
