#include <voussoir/elements/physics/orthotropic_elasticity.hpp>
#include <voussoir/elements/register.hpp>

namespace voussoir {

namespace {

const RegisterKernel<PointElement<OrthotropicPlaneStress, Tri3, Full>> r1{"orthotropic_plane_stress.tri3", "tri3"};
const RegisterKernel<PointElement<OrthotropicPlaneStress, Tri6, Full>> r2{"orthotropic_plane_stress.tri6", "tri6"};
const RegisterKernel<PointElement<OrthotropicPlaneStress, Quad4, Incompatible>> r3{"orthotropic_plane_stress.quad4",
                                                                                   "quad4"};
const RegisterKernel<PointElement<OrthotropicPlaneStress, Quad4, Incompatible>> r4{
    "orthotropic_plane_stress.quad4.incompatible", "quad4"};
const RegisterKernel<PointElement<OrthotropicPlaneStress, Quad4, Full>> r5{"orthotropic_plane_stress.quad4.full",
                                                                           "quad4"};
const RegisterKernel<PointElement<OrthotropicPlaneStress, Quad4, Reduced>> r6{"orthotropic_plane_stress.quad4.reduced",
                                                                              "quad4"};
const RegisterKernel<PointElement<OrthotropicPlaneStress, Quad8, Full>> r7{"orthotropic_plane_stress.quad8", "quad8"};
const RegisterKernel<PointElement<OrthotropicPlaneStress, Quad8, Reduced>> r8{"orthotropic_plane_stress.quad8.reduced",
                                                                              "quad8"};

}  // namespace

}  // namespace voussoir
