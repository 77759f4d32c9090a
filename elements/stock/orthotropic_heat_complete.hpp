#pragma once
#include <voussoir/elements/physics/heat.hpp>
#include <voussoir/elements/point/complete_rules.hpp>
#include <voussoir/elements/point/point_element.hpp>

namespace voussoir::stock {

template <class Add>
void orthotropic_heat_complete(const Add& add) {
  add.template type<PointElement<OrthotropicHeat, Wedge18, Full>>("orthotropic_heat.wedge18", "wedge18");
  add.template type<PointElement<OrthotropicHeat, Hex27, Full>>("orthotropic_heat.hex27", "hex27");
  add.template type<PointElement<OrthotropicPlaneHeat, Quad9, Full>>("orthotropic_plane_heat.quad9", "quad9");
  add.template type<PointElement<OrthotropicAxisymmetricHeat, Quad9, Full>>("orthotropic_axisymmetric_heat.quad9",
                                                                            "quad9");
}

}  // namespace voussoir::stock
