// `voussoir mesh` as a user meets it; what the models are is tested with the framework.

#include <gtest/gtest.h>

#include <filesystem>

#include "apps/program_run.hpp"

namespace voussoir::testing {
namespace {

RunSettings in(const std::filesystem::path& folder) {
  RunSettings settings;
  settings.folder = folder;
  return settings;
}

TEST(Mesh, WritesDecksAndMeshesByTheirEnding) {
  const auto folder = fresh_folder("mesh_files");
  const Outcome deck = run_program({"mesh", "box", "beam.inp", "--type", "hex20", "--size", "0.5"}, in(folder));
  EXPECT_EQ(deck.code, 0) << deck.error;
  EXPECT_TRUE(contains(deck.out, "beam.inp: 104 nodes, 8 elements (solid.hex20), 312 unknowns")) << deck.out;
  EXPECT_TRUE(contains(deck.out, "voussoir run beam.inp"));
  EXPECT_TRUE(contains(read_text(folder / "beam.inp"), "TYPE=C3D20,"));

  const Outcome mesh = run_program({"mesh", "pump", "pump.msh", "--dofs", "8000", "--format", "2.2"}, in(folder));
  EXPECT_EQ(mesh.code, 0) << mesh.error;
  EXPECT_TRUE(contains(read_text(folder / "pump.msh"), "$MeshFormat\n2.2 0 8\n"));
  EXPECT_TRUE(contains(read_text(folder / "pump.msh"), "\"feet\""));
  EXPECT_EQ(files_in(folder), (std::vector<std::string>{"beam.inp", "pump.msh"}));
}

TEST(Mesh, WritesDecksThatRun) {
  const auto folder = fresh_folder("mesh_runs");
  const std::vector<std::vector<std::string>> models = {
      {"box", "box.inp", "--size", "0.25"},
      {"cylinder", "tube.inp", "--inner-radius", "0.3", "--type", "hex20.reduced", "--size", "0.3"},
      {"cylinder", "bar.inp", "--type", "wedge6", "--size", "0.3"},
      {"plate", "plate.inp", "--size", "0.1"},
      {"plate", "thick.inp", "--type", "tet10", "--whole", "--thickness", "0.1", "--size", "0.15"},
      {"pump", "pump.inp", "--dofs", "8000"}};
  for (const auto& model : models) {
    std::vector<std::string> arguments{"mesh"};
    arguments.insert(arguments.end(), model.begin(), model.end());
    const Outcome mesh = run_program(arguments, in(folder));
    ASSERT_EQ(mesh.code, 0) << model[1] << mesh.error;
    const Outcome run = run_program({"run", model[1]}, in(folder));
    EXPECT_EQ(run.code, 0) << model[1] << run.out << run.error;
  }
}

TEST(Mesh, RefusesBeforeItWorks) {
  const auto folder = fresh_folder("mesh_refused");
  write_text(folder / "there.inp", "mine");
  const Outcome there = run_program({"mesh", "box", "there.inp"}, in(folder));
  EXPECT_EQ(there.code, 5);
  EXPECT_TRUE(contains(there.error, "there.inp") && contains(there.error, "--force")) << there.error;
  EXPECT_EQ(read_text(folder / "there.inp"), "mine");
  EXPECT_EQ(run_program({"mesh", "box", "there.inp", "--force"}, in(folder)).code, 0);
  EXPECT_TRUE(contains(read_text(folder / "there.inp"), "*NODE"));

  const Outcome ending = run_program({"mesh", "box", "box.stl"}, in(folder));
  EXPECT_EQ(ending.code, 1);
  EXPECT_TRUE(contains(ending.error, ".inp") && contains(ending.error, ".msh")) << ending.error;
  const Outcome type = run_program({"mesh", "pump", "pump.inp", "--type", "hexa8"}, in(folder));
  EXPECT_EQ(type.code, 2);
  EXPECT_TRUE(contains(type.error, "hex8")) << type.error;
  const Outcome wedges = run_program({"mesh", "pump", "pump.inp", "--type", "wedge15"}, in(folder));
  EXPECT_EQ(wedges.code, 2);
  EXPECT_TRUE(contains(wedges.error, "no elements 'wedge15' for this shape")) << wedges.error;
  for (const std::vector<std::string>& wrong : {std::vector<std::string>{"mesh"},
                                                {"mesh", "ball", "b.inp"},
                                                {"mesh", "box"},
                                                {"mesh", "box", "b.inp", "--size", "0"},
                                                {"mesh", "box", "b.inp", "--size", "1", "--dofs", "10"},
                                                {"mesh", "box", "b.inp", "--dofs", "-5"},
                                                {"mesh", "box", "b.msh", "--format", "5"}})
    EXPECT_EQ(run_program(wrong, in(folder)).code, 2) << wrong.back();
  EXPECT_EQ(files_in(folder), (std::vector<std::string>{"there.inp"}));
}

}  // namespace
}  // namespace voussoir::testing
