#include <voussoir/framework/io/deck/detail/element_types.hpp>

#include <algorithm>

namespace voussoir::deck {
namespace {

// Abaqus averages the change of volume over its linear quadrilaterals and hexahedra with full integration ("selective
// reduced integration"); CalculiX does not. Everything else is the same in both.
constexpr ElementMeaning meanings[] = {
    // name, nodes, family, CalculiX, Abaqus, heat, structural in a plane model
    {"C3D4", 4, Family::solid, "solid.tet4", "solid.tet4", "heat.tet4", ""},
    {"C3D6", 6, Family::solid, "solid.wedge6.reduced", "solid.wedge6.reduced", "heat.wedge6.reduced", ""},
    {"C3D8", 8, Family::solid, "solid.hex8.full", "solid.hex8.bbar", "heat.hex8", ""},
    {"C3D8R", 8, Family::solid, "solid.hex8.reduced", "solid.hex8.reduced", "heat.hex8", ""},
    {"C3D8I", 8, Family::solid, "solid.hex8.incompatible", "solid.hex8.incompatible", "heat.hex8", ""},
    {"C3D10", 10, Family::solid, "solid.tet10", "solid.tet10", "heat.tet10", ""},
    {"C3D10T", 10, Family::solid, "solid.tet10", "solid.tet10", "heat.tet10", ""},
    {"C3D15", 15, Family::solid, "solid.wedge15", "solid.wedge15", "heat.wedge15", ""},
    {"C3D20", 20, Family::solid, "solid.hex20", "solid.hex20", "heat.hex20", ""},
    {"C3D20R", 20, Family::solid, "solid.hex20.reduced", "solid.hex20.reduced", "heat.hex20.reduced", ""},
    {"CPS3", 3, Family::plane_stress, "plane_stress.tri3", "plane_stress.tri3", "plane_heat.tri3", ""},
    {"CPS4", 4, Family::plane_stress, "plane_stress.quad4.full", "plane_stress.quad4.full", "plane_heat.quad4", ""},
    {"CPS4R", 4, Family::plane_stress, "plane_stress.quad4.reduced", "plane_stress.quad4.reduced", "plane_heat.quad4",
     ""},
    {"CPS4I", 4, Family::plane_stress, "plane_stress.quad4.incompatible", "plane_stress.quad4.incompatible",
     "plane_heat.quad4", ""},
    {"CPS6", 6, Family::plane_stress, "plane_stress.tri6", "plane_stress.tri6", "plane_heat.tri6", ""},
    {"CPS8", 8, Family::plane_stress, "plane_stress.quad8", "plane_stress.quad8", "plane_heat.quad8", ""},
    {"CPS8R", 8, Family::plane_stress, "plane_stress.quad8.reduced", "plane_stress.quad8.reduced",
     "plane_heat.quad8.reduced", ""},
    {"CPE3", 3, Family::plane_strain, "plane_strain.tri3", "plane_strain.tri3", "plane_heat.tri3", ""},
    {"CPE4", 4, Family::plane_strain, "plane_strain.quad4.full", "plane_strain.quad4.bbar", "plane_heat.quad4", ""},
    {"CPE4R", 4, Family::plane_strain, "plane_strain.quad4.reduced", "plane_strain.quad4.reduced", "plane_heat.quad4",
     ""},
    {"CPE4I", 4, Family::plane_strain, "plane_strain.quad4.incompatible", "plane_strain.quad4.incompatible",
     "plane_heat.quad4", ""},
    {"CPE6", 6, Family::plane_strain, "plane_strain.tri6", "plane_strain.tri6", "plane_heat.tri6", ""},
    {"CPE8", 8, Family::plane_strain, "plane_strain.quad8", "plane_strain.quad8", "plane_heat.quad8", ""},
    {"CPE8R", 8, Family::plane_strain, "plane_strain.quad8.reduced", "plane_strain.quad8.reduced",
     "plane_heat.quad8.reduced", ""},
    {"CAX3", 3, Family::axisymmetric, "axisymmetric.tri3", "axisymmetric.tri3", "axisymmetric_heat.tri3", ""},
    {"CAX4", 4, Family::axisymmetric, "axisymmetric.quad4.full", "axisymmetric.quad4.bbar", "axisymmetric_heat.quad4",
     ""},
    {"CAX4R", 4, Family::axisymmetric, "axisymmetric.quad4.reduced", "axisymmetric.quad4.reduced",
     "axisymmetric_heat.quad4", ""},
    {"CAX4I", 4, Family::axisymmetric, "axisymmetric.quad4.incompatible", "axisymmetric.quad4.incompatible",
     "axisymmetric_heat.quad4", ""},
    {"CAX6", 6, Family::axisymmetric, "axisymmetric.tri6", "axisymmetric.tri6", "axisymmetric_heat.tri6", ""},
    {"CAX8", 8, Family::axisymmetric, "axisymmetric.quad8", "axisymmetric.quad8", "axisymmetric_heat.quad8", ""},
    {"CAX8R", 8, Family::axisymmetric, "axisymmetric.quad8.reduced", "axisymmetric.quad8.reduced",
     "axisymmetric_heat.quad8.reduced", ""},
    {"DC3D4", 4, Family::solid, "", "", "heat.tet4", ""},
    {"DC3D6", 6, Family::solid, "", "", "heat.wedge6.reduced", ""},
    {"DC3D8", 8, Family::solid, "", "", "heat.hex8", ""},
    {"DC3D10", 10, Family::solid, "", "", "heat.tet10", ""},
    {"DC3D15", 15, Family::solid, "", "", "heat.wedge15", ""},
    {"DC3D20", 20, Family::solid, "", "", "heat.hex20", ""},
    {"DC2D3", 3, Family::plane_heat, "", "", "plane_heat.tri3", ""},
    {"DC2D4", 4, Family::plane_heat, "", "", "plane_heat.quad4", ""},
    {"DC2D6", 6, Family::plane_heat, "", "", "plane_heat.tri6", ""},
    {"DC2D8", 8, Family::plane_heat, "", "", "plane_heat.quad8", ""},
    {"DCAX3", 3, Family::axisymmetric, "", "", "axisymmetric_heat.tri3", ""},
    {"DCAX4", 4, Family::axisymmetric, "", "", "axisymmetric_heat.quad4", ""},
    {"DCAX6", 6, Family::axisymmetric, "", "", "axisymmetric_heat.tri6", ""},
    {"DCAX8", 8, Family::axisymmetric, "", "", "axisymmetric_heat.quad8", ""},
    {"T3D2", 2, Family::truss, "truss", "truss", "", ""},
    {"T2D2", 2, Family::truss, "plane_truss", "plane_truss", "", ""},
    {"B31", 2, Family::beam, "beam", "beam", "", ""},
    {"B31R", 2, Family::beam, "beam", "beam", "", ""},
    {"B32", 3, Family::beam, "beam3", "beam3", "", ""},
    {"B32R", 3, Family::beam, "beam3", "beam3", "", ""},
    {"B21", 2, Family::beam, "beam", "beam", "", ""},
    {"B22", 3, Family::beam, "beam3", "beam3", "", ""},
    {"DCOUP3D", 1, Family::coupling, "", "", "", ""},
    {"SPRINGA", 2, Family::spring, "spring_axial", "spring_axial", "", "plane_spring_axial"},
    {"SPRING1", 1, Family::spring, "spring_to_ground", "spring_to_ground", "", "plane_spring_to_ground"},
    {"SPRING2", 2, Family::spring, "spring", "spring", "", "plane_spring"},
    {"MASS", 1, Family::mass, "mass", "mass", "", "plane_mass"},
};

}  // namespace

std::span<const ElementMeaning> element_meanings() { return meanings; }

const ElementMeaning* find_meaning(std::string_view name) {
  const auto* it =
      std::find_if(std::begin(meanings), std::end(meanings), [&](const auto& m) { return m.name == name; });
  return it == std::end(meanings) ? nullptr : it;
}

std::string describe(Family family) {
  switch (family) {
    case Family::solid:
      return "a solid element";
    case Family::plane_stress:
      return "a plane stress element";
    case Family::plane_strain:
      return "a plane strain element";
    case Family::axisymmetric:
      return "an axisymmetric element";
    case Family::plane_heat:
      return "a plane heat element";
    case Family::truss:
      return "a truss";
    case Family::beam:
      return "a beam";
    case Family::spring:
      return "a spring";
    case Family::mass:
      return "a mass";
    case Family::coupling:
      return "a coupling";
  }
  return "an element";
}

}  // namespace voussoir::deck
