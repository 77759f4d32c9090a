// METIS on the graph of the nodes, compared with the dual graph of the elements.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include <voussoir/framework/mesh/structured_mesh.hpp>
#include <voussoir/partition/domain_partitioner.hpp>
#include <voussoir/partition/node_graph_partitioner.hpp>
#include <voussoir/partition/partition_quality.hpp>
#include <voussoir/partition/partitioners.hpp>

#include "support/decomposition_check.hpp"
#include "support/expect_error.hpp"

namespace voussoir {
namespace {

using testing::expect_error;

std::shared_ptr<IsotropicMaterial> steel() { return std::make_shared<IsotropicMaterial>("steel", 1000.0, 0.3, 2.0); }

void fill(Domain& domain, int nx, int ny, int nz, const char* type = "solid.hex8") {
  BoxMesh mesh;
  mesh.type = type;
  mesh.cells = {nx, ny, nz};
  mesh.upper = {1.0 * nx, 1.0 * ny, 1.0 * nz};
  add_box_mesh(domain, mesh).set_material(steel());
}

/// The black fields of a chessboard, which touch in corners only.
void add_chessboard(Domain& domain, int n) {
  const auto node = [&](int i, int j) { return Id{1} + i + (n + 1) * j; };
  for (int j = 0; j <= n; ++j)
    for (int i = 0; i <= n; ++i) domain.add_node(node(i, j), i, j, 0);
  ElementBlock& fields = domain.add_block("fields", "plane_stress.quad4");
  fields.set_material(steel());
  fields.set_section("thickness", 1);
  Id id = 1;
  for (int j = 0; j < n; ++j)
    for (int i = j % 2; i < n; i += 2)
      fields.add(id++, {node(i, j), node(i + 1, j), node(i + 1, j + 1), node(i, j + 1)});
}

Partition cut(const Domain& domain, const std::string& method, int parts) {
  return DomainPartitioner(domain).partition(*make_partitioner(method), parts);
}

/// The number of sets of elements of a part that shared nodes connect.
int pieces_by_nodes(const Domain& domain, const Partition& partition, int part) {
  std::vector<std::int32_t> root(static_cast<std::size_t>(domain.node_count()));
  std::iota(root.begin(), root.end(), 0);
  const auto find = [&](std::int32_t n) {
    while (root[static_cast<std::size_t>(n)] != n) n = root[static_cast<std::size_t>(n)];
    return n;
  };
  for (const ElementRef& element : partition.elements(part)) {
    const auto nodes = domain.block(static_cast<std::size_t>(element.block)).nodes(element.element);
    for (const std::int32_t n : nodes) root[static_cast<std::size_t>(find(n))] = find(nodes[0]);
  }
  std::set<std::int32_t> roots;
  for (const std::int32_t n : partition.nodes(part)) roots.insert(find(n));
  return static_cast<int>(roots.size());
}

class NodeGraph : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!MetisPartitioner::available()) GTEST_SKIP() << "built without METIS";
  }
};

TEST_F(NodeGraph, KnowsThatCornersConnect) {
  Domain domain;
  add_chessboard(domain, 40);
  ASSERT_TRUE(element_graph(domain).column.empty()) << "no two fields share a side";
  for (const int parts : {4, 8, 16}) {
    const Partition dual = cut(domain, "metis", parts), nodes = cut(domain, "metis:graph=nodes", parts);
    EXPECT_LT(2 * nodes.interface_nodes().size(), dual.interface_nodes().size()) << parts;
    // Squares of n × n nodes have a boundary of 4 n; parts of this size do not need twice that.
    const double side = 41 / std::sqrt(parts);
    EXPECT_LT(static_cast<double>(nodes.interface_nodes().size()), parts * 4 * side) << parts;
    EXPECT_LT(nodes.balance(), 1.05) << parts;
  }
}

TEST_F(NodeGraph, InterfacesOfSolidsAreAsSmallAsThoseOfTheDualGraph) {
  for (const char* type : {"solid.tet4", "solid.hex8", "solid.tet10", "solid.hex20"}) {
    Domain domain;
    fill(domain, 12, 8, 6, type);
    for (const int parts : {2, 4, 8}) {
      SCOPED_TRACE(std::string(type) + ", " + std::to_string(parts) + " parts");
      const Partition dual = cut(domain, "metis", parts);
      for (const char* method : {"metis:graph=nodes", "metis:graph=nodes:recursive", "metis:graph=nodes:contiguous"}) {
        const Partition nodes = cut(domain, method, parts);
        EXPECT_LT(static_cast<double>(nodes.interface_nodes().size()),
                  1.3 * static_cast<double>(dual.interface_nodes().size()))
            << method;
        EXPECT_LT(nodes.balance(), 1.06) << method;
        EXPECT_EQ(nodes, cut(domain, method, parts)) << method;
      }
    }
  }
}

TEST_F(NodeGraph, ContiguousPartsAreConnectedByFacesOrElseByNodes) {
  Domain solid, board;
  fill(solid, 9, 7, 5, "solid.tet4");
  add_chessboard(board, 20);
  for (const int parts : {2, 3, 7, 16, 40}) {
    const Partition by_faces = cut(solid, "metis:graph=nodes:contiguous", parts);
    for (const PartQuality& one : examine_partition(solid, by_faces).parts) EXPECT_EQ(one.pieces, 1) << parts;
    const Partition by_nodes = cut(board, "metis:graph=nodes:contiguous", parts);
    for (int p = 0; p < parts; ++p) EXPECT_EQ(pieces_by_nodes(board, by_nodes, p), 1) << parts;
  }
  expect_error(ErrorCode::bad_input, {"metis:contiguous", "not connected", "metis:graph=nodes:contiguous"},
               [&] { cut(board, "metis:contiguous", 4); });
  // Two bodies that share no node.
  BoxMesh apart;
  apart.lower = {20, 0, 0};
  apart.upper = {22, 2, 2};
  apart.cells = {2, 2, 2};
  apart.block = "apart";
  apart.set_prefix = "apart_";
  add_box_mesh(solid, apart);
  expect_error(ErrorCode::bad_input, {"metis:graph=nodes:contiguous", "not connected", "without contiguous"},
               [&] { cut(solid, "metis:graph=nodes:contiguous", 4); });
  EXPECT_EQ(cut(solid, "metis:graph=nodes", 4).parts(), 4);
}

TEST_F(NodeGraph, HonoursSharesWeightsAndGroups) {
  Domain domain;
  fill(domain, 30, 8, 4);
  const auto count = static_cast<std::size_t>(domain.element_count());
  for (const char* method : {"metis:graph=nodes:shares=3/1", "metis:shares=3/1:graph=nodes:recursive",
                             "metis:recursive:shares=3/1", "metis:contiguous:shares=3/1"}) {
    const Partition partition = cut(domain, method, 2);
    EXPECT_NEAR(static_cast<double>(partition.element_count(0)) / static_cast<double>(count), 0.75, 0.04) << method;
  }
  std::vector<double> weights(count, 1.0);
  for (std::size_t e = 0; e < count; ++e)
    if (e % 30 < 6) weights[e] = 9;  // x < 6
  DomainPartitioner partitioner(domain);
  partitioner.set_weights(weights);
  EXPECT_LT(partitioner.partition(NodeGraphPartitioner(), 4).balance(), 1.1);

  // A group across all parts, one that shares nodes with it, and one at the other end.
  std::vector<Id> line, beside, end;
  for (Id id = 1; id <= 30; ++id) line.push_back(id), beside.push_back(id + 30);
  for (Id id = 900; id <= 960; id += 10) end.push_back(id);
  partitioner.keep_together(line).keep_together(beside).keep_together(end);
  for (const int parts : {2, 5, 16}) {
    const Partition partition = partitioner.partition(NodeGraphPartitioner(), parts);
    for (const auto* group : {&line, &beside, &end}) {
      std::set<std::int32_t> met;
      for (const Id id : *group) met.insert(partition.part(domain.element_ref(id)));
      EXPECT_EQ(met.size(), 1u) << parts;
    }
  }
}

TEST_F(NodeGraph, EquationsAndFreeNodesAreNoTrouble) {
  Domain domain;
  fill(domain, 12, 2, 2);
  domain.add_node(5000, 50, 0, 0);  // that nothing uses
  const auto left = domain.node_set("xmin"), right = domain.node_set("xmax");
  domain.add_equation({{domain.node_id(left[0]), "ux", 1.0}, {domain.node_id(right[0]), "ux", -1.0}});
  const Partition partition = cut(domain, "metis:graph=nodes", 4);
  const auto own = [&](std::int32_t n) { return partition.parts_of_node(n); };
  ASSERT_EQ(own(left[0]).size(), 1u);
  EXPECT_EQ(own(left[0])[0], own(right[0])[0]);
  EXPECT_TRUE(own(domain.node_count() - 1).empty());
}

TEST_F(NodeGraph, NoPartIsEmptyHoweverSmallTheMesh) {
  for (const int cells : {2, 3, 5, 9, 24}) {
    Domain domain;
    fill(domain, cells, 1, 1);
    // Springs between the same two nodes: more elements than nodes.
    ElementBlock& bars = domain.add_block("bars", "truss");
    for (Id id = 800; id < 830; ++id) bars.add(id, {1, 2});
    const auto elements = static_cast<int>(domain.element_count());
    for (const char* method : {"metis:graph=nodes", "metis:graph=nodes:recursive", "metis:graph=nodes:contiguous"})
      for (const int parts : {1, 2, 7, elements - 1, elements}) {
        SCOPED_TRACE(std::string(method) + ", " + std::to_string(parts) + " of " + std::to_string(elements));
        for (const double weight : {1.0, 0.0}) {
          std::vector<double> weights(static_cast<std::size_t>(elements), weight);
          weights[1] = 1;
          ::testing::internal::CaptureStdout();
          const Partition partition =
              DomainPartitioner(domain).set_weights(weights).partition(*make_partitioner(method), parts);
          EXPECT_EQ(::testing::internal::GetCapturedStdout(), "");  // METIS would complain there
          for (int p = 0; p < parts; ++p) EXPECT_GT(partition.element_count(p), 0);
          const bool contiguous = std::string(method).ends_with("contiguous");
          for (int p = 0; p < parts && contiguous; ++p) EXPECT_EQ(pieces_by_nodes(domain, partition, p), 1);
        }
      }
    expect_error(ErrorCode::bad_input, {std::to_string(elements + 1) + " parts"},
                 [&] { cut(domain, "metis:graph=nodes", elements + 1); });
  }
}

TEST_F(NodeGraph, MethodsOfDecompositionSolveWithSuchParts) {
  Domain domain;
  fill(domain, 6, 4, 3, "solid.tet4");
  domain.prescribe("xmin", "all");
  domain.add_load_case("push").traction("xmax", {1, -2, 0.5});
  testing::expect_right_by_all(domain, {5}, ",cut=metis:graph=nodes:recursive");
}

TEST(Metis, OptionsAreCheckedByName) {
  expect_error(ErrorCode::bad_input, {"metis", "'node'", "dual", "nodes"},
               [] { make_partitioner("metis:graph=node"); });
  expect_error(ErrorCode::bad_input, {"'nodes,recursive'", "colons"},
               [] { make_partitioner("metis:graph=nodes,recursive"); });
  expect_error(ErrorCode::bad_input, {"'fast'", "kway", "recursive", "contiguous", "graph=nodes", "shares=8/1"},
               [] { make_partitioner("metis:graph=nodes:fast"); });
  expect_error(ErrorCode::bad_input, {"'contiguous'", "contradicts"},
               [] { make_partitioner("metis:recursive:contiguous"); });
  expect_error(ErrorCode::bad_input, {"'graph=dual'", "contradicts"},
               [] { make_partitioner("metis:graph=nodes:graph=dual"); });
  expect_error(ErrorCode::bad_input, {"''", "kway"}, [] { make_partitioner("metis:kway:"); });
  for (const char* name :
       {"metis:graph=nodes:shares=1/0", "metis:recursive:shares=1/0", "metis:shares=1/-2:graph=nodes"})
    expect_error(ErrorCode::bad_input, {"positive"}, [&] { make_partitioner(name); });
  EXPECT_EQ(make_partitioner("metis:graph=dual")->name(), "metis");
  EXPECT_EQ(make_partitioner("metis:kway:graph=nodes")->name(), "metis:graph=nodes");
  EXPECT_EQ(make_partitioner("metis:contiguous:graph=nodes:shares=1/2")->name(), "metis:graph=nodes:contiguous:shares");
  expect_error(ErrorCode::misuse, {"metis:graph=nodes", "DomainPartitioner"},
               [] { make_partitioner("metis:graph=nodes")->partition(ElementGraph{}, 1); });
  if (!MetisPartitioner::available()) return;
  Domain domain;
  fill(domain, 8, 4, 2);
  expect_error(ErrorCode::bad_input, {"3 parts need as many shares", "give a share for each part"},
               [&] { cut(domain, "metis:graph=nodes:shares=1/2", 3); });
}

}  // namespace
}  // namespace voussoir
