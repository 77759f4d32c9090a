#pragma once
#include <voussoir/elements/physics/polar_orthotropic_elasticity.hpp>
#include <voussoir/elements/point/complete_rules.hpp>
#include <voussoir/elements/point/point_element.hpp>

namespace voussoir::stock {

template <class Add>
void polar_orthotropic_solid_complete(const Add& add) {
  add.template type<PointElement<PolarOrthotropicSolid, Wedge18, Full>>("polar_orthotropic_solid.wedge18", "wedge18");
  add.template type<PointElement<PolarOrthotropicSolid, Hex27, Full>>("polar_orthotropic_solid.hex27", "hex27");
}

}  // namespace voussoir::stock
