#pragma once
#include <voussoir/elements/physics/orthotropic_elasticity.hpp>
#include <voussoir/elements/point/complete_rules.hpp>
#include <voussoir/elements/point/point_element.hpp>

namespace voussoir::stock {

template <class Add>
void orthotropic_solid_wedge18(const Add& add) {
  add.template type<PointElement<OrthotropicSolid, Wedge18, Full>>("orthotropic_solid.wedge18", "wedge18");
}

}  // namespace voussoir::stock
