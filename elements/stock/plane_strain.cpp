#include <voussoir/elements/physics/elasticity.hpp>
#include <voussoir/elements/register.hpp>

namespace voussoir {

namespace {

const RegisterKernel<PointElement<PlaneStrain, Tri3, Full>> r1{"plane_strain.tri3", "tri3"};
const RegisterKernel<PointElement<PlaneStrain, Tri6, Full>> r2{"plane_strain.tri6", "tri6"};
const RegisterKernel<PointElement<PlaneStrain, Quad4, Incompatible>> r3{"plane_strain.quad4", "quad4"};
const RegisterKernel<PointElement<PlaneStrain, Quad4, Incompatible>> r4{"plane_strain.quad4.incompatible", "quad4"};
const RegisterKernel<PointElement<PlaneStrain, Quad4, Full>> r5{"plane_strain.quad4.full", "quad4"};
const RegisterKernel<PointElement<PlaneStrain, Quad4, Reduced>> r6{"plane_strain.quad4.reduced", "quad4"};
const RegisterKernel<PointElement<PlaneStrain, Quad4, BBar>> r7{"plane_strain.quad4.bbar", "quad4"};
const RegisterKernel<PointElement<PlaneStrain, Quad8, Full>> r8{"plane_strain.quad8", "quad8"};
const RegisterKernel<PointElement<PlaneStrain, Quad8, Reduced>> r9{"plane_strain.quad8.reduced", "quad8"};

}  // namespace

}  // namespace voussoir
