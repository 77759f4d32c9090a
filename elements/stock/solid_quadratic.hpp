#pragma once
#include <voussoir/elements/physics/elasticity.hpp>
#include <voussoir/elements/point/point_element.hpp>

namespace voussoir::stock {

template <class Add>
void solid_quadratic(const Add& add) {
  add.template type<PointElement<Solid, Tet10, Full>>("solid.tet10", "tet10");
  add.template type<PointElement<Solid, Wedge15, Full>>("solid.wedge15", "wedge15");
  add.template type<PointElement<Solid, Hex20, Full>>("solid.hex20", "hex20");
  add.template type<PointElement<Solid, Hex20, Reduced>>("solid.hex20.reduced", "hex20");
}

}  // namespace voussoir::stock
