#include <voussoir/elements/physics/orthotropic_elasticity.hpp>
#include <voussoir/elements/register.hpp>

namespace voussoir {

namespace {

const RegisterKernel<PointElement<OrthotropicSolid, Hex8, Incompatible>> r1{"orthotropic_solid.hex8", "hex8"};
const RegisterKernel<PointElement<OrthotropicSolid, Hex8, Incompatible>> r2{"orthotropic_solid.hex8.incompatible",
                                                                            "hex8"};
const RegisterKernel<PointElement<OrthotropicSolid, Hex8, Full>> r3{"orthotropic_solid.hex8.full", "hex8"};
const RegisterKernel<PointElement<OrthotropicSolid, Hex8, Reduced>> r4{"orthotropic_solid.hex8.reduced", "hex8"};
const RegisterKernel<PointElement<OrthotropicSolid, Hex8, BBar>> r5{"orthotropic_solid.hex8.bbar", "hex8"};

}  // namespace

}  // namespace voussoir
