#pragma once
#include <voussoir/elements/physics/anisotropic_elasticity.hpp>
#include <voussoir/elements/point/point_element.hpp>

namespace voussoir::stock {

template <class Add>
void anisotropic_solid(const Add& add) {
  using Solid = AnisotropicSolid;
  add.template type<PointElement<Solid, Tet4, Full>>("anisotropic_solid.tet4", "tet4");
  add.template type<PointElement<Solid, Wedge6, Full>>("anisotropic_solid.wedge6", "wedge6");
  add.template type<PointElement<Solid, Wedge6, Reduced>>("anisotropic_solid.wedge6.reduced", "wedge6");
  add.template type<PointElement<Solid, Hex8, Incompatible>>("anisotropic_solid.hex8", "hex8");
  add.template type<PointElement<Solid, Hex8, Incompatible>>("anisotropic_solid.hex8.incompatible", "hex8");
  add.template type<PointElement<Solid, Hex8, Full>>("anisotropic_solid.hex8.full", "hex8");
  add.template type<PointElement<Solid, Hex8, Reduced>>("anisotropic_solid.hex8.reduced", "hex8");
  add.template type<PointElement<Solid, Hex8, BBar>>("anisotropic_solid.hex8.bbar", "hex8");
  add.template type<PointElement<Solid, Tet10, Full>>("anisotropic_solid.tet10", "tet10");
  add.template type<PointElement<Solid, Wedge15, Full>>("anisotropic_solid.wedge15", "wedge15");
  add.template type<PointElement<Solid, Hex20, Full>>("anisotropic_solid.hex20", "hex20");
  add.template type<PointElement<Solid, Hex20, Reduced>>("anisotropic_solid.hex20.reduced", "hex20");
}

}  // namespace voussoir::stock
