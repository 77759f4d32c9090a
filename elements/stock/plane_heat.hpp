#pragma once
#include <voussoir/elements/physics/heat.hpp>
#include <voussoir/elements/point/point_element.hpp>

namespace voussoir::stock {

template <class Add>
void plane_heat(const Add& add) {
  add.template type<PointElement<PlaneHeat, Tri3, Full>>("plane_heat.tri3", "tri3");
  add.template type<PointElement<PlaneHeat, Tri6, Full>>("plane_heat.tri6", "tri6");
  add.template type<PointElement<PlaneHeat, Quad4, Full>>("plane_heat.quad4", "quad4");
  add.template type<PointElement<PlaneHeat, Quad8, Full>>("plane_heat.quad8", "quad8");
  add.template type<PointElement<PlaneHeat, Quad8, Reduced>>("plane_heat.quad8.reduced", "quad8");
}

}  // namespace voussoir::stock
