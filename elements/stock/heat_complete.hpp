#pragma once
#include <voussoir/elements/physics/heat.hpp>
#include <voussoir/elements/point/complete_rules.hpp>
#include <voussoir/elements/point/point_element.hpp>

namespace voussoir::stock {

template <class Add>
void heat_complete(const Add& add) {
  add.template type<PointElement<Heat, Wedge18, Full>>("heat.wedge18", "wedge18");
  add.template type<PointElement<Heat, Hex27, Full>>("heat.hex27", "hex27");
  add.template type<PointElement<PlaneHeat, Quad9, Full>>("plane_heat.quad9", "quad9");
  add.template type<PointElement<AxisymmetricHeat, Quad9, Full>>("axisymmetric_heat.quad9", "quad9");
}

}  // namespace voussoir::stock
