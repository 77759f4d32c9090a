#pragma once
#include <voussoir/elements/physics/orthotropic_elasticity.hpp>
#include <voussoir/elements/point/complete_rules.hpp>
#include <voussoir/elements/point/point_element.hpp>

namespace voussoir::stock {

template <class Add>
void orthotropic_plane_quad9(const Add& add) {
  add.template type<PointElement<OrthotropicPlaneStress, Quad9, Full>>("orthotropic_plane_stress.quad9", "quad9");
  add.template type<PointElement<OrthotropicPlaneStrain, Quad9, Full>>("orthotropic_plane_strain.quad9", "quad9");
  add.template type<PointElement<OrthotropicAxisymmetric, Quad9, Full>>("orthotropic_axisymmetric.quad9", "quad9");
}

}  // namespace voussoir::stock
