#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include <voussoir/backends/error.hpp>
#include <voussoir/framework/mesh/structured_mesh.hpp>
#include <voussoir/partition/domain_partitioner.hpp>
#include <voussoir/partition/partitioners.hpp>
#include <voussoir/partition/unequal_parts.hpp>

namespace voussoir {
namespace {

void add_plate(Domain& domain, int nx, int ny) {
  BoxMesh mesh;
  mesh.type = "solid.hex8";
  mesh.cells = {nx, ny, 2};
  mesh.upper = {1.0 * nx, 1.0 * ny, 2.0};
  add_box_mesh(domain, mesh).set_material(std::make_shared<IsotropicMaterial>("steel", 200.0, 0.3, 1.0));
}

/// The sum of the weights of each part.
std::vector<double> sums(const Partition& partition, const std::vector<double>& weights) {
  std::vector<double> all(static_cast<std::size_t>(partition.parts()), 0);
  const auto part = partition.part_of_element();
  for (std::size_t e = 0; e < part.size(); ++e)
    all[static_cast<std::size_t>(part[e])] += weights.empty() ? 1 : weights[e];
  return all;
}

void expect_shares(const std::vector<double>& found, const std::vector<double>& wanted, double tolerance) {
  const double total = std::accumulate(found.begin(), found.end(), 0.0),
               shares = std::accumulate(wanted.begin(), wanted.end(), 0.0);
  ASSERT_EQ(found.size(), wanted.size());
  for (std::size_t p = 0; p < found.size(); ++p)
    EXPECT_NEAR(found[p] / total, wanted[p] / shares, tolerance) << "part " << p;
}

std::string refusal(const std::string& method, int parts = 2) {
  Domain domain;
  add_plate(domain, 4, 4);
  try {
    DomainPartitioner(domain).partition(*make_partitioner(method), parts);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::bad_input);
    return error.what();
  }
  return "nothing";
}

TEST(UnequalParts, HaveTheirShares) {
  Domain domain;
  add_plate(domain, 24, 10);
  const DomainPartitioner partitioner(domain);
  for (const std::string method : {"coordinate", "rcb", "inertial"}) {
    // A layer across the plate has 20 of the 480 elements.
    expect_shares(sums(partitioner.partition(*make_partitioner(method + ":shares=3/1"), 2), {}), {3, 1}, 1.0 / 480);
    expect_shares(sums(partitioner.partition(*make_partitioner(method + ":shares=8/1/1"), 3), {}), {8, 1, 1},
                  2.0 / 480);
    expect_shares(sums(partitioner.partition(*make_partitioner(method + ":shares=0.5/2.5/1/1"), 4), {}),
                  {0.5, 2.5, 1, 1}, 2.0 / 480);
  }
  if (!MetisPartitioner::available()) return;
  expect_shares(sums(partitioner.partition(*make_partitioner("metis:shares=3/1"), 2), {}), {3, 1}, 0.03);
  expect_shares(sums(partitioner.partition(*make_partitioner("metis:shares=8/1/1"), 3), {}), {8, 1, 1}, 0.03);
}

TEST(UnequalParts, CountTheCostOfElements) {
  Domain domain;
  add_plate(domain, 20, 6);
  std::vector<double> weights(240);
  for (std::size_t e = 0; e < weights.size(); ++e) weights[e] = e % 20 < 5 ? 10 : 1;  // the left quarter is expensive
  DomainPartitioner partitioner(domain);
  partitioner.set_weights(weights);
  const Partition cut = partitioner.partition(UnequalParts(UnequalParts::Method::coordinate, {4, 1}), 2);
  expect_shares(sums(cut, weights), {4, 1}, 10.0 / 780);
}

TEST(UnequalParts, WithEqualSharesAreThoseOfTheMethod) {
  Domain domain;
  add_plate(domain, 13, 7);
  const DomainPartitioner partitioner(domain);
  for (const std::string method : {"coordinate", "inertial"}) {
    const Partition equal = partitioner.partition(*make_partitioner(method), 3),
                    shared = partitioner.partition(*make_partitioner(method + ":shares=2/2/2"), 3);
    EXPECT_TRUE(std::equal(equal.part_of_element().begin(), equal.part_of_element().end(),
                           shared.part_of_element().begin(), shared.part_of_element().end()));
  }
}

TEST(UnequalParts, WithFewerPartsTheFirstSharesCount) {
  Domain domain;
  add_plate(domain, 20, 2);
  const Partition cut = DomainPartitioner(domain).partition(*make_partitioner("coordinate:shares=3/1/5"), 2);
  expect_shares(sums(cut, {}), {3, 1}, 1.0 / 80);
}

TEST(UnequalParts, RefuseWhatIsNoShare) {
  EXPECT_NE(refusal("coordinate:shares=3/1", 3).find("3 parts need as many shares, but there are 2"),
            std::string::npos);
  EXPECT_NE(refusal("coordinate:shares=3/0").find("positive"), std::string::npos);
  EXPECT_NE(refusal("metis:shares=3/-1").find("positive"), std::string::npos);
  EXPECT_NE(refusal("metis:shares=3/x").find("separated by /"), std::string::npos);
  EXPECT_NE(refusal("metis:shares=").find("separated by /"), std::string::npos);
  EXPECT_NE(refusal("inertial:shares=nan/1").find("positive"), std::string::npos);
  EXPECT_NE(refusal("coordinate:fast").find("there is no option 'fast'"), std::string::npos);
  EXPECT_THROW(UnequalParts(UnequalParts::Method::metis, {}), Error);
}

}  // namespace
}  // namespace voussoir
