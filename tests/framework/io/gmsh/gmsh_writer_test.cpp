#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>

#include <voussoir/framework/io/gmsh/gmsh_reader.hpp>
#include <voussoir/framework/io/gmsh/gmsh_writer.hpp>
#include <voussoir/framework/mesh/sample_models.hpp>
#include <voussoir/framework/mesh/structured_mesh.hpp>

#include "support/expect_error.hpp"
#include "support/scratch_folder.hpp"

namespace voussoir {
namespace {

using testing::expect_error;
using testing::scratch_file;

class EveryFormatAndShape : public ::testing::TestWithParam<std::tuple<GmshFormat, const char*>> {};

TEST_P(EveryFormatAndShape, ReadsBackAsItWas) {
  const auto [format, type] = GetParam();
  BoxMesh box;
  box.type = type;
  box.cells = {3, 2, 2};
  box.distortion = 0.2;  // coordinates with all their digits
  Domain domain;
  add_box_mesh(domain, box);
  domain.add_node_set("corner", {1, 3});
  GmshWriteOptions options;
  options.format = format;
  const auto path = scratch_file("box.msh");
  write_gmsh(domain, path, options);

  const GmshMesh mesh = read_gmsh(path);
  ASSERT_EQ(mesh.node_ids.size(), static_cast<std::size_t>(domain.node_count()));
  EXPECT_TRUE(std::equal(mesh.coordinates.begin(), mesh.coordinates.end(), domain.coordinates().begin()));
  std::map<std::string, std::size_t> elements;
  Id largest = 0;
  for (const auto& batch : mesh.batches) {
    for (const std::int32_t g : batch.groups) elements[mesh.groups[g].name] += batch.ids.size();
    for (const Id id : batch.ids) largest = std::max(largest, id);
    if (mesh.groups[batch.groups[0]].name != "box") continue;
    const ElementBlock& block = domain.block("box");
    EXPECT_EQ(batch.shape, block.type().shape());
    ASSERT_EQ(batch.ids.size(), static_cast<std::size_t>(block.size()));
    for (std::int32_t e = 0; e < block.size(); ++e) {
      EXPECT_EQ(batch.ids[e], block.id(e));
      for (int i = 0; i < block.nodes_per_element(); ++i)
        ASSERT_EQ(batch.nodes[e * block.nodes_per_element() + i], domain.node_id(block.nodes(e)[i]));
    }
  }
  EXPECT_EQ(elements["xmin"], domain.surface("xmin").size());
  EXPECT_EQ(elements["ymax"], domain.surface("ymax").size());
  EXPECT_EQ(elements["corner"], 2u) << "a node set without a surface";
  std::size_t all = 0;
  for (const auto& [name, count] : elements) all += count;
  EXPECT_EQ(largest, static_cast<Id>(all)) << "elements on faces are numbered on";
}

INSTANTIATE_TEST_SUITE_P(
    Files, EveryFormatAndShape,
    ::testing::Combine(::testing::Values(GmshFormat::binary_4_1, GmshFormat::ascii_4_1, GmshFormat::ascii_2_2),
                       ::testing::Values("solid.hex8", "solid.hex20", "solid.tet4", "solid.tet10", "solid.wedge6",
                                         "solid.wedge15", "plane_stress.quad4", "plane_stress.quad8",
                                         "plane_stress.tri3", "plane_stress.tri6")),
    [](const auto& info) {
      std::string name = std::get<1>(info.param);
      name = name.substr(name.find('.') + 1);
      const GmshFormat format = std::get<0>(info.param);
      return name + (format == GmshFormat::binary_4_1 ? "Binary" : format == GmshFormat::ascii_4_1 ? "Text" : "Old");
    });

TEST(GmshWriter, WritesFacesWithTheirNormalsOutwards) {
  BoxModel model;
  model.fineness = {0.5, 0};
  Domain domain;
  add_box_model(domain, model);
  const auto path = scratch_file("faces.msh");
  write_gmsh(domain, path, {.overwrite = false, .format = GmshFormat::ascii_2_2});
  const GmshMesh mesh = read_gmsh(path);
  int faces = 0;
  for (const auto& batch : mesh.batches) {
    if (batch.dimension != 2 || mesh.groups[batch.groups[0]].name != "zmax") continue;
    for (std::size_t e = 0; e < batch.ids.size(); ++e, ++faces) {
      const auto at = [&](int i, int k) { return mesh.coordinates[3 * (batch.nodes[4 * e + i] - 1) + k]; };
      const double turn = (at(1, 0) - at(0, 0)) * (at(3, 1) - at(0, 1)) - (at(1, 1) - at(0, 1)) * (at(3, 0) - at(0, 0));
      EXPECT_GT(turn, 0) << "seen from above, against the clock";
    }
  }
  EXPECT_EQ(faces, 8);
}

TEST(GmshWriter, WritesTrussesAndSpringsAsLines) {
  Domain domain;
  domain.add_nodes({}, std::vector<double>{0, 0, 0, 1, 0, 0, 2, 0, 0});
  domain.add_block("bars", "truss").add(7, {1, 2});
  domain.add_block("springs", "spring").add(9, {2, 3});
  domain.add_block("lump", "mass").add(11, {3});
  const auto path = scratch_file("lines.msh");
  write_gmsh(domain, path, {.overwrite = false, .format = GmshFormat::ascii_4_1});
  const GmshMesh mesh = read_gmsh(path);
  std::map<std::string, std::string> shapes;
  for (const auto& batch : mesh.batches) shapes[mesh.groups[batch.groups[0]].name] = batch.shape;
  EXPECT_EQ(shapes["bars"], "line2");
  EXPECT_EQ(shapes["springs"], "line2");
  EXPECT_EQ(shapes["lump"], "point");
}

TEST(GmshWriter, ReplacesAFileOnlyIfItMay) {
  BoxModel model;
  Domain domain;
  add_box_model(domain, model);
  const auto path = scratch_file("twice.msh");
  write_gmsh(domain, path);
  expect_error(ErrorCode::io, {"twice.msh"}, [&] { write_gmsh(domain, path); });
  write_gmsh(domain, path, {.overwrite = true, .format = GmshFormat::ascii_4_1});
  EXPECT_EQ(read_gmsh(path).node_ids.size(), static_cast<std::size_t>(domain.node_count()));
}

TEST(GmshWriter, SaysWhatCannotBeWritten) {
  Domain empty;
  const auto path = scratch_file("empty.msh");
  expect_error(ErrorCode::bad_input, {"no elements"}, [&] { write_gmsh(empty, path); });
  EXPECT_FALSE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace voussoir
