#pragma once
#include <voussoir/elements/physics/elasticity.hpp>
#include <voussoir/elements/point/complete_rules.hpp>
#include <voussoir/elements/point/point_element.hpp>

namespace voussoir::stock {

template <class Add>
void solid_wedge18(const Add& add) {
  add.template type<PointElement<Solid, Wedge18, Full>>("solid.wedge18", "wedge18");
}

}  // namespace voussoir::stock
