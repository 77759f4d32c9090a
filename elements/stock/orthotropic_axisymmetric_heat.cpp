#include <voussoir/elements/physics/heat.hpp>
#include <voussoir/elements/register.hpp>

namespace voussoir {

namespace {

const RegisterKernel<PointElement<OrthotropicAxisymmetricHeat, Tri3, Full>> r1{"orthotropic_axisymmetric_heat.tri3",
                                                                               "tri3"};
const RegisterKernel<PointElement<OrthotropicAxisymmetricHeat, Tri6, Full>> r2{"orthotropic_axisymmetric_heat.tri6",
                                                                               "tri6"};
const RegisterKernel<PointElement<OrthotropicAxisymmetricHeat, Quad4, Full>> r3{"orthotropic_axisymmetric_heat.quad4",
                                                                                "quad4"};
const RegisterKernel<PointElement<OrthotropicAxisymmetricHeat, Quad8, Full>> r4{"orthotropic_axisymmetric_heat.quad8",
                                                                                "quad8"};
const RegisterKernel<PointElement<OrthotropicAxisymmetricHeat, Quad8, Reduced>> r5{
    "orthotropic_axisymmetric_heat.quad8.reduced", "quad8"};

}  // namespace

}  // namespace voussoir
