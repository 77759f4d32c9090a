#pragma once
#include <voussoir/elements/surface/load_list.hpp>
#include <voussoir/elements/surface/quad9_face.hpp>

namespace voussoir::stock {

template <class Add>
void quad9_surface(const Add& add) {
  loads<PressureLoad, Geometry::solid, Quad9>(add, "pressure");
  loads<TractionLoad, Geometry::solid, Quad9>(add, "traction");
  loads<FluxLoad, Geometry::solid, Quad9>(add, "flux");
  loads<ConvectionLoad, Geometry::solid, Quad9>(add, "convection");
  loads<RadiationLoad, Geometry::solid, Quad9>(add, "radiation");
}

}  // namespace voussoir::stock
