#pragma once
#include <voussoir/elements/physics/heat.hpp>
#include <voussoir/elements/point/point_element.hpp>

namespace voussoir::stock {

template <class Add>
void axisymmetric_heat(const Add& add) {
  add.template type<PointElement<AxisymmetricHeat, Tri3, Full>>("axisymmetric_heat.tri3", "tri3");
  add.template type<PointElement<AxisymmetricHeat, Tri6, Full>>("axisymmetric_heat.tri6", "tri6");
  add.template type<PointElement<AxisymmetricHeat, Quad4, Full>>("axisymmetric_heat.quad4", "quad4");
  add.template type<PointElement<AxisymmetricHeat, Quad8, Full>>("axisymmetric_heat.quad8", "quad8");
  add.template type<PointElement<AxisymmetricHeat, Quad8, Reduced>>("axisymmetric_heat.quad8.reduced", "quad8");
}

}  // namespace voussoir::stock
