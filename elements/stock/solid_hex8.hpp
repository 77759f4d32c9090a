#pragma once
#include <voussoir/elements/physics/elasticity.hpp>
#include <voussoir/elements/point/point_element.hpp>

namespace voussoir::stock {

template <class Add>
void solid_hex8(const Add& add) {
  add.template type<PointElement<Solid, Hex8, Incompatible>>("solid.hex8", "hex8");
  add.template type<PointElement<Solid, Hex8, Incompatible>>("solid.hex8.incompatible", "hex8");
  add.template type<PointElement<Solid, Hex8, Full>>("solid.hex8.full", "hex8");
  add.template type<PointElement<Solid, Hex8, Reduced>>("solid.hex8.reduced", "hex8");
  add.template type<PointElement<Solid, Hex8, BBar>>("solid.hex8.bbar", "hex8");
}

}  // namespace voussoir::stock
