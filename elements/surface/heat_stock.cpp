#include <voussoir/elements/register_kernel.hpp>
#include <voussoir/elements/surface/loads.hpp>

#include <string>

namespace voussoir {
namespace {

template <class Load, Geometry geometry, class... Shapes>
struct RegisterLoad {
  explicit RegisterLoad(const std::string& name) {
    (RegisterKernel<FaceLoad<Load, Shapes, geometry>>(name + "." + Shapes::name, Shapes::name), ...);
  }
};

const RegisterLoad<FluxLoad, Geometry::solid, Tri3, Tri6, Quad4, Quad8> flux{"flux"};
const RegisterLoad<FluxLoad, Geometry::plane, Line2, Line3> plane_flux{"plane_flux"};
const RegisterLoad<FluxLoad, Geometry::axisymmetric, Line2, Line3> axisymmetric_flux{"axisymmetric_flux"};
const RegisterLoad<ConvectionLoad, Geometry::solid, Tri3, Tri6, Quad4, Quad8> convection{"convection"};
const RegisterLoad<ConvectionLoad, Geometry::plane, Line2, Line3> plane_convection{"plane_convection"};
const RegisterLoad<ConvectionLoad, Geometry::axisymmetric, Line2, Line3> axisymmetric_convection{
    "axisymmetric_convection"};

}  // namespace
}  // namespace voussoir
