#pragma once
#include <voussoir/elements/physics/elasticity.hpp>
#include <voussoir/elements/point/point_element.hpp>

namespace voussoir::stock {

template <class Add>
void solid_linear(const Add& add) {
  add.template type<PointElement<Solid, Tet4, Full>>("solid.tet4", "tet4");
  add.template type<PointElement<Solid, Wedge6, Full>>("solid.wedge6", "wedge6");
  add.template type<PointElement<Solid, Wedge6, Reduced>>("solid.wedge6.reduced", "wedge6");
}

}  // namespace voussoir::stock
