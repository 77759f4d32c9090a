#pragma once
#include <voussoir/elements/physics/heat.hpp>
#include <voussoir/elements/point/point_element.hpp>

namespace voussoir::stock {

template <class Add>
void orthotropic_axisymmetric_heat(const Add& add) {
  add.template type<PointElement<OrthotropicAxisymmetricHeat, Tri3, Full>>("orthotropic_axisymmetric_heat.tri3",
                                                                           "tri3");
  add.template type<PointElement<OrthotropicAxisymmetricHeat, Tri6, Full>>("orthotropic_axisymmetric_heat.tri6",
                                                                           "tri6");
  add.template type<PointElement<OrthotropicAxisymmetricHeat, Quad4, Full>>("orthotropic_axisymmetric_heat.quad4",
                                                                            "quad4");
  add.template type<PointElement<OrthotropicAxisymmetricHeat, Quad8, Full>>("orthotropic_axisymmetric_heat.quad8",
                                                                            "quad8");
  add.template type<PointElement<OrthotropicAxisymmetricHeat, Quad8, Reduced>>(
      "orthotropic_axisymmetric_heat.quad8.reduced", "quad8");
}

}  // namespace voussoir::stock
