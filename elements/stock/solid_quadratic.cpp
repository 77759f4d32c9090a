#include <voussoir/elements/physics/elasticity.hpp>
#include <voussoir/elements/register.hpp>

namespace voussoir {

namespace {

const RegisterKernel<PointElement<Solid, Tet10, Full>> r1{"solid.tet10", "tet10"};
const RegisterKernel<PointElement<Solid, Wedge15, Full>> r2{"solid.wedge15", "wedge15"};
const RegisterKernel<PointElement<Solid, Hex20, Full>> r3{"solid.hex20", "hex20"};
const RegisterKernel<PointElement<Solid, Hex20, Reduced>> r4{"solid.hex20.reduced", "hex20"};

}  // namespace

}  // namespace voussoir
