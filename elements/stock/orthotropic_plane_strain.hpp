#pragma once
#include <voussoir/elements/physics/orthotropic_elasticity.hpp>
#include <voussoir/elements/point/point_element.hpp>

namespace voussoir::stock {

template <class Add>
void orthotropic_plane_strain(const Add& add) {
  add.template type<PointElement<OrthotropicPlaneStrain, Tri3, Full>>("orthotropic_plane_strain.tri3", "tri3");
  add.template type<PointElement<OrthotropicPlaneStrain, Tri6, Full>>("orthotropic_plane_strain.tri6", "tri6");
  add.template type<PointElement<OrthotropicPlaneStrain, Quad4, Incompatible>>("orthotropic_plane_strain.quad4",
                                                                               "quad4");
  add.template type<PointElement<OrthotropicPlaneStrain, Quad4, Incompatible>>(
      "orthotropic_plane_strain.quad4.incompatible", "quad4");
  add.template type<PointElement<OrthotropicPlaneStrain, Quad4, Full>>("orthotropic_plane_strain.quad4.full", "quad4");
  add.template type<PointElement<OrthotropicPlaneStrain, Quad4, Reduced>>("orthotropic_plane_strain.quad4.reduced",
                                                                          "quad4");
  add.template type<PointElement<OrthotropicPlaneStrain, Quad4, BBar>>("orthotropic_plane_strain.quad4.bbar", "quad4");
  add.template type<PointElement<OrthotropicPlaneStrain, Quad8, Full>>("orthotropic_plane_strain.quad8", "quad8");
  add.template type<PointElement<OrthotropicPlaneStrain, Quad8, Reduced>>("orthotropic_plane_strain.quad8.reduced",
                                                                          "quad8");
}

}  // namespace voussoir::stock
