#include <voussoir/elements/physics/heat.hpp>
#include <voussoir/elements/register.hpp>

namespace voussoir {

namespace {

const RegisterKernel<PointElement<AxisymmetricHeat, Tri3, Full>> r1{"axisymmetric_heat.tri3", "tri3"};
const RegisterKernel<PointElement<AxisymmetricHeat, Tri6, Full>> r2{"axisymmetric_heat.tri6", "tri6"};
const RegisterKernel<PointElement<AxisymmetricHeat, Quad4, Full>> r3{"axisymmetric_heat.quad4", "quad4"};
const RegisterKernel<PointElement<AxisymmetricHeat, Quad8, Full>> r4{"axisymmetric_heat.quad8", "quad8"};
const RegisterKernel<PointElement<AxisymmetricHeat, Quad8, Reduced>> r5{"axisymmetric_heat.quad8.reduced", "quad8"};

}  // namespace

}  // namespace voussoir
