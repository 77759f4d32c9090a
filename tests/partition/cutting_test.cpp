// Partitioners that cut an order of the elements, the variants of METIS, and the quality of partitions.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>

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
            (std::vector<std::string>{
                "parts 0-1 are in several pieces", "parts 1-2 float: no support holds them",
                "part 0 floats in pieces: no support holds some of them",
                "parts 0-2 float with fewer than 3 corners, so that bddc and feti-dp need averages of edges and faces "
                "there"}));
  EXPECT_EQ(quality.findings(false), (std::vector<std::string>{"parts 0-1 are in several pieces"}));
  Domain free;
  fill(free, 2, 1, 1);
  EXPECT_EQ(examine_partition(free, DomainPartitioner(free).partition(RcmStrips(), 2)).findings(),
            (std::vector<std::string>{
                "the model has no supports, so that every part floats",
                "parts 0-1 float with fewer than 3 corners, so that bddc and feti-dp need averages of edges and faces "
                "there"}));
  EXPECT_NE(quality.table().text().find("floating_pieces"), std::string::npos);
}

TEST(PartitionQuality, CountsCornersAndNamesEmptyParts) {
  // Quarters of a square: they meet in the node in the middle; the other interface nodes lie on four lines.
  Domain square;
  fill(square, 8, 8, 1, "plane_stress.quad4");
  square.prescribe("xmin", "all");
  const PartitionQuality quarters =
      examine_partition(square, DomainPartitioner(square).partition(CoordinateBisection(), 4));
  for (const PartQuality& one : quarters.parts) EXPECT_EQ(one.corners, 1);
  EXPECT_EQ(quarters.findings(),
            (std::vector<std::string>{
                "parts 2-3 float: no support holds them",
                "parts 2-3 float with fewer than 2 corners, so that bddc and feti-dp need averages of edges and faces "
                "there"}));
  // Nine fields: each corner of the middle one is a corner of the decomposition, and so are the ends of its sides.
  std::vector<std::int32_t> ninths;
  for (int e = 0; e < 64; ++e) ninths.push_back((e % 8 * 3 / 8) + 3 * (e / 8 * 3 / 8));
  const PartitionQuality nine =
      examine_partition(square, DomainPartitioner(square).partition(UserPartition(ninths), 9));
  const int corners[] = {1, 2, 1, 2, 4, 2, 1, 2, 1};
  for (const PartQuality& one : nine.parts) EXPECT_EQ(one.corners, corners[one.part]) << one.part;

  Domain heat;
  fill(heat, 2, 1, 1, "heat.hex8");
  heat.prescribe("xmin", "all");
  EXPECT_EQ(examine_partition(heat, DomainPartitioner(heat).partition(RcmStrips(), 2)).findings().back(),
            "part 1 floats with no corner, so that bddc and feti-dp need averages of edges and faces there");
  Domain bar;
  fill(bar, 3, 1, 1);
  bar.prescribe("xmin", "all");
  const PartitionQuality with_empty = examine_partition(bar, Partition::with_empty_parts(bar, {0, 0, 2}, 5));
  const auto findings = with_empty.findings();
  EXPECT_EQ(findings.front(), "parts 1 and 3-4 are empty");
  EXPECT_EQ(findings.size(), 3u);
  EXPECT_EQ(with_empty.parts[1].aspect, 1);
  EXPECT_EQ(with_empty.parts[1].pieces, 0);
}

TEST(PartitionQuality, TableIsReadableWithManyParts) {
  Domain domain;
  fill(domain, 16, 16, 16);
  domain.prescribe("xmin", "all");
  const PartitionQuality quality =
      examine_partition(domain, DomainPartitioner(domain).partition(CoordinateBisection(), 64));
  const std::string text = quality.describe();
  std::istringstream lines(text);
  std::string line;
  std::size_t count = 0;
  std::getline(lines, line);
  EXPECT_EQ(line, "part elements weight nodes interface neighbours pieces floating corners aspect");
  const std::size_t width = line.size();
  for (; std::getline(lines, line) && !line.starts_with("64 parts"); ++count) EXPECT_EQ(line.size(), width) << line;
  EXPECT_EQ(count, 66u) << "64 parts, the lowest and the highest numbers";
  EXPECT_EQ(line, "64 parts, balance 1.0000, edge cut 2304, 2169 interface nodes");
  // Cubes of 4 × 4 × 4 elements, in four layers behind the support.
  EXPECT_NE(text.find("\n   0       64     64   125"), std::string::npos) << text;
  EXPECT_NE(text.find("\n low       64     64   125"), std::string::npos) << text;
  EXPECT_NE(text.find("float: no support holds them"), std::string::npos) << text;
  int sentences = 0;
  while (std::getline(lines, line)) ++sentences;
  EXPECT_EQ(sentences, 2) << "one for each kind, not for each part\n" << text;
  EXPECT_NE(quality.describe(false).find("       -  "), std::string::npos) << "no supports are known";
  EXPECT_EQ(quality.describe(false).find("float:"), std::string::npos);
}

}  // namespace
}  // namespace voussoir
