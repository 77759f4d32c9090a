#pragma once
#include <voussoir/elements/physics/heat.hpp>
#include <voussoir/elements/point/point_element.hpp>

namespace voussoir::stock {

template <class Add>
void heat(const Add& add) {
  add.template type<PointElement<Heat, Tet4, Full>>("heat.tet4", "tet4");
  add.template type<PointElement<Heat, Tet10, Full>>("heat.tet10", "tet10");
  add.template type<PointElement<Heat, Wedge6, Full>>("heat.wedge6", "wedge6");
  add.template type<PointElement<Heat, Wedge15, Full>>("heat.wedge15", "wedge15");
  add.template type<PointElement<Heat, Hex8, Full>>("heat.hex8", "hex8");
  add.template type<PointElement<Heat, Hex20, Full>>("heat.hex20", "hex20");
  add.template type<PointElement<Heat, Hex20, Reduced>>("heat.hex20.reduced", "hex20");
  add.template type<PointElement<Heat, Wedge6, Reduced>>("heat.wedge6.reduced", "wedge6");
}

}  // namespace voussoir::stock
