#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <voussoir/framework/domain/domain.hpp>

// Models of any size that are ready to run, with supports, loads and materials: for benchmarks and for trying things
// out. Lengths are in metres, forces in newtons, masses in kilograms, unless all numbers are given in other units.

namespace voussoir {

/// How fine the mesh of a model is: by the edges of its elements, or by its number of unknowns (supports not yet taken
/// off). Exactly one of them is positive. No model is coarser than the bricks it is made of.
struct Fineness {
  double size = 0;
  std::int64_t dofs = 0;
};

/// Elastic properties and density of a sample model.
struct ElasticNumbers {
  double young = 210e9;
  double poisson = 0.3;
  double density = 7850;
};

/// Load cases that act together, with factors: a step of an analysis.
struct SampleStep {
  std::string name;
  std::map<std::string, double> load_cases;
};

/// A cantilever along x: clamped at x = 0, pressed down on its top. Beam theory bends its end by
/// 3 p L⁴ / (2 E h³), h being its height along z. Node sets and surfaces xmin, xmax, ymin, …; load case "press".
struct BoxModel {
  std::array<double, 3> extent{4, 0.5, 0.5};
  std::string type = "solid.hex8";
  Fineness fineness{0.125, 0};
  ElasticNumbers material;
  double pressure = 1e5;
};
std::vector<SampleStep> add_box_model(Domain& domain, const BoxModel& model = {});

/// A cylinder standing on z = 0, solid (inner_radius = 0) or a tube.
///
/// The tube is pressed from inside and free to grow: Lamé's solution. The solid cylinder is pulled at its upper end: a
/// bar. Both slide on the ground and on the planes x = 0 and y = 0. Node sets and surfaces bottom, top, outer and, in a
/// tube, inner; node sets x0 and y0; load case "pressure" or "pull".
struct CylinderModel {
  double radius = 0.5, inner_radius = 0, length = 2;
  std::string type = "solid.hex8";
  Fineness fineness{0.1, 0};
  ElasticNumbers material;
  double pressure = 1e6;
};
std::vector<SampleStep> add_cylinder_model(Domain& domain, const CylinderModel& model = {});

/// A plate with a round hole in its middle, pulled along x: Kirsch's problem where the hole is small. In the plane
/// (plane_stress.quad8, …) or solid. A quarter of it (x, y ≥ 0) has symmetry conditions; so has the whole plate, on its
/// lines of symmetry. A solid plate rests on z = 0, the middle of a plate twice as thick.
///
/// Node sets and surfaces xmin, xmax, ymin, ymax, hole and, in solids, zmin, zmax; node sets x0 and y0; load case
/// "pull".
struct PlateModel {
  double width = 2, height = 1;  ///< of the whole plate, along x and y
  double radius = 0.1;
  double thickness = 0.01;
  bool quarter = true;
  std::string type = "plane_stress.quad8";
  Fineness fineness{0.05, 0};
  ElasticNumbers material;
  double tension = 1e6;
};
std::vector<SampleStep> add_plate_model(Domain& domain, const PlateModel& model = {});

/// A pump on a frame: the body of the pump, a solid of round steps with the density that gives it the weight of a pump
/// full of water, rests on two saddles on a frame of welded I-beams, which has four legs with foot plates. 2.5 m
/// long, 1.2 m wide, 1.6 m high.
///
/// Such a model, 1 858 824 unknowns large, was used to measure the projection of stiffness on subspaces; any size can
/// be asked for here. Hexahedra and tetrahedra of both orders fill it, and all parts share their nodes.
///
/// Blocks "frame" (with the saddles) and "pump"; node sets and surfaces "feet" (undersides of the foot plates, clamped)
/// and "nozzle" (the upper end of the pressure nozzle). Load cases "gravity" and "lateral", a sideways acceleration
/// that represents an earthquake; steps with gravity only, and with both.
struct PumpModel {
  std::string type = "solid.hex8";
  Fineness fineness{0, 200000};
  ElasticNumbers frame;
  ElasticNumbers pump{120e9, 0.27, 4800};
  double gravity = 9.81;
  double lateral = 0.4 * 9.81;  ///< along y
};
std::vector<SampleStep> add_pump_model(Domain& domain, const PumpModel& model = {});

}  // namespace voussoir
