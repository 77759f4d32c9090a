#include <voussoir/backends/cuda/grid/device_grid_program.hpp>
#include <voussoir/backends/cuda/programs/native_program.hpp>
#include <voussoir/elements/point/point_element.hpp>

// The laws are registered by the test program.
#define VSR_REGISTER_ELEMENT(...) static_assert(true, "")
#define VSR_REGISTER_STENCIL(...) static_assert(true, "")

#include "support/finite_strain_laws.hpp"
#include "support/general_laws.hpp"
#include "support/grid_kernels.hpp"

// The laws of these headers as native programs of the emulated backend: without a run-time compiler their
// elements would be computed on the host, and no kernel for general laws would run where there is no GPU.

namespace voussoir::cuda {
namespace {

template <class Law, class Shape, class Formulation = Full>
void add(const char* type) {
  add_native_program(type, std::make_shared<NativeDeviceProgram<PointElement<Law, Shape, Formulation>>>());
}

/// Kernels for constant tangents find room for elements of any size.
template <class Law, class... Shapes>
constexpr bool fits() {
  return (... &&
          (tangent_ways<PointElement<voussoir::detail::ConstantLaw<Law>, Shapes, Full>>().constant_threads >= 32));
}
static_assert(fits<voussoir::testing::ReactionDiffusion, Tri3, Quad4, Tri6, Quad8, Tet4, Wedge6, Tet10, Hex8, Hex20>());
static_assert(fits<voussoir::testing::ConvectionDiffusion, Tri3, Quad4, Tet4, Tet10, Hex8, Hex20>());
static_assert(fits<voussoir::testing::ThermoElastic, Tet4, Hex8, Hex20>());

[[maybe_unused]] const bool added = [] {
  using namespace voussoir::testing;
  add<voussoir::detail::ConstantLaw<ReactionDiffusion>, Hex8>("reaction_diffusion.hex8");
  add<voussoir::detail::ConstantLaw<ReactionDiffusion>, Tet4>("reaction_diffusion.tet4");
  add<Ignition, Hex8>("ignition.hex8");
  add<voussoir::detail::ConstantLaw<ConvectionDiffusion>, Hex8>("convection_diffusion.hex8");
  add<NeoHookeEnergy, Hex8>("neo_hooke_energy.hex8");
  add<NeoHookeFlux, Hex8>("neo_hooke_flux.hex8");
  add<voussoir::detail::ConstantLaw<ThermoElastic>, Hex8>("coupled_solid.hex8");
  add<J2Plasticity, Hex8>("j2.hex8");
  add<J2Plasticity, Hex8, BBar>("j2.hex8.bbar");
  add<voussoir::detail::UniformLaw<PlainSolid, 2>, Hex8>("plain_solid.hex8");
  add<voussoir::detail::UniformLaw<PlainSolid, 2>, Hex20>("plain_solid.hex20");
  add<voussoir::detail::LinearLaw<Plume>, Hex8>("plume.hex8");
  add<StVenantKirchhoff, Hex8>("st_venant_kirchhoff.hex8");
  add<StVenantKirchhoff, Tet4>("st_venant_kirchhoff.tet4");
  add<HeavyJ2, Hex8>("heavy_j2.hex8");
  // "test.on_the_host" is left out, so that the emulation takes the route through the host.
  add_native_grid_program("test.advection_diffusion", std::make_shared<NativeGridProgram<AdvectionDiffusion>>());
  add_native_grid_program("test.mixed", std::make_shared<NativeGridProgram<MixedDerivative>>());
  add_native_grid_program("test.ignition", std::make_shared<NativeGridProgram<GridIgnition>>());
  return true;
}();

}  // namespace
}  // namespace voussoir::cuda
