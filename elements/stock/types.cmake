# The element types of the library, one line each: the name that models use, then the C++ type that computes it. Every
# backend that compiles them for itself reads this list (cmake/VoussoirStock.cmake), so that a line added here is a type
# on the CPU, on a GPU and in `voussoir info --elements`.
#
#   voussoir_stock_source(<name> <header>...)                        begins a source file; the types that follow are in it
#   voussoir_extra_source(<name> <header>...)                        the same, for types that few models use: on the CPU they
#                                                                    are in a library of their own, loaded on demand
#   voussoir_point_element(<type> <law> <shape> <formulation>)       PointElement<law, shape, formulation>
#   voussoir_finite_element(<type> <law> <shape> <formulation>)      FiniteElement<law, shape, formulation>
#   voussoir_follower_pressure(<shape>...)                           FollowerPressure<shape> as follower_pressure.<shape>
#   voussoir_face_load(<name> <load> <geometry> <shape>...)          FaceLoad<load, shape, geometry> as <name>.<shape>
#   voussoir_element(<type> <kernel> <shape>)                        an element kernel of its own; shape "": none
#
# nvcc compiles each source alone, g++ up to four in a row together. nvcc needs most of a minute for the largest types, so
# start another source rather than let one grow: none may take longer than a minute on one core.

# ---- Solids ----------------------------------------------------------------------------------------------------------

voussoir_stock_source(solid_linear elements/physics/elasticity.hpp)
voussoir_point_element(solid.tet4            Solid Tet4    Full)
voussoir_point_element(solid.wedge6          Solid Wedge6  Full)
voussoir_point_element(solid.wedge6.reduced  Solid Wedge6  Reduced)

voussoir_stock_source(solid_hex8 elements/physics/elasticity.hpp)
voussoir_point_element(solid.hex8               Solid Hex8    Incompatible)
voussoir_point_element(solid.hex8.incompatible  Solid Hex8    Incompatible)
voussoir_point_element(solid.hex8.full          Solid Hex8    Full)
voussoir_point_element(solid.hex8.reduced       Solid Hex8    Reduced)
voussoir_point_element(solid.hex8.bbar          Solid Hex8    BBar)

voussoir_stock_source(solid_quadratic elements/physics/elasticity.hpp)
voussoir_point_element(solid.tet10    Solid Tet10   Full)
voussoir_point_element(solid.wedge15  Solid Wedge15 Full)

voussoir_stock_source(solid_hex20 elements/physics/elasticity.hpp)
voussoir_point_element(solid.hex20          Solid Hex20   Full)
voussoir_point_element(solid.hex20.reduced  Solid Hex20   Reduced)

voussoir_extra_source(solid_wedge18 elements/point/complete_rules.hpp elements/physics/elasticity.hpp)
voussoir_point_element(solid.wedge18  Solid Wedge18 Full)

voussoir_extra_source(solid_hex27 elements/point/complete_rules.hpp elements/physics/elasticity.hpp)
voussoir_point_element(solid.hex27  Solid Hex27   Full)

# ---- Orthotropic solids ----------------------------------------------------------------------------------------------

voussoir_extra_source(orthotropic_solid_linear elements/physics/orthotropic_elasticity.hpp)
voussoir_point_element(orthotropic_solid.tet4            OrthotropicSolid Tet4    Full)
voussoir_point_element(orthotropic_solid.wedge6          OrthotropicSolid Wedge6  Full)
voussoir_point_element(orthotropic_solid.wedge6.reduced  OrthotropicSolid Wedge6  Reduced)

voussoir_extra_source(orthotropic_solid_hex8 elements/physics/orthotropic_elasticity.hpp)
voussoir_point_element(orthotropic_solid.hex8               OrthotropicSolid Hex8    Incompatible)
voussoir_point_element(orthotropic_solid.hex8.incompatible  OrthotropicSolid Hex8    Incompatible)
voussoir_point_element(orthotropic_solid.hex8.full          OrthotropicSolid Hex8    Full)
voussoir_point_element(orthotropic_solid.hex8.reduced       OrthotropicSolid Hex8    Reduced)
voussoir_point_element(orthotropic_solid.hex8.bbar          OrthotropicSolid Hex8    BBar)

voussoir_extra_source(orthotropic_solid_quadratic elements/physics/orthotropic_elasticity.hpp)
voussoir_point_element(orthotropic_solid.tet10    OrthotropicSolid Tet10   Full)
voussoir_point_element(orthotropic_solid.wedge15  OrthotropicSolid Wedge15 Full)

voussoir_extra_source(orthotropic_solid_hex20 elements/physics/orthotropic_elasticity.hpp)
voussoir_point_element(orthotropic_solid.hex20          OrthotropicSolid Hex20   Full)
voussoir_point_element(orthotropic_solid.hex20.reduced  OrthotropicSolid Hex20   Reduced)

voussoir_extra_source(orthotropic_solid_wedge18 elements/point/complete_rules.hpp elements/physics/orthotropic_elasticity.hpp)
voussoir_point_element(orthotropic_solid.wedge18  OrthotropicSolid Wedge18 Full)

voussoir_extra_source(orthotropic_solid_hex27 elements/point/complete_rules.hpp elements/physics/orthotropic_elasticity.hpp)
voussoir_point_element(orthotropic_solid.hex27  OrthotropicSolid Hex27   Full)

# ---- Orthotropic solids with axes along a cylinder -------------------------------------------------------------------

voussoir_extra_source(polar_orthotropic_solid_linear elements/physics/polar_orthotropic_elasticity.hpp)
voussoir_point_element(polar_orthotropic_solid.wedge6             PolarOrthotropicSolid Wedge6  Full)
voussoir_point_element(polar_orthotropic_solid.hex8               PolarOrthotropicSolid Hex8    Incompatible)
voussoir_point_element(polar_orthotropic_solid.hex8.incompatible  PolarOrthotropicSolid Hex8    Incompatible)
voussoir_point_element(polar_orthotropic_solid.hex8.full          PolarOrthotropicSolid Hex8    Full)

voussoir_extra_source(polar_orthotropic_solid_quadratic elements/physics/polar_orthotropic_elasticity.hpp)
voussoir_point_element(polar_orthotropic_solid.tet10    PolarOrthotropicSolid Tet10   Full)
voussoir_point_element(polar_orthotropic_solid.wedge15  PolarOrthotropicSolid Wedge15 Full)

voussoir_extra_source(polar_orthotropic_solid_hex20 elements/physics/polar_orthotropic_elasticity.hpp)
voussoir_point_element(polar_orthotropic_solid.hex20          PolarOrthotropicSolid Hex20   Full)
voussoir_point_element(polar_orthotropic_solid.hex20.reduced  PolarOrthotropicSolid Hex20   Reduced)

voussoir_extra_source(polar_orthotropic_solid_wedge18 elements/point/complete_rules.hpp elements/physics/polar_orthotropic_elasticity.hpp)
voussoir_point_element(polar_orthotropic_solid.wedge18  PolarOrthotropicSolid Wedge18 Full)

voussoir_extra_source(polar_orthotropic_solid_hex27 elements/point/complete_rules.hpp elements/physics/polar_orthotropic_elasticity.hpp)
voussoir_point_element(polar_orthotropic_solid.hex27  PolarOrthotropicSolid Hex27   Full)

# ---- Anisotropic solids ----------------------------------------------------------------------------------------------

voussoir_extra_source(anisotropic_solid_linear elements/physics/anisotropic_elasticity.hpp)
voussoir_point_element(anisotropic_solid.tet4            AnisotropicSolid Tet4    Full)
voussoir_point_element(anisotropic_solid.wedge6          AnisotropicSolid Wedge6  Full)
voussoir_point_element(anisotropic_solid.wedge6.reduced  AnisotropicSolid Wedge6  Reduced)

voussoir_extra_source(anisotropic_solid_hex8 elements/physics/anisotropic_elasticity.hpp)
voussoir_point_element(anisotropic_solid.hex8               AnisotropicSolid Hex8    Incompatible)
voussoir_point_element(anisotropic_solid.hex8.incompatible  AnisotropicSolid Hex8    Incompatible)
voussoir_point_element(anisotropic_solid.hex8.full          AnisotropicSolid Hex8    Full)
voussoir_point_element(anisotropic_solid.hex8.reduced       AnisotropicSolid Hex8    Reduced)
voussoir_point_element(anisotropic_solid.hex8.bbar          AnisotropicSolid Hex8    BBar)

voussoir_extra_source(anisotropic_solid_quadratic elements/physics/anisotropic_elasticity.hpp)
voussoir_point_element(anisotropic_solid.tet10    AnisotropicSolid Tet10   Full)
voussoir_point_element(anisotropic_solid.wedge15  AnisotropicSolid Wedge15 Full)

voussoir_extra_source(anisotropic_solid_hex20 elements/physics/anisotropic_elasticity.hpp)
voussoir_point_element(anisotropic_solid.hex20          AnisotropicSolid Hex20   Full)
voussoir_point_element(anisotropic_solid.hex20.reduced  AnisotropicSolid Hex20   Reduced)

# ---- Solids with large displacements ---------------------------------------------------------------------------------

voussoir_extra_source(finite_solid_linear elements/point/finite_element.hpp)
voussoir_finite_element(finite_solid.tet4                 FiniteSolid Tet4    Full)
voussoir_finite_element(finite_solid.wedge6               FiniteSolid Wedge6  Full)
voussoir_finite_element(finite_solid.wedge6.reduced       FiniteSolid Wedge6  Reduced)
voussoir_finite_element(finite_solid.hex8                 FiniteSolid Hex8    Full)
voussoir_finite_element(finite_solid.hex8.full            FiniteSolid Hex8    Full)

voussoir_extra_source(finite_solid_tet10 elements/point/finite_element.hpp)
voussoir_finite_element(finite_solid.tet10                FiniteSolid Tet10   Full)

voussoir_extra_source(finite_solid_wedge15 elements/point/finite_element.hpp)
voussoir_finite_element(finite_solid.wedge15              FiniteSolid Wedge15 Full)

voussoir_extra_source(finite_solid_hex20 elements/point/finite_element.hpp)
voussoir_finite_element(finite_solid.hex20.reduced        FiniteSolid Hex20   Reduced)

voussoir_extra_source(finite_solid_hex20_full elements/point/finite_element.hpp)
voussoir_finite_element(finite_solid.hex20                FiniteSolid Hex20   Full)

voussoir_extra_source(finite_solid_one_point elements/point/finite_history_element.hpp)
voussoir_element(finite_solid.hex8.reduced "FiniteOnePointElement<FiniteSolid>" hex8)

# ---- Plastic solids with large strains, and with small ones ------------------------------------------------------------

voussoir_extra_source(plastic_finite_solid_tet4 elements/point/finite_history_element.hpp)
voussoir_element(plastic_finite_solid.tet4 "FiniteHistoryElement<PlasticFiniteSolid, Tet4, Full>" tet4)
voussoir_element(plastic_solid.tet4 "FiniteHistoryElement<PlasticFiniteSolid, Tet4, Full>" tet4)

voussoir_extra_source(plastic_finite_solid_one_point elements/point/finite_history_element.hpp)
voussoir_element(plastic_finite_solid.hex8.reduced "FiniteOnePointElement<PlasticFiniteSolid>" hex8)

voussoir_extra_source(plastic_finite_solid_hex8 elements/point/finite_history_element.hpp)
voussoir_element(plastic_finite_solid.hex8 "FiniteHistoryElement<PlasticFiniteSolid, Hex8, Full>" hex8)
voussoir_element(plastic_finite_solid.hex8.full "FiniteHistoryElement<PlasticFiniteSolid, Hex8, Full>" hex8)
voussoir_element(plastic_solid.hex8.full "FiniteHistoryElement<PlasticFiniteSolid, Hex8, Full>" hex8)

voussoir_extra_source(follower_pressure elements/surface/follower_pressure.hpp elements/surface/quad9_face.hpp)
voussoir_follower_pressure(Tri3 Tri6 Quad4 Quad8 Quad9)

# ---- Plane stress ----------------------------------------------------------------------------------------------------

voussoir_stock_source(plane_stress elements/physics/elasticity.hpp)
voussoir_point_element(plane_stress.tri3                PlaneStress Tri3    Full)
voussoir_point_element(plane_stress.quad4               PlaneStress Quad4   Incompatible)
voussoir_point_element(plane_stress.quad4.incompatible  PlaneStress Quad4   Incompatible)
voussoir_point_element(plane_stress.quad4.full          PlaneStress Quad4   Full)
voussoir_point_element(plane_stress.quad4.reduced       PlaneStress Quad4   Reduced)

voussoir_stock_source(plane_stress_quadratic elements/physics/elasticity.hpp)
voussoir_point_element(plane_stress.tri6           PlaneStress Tri6    Full)
voussoir_point_element(plane_stress.quad8          PlaneStress Quad8   Full)
voussoir_point_element(plane_stress.quad8.reduced  PlaneStress Quad8   Reduced)

# ---- Orthotropic plane stress ----------------------------------------------------------------------------------------

voussoir_extra_source(orthotropic_plane_stress elements/physics/orthotropic_elasticity.hpp)
voussoir_point_element(orthotropic_plane_stress.tri3                OrthotropicPlaneStress Tri3    Full)
voussoir_point_element(orthotropic_plane_stress.quad4               OrthotropicPlaneStress Quad4   Incompatible)
voussoir_point_element(orthotropic_plane_stress.quad4.incompatible  OrthotropicPlaneStress Quad4   Incompatible)
voussoir_point_element(orthotropic_plane_stress.quad4.full          OrthotropicPlaneStress Quad4   Full)
voussoir_point_element(orthotropic_plane_stress.quad4.reduced       OrthotropicPlaneStress Quad4   Reduced)

voussoir_extra_source(orthotropic_plane_stress_quadratic elements/physics/orthotropic_elasticity.hpp)
voussoir_point_element(orthotropic_plane_stress.tri6           OrthotropicPlaneStress Tri6    Full)
voussoir_point_element(orthotropic_plane_stress.quad8          OrthotropicPlaneStress Quad8   Full)
voussoir_point_element(orthotropic_plane_stress.quad8.reduced  OrthotropicPlaneStress Quad8   Reduced)

# ---- Plane strain ----------------------------------------------------------------------------------------------------

voussoir_stock_source(plane_strain elements/physics/elasticity.hpp)
voussoir_point_element(plane_strain.tri3                PlaneStrain Tri3    Full)
voussoir_point_element(plane_strain.quad4               PlaneStrain Quad4   Incompatible)
voussoir_point_element(plane_strain.quad4.incompatible  PlaneStrain Quad4   Incompatible)
voussoir_point_element(plane_strain.quad4.full          PlaneStrain Quad4   Full)
voussoir_point_element(plane_strain.quad4.reduced       PlaneStrain Quad4   Reduced)
voussoir_point_element(plane_strain.quad4.bbar          PlaneStrain Quad4   BBar)

voussoir_stock_source(plane_strain_quadratic elements/physics/elasticity.hpp)
voussoir_point_element(plane_strain.tri6           PlaneStrain Tri6    Full)
voussoir_point_element(plane_strain.quad8          PlaneStrain Quad8   Full)
voussoir_point_element(plane_strain.quad8.reduced  PlaneStrain Quad8   Reduced)

# ---- Orthotropic plane strain ----------------------------------------------------------------------------------------

voussoir_extra_source(orthotropic_plane_strain elements/physics/orthotropic_elasticity.hpp)
voussoir_point_element(orthotropic_plane_strain.tri3                OrthotropicPlaneStrain Tri3    Full)
voussoir_point_element(orthotropic_plane_strain.quad4               OrthotropicPlaneStrain Quad4   Incompatible)
voussoir_point_element(orthotropic_plane_strain.quad4.incompatible  OrthotropicPlaneStrain Quad4   Incompatible)
voussoir_point_element(orthotropic_plane_strain.quad4.full          OrthotropicPlaneStrain Quad4   Full)
voussoir_point_element(orthotropic_plane_strain.quad4.reduced       OrthotropicPlaneStrain Quad4   Reduced)
voussoir_point_element(orthotropic_plane_strain.quad4.bbar          OrthotropicPlaneStrain Quad4   BBar)

voussoir_extra_source(orthotropic_plane_strain_quadratic elements/physics/orthotropic_elasticity.hpp)
voussoir_point_element(orthotropic_plane_strain.tri6           OrthotropicPlaneStrain Tri6    Full)
voussoir_point_element(orthotropic_plane_strain.quad8          OrthotropicPlaneStrain Quad8   Full)
voussoir_point_element(orthotropic_plane_strain.quad8.reduced  OrthotropicPlaneStrain Quad8   Reduced)

# ---- Axisymmetric ----------------------------------------------------------------------------------------------------

voussoir_stock_source(axisymmetric elements/physics/elasticity.hpp)
voussoir_point_element(axisymmetric.tri3                Axisymmetric Tri3    Full)
voussoir_point_element(axisymmetric.quad4               Axisymmetric Quad4   Incompatible)
voussoir_point_element(axisymmetric.quad4.incompatible  Axisymmetric Quad4   Incompatible)
voussoir_point_element(axisymmetric.quad4.full          Axisymmetric Quad4   Full)
voussoir_point_element(axisymmetric.quad4.reduced       Axisymmetric Quad4   Reduced)
voussoir_point_element(axisymmetric.quad4.bbar          Axisymmetric Quad4   BBar)

voussoir_stock_source(axisymmetric_quadratic elements/physics/elasticity.hpp)
voussoir_point_element(axisymmetric.tri6           Axisymmetric Tri6    Full)
voussoir_point_element(axisymmetric.quad8          Axisymmetric Quad8   Full)
voussoir_point_element(axisymmetric.quad8.reduced  Axisymmetric Quad8   Reduced)

# ---- Orthotropic axisymmetric ----------------------------------------------------------------------------------------

voussoir_extra_source(orthotropic_axisymmetric elements/physics/orthotropic_elasticity.hpp)
voussoir_point_element(orthotropic_axisymmetric.tri3                OrthotropicAxisymmetric Tri3    Full)
voussoir_point_element(orthotropic_axisymmetric.quad4               OrthotropicAxisymmetric Quad4   Incompatible)
voussoir_point_element(orthotropic_axisymmetric.quad4.incompatible  OrthotropicAxisymmetric Quad4   Incompatible)
voussoir_point_element(orthotropic_axisymmetric.quad4.full          OrthotropicAxisymmetric Quad4   Full)
voussoir_point_element(orthotropic_axisymmetric.quad4.reduced       OrthotropicAxisymmetric Quad4   Reduced)
voussoir_point_element(orthotropic_axisymmetric.quad4.bbar          OrthotropicAxisymmetric Quad4   BBar)

voussoir_extra_source(orthotropic_axisymmetric_quadratic elements/physics/orthotropic_elasticity.hpp)
voussoir_point_element(orthotropic_axisymmetric.tri6           OrthotropicAxisymmetric Tri6    Full)
voussoir_point_element(orthotropic_axisymmetric.quad8          OrthotropicAxisymmetric Quad8   Full)
voussoir_point_element(orthotropic_axisymmetric.quad8.reduced  OrthotropicAxisymmetric Quad8   Reduced)

# ---- Quad9 of plane and axisymmetric elasticity ----------------------------------------------------------------------

voussoir_extra_source(plane_quad9 elements/point/complete_rules.hpp elements/physics/elasticity.hpp)
voussoir_point_element(plane_stress.quad9  PlaneStress Quad9   Full)
voussoir_point_element(plane_strain.quad9  PlaneStrain Quad9   Full)
voussoir_point_element(axisymmetric.quad9  Axisymmetric Quad9   Full)

voussoir_extra_source(orthotropic_plane_quad9 elements/point/complete_rules.hpp elements/physics/orthotropic_elasticity.hpp)
voussoir_point_element(orthotropic_plane_stress.quad9  OrthotropicPlaneStress Quad9   Full)
voussoir_point_element(orthotropic_plane_strain.quad9  OrthotropicPlaneStrain Quad9   Full)
voussoir_point_element(orthotropic_axisymmetric.quad9  OrthotropicAxisymmetric Quad9   Full)

# ---- Heat conduction -------------------------------------------------------------------------------------------------

voussoir_stock_source(heat elements/physics/heat.hpp)
voussoir_point_element(heat.tet4            Heat Tet4    Full)
voussoir_point_element(heat.wedge6          Heat Wedge6  Full)
voussoir_point_element(heat.wedge6.reduced  Heat Wedge6  Reduced)
voussoir_point_element(heat.hex8            Heat Hex8    Full)

voussoir_stock_source(heat_quadratic elements/physics/heat.hpp)
voussoir_point_element(heat.tet10          Heat Tet10   Full)
voussoir_point_element(heat.wedge15        Heat Wedge15 Full)
voussoir_point_element(heat.hex20          Heat Hex20   Full)
voussoir_point_element(heat.hex20.reduced  Heat Hex20   Reduced)

voussoir_stock_source(plane_heat elements/physics/heat.hpp)
voussoir_point_element(plane_heat.tri3           PlaneHeat Tri3    Full)
voussoir_point_element(plane_heat.tri6           PlaneHeat Tri6    Full)
voussoir_point_element(plane_heat.quad4          PlaneHeat Quad4   Full)
voussoir_point_element(plane_heat.quad8          PlaneHeat Quad8   Full)
voussoir_point_element(plane_heat.quad8.reduced  PlaneHeat Quad8   Reduced)

voussoir_stock_source(axisymmetric_heat elements/physics/heat.hpp)
voussoir_point_element(axisymmetric_heat.tri3           AxisymmetricHeat Tri3    Full)
voussoir_point_element(axisymmetric_heat.tri6           AxisymmetricHeat Tri6    Full)
voussoir_point_element(axisymmetric_heat.quad4          AxisymmetricHeat Quad4   Full)
voussoir_point_element(axisymmetric_heat.quad8          AxisymmetricHeat Quad8   Full)
voussoir_point_element(axisymmetric_heat.quad8.reduced  AxisymmetricHeat Quad8   Reduced)

voussoir_extra_source(heat_complete elements/point/complete_rules.hpp elements/physics/heat.hpp)
voussoir_point_element(heat.wedge18             Heat Wedge18 Full)
voussoir_point_element(heat.hex27               Heat Hex27   Full)
voussoir_point_element(plane_heat.quad9         PlaneHeat Quad9   Full)
voussoir_point_element(axisymmetric_heat.quad9  AxisymmetricHeat Quad9   Full)

# ---- Orthotropic heat conduction -------------------------------------------------------------------------------------

voussoir_extra_source(orthotropic_heat elements/physics/heat.hpp)
voussoir_point_element(orthotropic_heat.tet4            OrthotropicHeat Tet4    Full)
voussoir_point_element(orthotropic_heat.wedge6          OrthotropicHeat Wedge6  Full)
voussoir_point_element(orthotropic_heat.wedge6.reduced  OrthotropicHeat Wedge6  Reduced)
voussoir_point_element(orthotropic_heat.hex8            OrthotropicHeat Hex8    Full)

voussoir_extra_source(orthotropic_heat_quadratic elements/physics/heat.hpp)
voussoir_point_element(orthotropic_heat.tet10          OrthotropicHeat Tet10   Full)
voussoir_point_element(orthotropic_heat.wedge15        OrthotropicHeat Wedge15 Full)
voussoir_point_element(orthotropic_heat.hex20          OrthotropicHeat Hex20   Full)
voussoir_point_element(orthotropic_heat.hex20.reduced  OrthotropicHeat Hex20   Reduced)

voussoir_extra_source(orthotropic_plane_heat elements/physics/heat.hpp)
voussoir_point_element(orthotropic_plane_heat.tri3           OrthotropicPlaneHeat Tri3    Full)
voussoir_point_element(orthotropic_plane_heat.tri6           OrthotropicPlaneHeat Tri6    Full)
voussoir_point_element(orthotropic_plane_heat.quad4          OrthotropicPlaneHeat Quad4   Full)
voussoir_point_element(orthotropic_plane_heat.quad8          OrthotropicPlaneHeat Quad8   Full)
voussoir_point_element(orthotropic_plane_heat.quad8.reduced  OrthotropicPlaneHeat Quad8   Reduced)

voussoir_extra_source(orthotropic_axisymmetric_heat elements/physics/heat.hpp)
voussoir_point_element(orthotropic_axisymmetric_heat.tri3           OrthotropicAxisymmetricHeat Tri3    Full)
voussoir_point_element(orthotropic_axisymmetric_heat.tri6           OrthotropicAxisymmetricHeat Tri6    Full)
voussoir_point_element(orthotropic_axisymmetric_heat.quad4          OrthotropicAxisymmetricHeat Quad4   Full)
voussoir_point_element(orthotropic_axisymmetric_heat.quad8          OrthotropicAxisymmetricHeat Quad8   Full)
voussoir_point_element(orthotropic_axisymmetric_heat.quad8.reduced  OrthotropicAxisymmetricHeat Quad8   Reduced)

voussoir_extra_source(orthotropic_heat_complete elements/point/complete_rules.hpp elements/physics/heat.hpp)
voussoir_point_element(orthotropic_heat.wedge18             OrthotropicHeat Wedge18 Full)
voussoir_point_element(orthotropic_heat.hex27               OrthotropicHeat Hex27   Full)
voussoir_point_element(orthotropic_plane_heat.quad9         OrthotropicPlaneHeat Quad9   Full)
voussoir_point_element(orthotropic_axisymmetric_heat.quad9  OrthotropicAxisymmetricHeat Quad9   Full)

# ---- Trusses, beams, springs and masses ------------------------------------------------------------------------------

voussoir_stock_source(
  structural elements/structural/beam.hpp elements/structural/curved_beam.hpp elements/structural/point_mass.hpp
  elements/structural/spring.hpp elements/structural/truss.hpp)
voussoir_element(truss                    Truss                line2)
voussoir_element(plane_truss              PlaneTruss           line2)
voussoir_element(beam                     Beam                 line2)
voussoir_element(beam3                    CurvedBeam           line3)
voussoir_element(spring_axial             AxialSpring          line2)
voussoir_element(plane_spring_axial       PlaneAxialSpring     line2)
voussoir_element(spring                   Spring               line2)
voussoir_element(plane_spring             PlaneSpring          line2)
voussoir_element(spring_rotary            RotarySpring         line2)
voussoir_element(spring_to_ground         SpringToGround       "")
voussoir_element(plane_spring_to_ground   PlaneSpringToGround  "")
voussoir_element(spring_to_ground_rotary  RotarySpringToGround "")
voussoir_element(mass                     PointMass            "")
voussoir_element(plane_mass               PlaneMass            "")
voussoir_element(mass_rotary              RotaryMass           "")

# ---- Loads on faces and edges ----------------------------------------------------------------------------------------

voussoir_stock_source(mechanical_surface elements/surface/loads.hpp)
voussoir_face_load(pressure              PressureLoad solid        Tri3 Tri6 Quad4 Quad8)
voussoir_face_load(plane_pressure        PressureLoad plane        Line2 Line3)
voussoir_face_load(axisymmetric_pressure PressureLoad axisymmetric Line2 Line3)
voussoir_face_load(traction              TractionLoad solid        Tri3 Tri6 Quad4 Quad8)
voussoir_face_load(plane_traction        TractionLoad plane        Line2 Line3)
voussoir_face_load(axisymmetric_traction TractionLoad axisymmetric Line2 Line3)

voussoir_stock_source(heat_surface elements/surface/loads.hpp)
voussoir_face_load(flux                    FluxLoad       solid        Tri3 Tri6 Quad4 Quad8)
voussoir_face_load(plane_flux              FluxLoad       plane        Line2 Line3)
voussoir_face_load(axisymmetric_flux       FluxLoad       axisymmetric Line2 Line3)
voussoir_face_load(convection              ConvectionLoad solid        Tri3 Tri6 Quad4 Quad8)
voussoir_face_load(plane_convection        ConvectionLoad plane        Line2 Line3)
voussoir_face_load(axisymmetric_convection ConvectionLoad axisymmetric Line2 Line3)
voussoir_face_load(radiation               RadiationLoad  solid        Tri3 Tri6 Quad4 Quad8)
voussoir_face_load(plane_radiation         RadiationLoad  plane        Line2 Line3)
voussoir_face_load(axisymmetric_radiation  RadiationLoad  axisymmetric Line2 Line3)

voussoir_extra_source(quad9_surface elements/surface/loads.hpp elements/surface/quad9_face.hpp)
voussoir_face_load(pressure   PressureLoad   solid Quad9)
voussoir_face_load(traction   TractionLoad   solid Quad9)
voussoir_face_load(flux       FluxLoad       solid Quad9)
voussoir_face_load(convection ConvectionLoad solid Quad9)
voussoir_face_load(radiation  RadiationLoad  solid Quad9)

# ---- Plastic solids of second order ----------------------------------------------------------------------------------

voussoir_extra_source(plastic_solid_tet10 elements/point/finite_history_element.hpp)
voussoir_element(plastic_finite_solid.tet10 "FiniteHistoryElement<PlasticFiniteSolid, Tet10, Full>" tet10)
voussoir_element(plastic_solid.tet10 "FiniteHistoryElement<PlasticFiniteSolid, Tet10, Full>" tet10)

voussoir_extra_source(plastic_solid_hex20_reduced elements/point/finite_history_element.hpp)
voussoir_element(plastic_finite_solid.hex20.reduced "FiniteHistoryElement<PlasticFiniteSolid, Hex20, Reduced>" hex20)
voussoir_element(plastic_solid.hex20.reduced "FiniteHistoryElement<PlasticFiniteSolid, Hex20, Reduced>" hex20)

voussoir_extra_source(plastic_solid_hex20 elements/point/finite_history_element.hpp)
voussoir_element(plastic_finite_solid.hex20 "FiniteHistoryElement<PlasticFiniteSolid, Hex20, Full>" hex20)
voussoir_element(plastic_solid.hex20 "FiniteHistoryElement<PlasticFiniteSolid, Hex20, Full>" hex20)
