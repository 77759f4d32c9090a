#include <voussoir/elements/register_kernel.hpp>
#include <voussoir/elements/structural/beam.hpp>
#include <voussoir/elements/structural/point_mass.hpp>
#include <voussoir/elements/structural/spring.hpp>
#include <voussoir/elements/structural/truss.hpp>

namespace voussoir {
namespace {

const RegisterKernel<Truss> truss{Truss::name, Truss::shape};
const RegisterKernel<PlaneTruss> plane_truss{PlaneTruss::name, PlaneTruss::shape};
const RegisterKernel<Beam> beam{Beam::name, Beam::shape};
const RegisterKernel<AxialSpring> spring_axial{AxialSpring::name, AxialSpring::shape};
const RegisterKernel<PlaneAxialSpring> plane_spring_axial{PlaneAxialSpring::name, PlaneAxialSpring::shape};
const RegisterKernel<Spring> spring{Spring::name, Spring::shape};
const RegisterKernel<PlaneSpring> plane_spring{PlaneSpring::name, PlaneSpring::shape};
const RegisterKernel<RotarySpring> spring_rotary{RotarySpring::name, RotarySpring::shape};
const RegisterKernel<SpringToGround> spring_to_ground{SpringToGround::name, SpringToGround::shape};
const RegisterKernel<PlaneSpringToGround> plane_spring_to_ground{PlaneSpringToGround::name, PlaneSpringToGround::shape};
const RegisterKernel<RotarySpringToGround> rotary_to_ground{RotarySpringToGround::name, RotarySpringToGround::shape};
const RegisterKernel<PointMass> mass{PointMass::name, ""};
const RegisterKernel<PlaneMass> plane_mass{PlaneMass::name, ""};
const RegisterKernel<RotaryMass> mass_rotary{RotaryMass::name, ""};

}  // namespace
}  // namespace voussoir
