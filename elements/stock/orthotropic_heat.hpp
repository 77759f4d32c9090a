#pragma once
#include <voussoir/elements/physics/heat.hpp>
#include <voussoir/elements/point/point_element.hpp>

namespace voussoir::stock {

template <class Add>
void orthotropic_heat(const Add& add) {
  add.template type<PointElement<OrthotropicHeat, Tet4, Full>>("orthotropic_heat.tet4", "tet4");
  add.template type<PointElement<OrthotropicHeat, Tet10, Full>>("orthotropic_heat.tet10", "tet10");
  add.template type<PointElement<OrthotropicHeat, Wedge6, Full>>("orthotropic_heat.wedge6", "wedge6");
  add.template type<PointElement<OrthotropicHeat, Wedge15, Full>>("orthotropic_heat.wedge15", "wedge15");
  add.template type<PointElement<OrthotropicHeat, Hex8, Full>>("orthotropic_heat.hex8", "hex8");
  add.template type<PointElement<OrthotropicHeat, Hex20, Full>>("orthotropic_heat.hex20", "hex20");
  add.template type<PointElement<OrthotropicHeat, Hex20, Reduced>>("orthotropic_heat.hex20.reduced", "hex20");
  add.template type<PointElement<OrthotropicHeat, Wedge6, Reduced>>("orthotropic_heat.wedge6.reduced", "wedge6");
}

}  // namespace voussoir::stock
