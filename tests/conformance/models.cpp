#include "models.hpp"

#include <cmath>
#include <memory>

#include <voussoir/framework/domain/host_element.hpp>
#include <voussoir/framework/mesh/structured_mesh.hpp>

namespace voussoir::conformance {
namespace {

std::shared_ptr<Material> steel() {
  auto m = std::make_shared<IsotropicMaterial>("steel", 210e3, 0.3, 7.85, 1.2e-5);
  m->set("shear_modulus", 80e3).set("conductivity", 50).set("specific_heat", 460);
  return m;
}

/// One unknown per node: temperatures, with a film, a flux, a source and an equation.
void heat(Domain& d) {
  BoxMesh mesh;
  mesh.type = "heat.hex8";
  mesh.cells = {6, 4, 3};
  mesh.distortion = 0.2;
  add_box_mesh(d, mesh).set_material(steel());
  d.prescribe("xmin", "T", 20);
  d.add_equation({{30, "T", 1}, {31, "T", -0.5}, {60, "T", -0.5}}, 2.5);
  d.add_load_case("film").convection("xmax", 40, 100).heat_flux("ymax", 300);
  d.add_load_case("source").heat_source("", 1e3).nodal("zmax", "T", 0.5);
}

/// Conductivity that depends on the temperature itself: several rows per record.
void warm_plate(Domain& d) {
  BoxMesh mesh;
  mesh.type = "plane_heat.quad8";
  mesh.cells = {5, 4, 1};
  auto m = std::make_shared<Material>("ceramic");
  m->set_table("conductivity", {{0, 2}, {100, 3}, {400, 8}});
  add_box_mesh(d, mesh).set_material(m).set_section("thickness", 0.02);
  d.prescribe("xmin", "T", 300);
  d.add_load_case("film").convection("xmax", 10, 20);
}

/// Two unknowns per node: a plate stiffened by bars, on springs.
void plate(Domain& d) {
  BoxMesh mesh;
  mesh.type = "plane_stress.quad4";
  mesh.cells = {8, 5, 1};
  mesh.upper = {4, 2, 0};
  mesh.distortion = 0.2;
  auto& block = add_box_mesh(d, mesh);
  std::vector<double> thickness;
  for (int e = 0; e < block.size(); ++e) thickness.push_back(0.1 + 0.01 * (e % 5));
  block.set_material(steel()).set_per_element("thickness", thickness);
  auto& bars = d.add_block("bars", "plane_truss");
  bars.set_material(steel()).set_section("area", 0.02);
  bars.add(1001, {1, 20});
  bars.add(1002, {20, 54});
  auto& springs = d.add_block("springs", "plane_spring_to_ground");
  springs.set_section("kx", 100).set_section("ky", 2000);
  springs.add(2001, {5});
  springs.add(2002, {33});
  d.add_block("lump", "plane_mass").set_section("mass", 3).add(3001, {27});
  d.prescribe("xmin", "all");
  d.add_load_case("pull").traction("xmax", {10, 3, 0}).pressure("ymax", 2);
  d.add_load_case("weight").gravity("", {0, -9.81, 0});
}

/// Three unknowns per node, with chains of equations, a prescribed motion and a master that is held.
void solid(Domain& d) {
  BoxMesh mesh;
  mesh.type = "solid.hex8";
  mesh.cells = {6, 4, 3};
  mesh.upper = {3, 2, 1.5};
  mesh.distortion = 0.2;
  add_box_mesh(d, mesh).set_material(steel());
  d.prescribe("xmin", "all");
  d.add_node_set_where("pushed", [](double x, double y, double z) { return x > 2.99 && y < 0.01 && z < 0.01; });
  d.prescribe("pushed", "uz", 0.01);
  const auto end = d.node_set("xmax");
  for (std::size_t i = 1; i < end.size(); ++i)  // the end stays plane, each node after the one before
    d.add_equation({{d.node_id(end[i]), "ux", 1}, {d.node_id(end[i - 1]), "ux", -1}});
  const Id pushed = d.node_id(d.node_set("pushed")[0]);
  d.add_equation({{30, "uy", 2}, {pushed, "uz", -1}, {41, "uy", -0.5}}, 0.003);
  const std::vector<Id> some{1, 2, 3, 20, 21};
  d.add_element_set("some", some);
  d.add_load_case("push").pressure("zmax", 30).traction("ymax", {5, 0, -7}).nodal("xmax", "uy", 3);
  d.add_load_case("body").gravity("some", {1, 2, -9.81}).centrifugal("", 3, {0, 1, 0}, {1, 0, 1});
}

/// Six unknowns per node: a grillage of beams on springs, with an eccentric mass.
void frame(Domain& d) {
  for (int j = 0; j < 4; ++j)
    for (int i = 0; i < 6; ++i) d.add_node(100 + 10 * j + i, i, 0.8 * j, 0.1 * i * j);
  auto& beams = d.add_block("beams", "beam");
  beams.set_material(steel());
  const std::pair<const char*, double> section[] = {
      {"area", 0.01},         {"inertia_y", 2e-3},     {"inertia_z", 3e-3},
      {"torsion", 4e-3},      {"shear_area_y", 0.008}, {"shear_area_z", 0.008},
      {"orientation_x", 0.1}, {"orientation_y", 0.2},  {"orientation_z", 1}};
  for (const auto& [name, value] : section) beams.set_section(name, value);
  Id id = 500;
  for (int j = 0; j < 4; ++j)
    for (int i = 0; i < 6; ++i) {
      if (i < 5) beams.add(id++, {100 + 10 * j + i, 101 + 10 * j + i});
      if (j < 3) beams.add(id++, {100 + 10 * j + i, 110 + 10 * j + i});
    }
  auto& ground = d.add_block("ground", "spring_to_ground_rotary");
  for (const char* k : {"kx", "ky", "kz", "krx", "kry", "krz"}) ground.set_section(k, 30);
  for (Id n : {112, 123}) ground.add(id++, {n});
  auto& mass = d.add_block("mass", "mass_rotary");
  mass.set_section("mass", 2).set_section("inertia_x", 0.1).set_section("inertia_y", 0.2).set_section("inertia_z", 0.3);
  mass.add(id++, {135});
  d.add_node_set("feet", {100, 130});
  d.add_node_set("corner", {105, 135});
  d.prescribe("feet", "all");
  d.add_equation({{105, "rz", 1}, {135, "rz", -1}});
  d.add_load_case("corner").nodal("corner", "uz", -10).nodal("corner", "rx", 2);
  d.add_load_case("weight").gravity("", {0, 0, -9.81});
}

/// A ring with numbers that depend on temperature, heated unevenly from initial temperatures that differ.
void hot_ring(Domain& d) {
  BoxMesh mesh;
  mesh.type = "axisymmetric.quad8";
  mesh.cells = {4, 5, 1};
  mesh.lower = {1, 0, 0};
  mesh.upper = {2, 1, 0};
  auto m = std::make_shared<Material>("alloy");
  m->set_table("young", {{0, 100e3}, {300, 80e3}, {600, 30e3}}).set("poisson", 0.25).set("density", 2.7);
  m->set_table("expansion", {{0, 1e-5}, {600, 2e-5}});
  add_box_mesh(d, mesh).set_material(m);
  d.set_reference_temperature(20);
  m->set_expansion_reference(45);
  d.prescribe("ymin", "uy");
  std::vector<double> t;
  for (std::int32_t n = 0; n < d.node_count(); ++n) {
    if (n % 3 == 0) d.set_initial_temperature_at(d.node_id(n), 20 + 90 * d.coordinates()[3 * n]);
    t.push_back(20 + 300 * d.coordinates()[3 * n + 1] * d.coordinates()[3 * n]);
  }
  d.add_load_case("hot").temperature_field(t).pressure("xmin", 4);
}

/// A wound tube: orthotropic with axes that turn from element to element.
void wound_tube(Domain& d) {
  BoxMesh mesh;
  mesh.type = "solid.wedge15";
  mesh.cells = {1, 4, 2};
  mesh.map = [](double x, double y, double z) {
    return std::array<double, 3>{(2 + x) * std::cos(y), (2 + x) * std::sin(y), z};
  };
  auto m = std::make_shared<OrthotropicMaterial>("winding");
  m->set("E1", 10e3).set("E2", 140e3).set("E3", 12e3).set("nu12", 0.02).set("nu13", 0.3).set("nu23", 0.25);
  m->set("G12", 5e3).set("G13", 4e3).set("G23", 5e3).set("density", 1.6);
  m->set("expansion1", 3e-5).set("expansion2", 1e-6).set("expansion3", 3e-5);
  add_box_mesh(d, mesh).set_material(m).set_orientation(Orientation::cylindrical({0, 0, 0}, {0, 0, 1}));
  d.prescribe("ymin", "all");
  d.add_load_case("hot").temperature("ymax", 80).pressure("xmin", 1);
}

/// A spring of one's own, computed by a virtual function on the host.
class Stay : public HostElement {
 public:
  int nodes() const override { return 2; }
  std::vector<std::string> unknown_names() const override { return {"ux", "uy", "uz"}; }
  std::vector<std::string> parameter_names() const override { return {"stiffness"}; }
  void tangent(const HostElementData& e, std::span<double> k) const override {
    for (int i = 0; i < 6; ++i)
      for (int j = 0; j < 6; ++j)
        k[6 * i + j] = ((i < 3) == (j < 3) ? 1 : -1) * e.parameters[0] * direction(e, i % 3) * direction(e, j % 3);
  }
  std::vector<std::string> recovered_names() const override { return {"N"}; }
  void recover(const HostElementData& e, std::span<double> out) const override {
    for (int i = 0; i < 3; ++i) out[0] += e.parameters[0] * (e.u[3 + i] - e.u[i]) * direction(e, i);
  }

 private:
  static double direction(const HostElementData& e, int i) {
    return (e.x[1][i] - e.x[0][i]) / std::hypot(e.x[1][0] - e.x[0][0], e.x[1][1] - e.x[0][1], e.x[1][2] - e.x[0][2]);
  }
};

/// Solids of every shape side by side, tied together by beams, bars, springs and a host element: nodes with three and
/// with six unknowns.
void zoo(Domain& d) {
  static const auto stay = std::make_shared<const Stay>();  // one object, however often the model is built
  register_host_element("conformance_stay", "line2", stay);
  const char* types[] = {"solid.hex8",    "solid.hex8.full", "solid.hex8.bbar", "solid.hex8.reduced",
                         "solid.hex20",   "solid.tet4",      "solid.tet10",     "solid.wedge6",
                         "solid.wedge15", "solid.wedge18",   "solid.hex27"};
  std::vector<Id> corner;  // a node of each box, to hang things on
  int at = 0;
  for (const char* type : types) {
    BoxMesh mesh;
    mesh.type = type;
    mesh.cells = {2, 1, 1};
    mesh.lower = {0, 1.5 * at, 0};
    mesh.upper = {1, 1.5 * at + 1, 1};
    mesh.distortion = 0.15;
    mesh.seed = 7 + at;
    mesh.block = type;
    mesh.set_prefix = std::to_string(at++) + ".";
    add_box_mesh(d, mesh).set_material(steel());
    d.prescribe(mesh.set_prefix + "xmin", "all");
    corner.push_back(d.node_id(d.node_set(mesh.set_prefix + "xmax").back()));
  }
  Id id = 100000;
  auto& beams = d.add_block("beams", "beam");
  beams.set_material(steel());
  for (const char* p : {"area", "inertia_y", "inertia_z", "torsion"}) beams.set_section(p, 0.02);
  beams.set_section("shear_area_y", 0).set_section("shear_area_z", 0);
  beams.set_section("orientation_x", 1).set_section("orientation_y", 0).set_section("orientation_z", 0.2);
  for (int i = 0; i < 4; ++i) beams.add(id++, {corner[i], corner[i + 1]});
  d.add_node_set("beams", {corner[0]});
  d.prescribe("beams", "ry");  // or the straight row of beams turns about itself, since solids hold no rotations
  auto& bars = d.add_block("bars", "truss");
  bars.set_material(steel()).set_section("area", 0.01);
  for (int i = 4; i < 6; ++i) bars.add(id++, {corner[i], corner[i + 1]});
  d.add_block("axial", "spring_axial").set_section("stiffness", 900).add(id++, {corner[6], corner[7]});
  auto& spring = d.add_block("spring", "spring");
  spring.set_section("kx", 10).set_section("ky", 20).set_section("kz", 30).add(id++, {corner[7], corner[8]});
  auto& rotary = d.add_block("rotary", "spring_rotary");
  for (const char* k : {"kx", "ky", "kz", "krx", "kry", "krz"}) rotary.set_section(k, 40);
  rotary.add(id++, {corner[0], corner[2]});
  auto& ground = d.add_block("ground", "spring_to_ground");
  ground.set_section("kx", 5).set_section("ky", 6).set_section("kz", 7).add(id++, {corner[8]});
  d.add_block("lump", "mass").set_section("mass", 1.5).add(id++, {corner[5]});
  auto& stays = d.add_block("stays", "conformance_stay");
  stays.set_section("stiffness", 700);
  stays.add(id++, {corner[1], corner[6]});
  stays.add(id++, {corner[3], corner[7]});
  d.add_equation({{corner[0], "ux", 1}, {corner[5], "ux", -0.5}, {corner[8], "uz", -0.25}}, 0.001);
  d.add_equation({{corner[2], "rx", 1}, {corner[3], "rx", -1}});
  d.add_load_case("all")
      .gravity("", {0, 1, -9.81})
      .temperature("0.xmax", 100)
      .pressure("3.zmax", 5)
      .pressure("8.zmax", 5);
}

/// Heat elements on the nodes and with the numbers of a block of solids.
ElementBlock& add_heat(Domain& d, const ElementBlock& solids, std::int32_t count) {
  auto& heat = d.add_block("heat", "heat.hex8");
  heat.set_material(steel());
  for (std::int32_t e = 0; e < count; ++e) {
    std::vector<Id> nodes;
    for (const std::int32_t n : solids.nodes(e)) nodes.push_back(d.node_id(n));
    heat.add(7000 + e, nodes);
  }
  return heat;
}

/// Displacements and temperatures on the same nodes, by elements of each: four unknowns per node, the heat elements'
/// being the last.
void warm_block(Domain& d) {
  BoxMesh mesh;
  mesh.type = "solid.hex8";
  mesh.cells = {4, 3, 2};
  mesh.distortion = 0.2;
  auto& solids = add_box_mesh(d, mesh);
  solids.set_material(steel());
  add_heat(d, solids, solids.size());
  for (const char* u : {"ux", "uy", "uz"}) d.prescribe("xmin", u);
  d.prescribe("xmin", "T", 20);
  d.prescribe("xmax", "T", 80);
  d.add_equation({{10, "T", 1}, {11, "T", -0.5}, {17, "T", -0.5}}, 2.5);
  d.add_equation({{20, "ux", 1}, {25, "ux", -1}});
  d.add_surface("warm", {{7001, 2}, {7002, 2}, {7003, 4}});
  d.add_load_case("push").pressure("xmax", 30).nodal("zmax", "T", 0.5);
  d.add_load_case("film").convection("warm", 40, 100).heat_source("", 1e3).gravity("", {0, 0, -9.81});
}

/// A spring between a temperature and a displacement, which lists its unknowns in an order of its own.
class Thermostat final : public HostElement {
 public:
  int nodes() const override { return 2; }
  std::vector<std::string> unknown_names() const override { return {"T", "uy"}; }
  std::vector<std::string> parameter_names() const override { return {"stiffness"}; }
  bool linear() const override { return true; }
  void tangent(const HostElementData& e, std::span<double> k) const override {
    const double direction[] = {1, 0.2, -0.5, 0.4};
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 4; ++j) k[4 * i + j] = e.parameters[0] * direction[i] * direction[j];
  }
};

/// Nodes with (ux uy uz), (ux uy uz T), T, (ux … rz) and (ux … rz T): solids half of which conduct heat, heat elements
/// beyond them, beams from node to node.
void mixture(Domain& d) {
  static const auto thermostat = std::make_shared<const Thermostat>();
  register_host_element("conformance_thermostat", "line2", thermostat);
  BoxMesh mesh;
  mesh.type = "solid.hex8";
  mesh.cells = {4, 2, 2};
  mesh.upper = {4, 2, 2};
  mesh.distortion = 0.2;
  auto& solids = add_box_mesh(d, mesh);
  solids.set_material(steel());
  auto& heat = add_heat(d, solids, 8);
  Id id = 8000;
  for (int k = 0; k < 8; ++k) d.add_node(901 + k, k % 2, -2.0 + k / 2 % 2, k / 4);  // a cube that only conducts
  heat.add(id++, {901, 902, 904, 903, 905, 906, 908, 907});
  d.add_equation({{901, "T", 1}, {1, "T", -1}});
  auto& beams = d.add_block("beams", "beam");
  beams.set_material(steel());
  for (const char* p : {"area", "inertia_y", "inertia_z", "torsion"}) beams.set_section(p, 0.02);
  beams.set_section("shear_area_y", 0).set_section("shear_area_z", 0);
  beams.set_section("orientation_x", 0.3).set_section("orientation_y", 0.2).set_section("orientation_z", 1);
  const auto end = d.node_set("xmax");
  const Id far = d.node_id(end[0]), near = d.node_id(d.node_set("ymin")[1]);
  beams.add(id++, {far, near});
  beams.add(id++, {near, d.node_id(end[3])});
  auto& stat = d.add_block("thermostat", "conformance_thermostat");
  stat.set_section("stiffness", 50);
  stat.add(id++, {near, 8});
  d.prescribe("xmin", "all");
  d.add_node_set("beam", {near});
  d.prescribe("beam", "rx");
  d.add_node_set("cold", {904});
  d.prescribe("cold", "T", -10);
  d.add_load_case("all")
      .nodal("xmax", "uz", -3)
      .nodal("beam", "T", 2)
      .nodal("beam", "rz", 1)
      .nodal_at(far, "rx", 4)
      .gravity("", {0, 0, -9.81});
}

}  // namespace

const std::vector<TestModel>& test_models() {
  static const std::vector<TestModel> models{{"heat", heat},
                                             {"warm_plate", warm_plate},
                                             {"plate", plate},
                                             {"solid", solid},
                                             {"frame", frame, true, false},
                                             {"hot_ring", hot_ring},
                                             {"wound_tube", wound_tube},
                                             {"zoo", zoo, false, false},
                                             {"warm_block", warm_block, true, false},
                                             {"mixture", mixture, false, false}};
  return models;
}

}  // namespace voussoir::conformance
