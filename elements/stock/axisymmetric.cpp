#include <voussoir/elements/physics/elasticity.hpp>
#include <voussoir/elements/register.hpp>

namespace voussoir {

namespace {

const RegisterKernel<PointElement<Axisymmetric, Tri3, Full>> r1{"axisymmetric.tri3", "tri3"};
const RegisterKernel<PointElement<Axisymmetric, Tri6, Full>> r2{"axisymmetric.tri6", "tri6"};
const RegisterKernel<PointElement<Axisymmetric, Quad4, Incompatible>> r3{"axisymmetric.quad4", "quad4"};
const RegisterKernel<PointElement<Axisymmetric, Quad4, Incompatible>> r4{"axisymmetric.quad4.incompatible", "quad4"};
const RegisterKernel<PointElement<Axisymmetric, Quad4, Full>> r5{"axisymmetric.quad4.full", "quad4"};
const RegisterKernel<PointElement<Axisymmetric, Quad4, Reduced>> r6{"axisymmetric.quad4.reduced", "quad4"};
const RegisterKernel<PointElement<Axisymmetric, Quad4, BBar>> r7{"axisymmetric.quad4.bbar", "quad4"};
const RegisterKernel<PointElement<Axisymmetric, Quad8, Full>> r8{"axisymmetric.quad8", "quad8"};
const RegisterKernel<PointElement<Axisymmetric, Quad8, Reduced>> r9{"axisymmetric.quad8.reduced", "quad8"};

}  // namespace

}  // namespace voussoir
