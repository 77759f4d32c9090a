#include <voussoir/elements/physics/orthotropic_elasticity.hpp>
#include <voussoir/elements/register.hpp>

namespace voussoir {

namespace {

const RegisterKernel<PointElement<OrthotropicAxisymmetric, Tri3, Full>> r1{"orthotropic_axisymmetric.tri3", "tri3"};
const RegisterKernel<PointElement<OrthotropicAxisymmetric, Tri6, Full>> r2{"orthotropic_axisymmetric.tri6", "tri6"};
const RegisterKernel<PointElement<OrthotropicAxisymmetric, Quad4, Incompatible>> r3{"orthotropic_axisymmetric.quad4",
                                                                                    "quad4"};
const RegisterKernel<PointElement<OrthotropicAxisymmetric, Quad4, Incompatible>> r4{
    "orthotropic_axisymmetric.quad4.incompatible", "quad4"};
const RegisterKernel<PointElement<OrthotropicAxisymmetric, Quad4, Full>> r5{"orthotropic_axisymmetric.quad4.full",
                                                                            "quad4"};
const RegisterKernel<PointElement<OrthotropicAxisymmetric, Quad4, Reduced>> r6{"orthotropic_axisymmetric.quad4.reduced",
                                                                               "quad4"};
const RegisterKernel<PointElement<OrthotropicAxisymmetric, Quad4, BBar>> r7{"orthotropic_axisymmetric.quad4.bbar",
                                                                            "quad4"};
const RegisterKernel<PointElement<OrthotropicAxisymmetric, Quad8, Full>> r8{"orthotropic_axisymmetric.quad8", "quad8"};
const RegisterKernel<PointElement<OrthotropicAxisymmetric, Quad8, Reduced>> r9{"orthotropic_axisymmetric.quad8.reduced",
                                                                               "quad8"};

}  // namespace

}  // namespace voussoir
