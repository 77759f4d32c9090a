// Several fields on one mesh: nodes with the unknowns of all elements that use them.

#include <gtest/gtest.h>

#include <cmath>

#include <voussoir/framework/domain/node_unknowns.hpp>
#include <voussoir/framework/mesh/structured_mesh.hpp>
#include <voussoir/framework/model/bodies.hpp>
#include <voussoir/framework/model/free_motion.hpp>
#include <voussoir/solvers/static_problem.hpp>

#include "support/expect_error.hpp"

namespace voussoir {
namespace {

using testing::expect_error;

std::shared_ptr<Material> steel() {
  auto m = std::make_shared<IsotropicMaterial>("steel", 210e3, 0.3, 7.85, 1.2e-5);
  m->set("conductivity", 50);
  return m;
}

/// A box of solids, of heat elements, or of both on the same nodes.
void add_box(Domain& d, bool solids, bool heat) {
  BoxMesh mesh;
  mesh.type = solids ? "solid.hex8" : "heat.hex8";
  mesh.cells = {5, 3, 2};
  mesh.upper = {5, 3, 2};
  mesh.distortion = 0.2;
  mesh.block = solids ? "solids" : "heat";
  auto& block = add_box_mesh(d, mesh);
  block.set_material(steel());
  if (!solids || !heat) return;
  auto& second = d.add_block("heat", "heat.hex8");
  second.set_material(steel());
  for (std::int32_t e = 0; e < block.size(); ++e) {
    std::vector<Id> nodes;
    for (const std::int32_t n : block.nodes(e)) nodes.push_back(d.node_id(n));
    second.add(1000 + e, nodes);
  }
}

LoadCase& add_mechanics(Domain& d) {
  for (const char* u : {"ux", "uy", "uz"}) d.prescribe("xmin", u);
  return d.add_load_case("push").traction("xmax", {3, 1, -2});
}

void add_temperatures(Domain& d) {
  d.prescribe("xmin", "T", 20);
  d.prescribe("xmax", "T", 120);
  d.add_equation({{9, "T", 1}, {10, "T", -0.5}, {15, "T", -0.5}}, 3);
}

struct Fields : ::testing::TestWithParam<std::tuple<std::string, std::string, std::string>> {};

TEST_P(Fields, HeatAndSolidsTogetherAreHeatAndThenSolids) {
  const auto& [backend, solver, storage] = GetParam();
  const auto run = [&, solver = solver, storage = storage](Domain& d) {
    StaticOptions options;
    options.solver = solver;
    options.storage = storage;
    options.relative_tolerance = 1e-11;
    return make_static_analysis(d, Backend::open(std::get<0>(GetParam())), options)->run().back();
  };
  Domain warm;
  add_box(warm, false, true);
  add_temperatures(warm);
  warm.add_load_case("source").heat_source("", 400);
  const StepResult temperature = run(warm);
  Domain loaded;
  add_box(loaded, true, false);
  add_mechanics(loaded).temperature_field(temperature.unknowns.values);
  const StepResult displaced = run(loaded);

  Domain both;
  add_box(both, true, true);
  add_mechanics(both).heat_source("", 400);
  add_temperatures(both);
  const StepResult result = run(both);

  EXPECT_EQ(result.unknowns.components, (std::vector<std::string>{"ux", "uy", "uz", "T"}));
  double largest = 0;
  for (const double u : displaced.unknowns.values) largest = std::max(largest, std::abs(u));
  for (std::int32_t n = 0; n < both.node_count(); ++n) {
    EXPECT_NEAR(result.unknowns.at(n, "T"), temperature.unknowns.at(n, "T"), 1e-6);
    for (const char* u : {"ux", "uy", "uz"})
      EXPECT_NEAR(result.unknowns.at(n, u), displaced.unknowns.at(n, u), 1e-8 * largest) << u << " of node " << n;
  }
  for (int k = 0; k < 3; ++k) {
    EXPECT_NEAR(result.reaction_sum[k], displaced.reaction_sum[k], 1e-4);
    EXPECT_NEAR(result.load_sum[k], displaced.load_sum[k], 1e-9);
  }
  EXPECT_NEAR(result.reaction_sum[3], temperature.reaction_sum[0], 1e-6 * std::abs(temperature.reaction_sum[0]));
  ASSERT_EQ(result.points.size(), 2u);
  for (std::size_t i = 0; i < result.points[0].values.size(); ++i)
    EXPECT_NEAR(result.points[0].values[i], displaced.points[0].values[i],
                1e-5 * (1 + std::abs(displaced.points[0].values[i])));
  for (std::size_t i = 0; i < result.points[1].values.size(); ++i)
    EXPECT_NEAR(result.points[1].values[i], temperature.points[0].values[i],
                1e-6 * (1 + std::abs(temperature.points[0].values[i])));
}

INSTANTIATE_TEST_SUITE_P(
    OnBackends, Fields,
    ::testing::Values(std::tuple{"openmp:2", "auto", "auto"}, std::tuple{"openmp:2", "direct", "csr"},
                      std::tuple{"openmp:2", "cg+amg", "bsr"}, std::tuple{"openmp:2", "cg+jacobi", "matrix-free"},
                      std::tuple{"debug:2", "cg+block-jacobi", "element"}, std::tuple{"debug:2", "cg+fsai", "csr"},
                      std::tuple{"debug", "direct:profile", "auto"}),
    [](const auto& info) {
      std::string name = std::get<0>(info.param) + "_" + std::get<1>(info.param) + "_" + std::get<2>(info.param);
      for (char& c : name)
        if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
      return name;
    });

TEST(FieldsOfAModel, NodesHaveWhatTheirElementsUse) {
  Domain d;
  for (Id n = 1; n <= 4; ++n) d.add_node(n, static_cast<double>(n), 0, 0);
  d.add_block("bar", "truss").add(1, {1, 2});
  d.add_block("wire", "spring_rotary").add(2, {2, 3});
  const NodeUnknowns mechanical = node_unknowns(d);
  EXPECT_EQ(mechanical.names, (std::vector<std::string>{"ux", "uy", "uz", "rx", "ry", "rz"}));
  EXPECT_EQ(mechanical.of_node[0], UnknownSet::first(3));
  EXPECT_EQ(mechanical.of_node[1], UnknownSet::first(6));
  EXPECT_TRUE(mechanical.of_node[3].empty());
}

TEST(FieldsOfAModel, AreBodiesOfTheirOwnUnlessAnElementCouplesThem) {
  Domain d;
  add_box(d, true, true);
  add_mechanics(d);
  add_temperatures(d);
  const AnalysisModel model(d, Backend::open("openmp:1"), TransformationHandler(), PlainNumberer());
  EXPECT_EQ(Bodies(model).count(), 2);
  Domain tied;
  add_box(tied, true, true);
  add_mechanics(tied);
  add_temperatures(tied);
  tied.add_equation({{21, "T", 1}, {20, "uz", -1e4}});
  EXPECT_EQ(Bodies(AnalysisModel(tied, Backend::open("openmp:1"), TransformationHandler(), PlainNumberer())).count(),
            1);
}

// CG judges each field by its own load: temperatures are right beside forces that are 1e12 times larger.
TEST(FieldsOfAModel, ALightlyLoadedOneConverges) {
  const auto temperatures = [](double force) {
    Domain d;
    add_box(d, true, true);
    for (const char* u : {"ux", "uy", "uz"}) d.prescribe("xmin", u);
    d.prescribe("xmin", "T", 0);
    d.add_load_case("both").nodal("xmax", "ux", force).nodal("xmax", "T", 1e-3);
    StaticOptions options;
    options.solver = "cg+jacobi";
    const auto result = make_static_analysis(d, Backend::open("openmp:2"), options)->run().back();
    std::vector<double> t;
    for (std::int32_t n = 0; n < d.node_count(); ++n) t.push_back(result.unknowns.at(n, "T"));
    return t;
  };
  const auto alone = temperatures(0), beside = temperatures(1e9);
  double largest = 0;
  for (const double t : alone) largest = std::max(largest, std::abs(t));
  ASSERT_GT(largest, 0);
  for (std::size_t n = 0; n < alone.size(); ++n) EXPECT_NEAR(beside[n], alone[n], 1e-5 * largest);
}

TEST(FieldsOfAModel, EachNeedsSupportsOfItsOwn) {
  Domain d;
  add_box(d, true, true);
  add_mechanics(d);
  const AnalysisModel model(d, Backend::open("openmp:1"), TransformationHandler(), PlainNumberer());
  EXPECT_EQ(model.unknown_names().size(), 4u);
  auto motions = find_free_motions(model);
  ASSERT_EQ(motions.size(), 1u);
  EXPECT_NE(motions[0].text.find("no prescribed temperature"), std::string::npos) << motions[0].text;

  Domain loose;
  add_box(loose, true, true);
  add_temperatures(loose);
  const AnalysisModel other(loose, Backend::open("openmp:1"), TransformationHandler(), PlainNumberer());
  motions = find_free_motions(other);
  ASSERT_EQ(motions.size(), 1u);
  EXPECT_NE(motions[0].text.find("all 6 rigid ways"), std::string::npos) << motions[0].text;
}

TEST(FieldsOfAModel, WeightDoesNotFollowAnUnknownTemperature) {
  Domain d;
  add_box(d, true, true);
  auto swelling = std::make_shared<IsotropicMaterial>("swelling", 210e3, 0.3, 7.85, 0);
  swelling->set_table("density", {{0, 7.85}, {100, 7.8}});
  d.block("solids").set_material(swelling);
  add_mechanics(d).gravity("", {0, 0, -9.81});
  add_temperatures(d);
  expect_error(ErrorCode::bad_input, {"weight of block 'solids'", "constant density"},
               [&] { AnalysisModel(d, Backend::open("openmp:1"), TransformationHandler(), PlainNumberer()); });
}

TEST(FieldsOfAModel, LoadsActOnUnknownsThatAreThere) {
  const auto number = [](Domain& d) {
    AnalysisModel(d, Backend::open("openmp:1"), TransformationHandler(), PlainNumberer());
  };
  Domain d;
  add_box(d, true, true);
  d.add_surface("heated", {{1000, 1}});
  d.add_load_case("wrong").pressure("heated", 1);
  expect_error(ErrorCode::bad_input, {"pressure", "'ux'", "block 'heat'", "surface 'heated'"}, [&] { number(d); });

  Domain e;
  add_box(e, true, false);
  auto& heat = e.add_block("heat", "heat.hex8");
  heat.set_material(steel());
  std::vector<Id> first;
  for (const std::int32_t n : e.block(0).nodes(0)) first.push_back(e.node_id(n));
  heat.add(1000, first);
  const Id without = e.node_id(e.node_count() - 1);
  e.add_load_case("wrong").nodal_at(without, "T", 1);
  expect_error(ErrorCode::bad_input, {"no unknown 'T'", "ux, uy, uz", std::to_string(without)}, [&] { number(e); });
}

}  // namespace
}  // namespace voussoir
