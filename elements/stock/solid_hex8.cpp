#include <voussoir/elements/physics/elasticity.hpp>
#include <voussoir/elements/register.hpp>

namespace voussoir {

namespace {

const RegisterKernel<PointElement<Solid, Hex8, Incompatible>> r1{"solid.hex8", "hex8"};
const RegisterKernel<PointElement<Solid, Hex8, Incompatible>> r2{"solid.hex8.incompatible", "hex8"};
const RegisterKernel<PointElement<Solid, Hex8, Full>> r3{"solid.hex8.full", "hex8"};
const RegisterKernel<PointElement<Solid, Hex8, Reduced>> r4{"solid.hex8.reduced", "hex8"};
const RegisterKernel<PointElement<Solid, Hex8, BBar>> r5{"solid.hex8.bbar", "hex8"};

}  // namespace

}  // namespace voussoir
