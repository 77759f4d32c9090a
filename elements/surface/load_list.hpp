#pragma once
#include <voussoir/elements/surface/loads.hpp>

#include <string>

namespace voussoir::stock {

/// Adds a load on faces of several shapes: "pressure.tri3", "pressure.quad4", …
template <class Load, Geometry geometry, class... Shapes, class Add>
void loads(const Add& add, const std::string& name) {
  (add.template type<FaceLoad<Load, Shapes, geometry>>(name + "." + Shapes::name, Shapes::name), ...);
}

}  // namespace voussoir::stock
