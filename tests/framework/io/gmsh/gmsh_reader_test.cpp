#include <voussoir/framework/io/gmsh/gmsh_reader.hpp>

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

#include <support/expect_error.hpp>
#include <support/gmsh_text.hpp>
#include <voussoir/framework/domain/shape_topology.hpp>
#include <voussoir/framework/io/gmsh/gmsh_writer.hpp>
#include <voussoir/framework/mesh/structured_mesh.hpp>

namespace voussoir {
namespace {

using testing::all_gmsh_variants;
using testing::expect_error;
using testing::gmsh_bytes;
using testing::GmshSample;
using testing::GmshVariant;
using testing::two_cubes;

GmshMesh read(const std::string& bytes) { return read_gmsh_bytes(bytes, "part.msh"); }

const GmshMesh::Batch& batch(const GmshMesh& mesh, const std::string& shape) {
  for (const auto& b : mesh.batches)
    if (b.shape == shape) return b;
  throw std::runtime_error("no batch of " + shape);
}

std::string labels(const GmshMesh& mesh, const GmshMesh::Batch& b) {
  std::string text;
  for (const std::int32_t g : b.groups) text += (text.empty() ? "" : "|") + mesh.label(mesh.groups[g]);
  return text;
}

/// Replaces a piece of a text that must be there.
std::string with(std::string text, const std::string& piece, const std::string& other) {
  const std::size_t at = text.find(piece);
  EXPECT_NE(at, std::string::npos) << piece;
  return text.replace(at, piece.size(), other);
}

const std::string small_22 =
    "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n"
    "$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n$EndNodes\n"
    "$Elements\n1\n9 4 2 0 1 1 2 3 4\n$EndElements\n";
const std::string small_41 =
    "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n"
    "$Entities\n0 0 0 1\n1 0 0 0 1 1 1 1 5 0\n$EndEntities\n"
    "$Nodes\n1 4 1 4\n3 1 0 4\n1\n2\n3\n4\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n$EndNodes\n"
    "$Elements\n1 1 9 9\n3 1 4 1\n9 1 2 3 4\n$EndElements\n";

TEST(GmshReader, EveryVariantOfTheFormatGivesTheSameMesh) {
  for (const GmshVariant variant : all_gmsh_variants) {
    SCOPED_TRACE(static_cast<int>(variant));
    const GmshMesh mesh = read(gmsh_bytes(two_cubes(), variant));
    EXPECT_EQ(mesh.node_ids, (std::vector<Id>{70, 3, 12, 41, 5, 900, 8, 77, 21, 2, 13, 64}));
    ASSERT_EQ(mesh.coordinates.size(), 36u);
    EXPECT_EQ(mesh.coordinates[3 * 11], 2.0);
    EXPECT_EQ(mesh.coordinates[3 * 11 + 1], 0.5);
    EXPECT_EQ(mesh.coordinates[3 * 11 + 2], 0.25);
    EXPECT_EQ(mesh.element_count(), 5);
    const auto& cubes = batch(mesh, "hex8");
    EXPECT_EQ(cubes.ids, (std::vector<Id>{11, 5}));
    EXPECT_EQ(cubes.nodes, (std::vector<Id>{70, 3, 5, 41, 8, 77, 13, 2, 3, 12, 900, 5, 77, 21, 64, 13}));
    EXPECT_EQ(labels(mesh, cubes), "body");
    EXPECT_EQ(cubes.dimension, 3);
    EXPECT_EQ(labels(mesh, batch(mesh, "quad4")), "left side");
    EXPECT_EQ(labels(mesh, batch(mesh, "line2")), "curve 2");  // a group that has no name
    EXPECT_EQ(labels(mesh, batch(mesh, "point")), "tip");
    EXPECT_EQ(batch(mesh, "point").nodes, (std::vector<Id>{64}));
    ASSERT_EQ(mesh.groups.size(), 4u);
    EXPECT_EQ(mesh.groups[3].tag, 8);
  }
}

TEST(GmshReader, ElementsWithoutGroupAreReadToo) {
  GmshSample sample = two_cubes();
  sample.physical.clear();
  sample.names.clear();
  for (const GmshVariant variant : all_gmsh_variants) {
    const GmshMesh mesh = read(gmsh_bytes(sample, variant));
    EXPECT_EQ(mesh.element_count(), 5);
    EXPECT_EQ(labels(mesh, batch(mesh, "hex8")), "volumes without group");
    EXPECT_EQ(batch(mesh, "hex8").ids.size(), 2u);
  }
}

TEST(GmshReader, AnElementMayBelongToSeveralGroups) {
  GmshSample sample = two_cubes();
  sample.physical[{3, 2}] = {8, -9};  // the sign is about normals
  sample.names[{3, 9}] = "right";
  const GmshMesh mesh = read(gmsh_bytes(sample, GmshVariant::text41));
  ASSERT_EQ(mesh.batches.size(), 5u);
  for (const auto& b : mesh.batches)
    if (b.shape == "hex8") {
      EXPECT_EQ(labels(mesh, b), b.ids.front() == 5 ? "body|right" : "body");
    }
}

TEST(GmshReader, MiddleNodesAreTheMiddlesOfOurEdges) {
  // One element of each quadratic shape whose nodes lie where Gmsh's manual draws them, by its lists of edges.
  struct Case {
    int type;
    const char* shape;
    std::vector<std::array<int, 2>> edges;
    std::vector<std::vector<int>> faces = {};  // corners of faces (and of the whole) that have a node in the middle
  };
  const std::vector<Case> cases = {
      {8, "line3", {{0, 1}}},
      {9, "tri6", {{0, 1}, {1, 2}, {2, 0}}},
      {16, "quad8", {{0, 1}, {1, 2}, {2, 3}, {3, 0}}},
      {11, "tet10", {{0, 1}, {1, 2}, {2, 0}, {3, 0}, {3, 2}, {3, 1}}},
      {18, "wedge15", {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 4}, {2, 5}, {3, 4}, {3, 5}, {4, 5}}},
      {17, "hex20", {{0, 1}, {0, 3}, {0, 4}, {1, 2}, {1, 5}, {2, 3}, {2, 6}, {3, 7}, {4, 5}, {4, 7}, {5, 6}, {6, 7}}},
      {10, "quad9", {{0, 1}, {1, 2}, {2, 3}, {3, 0}}, {{0, 1, 2, 3}}},
      {13,
       "wedge18",
       {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 4}, {2, 5}, {3, 4}, {3, 5}, {4, 5}},
       {{0, 1, 4, 3}, {0, 3, 5, 2}, {1, 2, 5, 4}}},
      {12,
       "hex27",
       {{0, 1}, {0, 3}, {0, 4}, {1, 2}, {1, 5}, {2, 3}, {2, 6}, {3, 7}, {4, 5}, {4, 7}, {5, 6}, {6, 7}},
       {{0, 3, 2, 1}, {0, 1, 5, 4}, {0, 4, 7, 3}, {1, 2, 6, 5}, {2, 3, 7, 6}, {4, 5, 6, 7}, {0, 1, 2, 3, 4, 5, 6, 7}}}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.shape);
    const ShapeTopology& topology = shape_topology(c.shape);
    GmshSample sample;
    GmshSample::Element element{1, c.type, topology.dim, 1, {}};
    const auto add = [&](const std::array<double, 3>& x) {
      sample.nodes.push_back({static_cast<std::int64_t>(sample.nodes.size() + 1), x});
      element.nodes.push_back(static_cast<std::int64_t>(sample.nodes.size()));
    };
    for (int i = 0; i < topology.corners; ++i) add(topology.reference_nodes[i]);
    for (const auto& [a, b] : c.edges) {
      std::array<double, 3> middle;
      for (int k = 0; k < 3; ++k) middle[k] = (sample.nodes[a].x[k] + sample.nodes[b].x[k]) / 2;
      add(middle);
    }
    for (const auto& corners : c.faces) {
      std::array<double, 3> middle{};
      for (const int i : corners)
        for (int k = 0; k < 3; ++k) middle[k] += sample.nodes[i].x[k] / static_cast<double>(corners.size());
      add(middle);
    }
    sample.elements.push_back(element);
    for (const GmshVariant variant : all_gmsh_variants) {
      const GmshMesh mesh = read(gmsh_bytes(sample, variant));
      ASSERT_EQ(mesh.batches.size(), 1u);
      EXPECT_EQ(mesh.batches[0].shape, c.shape);
      ASSERT_EQ(mesh.batches[0].nodes.size(), static_cast<std::size_t>(topology.nodes));
      for (const auto& edge : topology.edges)
        for (int k = 0; k < 3; ++k) {
          const auto x = [&](int i) { return mesh.coordinates[3 * (mesh.batches[0].nodes[edge[i]] - 1) + k]; };
          EXPECT_EQ(x(2), (x(0) + x(1)) / 2);
        }
      for (int i = 0; i < topology.nodes; ++i)
        for (int k = 0; k < 3; ++k)
          EXPECT_NEAR(mesh.coordinates[3 * (mesh.batches[0].nodes[i] - 1) + k], topology.reference_nodes[i][k], 1e-15)
              << i;
    }
  }
}

TEST(GmshReader, PartitionsKeepTheGroupsOfWhatWasCut) {
  const std::string text = with(small_41, "$Nodes",
                                "$PartitionedEntities\n2 1\n3 1\n0 0 0 1\n7 3 1 1 2 0 0 0 1 1 1 1 5 0\n"
                                "$EndPartitionedEntities\n$Nodes");
  const GmshMesh mesh = read(with(text, "\n3 1 4 1\n", "\n3 7 4 1\n"));
  EXPECT_EQ(labels(mesh, batch(mesh, "tet4")), "volume 5");
}

TEST(GmshReader, LinesMayEndAsOnWindowsAndSectionsBePassedOver) {
  std::string text = small_22;
  for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos; at += 2) text.replace(at, 1, "\r\n");
  EXPECT_EQ(read(text).element_count(), 1);
  EXPECT_EQ(read(with(small_22, "$Elements", "$Comments\n$Nodes 1 2 3\n$EndComments\n\n$Elements")).element_count(), 1);
  EXPECT_EQ(read(with(small_22, "1 0 0 0\n", "1 +0 -0.0e0 1e-400\n")).coordinates[2], 0.0);
}

TEST(GmshReader, ReadsAFileAndTellsHowFarItIs) {
  const auto path = std::filesystem::temp_directory_path() / ("voussoir_" + std::to_string(::getpid()) + ".msh");
  {
    std::ofstream file(path);
    file << "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n100000\n";
    for (int i = 1; i <= 100000; ++i) file << i << " " << i << " 0 0\n";
    file << "$EndNodes\n$Elements\n1\n1 1 0 1 100000\n$EndElements\n";
  }
  double last = 0;
  int calls = 0;
  const GmshMesh mesh = read_gmsh(path, [&](double fraction) {
    EXPECT_GT(fraction, last);
    last = fraction;
    ++calls;
    return true;
  });
  EXPECT_EQ(mesh.coordinates[3 * 99999], 100000.0);
  EXPECT_GE(calls, 3);
  EXPECT_LE(last, 1.0);
  expect_error(ErrorCode::cancelled, {"stopped"}, [&] { read_gmsh(path, [](double) { return false; }); });
  std::filesystem::remove(path);
  expect_error(ErrorCode::io, {path.string(), "cannot be opened"}, [&] { read_gmsh(path); });
  expect_error(ErrorCode::io, {"folder"}, [&] { read_gmsh(path.parent_path()); });
}

/// A box with more nodes and elements than one thread reads alone, as a file.
std::string large_file(GmshFormat format) {
  Domain domain;
  BoxMesh box;
  box.cells = {30, 30, 20};
  add_box_mesh(domain, box);
  const auto path = std::filesystem::temp_directory_path() / ("voussoir_large_" + std::to_string(::getpid()) + ".msh");
  write_gmsh(domain, path, {.overwrite = true, .format = format});
  std::ifstream file(path, std::ios::binary);
  std::stringstream bytes;
  bytes << file.rdbuf();
  file.close();
  std::filesystem::remove(path);
  return bytes.str();
}

TEST(GmshReader, ThreadsReadTextAsOneReadsBinary) {
  const GmshMesh binary = read(large_file(GmshFormat::binary_4_1));
  ASSERT_GT(binary.node_ids.size(), 18000u);
  for (const GmshFormat format : {GmshFormat::ascii_4_1, GmshFormat::ascii_2_2}) {
    const GmshMesh text = read(large_file(format));
    EXPECT_EQ(text.node_ids, binary.node_ids);
    EXPECT_EQ(text.coordinates, binary.coordinates);
    ASSERT_EQ(batch(text, "hex8").ids.size(), 18000u);
    EXPECT_EQ(batch(text, "hex8").ids, batch(binary, "hex8").ids);
    EXPECT_EQ(batch(text, "hex8").nodes, batch(binary, "hex8").nodes);
    EXPECT_EQ(batch(text, "quad4").nodes, batch(binary, "quad4").nodes);
  }
}

TEST(GmshReader, ErrorsOfLargeSectionsNameTheirLine) {
  const std::string good = large_file(GmshFormat::ascii_4_1);
  // The line in the middle of the volume's elements, and one in the middle of the coordinates.
  const auto damaged = [&](const std::string& section, double part, const std::string& line) {
    const std::size_t begin = good.find("$" + section), end = good.find("$End" + section);
    const std::size_t at = good.find('\n', begin + static_cast<std::size_t>(part * double(end - begin))) + 1;
    const auto number = 1 + std::count(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(at), '\n');
    std::string text = good;
    text.replace(at, text.find('\n', at) - at, line);
    return std::pair{text, "part.msh:" + std::to_string(number)};
  };
  for (const auto& [section, part] : {std::pair{"Nodes", 0.7}, {"Elements", 0.6}})
    for (const char* line : {"1 2 x", "1 2", "1 2 3 4 5 6 7 8 9 10"}) {
      const auto [text, place] = damaged(section, part, line);
      expect_error(ErrorCode::bad_input, {place + ":"}, [&] { read(text); });
    }
  // An empty line is none.
  const auto [text, place] = damaged("Elements", 0.6, "");
  EXPECT_THROW(read(text), Error);  // an element too few
  std::string wider = good;
  wider.insert(wider.find('\n', wider.find("$Elements") + (good.size() - good.find("$Elements")) / 2), "\n \n");
  EXPECT_EQ(batch(read(wider), "hex8").nodes, batch(read(good), "hex8").nodes);
}

TEST(GmshReader, SaysWhatIsWrongWithTheFormat) {
  const auto wrong = [](const std::string& text, std::initializer_list<std::string> pieces) {
    expect_error(ErrorCode::bad_input, pieces, [&] { read(text); });
  };
  wrong("", {"part.msh:1", "not a Gmsh mesh", "$MeshFormat"});
  wrong("*HEADING\n", {"not a Gmsh mesh"});
  wrong("$MeshFormat\n3 0 8\n", {"part.msh:2", "version 3 of the format", "Mesh.MshFileVersion"});
  wrong("$MeshFormat\n2.2 3 8\n", {"part.msh:2", "0 (text) or 1 (binary), not 3"});
  wrong("$MeshFormat\n2.2 0 4\n", {"part.msh:2", "must be 8", "not 4"});
  wrong("$MeshFormat\n2.2 1 8\n\1", {"byte 20", "ends after its first line"});
  wrong("$MeshFormat\n2.2 1 8\n\1\2\3\4", {"byte 20", "byte order"});
  wrong("$MeshFormat\n2.2 0 8\n", {"part.msh:3", "ends before $EndMeshFormat"});
  wrong(with(small_22, "$Nodes", "Nodes"), {"part.msh:4", "'Nodes'", "where a section should begin"});
  wrong(with(small_22, "$Nodes", "$Foo\n$Nodes"), {"part.msh:4", "$Foo does not end with $EndFoo"});
  wrong(with(small_22, "$Elements", "$Nodes\n0\n$EndNodes\n$Elements"), {"part.msh:11", "second section $Nodes"});
  wrong("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n", {"no section $Nodes"});
  wrong(small_22.substr(0, small_22.find("$Elements")), {"no section $Elements", "not meshed"});
  wrong(with(small_22, "1\n9 4 2 0 1 1 2 3 4\n", "0\n"), {"no elements", "Mesh.SaveAll"});
  wrong(with(small_41, "$EndElements\n", "$EndElements\n$Entities\n0 0 0 0\n$EndEntities\n"),
        {"part.msh:25", "$Entities follows $Elements"});
  wrong(with(small_22, "$Nodes", "$PhysicalNames\n1\n2 1 left\n$EndPhysicalNames\n$Nodes"),
        {"part.msh:6", "double quotes"});
}

TEST(GmshReader, SaysWhatIsWrongWithNumbers) {
  const auto wrong = [](const std::string& text, std::initializer_list<std::string> pieces) {
    expect_error(ErrorCode::bad_input, pieces, [&] { read(text); });
  };
  wrong(with(small_22, "2 1 0 0", "2 1 0"), {"part.msh:7", "line ends where a finite number"});
  wrong(with(small_22, "2 1 0 0", "2 1 0 0 0"), {"part.msh:7", "continues with '0'"});
  wrong(with(small_22, "2 1 0 0", "2 x 0 0"), {"part.msh:7", "'x' is found where a finite number"});
  wrong(with(small_22, "2 1 0 0", "2 nan 0 0"), {"part.msh:7", "'nan'"});
  wrong(with(small_22, "2 1 0 0", "2 1e999 0 0"), {"part.msh:7", "'1e999'"});
  wrong(with(small_22, "2 1 0 0", "2.5 1 0 0"), {"part.msh:7", "'2.5' is found where an integer"});
  wrong(with(small_22, "2 1 0 0", "12345678901234567890 1 0 0"), {"part.msh:7", "an integer"});
  wrong(with(small_22, "9 4 2 0 1 1 2 3 4", "9 4 2 0 1 1 2 3"), {"part.msh:13", "line ends where an integer"});
  wrong(with(small_22, "$Nodes\n4", "$Nodes\n3"), {"part.msh:9", "'4' is found where $EndNodes should"});
  wrong(with(small_22, "$Nodes\n4", "$Nodes\n5"), {"part.msh:10", "'$EndNodes' is found where an integer"});
  wrong(with(small_22, "$Nodes\n4", "$Nodes\n4000000000"), {"part.msh:6", "declares 4000000000 nodes", "truncated"});
  wrong(with(small_22, "$Nodes\n4", "$Nodes\n-4"), {"declares -4 nodes"});
  wrong(small_22.substr(0, small_22.find(" 3 4\n$EndE")), {"part.msh:13", "file ends where an integer", "truncated"});
  wrong(with(small_22, "9 4 2", "9 4 -2"), {"part.msh:13", "element with -2 tags"});
  wrong(with(small_22, "9 4 2 0", "9 4 2 4000000000"), {"part.msh:13", "physical group 4000000000"});
  wrong(with(small_41, "$Nodes\n1 4", "$Nodes\n1 5"), {"blocks of 4 nodes in total", "declares 5"});
  wrong(with(small_41, "3 1 0 4\n", "3 1 0 5\n"), {"block of 5 nodes, where 4 are left"});
  wrong(with(small_41, "3 1 0 4\n", "4 1 0 4\n"), {"dimension 4"});
  wrong(with(small_41, "$Elements\n1 1 9 9\n3 1 4 1", "$Elements\n1 2 9 9\n3 1 4 1"),
        {"blocks of 1 elements in total"});
  wrong(with(small_41, "3 1 4 1\n9", "3 1 4 2\n9"), {"block of 2 elements, where 1 are left"});
  wrong(with(small_41, "3 1 4 1\n9", "2 1 4 1\n9"), {"tet4 in an entity of dimension 2"});
  wrong(with(small_41, "0 0 0 1\n1 0", "0 0 0 1\n3000000000 0"), {"part.msh:6", "tag 3000000000 is too large"});
  wrong(with(small_41, "1 1 1 1 5 0", "1 1 1 900 5 0"), {"part.msh:6", "declares 900 physical groups"});
  expect_error(ErrorCode::not_found, {"part.msh", "element 9 (tet4)", "node 6"},
               [] { read(with(small_22, "1 2 3 4\n", "1 2 3 6\n")); });
  wrong(with(small_22, "2 1 0 0", "1 1 0 0"), {"node 1 occurs twice"});
  wrong(with(small_22, "2 1 0 0", "999999999999 1 0 0\n999999999999 1 0 0").replace(small_22.find("4\n1 0"), 1, "5"),
        {"node 999999999999 occurs twice"});
}

TEST(GmshReader, NamesShapesThatThereAreNoElementsFor) {
  const auto type = [](int number) { return with(small_22, "9 4 2", "9 " + std::to_string(number) + " 2"); };
  const auto wrong = [&](int number, std::initializer_list<std::string> pieces) {
    expect_error(ErrorCode::bad_input, pieces, [&] { read(type(number)); });
  };
  wrong(7, {"part.msh:13", "pyramid", "tetrahedra only"});
  wrong(21, {"element type 21", "Mesh.ElementOrder"});
  wrong(999, {"no element type 999", "corrupt"});
  wrong(-3, {"no element type"});
}

TEST(GmshReader, SaysWhereABinaryFileIsDamaged) {
  for (const GmshVariant variant : {GmshVariant::binary22, GmshVariant::binary41, GmshVariant::swapped41,
                                    GmshVariant::binary40, GmshVariant::binary20}) {
    const std::string bytes = gmsh_bytes(two_cubes(), variant);
    // Cut anywhere, the file is refused, and nothing is made up.
    for (std::size_t length = 0; length + 1 < bytes.find("$Periodic"); ++length)
      EXPECT_THROW(read(bytes.substr(0, length)), Error) << length;
    expect_error(ErrorCode::bad_input, {"part.msh, byte "},
                 [&] { read(bytes.substr(0, bytes.find("$EndNodes") - 9)); });
  }
  std::string bytes = gmsh_bytes(two_cubes(), GmshVariant::binary41);
  const std::size_t coordinate = bytes.find("$EndNodes") - 9;
  expect_error(ErrorCode::bad_input, {"byte " + std::to_string(coordinate - 8 - 16), "not a finite number"}, [&] {
    std::string damaged = bytes;
    const double infinite = std::numeric_limits<double>::infinity();
    std::memcpy(&damaged[coordinate - 8 - 16], &infinite, 8);
    read(damaged);
  });
  expect_error(ErrorCode::bad_input, {"too large to be a tag or a count"}, [&] {
    std::string damaged = bytes;
    for (int i = 0; i < 8; ++i) damaged[bytes.find("$Nodes") + 7 + i] = '\xff';
    read(damaged);
  });
  expect_error(ErrorCode::bad_input, {"in the middle of its numbers"},
               [&] { read(bytes.substr(0, bytes.find("$EndElements") - 4)); });
  const std::string old = gmsh_bytes(two_cubes(), GmshVariant::binary22);
  expect_error(ErrorCode::bad_input, {"a run of"}, [&] {
    std::string damaged = old;
    damaged[old.find("$Elements\n5\n") + 12 + 4] = 9;
    read(damaged);
  });
}

TEST(GmshReader, SurvivesRandomDamage) {
  // What comes back is a mesh whose elements have their nodes, or an Error; never a crash.
  std::uint32_t state = 1;
  const auto random = [&] { return state = state * 1664525u + 1013904223u, state >> 8; };
  int refused = 0;
  for (int round = 0; round < 6000; ++round) {
    std::string bytes = gmsh_bytes(two_cubes(), all_gmsh_variants[round % all_gmsh_variants.size()]);
    for (std::uint32_t k = 0; k <= random() % 4; ++k) {
      const std::size_t at = random() % bytes.size();
      if (random() % 3 == 0)
        bytes.erase(at, 1 + random() % 8);
      else
        bytes[at] = static_cast<char>(random() % 3 == 0 ? '0' + random() % 10 : random());
      if (bytes.empty()) break;
    }
    try {
      const GmshMesh mesh = read(bytes);
      for (const auto& b : mesh.batches) ASSERT_EQ(b.nodes.size(), b.ids.size() * b.nodes_per_element);
    } catch (const Error&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace voussoir
