#pragma once
#include <voussoir/elements/physics/orthotropic_elasticity.hpp>
#include <voussoir/elements/point/point_element.hpp>

namespace voussoir::stock {

template <class Add>
void orthotropic_axisymmetric(const Add& add) {
  add.template type<PointElement<OrthotropicAxisymmetric, Tri3, Full>>("orthotropic_axisymmetric.tri3", "tri3");
  add.template type<PointElement<OrthotropicAxisymmetric, Tri6, Full>>("orthotropic_axisymmetric.tri6", "tri6");
  add.template type<PointElement<OrthotropicAxisymmetric, Quad4, Incompatible>>("orthotropic_axisymmetric.quad4",
                                                                                "quad4");
  add.template type<PointElement<OrthotropicAxisymmetric, Quad4, Incompatible>>(
      "orthotropic_axisymmetric.quad4.incompatible", "quad4");
  add.template type<PointElement<OrthotropicAxisymmetric, Quad4, Full>>("orthotropic_axisymmetric.quad4.full", "quad4");
  add.template type<PointElement<OrthotropicAxisymmetric, Quad4, Reduced>>("orthotropic_axisymmetric.quad4.reduced",
                                                                           "quad4");
  add.template type<PointElement<OrthotropicAxisymmetric, Quad4, BBar>>("orthotropic_axisymmetric.quad4.bbar", "quad4");
  add.template type<PointElement<OrthotropicAxisymmetric, Quad8, Full>>("orthotropic_axisymmetric.quad8", "quad8");
  add.template type<PointElement<OrthotropicAxisymmetric, Quad8, Reduced>>("orthotropic_axisymmetric.quad8.reduced",
                                                                           "quad8");
}

}  // namespace voussoir::stock
