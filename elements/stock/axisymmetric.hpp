#pragma once
#include <voussoir/elements/physics/elasticity.hpp>
#include <voussoir/elements/point/point_element.hpp>

namespace voussoir::stock {

template <class Add>
void axisymmetric(const Add& add) {
  add.template type<PointElement<Axisymmetric, Tri3, Full>>("axisymmetric.tri3", "tri3");
  add.template type<PointElement<Axisymmetric, Tri6, Full>>("axisymmetric.tri6", "tri6");
  add.template type<PointElement<Axisymmetric, Quad4, Incompatible>>("axisymmetric.quad4", "quad4");
  add.template type<PointElement<Axisymmetric, Quad4, Incompatible>>("axisymmetric.quad4.incompatible", "quad4");
  add.template type<PointElement<Axisymmetric, Quad4, Full>>("axisymmetric.quad4.full", "quad4");
  add.template type<PointElement<Axisymmetric, Quad4, Reduced>>("axisymmetric.quad4.reduced", "quad4");
  add.template type<PointElement<Axisymmetric, Quad4, BBar>>("axisymmetric.quad4.bbar", "quad4");
  add.template type<PointElement<Axisymmetric, Quad8, Full>>("axisymmetric.quad8", "quad8");
  add.template type<PointElement<Axisymmetric, Quad8, Reduced>>("axisymmetric.quad8.reduced", "quad8");
}

}  // namespace voussoir::stock
