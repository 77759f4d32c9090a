#pragma once
#include <voussoir/elements/physics/elasticity.hpp>
#include <voussoir/elements/point/point_element.hpp>

namespace voussoir::stock {

template <class Add>
void plane_strain(const Add& add) {
  add.template type<PointElement<PlaneStrain, Tri3, Full>>("plane_strain.tri3", "tri3");
  add.template type<PointElement<PlaneStrain, Tri6, Full>>("plane_strain.tri6", "tri6");
  add.template type<PointElement<PlaneStrain, Quad4, Incompatible>>("plane_strain.quad4", "quad4");
  add.template type<PointElement<PlaneStrain, Quad4, Incompatible>>("plane_strain.quad4.incompatible", "quad4");
  add.template type<PointElement<PlaneStrain, Quad4, Full>>("plane_strain.quad4.full", "quad4");
  add.template type<PointElement<PlaneStrain, Quad4, Reduced>>("plane_strain.quad4.reduced", "quad4");
  add.template type<PointElement<PlaneStrain, Quad4, BBar>>("plane_strain.quad4.bbar", "quad4");
  add.template type<PointElement<PlaneStrain, Quad8, Full>>("plane_strain.quad8", "quad8");
  add.template type<PointElement<PlaneStrain, Quad8, Reduced>>("plane_strain.quad8.reduced", "quad8");
}

}  // namespace voussoir::stock
