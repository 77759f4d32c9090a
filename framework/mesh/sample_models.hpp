#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <voussoir/framework/domain/domain.hpp>

// Complete models of any size, with supports, loads and materials: for benchmarks and experiments. The defaults are in
// SI units (m, N, kg); any other consistent units can be used by setting all numbers.

namespace voussoir {

/// The mesh size of a model, by edge length or by number of unknowns. Exactly one of the two is positive. No mesh is
/// coarser than the blocks that the model is made of.
struct Fineness {
  double size = 0;        ///< approximate length of element edges
  std::int64_t dofs = 0;  ///< approximate number of unknowns, prescribed ones included
};

/// Elastic properties and density of a sample model.
struct ElasticNumbers {
  double young = 210e9;   ///< Young's modulus
  double poisson = 0.3;   ///< Poisson's ratio
  double density = 7850;  ///< mass per volume
};

/// A step of an analysis: load cases that act together.
struct SampleStep {
  std::string name;                          ///< for tables and files
  std::map<std::string, double> load_cases;  ///< names of load cases of the domain, with their factors
};

/// A cantilever along x, clamped at x = 0, with a pressure on its top face. By beam theory its end deflects by
/// 3 p L⁴ / (2 E h³), with the height h along z. Node sets and surfaces xmin, xmax, ymin, …; load case "press".
struct BoxModel {
  std::array<double, 3> extent{4, 0.5, 0.5};  ///< dimensions along x, y, z
  std::string type = "solid.hex8";            ///< element type, with any solid shape
  Fineness fineness{0.125, 0};                ///< mesh size
  ElasticNumbers material;                    ///< properties of the body
  double pressure = 1e5;                      ///< pressure on the top face
};
/// Adds the cantilever to a domain and returns its steps.
std::vector<SampleStep> add_box_model(Domain& domain, const BoxModel& model = {});

/// A cylinder standing on z = 0, solid (inner_radius = 0) or a tube.
///
/// The tube is under internal pressure and free to expand (Lamé's solution). The solid cylinder is pulled at its upper
/// end (a bar in tension). Both have symmetry supports on z = 0, x = 0 and y = 0. Node sets and surfaces bottom, top,
/// outer and, in a tube, inner; node sets x0 and y0; load case "pressure" or "pull".
struct CylinderModel {
  double radius = 0.5,              ///< outer radius
      inner_radius = 0,             ///< radius of the bore; 0 for a solid cylinder
      length = 2;                   ///< length along z
  std::string type = "solid.hex8";  ///< element type, with any solid shape
  Fineness fineness{0.1, 0};        ///< mesh size
  ElasticNumbers material;          ///< properties of the body
  double pressure = 1e6;            ///< internal pressure of a tube, or tension on the top of a solid cylinder
};
/// Adds the cylinder to a domain and returns its steps.
std::vector<SampleStep> add_cylinder_model(Domain& domain, const CylinderModel& model = {});

/// A plate with a circular hole at its centre under tension along x (Kirsch's problem if the hole is small), plane
/// (plane_stress.quad8, …) or solid. The quarter model (x, y ≥ 0) and the whole plate have symmetry supports on the
/// lines of symmetry. A solid plate is supported on z = 0, the mid-plane of a plate twice as thick.
///
/// Node sets and surfaces xmin, xmax, ymin, ymax, hole and, in solids, zmin, zmax; node sets x0 and y0; load case
/// "pull".
struct PlateModel {
  double width = 2,         ///< dimension of the whole plate along x
      height = 1;           ///< dimension of the whole plate along y
  double radius = 0.1;      ///< radius of the hole
  double thickness = 0.01;  ///< thickness of a plane plate, or the modelled extent along z of a solid one
  bool quarter = true;      ///< whether only the quarter x, y ≥ 0 is modelled
  std::string type = "plane_stress.quad8";  ///< element type, with a plane or a solid shape
  Fineness fineness{0.05, 0};               ///< mesh size
  ElasticNumbers material;                  ///< properties of the plate
  double tension = 1e6;                     ///< traction along x on the loaded edges
};
/// Adds the plate to a domain and returns its steps.
std::vector<SampleStep> add_plate_model(Domain& domain, const PlateModel& model = {});

/// A pump on a frame. The pump is a solid with stepped circular sections, whose density gives it the weight of a pump
/// full of water; it rests on two saddles on a frame of welded I-beams with four legs and foot plates. 2.5 m long, 1.2
/// m wide, 1.6 m high.
///
/// Any mesh size is possible, with hexahedra or tetrahedra of either order; all parts share their nodes.
///
/// Blocks "frame" (with the saddles) and "pump"; node sets and surfaces "feet" (undersides of the foot plates, clamped)
/// and "nozzle" (the upper end of the pressure nozzle). Load cases "gravity" and "lateral", a sideways acceleration
/// that represents an earthquake; steps with gravity only, and with both.
struct PumpModel {
  std::string type = "solid.hex8";         ///< element type with hexahedra or tetrahedra
  Fineness fineness{0, 200000};            ///< mesh size
  ElasticNumbers frame;                    ///< properties of frame and saddles
  ElasticNumbers pump{120e9, 0.27, 4800};  ///< properties of the pump
  double gravity = 9.81;                   ///< acceleration of gravity, along −z
  double lateral = 0.4 * 9.81;             ///< lateral acceleration, along y
};
/// Adds the pump and its frame to a domain and returns its steps.
std::vector<SampleStep> add_pump_model(Domain& domain, const PumpModel& model = {});

}  // namespace voussoir
