#include <voussoir/elements/physics/orthotropic_elasticity.hpp>
#include <voussoir/elements/register.hpp>

namespace voussoir {

namespace {

const RegisterKernel<PointElement<OrthotropicPlaneStrain, Tri3, Full>> r1{"orthotropic_plane_strain.tri3", "tri3"};
const RegisterKernel<PointElement<OrthotropicPlaneStrain, Tri6, Full>> r2{"orthotropic_plane_strain.tri6", "tri6"};
const RegisterKernel<PointElement<OrthotropicPlaneStrain, Quad4, Incompatible>> r3{"orthotropic_plane_strain.quad4",
                                                                                   "quad4"};
const RegisterKernel<PointElement<OrthotropicPlaneStrain, Quad4, Incompatible>> r4{
    "orthotropic_plane_strain.quad4.incompatible", "quad4"};
const RegisterKernel<PointElement<OrthotropicPlaneStrain, Quad4, Full>> r5{"orthotropic_plane_strain.quad4.full",
                                                                           "quad4"};
const RegisterKernel<PointElement<OrthotropicPlaneStrain, Quad4, Reduced>> r6{"orthotropic_plane_strain.quad4.reduced",
                                                                              "quad4"};
const RegisterKernel<PointElement<OrthotropicPlaneStrain, Quad4, BBar>> r7{"orthotropic_plane_strain.quad4.bbar",
                                                                           "quad4"};
const RegisterKernel<PointElement<OrthotropicPlaneStrain, Quad8, Full>> r8{"orthotropic_plane_strain.quad8", "quad8"};
const RegisterKernel<PointElement<OrthotropicPlaneStrain, Quad8, Reduced>> r9{"orthotropic_plane_strain.quad8.reduced",
                                                                              "quad8"};

}  // namespace

}  // namespace voussoir
