#include <gtest/gtest.h>

#include <cmath>

#include <voussoir/backends/error.hpp>
#include <voussoir/framework/mesh/structured_mesh.hpp>
#include <voussoir/partition/domain_partitioner.hpp>
#include <voussoir/partition/substructure_solver.hpp>
#include <voussoir/solvers/static_problem.hpp>

namespace voussoir {
namespace {

/// Largest difference of two fields over the largest value; NaN must stand at the same places.
double difference(const NodalField& a, const NodalField& b) {
  EXPECT_EQ(a.components, b.components);
  EXPECT_EQ(a.values.size(), b.values.size());
  double largest = 0, apart = 0;
  for (std::size_t i = 0; i < a.values.size() && i < b.values.size(); ++i) {
    EXPECT_EQ(std::isnan(a.values[i]), std::isnan(b.values[i])) << "value " << i;
    if (std::isnan(a.values[i])) continue;
    largest = std::max(largest, std::abs(a.values[i]));
    apart = std::max(apart, std::abs(a.values[i] - b.values[i]));
  }
  return apart / largest;
}

std::vector<StepResult> undivided(const Domain& domain, const std::vector<Step>& steps = {}) {
  StaticOptions options;
  options.backend = "openmp";
  options.solver = "direct";
  auto analysis = make_static_analysis(domain, options);
  for (const Step& step : steps) analysis->add_step(step);
  return analysis->run();
}

void expect_same(const StepResult& a, const StepResult& b) {
  EXPECT_LT(difference(a.unknowns, b.unknowns), 1e-9);
  EXPECT_LT(difference(a.reactions, b.reactions), 1e-9);
  EXPECT_NEAR(a.energy, b.energy, 1e-9 * std::abs(b.energy));
  ASSERT_EQ(a.points.size(), b.points.size());
  for (std::size_t i = 0; i < a.points.size(); ++i) {
    ASSERT_EQ(a.points[i].names, b.points[i].names);
    ASSERT_EQ(a.points[i].values.size(), b.points[i].values.size());
    double largest = 0, apart = 0;
    for (std::size_t k = 0; k < a.points[i].values.size(); ++k) {
      largest = std::max(largest, std::abs(b.points[i].values[k]));
      apart = std::max(apart, std::abs(a.points[i].values[k] - b.points[i].values[k]));
    }
    EXPECT_LT(apart, 1e-9 * largest);
  }
  for (std::size_t c = 0; c < a.load_sum.size(); ++c) {
    EXPECT_NEAR(a.load_sum[c], b.load_sum[c], 1e-9 * (1 + std::abs(b.load_sum[c])));
    EXPECT_NEAR(a.reaction_sum[c], b.reaction_sum[c], 1e-9 * (1 + std::abs(b.reaction_sum[c])));
  }
  EXPECT_LT(a.report.true_residual, 1e-9);
}

/// A cantilever with every kind of load.
void fill_cantilever(Domain& domain, const std::string& type = "solid.hex8") {
  BoxMesh mesh;
  mesh.type = type;
  mesh.cells = {8, 3, 3};
  mesh.upper = {4, 1, 1};
  mesh.distortion = 0.15;
  add_box_mesh(domain, mesh).set_material(std::make_shared<IsotropicMaterial>("steel", 210e3, 0.3, 7.85, 1.2e-5));
  domain.prescribe("xmin", "all");
  domain.add_load_case("push").nodal("xmax", "uz", -3.0).pressure("ymax", 2.0).traction("zmax", {0.5, 0, 0});
  domain.add_load_case("body").gravity("", {0, 0, -9.81}).temperature("xmax", 100.0);
}

TEST(SubstructureSolver, GivesTheSolutionOfTheUndividedModel) {
  for (const char* type : {"solid.hex8", "solid.tet10"}) {
    Domain domain;
    fill_cantilever(domain, type);
    const auto reference = undivided(domain);
    for (int parts : {1, 2, 5, 8}) {
      SCOPED_TRACE(std::string(type) + " in " + std::to_string(parts));
      const Partition p = DomainPartitioner(domain).partition(CoordinateBisection(), parts);
      SubstructureSolver solver(domain, p, Backend::open("openmp"));
      const auto results = solver.solve();
      ASSERT_EQ(results.size(), 1u);
      expect_same(results[0], reference[0]);
      // All free unknowns are either inside a part or on the interface.
      std::int64_t sum = solver.report().interface_unknowns;
      for (std::int64_t n : solver.report().interior_unknowns) sum += n;
      EXPECT_EQ(sum, 3 * (domain.node_count() - static_cast<std::int64_t>(domain.node_set("xmin").size())));
    }
  }
}

TEST(SubstructureSolver, WorksOnMemoryThatIsNotTheHosts) {
  Domain domain;
  fill_cantilever(domain);
  const auto reference = undivided(domain);
  const Partition p = DomainPartitioner(domain).partition(CoordinateBisection(), 3);
  expect_same(SubstructureSolver(domain, p, Backend::open("debug:2")).solve()[0], reference[0]);
}

TEST(SubstructureSolver, ABarUnderTensionStretchesAsHookeSays) {
  // Uniform stress σ: u = σ x / E, −ν σ y / E, whatever the partition; every shape function holds linear fields.
  const double young = 70e3, poisson = 0.3, stress = 140.0;
  Domain domain;
  BoxMesh mesh;
  mesh.cells = {6, 4, 3};
  mesh.upper = {3, 1, 1};
  mesh.distortion = 0.2;
  add_box_mesh(domain, mesh).set_material(std::make_shared<IsotropicMaterial>("aluminium", young, poisson));
  domain.prescribe("xmin", "ux");
  domain.prescribe("ymin", "uy");
  domain.prescribe("zmin", "uz");
  domain.add_load_case("pull").pressure("xmax", -stress);
  const Partition p = DomainPartitioner(domain).partition(CoordinateBisection(), 6);
  const StepResult result = SubstructureSolver(domain, p, Backend::open("openmp:1")).solve()[0];
  for (std::int32_t n = 0; n < domain.node_count(); ++n) {
    const auto x = domain.coordinates().subspan(3 * static_cast<std::size_t>(n), 3);
    EXPECT_NEAR(result.unknowns.at(n, "ux"), stress / young * x[0], 1e-12);
    EXPECT_NEAR(result.unknowns.at(n, "uy"), -poisson * stress / young * x[1], 1e-12);
  }
  EXPECT_NEAR(result.reaction_sum[0], -stress, 1e-9);
}

TEST(SubstructureSolver, StepsShareTheFactorisationAndScale) {
  Domain domain;
  fill_cantilever(domain);
  const std::vector<Step> steps = {
      {"one", {{"push", 1.0}}, 1.0}, {"two", {{"push", -2.0}}, 1.0}, {"both", {{"push", 1.0}, {"body", 1.0}}, 1.0}};
  const auto reference = undivided(domain, steps);
  const Partition p = DomainPartitioner(domain).partition(CoordinateBisection(), 4);
  const auto results = SubstructureSolver(domain, p, Backend::open("openmp")).solve(steps);
  ASSERT_EQ(results.size(), 3u);
  for (int s = 0; s < 3; ++s) expect_same(results[s], reference[s]);
  EXPECT_EQ(results[2].step, "both");
}

TEST(SubstructureSolver, PrescribedValuesAndEquationsAreKept) {
  Domain domain;
  BoxMesh mesh;
  mesh.cells = {10, 2, 2};
  mesh.upper = {5, 1, 1};
  add_box_mesh(domain, mesh).set_material(std::make_shared<IsotropicMaterial>("steel", 1000.0, 0.25));
  domain.prescribe("xmin", "all");
  // The support runs along an edge, across all parts, and is moved.
  domain.add_node_set_where("edge", [](double, double y, double z) { return y == 0 && z == 0; });
  domain.prescribe("edge", "uy", 0.0);
  domain.add_node_set_where("tip", [](double x, double y, double z) { return x == 5 && y == 1 && z == 1; });
  domain.prescribe("tip", "uz", 0.125);
  const auto face = domain.node_set("xmax");
  domain.add_equation({{domain.node_id(face[1]), "ux", 1.0}, {domain.node_id(face[2]), "ux", -1.0}}, 0.01);
  domain.add_load_case("pull").nodal("xmax", "ux", 1.0);
  const auto reference = undivided(domain);
  const Partition p = DomainPartitioner(domain).partition(CoordinateBisection(), 4);
  const StepResult result = SubstructureSolver(domain, p, Backend::open("openmp")).solve()[0];
  expect_same(result, reference[0]);
  EXPECT_EQ(result.unknowns.at(domain.node_set("tip")[0], "uz"), 0.125);
}

TEST(SubstructureSolver, MixesSolidsAndBeams) {
  // A block of solids with a mast of beams, which has rotations where the solids have none; loads and supports there
  // too.
  Domain domain;
  BoxMesh mesh;
  mesh.cells = {2, 2, 2};
  add_box_mesh(domain, mesh).set_material(std::make_shared<IsotropicMaterial>("concrete", 30e3, 0.2));
  domain.prescribe("zmin", "all");
  domain.add_node_set_where("foot", [](double x, double y, double z) { return x == 0.5 && y == 0.5 && z == 1; });
  const Id foot = domain.node_id(domain.node_set("foot")[0]);
  ElementBlock& mast = domain.add_block("mast", "beam");
  for (const auto& [name, value] : std::initializer_list<std::pair<const char*, double>>{{"young", 210e3},
                                                                                         {"shear_modulus", 80e3},
                                                                                         {"area", 0.01},
                                                                                         {"inertia_y", 1e-5},
                                                                                         {"inertia_z", 1e-5},
                                                                                         {"torsion", 2e-5},
                                                                                         {"shear_area_y", 0.008},
                                                                                         {"shear_area_z", 0.008},
                                                                                         {"orientation_x", 1.0},
                                                                                         {"orientation_y", 0.0},
                                                                                         {"orientation_z", 0.0}})
    mast.set_section(name, value);
  Id last = foot;
  for (int i = 0; i < 4; ++i) {
    domain.add_node(1000 + i, 0.5, 0.5, 1.5 + 0.5 * i);
    mast.add(500 + i, {last, Id{1000 + i}});
    last = 1000 + i;
  }
  domain.add_node_set("top", {last});
  // Rotations at the foot are held, or the mast would fall over.
  for (const char* r : {"rx", "ry", "rz"}) domain.prescribe("foot", r);
  domain.add_load_case("wind").nodal("top", "ux", 1.0).nodal("foot", "ux", 0.5).nodal("top", "rz", 0.1);
  const auto reference = undivided(domain);

  // Solids in parts 0 and 1, beams in part 2: the foot lies on the interface, with rotations on one side only.
  std::vector<std::int32_t> part(12, 0);
  for (int e = 4; e < 8; ++e) part[e] = 1;
  for (int e = 8; e < 12; ++e) part[e] = 2;
  const Partition p = DomainPartitioner(domain).partition(UserPartition(part), 3);
  const StepResult result = SubstructureSolver(domain, p, Backend::open("openmp")).solve()[0];
  EXPECT_LT(difference(result.unknowns, reference[0].unknowns), 1e-9);
  EXPECT_LT(difference(result.reactions, reference[0].reactions), 1e-9);
  EXPECT_NEAR(result.energy, reference[0].energy, 1e-9 * reference[0].energy);
}

/// A user's bar along x.
class UserBar : public HostElement {
 public:
  int nodes() const override { return 2; }
  std::vector<std::string> unknown_names() const override { return {"ux", "uy", "uz"}; }
  std::vector<std::string> parameter_names() const override { return {"stiffness"}; }
  void tangent(const HostElementData& e, std::span<double> k) const override {
    std::fill(k.begin(), k.end(), 0.0);
    k[0] = k[3 * 6 + 3] = e.parameters[0];
    k[3] = k[3 * 6] = -e.parameters[0];
  }
};

TEST(SubstructureSolver, CountsTheEnergyOfSpringsAndUsersElements) {
  // Nothing but nodal loads acts, so the energy is half of force times way (Clapeyron), wherever it sits.
  register_host_element("test.user_bar", "line2", std::make_shared<UserBar>());
  Domain domain;
  BoxMesh mesh;
  mesh.cells = {4, 1, 1};
  mesh.upper = {4, 1, 1};
  add_box_mesh(domain, mesh).set_material(std::make_shared<IsotropicMaterial>("rubber", 10.0, 0.3));
  domain.prescribe("xmin", "all");
  const Id tip = domain.node_id(domain.node_set("xmax").front());
  domain.add_node(1000, 5, 0, 0);
  domain.add_node(1001, 6, 0, 0);
  domain.add_node_set("end", {Id{1001}});
  domain.add_node_set("outside", {Id{1000}, Id{1001}});
  domain.prescribe("outside", "uy");
  domain.prescribe("outside", "uz");
  domain.add_block("user", "test.user_bar").set_section("stiffness", 3).add(500, {tip, Id{1000}});
  domain.add_block("axial", "spring_axial").set_section("stiffness", 2).add(501, {Id{1000}, Id{1001}});
  ElementBlock& ground = domain.add_block("ground", "spring_to_ground");
  ground.set_section("kx", 0.5).set_section("ky", 0).set_section("kz", 0).add(502, {Id{1001}});
  domain.add_load_case("pull").nodal("end", "ux", 7.0);
  const auto reference = undivided(domain);
  for (int parts : {1, 2, 3}) {
    const Partition p = DomainPartitioner(domain).partition(CoordinateBisection(), parts);
    const StepResult result = SubstructureSolver(domain, p, Backend::open("openmp")).solve()[0];
    expect_same(result, reference[0]);
    const double way = result.unknowns.at(domain.node_set("end")[0], "ux");
    EXPECT_NEAR(result.energy, 0.5 * 7.0 * way, 1e-9 * result.energy);
    EXPECT_TRUE(result.report.converged);
  }
}

TEST(SubstructureSolver, ConductsHeat) {
  Domain domain;
  BoxMesh mesh;
  mesh.type = "heat.hex8";
  mesh.cells = {6, 3, 3};
  mesh.upper = {3, 1, 1};
  auto material = std::make_shared<Material>("copper");
  material->set("conductivity", 2.0);
  add_box_mesh(domain, mesh).set_material(material);
  domain.prescribe("xmin", "T", 100.0);
  domain.add_load_case("cool").convection("xmax", 4.0, 20.0).heat_source("", 0.5);
  const auto reference = undivided(domain);
  const Partition p = DomainPartitioner(domain).partition(CoordinateBisection(), 4);
  const StepResult result = SubstructureSolver(domain, p, Backend::open("openmp")).solve()[0];
  EXPECT_EQ(result.unknowns.name, "temperature");
  expect_same(result, reference[0]);
}

TEST(SubstructureSolver, SaysWhatIsNotHeld) {
  Domain domain;
  BoxMesh mesh;
  mesh.cells = {4, 2, 2};
  add_box_mesh(domain, mesh).set_material(std::make_shared<IsotropicMaterial>("steel", 1.0, 0.3));
  domain.prescribe("xmin", "ux");
  domain.add_load_case("pull").nodal("xmax", "ux", 1.0);
  for (int parts : {1, 2, 4}) {
    const Partition p = DomainPartitioner(domain).partition(CoordinateBisection(), parts);
    try {
      SubstructureSolver(domain, p, Backend::open("openmp")).solve();
      ADD_FAILURE() << parts << " parts: no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::singular) << error.what();
      EXPECT_NE(std::string(error.what()).find("node "), std::string::npos) << error.what();
      // Two translations and the rotation about x.
      EXPECT_NE(std::string(error.what()).find(" 3 modes"), std::string::npos) << error.what();
    }
  }
}

TEST(Superelement, ActsAsAnElementOfAnotherModel) {
  // Two halves of a cantilever, condensed to the nodes between them, become two elements of a model that has no others.
  Domain domain;
  BoxMesh mesh;
  mesh.cells = {6, 2, 2};
  mesh.upper = {3, 1, 1};
  add_box_mesh(domain, mesh).set_material(std::make_shared<IsotropicMaterial>("steel", 1000.0, 0.25));
  domain.prescribe("xmin", "all");
  domain.add_load_case("load").nodal("xmax", "uz", -1.0);
  const auto reference = undivided(domain);
  const Partition p = DomainPartitioner(domain).partition(CoordinateBisection(), 2);
  const auto parts = make_subdomains(domain, p);

  Domain outer;
  for (std::int32_t n : p.interface_nodes()) {
    const Node node = domain.node(domain.node_id(n));
    outer.add_node(node.id, node.position[0], node.position[1], node.position[2]);
  }
  const auto backend = Backend::open("openmp");
  for (const auto& part : parts) {
    Superelement element(*part, backend);
    AnalysisState state;
    state.case_factors = {1.0};
    element.begin(state);
    element.condense(state);
    element.load(state);
    const std::string name = "test.superelement" + std::to_string(part->part());
    register_host_element(name, "", element.as_element());
    outer.add_block(name, name).add(1 + part->part(), element.interface_ids());
    EXPECT_EQ(element.boundary().size(), 27u);
  }
  const auto result = undivided(outer)[0];
  for (std::int32_t n = 0; n < outer.node_count(); ++n)
    for (int c = 0; c < 3; ++c)
      EXPECT_NEAR(result.unknowns.at(n, c), reference[0].unknowns.at(domain.node_index(outer.node_id(n)), c), 1e-9);
}

}  // namespace
}  // namespace voussoir
