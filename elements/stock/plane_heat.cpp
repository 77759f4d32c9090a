#include <voussoir/elements/physics/heat.hpp>
#include <voussoir/elements/register.hpp>

namespace voussoir {

namespace {

const RegisterKernel<PointElement<PlaneHeat, Tri3, Full>> r1{"plane_heat.tri3", "tri3"};
const RegisterKernel<PointElement<PlaneHeat, Tri6, Full>> r2{"plane_heat.tri6", "tri6"};
const RegisterKernel<PointElement<PlaneHeat, Quad4, Full>> r3{"plane_heat.quad4", "quad4"};
const RegisterKernel<PointElement<PlaneHeat, Quad8, Full>> r4{"plane_heat.quad8", "quad8"};
const RegisterKernel<PointElement<PlaneHeat, Quad8, Reduced>> r5{"plane_heat.quad8.reduced", "quad8"};

}  // namespace

}  // namespace voussoir
