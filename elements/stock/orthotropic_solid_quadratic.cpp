#include <voussoir/elements/physics/orthotropic_elasticity.hpp>
#include <voussoir/elements/register.hpp>

namespace voussoir {

namespace {

const RegisterKernel<PointElement<OrthotropicSolid, Tet10, Full>> r1{"orthotropic_solid.tet10", "tet10"};
const RegisterKernel<PointElement<OrthotropicSolid, Wedge15, Full>> r2{"orthotropic_solid.wedge15", "wedge15"};
const RegisterKernel<PointElement<OrthotropicSolid, Hex20, Full>> r3{"orthotropic_solid.hex20", "hex20"};
const RegisterKernel<PointElement<OrthotropicSolid, Hex20, Reduced>> r4{"orthotropic_solid.hex20.reduced", "hex20"};

}  // namespace

}  // namespace voussoir
