#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include <support/expect_error.hpp>
#include <support/gmsh_text.hpp>
#include <voussoir/framework/io/gmsh/gmsh_reader.hpp>

// Old versions of Gmsh's format. Files in tests/fuzz/seeds/gmsh were written by Gmsh 4.8.4, those of version 2.0 and
// 2.1 and the binary ones of version 4.0 after it from its descriptions: Gmsh does not write these any more.

namespace voussoir {
namespace {

using testing::expect_error;
using testing::gmsh_bytes;
using testing::GmshSample;
using testing::GmshVariant;
using testing::two_cubes;

GmshMesh read(const std::string& bytes) { return read_gmsh_bytes(bytes, "part.msh"); }
GmshMesh read_seed(const std::string& name) {
  return read_gmsh(std::filesystem::path(VSR_TEST_SOURCE_DIR) / "tests/fuzz/seeds/gmsh" / name);
}

const GmshMesh::Batch& batch(const GmshMesh& mesh, const std::string& shape) {
  for (const auto& b : mesh.batches)
    if (b.shape == shape) return b;
  throw std::runtime_error("no batch of " + shape);
}

std::string label(const GmshMesh& mesh, const std::string& shape) {
  return mesh.label(mesh.groups[batch(mesh, shape).groups.at(0)]);
}

/// A group's elements as sets of points, which no version numbers in its own way.
std::multiset<std::vector<double>> elements_of(const GmshMesh& mesh, int dimension, int tag) {
  std::multiset<std::vector<double>> elements;
  for (const auto& b : mesh.batches)
    for (const std::int32_t g : b.groups) {
      if (mesh.groups[g].dimension != dimension || mesh.groups[g].tag != tag) continue;
      for (std::size_t e = 0; e < b.ids.size(); ++e) {
        std::vector<double> points;
        for (int k = 0; k < b.nodes_per_element; ++k) {
          const Id node = b.nodes[e * b.nodes_per_element + k];
          const auto at = std::find(mesh.node_ids.begin(), mesh.node_ids.end(), node) - mesh.node_ids.begin();
          points.insert(points.end(), &mesh.coordinates[3 * at], &mesh.coordinates[3 * at] + 3);
        }
        elements.insert(points);
      }
    }
  return elements;
}

TEST(GmshVersions, FilesOfOneMeshInEveryVersionAgree) {
  const GmshMesh wanted = read_seed("hex_4.1_0.msh");
  ASSERT_EQ(elements_of(wanted, 3, 5).size(), 2u);
  ASSERT_EQ(elements_of(wanted, 2, 2).size(), 2u);
  for (const char* file :
       {"hex_1.msh", "hex_2.0_0.msh", "hex_2.0_1.msh", "hex_2.1_0.msh", "hex_2.2_parametric.msh",
        "hex_2.2_parametric_1.msh", "hex_4.0_0.msh", "hex_4.0_1.msh", "hex_4.0_parts.msh", "hex_4.0_parts_1.msh"}) {
    SCOPED_TRACE(file);
    const GmshMesh mesh = read_seed(file);
    EXPECT_EQ(mesh.node_ids.size(), 12u);
    // Between partitions lie elements of their interface, which belong to no group.
    EXPECT_EQ(mesh.element_count(), wanted.element_count() + (std::string(file).find("parts") < 20 ? 3 : 0));
    for (const auto& group : wanted.groups) {
      EXPECT_EQ(elements_of(mesh, group.dimension, group.tag), elements_of(wanted, group.dimension, group.tag));
      // Version 1 has no names.
      const auto same = [&](const auto& g) {
        return g.dimension == group.dimension && g.tag == group.tag &&
               g.name == (std::string(file) == "hex_1.msh" ? "" : group.name);
      };
      EXPECT_EQ(std::count_if(mesh.groups.begin(), mesh.groups.end(), same), 1) << group.name;
    }
  }
}

TEST(GmshVersions, Version1HasTagsWithoutNames) {
  const GmshMesh mesh = read(gmsh_bytes(two_cubes(), GmshVariant::text1));
  EXPECT_EQ(mesh.node_ids, (std::vector<Id>{70, 3, 12, 41, 5, 900, 8, 77, 21, 2, 13, 64}));
  EXPECT_EQ(batch(mesh, "hex8").ids, (std::vector<Id>{11, 5}));
  EXPECT_EQ(label(mesh, "hex8"), "volume 8");
  EXPECT_EQ(label(mesh, "quad4"), "surface 3");
  EXPECT_EQ(label(mesh, "point"), "point 1");
  // A comment in front, or the version told in a header.
  const std::string text = gmsh_bytes(two_cubes(), GmshVariant::text1);
  EXPECT_EQ(read("$Comment\nmade long ago\n$EndComment\n" + text).element_count(), 5);
  EXPECT_EQ(read("$MeshFormat\n1.0 0 8\n$EndMeshFormat\n" + text).element_count(), 5);
}

TEST(GmshVersions, Version20NamesTagsOfAnyDimension) {
  for (const GmshVariant variant : {GmshVariant::text20, GmshVariant::binary20}) {
    const GmshMesh mesh = read(gmsh_bytes(two_cubes(), variant));
    EXPECT_EQ(label(mesh, "hex8"), "body");
    EXPECT_EQ(label(mesh, "quad4"), "left side");
    EXPECT_EQ(label(mesh, "line2"), "curve 2");
    EXPECT_EQ(label(mesh, "point"), "tip");
    ASSERT_EQ(mesh.groups.size(), 4u);
  }
  // One tag in two dimensions: both have the name.
  GmshSample sample = two_cubes();
  sample.physical[{2, 9}] = {8};
  sample.names = {{{3, 8}, "body"}};
  const GmshMesh mesh = read(gmsh_bytes(sample, GmshVariant::text20));
  EXPECT_EQ(label(mesh, "hex8"), "body");
  EXPECT_EQ(label(mesh, "quad4"), "body");
  EXPECT_EQ(label(mesh, "point"), "point 1");
}

TEST(GmshVersions, ErrorsNameTheLine) {
  const auto wrong = [](const std::string& text, std::initializer_list<std::string> pieces) {
    expect_error(ErrorCode::bad_input, pieces, [&] { read(text); });
  };
  const std::string nodes = "$NOD\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n$ENDNOD\n";
  wrong("$NOD\n1\n1 0 0\n$ENDNOD\n", {"part.msh:3", "line ends where a finite number"});
  wrong(nodes, {"no section $ELM"});
  wrong("$ELM\n1\n9 15 0 1 1 1\n$ENDELM\n", {"no section $NOD"});
  wrong(nodes + "$ELM\n1\n9 4 0 1 5 1 2 3 4 4\n$ENDELM\n", {"part.msh:10", "element 9 (tet4) with 5 nodes"});
  wrong(nodes + "$ELM\n1\n9 4 0 1 4 1 2 3\n$ENDELM\n", {"part.msh:10", "line ends where an integer"});
  wrong(nodes + "$ELM\n1\n9 7 0 1 5 1 2 3 4 4\n$ENDELM\n", {"part.msh:10", "pyramid"});
  wrong(nodes + "$ELM\n2\n9 4 0 1 4 1 2 3 4\n$ENDELM\n", {"part.msh:11", "'$ENDELM' is found where an integer"});
  wrong("$MeshFormat\n1 1 8\n", {"part.msh:2", "version 1 of the format has no binary files"});
  wrong("$Comments\nnothing\n$EndComments\n*NODE\n", {"part.msh:4", "not a Gmsh mesh", "$NOD"});
  const std::string text = gmsh_bytes(two_cubes(), GmshVariant::text40);
  const auto with = [&](const std::string& piece, const std::string& other) {
    std::string changed = text;
    return changed.replace(text.find(piece), piece.size(), other);
  };
  wrong(with("$Nodes\n2 12", "$Nodes\n2 13"), {"blocks of 12 nodes in total", "declares 13"});
  wrong(with("\n1 3 0 6", "\n1 5 0 6"), {"part.msh:20", "dimension 5"});
  wrong(with("\n1 3 0 6", "\n1 3 0 14"), {"part.msh:20", "block of 14 nodes, where 12 are left"});
  wrong(with("\n4 0 15 1", "\n4 2 15 1"), {"part.msh:37", "point in an entity of dimension 2"});
}

}  // namespace
}  // namespace voussoir
