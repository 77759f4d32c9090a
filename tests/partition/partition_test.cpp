#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <numeric>
#include <set>

#include <voussoir/backends/error.hpp>
#include <voussoir/framework/mesh/structured_mesh.hpp>
#include <voussoir/partition/detail/metis_division.hpp>
#include <voussoir/partition/domain_partitioner.hpp>
#include <voussoir/partition/load_balancer.hpp>
#include <voussoir/partition/partitioners.hpp>

#include "support/expect_error.hpp"

namespace voussoir {
namespace {

/// A box of hexahedra with edges of length 1.
void fill(Domain& domain, int nx, int ny, int nz, const std::string& type = "solid.hex8") {
  BoxMesh mesh;
  mesh.type = type;
  mesh.cells = {nx, ny, nz};
  mesh.upper = {1.0 * nx, 1.0 * ny, 1.0 * nz};
  add_box_mesh(domain, mesh).set_material(std::make_shared<IsotropicMaterial>("steel", 200.0, 0.3, 1.0));
}

template <class Work>
std::string message_of(Work work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing";
}

TEST(ElementGraph, NeighboursShareFaces) {
  Domain domain;
  fill(domain, 3, 2, 2);
  const ElementGraph graph = element_graph(domain);
  EXPECT_EQ(graph.vertices(), 12);
  // Inner faces of a box of 3 × 2 × 2 cells: 2·2·2 + 3·1·2 + 3·2·1; every edge is listed twice.
  EXPECT_EQ(graph.column.size(), 2u * (8 + 6 + 6));
  EXPECT_TRUE(std::all_of(graph.shared_nodes.begin(), graph.shared_nodes.end(), [](int n) { return n == 4; }));
}

TEST(ElementGraph, BarsAreNeighboursOfWhateverTheyTouch) {
  Domain domain;
  fill(domain, 1, 1, 1);
  domain.add_node(100, 5, 0, 0);
  domain.add_block("bar", "truss").add(50, {domain.node_id(domain.node_set("xmax")[0]), 100});
  const ElementGraph graph = element_graph(domain);
  EXPECT_EQ(graph.column, (std::vector<std::int32_t>{1, 0}));
}

TEST(Partition, CountsWhatACutThroughABarCosts) {
  // 8 × 2 × 2 cubes cut across the middle: 4 pairs of neighbours, 9 shared nodes.
  Domain domain;
  fill(domain, 8, 2, 2);
  for (auto direction : {CoordinateBisection::Direction::coordinate, CoordinateBisection::Direction::inertial}) {
    const Partition p = DomainPartitioner(domain).partition(CoordinateBisection(direction), 2);
    EXPECT_EQ(p.edge_cut(), 4);
    EXPECT_EQ(p.interface_nodes().size(), 9u);
    EXPECT_DOUBLE_EQ(p.balance(), 1.0);
    EXPECT_EQ(p.element_count(0), 16);
    EXPECT_EQ(p.nodes(0).size(), 45u);
    EXPECT_EQ(p.elements(1).size(), 16u);
    ASSERT_EQ(p.neighbours(0).size(), 1u);
    EXPECT_EQ(p.neighbours(0)[0], 1);
    for (std::int32_t n : p.interface_nodes()) {
      EXPECT_DOUBLE_EQ(domain.coordinates()[3 * n], 4.0);
      EXPECT_EQ(p.owner(n), 0);
      EXPECT_EQ(p.parts_of_node(n).size(), 2u);
    }
    EXPECT_NE(p.describe().find("edge cut 4, 9 interface nodes"), std::string::npos) << p.describe();
  }
}

TEST(Partition, WritesTables) {
  Domain domain;
  fill(domain, 2, 1, 1);
  const Partition p(domain, {1, 0}, 2);
  EXPECT_EQ(csv_table(domain, p).text(), "element,block,part\n1,box,1\n2,box,0\n");
  EXPECT_EQ(p.summary().text(),
            "part,elements,weight,nodes,interface_nodes,owned_nodes,neighbours\n0,1,1,8,4,8,1\n1,1,1,8,4,4,1\n");
  EXPECT_EQ(p, Partition(domain, {1, 0}, 2));
  EXPECT_FALSE(p == Partition(domain, {0, 1}, 2));
}

TEST(Partition, NodesWithoutElementsBelongToNobody) {
  Domain domain;
  fill(domain, 1, 1, 1);
  domain.add_node(99, 9, 9, 9);
  const Partition p(domain, {0}, 1);
  EXPECT_EQ(p.owner(8), -1);
  EXPECT_TRUE(p.parts_of_node(8).empty());
  EXPECT_TRUE(p.interface_nodes().empty());
}

class Methods : public ::testing::TestWithParam<int> {
 protected:
  static std::unique_ptr<GraphPartitioner> method() {
    switch (GetParam()) {
      case 0:
        return std::make_unique<MetisPartitioner>();
      case 1:
        return std::make_unique<CoordinateBisection>();
      default:
        return std::make_unique<CoordinateBisection>(CoordinateBisection::Direction::inertial);
    }
  }
  void SetUp() override {
    if (GetParam() == 0 && !MetisPartitioner::available()) GTEST_SKIP() << "built without METIS";
  }
};

TEST_P(Methods, PartsAreBalancedCompleteAndTheSameEveryTime) {
  Domain domain;
  fill(domain, 12, 10, 8);
  for (int parts : {1, 2, 3, 5, 8, 16}) {
    const Partition p = DomainPartitioner(domain).partition(*method(), parts);
    EXPECT_EQ(p.parts(), parts);
    EXPECT_LT(p.balance(), 1.07) << parts << " parts";
    std::int64_t sum = 0;
    for (int i = 0; i < parts; ++i) sum += p.element_count(i);
    EXPECT_EQ(sum, 960);
    EXPECT_EQ(p, DomainPartitioner(domain).partition(*method(), parts));
    // A cut by planes across the box costs at least 8 × 10 faces when it is cut in two; nobody should need 3 times
    // that.
    if (parts == 2) {
      EXPECT_GE(p.edge_cut(), 80);
      EXPECT_LE(p.edge_cut(), 240);
    }
  }
}

TEST_P(Methods, HonourWeights) {
  // The first quarter of the bar weighs 9 times as much as the rest: half of the weight lies in the first sixth or so.
  Domain domain;
  fill(domain, 48, 2, 2);
  std::vector<double> weights(domain.element_count(), 1.0);
  std::fill(weights.begin(), weights.begin() + 48, 9.0);
  const Partition p = DomainPartitioner(domain).set_weights(weights).partition(*method(), 2);
  EXPECT_LT(p.balance(), 1.05);
  EXPECT_GT(std::max(p.element_count(0), p.element_count(1)), 150) << "half of the weight is 32 heavy elements";
}

TEST_P(Methods, KeepGroupsTogether) {
  Domain domain;
  fill(domain, 20, 2, 2);
  // The middle of the bar, where everybody would like to cut.
  std::vector<Id> middle(16);
  std::iota(middle.begin(), middle.end(), Id{33});
  domain.add_element_set("middle", middle);
  const std::vector<Id> ends = {1, 80};
  const Partition p = DomainPartitioner(domain).keep_together("middle").keep_together(ends).partition(*method(), 4);
  std::set<int> of_middle;
  for (Id id : middle) of_middle.insert(p.part(domain.element_ref(id)));
  EXPECT_EQ(of_middle.size(), 1u);
  EXPECT_EQ(p.part(domain.element_ref(1)), p.part(domain.element_ref(80)));
  EXPECT_EQ(p.parts(), 4);
}

TEST_P(Methods, AsManyPartsAsElements) {
  Domain domain;
  fill(domain, 3, 2, 1);
  const Partition p = DomainPartitioner(domain).partition(*method(), 6);
  for (int i = 0; i < 6; ++i) EXPECT_EQ(p.element_count(i), 1);
}

INSTANTIATE_TEST_SUITE_P(All, Methods, ::testing::Values(0, 1, 2), [](const auto& info) {
  return std::string(info.param == 0 ? "metis" : info.param == 1 ? "coordinate" : "inertial");
});

TEST(MetisPartitioner, CountsLightElementsBesideHeavyOnes) {
  if (!MetisPartitioner::available()) GTEST_SKIP() << "built without METIS";
  // Four elements that weigh 25 000 each, one in every quarter of a square, and 9996 that weigh 1: a part with one
  // heavy element and all light ones has 1.27 times the mean.
  Domain domain;
  fill(domain, 100, 100, 1, "plane_stress.quad4");
  std::vector<double> weights(static_cast<std::size_t>(domain.element_count()), 1.0);
  for (const std::size_t heavy : {2525, 2575, 7525, 7575}) weights[heavy] = 25000;
  EXPECT_LT(DomainPartitioner(domain).set_weights(weights).partition(MetisPartitioner(), 4).balance(), 1.1);
}

TEST(MetisPartitioner, WeightsAreWholeNumbersWithEnoughDigits) {
  const auto scale = [](std::vector<double> weights) { return detail::metis_scale(weights); };
  EXPECT_DOUBLE_EQ(scale({2, 1, 0}), 1e4 / 2) << "the heaviest has four digits";
  EXPECT_DOUBLE_EQ(scale({0.5, 0, 25000}), 10 / 0.5) << "the lightest that counts has two";
  EXPECT_DOUBLE_EQ(scale(std::vector<double>(1000000, 4.0)), 1e9 / 4e6) << "the sum is an int";
  EXPECT_DOUBLE_EQ(scale({1e-6, 1e6}), 1e9 / (1e6 + 1e-6));
  EXPECT_EQ(scale({0, 0}), 0);
}

TEST(MetisPartitioner, RefusesWhatDoesNotFitIntoMemory) {
  if (!MetisPartitioner::available()) GTEST_SKIP() << "built without METIS";
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "not under a sanitizer, which needs far more addresses than it uses";
#endif
  // A chain of 400 000 elements: 90 MB, where 32 are left.
  ElementGraph graph;
  const std::int32_t n = 400000;
  for (std::int32_t v = 0; v < n; ++v) {
    if (v > 0) graph.column.push_back(v - 1);
    if (v + 1 < n) graph.column.push_back(v + 1);
    graph.row_start.push_back(static_cast<std::int64_t>(graph.column.size()));
  }
  graph.shared_nodes.assign(graph.column.size(), 1);
  graph.weight.assign(n, 1.0);
  rlimit before{};
  getrlimit(RLIMIT_AS, &before);
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  rlimit now = before;
  now.rlim_cur = pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) + (std::size_t{32} << 20);
  setrlimit(RLIMIT_AS, &now);
  const std::string text = message_of([&] { MetisPartitioner().partition(graph, 4); });
  setrlimit(RLIMIT_AS, &before);
  EXPECT_NE(text.find("the partition of 400000 elements by METIS needs about 90 MB"), std::string::npos) << text;
  EXPECT_NE(text.find("CoordinateBisection"), std::string::npos) << text;
}

TEST(DomainPartitioner, InertialBisectionFollowsTheModelWhereverItPoints) {
  // A bar along the diagonal of space: a plane across its axis cuts one layer of faces, one across x cuts more.
  Domain domain;
  BoxMesh mesh;
  mesh.cells = {30, 3, 3};
  mesh.upper = {30, 3, 3};
  mesh.map = [](double x, double y, double z) {
    const double a = 1 / std::sqrt(2.0), b = 1 / std::sqrt(3.0), c = 1 / std::sqrt(6.0);
    return std::array<double, 3>{b * x + a * y + c * z, b * x - a * y + c * z, b * x - 2 * c * z};
  };
  add_box_mesh(domain, mesh);
  const DomainPartitioner partitioner(domain);
  EXPECT_EQ(partitioner.partition(CoordinateBisection(CoordinateBisection::Direction::inertial), 2).edge_cut(), 9);
  EXPECT_GT(partitioner.partition(CoordinateBisection(CoordinateBisection::Direction::coordinate), 2).edge_cut(), 9);
}

TEST(DomainPartitioner, BadInputIsRefusedInWords) {
  Domain domain;
  fill(domain, 2, 2, 1);
  const DomainPartitioner partitioner(domain);
  const CoordinateBisection bisection;
  EXPECT_NE(message_of([&] { partitioner.partition(bisection, 0); }).find("0 parts were requested"), std::string::npos);
  EXPECT_NE(message_of([&] { partitioner.partition(bisection, 5); }).find("only 4 elements"), std::string::npos);
  EXPECT_NE(message_of([&] {
              partitioner.partition(UserPartition({0, 1, 0}), 2);
            }).find("3 entries, but the domain has 4 elements"),
            std::string::npos);
  EXPECT_NE(message_of([&] {
              partitioner.partition(UserPartition({0, 1, 2, 0}), 2);
            }).find("part 2 does not exist"),
            std::string::npos);
  EXPECT_NE(message_of([&] {
              partitioner.partition(UserPartition({0, 0, 0, 0}), 2);
            }).find("part 1 empty"),
            std::string::npos);
  EXPECT_NE(message_of([&] {
              DomainPartitioner(domain).set_weights({1, 2});
            }).find("2 weights for 4 elements"),
            std::string::npos);
  EXPECT_NE(message_of([&] {
              DomainPartitioner(domain).set_weights({1, 1, -1, 1}).partition(bisection, 2);
            }).find("element 3"),
            std::string::npos);
  EXPECT_NE(message_of([&] { Partition(domain, {0, 1, 7, 0}, 2); }).find("element 3"), std::string::npos);
  EXPECT_NE(message_of([&] {
              DomainPartitioner(domain).keep_together(std::vector<Id>{1, 77});
            }).find("element 77"),
            std::string::npos);
  const std::vector<Id> all = {1, 2, 3, 4};
  EXPECT_NE(
      message_of([&] { DomainPartitioner(domain).keep_together(all).partition(bisection, 2); }).find("only 1 groups"),
      std::string::npos);
  EXPECT_NE(message_of([&] {
              DomainPartitioner(domain).keep_together(all).partition(UserPartition({0, 0, 1, 1}), 1);
            }).find("does not exist"),
            std::string::npos);
  Domain empty;
  EXPECT_NE(message_of([&] { DomainPartitioner(empty).partition(bisection, 1); }).find("only 0 elements"),
            std::string::npos);
}

TEST(DomainPartitioner, EquationsDoNotCrossTheInterface) {
  Domain domain;
  fill(domain, 10, 1, 1);
  // Ties both ends of the bar together.
  domain.add_equation({{domain.node_id(domain.node_set("xmin")[0]), "ux", 1.0},
                       {domain.node_id(domain.node_set("xmax")[0]), "ux", -1.0}});
  const Partition p = DomainPartitioner(domain).partition(CoordinateBisection(), 3);
  EXPECT_EQ(p.part({0, 0}), p.part({0, 9}));
  for (int i = 0; i < 3; ++i) EXPECT_NO_THROW(Subdomain(domain, p, i));
  const Partition wrong(domain, {0, 0, 0, 0, 0, 1, 1, 1, 1, 1}, 2);
  EXPECT_NE(message_of([&] { Subdomain(domain, wrong, 0); }).find("equation 1: the equation crosses the interface"),
            std::string::npos);
}

TEST(Subdomain, HoldsItsShareOfTheModelOnce) {
  Domain domain;
  fill(domain, 4, 2, 2);
  domain.prescribe("xmin", "all");
  domain.set_reference_temperature(20);
  domain.set_initial_temperature("xmax", 35);
  LoadCase& load = domain.add_load_case("load");
  load.nodal("ymax", "uy", 2.0).nodal("ymax", "uy", 2.0).nodal("xmax", "ux", 3.0);
  load.pressure("zmax", 5.0).temperature("xmin", 80.0).gravity("", {0, 0, -10});
  domain.block(0).set_per_element("density", std::vector<double>(16, 7.0));
  const Partition p = DomainPartitioner(domain).partition(CoordinateBisection(), 2);
  const auto parts = make_subdomains(domain, p);

  double uy = 0, ux = 0;
  std::size_t faces = 0;
  for (const auto& part : parts) {
    const Domain& d = part->domain();
    EXPECT_EQ(d.node_count(), static_cast<std::int32_t>(p.nodes(part->part()).size()));
    EXPECT_EQ(part->interior_nodes().size() + part->interface_nodes().size(), static_cast<std::size_t>(d.node_count()));
    EXPECT_EQ(part->interface_nodes().size(), 9u);
    EXPECT_EQ(d.reference_temperature(), 20);
    for (std::int32_t n = 0; n < d.node_count(); ++n) {
      EXPECT_EQ(d.node_id(n), domain.node_id(part->whole_nodes()[n]));
      EXPECT_EQ(part->local_node(part->whole_nodes()[n]), n);
      EXPECT_EQ(d.initial_temperature(n), domain.initial_temperature(part->whole_nodes()[n]));
    }
    ASSERT_EQ(d.block_count(), 1u);
    EXPECT_EQ(d.block(0).name(), "box");
    EXPECT_EQ(d.block(0).material(), domain.block(0).material());
    EXPECT_EQ(d.block(0).per_element().at("density").size(), 8u);
    for (std::int32_t e = 0; e < d.block(0).size(); ++e)
      EXPECT_EQ(d.block(0).id(e), domain.block(0).id(part->whole_elements(0)[e]));
    for (const auto& nodal : d.load_case(0).nodal_loads()) (nodal.unknown == "ux" ? ux : uy) += nodal.value;
    for (const auto& surface : d.load_case(0).surface_loads()) faces += d.surface(surface.surface).size();
    EXPECT_EQ(d.load_case(0).body_loads().size(), 1u);
  }
  EXPECT_DOUBLE_EQ(uy, 15 * 4.0);  // 5 × 3 nodes, loaded twice
  EXPECT_DOUBLE_EQ(ux, 9 * 3.0);
  EXPECT_EQ(faces, 8u);
  EXPECT_EQ(parts[0]->domain().prescribed().size(), 9u);
  EXPECT_EQ(parts[1]->domain().prescribed().size(), 0u);
  EXPECT_EQ(parts[0]->domain().load_case(0).temperatures()[parts[0]->local_node(domain.node_set("xmin")[0])], 80.0);
  EXPECT_EQ(parts[0]->local_node(domain.node_set("xmax")[0]), -1);
}

TEST(LoadBalancer, EvensOutElementsThatCostMoreThanTheySeem) {
  Domain domain;
  fill(domain, 64, 2, 1);
  // The truth, which the partitioner does not know: elements near the start cost up to 8 times as much.
  std::vector<double> cost(domain.element_count());
  for (std::size_t e = 0; e < cost.size(); ++e) cost[e] = e < 32 ? 8.0 : 1.0;
  const auto measure = [&](const Partition& p) {
    std::vector<double> seconds(p.parts(), 0.0);
    for (std::size_t e = 0; e < cost.size(); ++e) seconds[p.part_of_element()[e]] += cost[e];
    return seconds;
  };
  DomainPartitioner partitioner(domain);
  Partition p = partitioner.partition(CoordinateBisection(), 4);
  EXPECT_GT(LoadBalancer::imbalance(measure(p)), 2.5);
  EXPECT_TRUE(LoadBalancer::worth_repartition(measure(p)));
  const LoadBalancer balancer;
  for (int round = 0; round < 6; ++round)
    p = partitioner.set_weights(balancer.weights(p, measure(p))).partition(CoordinateBisection(), 4);
  EXPECT_LT(LoadBalancer::imbalance(measure(p)), 1.1);
  double sum = 0;
  for (double w : p.weights()) sum += w;
  EXPECT_NEAR(sum, 128.0, 1e-9);
}

TEST(LoadBalancer, WeightsFollowSecondsPerWeight) {
  Domain domain;
  fill(domain, 4, 1, 1);
  const Partition p(domain, {0, 0, 1, 1}, 2);
  const std::vector<double> seconds = {3.0, 1.0};
  EXPECT_EQ(LoadBalancer().weights(p, seconds), (std::vector<double>{1.5, 1.5, 0.5, 0.5}));
  EXPECT_DOUBLE_EQ(LoadBalancer::imbalance(seconds), 1.5);
  EXPECT_THROW(LoadBalancer().weights(p, std::vector<double>{1.0}), Error);
  EXPECT_THROW(LoadBalancer().weights(p, std::vector<double>{1.0, 0.0}), Error);
  EXPECT_THROW(LoadBalancer(0.0), Error);
}

TEST(Partitioners, AreMadeByName) {
  EXPECT_EQ(make_partitioner("metis")->name(), "metis");
  EXPECT_EQ(make_partitioner("coordinate")->name(), "coordinate");
  EXPECT_EQ(make_partitioner("inertial")->name(), "inertial");
  EXPECT_EQ(make_partitioner("auto")->name(), MetisPartitioner::available() ? "metis" : "coordinate");
  testing::expect_error(ErrorCode::not_found, {"partitioner 'inertal'", "did you mean 'inertial'?", "metis"},
                        [] { make_partitioner("inertal"); });
  testing::expect_error(ErrorCode::bad_input, {"partitioner 'rcm'", "no options", "':x'"},
                        [] { make_partitioner("rcm:x"); });
  testing::expect_error(ErrorCode::bad_input, {"partitioner 'coordinate'", "no option 'x'", "shares=8/1"},
                        [] { make_partitioner("coordinate:x"); });
}

/// The first elements to part 0, the others in turn; its option is the number of the first.
class FirstOnes : public GraphPartitioner {
 public:
  explicit FirstOnes(int count) : count_(count) {}
  std::string name() const override { return "first ones"; }
  std::vector<std::int32_t> partition(const ElementGraph& graph, int parts) const override {
    std::vector<std::int32_t> part(graph.vertices());
    for (int v = 0; v < graph.vertices(); ++v) part[v] = v < count_ ? 0 : 1 + v % (parts - 1);
    return part;
  }

 private:
  int count_;
};

TEST(Partitioners, OfUsersAreFoundWithTheirOptions) {
  partitioners().add("test-first", "the first elements, then the others in turn",
                     {[](const std::string& options) { return std::make_shared<FirstOnes>(std::stoi(options)); }});
  Domain d;
  BoxMesh mesh;
  mesh.cells = {4, 4, 1};
  add_box_mesh(d, mesh);
  const Partition partition = DomainPartitioner(d).partition(*make_partitioner("test-first:5"), 3);
  EXPECT_EQ(partition.element_count(0), 5);
  EXPECT_EQ(partitioners().origin("test-first"), "this program");
}

}  // namespace
}  // namespace voussoir
