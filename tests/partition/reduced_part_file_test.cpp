#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>

#include "partition/reduced_beam.hpp"

// Files of reduced parts.

namespace voussoir {
namespace {

using testing::fill_beam;
using testing::text_of_error;
using testing::through_file;

TEST(ReducedPartFile, RestoresEveryNumber) {
  ReduceOptions options;
  options.modes = 4;
  options.stresses = true;
  Domain whole;
  fill_beam(whole);
  const Subdomain half(whole, DomainPartitioner(whole).partition(CoordinateBisection(), 2), 1);
  const ReducedPart part = reduce_part(half, Backend::open("openmp"), options);
  const std::string bytes = reduced_part_bytes(part);
  const auto read = read_reduced_part_bytes(bytes, "part.vsup");
  EXPECT_EQ(reduced_part_bytes(*read), bytes);
  EXPECT_EQ(read->stiffness, part.stiffness);
  EXPECT_EQ(read->mass, part.mass);
  EXPECT_EQ(read->recovery, part.recovery);
  EXPECT_EQ(read->stress_recovery, part.stress_recovery);
  EXPECT_EQ(read->row, part.row);
  EXPECT_EQ(read->rigid_mass, part.rigid_mass);
  ASSERT_EQ(read->loads.size(), 3u);
  EXPECT_EQ(read->load("warm").force, part.load("warm").force);
  EXPECT_EQ(read->load("warm").stress, part.load("warm").stress);
  EXPECT_EQ(read->accelerations[2].displacement, part.accelerations[2].displacement);
}

/// The bytes with other text in their header, and the checksum of that.
std::string with_header(const std::string& bytes, const std::string& from, const std::string& to) {
  const std::size_t second = bytes.find("\nheader ") + 1, begin = bytes.find('\n', second) + 1;
  std::string header = bytes.substr(begin, std::stoul(bytes.substr(second + 7)));
  const std::size_t length = header.size(), at = header.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  header.replace(at, from.size(), to);
  char line[64];
  std::snprintf(line, sizeof line, "header %zu %016llx\n", header.size(),
                static_cast<unsigned long long>(part_checksum(header)));
  return bytes.substr(0, second) + line + header + bytes.substr(begin + length);
}

void fill_plate(Domain& domain, const std::string& type, double lower) {
  BoxMesh mesh;
  mesh.type = type;
  mesh.cells = {3, 2, 1};
  mesh.lower = {lower, 0, 0};
  mesh.upper = {lower + 1, 1, 1};
  add_box_mesh(domain, mesh)
      .set_material(std::make_shared<IsotropicMaterial>("steel", 210e3, 0.3, 7.85e-9))
      .set_section("thickness", 1.0);
}

/// A plate whose side xmax is the interface.
ReducedPart reduced_plate(const std::string& type, int modes = 0) {
  Domain domain;
  fill_plate(domain, type, 0);
  ReduceOptions options;
  options.name = "plate";
  options.modes = modes;
  return reduce_part(domain, "xmax", Backend::open("openmp"), options);
}

TEST(ReducedPartFile, RejectsForgedCountsAndBytesAfterTheEnd) {
  const std::string good = reduced_part_bytes(reduced_plate("plane_stress.quad4", 2));
  EXPECT_NO_THROW(read_reduced_part_bytes(with_header(good, "\"plate\"", "\"other\""), "x"));
  const auto text = [&](const std::string& from, const std::string& to) {
    return text_of_error([&] { read_reduced_part_bytes(with_header(good, from, to), "x"); });
  };
  EXPECT_NE(text("\"interface_nodes\": 3", "\"interface_nodes\": 4").find("gives 4 for 'interface_nodes'"),
            std::string::npos);
  EXPECT_NE(text("\"modes\": 2", "\"modes\": 0").find("gives 0 for 'modes'"), std::string::npos);
  EXPECT_NE(text("\"elements\": 6", "\"elements\": 5").find("fewer elements"), std::string::npos);
  EXPECT_NE(text("\"elements\": 6", "\"elements\": 7").find("more elements"), std::string::npos);
  EXPECT_NE(text("\"offset\": 0", "\"offset\": 8").find("overlap or leave gaps"), std::string::npos);
  EXPECT_NE(text("\"plane\": \"stress\"", "\"plane\": \"strange\"").find("strange"), std::string::npos);
  EXPECT_NE(text("\"plane\"", "\"pläne\"").find("plane stress or in plane strain"), std::string::npos);
  EXPECT_NE(text_of_error([&] { read_reduced_part_bytes(good + "x", "x"); }).find("1 bytes follow"), std::string::npos);
  EXPECT_NE(text_of_error([&] { read_reduced_part_bytes(good + good, "x"); }).find("bytes follow"), std::string::npos);
  // The same numbers in another shape: 8 × 8 as 64 × 1.
  const std::string shape = good.substr(good.find("\"stiffness\""), 200);
  const std::size_t from = shape.find('['), to = shape.find(']');
  ASSERT_LT(to, shape.size());
  EXPECT_NE(text(shape.substr(0, to + 1), shape.substr(0, from) + "[64, 1]").find("another shape"), std::string::npos);
}

TEST(ReducedPart, TellsPlaneStressFromPlaneStrain) {
  EXPECT_EQ(reduced_plate("plane_stress.quad8").plane, "stress");
  EXPECT_EQ(reduced_plate("plane_strain.quad4").plane, "strain");
  const auto part = through_file(reduced_plate("plane_strain.quad4"));
  EXPECT_EQ(part->plane, "strain");
  SuperelementOptions placing;
  placing.add_nodes = true;
  for (const bool same : {true, false}) {
    Domain model;
    model.add_node(1000, 9, 9, 0);
    fill_plate(model, same ? "plane_strain.quad4" : "plane_stress.quad4", 2);
    if (same)
      EXPECT_NO_THROW(add_superelement(model, part, placing));
    else
      EXPECT_NE(text_of_error([&] { add_superelement(model, part, placing); }).find("plane strain, and block"),
                std::string::npos);
  }
  // Between superelements, too.
  Domain model;
  add_superelement(model, part, placing);
  placing.name = "other";
  const auto other = through_file(reduced_plate("plane_stress.quad4"));
  EXPECT_NE(text_of_error([&] { add_superelement(model, other, placing); }).find("plane stress, and block"),
            std::string::npos);
  Domain mixed;
  fill_plate(mixed, "plane_strain.quad4", 0);
  mixed.add_block("stress", "plane_stress.quad4");
  EXPECT_NO_THROW(reduce_part(mixed, "xmax", Backend::open("openmp"))) << "an empty block says nothing";
}

TEST(ReducedPartFile, NoticesDamage) {
  Domain domain;
  BoxMesh mesh;
  mesh.cells = {2, 1, 1};
  add_box_mesh(domain, mesh).set_material(std::make_shared<IsotropicMaterial>("steel", 1.0, 0.3, 1.0));
  ReduceOptions options;
  options.modes = 1;
  const std::string good = reduced_part_bytes(reduce_part(domain, "xmax", Backend::open("openmp"), options));
  EXPECT_NO_THROW(read_reduced_part_bytes(good, "x"));
  for (std::size_t i = 0; i < good.size(); i += i < 200 ? 1 : 97) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0x11);
    EXPECT_THROW(read_reduced_part_bytes(bad, "x"), Error) << "byte " << i;
  }
  for (std::size_t length = 0; length < good.size(); length += 101)
    EXPECT_THROW(read_reduced_part_bytes(std::string_view(good).substr(0, length), "x"), Error) << length;
  std::string newer = good;
  newer[std::string("voussoir superelement ").size()] = '2';
  EXPECT_NE(text_of_error([&] { read_reduced_part_bytes(newer, "wing.vsup"); }).find("version 2"), std::string::npos);
  // Of a program that did not write this key: a part with uz is not axisymmetric.
  const std::string old = with_header(good, "\"axisymmetric\"", "\"axisymmetrie\"");
  EXPECT_FALSE(read_reduced_part_bytes(old, "old.vsup")->axisymmetric);
  EXPECT_NE(text_of_error([&] { read_reduced_part("there/is/none.vsup"); }, ErrorCode::io).find("none.vsup"),
            std::string::npos);
}

}  // namespace
}  // namespace voussoir
