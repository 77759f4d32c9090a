// Masses on interfaces, numbers of parts and weights that methods and partitioners must solve or refuse by name.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include <voussoir/partition/domain_partitioner.hpp>
#include <voussoir/partition/partitioners.hpp>

#include "loaded_bar.hpp"
#include "support/decomposition_check.hpp"
#include "support/expect_error.hpp"

namespace voussoir {
namespace {

using testing::decomposition_methods;
using testing::expect_error;
using testing::expect_right_by_all;
using testing::solved;

/// A bar with point masses at every third node, which hang on it: elements with a weight and without a stiffness.
void add_bar_with_masses(Domain& domain) {
  testing::add_loaded_bar(domain, 2);
  ElementBlock& masses = domain.add_block("masses", "mass");
  masses.set_section("mass", 0.7);
  const std::int32_t nodes = domain.node_count();
  for (std::int32_t n = 1; n < nodes; n += 3) masses.add(9000 + n, {domain.node_id(n)});
}

TEST(DecompositionInput, MassesOnInterfaceNodesCountOnce) {
  Domain domain;
  add_bar_with_masses(domain);
  Domain bare;
  testing::add_loaded_bar(bare, 2);
  // They do hang on it.
  EXPECT_GT(std::abs(solved(domain, "direct").unknowns.values.back()),
            1.2 * std::abs(solved(bare, "direct").unknowns.values.back()));
  expect_right_by_all(domain, {2, 6}, ",cut=rcb");
}

TEST(DecompositionInput, MorePartsThanElementsAreRefusedByEveryMethod) {
  Domain domain;
  BoxMesh mesh;
  mesh.cells = {3, 1, 1};
  mesh.upper = {3, 1, 1};
  add_box_mesh(domain, mesh).set_material(std::make_shared<IsotropicMaterial>("steel", 1000.0, 0.3));
  domain.prescribe("xmin", "all");
  domain.add_load_case("pull").traction("xmax", {1, 0, 0});
  for (const std::string& method : decomposition_methods()) {
    SCOPED_TRACE(method);
    expect_error(ErrorCode::bad_input, {"4 parts", "3 elements"}, [&] { solved(domain, method + ":parts=4"); });
    expect_error(ErrorCode::bad_input, {"parts=0"}, [&] { solved(domain, method + ":parts=0"); });
    EXPECT_NO_THROW(solved(domain, method + ":parts=3,cut=rcb"));  // a part for every element
  }
}

TEST(DecompositionInput, ZeroWeightsLeaveNoPartEmpty) {
  Domain domain;
  testing::add_loaded_bar(domain, 2);
  const auto count = static_cast<std::size_t>(domain.element_count());
  std::vector<double> one(count, 0.0), half(count, 1.0);
  one[3] = 1;
  for (std::size_t e = 0; e < count; e += 2) half[e] = 0;
  for (const char* name : {"rcb", "inertial", "metis", "metis:graph=nodes", "rcm", "sfc"}) {
    if (std::string(name).starts_with("metis") && !MetisPartitioner::available()) continue;
    const auto cut = make_partitioner(name);
    for (const std::vector<double>& weights : {std::vector<double>(count, 0.0), one, half})
      for (const int parts : {2, 5, 32}) {
        SCOPED_TRACE(std::string(name) + ", " + std::to_string(parts) + " parts");
        ::testing::internal::CaptureStdout();
        const Partition partition = DomainPartitioner(domain).set_weights(weights).partition(*cut, parts);
        EXPECT_EQ(::testing::internal::GetCapturedStdout(), "");  // METIS would complain there
        std::vector<int> elements(static_cast<std::size_t>(parts), 0);
        for (const std::int32_t p : partition.part_of_element()) ++elements.at(static_cast<std::size_t>(p));
        for (const int n : elements) EXPECT_GT(n, 0);
      }
    for (const double bad : {-1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
      std::vector<double> weights(count, 1.0);
      weights[2] = bad;
      expect_error(ErrorCode::bad_input, {"weight", "element 3"},
                   [&] { (void)DomainPartitioner(domain).set_weights(weights).partition(*cut, 2); });
    }
  }
}

}  // namespace
}  // namespace voussoir
