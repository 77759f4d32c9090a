#include <voussoir/elements/physics/heat.hpp>
#include <voussoir/elements/register.hpp>

namespace voussoir {

namespace {

const RegisterKernel<PointElement<Heat, Tet4, Full>> r1{"heat.tet4", "tet4"};
const RegisterKernel<PointElement<Heat, Tet10, Full>> r2{"heat.tet10", "tet10"};
const RegisterKernel<PointElement<Heat, Wedge6, Full>> r3{"heat.wedge6", "wedge6"};
const RegisterKernel<PointElement<Heat, Wedge15, Full>> r4{"heat.wedge15", "wedge15"};
const RegisterKernel<PointElement<Heat, Hex8, Full>> r5{"heat.hex8", "hex8"};
const RegisterKernel<PointElement<Heat, Hex20, Full>> r6{"heat.hex20", "hex20"};
const RegisterKernel<PointElement<Heat, Hex20, Reduced>> r7{"heat.hex20.reduced", "hex20"};
const RegisterKernel<PointElement<Heat, Wedge6, Reduced>> r8{"heat.wedge6.reduced", "wedge6"};

}  // namespace

}  // namespace voussoir
