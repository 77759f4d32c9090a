#include <voussoir/elements/physics/elasticity.hpp>
#include <voussoir/elements/register.hpp>

namespace voussoir {

namespace {

const RegisterKernel<PointElement<PlaneStress, Tri3, Full>> r1{"plane_stress.tri3", "tri3"};
const RegisterKernel<PointElement<PlaneStress, Tri6, Full>> r2{"plane_stress.tri6", "tri6"};
const RegisterKernel<PointElement<PlaneStress, Quad4, Incompatible>> r3{"plane_stress.quad4", "quad4"};
const RegisterKernel<PointElement<PlaneStress, Quad4, Incompatible>> r4{"plane_stress.quad4.incompatible", "quad4"};
const RegisterKernel<PointElement<PlaneStress, Quad4, Full>> r5{"plane_stress.quad4.full", "quad4"};
const RegisterKernel<PointElement<PlaneStress, Quad4, Reduced>> r6{"plane_stress.quad4.reduced", "quad4"};
const RegisterKernel<PointElement<PlaneStress, Quad8, Full>> r7{"plane_stress.quad8", "quad8"};
const RegisterKernel<PointElement<PlaneStress, Quad8, Reduced>> r8{"plane_stress.quad8.reduced", "quad8"};

}  // namespace

}  // namespace voussoir
