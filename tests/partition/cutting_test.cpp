// Partitioners that cut an order of the elements, the variants of METIS, and the quality of partitions.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include <voussoir/framework/mesh/structured_mesh.hpp>
#include <voussoir/partition/domain_partitioner.hpp>
#include <voussoir/partition/ordered_partitioners.hpp>
#include <voussoir/partition/partition_quality.hpp>
#include <voussoir/partition/partitioners.hpp>

#include "support/expect_error.hpp"

namespace voussoir {
namespace {

using testing::expect_error;

void fill(Domain& domain, int nx, int ny, int nz, const char* type = "solid.hex8") {
  BoxMesh mesh;
  mesh.type = type;
  mesh.cells = {nx, ny, nz};
  mesh.upper = {1.0 * nx, 1.0 * ny, 1.0 * nz};
  add_box_mesh(domain, mesh);
}

TEST(RcmStrips, CutALongBarInARow) {
  Domain domain;
  fill(domain, 24, 2, 2);
  const Partition partition = DomainPartitioner(domain).partition(RcmStrips(), 6);
  EXPECT_DOUBLE_EQ(partition.balance(), 1.0);
  for (int p = 0; p < 6; ++p) EXPECT_LE(partition.neighbours(p).size(), 2u) << "strips touch those beside them";
  EXPECT_EQ(partition.edge_cut(), 5 * 8) << "fronts from a corner are oblique: each cuts eight faces";
}

TEST(HilbertCurve, CutsASquareIntoItsQuadrants) {
  Domain domain;
  fill(domain, 8, 8, 1, "plane_stress.quad4");
  const Partition partition = DomainPartitioner(domain).partition(HilbertCurve(), 4);
  EXPECT_EQ(partition.edge_cut(), 2 * 8) << "two cuts across the square";
  for (const PartQuality& one : examine_partition(domain, partition).parts) {
    EXPECT_EQ(one.elements, 16);
    EXPECT_EQ(one.pieces, 1);
    EXPECT_NEAR(one.aspect, 1, 1e-12);
  }
  // Each piece of the curve through a cube is connected as well: the curve goes from face to face.
  Domain cube;
  fill(cube, 8, 8, 8);
  for (const int parts : {2, 3, 8, 13})
    for (const PartQuality& one :
         examine_partition(cube, DomainPartitioner(cube).partition(HilbertCurve(), parts)).parts)
      EXPECT_EQ(one.pieces, 1) << parts;
}

TEST(OrderedPartitioner, LeavesNoPartEmptyWhateverTheWeights) {
  Domain domain;
  fill(domain, 5, 2, 1, "plane_stress.quad4");
  for (const char* name : {"rcm", "sfc"})
    for (const int parts : {1, 2, 7, 10})
      for (const double heavy : {1.0, 0.0, 1e6}) {
        std::vector<double> weights(10, heavy == 0.0 ? 0.0 : 1.0);
        weights[3] = heavy;
        const Partition partition =
            DomainPartitioner(domain).set_weights(weights).partition(*make_partitioner(name), parts);
        for (int p = 0; p < parts; ++p) EXPECT_GT(partition.element_count(p), 0) << name << " " << parts;
      }
}

TEST(Partitioners, AreFoundByName) {
  EXPECT_EQ(make_partitioner("rcb")->name(), "coordinate");
  expect_error(ErrorCode::bad_input, {"metis", "recursiv", "recursive"}, [] { make_partitioner("metis:recursiv"); });
  expect_error(ErrorCode::bad_input, {"sfc", "no options"}, [] { make_partitioner("sfc:x"); });
  if (!MetisPartitioner::available()) return;
  Domain domain;
  fill(domain, 8, 8, 2);
  for (const char* name : {"metis:recursive", "metis:contiguous", "metis:kway"}) {
    const Partition partition = DomainPartitioner(domain).partition(*make_partitioner(name), 4);
    EXPECT_LT(partition.balance(), 1.1) << name;
    EXPECT_LT(partition.edge_cut(), 60) << name;
  }
  BoxMesh apart;
  apart.lower = {20, 0, 0};
  apart.upper = {22, 2, 2};
  apart.cells = {2, 2, 2};
  apart.block = "apart";
  apart.set_prefix = "apart_";
  add_box_mesh(domain, apart);
  expect_error(ErrorCode::bad_input, {"contiguous", "not connected"},
               [&] { DomainPartitioner(domain).partition(*make_partitioner("metis:contiguous"), 4); });
}

TEST(PartitionQuality, NamesPiecesAndFloatingParts) {
  Domain domain;
  fill(domain, 6, 1, 1);
  domain.prescribe("xmin", "all");
  // Part 1 has the elements 1 and 5; part 2 the tip, with one face.
  const Partition partition = DomainPartitioner(domain).partition(UserPartition({0, 1, 0, 0, 1, 2}), 3);
  const PartitionQuality quality = examine_partition(domain, partition);
  EXPECT_EQ(quality.parts[0].pieces, 2);
  EXPECT_EQ(quality.parts[0].floating_pieces, 1);
  EXPECT_EQ(quality.parts[1].pieces, 2);
  EXPECT_EQ(quality.parts[1].floating_pieces, 2);
  EXPECT_EQ(quality.parts[2].pieces, 1);
  EXPECT_EQ(quality.parts[2].interface_nodes, 4);
  EXPECT_EQ(quality.edge_cut, 4);
  EXPECT_EQ(quality.findings(),
            (std::vector<std::string>{"part 0 is in 2 pieces", "part 0 floats: no support holds 1 of its 2 pieces",
                                      "part 1 is in 2 pieces", "part 1 floats: no support holds 2 of its 2 pieces",
                                      "part 2 floats: no support holds it"}));
  Domain free;
  fill(free, 2, 1, 1);
  EXPECT_EQ(examine_partition(free, DomainPartitioner(free).partition(RcmStrips(), 2)).findings(),
            (std::vector<std::string>{"the model has no supports, so that every part floats"}));
  EXPECT_NE(quality.table().text().find("floating_pieces"), std::string::npos);
}

}  // namespace
}  // namespace voussoir
