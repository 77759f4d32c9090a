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

const RegisterLoad<PressureLoad, Geometry::solid, Tri3, Tri6, Quad4, Quad8> pressure{"pressure"};
const RegisterLoad<PressureLoad, Geometry::plane, Line2, Line3> plane_pressure{"plane_pressure"};
const RegisterLoad<PressureLoad, Geometry::axisymmetric, Line2, Line3> axisymmetric_pressure{"axisymmetric_pressure"};
const RegisterLoad<TractionLoad, Geometry::solid, Tri3, Tri6, Quad4, Quad8> traction{"traction"};
const RegisterLoad<TractionLoad, Geometry::plane, Line2, Line3> plane_traction{"plane_traction"};
const RegisterLoad<TractionLoad, Geometry::axisymmetric, Line2, Line3> axisymmetric_traction{"axisymmetric_traction"};

}  // namespace
}  // namespace voussoir
