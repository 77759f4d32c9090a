// Devices of different speed: divisions by speed, and divisions that follow measured times and move little.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include <voussoir/framework/analysis/static_analysis.hpp>
#include <voussoir/framework/mesh/structured_mesh.hpp>
#include <voussoir/framework/model/device_distribution.hpp>
#include <voussoir/partition/load_balancer.hpp>
#include <voussoir/solvers/cost/device_speeds.hpp>
#include <voussoir/solvers/numbering.hpp>
#include <voussoir/solvers/static_problem.hpp>

#include "support/expect_error.hpp"

namespace voussoir {
namespace {

using testing::expect_error;

/// A row of nodes with lines between them, all of weight 1.
struct Chain {
  explicit Chain(int count) {
    for (std::int32_t n = 0; n < count; ++n) {
      nodes.equations.push_back(1);
      nodes.weight.push_back(1);
      for (const double c : {1.0 * n, 0.0, 0.0}) nodes.coordinates.push_back(c);
      if (n > 0) lines.insert(lines.end(), {n - 1, n});
    }
    nodes.elements = {{lines, 2}};
    graph = node_graph(nodes.elements, count);
    nodes.graph = [this]() -> const NodeGraph& { return graph; };
  }
  Chain(const Chain&) = delete;
  Chain& operator=(const Chain&) = delete;
  std::vector<std::int32_t> lines;
  NodesToDivide nodes;
  NodeGraph graph;
};

std::vector<std::int32_t> ranges(const std::vector<int>& sizes) {
  std::vector<std::int32_t> part;
  for (std::size_t p = 0; p < sizes.size(); ++p)
    part.insert(part.end(), static_cast<std::size_t>(sizes[p]), static_cast<std::int32_t>(p));
  return part;
}

TEST(DeviceBalance, AChainMovesExactlyWhatCrossesItsBoundaries) {
  // 40 + 20 + 20 + 20 to 25 each: 15 cross the first boundary, 10 the second, 5 the third.
  Chain chain(100);
  chain.nodes.share = {0.25, 0.25, 0.25, 0.25};
  const auto moved = LoadBalancer::rebalance(chain.nodes, ranges({40, 20, 20, 20}));
  EXPECT_EQ(moved.part, ranges({25, 25, 25, 25}));
  EXPECT_EQ(moved.moved_nodes, 30);
  EXPECT_EQ(moved.moved_weight, 30);
}

TEST(DeviceBalance, SharesNeedNotBeEqualAndPartsMayBeLeftAsTheyAre) {
  Chain chain(100);
  chain.nodes.share = {0.6, 0.3, 0.1};
  EXPECT_EQ(LoadBalancer::rebalance(chain.nodes, ranges({34, 33, 33})).part, ranges({60, 30, 10}));
  const auto same = LoadBalancer::rebalance(chain.nodes, ranges({60, 30, 10}));
  EXPECT_EQ(same.moved_nodes, 0);
  EXPECT_EQ(same.part, ranges({60, 30, 10}));
}

TEST(DeviceBalance, WhatMustPassThroughASmallPartArrives) {
  Chain chain(100);
  chain.nodes.share = {0.45, 0.1, 0.45};
  const auto moved = LoadBalancer::rebalance(chain.nodes, ranges({85, 10, 5}));
  EXPECT_EQ(moved.part, ranges({45, 10, 45}));
}

TEST(DeviceBalance, BadDivisionsAreRefused) {
  Chain chain(10);
  chain.nodes.share = {0.5, 0.5};
  expect_error(ErrorCode::misuse, {"not those of the nodes"}, [&] {
    LoadBalancer::rebalance(chain.nodes, ranges({4, 4}));
  });
  expect_error(ErrorCode::bad_input, {"no part 2"}, [&] { LoadBalancer::rebalance(chain.nodes, ranges({4, 4, 2})); });
}

TEST(DeviceBalance, SpeedsAreWorkPerTime) {
  const LoadBalancer balancer;
  EXPECT_EQ(balancer.speeds(std::vector<double>{100, 100}, std::vector<double>{1, 3}), (std::vector<double>{1.5, 0.5}));
  EXPECT_EQ(balancer.speeds(std::vector<double>{300, 100, 0}, std::vector<double>{3, 1, 0}),
            (std::vector<double>{1, 1, 1}));
  expect_error(ErrorCode::bad_input, {"device 1"}, [&] {
    balancer.speeds(std::vector<double>{1, 1}, std::vector<double>{1, 0});
  });
  expect_error(ErrorCode::bad_input, {"1 times for 2"}, [&] {
    balancer.speeds(std::vector<double>{1, 1}, std::vector<double>{1});
  });
  expect_error(ErrorCode::bad_input, {"no device"}, [&] {
    balancer.speeds(std::vector<double>{0, 0}, std::vector<double>{0, 0});
  });
}

void add_bar(Domain& domain) {
  BoxMesh mesh;
  mesh.cells = {24, 3, 3};
  mesh.upper = {6, 1, 1};
  add_box_mesh(domain, mesh).set_material(std::make_shared<IsotropicMaterial>("steel", 1000.0, 0.3, 2.0));
  domain.prescribe("xmin", "all");
  domain.add_load_case("end").traction("xmax", {0, 0, -1});
}

TEST(DeviceBalance, AModelFollowsTimesAndItsAnswerStays) {
  Domain domain;
  add_bar(domain);
  const auto backend = Backend::open("debug:3");
  DividedNumberer::Options options;
  AnalysisModel first(domain, backend, TransformationHandler(), DividedNumberer(options));
  const LoadBalancer balancer;
  // Within the tolerance nothing moves.
  options.part_of_node = balancer.rebalanced_parts(first, std::vector<double>{1, 1.05, 1});
  const AnalysisModel same(domain, backend, TransformationHandler(), DividedNumberer(options));
  EXPECT_TRUE(std::equal(first.numbered_nodes().begin(), first.numbered_nodes().end(), same.numbered_nodes().begin()));
  // The last device turns out to be half as fast: 2 : 2 : 1.
  options.part_of_node = balancer.rebalanced_parts(first, std::vector<double>{1, 1, 2});
  const AnalysisModel second(domain, backend, TransformationHandler(), DividedNumberer(options));
  const DeviceDistribution after = device_distribution(second.device_model());
  const double total = second.equation_count();
  EXPECT_NEAR(after.devices[0].equations / total, 0.4, 0.04);
  EXPECT_NEAR(after.devices[1].equations / total, 0.4, 0.04);
  EXPECT_NEAR(after.devices[2].equations / total, 0.2, 0.04);
  std::int64_t moved = 0;
  const AnalysisModel* models[] = {&first, &second};
  std::vector<std::vector<int>> part(2, std::vector<int>(static_cast<std::size_t>(domain.node_count())));
  for (std::size_t m = 0; m < 2; ++m)
    for (int d = 0; d < 3; ++d)
      for (std::int32_t k = 0; k < models[m]->device_model().part(d).owned_nodes; ++k)
        part[m][static_cast<std::size_t>(
            models[m]->numbered_nodes()[static_cast<std::size_t>(models[m]->device_model().first_node(d) + k)])] = d;
  for (std::size_t n = 0; n < part[0].size(); ++n) moved += part[0][n] != part[1][n];
  // In a row of three, 2/15 of the nodes leave the last part, and half of them pass on to the first.
  EXPECT_LT(static_cast<double>(moved) / domain.node_count(), 0.26);

  Analysis::Collaborators c;
  c.backend = backend;
  c.soe = make_soe("bsr");
  c.solver = make_solver("direct");
  c.numberer = std::make_shared<DividedNumberer>(options);
  StaticAnalysis analysis(domain, std::move(c));
  const auto values = analysis.run().at(0).unknowns.values;
  StaticOptions one;
  one.backend = "openmp:1";
  one.solver = "direct";
  const auto expected = make_static_analysis(domain, one)->run().at(0).unknowns.values;
  for (std::size_t i = 0; i < values.size(); ++i) ASSERT_NEAR(values[i], expected[i], 1e-9);
  expect_error(ErrorCode::bad_input, {"2 times for 3 devices"}, [&] {
    balancer.rebalanced_parts(first, std::vector<double>{1, 1});
  });
}

TEST(DeviceBalance, MeasuredTimesArePositiveAndThoseOfNoEntriesZero) {
  const auto backend = Backend::open("debug:3");
  std::vector<std::shared_ptr<DeviceMemory>> memories;
  for (int d = 0; d < 3; ++d) memories.push_back(backend->memory(d));
  const Layout layout(memories, {0, 20000, 20000, 40000}, {{}, {}, {}});
  const auto seconds = device_seconds(*backend, layout, 3);
  ASSERT_EQ(seconds.size(), 3u);
  EXPECT_GT(seconds[0], 0);
  EXPECT_EQ(seconds[1], 0);
  EXPECT_GT(seconds[2], 0);
  const auto speeds = measure_device_speeds(*backend, 10000);
  ASSERT_EQ(speeds.size(), 3u);
  EXPECT_NEAR(std::accumulate(speeds.begin(), speeds.end(), 0.0), 3, 1e-12);
  for (const double s : speeds) EXPECT_GT(s, 0);
}

TEST(DeviceBalance, SpeedsAreGivenByName) {
  Domain domain;
  add_bar(domain);
  StaticOptions options;
  options.backend = "debug:2";
  options.solver = "cg+jacobi";
  options.numbering = "divided:coordinate,speeds=3/1";
  const auto analysis = make_static_analysis(domain, options);
  analysis->run();
  const auto distribution = device_distribution(analysis->model().device_model());
  EXPECT_NEAR(distribution.devices[0].equations / (1.0 * analysis->model().equation_count()), 0.75, 0.02);
  ASSERT_FALSE(analysis->notes().empty());
  EXPECT_NE(analysis->notes()[0].find("2 devices with "), std::string::npos) << analysis->notes()[0];
  EXPECT_NE(analysis->notes()[0].find("divided:coordinate"), std::string::npos) << analysis->notes()[0];

  options.numbering = "divided,speeds=measured";
  EXPECT_NO_THROW(make_static_analysis(domain, options)->run());
  EXPECT_TRUE(measures_speeds(options.numbering));
  EXPECT_EQ(with_speeds("divided:metis,speeds=measured", {1.5, 0.5}), "divided:metis,speeds=1.5/0.5");
  EXPECT_EQ(with_speeds("plain", {1.5, 0.5}), "plain");

  const auto refused = [&](const std::string& name, ErrorCode code, std::initializer_list<std::string> pieces) {
    options.numbering = name;
    expect_error(code, pieces, [&] { make_static_analysis(domain, options); });
  };
  refused("divided:metiz", ErrorCode::not_found, {"metiz"});
  refused("divided,speeds=1/0", ErrorCode::bad_input, {"'0'", "positive"});
  refused("divided,speeds=", ErrorCode::bad_input, {"'' is not a positive number"});
  refused("divided,speeds=1/2/3", ErrorCode::bad_input, {"3 speeds", "2 devices"});
  refused("divided,speed=1", ErrorCode::bad_input, {"'speed=1'"});
  refused("dividd", ErrorCode::not_found, {"did you mean 'divided'"});
}

}  // namespace
}  // namespace voussoir
