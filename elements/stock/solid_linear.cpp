#include <voussoir/elements/physics/elasticity.hpp>
#include <voussoir/elements/register.hpp>

namespace voussoir {

namespace {

const RegisterKernel<PointElement<Solid, Tet4, Full>> r1{"solid.tet4", "tet4"};
const RegisterKernel<PointElement<Solid, Wedge6, Full>> r2{"solid.wedge6", "wedge6"};
const RegisterKernel<PointElement<Solid, Wedge6, Reduced>> r3{"solid.wedge6.reduced", "wedge6"};

}  // namespace

}  // namespace voussoir
