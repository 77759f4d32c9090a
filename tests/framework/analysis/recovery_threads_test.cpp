#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <vector>

#include <voussoir/framework/analysis/error_estimate.hpp>
#include <voussoir/framework/mesh/structured_mesh.hpp>
#include <voussoir/solvers/static_problem.hpp>

// What is recovered at nodes has the same bits on every number of threads, and is the mean of what the elements of a
// material carry there, in their order.

namespace voussoir {
namespace {

/// Runs `work` with so many threads.
template <class Work>
auto with_threads(int threads, const Work& work) {
  const int before = omp_get_max_threads();
  omp_set_num_threads(threads);
  auto result = work();
  omp_set_num_threads(before);
  return result;
}

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0);
}

/// Two blocks of different materials, side by side on common nodes, clamped and pushed sideways.
void add_two_blocks(Domain& domain, const std::string& type) {
  BoxMesh mesh;
  mesh.type = type;
  mesh.cells = {20, 16, 15};  // more nodes than one thread takes alone
  mesh.upper = {20, 16, 15};
  mesh.block = "left";
  mesh.distortion = 0.1;
  Domain whole;
  add_box_mesh(whole, mesh);
  domain.add_nodes({}, whole.coordinates());
  const ElementBlock& all = whole.block(0);
  ElementBlock& left = domain.add_block("left", type);
  left.set_material(std::make_shared<IsotropicMaterial>("soft", 100.0, 0.3, 1.0));
  ElementBlock& right = domain.add_block("right", type);
  right.set_material(std::make_shared<IsotropicMaterial>("hard", 300.0, 0.2, 1.0));
  for (std::int32_t e = 0; e < all.size(); ++e) {
    std::vector<Id> nodes;
    for (const std::int32_t n : all.nodes(e)) nodes.push_back(n + 1);
    (e % 3 == 0 ? left : right).add(e + 1, nodes);
  }
  std::vector<Id> held, pushed;
  for (const std::int32_t n : whole.node_set("xmin")) held.push_back(n + 1);
  for (const std::int32_t n : whole.node_set("xmax")) pushed.push_back(n + 1);
  domain.add_node_set("held", held);
  domain.prescribe("held", "all");
  LoadCase& push = domain.add_load_case("push");
  domain.add_node_set("pushed", pushed);
  push.nodal("pushed", "uy", 1.0);
}

StepResult solve(Domain& domain, const std::string& backend) {
  StaticOptions options;
  options.backend = backend;
  options.solver = "cg+jacobi";
  return make_static_analysis(domain, options)->run().front();
}

/// Points near the middle of each element, with numbers between −1 and 1 that look random.
std::vector<PointField> rough_points(const Domain& domain) {
  std::vector<PointField> points;
  std::uint64_t state = 7;
  const auto rough = [&] {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<double>(state >> 11) / 4503599627370496.0 - 1.0;
  };
  for (std::size_t b = 0; b < domain.block_count(); ++b) {
    const ElementBlock& block = domain.block(b);
    const ElementProgram& program = block.type().program();
    PointField field;
    field.block = static_cast<std::int32_t>(b);
    field.points = program.points();
    field.names.assign(program.recovered_names().begin(), program.recovered_names().end());
    for (std::int32_t e = 0; e < block.size(); ++e) {
      double middle[3] = {};
      for (const std::int32_t n : block.nodes(e))
        for (int k = 0; k < 3; ++k) middle[k] += domain.coordinates()[3 * n + k] / block.nodes_per_element();
      for (int p = 0; p < field.points; ++p)
        for (const std::string& name : field.names) {
          const double value = rough();
          const bool place = name == "x" || name == "y" || name == "z";
          field.values.push_back(place ? middle[name[0] - 'x'] + 0.3 * value : name == "volume" ? 2 + value : value);
        }
    }
    points.push_back(std::move(field));
  }
  return points;
}

class RecoveryThreads : public ::testing::TestWithParam<const char*> {};

TEST_P(RecoveryThreads, ChangeNoBit) {
  Domain domain;
  add_two_blocks(domain, GetParam());
  StepResult result;
  result.points = rough_points(domain);
  const auto one = with_threads(1, [&] { return nodal_stress(domain, result); });
  const auto estimate = with_threads(1, [&] { return estimate_error(domain, result.points); });
  ASSERT_EQ(one.size(), 2u);
  EXPECT_GT(estimate.error, 0);
  for (const int threads : {2, 3, 7}) {
    const auto several = with_threads(threads, [&] { return nodal_stress(domain, result); });
    ASSERT_EQ(several.size(), one.size());
    for (std::size_t m = 0; m < one.size(); ++m)
      EXPECT_TRUE(same_bits(several[m].field.values, one[m].field.values)) << threads << " threads";
    const auto again = with_threads(threads, [&] { return estimate_error(domain, result.points); });
    EXPECT_EQ(again.error, estimate.error);
    EXPECT_EQ(again.solution, estimate.solution);
    EXPECT_TRUE(same_bits(again.element_error, estimate.element_error)) << threads << " threads";
    EXPECT_TRUE(same_bits(again.element_percent, estimate.element_percent)) << threads << " threads";
  }
}

TEST(StepThreads, ChangeNoBit) {
  Domain domain;
  add_two_blocks(domain, "solid.hex8.incompatible");
  const StepResult one = with_threads(1, [&] { return solve(domain, "openmp:1"); });
  const StepResult three = with_threads(3, [&] { return solve(domain, "openmp:3"); });
  ASSERT_EQ(one.points.size(), three.points.size());
  for (std::size_t i = 0; i < one.points.size(); ++i)
    EXPECT_TRUE(same_bits(one.points[i].values, three.points[i].values));
  EXPECT_EQ(one.energy, three.energy);
  EXPECT_TRUE(same_bits(one.unknowns.values, three.unknowns.values));
  EXPECT_TRUE(same_bits(one.reactions.values, three.reactions.values));
  EXPECT_TRUE(same_bits(one.internal_forces.values, three.internal_forces.values));
  EXPECT_EQ(one.reaction_sum, three.reaction_sum);
  EXPECT_EQ(one.load_sum, three.load_sum);
}

TEST_P(RecoveryThreads, NodalValuesAreMeansInTheOrderOfTheElements) {
  Domain domain;
  add_two_blocks(domain, GetParam());
  StepResult result;
  result.points = rough_points(domain);
  for (const MaterialField& found : with_threads(4, [&] { return nodal_values(domain, result.points, {"sxy"}); })) {
    std::vector<double> sum(domain.node_count(), 0.0);
    std::vector<int> count(domain.node_count(), 0);
    for (const PointField& field : result.points) {
      const ElementBlock& block = domain.block(field.block);
      if (block.material()->name() != found.material) continue;
      const auto carry = block.type().program().extrapolation();
      for (std::int32_t e = 0; e < block.size(); ++e)
        for (int a = 0; a < block.nodes_per_element(); ++a) {
          double value = 0;
          for (int p = 0; p < field.points; ++p) value += carry[a * field.points + p] * field.at(e, p, "sxy");
          sum[block.nodes(e)[a]] += value;
          ++count[block.nodes(e)[a]];
        }
    }
    double largest = 0;
    for (const double v : sum) largest = std::max(largest, std::abs(v));
    for (std::int32_t n = 0; n < domain.node_count(); ++n) {
      if (count[n] == 0)
        EXPECT_TRUE(std::isnan(found.field.at(n, 0))) << n;
      else
        EXPECT_NEAR(found.field.at(n, 0), sum[n] / count[n], 1e-12 * largest) << n;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Elements, RecoveryThreads,
                         ::testing::Values("solid.hex8", "solid.hex8.incompatible", "solid.hex20", "solid.tet4",
                                           "solid.tet10", "solid.wedge6"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '.', '_');
                           return name;
                         });

}  // namespace
}  // namespace voussoir
