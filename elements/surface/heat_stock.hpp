#pragma once
#include <voussoir/elements/surface/load_list.hpp>

namespace voussoir::stock {

template <class Add>
void heat_surface(const Add& add) {
  loads<FluxLoad, Geometry::solid, Tri3, Tri6, Quad4, Quad8>(add, "flux");
  loads<FluxLoad, Geometry::plane, Line2, Line3>(add, "plane_flux");
  loads<FluxLoad, Geometry::axisymmetric, Line2, Line3>(add, "axisymmetric_flux");
  loads<ConvectionLoad, Geometry::solid, Tri3, Tri6, Quad4, Quad8>(add, "convection");
  loads<ConvectionLoad, Geometry::plane, Line2, Line3>(add, "plane_convection");
  loads<ConvectionLoad, Geometry::axisymmetric, Line2, Line3>(add, "axisymmetric_convection");
  loads<RadiationLoad, Geometry::solid, Tri3, Tri6, Quad4, Quad8>(add, "radiation");
  loads<RadiationLoad, Geometry::plane, Line2, Line3>(add, "plane_radiation");
  loads<RadiationLoad, Geometry::axisymmetric, Line2, Line3>(add, "axisymmetric_radiation");
}

}  // namespace voussoir::stock
