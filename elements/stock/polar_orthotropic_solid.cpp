#include <voussoir/elements/physics/polar_orthotropic_elasticity.hpp>
#include <voussoir/elements/register.hpp>

// For shapes whose points lie apart. Where a type is not listed, the axes in the middle of the element are used.

namespace voussoir {

namespace {

using Polar = PolarOrthotropicSolid;
const RegisterKernel<PointElement<Polar, Hex8, Incompatible>> r1{"polar_orthotropic_solid.hex8", "hex8"};
const RegisterKernel<PointElement<Polar, Hex8, Incompatible>> r2{"polar_orthotropic_solid.hex8.incompatible", "hex8"};
const RegisterKernel<PointElement<Polar, Hex8, Full>> r3{"polar_orthotropic_solid.hex8.full", "hex8"};
const RegisterKernel<PointElement<Polar, Wedge6, Full>> r4{"polar_orthotropic_solid.wedge6", "wedge6"};
const RegisterKernel<PointElement<Polar, Tet10, Full>> r5{"polar_orthotropic_solid.tet10", "tet10"};
const RegisterKernel<PointElement<Polar, Wedge15, Full>> r6{"polar_orthotropic_solid.wedge15", "wedge15"};
const RegisterKernel<PointElement<Polar, Hex20, Full>> r7{"polar_orthotropic_solid.hex20", "hex20"};
const RegisterKernel<PointElement<Polar, Hex20, Reduced>> r8{"polar_orthotropic_solid.hex20.reduced", "hex20"};

}  // namespace

}  // namespace voussoir
