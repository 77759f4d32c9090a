#pragma once
#include <voussoir/elements/physics/orthotropic_elasticity.hpp>
#include <voussoir/elements/point/point_element.hpp>

namespace voussoir::stock {

template <class Add>
void orthotropic_solid_linear(const Add& add) {
  add.template type<PointElement<OrthotropicSolid, Tet4, Full>>("orthotropic_solid.tet4", "tet4");
  add.template type<PointElement<OrthotropicSolid, Wedge6, Full>>("orthotropic_solid.wedge6", "wedge6");
  add.template type<PointElement<OrthotropicSolid, Wedge6, Reduced>>("orthotropic_solid.wedge6.reduced", "wedge6");
}

}  // namespace voussoir::stock
