#pragma once
#include <voussoir/elements/physics/elasticity.hpp>
#include <voussoir/elements/point/complete_rules.hpp>
#include <voussoir/elements/point/point_element.hpp>

namespace voussoir::stock {

template <class Add>
void solid_hex27(const Add& add) {
  add.template type<PointElement<Solid, Hex27, Full>>("solid.hex27", "hex27");
}

}  // namespace voussoir::stock
