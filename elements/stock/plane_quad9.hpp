#pragma once
#include <voussoir/elements/physics/elasticity.hpp>
#include <voussoir/elements/point/complete_rules.hpp>
#include <voussoir/elements/point/point_element.hpp>

namespace voussoir::stock {

template <class Add>
void plane_quad9(const Add& add) {
  add.template type<PointElement<PlaneStress, Quad9, Full>>("plane_stress.quad9", "quad9");
  add.template type<PointElement<PlaneStrain, Quad9, Full>>("plane_strain.quad9", "quad9");
  add.template type<PointElement<Axisymmetric, Quad9, Full>>("axisymmetric.quad9", "quad9");
}

}  // namespace voussoir::stock
