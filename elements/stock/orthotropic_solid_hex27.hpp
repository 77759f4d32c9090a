#pragma once
#include <voussoir/elements/physics/orthotropic_elasticity.hpp>
#include <voussoir/elements/point/complete_rules.hpp>
#include <voussoir/elements/point/point_element.hpp>

namespace voussoir::stock {

template <class Add>
void orthotropic_solid_hex27(const Add& add) {
  add.template type<PointElement<OrthotropicSolid, Hex27, Full>>("orthotropic_solid.hex27", "hex27");
}

}  // namespace voussoir::stock
