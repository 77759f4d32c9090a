#pragma once
#include <voussoir/elements/physics/elasticity.hpp>
#include <voussoir/elements/point/point_element.hpp>

namespace voussoir::stock {

template <class Add>
void plane_stress(const Add& add) {
  add.template type<PointElement<PlaneStress, Tri3, Full>>("plane_stress.tri3", "tri3");
  add.template type<PointElement<PlaneStress, Tri6, Full>>("plane_stress.tri6", "tri6");
  add.template type<PointElement<PlaneStress, Quad4, Incompatible>>("plane_stress.quad4", "quad4");
  add.template type<PointElement<PlaneStress, Quad4, Incompatible>>("plane_stress.quad4.incompatible", "quad4");
  add.template type<PointElement<PlaneStress, Quad4, Full>>("plane_stress.quad4.full", "quad4");
  add.template type<PointElement<PlaneStress, Quad4, Reduced>>("plane_stress.quad4.reduced", "quad4");
  add.template type<PointElement<PlaneStress, Quad8, Full>>("plane_stress.quad8", "quad8");
  add.template type<PointElement<PlaneStress, Quad8, Reduced>>("plane_stress.quad8.reduced", "quad8");
}

}  // namespace voussoir::stock
