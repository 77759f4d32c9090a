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

TEST(PartitionQuality, CountsTheCornersOfEachPiece) {
  // Nine fields of a square, as above. The part in the middle, with four corners, also has an element at the rim,
  // inside of another part, which has none.
  Domain square;
  fill(square, 8, 8, 1, "plane_stress.quad4");
  square.prescribe("xmin", "all");
  std::vector<std::int32_t> ninths;
  for (int e = 0; e < 64; ++e) ninths.push_back((e % 8 * 3 / 8) + 3 * (e / 8 * 3 / 8));
  ASSERT_EQ(ninths[39], 5);
  ninths[39] = 4;
  const PartitionQuality nine =
      examine_partition(square, DomainPartitioner(square).partition(UserPartition(ninths), 9));
  EXPECT_EQ(nine.parts[4].floating_pieces, 2);
  EXPECT_EQ(nine.parts[4].corners, 4);
  EXPECT_EQ(nine.findings(),
            (std::vector<std::string>{"part 4 is in several pieces", "parts 3-8 float: no support holds them",
                                      "parts 4, 6 and 8 float with fewer than 2 corners, so that bddc and feti-dp need "
                                      "averages of edges and faces there"}));
}

TEST(PartitionQuality, AspectIsThatOfTheBoxAroundThePart) {
  const auto aspects = [](const Domain& domain, const std::vector<std::int32_t>& parts, int count) {
    std::vector<double> list;
    for (const PartQuality& one :
         examine_partition(domain, DomainPartitioner(domain).partition(UserPartition(parts), count)).parts)
      list.push_back(one.aspect);
    return list;
  };
  Domain cube, plate, bar;
  fill(cube, 10, 10, 10);
  std::vector<std::int32_t> slices;
  for (int e = 0; e < 1000; ++e) slices.push_back(e / 100);
  for (const double aspect : aspects(cube, slices, 10)) EXPECT_NEAR(aspect, 10, 1e-9) << "10 × 10 × 1 elements";
  fill(plate, 6, 2, 1, "plane_stress.quad4");
  const std::vector<double> halves = aspects(plate, {0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1}, 2);
  EXPECT_NEAR(halves[0], 1, 1e-9);
  EXPECT_NEAR(halves[1], 2, 1e-9);
  fill(bar, 4, 1, 1, "truss");
  EXPECT_EQ(aspects(bar, {0, 0, 0, 1}, 2), (std::vector<double>{1, 1})) << "sides without length do not count";
}

/// Makes the nodes at x = 0 a rigid body about node 901, which turns with node 902.
void stiffen_end(Domain& domain) {
  domain.add_node(901, 0, 0, 0);
  domain.add_node(902, 0, 0, 0);
  domain.set_rotation_node(902, 901, true);
  const char* const u[] = {"ux", "uy", "uz"};
  for (const std::int32_t n : domain.node_set("xmin"))
    for (std::size_t k = 0; k < 3; ++k) {
      const std::size_t i = (k + 1) % 3, j = (k + 2) % 3;
      const double* r = &domain.coordinates()[3 * static_cast<std::size_t>(n)];
      std::vector<Domain::EquationTerm> terms{
          {domain.node_id(n), u[k], 1}, {901, u[k], -1}, {902, u[i], -r[j]}, {902, u[j], r[i]}};
      std::erase_if(terms, [](const auto& term) { return term.coefficient == 0; });
      domain.add_equation(terms);
    }
}

TEST(PartitionQuality, SupportsHoldThroughEquations) {
  const auto findings = [](const Domain& domain, const std::vector<std::int32_t>& parts) {
    return examine_partition(domain, DomainPartitioner(domain).cut_equations().partition(UserPartition(parts), 2))
        .findings();
  };
  // A bar of 4 × 2 × 1 elements that is cut along its length, through the rigid body at its end.
  Domain body;
  fill(body, 4, 2, 1);
  stiffen_end(body);
  for (const Id id : {901, 902})
    for (const char* unknown : {"ux", "uy", "uz"}) body.prescribe_at(id, unknown);
  EXPECT_EQ(findings(body, {0, 1, 0, 1, 0, 1, 0, 1}), (std::vector<std::string>{}));

  // The mean displacement of its end, as in a distributing coupling; and a periodic bar, which nothing holds.
  Domain mean, periodic;
  for (Domain* bar : {&mean, &periodic}) {
    fill(*bar, 4, 1, 1);
    bar->add_node(901, 0, 0, 0);
    for (const char* unknown : {"ux", "uy", "uz"}) bar->prescribe_at(901, unknown);
  }
  for (const char* unknown : {"ux", "uy", "uz"}) {
    std::vector<Domain::EquationTerm> terms{{901, unknown, -1}};
    for (const std::int32_t n : mean.node_set("xmin")) terms.push_back({mean.node_id(n), unknown, 0.25});
    mean.add_equation(terms);
    for (std::size_t i = 0; i < 4; ++i)
      periodic.add_equation({{periodic.node_id(periodic.node_set("xmax")[i]), unknown, 1},
                             {periodic.node_id(periodic.node_set("xmin")[i]), unknown, -1},
                             {901, unknown, -1}});
  }
  EXPECT_EQ(findings(mean, {0, 0, 1, 1}).front(), "part 1 floats: no support holds it");
  EXPECT_EQ(findings(periodic, {0, 0, 1, 1}).front(), "parts 0-1 float: no support holds them");
}

TEST(PartitionQuality, WhatHoldsAPartDependsOnItsElements) {
  const auto findings = [](const std::string& type) {
    Domain domain;
    fill(domain, 6, 1, 1, type.c_str());
    domain.prescribe("xmin", "all");
    return examine_partition(domain, DomainPartitioner(domain).partition(UserPartition({0, 0, 1, 1, 2, 2}), 3))
        .findings();
  };
  const std::string floating = "parts 1-2 float: no support holds them",
                    averages = ", so that bddc and feti-dp need averages of edges and faces there";
  using Lines = std::vector<std::string>;
  EXPECT_EQ(findings("beam"), Lines{floating}) << "one node with rotations holds a part";
  EXPECT_EQ(findings("truss"), (Lines{floating, "parts 0-2 have fewer than 3 interface nodes",
                                      "parts 1-2 float with fewer than 3 corners" + averages}));
  EXPECT_EQ(findings("plane_stress.quad4"), (Lines{floating, "parts 1-2 float with fewer than 2 corners" + averages}))
      << "two interface nodes are enough in the plane";
  EXPECT_EQ(findings("axisymmetric.quad4"), (Lines{floating, "parts 1-2 float with no corner" + averages}))
      << "a body of revolution can only move along its axis";

  // Two elements that share a node, and two that share none.
  Domain corner, apart;
  for (Domain* domain : {&corner, &apart}) {
    for (Id id = 0; id < 8; ++id) domain->add_node(id + 1, id / 4 + (id % 4 == 1 || id % 4 == 2), id / 4 + id % 4 / 2);
    const bool joined = domain == &corner;
    ElementBlock& fields = domain->add_block("fields", joined ? "plane_stress.quad4" : "plane_heat.quad4");
    fields.add(1, {1, 2, 3, 4});
    fields.add(2, {joined ? 3 : 5, 6, 7, 8});
    domain->prescribe_at(1, joined ? "ux" : "T");
  }
  const auto two_parts = [](const Domain& domain) {
    return examine_partition(domain, DomainPartitioner(domain).partition(UserPartition({0, 1}), 2)).findings();
  };
  EXPECT_EQ(two_parts(corner),
            (Lines{"part 1 floats: no support holds it", "parts 0-1 have fewer than 2 interface nodes",
                   "part 1 floats with fewer than 2 corners" + averages}));
  EXPECT_EQ(two_parts(apart), (Lines{"part 1 floats: no support holds it", "parts 0-1 have no interface node",
                                     "part 1 floats with no corner" + averages}));
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
