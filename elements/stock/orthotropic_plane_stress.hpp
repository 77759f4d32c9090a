#pragma once
#include <voussoir/elements/physics/orthotropic_elasticity.hpp>
#include <voussoir/elements/point/point_element.hpp>

namespace voussoir::stock {

template <class Add>
void orthotropic_plane_stress(const Add& add) {
  add.template type<PointElement<OrthotropicPlaneStress, Tri3, Full>>("orthotropic_plane_stress.tri3", "tri3");
  add.template type<PointElement<OrthotropicPlaneStress, Tri6, Full>>("orthotropic_plane_stress.tri6", "tri6");
  add.template type<PointElement<OrthotropicPlaneStress, Quad4, Incompatible>>("orthotropic_plane_stress.quad4",
                                                                               "quad4");
  add.template type<PointElement<OrthotropicPlaneStress, Quad4, Incompatible>>(
      "orthotropic_plane_stress.quad4.incompatible", "quad4");
  add.template type<PointElement<OrthotropicPlaneStress, Quad4, Full>>("orthotropic_plane_stress.quad4.full", "quad4");
  add.template type<PointElement<OrthotropicPlaneStress, Quad4, Reduced>>("orthotropic_plane_stress.quad4.reduced",
                                                                          "quad4");
  add.template type<PointElement<OrthotropicPlaneStress, Quad8, Full>>("orthotropic_plane_stress.quad8", "quad8");
  add.template type<PointElement<OrthotropicPlaneStress, Quad8, Reduced>>("orthotropic_plane_stress.quad8.reduced",
                                                                          "quad8");
}

}  // namespace voussoir::stock
