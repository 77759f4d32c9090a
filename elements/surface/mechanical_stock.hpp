#pragma once
#include <voussoir/elements/surface/load_list.hpp>

namespace voussoir::stock {

template <class Add>
void mechanical_surface(const Add& add) {
  loads<PressureLoad, Geometry::solid, Tri3, Tri6, Quad4, Quad8>(add, "pressure");
  loads<PressureLoad, Geometry::plane, Line2, Line3>(add, "plane_pressure");
  loads<PressureLoad, Geometry::axisymmetric, Line2, Line3>(add, "axisymmetric_pressure");
  loads<TractionLoad, Geometry::solid, Tri3, Tri6, Quad4, Quad8>(add, "traction");
  loads<TractionLoad, Geometry::plane, Line2, Line3>(add, "plane_traction");
  loads<TractionLoad, Geometry::axisymmetric, Line2, Line3>(add, "axisymmetric_traction");
}

}  // namespace voussoir::stock
