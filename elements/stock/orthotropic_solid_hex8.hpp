#pragma once
#include <voussoir/elements/physics/orthotropic_elasticity.hpp>
#include <voussoir/elements/point/point_element.hpp>

namespace voussoir::stock {

template <class Add>
void orthotropic_solid_hex8(const Add& add) {
  add.template type<PointElement<OrthotropicSolid, Hex8, Incompatible>>("orthotropic_solid.hex8", "hex8");
  add.template type<PointElement<OrthotropicSolid, Hex8, Incompatible>>("orthotropic_solid.hex8.incompatible", "hex8");
  add.template type<PointElement<OrthotropicSolid, Hex8, Full>>("orthotropic_solid.hex8.full", "hex8");
  add.template type<PointElement<OrthotropicSolid, Hex8, Reduced>>("orthotropic_solid.hex8.reduced", "hex8");
  add.template type<PointElement<OrthotropicSolid, Hex8, BBar>>("orthotropic_solid.hex8.bbar", "hex8");
}

}  // namespace voussoir::stock
