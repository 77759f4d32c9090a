#include <voussoir/elements/physics/orthotropic_elasticity.hpp>
#include <voussoir/elements/register.hpp>

namespace voussoir {

namespace {

const RegisterKernel<PointElement<OrthotropicSolid, Tet4, Full>> r1{"orthotropic_solid.tet4", "tet4"};
const RegisterKernel<PointElement<OrthotropicSolid, Wedge6, Full>> r2{"orthotropic_solid.wedge6", "wedge6"};
const RegisterKernel<PointElement<OrthotropicSolid, Wedge6, Reduced>> r3{"orthotropic_solid.wedge6.reduced", "wedge6"};

}  // namespace

}  // namespace voussoir
