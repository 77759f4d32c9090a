// What a Domain can have beside elements and loads: solved whole and solved by substructures.
#include <gtest/gtest.h>

#include <cmath>

#include <voussoir/framework/mesh/structured_mesh.hpp>
#include <voussoir/partition/domain_partitioner.hpp>
#include <voussoir/partition/substructure_solver.hpp>
#include <voussoir/solvers/static_problem.hpp>

#include "loaded_bar.hpp"
#include "support/expect_error.hpp"
#include "support/random_model.hpp"

namespace voussoir {
namespace {

using testing::expect_error;
using testing::RandomModel;
using testing::RandomModelOptions;

StepResult undivided(const Domain& domain) {
  StaticOptions options;
  options.backend = "openmp:2";
  options.solver = "direct";
  return make_static_analysis(domain, options)->run()[0];
}

StepResult divided(const Domain& domain, int parts, const char* backend = "openmp:2") {
  const Partition p = DomainPartitioner(domain).partition(CoordinateBisection(), parts);
  return SubstructureSolver(domain, p, Backend::open(backend)).solve()[0];
}

void expect_same(const StepResult& a, const StepResult& b, double tolerance = 1e-9) {
  const auto compare = [&](const NodalField& x, const NodalField& y, const char* what) {
    ASSERT_EQ(x.values.size(), y.values.size());
    double largest = 0, apart = 0;
    for (std::size_t i = 0; i < x.values.size(); ++i) {
      ASSERT_EQ(std::isnan(x.values[i]), std::isnan(y.values[i])) << what << ", value " << i;
      if (std::isnan(x.values[i])) continue;
      largest = std::max(largest, std::abs(y.values[i]));
      apart = std::max(apart, std::abs(x.values[i] - y.values[i]));
    }
    EXPECT_GT(largest, 0) << what;
    EXPECT_LT(apart, tolerance * largest) << what;
  };
  compare(a.unknowns, b.unknowns, "unknowns");
  compare(a.reactions, b.reactions, "reactions");
  EXPECT_NEAR(a.energy, b.energy, tolerance * std::abs(b.energy));
}

void add_bar(Domain& domain) { testing::add_loaded_bar(domain, 2); }

TEST(SubstructureConstraints, ObliqueSupportsAreKept) {
  Domain domain;
  add_bar(domain);
  // Along a whole edge, so on the interface too, some of them moved; two at one node.
  const int count = testing::support_edge_obliquely(domain);
  domain.prescribe_along(domain.node_id(domain.node_set("edge")[3]), {1, -0.2, 0.4});
  ASSERT_GT(count, 5);
  const StepResult whole = undivided(domain);
  for (const int parts : {2, 3, 6}) {
    SCOPED_TRACE(parts);
    expect_same(divided(domain, parts), whole);
  }
  expect_same(divided(domain, 3, "debug:2"), whole);
}

TEST(SubstructureConstraints, RigidBodiesAreKept) {
  Domain domain;
  add_bar(domain);
  // The end face follows a node of its own, which is loaded by a force and a moment and held in one direction.
  domain.add_node(9001, 4.5, 0.5, 0.5);
  domain.add_node(9002, 4.5, 0.5, 0.5);
  domain.set_rotation_node(9002, 9001, true);
  const char* const u[] = {"ux", "uy", "uz"};
  for (const std::int32_t n : domain.node_set("xmax")) {
    const double* x = &domain.coordinates()[3 * static_cast<std::size_t>(n)];
    const double r[3] = {x[0] - 4.5, x[1] - 0.5, x[2] - 0.5};
    for (int k = 0; k < 3; ++k) {
      const int i = (k + 1) % 3, j = (k + 2) % 3;
      std::vector<Domain::EquationTerm> terms{
          {domain.node_id(n), u[k], 1}, {9001, u[k], -1}, {9002, u[i], -r[j]}, {9002, u[j], r[i]}};
      std::erase_if(terms, [](const auto& t) { return t.coefficient == 0; });
      domain.add_equation(terms);
    }
  }
  domain.prescribe_at(9001, "uy", 0.05);
  domain.add_load_case("moment").nodal_at(9001, "uz", -3).nodal_at(9002, "ux", 2);
  const StepResult whole = undivided(domain);
  for (const int parts : {2, 4}) {
    SCOPED_TRACE(parts);
    expect_same(divided(domain, parts), whole);
  }
  // The hidden node is a rotation to the part as well.
  const Partition p = DomainPartitioner(domain).partition(CoordinateBisection(), 2);
  int found = 0;
  for (const auto& part : make_subdomains(domain, p))
    if (part->domain().has_node(9002)) {
      ++found;
      EXPECT_EQ(part->domain().node_label(part->domain().node_index(9002)), "node 9001");
    }
  EXPECT_EQ(found, 1);
}

TEST(SubstructureConstraints, EquationsThatCrossTheInterfaceAreRefusedByName) {
  Domain domain;
  add_bar(domain);
  const Id a = domain.node_id(domain.node_set("xmax")[0]), b = domain.node_id(domain.node_set("xmax")[0]) - 4;
  domain.add_node(9001, 0, 0, 0);
  domain.add_equation({{a, "ux", 1}, {9001, "ux", -1}}, 0, "one end");
  domain.add_equation({{b, "uy", 1}, {9001, "ux", -1}}, 0, "far away");
  std::vector<std::int32_t> halves(32);
  for (int e = 0; e < 32; ++e) halves[e] = e % 8 < 4 ? 0 : 1;
  const Partition p(domain, halves, 2);
  expect_error(ErrorCode::bad_input, {"far away", "crosses the interface"}, [&] { make_subdomains(domain, p); });
  // The partitioner knows that both hang on node 9001.
  expect_same(divided(domain, 2), undivided(domain));
}

/// A bar whose stiffness grows with its stretch.
class StiffeningBar : public HostElement {
 public:
  int nodes() const override { return 2; }
  std::vector<std::string> unknown_names() const override { return {"ux", "uy", "uz"}; }
  bool linear() const override { return false; }
  void tangent(const HostElementData& e, std::span<double> k) const override {
    std::fill(k.begin(), k.end(), 0.0);
    const double stretch = e.u.empty() ? 0.0 : e.u[3] - e.u[0];
    k[0] = k[3 * 6 + 3] = 1 + 3 * stretch * stretch;
    k[3] = k[3 * 6] = -k[0];
  }
  void residual(const HostElementData& e, std::span<double> f) const override {
    std::fill(f.begin(), f.end(), 0.0);
    const double stretch = e.u[3] - e.u[0];
    f[3] = stretch + stretch * stretch * stretch;
    f[0] = -f[3];
  }
};

TEST(SubstructureConstraints, ElementsThatAreNotLinearAreRefused) {
  register_host_element("test.stiffening_bar", "line2", std::make_shared<StiffeningBar>());
  Domain domain;
  add_bar(domain);
  const Id tip = domain.node_id(domain.node_set("xmax")[0]);
  domain.add_node(9001, 9, 0, 0);
  domain.prescribe_at(9001, "all");
  domain.add_block("rope", "test.stiffening_bar").add(500, {tip, Id{9001}});
  const Partition p = DomainPartitioner(domain).partition(CoordinateBisection(), 2);
  SubstructureSolver solver(domain, p, Backend::open("openmp:1"));
  expect_error(ErrorCode::bad_input, {"rope", "not linear", "StaticAnalysis"}, [&] { solver.solve(); });
  // A superelement that is used alone is no exception.
  int refused = 0;
  for (const auto& part : solver.superelements()) {
    AnalysisState state;
    state.case_factors = {1.0};
    part->begin(state);
    part->condense(state);
    part->load(state);
    if (part->model().is_linear()) {
      EXPECT_NO_THROW(part->as_element());
      continue;
    }
    ++refused;
    expect_error(ErrorCode::bad_input, {"rope", "linear"}, [&] { part->as_element(); });
  }
  EXPECT_EQ(refused, 1);
}

TEST(SubstructureConstraints, MaterialsOverTemperatureAndTemperaturesNodeByNode) {
  Domain domain;
  BoxMesh mesh;
  mesh.cells = {6, 2, 2};
  mesh.upper = {3, 1, 1};
  auto material = std::make_shared<Material>("alloy");
  material->set_table("young", {{0, 1000}, {100, 600}});
  material->set("poisson", 0.3);
  material->set("expansion", 1e-4);
  material->set("density", 1);
  add_box_mesh(domain, mesh).set_material(material);
  domain.set_reference_temperature(20);
  domain.prescribe("xmin", "all");
  auto& load = domain.add_load_case("heat").traction("xmax", {0, 1, 0});
  for (std::int32_t n = 0; n < domain.node_count(); n += 2) load.temperature_at(domain.node_id(n), 20 + n);
  const StepResult whole = undivided(domain);
  for (const int parts : {2, 4}) expect_same(divided(domain, parts), whole);
}

TEST(SubstructureConstraints, APartCanBeDividedAgain) {
  Domain domain;
  add_bar(domain);
  domain.add_node_set_where("side", [](double x, double y, double) { return x > 0.1 && y == 0; });
  domain.add_node_set_where("base", [](double x, double, double z) { return x > 0.1 && z == 0; });
  domain.prescribe("side", "uy", 0.01);
  domain.prescribe("base", "uz", -0.01);
  const Partition p = DomainPartitioner(domain).partition(CoordinateBisection(), 2);
  for (const auto& part : make_subdomains(domain, p)) {
    if (part->part() > 0) part->domain().prescribe("side", "ux", 0.02);
    expect_same(divided(part->domain(), 3), undivided(part->domain()));
  }
}

TEST(SubstructureConstraints, ABodyOnABallJointIsRefused) {
  Domain domain;
  add_bar(domain);
  domain.clear_supports();
  // All nodes follow node 9001, which is held; nothing prevents the rotation.
  domain.add_node(9001, 0, 0, 0);
  domain.add_node(9002, 0, 0, 0);
  domain.set_rotation_node(9002, 9001, true);
  const char* const u[] = {"ux", "uy", "uz"};
  const std::int32_t count = domain.node_count() - 2;
  for (std::int32_t n = 0; n < count; ++n) {
    const std::array<double, 3> r = domain.node(domain.node_id(n)).position;
    for (int k = 0; k < 3; ++k) {
      const int i = (k + 1) % 3, j = (k + 2) % 3;
      domain.add_equation({{domain.node_id(n), u[k], 1}, {9001, u[k], -1}, {9002, u[i], -r[j]}, {9002, u[j], r[i]}});
    }
  }
  domain.prescribe_at(9001, "all");
  expect_error(ErrorCode::singular, {}, [&] { divided(domain, 1); });
  expect_error(ErrorCode::singular, {}, [&] { undivided(domain); });
}

TEST(SubstructureConstraints, RandomModelsHaveTheSameAnswer) {
  int compared = 0;
  for (std::uint32_t seed = 1; seed <= 40; ++seed) {
    Domain domain;
    SCOPED_TRACE(RandomModel(seed).build(domain));
    try {
      DomainPartitioner(domain).partition(CoordinateBisection(), 2);
    } catch (const Error&) {
      continue;  // equations hold all elements together
    }
    StepResult whole;
    try {
      whole = undivided(domain);
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("contradict"), std::string::npos) << error.what();
      EXPECT_THROW(divided(domain, 2), Error);
      continue;
    }
    ++compared;
    expect_same(divided(domain, 2), whole, 1e-6);
  }
  EXPECT_GT(compared, 8);
}

}  // namespace
}  // namespace voussoir
