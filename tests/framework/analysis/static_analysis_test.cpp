// What a static analysis promises beyond one linear solve: nothing is lost, nothing is stale, nothing is taken for
// balanced that is not.

#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include <voussoir/framework/domain/host_element.hpp>
#include <voussoir/framework/mesh/structured_mesh.hpp>
#include <voussoir/voussoir.hpp>

#include "support/expect_error.hpp"

namespace voussoir {
namespace {

using testing::expect_error;

std::shared_ptr<Material> steel(double density = 7850) {
  return std::make_shared<IsotropicMaterial>("steel", 210e9, 0.3, density);
}

/// A cube of 2 × 2 × 2 elements, clamped at x = 0.
void build_cube(Domain& domain, const std::string& type = "solid.hex8", double density = 7850) {
  BoxMesh mesh;
  mesh.type = type;
  mesh.cells = {2, 2, 2};
  add_box_mesh(domain, mesh).set_material(steel(density));
  domain.prescribe("xmin", "all");
}

StepResult solve(const Domain& domain, const StaticOptions& options = {}) {
  return make_static_analysis(domain, options)->run().front();
}

/// A spring that stiffens: force = k (d + d³).
class StiffeningSpring : public HostElement {
 public:
  int nodes() const override { return 2; }
  std::vector<std::string> unknown_names() const override { return {"ux", "uy", "uz"}; }
  std::vector<std::string> parameter_names() const override { return {"k"}; }
  void tangent(const HostElementData& e, std::span<double> m) const override {
    const double d = e.u[3] - e.u[0];
    add(m, e.parameters[0] * (1 + 3 * d * d));
  }
  void residual(const HostElementData& e, std::span<double> r) const override {
    const double d = e.u[3] - e.u[0];
    r[3] = e.parameters[0] * (d + d * d * d);
    r[0] = -r[3];
  }

 private:
  static void add(std::span<double> m, double k) {
    m[0] = m[3 * 6 + 3] = k;
    m[3] = m[3 * 6] = -k;
  }
};

TEST(StaticAnalysis, ElementsThatAreNotLinearAreBalancedByNewton) {
  register_host_element("stiffening_spring", "line2", std::make_shared<StiffeningSpring>());
  Domain domain;
  domain.add_node(1, 0, 0);
  domain.add_node(2, 1, 0);
  domain.add_block("spring", "stiffening_spring").set_section("k", 100).add(1, {1, 2});
  domain.add_node_set("wall", {1});
  domain.add_node_set("end", {2});
  domain.prescribe("wall", "all");
  domain.prescribe("end", "uy");
  domain.prescribe("end", "uz");
  domain.add_load_case("pull").nodal("end", "ux", 250);
  // d + d³ = 2.5 by Cardano's formula.
  const double root = std::sqrt(1.25 * 1.25 + 1.0 / 27);
  const double exact = std::cbrt(1.25 + root) + std::cbrt(1.25 - root);
  const StepResult result = solve(domain);
  EXPECT_NEAR(result.unknowns.at(domain.node_index(2), "ux"), exact, 1e-7);
  EXPECT_NEAR(result.reactions.at(domain.node_index(1), "ux"), -250, 1e-4);
  // Asked to be linear, it is: one solve at zero.
  EXPECT_NEAR(solve(domain, {.algorithm = "linear"}).unknowns.at(1, "ux"), 2.5, 1e-12);
  // That such elements are slow is said once, by the block's name and with the reason.
  auto analysis = make_static_analysis(domain);
  analysis->run();
  analysis->run();
  ASSERT_EQ(analysis->notes().size(), 1u);
  for (const char* piece : {"'spring'", "stiffening_spring", "computed on the host", "written for the host"})
    EXPECT_NE(analysis->notes()[0].find(piece), std::string::npos) << analysis->notes()[0];
}

TEST(StaticAnalysis, ADomainThatChangesBetweenRunsIsNumberedAgain) {
  Domain domain;
  build_cube(domain);
  LoadCase& load = domain.add_load_case("load");
  load.traction("xmax", {1e6, 0, 0});
  auto analysis = make_static_analysis(domain);
  const double once = analysis->run().front().load_sum[0];
  load.traction("xmax", {1e6, 0, 0}).nodal("xmax", "ux", 10);
  domain.add_node(1000, 5, 5, 5);
  const StepResult twice = analysis->run().front();
  EXPECT_NEAR(once, 1e6, 1e-3);
  EXPECT_NEAR(twice.load_sum[0], 2e6 + 90, 1e-3);
  ASSERT_EQ(analysis->notes().size(), 1u);
  EXPECT_NE(analysis->notes()[0].find("node 1000"), std::string::npos);
}

TEST(StaticAnalysis, AnalysesMayShareTheirCollaborators) {
  Domain small, large;
  build_cube(small);
  build_cube(large, "solid.hex20");
  for (Domain* d : {&small, &large}) d->add_load_case("load").traction("xmax", {1e6, 0, 0});
  const StepResult alone = solve(small);
  StaticAnalysis first(small, make_static_analysis(small)->collaborators());
  first.run();
  {
    StaticAnalysis second(large, first.collaborators());
    second.run();
  }
  EXPECT_EQ(first.run().front().unknowns.values, alone.unknowns.values);
}

TEST(StaticAnalysis, LoadsThatWouldDoNothingAreErrors) {
  const auto expect_refused = [](const char* type, std::initializer_list<std::string> words, auto add,
                                 double density = 7850) {
    Domain domain;
    BoxMesh mesh;
    mesh.type = type;
    auto material = std::make_shared<Material>("stuff");
    material->set("young", 1)
        .set("poisson", 0.3)
        .set("conductivity", 1)
        .set("density", density)
        .set("specific_heat", 1);
    add_box_mesh(domain, mesh).set_material(material);
    domain.prescribe("xmin", "all");
    add(domain.add_load_case("load"));
    expect_error(ErrorCode::bad_input, words, [&] { solve(domain); });
  };
  expect_refused("solid.hex8", {"load case 'load'", "heat"}, [](LoadCase& c) { c.heat_source("", 5); });
  expect_refused("heat.hex8", {"load case 'load'", "mass"}, [](LoadCase& c) { c.gravity("", {0, 0, -9.81}); });
  expect_refused(
      "solid.hex8", {"load case 'load'", "density"},
      [](LoadCase& c) {
        c.gravity("", {0, 0, -9.81});
      },
      0.0);
  expect_refused("plane_strain.quad4", {"along z"}, [](LoadCase& c) { c.gravity("", {0, 0, -9.81}); });
  expect_refused("plane_strain.quad4", {"surface 'xmax'", "along z"}, [](LoadCase& c) {
    c.traction("xmax", {0, 0, 1});
  });
  expect_refused("heat.hex8", {"load case 'load'", "prescribe 'T'"}, [](LoadCase& c) { c.temperature("xmax", 5); });
}

TEST(StaticAnalysis, ASolverThatGivesUpLeavesItsReportAndTheStepsBefore) {
  Domain domain;
  build_cube(domain);
  domain.add_load_case("none");
  domain.add_load_case("pull").traction("xmax", {1e6, 0, 0});
  domain.set_reference_temperature(0);
  domain.add_load_case("warm").temperature("xmax", 0);
  auto analysis = make_static_analysis(domain, {.solver = "cg+jacobi", .max_iterations = 2});
  analysis->add_step({"nothing", {{"none", 1}}});
  analysis->add_step({"warm", {{"warm", 1}}});
  analysis->add_step({"pull", {{"pull", 1}, {"warm", 1}}});
  try {
    analysis->run();
    FAIL() << "two iterations cannot be enough";
  } catch (const NotConverged& error) {
    EXPECT_EQ(error.code(), ErrorCode::not_converged);
    EXPECT_EQ(error.where(), "step 'pull'");
    EXPECT_EQ(error.finished_steps().size(), 2u);
    EXPECT_GT(error.report().true_residual, 1e-8);
  }
}

TEST(StaticAnalysis, AnImpossibleMaterialIsShownWithItsNumbers) {
  Domain domain;
  BoxMesh mesh;
  add_box_mesh(domain, mesh).set_material(std::make_shared<IsotropicMaterial>("jelly", 1e6, 0.5));
  domain.prescribe("xmin", "all");
  expect_error(ErrorCode::bad_input, {"element 1 (block 'box'", "young = 1e+06", "poisson = 0.5"},
               [&] { solve(domain); });
}

TEST(StaticAnalysis, TheEnergyOfSpringsIsHalfOfTheWorkOfTheLoad) {
  Domain domain;
  domain.add_node(1, 0, 0);
  domain.add_block("ground", "spring_to_ground")
      .set_section("kx", 50)
      .set_section("ky", 1)
      .set_section("kz", 1)
      .add(1, {1});
  domain.add_node_set("free", {1});
  domain.add_load_case("push").nodal("free", "ux", 10);
  EXPECT_NEAR(solve(domain).energy, 0.5 * 10 * 10 / 50.0, 1e-12);
}

}  // namespace
}  // namespace voussoir
