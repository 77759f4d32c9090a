#include <gtest/gtest.h>

#include <map>

#include "support.hpp"

// Materials over temperature in bodies whose initial temperature differs from node to node. With E and ν at the
// temperature T, and the thermal strain α(T) (T − T_r) − α(T₀) (T₀ − T_r), a body that is held everywhere has at every
// point the stress of minus that strain. Temperatures and initial temperatures are linear here, so that they are known
// at the points; elements that take one temperature (Quad4, Hex8,
// trusses, beams) have it at the middle. (Incompatible modes move inside a held element, so these are not among them.)

namespace voussoir::validation {
namespace {

constexpr double reference = 20;
double young(double t) { return t < 0 ? 1000 : t > 400 ? 200 : 1000 - 2 * t; }
double alpha(double t, double low = 1e-5) { return t < 0 ? low : t > 400 ? low + 2e-5 : low + 2e-5 * t / 400; }
double thermal(double t, double t0, double low = 1e-5) {
  return alpha(t, low) * (t - reference) - alpha(t0, low) * (t0 - reference);
}
double temperature(double x) { return 40 + 190 * x; }          // up to 420 at x = 2: beyond the table
double initial_temperature(double x) { return -30 + 55 * x; }  // from −30: beyond it at the other end

std::shared_ptr<Material> alloy() {
  auto m = std::make_shared<Material>("alloy");
  m->set_table("young", {{0, 1000}, {400, 200}}).set("poisson", 0.3).set("shear_modulus", 100).set("density", 1);
  m->set_table("expansion", {{0, 1e-5}, {400, 3e-5}}).set_expansion_reference(reference);
  return m;
}

/// E1 = E2 = E3, ν = 0, and a coefficient of its own along each axis.
std::shared_ptr<Material> laminate() {
  auto m = std::make_shared<OrthotropicMaterial>("laminate");
  for (const char* name : {"E1", "E2", "E3"}) m->set_table(name, {{0, 1000}, {400, 200}});
  for (const char* name : {"nu12", "nu13", "nu23"}) m->set(name, 0);
  for (const char* name : {"G12", "G13", "G23"}) m->set(name, 100);
  for (int k = 0; k < 3; ++k) {
    const double low = 1e-5 * (k + 1);
    m->set_table("expansion" + std::to_string(k + 1), {{0, low}, {400, low + 2e-5}});
  }
  m->set_expansion_reference(reference);
  return m;
}

void heat_up(Domain& d) {
  LoadCase& hot = d.add_load_case("hot");
  for (std::int32_t n = 0; n < d.node_count(); ++n) {
    d.set_initial_temperature_at(d.node_id(n), initial_temperature(position(d, n)[0]));
    hot.temperature_at(d.node_id(n), temperature(position(d, n)[0]));
  }
}

void hold_all(Domain& d) {
  for (std::int32_t n = 0; n < d.node_count(); ++n) d.prescribe_at(d.node_id(n), "all");
}

/// Whether an element takes the temperature in its middle.
bool is_mean(const std::string& type) {
  return type.find(".hex8") != std::string::npos || type.find(".quad4") != std::string::npos;
}

class HeldBody : public ::testing::TestWithParam<std::string> {};

TEST_P(HeldBody, HasTheStressOfItsThermalStrain) {
  const std::string type = GetParam();
  const bool orthotropic = type.starts_with("orthotropic");
  const bool flat = type.find("plane") != std::string::npos || type.find("axisymmetric") != std::string::npos;
  const bool plane_stress = type.find("plane_stress") != std::string::npos;
  for (const char* backend : {"openmp", "debug:2"}) {
    SCOPED_TRACE(type + " on " + backend);
    Domain d;
    BoxMesh mesh;
    mesh.type = orthotropic ? type.substr(12) : type;
    mesh.cells = {3, 2, 2};
    mesh.lower = {0.5, 0, 0};
    mesh.upper = {2, 1, flat ? 0.0 : 1.0};
    add_box_mesh(d, mesh).set_material(orthotropic ? laminate() : alloy());
    heat_up(d);
    hold_all(d);
    StaticOptions options;
    options.backend = backend;
    const StepResult r = solve(d, options);
    const PointField& field = r.points.at(0);
    for (std::int32_t e = 0; e < d.block(0).size(); ++e) {
      double middle = 0;
      for (const std::int32_t n : d.block(0).nodes(e)) middle += position(d, n)[0] / d.block(0).nodes_per_element();
      for (int p = 0; p < field.points; ++p) {
        const double x = is_mean(type) ? middle : field.at(e, p, "x");
        const double t = temperature(x), t0 = initial_temperature(x);
        const char* const names[] = {"sxx", "syy", "szz"};
        for (int k = 0; k < 3; ++k) {
          // Isotropic: a body held in 3 directions, or in 2 where σ_zz = 0.
          double right = orthotropic    ? -young(t) * thermal(t, t0, 1e-5 * (k + 1))
                         : plane_stress ? -young(t) / (1 - 0.3) * thermal(t, t0)
                                        : -young(t) / (1 - 2 * 0.3) * thermal(t, t0);
          if (plane_stress && k == 2) right = 0;
          EXPECT_NEAR(field.at(e, p, names[k]), right, 1e-12) << names[k] << " at x = " << x;
        }
      }
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Types, HeldBody,
                         ::testing::Values("solid.hex8.full", "solid.hex8.bbar", "solid.hex8.reduced", "solid.hex20",
                                           "solid.hex20.reduced", "solid.tet4", "solid.tet10", "solid.wedge6",
                                           "solid.wedge15", "plane_strain.quad4.full", "plane_strain.quad8",
                                           "plane_strain.tri3", "plane_stress.quad4.full", "plane_stress.quad8.reduced",
                                           "plane_stress.tri6", "axisymmetric.quad4.bbar", "axisymmetric.quad8",
                                           "axisymmetric.tri6", "orthotropic_solid.hex8.full",
                                           "orthotropic_solid.hex20", "orthotropic_solid.tet10",
                                           "orthotropic_plane_stress.quad8", "orthotropic_plane_strain.quad4.full",
                                           "orthotropic_axisymmetric.quad8"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '.', '_');
                           return name;
                         });

TEST(HeldBars, HaveTheForceOfTheirThermalStrain) {
  for (const char* backend : {"openmp", "debug:2"})
    for (const std::string type : {"truss", "beam"}) {
      SCOPED_TRACE(type + " on " + backend);
      Domain d;
      for (int i = 0; i < 4; ++i) d.add_node(i + 1, 0.5 * i, 0, 0);
      ElementBlock& block = d.add_block("bar", type).set_material(alloy()).set_section("area", 3);
      if (type == "beam") {
        for (const char* name : {"inertia_y", "inertia_z", "torsion", "shear_area_y", "shear_area_z"})
          block.set_section(name, 1);
        block.set_section("orientation_x", 0).set_section("orientation_y", 1).set_section("orientation_z", 0);
      }
      for (int i = 0; i < 3; ++i) block.add(i + 1, {i + 1, i + 2});
      heat_up(d);
      hold_all(d);
      StaticOptions options;
      options.backend = backend;
      const StepResult r = solve(d, options);
      for (int e = 0; e < 3; ++e) {
        const double t = temperature(0.5 * e + 0.25), t0 = initial_temperature(0.5 * e + 0.25);
        EXPECT_NEAR(r.points.at(0).at(e, 0, "N"), -3 * young(t) * thermal(t, t0), 1e-12);
      }
    }
}

TEST(FreeBody, TakesNoStressFromAChangeThatIsTheSameEverywhere) {
  // α constant, the change of temperature 100 at every node, though temperature, E and start differ from node to node.
  for (const char* backend : {"openmp", "debug:2"})
    for (const char* type : {"solid.hex20", "solid.hex8.incompatible", "solid.tet10"}) {
      SCOPED_TRACE(type + std::string(" on ") + backend);
      Domain d;
      BoxMesh mesh;
      mesh.type = type;
      mesh.cells = {4, 2, 2};
      auto m = std::make_shared<Material>("alloy");
      m->set_table("young", {{0, 1000}, {400, 200}}).set("poisson", 0.3).set("expansion", 1e-5);
      add_box_mesh(d, mesh).set_material(m);
      LoadCase& hot = d.add_load_case("hot");
      for (std::int32_t n = 0; n < d.node_count(); ++n) {
        const auto x = position(d, n);
        const double start = 37 * x[0] - 21 * x[1] + 5 * x[2] * x[2];
        d.set_initial_temperature_at(d.node_id(n), start);
        hot.temperature_at(d.node_id(n), start + 100);
      }
      d.prescribe("xmin", "ux");
      d.prescribe("ymin", "uy");
      d.prescribe("zmin", "uz");
      StaticOptions options;
      options.backend = backend;
      auto analysis = make_static_analysis(d, options);
      analysis->add_step({"hot", {{"hot", 1}}});
      analysis->add_step({"half", {{"hot", 0.5}}});  // of the change, not of the temperature
      analysis->add_step({"cold", {}});
      const auto r = analysis->run();
      const double factors[] = {1, 0.5, 0};
      for (int s = 0; s < 3; ++s)
        for (std::int32_t n = 0; n < d.node_count(); ++n)
          for (int k = 0; k < 3; ++k)
            EXPECT_NEAR(r[s].unknowns.at(n, k), factors[s] * 1e-3 * position(d, n)[k], 1e-12) << "step " << s;
    }
}

TEST(InitialTemperatures, HoldTablesWithoutAnyLoad) {
  // No temperature acts: T is T₀, and E follows it from node to node. Two bars in a row under one force.
  Domain d;
  for (int i = 0; i < 3; ++i) d.add_node(i + 1, i, 0, 0);
  auto& block = d.add_block("bar", "truss").set_material(alloy()).set_section("area", 1);
  block.add(1, {1, 2});
  block.add(2, {2, 3});
  d.set_initial_temperature(100);
  d.set_initial_temperature_at(3, 300);
  d.add_node_set("foot", {1});
  d.add_node_set("all", {1, 2, 3});
  d.add_node_set("tip", {3});
  d.prescribe("foot", "ux");
  d.prescribe("all", "uy");
  d.prescribe("all", "uz");
  d.add_load_case("pull").nodal("tip", "ux", 8);
  const StepResult r = solve(d);
  EXPECT_NEAR(r.unknowns.at(1, "ux"), 8 / young(100), 1e-14);
  EXPECT_NEAR(r.unknowns.at(2, "ux"), 8 / young(100) + 8 / young(200), 1e-14);
}

TEST(InitialTemperatures, OfNodesOutweighThoseOfTheDomain) {
  Domain d;
  d.add_node(7, 0, 0, 0);
  d.add_node(9, 1, 0, 0);
  d.add_node_set("right", {9});
  EXPECT_EQ(d.initial_temperatures(), (std::vector<double>{0, 0}));
  d.set_reference_temperature(20);
  EXPECT_EQ(d.initial_temperatures(), (std::vector<double>{20, 20}));
  d.set_initial_temperature("right", 50);
  EXPECT_EQ(d.initial_temperatures(), (std::vector<double>{20, 50}));
  d.set_initial_temperature(30);
  const auto revision = d.revision();
  d.set_initial_temperature_at(9, 60);
  EXPECT_GT(d.revision(), revision);
  EXPECT_EQ(d.initial_temperature(0), 30);
  EXPECT_EQ(d.initial_temperature(1), 60);
  d.add_node(11, 2, 0, 0);
  EXPECT_EQ(d.initial_temperature(2), 30);
  EXPECT_THROW(d.set_initial_temperature(NAN), Error);
  EXPECT_THROW(d.set_initial_temperature_at(9, INFINITY), Error);
  EXPECT_THROW(d.set_initial_temperature_at(8, 1), Error);
  EXPECT_THROW(d.set_initial_temperature("left", 1), Error);
  EXPECT_THROW(Material("m").set_expansion_reference(NAN), Error);
}

}  // namespace
}  // namespace voussoir::validation
