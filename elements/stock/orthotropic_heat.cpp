#include <voussoir/elements/physics/heat.hpp>
#include <voussoir/elements/register.hpp>

namespace voussoir {

namespace {

const RegisterKernel<PointElement<OrthotropicHeat, Tet4, Full>> r1{"orthotropic_heat.tet4", "tet4"};
const RegisterKernel<PointElement<OrthotropicHeat, Tet10, Full>> r2{"orthotropic_heat.tet10", "tet10"};
const RegisterKernel<PointElement<OrthotropicHeat, Wedge6, Full>> r3{"orthotropic_heat.wedge6", "wedge6"};
const RegisterKernel<PointElement<OrthotropicHeat, Wedge15, Full>> r4{"orthotropic_heat.wedge15", "wedge15"};
const RegisterKernel<PointElement<OrthotropicHeat, Hex8, Full>> r5{"orthotropic_heat.hex8", "hex8"};
const RegisterKernel<PointElement<OrthotropicHeat, Hex20, Full>> r6{"orthotropic_heat.hex20", "hex20"};
const RegisterKernel<PointElement<OrthotropicHeat, Hex20, Reduced>> r7{"orthotropic_heat.hex20.reduced", "hex20"};
const RegisterKernel<PointElement<OrthotropicHeat, Wedge6, Reduced>> r8{"orthotropic_heat.wedge6.reduced", "wedge6"};

}  // namespace

}  // namespace voussoir
