#pragma once
#include <voussoir/elements/physics/orthotropic_elasticity.hpp>
#include <voussoir/elements/point/point_element.hpp>

namespace voussoir::stock {

template <class Add>
void orthotropic_solid_quadratic(const Add& add) {
  add.template type<PointElement<OrthotropicSolid, Tet10, Full>>("orthotropic_solid.tet10", "tet10");
  add.template type<PointElement<OrthotropicSolid, Wedge15, Full>>("orthotropic_solid.wedge15", "wedge15");
  add.template type<PointElement<OrthotropicSolid, Hex20, Full>>("orthotropic_solid.hex20", "hex20");
  add.template type<PointElement<OrthotropicSolid, Hex20, Reduced>>("orthotropic_solid.hex20.reduced", "hex20");
}

}  // namespace voussoir::stock
