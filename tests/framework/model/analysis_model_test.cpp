#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <set>

#include <voussoir/framework/mesh/structured_mesh.hpp>
#include <voussoir/framework/model/analysis_model.hpp>
#include <voussoir/framework/model/ordering.hpp>

#include "support/expect_error.hpp"

namespace voussoir {
namespace {

using testing::expect_error;

AnalysisModel numbered(const Domain& d, const DofNumberer& numberer = PlainNumberer(),
                       const ConstraintHandler& handler = TransformationHandler()) {
  return AnalysisModel(d, Backend::open("openmp:1"), handler, numberer);
}

std::shared_ptr<Material> steel() {
  auto m = std::make_shared<IsotropicMaterial>("steel", 1000, 0.3, 1);
  m->set("conductivity", 1).set("shear_modulus", 400).set("area", 1);
  return m;
}

/// Nodes 10, 20, 30, 40, 50: a beam from 10 to 20, bars on to 40; 50 belongs to nobody.
void add_chain(Domain& d) {
  for (int i = 1; i <= 5; ++i) d.add_node(10 * i, i, 0, 0);
  auto& beam = d.add_block("beam", "beam");
  beam.set_material(steel()).add(1, {10, 20});
  for (const char* p : {"inertia_y", "inertia_z", "torsion", "shear_area_y", "shear_area_z", "orientation_z"})
    beam.set_section(p, 1);
  beam.set_section("orientation_x", 0).set_section("orientation_y", 0);
  auto& bars = d.add_block("bars", "truss");
  bars.set_material(steel());
  bars.add(2, {20, 30});
  bars.add(3, {30, 40});
  d.add_node_set("first", {10});
  d.add_node_set("middle", {30});
  d.add_node_set("nobody", {50});
}

TEST(AnalysisModel, EquationsPlacesAndLabelsGoRoundInACircle) {
  Domain d;
  add_chain(d);
  const auto m = numbered(d);
  EXPECT_EQ(m.unknown_names(), (std::vector<std::string>{"ux", "uy", "uz", "rx", "ry", "rz"}));
  EXPECT_EQ(m.equation_count(), 6 + 6 + 3 + 3);
  EXPECT_EQ(m.device_model().uniform_components(), 0);
  std::set<std::int32_t> seen;
  for (std::int32_t n = 0; n < d.node_count(); ++n)
    for (std::size_t k = 0; k < 6; ++k) {
      const auto& name = m.unknown_names()[k];
      const std::int32_t e = m.equation(n, name);
      const bool has = n < 2 || (n < 4 && k < 3);
      ASSERT_EQ(e >= 0, has) << "node index " << n << ", " << name;
      if (!has) continue;
      EXPECT_TRUE(seen.insert(e).second);
      EXPECT_EQ(m.place(e).node, n);
      EXPECT_EQ(m.place(e).component, static_cast<int>(k));
      EXPECT_EQ(m.equation_label(e), "node " + std::to_string(d.node_id(n)) + ", " + name);
    }
  EXPECT_EQ(m.equation(0, "T"), -1);
  EXPECT_EQ(m.unused_nodes(), std::vector<std::int32_t>{4});
}

TEST(AnalysisModel, HeldDependentAndFreeAddUp) {
  Domain d;
  add_chain(d);
  d.prescribe("first", "all", 0);
  d.prescribe("middle", "uy", 0.5);
  d.add_equation({{40, "ux", 1}, {30, "ux", -2}, {30, "uy", -1}}, 3);
  const auto m = numbered(d);
  EXPECT_EQ(m.free_equation_count(), 18 - 6 - 1 - 1);
  const auto uy = m.equation(d.node_index(30), "uy"), slave = m.equation(d.node_index(40), "ux");
  EXPECT_TRUE(m.is_prescribed(uy));
  EXPECT_FALSE(m.is_prescribed(slave));
  EXPECT_FALSE(m.is_free(slave));
  const auto u = m.initial_unknowns(2.0).to_host();
  EXPECT_EQ(u[uy], 1.0);
  EXPECT_EQ(u[slave], 2 * 3 + 1.0);  // constant and held master, both times the factor
}

TEST(AnalysisModel, SupportsAndLoadsOnUnknownsThatAreNotThereAreNamed) {
  const auto with = [](auto add) {
    return [add] {
      Domain d;
      add_chain(d);
      add(d);
      numbered(d);
    };
  };
  expect_error(ErrorCode::bad_input, {"node 30", "no unknown 'rx'", "it has ux, uy, uz"},
               with([](Domain& d) { d.prescribe("middle", "rx"); }));
  expect_error(ErrorCode::bad_input, {"node 10", "no unknown 'T'"}, with([](Domain& d) { d.prescribe("first", "T"); }));
  expect_error(ErrorCode::bad_input, {"node 50", "no element uses the node"},
               with([](Domain& d) { d.prescribe("nobody", "all"); }));
  expect_error(ErrorCode::bad_input, {"node 50", "load case 'w'", "no element uses the node"},
               with([](Domain& d) { d.add_load_case("w").nodal("nobody", "ux", 1); }));
  expect_error(ErrorCode::bad_input, {"node 30", "load case 'w'", "'rz'"},
               with([](Domain& d) { d.add_load_case("w").nodal("middle", "rz", 1); }));
  expect_error(ErrorCode::bad_input, {"node 40", "tie", "'ry'"}, with([](Domain& d) {
                 d.add_equation({{40, "ry", 1}, {10, "ry", -1}}, 0, "tie");
               }));
  expect_error(ErrorCode::bad_input, {"node 10, uy", "prescribed twice"}, with([](Domain& d) {
                 d.prescribe("first", "all", 0);
                 d.prescribe("first", "uy", 1);
               }));
  expect_error(ErrorCode::bad_input, {"tie", "node 10, ux", "contradict"}, with([](Domain& d) {
                 d.prescribe("first", "all", 0);
                 d.prescribe("middle", "all", 0);
                 d.add_equation({{10, "ux", 1}, {30, "ux", -1}}, 1, "tie");
               }));
  EXPECT_NO_THROW(with([](Domain& d) {
    d.prescribe("first", "all", 0);
    d.prescribe("first", "uy", 0);
  })());
}

TEST(AnalysisModel, ModelsThatMakeNoSenseAreRefused) {
  Domain empty;
  empty.add_node(1, 0, 0);
  empty.add_block("a", "truss");
  expect_error(ErrorCode::bad_input, {"no elements"}, [&] { numbered(empty); });

  Domain bare;
  add_box_mesh(bare, BoxMesh());
  expect_error(ErrorCode::bad_input, {"block 'box'", "'young'"}, [&] { numbered(bare); });

  Domain d;
  add_box_mesh(d, BoxMesh()).set_material(steel());
  expect_error(ErrorCode::misuse, {"backend"},
               [&] { AnalysisModel(d, nullptr, TransformationHandler(), PlainNumberer()); });
  struct Forgetful : PlainNumberer {
    std::vector<std::int32_t> order(const NodeGraph&) const override { return {0, 1}; }
  };
  expect_error(ErrorCode::misuse, {"ordered 2 of 8"}, [&] { numbered(d, Forgetful()); });
}

TEST(AnalysisModel, NodesHaveTheUnknownsOfTheirElements) {
  Domain d;
  BoxMesh mesh;
  add_box_mesh(d, mesh).set_material(steel());
  mesh.type = "heat.hex8";
  mesh.block = "warm";
  mesh.set_prefix = "w.";
  add_box_mesh(d, mesh).set_material(steel());
  const AnalysisModel model = numbered(d);
  EXPECT_EQ(model.unknown_names(), (std::vector<std::string>{"ux", "uy", "uz", "T"}));
  EXPECT_EQ(model.equation_count(), 8 * 3 + 8);
  const std::int32_t solid = d.block("box").nodes(0)[0], warm = d.block("warm").nodes(0)[0];
  EXPECT_GE(model.equation(solid, "uz"), 0);
  EXPECT_EQ(model.equation(solid, "T"), -1);
  EXPECT_EQ(model.equation(warm, "ux"), -1);
  const std::int32_t t = model.equation(warm, "T");
  ASSERT_GE(t, 0);
  EXPECT_EQ(model.place(t).node, warm);
  EXPECT_EQ(model.unknown_names()[static_cast<std::size_t>(model.place(t).component)], "T");
  EXPECT_EQ(model.equation_label(t), d.node_label(warm) + ", T");
  // Either block finds its unknowns first at its nodes, so that neither needs a table.
  for (const ElementBatch& batch : model.device_model().part(0).batches) EXPECT_TRUE(batch.slot.empty());
}

TEST(AnalysisModel, LoadsThatDoNotFitTheElementsAreNamed) {
  Domain heat;
  BoxMesh mesh;
  add_box_mesh(heat, mesh).set_material(steel());
  heat.add_load_case("sun").heat_flux("zmax", 1);
  expect_error(ErrorCode::bad_input, {"surface 'zmax'", "load case 'sun'"}, [&] { numbered(heat); });

  Domain springs;
  springs.add_node(1, 0, 0);
  auto& block = springs.add_block("s", "spring_to_ground");
  block.set_section("kx", 1).set_section("ky", 1).set_section("kz", 1).add(1, {1});
  springs.add_load_case("weight").gravity("", {0, 0, -1});
  expect_error(ErrorCode::bad_input, {"load case 'weight'", "mass"}, [&] { numbered(springs); });
}

TEST(DofNumberer, ReverseCuthillMcKeeNarrowsTheBand) {
  // A bar of 20 × 2 × 2 bricks whose nodes are numbered at random. It has 9 nodes in each layer across, so that layer
  // by layer the distance of neighbours is 17; levels that run askew cost a layer more.
  BoxMesh mesh;
  mesh.cells = {20, 2, 2};
  Domain ordered;
  add_box_mesh(ordered, mesh);
  const std::int32_t n = ordered.node_count();
  std::vector<Id> name(n);
  for (std::int32_t i = 0; i < n; ++i) name[i] = i + 1;
  std::shuffle(name.begin(), name.end(), std::mt19937(3));
  std::vector<std::int32_t> at(n + 1);
  for (std::int32_t i = 0; i < n; ++i) at[name[i]] = i;
  Domain d;
  for (Id id = 1; id <= n; ++id)
    d.add_node(id, ordered.coordinates()[3 * at[id]], ordered.coordinates()[3 * at[id] + 1],
               ordered.coordinates()[3 * at[id] + 2]);
  auto& block = d.add_block("box", "solid.hex8");
  block.set_material(steel());
  for (std::int32_t e = 0; e < ordered.block(0).size(); ++e) {
    std::vector<Id> nodes;
    for (std::int32_t k : ordered.block(0).nodes(e)) nodes.push_back(name[k]);
    block.add(e + 1, nodes);
  }
  const auto widest = [&](const DofNumberer& numberer) {
    const auto m = numbered(d, numberer);
    std::vector<std::int32_t> position(n);
    for (std::int32_t k = 0; k < n; ++k) position[m.numbered_nodes()[k]] = k;
    std::int32_t width = 0;
    for (std::int32_t e = 0; e < block.size(); ++e)
      for (std::int32_t a : block.nodes(e))
        for (std::int32_t b : block.nodes(e)) width = std::max(width, position[a] - position[b]);
    return width;
  };
  EXPECT_GT(widest(PlainNumberer()), 100);
  EXPECT_LE(widest(ReverseCuthillMcKeeNumberer()), 17 + 9);
}

TEST(DofNumberer, PlainKeepsTheOrderOfTheNodes) {
  Domain d;
  add_chain(d);
  const auto m = numbered(d);
  EXPECT_EQ(std::vector<std::int32_t>(m.numbered_nodes().begin(), m.numbered_nodes().end()),
            (std::vector<std::int32_t>{0, 1, 2, 3}));
  EXPECT_EQ(std::vector<std::int32_t>(m.first_equation().begin(), m.first_equation().end()),
            (std::vector<std::int32_t>{0, 6, 12, 15, 18}));
}

TEST(AnalysisModel, LoadCasesMultiplyTheBatchesOfTheirSurfaces) {
  Domain d;
  add_box_mesh(d, BoxMesh()).set_material(steel());
  d.add_load_case("a").pressure("zmax", 1);
  d.add_load_case("b").pressure("xmax", 1).traction("ymax", {1, 0, 0});
  const auto m = numbered(d);
  ASSERT_EQ(m.batches().size(), 4u);
  EXPECT_EQ(m.batch_factors(std::vector<double>{2, 3}), (std::vector<double>{1, 2, 3, 3}));
  EXPECT_TRUE(m.same_matrix(std::vector<double>{1, 0}, std::vector<double>{0, 1}));

  Domain heat;
  BoxMesh mesh;
  mesh.type = "heat.hex8";
  add_box_mesh(heat, mesh).set_material(steel());
  heat.add_load_case("film").convection("zmax", 1, 20);
  const auto t = numbered(heat);
  EXPECT_TRUE(t.is_thermal());
  EXPECT_FALSE(t.same_matrix(std::vector<double>{1}, std::vector<double>{2}));  // a film is in the matrix
}

// Cases that are used again are kept as vectors: the same bits as when they are formed, at any factor.
TEST(AnalysisModel, LoadsAreTheSameHoweverOftenTheyAreAskedFor) {
  Domain d;
  BoxMesh mesh;
  mesh.type = "solid.hex8";
  mesh.cells = {3, 2, 2};
  add_box_mesh(d, mesh).set_material(steel());
  d.add_load_case("weight").gravity("", {0.1, 0, -9.81});
  d.add_load_case("pull").nodal("xmax", "ux", 0.7);
  const AnalysisModel model = numbered(d);
  const auto loads = [&](double weight, double pull) {
    Vector f = model.make_vector();
    model.backend().fill(f, 1.0);
    model.add_loads(std::vector<double>{weight, pull}, {}, f);
    return f.to_host();
  };
  const auto first = loads(0.3, 1.7), alone = loads(0, 1.7), again = loads(0.3, 1.7), kept = loads(0.3, 1.7);
  EXPECT_EQ(first, again);
  EXPECT_EQ(first, kept);
  EXPECT_EQ(alone, loads(0, 1.7));
  const auto none = loads(0, 0), both = loads(2, 4), half = loads(1, 2);
  double largest = 0;
  for (std::size_t i = 0; i < none.size(); ++i) {
    EXPECT_EQ(none[i], 1);
    EXPECT_NEAR(both[i] - 1, 2 * (half[i] - 1), 1e-13);
    largest = std::max(largest, std::abs(half[i] - 1));
  }
  EXPECT_GT(largest, 0.1);
}

}  // namespace
}  // namespace voussoir
