#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include <voussoir/framework/domain/domain.hpp>
#include <voussoir/framework/mesh/structured_mesh.hpp>

#include "support/expect_error.hpp"

namespace voussoir {
namespace {

using testing::expect_error;
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Ids that do not simply count on: a bar between nodes 7, 3 and 100.
void add_three_nodes(Domain& d) {
  d.add_node(7, 0, 0, 0);
  d.add_node(3, 1, 0, 0);
  d.add_node(100, 2, 0, 0.5);
}

TEST(Domain, NodesAreFoundByTheirIds) {
  Domain d;
  add_three_nodes(d);
  EXPECT_EQ(d.node_count(), 3);
  EXPECT_EQ(d.node_index(7), 0);
  EXPECT_EQ(d.node_index(3), 1);
  EXPECT_EQ(d.node_index(100), 2);
  EXPECT_EQ(d.node_id(2), 100);
  EXPECT_TRUE(d.has_node(3));
  EXPECT_FALSE(d.has_node(8));
  EXPECT_EQ(d.node(100).position, (std::array<double, 3>{2, 0, 0.5}));
  expect_error(ErrorCode::not_found, {"node 8"}, [&] { d.node_index(8); });
}

TEST(Domain, NodesWithoutIdsCountOn) {
  Domain d;
  d.add_node(40, 0, 0);
  d.add_nodes({}, std::vector<double>{1, 1, 1, 2, 2, 2});
  EXPECT_EQ(d.node_id(1), 41);
  EXPECT_EQ(d.node_id(2), 42);
}

TEST(Domain, BadNodesAreRefused) {
  Domain d;
  add_three_nodes(d);
  expect_error(ErrorCode::bad_input, {"node 3", "unique"}, [&] { d.add_node(3, 5, 5, 5); });
  expect_error(ErrorCode::bad_input, {"node 9", "finite"}, [&] { d.add_node(9, 0, nan, 0); });
  const Id ids[] = {20, 21};
  expect_error(ErrorCode::bad_input, {"2 ids", "9 coordinates"},
               [&] { d.add_nodes(ids, std::vector<double>(9, 0.0)); });
  expect_error(ErrorCode::bad_input, {"4 coordinates"}, [&] { d.add_nodes({}, std::vector<double>(4, 0.0)); });
  EXPECT_EQ(d.node_count(), 3);
}

TEST(Domain, ManyNodesAreAddedAllOrNone) {
  const std::vector<double> four(12, 1.0);
  Domain d;
  d.add_node(10, 0, 0);
  d.add_node(11, 1, 0);
  const Id twice[] = {12, 13, 40, 13};  // ids count on at first, then no longer
  expect_error(ErrorCode::bad_input, {"node 13", "unique"}, [&] { d.add_nodes(twice, four); });
  EXPECT_EQ(d.node_count(), 2);
  EXPECT_EQ(d.coordinates().size(), 6u);
  for (Id id : {12, 13, 40}) EXPECT_FALSE(d.has_node(id));
  EXPECT_EQ(d.node_index(11), 1);
  auto bad = four;
  bad[7] = nan;
  expect_error(ErrorCode::bad_input, {"node 14", "finite"}, [&] { d.add_nodes({}, bad); });
  EXPECT_EQ(d.node_count(), 2);
  const Id good[] = {13, 12, 40, 9};
  d.add_nodes(good, four);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(d.node_index(good[i]), 2 + i);
}

TEST(Domain, ManyElementsAreAddedAllOrNone) {
  Domain d;
  add_three_nodes(d);
  auto& a = d.add_block("a", "truss");
  a.add(5, {7, 3});
  const Id ids[] = {6, 7, 2, 9}, nodes[] = {7, 3, 3, 100, 100, 7, 7, 99};  // 2 is out of order, node 99 does not exist
  expect_error(ErrorCode::not_found, {"element 9", "node 99"}, [&] { a.add_many(ids, nodes); });
  EXPECT_EQ(a.size(), 1);
  EXPECT_EQ(a.connectivity().size(), 2u);
  EXPECT_EQ(d.element_ref(5), (ElementRef{0, 0}));
  for (Id id : {6, 7, 2, 9}) expect_error(ErrorCode::not_found, {"element"}, [&] { d.element_ref(id); });
  auto& b = d.add_block("b", "truss");
  b.add_many(std::span(ids).first(3), std::span(nodes).first(6));
  EXPECT_EQ(d.element_ref(2), (ElementRef{1, 2}));
  b.add_many({}, std::span(nodes).first(2));  // counts on from 7, not from what was taken back
  EXPECT_EQ(b.id(3), 8);
}

TEST(Domain, ElementsAreFoundByTheirIds) {
  Domain d;
  add_three_nodes(d);
  auto& a = d.add_block("a", "truss");
  auto& b = d.add_block("b", "truss");
  a.add(5, {7, 3});
  b.add(6, {3, 100});
  a.add(2, {100, 7});  // out of order
  EXPECT_EQ(d.element_count(), 3);
  EXPECT_EQ(d.element_ref(6), (ElementRef{1, 0}));
  EXPECT_EQ(d.element_ref(2), (ElementRef{0, 1}));
  EXPECT_EQ(d.element(2).nodes, (std::vector<Id>{100, 7}));
  EXPECT_EQ(d.element(6).block, &b);
  EXPECT_EQ(d.element_label({0, 0}), "element 5 (block 'a', truss)");
  expect_error(ErrorCode::not_found, {"element 4"}, [&] { d.element(4); });
  const Id more[] = {7, 3, 3, 100};
  b.add_many({}, more);  // numbered on from the largest
  EXPECT_EQ(d.element_ref(8), (ElementRef{1, 2}));
}

TEST(Domain, BadElementsAreRefusedAndLeaveNothingBehind) {
  Domain d;
  add_three_nodes(d);
  auto& a = d.add_block("a", "truss");
  a.add(5, {7, 3});
  const std::string where = "element 6 (block 'a', truss)";
  expect_error(ErrorCode::not_found, {where, "node 99"}, [&] { a.add(6, {7, 99}); });
  expect_error(ErrorCode::bad_input, {where, "node 3 appears twice"}, [&] { a.add(6, {3, 3}); });
  expect_error(ErrorCode::bad_input, {where, "3 nodes given, 2 wanted"}, [&] { a.add(6, {7, 3, 100}); });
  expect_error(ErrorCode::bad_input, {"element 5", "unique"}, [&] { a.add(5, {3, 100}); });
  auto& b = d.add_block("b", "truss");
  expect_error(ErrorCode::bad_input, {"element 5", "unique over all blocks"}, [&] { b.add(5, {3, 100}); });
  const Id ids[] = {10, 11}, nodes[] = {7, 3, 3};
  expect_error(ErrorCode::bad_input, {"block 'a'", "2 ids", "3 node ids"}, [&] { a.add_many(ids, nodes); });
  EXPECT_EQ(a.size(), 1);
  EXPECT_EQ(a.connectivity().size(), 2u);
  EXPECT_EQ(b.size(), 0);
}

TEST(Domain, BlocksHaveKnownTypesAndNamesOfTheirOwn) {
  Domain d;
  d.add_block("a", "solid.hex8");
  expect_error(ErrorCode::bad_input, {"block 'a'"}, [&] { d.add_block("a", "truss"); });
  expect_error(ErrorCode::not_found, {"solid.hex9", "did you mean 'solid.hex8'", "`voussoir info --elements`"},
               [&] { d.add_block("b", "solid.hex9"); });
  expect_error(ErrorCode::not_found, {"zzzzzzzzzzzz", "ElementLibrary::instance().all()", "`voussoir info --elements`"},
               [&] { d.add_block("b", "zzzzzzzzzzzz"); });
  d.add_block("B", "truss");
  expect_error(ErrorCode::not_found, {"block 'c'", "available are 'B', 'a'"}, [&] { d.block("c"); });
  expect_error(ErrorCode::not_found, {"block 'c'", "none is defined yet"}, [] { Domain().block("c"); });
  EXPECT_EQ(&d.block("a"), &d.block(0));
  EXPECT_EQ(&std::as_const(d).block("B"), &d.block(1));
}

TEST(Domain, SetsAreSortedAndUnique) {
  Domain d;
  add_three_nodes(d);
  d.add_node_set("s", {100, 7, 100});
  d.add_node_set("s", {7});
  const auto s = d.node_set("s");
  EXPECT_EQ(std::vector<std::int32_t>(s.begin(), s.end()), (std::vector<std::int32_t>{0, 2}));
  EXPECT_EQ(d.node_set_names(), std::vector<std::string>{"s"});
}

TEST(Domain, SetsThatDoNotExistOrAreEmptyAreNamed) {
  Domain d;
  add_three_nodes(d);
  d.add_block("a", "truss").add(1, {7, 3});
  expect_error(ErrorCode::not_found, {"node set 'no'", "none is defined yet"}, [&] { d.node_set("no"); });
  d.add_node_set("clamp", {7});
  expect_error(ErrorCode::not_found, {"node set 'clmp'", "'clamp'"}, [&] { d.node_set("clmp"); });
  d.add_node_set("nobody", std::initializer_list<Id>{});
  expect_error(ErrorCode::bad_input, {"node set 'nobody'", "empty"}, [&] { d.prescribe("nobody", "ux"); });
  expect_error(ErrorCode::not_found, {"node set 'clamp'", "node 55"}, [&] { d.add_node_set("clamp", {55}); });
  const Id element = 77;
  expect_error(ErrorCode::not_found, {"element set 'e'", "element 77"}, [&] { d.add_element_set("e", {&element, 1}); });
  expect_error(ErrorCode::not_found, {"element set 'e'"}, [&] { d.element_set("e"); });
  expect_error(ErrorCode::not_found, {"surface 's'"}, [&] { d.surface("s"); });
  const FaceRef face{0, 0, 7};
  expect_error(ErrorCode::not_found, {"surface 's'", "element 1 (block 'a', truss)", "face S8"}, [&] {
    d.add_surface("s", {&face, 1});
  });
  const FaceRef far{0, 5, 0}, nowhere{3, 0, 0};
  expect_error(ErrorCode::not_found, {"surface 's'", "block 'a'", "1 elements"}, [&] {
    d.add_surface("s", {&far, 1});
  });
  expect_error(ErrorCode::not_found, {"surface 's'", "index 3"}, [&] { d.add_surface("s", {&nowhere, 1}); });
  d.add_surface_where("s", [](double, double, double) { return false; });
  expect_error(ErrorCode::bad_input, {"surface 's'", "empty"}, [&] { d.surface("s"); });
}

TEST(Domain, SurfacesAreFoundByPlace) {
  Domain d;
  BoxMesh mesh;
  mesh.cells = {2, 3, 4};
  add_box_mesh(d, mesh);
  d.add_surface_where("top", [](double, double, double z) { return z > 0.999; });
  EXPECT_EQ(d.surface("top").size(), 6u);
  d.add_surface_where("every", [](double, double, double) { return true; });
  EXPECT_EQ(d.surface("every").size(), 2u * (2 * 3 + 3 * 4 + 2 * 4));  // the faces of the box, none inside
  for (const char* side : {"xmin", "xmax", "ymin", "ymax", "zmin", "zmax"}) {
    d.add_surface_from_nodes(std::string("nodes of ") + side, side);
    const auto by_nodes = d.surface(std::string("nodes of ") + side), by_mesh = d.surface(side);
    EXPECT_TRUE(std::equal(by_nodes.begin(), by_nodes.end(), by_mesh.begin(), by_mesh.end())) << side;
  }
  expect_error(ErrorCode::not_found, {"node set 'no'"}, [&] { d.add_surface_from_nodes("s", "no"); });
  d.add_node_set_where("edge", [](double x, double y, double) { return x == 0 && y == 0; });
  EXPECT_EQ(d.node_set("edge").size(), 5u);
}

TEST(Domain, FacesBetweenElementsAreNotOnASurfaceFoundByPlace) {
  // A plane of nodes in the middle of a body of every shape; 2 blocks of a material each would share it, too.
  for (const char* type : {"solid.hex8", "solid.hex20", "solid.tet4", "solid.tet10", "solid.wedge6", "solid.wedge15",
                           "solid.wedge18", "solid.hex27", "plane_stress.quad9", "plane_stress.quad4",
                           "plane_stress.quad8", "plane_stress.tri3", "plane_stress.tri6"}) {
    Domain d;
    BoxMesh mesh;
    mesh.type = type;
    mesh.cells = {4, 2, 2};
    add_box_mesh(d, mesh);
    d.add_surface_where("middle", [](double x, double, double) { return std::abs(x - 0.5) < 1e-9; });
    EXPECT_FALSE(d.has_surface("middle")) << type;
    d.add_surface_where("right", [](double x, double, double) { return x > 0.4; });
    d.add_surface_where("every", [](double, double, double) { return true; });
    d.add_surface_where("end", [](double x, double, double) { return x > 0.999; });
    EXPECT_EQ(d.surface("end").size(), d.surface("xmax").size()) << type;
    std::size_t sides = 0;
    for (const auto& name : {"xmin", "xmax", "ymin", "ymax", "zmin", "zmax"})
      if (d.has_surface(name)) sides += d.surface(name).size();
    EXPECT_EQ(d.surface("every").size(), sides) << type;
    // Half the length, and one of the two ends.
    EXPECT_EQ(2 * d.surface("right").size(), sides) << type;
  }
}

TEST(Domain, AFaceBetweenBlocksIsInside) {
  Domain d;
  for (int i = 0; i < 3; ++i)
    for (int c = 0; c < 4; ++c) d.add_node(1 + 4 * i + c, i, c == 1 || c == 2, c > 1);
  d.add_block("a", "solid.hex8").add(1, {1, 5, 6, 2, 4, 8, 7, 3});
  d.add_block("b", "solid.hex8").add(2, {5, 9, 10, 6, 8, 12, 11, 7});
  d.add_block("bar", "truss").add(3, {9, 10});
  d.add_surface_where("middle", [](double x, double, double) { return x == 1; });
  EXPECT_FALSE(d.has_surface("middle"));
  d.add_surface_where("end", [](double x, double, double) { return x == 2; });
  ASSERT_EQ(d.surface("end").size(), 1u);  // ends of the bar are no faces that could be loaded
  EXPECT_EQ(d.surface("end")[0].block, 1);
}

TEST(Domain, SurfacesAreSortedAndUnique) {
  Domain d;
  BoxMesh mesh;
  mesh.cells = {3, 1, 1};
  add_box_mesh(d, mesh);
  const FaceRef faces[] = {{0, 2, 1}, {0, 0, 3}, {0, 2, 0}, {0, 0, 3}};
  d.add_surface("s", faces);
  d.add_surface("s", std::span(faces).first(2));
  const auto s = d.surface("s");
  EXPECT_EQ(std::vector<FaceRef>(s.begin(), s.end()), (std::vector<FaceRef>{{0, 0, 3}, {0, 2, 0}, {0, 2, 1}}));
}

TEST(Domain, SurfacesInTheUsersNumbers) {
  Domain d;
  for (int i = 0; i < 3; ++i)
    for (int c = 0; c < 4; ++c) d.add_node(1 + 4 * i + c, i, c == 1 || c == 2, c > 1);
  auto& block = d.add_block("a", "solid.hex8");
  block.add(70, {1, 5, 6, 2, 4, 8, 7, 3});
  block.add(50, {5, 9, 10, 6, 8, 12, 11, 7});
  d.add_surface("s", {{70, 1}, {50, 6}, {50, 1}});
  d.add_surface("s", {{50, 1}});
  const auto s = d.surface("s");
  EXPECT_EQ(std::vector<FaceRef>(s.begin(), s.end()), (std::vector<FaceRef>{{0, 0, 0}, {0, 1, 0}, {0, 1, 5}}));
  const std::vector<ElementFace> list{{50, 2}};
  d.add_surface("list", list);
  EXPECT_EQ(d.surface("list")[0], (FaceRef{0, 1, 1}));
  expect_error(ErrorCode::not_found, {"surface 's'", "element 51"}, [&] { d.add_surface("s", {{51, 1}}); });
  const std::string where = "element 50 (block 'a', solid.hex8)";
  expect_error(ErrorCode::not_found, {"surface 's'", where, "S7", "6"}, [&] { d.add_surface("s", {{50, 7}}); });
  expect_error(ErrorCode::not_found, {"surface 's'", where, "S0"}, [&] { d.add_surface("s", {{50, 0}}); });
  EXPECT_EQ(d.surface("s").size(), 3u);
}

TEST(Domain, SaysWhichSetsThereAre) {
  Domain d;
  BoxMesh mesh;
  add_box_mesh(d, mesh);
  const Id one = 1;
  d.add_element_set("e", {&one, 1});
  d.add_node_set("empty", std::initializer_list<Id>{});
  EXPECT_TRUE(d.has_node_set("xmin"));
  EXPECT_TRUE(d.has_surface("xmin"));
  EXPECT_TRUE(d.has_element_set("e"));
  EXPECT_FALSE(d.has_node_set("empty"));
  EXPECT_FALSE(d.has_node_set("e"));
  EXPECT_FALSE(d.has_element_set("xmin"));
  EXPECT_FALSE(d.has_surface("e"));
}

TEST(Domain, SupportsAndLoadsCanBeTakenOff) {
  Domain d;
  add_three_nodes(d);
  d.add_node_set("s", {7, 3});
  d.prescribe("s", "ux");
  d.add_equation({{7, "uy", 1}, {3, "uy", -1}});
  d.add_load_case("wind").nodal("s", "uy", 1);
  d.clear_supports();
  d.clear_loads();
  EXPECT_TRUE(d.prescribed().empty());
  EXPECT_EQ(d.equations().size(), 1u);
  EXPECT_EQ(d.load_case_count(), 0u);
  EXPECT_TRUE(d.add_load_case("wind").nodal_loads().empty());  // the name is free again
}

TEST(Domain, SupportsAndEquationsAreCheckedAtOnce) {
  Domain d;
  add_three_nodes(d);
  d.add_node_set("s", {7});
  expect_error(ErrorCode::not_found, {"node set 'x'"}, [&] { d.prescribe("x", "ux"); });
  expect_error(ErrorCode::bad_input, {"node set 's'", "uy"}, [&] { d.prescribe("s", "uy", nan); });
  expect_error(ErrorCode::bad_input, {"equation 1", "no terms"},
               [&] { d.add_equation(std::initializer_list<Domain::EquationTerm>{}); });
  expect_error(ErrorCode::not_found, {"tie", "node 8"}, [&] { d.add_equation({{8, "ux", 1}}, 0, "tie"); });
  expect_error(ErrorCode::bad_input, {"tie", "first term is zero"}, [&] {
    d.add_equation({{7, "ux", 0}, {3, "ux", 1}}, 0, "tie");
  });
  expect_error(ErrorCode::bad_input, {"tie", "node 3"}, [&] {
    d.add_equation({{7, "ux", 1}, {3, "ux", nan}}, 0, "tie");
  });
  expect_error(ErrorCode::bad_input, {"tie", "constant"}, [&] {
    d.add_equation({{7, "ux", 1}, {3, "ux", 1}}, nan, "tie");
  });
  EXPECT_TRUE(d.prescribed().empty());
  EXPECT_TRUE(d.equations().empty());
}

TEST(LoadCase, NamesAreCheckedAtOnce) {
  Domain d;
  add_three_nodes(d);
  d.add_node_set("s", {7});
  auto& c = d.add_load_case("wind");
  expect_error(ErrorCode::bad_input, {"load case 'wind'"}, [&] { d.add_load_case("wind"); });
  expect_error(ErrorCode::not_found, {"load case 'snow'", "available are 'wind'"}, [&] { d.load_case("snow"); });
  expect_error(ErrorCode::not_found, {"node set 'x'"}, [&] { c.nodal("x", "ux", 1); });
  expect_error(ErrorCode::not_found, {"surface 'x'"}, [&] { c.pressure("x", 1); });
  expect_error(ErrorCode::not_found, {"surface 'x'"}, [&] { c.traction("x", {1, 0, 0}); });
  expect_error(ErrorCode::not_found, {"surface 'x'"}, [&] { c.heat_flux("x", 1); });
  expect_error(ErrorCode::not_found, {"surface 'x'"}, [&] { c.convection("x", 1, 0); });
  expect_error(ErrorCode::bad_input, {"surface 'x'", "negative"}, [&] { c.convection("x", -1, 0); });
  expect_error(ErrorCode::not_found, {"element set 'x'"}, [&] { c.gravity("x", {0, 0, -1}); });
  expect_error(ErrorCode::not_found, {"element set 'x'"}, [&] { c.heat_source("x", 1); });
  expect_error(ErrorCode::not_found, {"node set 'x'"}, [&] { c.temperature("x", 1); });
  expect_error(ErrorCode::bad_input, {"load case 'wind'", "axis"}, [&] { c.centrifugal("", 1, {0, 0, 0}, {0, 0, 0}); });
  expect_error(ErrorCode::bad_input, {"load case 'wind'", "2 temperatures for 3 nodes"}, [&] {
    c.temperature_field({1, 2});
  });
  d.add_block("bar", "truss").add(1, {3, 100});
  expect_error(ErrorCode::bad_input, {"node 3"}, [&] { c.temperature_field({1, nan, 3}); });
  expect_error(ErrorCode::bad_input, {"node 7"}, [&] { c.temperature_field({INFINITY, 2, 3}); });
  EXPECT_TRUE(c.temperatures().empty());
  expect_error(ErrorCode::bad_input, {"load case 'wind'", "finite"}, [&] { c.nodal("s", "ux", nan); });
  expect_error(ErrorCode::bad_input, {"load case 'wind'", "finite"}, [&] { c.gravity("", {nan, 0, 0}); });
  EXPECT_TRUE(c.nodal_loads().empty());
  EXPECT_TRUE(c.surface_loads().empty());
  EXPECT_TRUE(c.body_loads().empty());
}

TEST(LoadCase, TemperaturesMayBeMissingWhereNoElementIs) {
  Domain d;
  add_three_nodes(d);
  d.add_block("bar", "truss").add(1, {3, 100});
  auto& c = d.add_load_case("hot");
  c.temperature_field({nan, 2, 3});
  ASSERT_EQ(c.temperatures().size(), 3u);
  EXPECT_TRUE(std::isnan(c.temperatures()[0]));
  EXPECT_EQ(c.temperatures()[2], 3);
}

TEST(Material, TablesAreLinearBetweenAndConstantBeyond) {
  Material m("steel");
  m.set("poisson", 0.3).set_table("young", {{20, 200}, {120, 180}, {220, 100}});
  EXPECT_DOUBLE_EQ(m.value("young", -50), 200);
  EXPECT_DOUBLE_EQ(m.value("young", 70), 190);
  EXPECT_DOUBLE_EQ(m.value("young", 195), 120);
  EXPECT_DOUBLE_EQ(m.value("young", 1e6), 100);
  EXPECT_DOUBLE_EQ(m.value("poisson", 500), 0.3);
  EXPECT_EQ(m.temperatures(), (std::vector<double>{20, 120, 220}));
  EXPECT_TRUE(Material("plain").set("young", 1).temperatures().empty());
}

TEST(Material, BadTablesAreRefused) {
  Material m("steel");
  expect_error(ErrorCode::bad_input, {"material 'steel', young", "empty"}, [&] { m.set_table("young", {}); });
  expect_error(ErrorCode::bad_input, {"material 'steel', young", "row 3"}, [&] {
    m.set_table("young", {{0, 1}, {10, 1}, {10, 2}});
  });
  expect_error(ErrorCode::bad_input, {"material 'steel', young", "row 2"}, [&] {
    m.set_table("young", {{0, 1}, {10, nan}});
  });
  expect_error(ErrorCode::bad_input, {"material 'steel', young"}, [&] { m.set("young", nan); });
  expect_error(ErrorCode::not_found, {"material 'steel'", "'young'"}, [&] { m.value("young", 0); });
}

TEST(ElementBlock, NumbersThatAreMissingOrDoNotFitAreNamed) {
  Domain d;
  add_three_nodes(d);
  auto& bars = d.add_block("bars", "truss");
  bars.add(1, {7, 3});
  bars.add(2, {3, 100});
  expect_error(ErrorCode::bad_input, {"block 'bars'", "'young'", "no material"}, [&] { bars.parameters(); });
  bars.set_material(std::make_shared<IsotropicMaterial>("steel", 210, 0.3));
  expect_error(ErrorCode::bad_input, {"block 'bars'", "'area'", "material 'steel'"}, [&] { bars.parameters(); });
  expect_error(ErrorCode::bad_input, {"block 'bars'", "area"}, [&] { bars.set_section("area", nan); });
  bars.set_section("area", 2);
  EXPECT_EQ(bars.parameters().records, (std::vector<double>{0, 210, 2, 0, 0}));
  bars.set_per_element("area", {1, 2, 3});
  expect_error(ErrorCode::bad_input, {"block 'bars'", "3 values of area for 2 elements"}, [&] { bars.parameters(); });
  bars.set_per_element("area", {5, 6});
  EXPECT_EQ(bars.parameters().records, (std::vector<double>{0, 210, 5, 0, 0, 0, 210, 6, 0, 0}));
  EXPECT_EQ(bars.parameters().record, (std::vector<std::int32_t>{0, 1}));
  bars.set_per_element("thickness", {1, 1});
  expect_error(ErrorCode::bad_input, {"block 'bars'", "truss", "'thickness'"}, [&] { bars.parameters(); });
}

TEST(ElementBlock, SectionsOverrideMaterialsAndTablesMakeRows) {
  Domain d;
  add_three_nodes(d);
  auto m = std::make_shared<Material>("m");
  m->set_table("young", {{0, 100}, {50, 80}}).set("area", 9).set_table("expansion", {{10, 1}, {50, 5}});
  auto& bars = d.add_block("bars", "truss");
  bars.set_material(m).set_section("area", 2).add(1, {7, 3});
  const auto p = bars.parameters();
  EXPECT_EQ(p.rows, 3);
  EXPECT_EQ(p.records, (std::vector<double>{0, 100, 2, 0, 1, 10, 96, 2, 0, 1, 50, 80, 2, 0, 5}));
}

TEST(ElementBlock, SectionNumbersThatTheElementDoesNotHaveAreRefused) {
  Domain d;
  BoxMesh mesh;
  mesh.type = "plane_stress.quad4";
  auto& plate = add_box_mesh(d, mesh);
  plate.set_material(std::make_shared<IsotropicMaterial>("steel", 210, 0.3)).set_section("thikness", 0.1);
  expect_error(ErrorCode::bad_input, {"block 'box'", "plane_stress.quad4", "'thikness'", "did you mean 'thickness'?"},
               [&] { plate.parameters(); });
  Domain bars;
  add_three_nodes(bars);
  auto& bar = bars.add_block("bars", "truss");
  bar.add(1, {7, 3});
  bar.set_material(std::make_shared<IsotropicMaterial>("steel", 210, 0.3)).set_section("area", 1);
  bar.set_section("inertia_y", 1);  // of beams
  expect_error(ErrorCode::bad_input, {"block 'bars'", "truss", "'inertia_y'", "young, area, density, expansion"},
               [&] { bar.parameters(); });
}

TEST(ElementBlock, MaterialNumbersThatNoElementHasAreRefused) {
  Domain d;
  auto& box = add_box_mesh(d, BoxMesh());
  auto steel = std::make_shared<IsotropicMaterial>("steel", 210, 0.3);
  steel->set("conductivity", 50).set("area", 2);  // of other element types
  box.set_material(steel);
  EXPECT_NO_THROW(box.parameters());
  steel->set("densty", 7850);
  expect_error(ErrorCode::bad_input, {"material 'steel'", "'densty'", "did you mean 'density'?"},
               [&] { box.parameters(); });
  auto odd = std::make_shared<IsotropicMaterial>("odd", 210, 0.3);
  odd->set("colour of the paint", 7);
  box.set_material(odd);
  expect_error(ErrorCode::bad_input, {"material 'odd'", "'colour of the paint'", "voussoir info --elements"},
               [&] { box.parameters(); });
  // A material that reads its own numbers says so.
  struct Foam : IsotropicMaterial {
    Foam() : IsotropicMaterial("foam", 210, 0.3) { set("porosity", 0.9); }
    std::vector<std::string> parameter_names() const override { return {"young", "poisson"}; }
    double value(std::string_view parameter, double temperature) const override {
      const double solid = Material::value(parameter, temperature);
      return parameter == "young" ? solid * (1 - Material::value("porosity", temperature)) : solid;
    }
  };
  box.set_material(std::make_shared<Foam>());
  EXPECT_NEAR(box.parameters().records[1], 21, 1e-12);
}

TEST(ElementBlock, OptionalNumbersHaveDefaults) {
  Domain d;
  BoxMesh mesh;
  mesh.type = "plane_stress.quad4";
  auto plain = std::make_shared<Material>("plain");
  plain->set("young", 210).set("poisson", 0.3);
  auto& plate = add_box_mesh(d, mesh);
  plate.set_material(plain);
  // Temperature, young, poisson, density, expansion, thickness.
  EXPECT_EQ(plate.parameters().records, (std::vector<double>{0, 210, 0.3, 0, 0, 1}));
}

TEST(ElementBlock, SectionNumbersAreThoseOfTheMaterialsLaw) {
  Domain d;
  BoxMesh mesh;
  mesh.type = "heat.hex8";
  auto& block = add_box_mesh(d, mesh);
  auto wood = std::make_shared<OrthotropicMaterial>("wood");
  wood->set("k1", 1).set("k2", 2);
  block.set_section("k3", 3);  // said before the material makes it a parameter
  block.set_material(wood);
  EXPECT_EQ(block.parameters().records[3], 3);
  block.set_material(std::make_shared<Material>("plain"));
  expect_error(ErrorCode::bad_input, {"heat.hex8", "'k3'"}, [&] { block.parameters(); });
}

TEST(ElementBlock, AMaterialWhoseLawTheElementDoesNotKnowIsRefused) {
  Domain d;
  auto& bars = d.add_block("bars", "truss");
  bars.set_material(std::make_shared<OrthotropicMaterial>("wood"));
  expect_error(ErrorCode::not_found, {"orthotropic_truss"}, [&] { bars.type(); });
}

TEST(Orientation, AxesAreRightHandedUnitVectors) {
  const auto a = Orientation::rectangular({0, 3, 0}, {1, 1, 0}).at({5, 5, 5});
  const double expected[] = {0, 1, 0, 1, 0, 0, 0, 0, -1};
  for (int i = 0; i < 9; ++i) EXPECT_NEAR(a[i], expected[i], 1e-15);
  const auto c = Orientation::cylindrical({0, 0, 0}, {0, 0, 2}).at({0, 4, 7});
  const double turned[] = {0, 1, 0, -1, 0, 0, 0, 0, 1};
  for (int i = 0; i < 9; ++i) EXPECT_NEAR(c[i], turned[i], 1e-15);
  expect_error(ErrorCode::bad_input, {"orientation", "parallel"}, [] {
    Orientation::rectangular({1, 0, 0}, {2, 0, 0});
  });
  expect_error(ErrorCode::bad_input, {"orientation", "same"}, [] { Orientation::cylindrical({1, 0, 0}, {1, 0, 0}); });
  expect_error(ErrorCode::bad_input, {"orientation", "axis"}, [] {
    Orientation::cylindrical({0, 0, 0}, {0, 0, 1}).at({0, 0, 3});
  });
}

}  // namespace
}  // namespace voussoir
