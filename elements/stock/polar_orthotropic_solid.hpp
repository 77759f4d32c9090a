#pragma once
#include <voussoir/elements/physics/polar_orthotropic_elasticity.hpp>
#include <voussoir/elements/point/point_element.hpp>

// For shapes whose points lie apart. Where a type is not listed, the axes in the middle of the element are used.

namespace voussoir::stock {

template <class Add>
void polar_orthotropic_solid(const Add& add) {
  using Polar = PolarOrthotropicSolid;
  add.template type<PointElement<Polar, Hex8, Incompatible>>("polar_orthotropic_solid.hex8", "hex8");
  add.template type<PointElement<Polar, Hex8, Incompatible>>("polar_orthotropic_solid.hex8.incompatible", "hex8");
  add.template type<PointElement<Polar, Hex8, Full>>("polar_orthotropic_solid.hex8.full", "hex8");
  add.template type<PointElement<Polar, Wedge6, Full>>("polar_orthotropic_solid.wedge6", "wedge6");
  add.template type<PointElement<Polar, Tet10, Full>>("polar_orthotropic_solid.tet10", "tet10");
  add.template type<PointElement<Polar, Wedge15, Full>>("polar_orthotropic_solid.wedge15", "wedge15");
  add.template type<PointElement<Polar, Hex20, Full>>("polar_orthotropic_solid.hex20", "hex20");
  add.template type<PointElement<Polar, Hex20, Reduced>>("polar_orthotropic_solid.hex20.reduced", "hex20");
}

}  // namespace voussoir::stock
