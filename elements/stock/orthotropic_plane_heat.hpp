#pragma once
#include <voussoir/elements/physics/heat.hpp>
#include <voussoir/elements/point/point_element.hpp>

namespace voussoir::stock {

template <class Add>
void orthotropic_plane_heat(const Add& add) {
  add.template type<PointElement<OrthotropicPlaneHeat, Tri3, Full>>("orthotropic_plane_heat.tri3", "tri3");
  add.template type<PointElement<OrthotropicPlaneHeat, Tri6, Full>>("orthotropic_plane_heat.tri6", "tri6");
  add.template type<PointElement<OrthotropicPlaneHeat, Quad4, Full>>("orthotropic_plane_heat.quad4", "quad4");
  add.template type<PointElement<OrthotropicPlaneHeat, Quad8, Full>>("orthotropic_plane_heat.quad8", "quad8");
  add.template type<PointElement<OrthotropicPlaneHeat, Quad8, Reduced>>("orthotropic_plane_heat.quad8.reduced",
                                                                        "quad8");
}

}  // namespace voussoir::stock
