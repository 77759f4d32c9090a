// `voussoir reduce` and job files with superelements, as a user runs them.

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "program_run.hpp"

namespace voussoir::testing {
namespace {

/// A bar of `cells` cubes along x from `from` on, as a Gmsh mesh of version 2.2 with the numbers of a bar from x = 0:
/// groups 'bar', 'left' and 'right'.
std::string bar_mesh(int from, int cells) {
  std::string nodes, elements;
  int count = 0, element = 0;
  const auto id = [](int x, int corner) { return 4 * x + corner + 1; };
  for (int x = from; x <= from + cells; ++x)
    for (int c = 0; c < 4; ++c, ++count)
      nodes += std::to_string(id(x, c)) + " " + std::to_string(x) + " " + std::to_string(c == 1 || c == 2) + " " +
               std::to_string(c >= 2) + "\n";
  const auto face = [&](int tag, int x) {
    elements += std::to_string(++element) + " 3 2 " + std::to_string(tag) + " 1";
    for (int c = 0; c < 4; ++c) elements += " " + std::to_string(id(x, c));
    elements += "\n";
  };
  face(2, from);
  face(3, from + cells);
  for (int x = from; x < from + cells; ++x) {
    elements += std::to_string(++element) + " 5 2 1 1";
    for (int c = 0; c < 4; ++c) elements += " " + std::to_string(id(x, c));
    for (int c = 0; c < 4; ++c) elements += " " + std::to_string(id(x + 1, c));
    elements += "\n";
  }
  return "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n3\n3 1 \"bar\"\n2 2 \"left\"\n2 3 \"right\"\n"
         "$EndPhysicalNames\n$Nodes\n" +
         std::to_string(count) + "\n" + nodes + "$EndNodes\n$Elements\n" + std::to_string(element) + "\n" + elements +
         "$EndElements\n";
}

std::string bar_job(const std::string& mesh, const std::string& rest) {
  return R"({"mesh": ")" + mesh +
         R"(", "materials": {"steel": {"young": 200000, "poisson": 0.3, "density": 8e-9}},
 "sections": [{"group": "bar", "physics": "solid", "material": "steel"}])" +
         rest + "}";
}

constexpr const char* steps =
    R"(, "steps": [{"name": "bend", "loads": {"push": 2, "weight": 1}}, {"name": "modes", "analysis": "frequency", "modes": 3}])";
constexpr const char* clamp = R"(, "supports": [{"group": "left", "all": 0}])";
constexpr const char* weight = R"({"name": "weight", "gravity": [0, 0, -9810]})";

struct Folder {
  explicit Folder(const std::string& name) : path(fresh_folder(name)) {
    settings.folder = path;
    write_text(path / "whole.msh", bar_mesh(0, 8));
    write_text(path / "root.msh", bar_mesh(0, 4));
    write_text(path / "tip.msh", bar_mesh(4, 4));
    write_text(
        path / "whole.json",
        bar_job("whole.msh",
                clamp + std::string(R"(, "loads": [{"name": "push", "group": "right", "traction": [0, 3, 1]}, )") +
                    weight + "]" + steps));
    write_text(path / "tip.json",
               bar_job("tip.msh", R"(, "loads": [{"name": "push", "group": "right", "traction": [0, 3, 1]}])"));
    write_text(
        path / "root.json",
        bar_job("root.msh", std::string(R"(, "superelements": [{"file": "tip.vsup", "name": "tip"}])") + clamp +
                                R"(, "loads": [{"name": "push", "superelement": "tip", "load_case": "step 1"}, )" +
                                weight + "]" + steps));
  }
  Outcome run(std::vector<std::string> arguments) const { return run_program(arguments, settings); }
  nlohmann::json results(const std::string& name) const {
    return nlohmann::json::parse(read_text(path / (name + ".results.json")));
  }
  std::filesystem::path path;
  RunSettings settings;
};

TEST(Reduce, AReducedTipGivesTheWholeBarsResults) {
  const Folder folder("reduce");
  const Outcome reduced =
      folder.run({"reduce", "tip.json", "--interface", "left", "--modes", "12", "--stresses", "-o", "tip.vsup"});
  ASSERT_EQ(reduced.code, 0) << reduced.error;
  EXPECT_TRUE(contains(reduced.out, "reduced to 4 nodes of 'left' and 12 modes")) << reduced.out;
  EXPECT_TRUE(contains(reduced.out, "Mass 3.2e-08")) << reduced.out;
  EXPECT_EQ(folder.run({"reduce", "tip.json", "--interface", "left", "-o", "tip.vsup"}).code, 5) << "replaced unasked";
  ASSERT_EQ(folder.run({"run", "whole.json", "--backend", "openmp"}).code, 0);
  const Outcome run = folder.run({"run", "root.json", "--backend", "openmp"});
  ASSERT_EQ(run.code, 0) << run.error;
  for (const char* file : {"root_step1_tip.vtu", "root_step2_mode_001_tip.vtu"})
    EXPECT_TRUE(std::filesystem::exists(folder.path / file)) << file;
  EXPECT_TRUE(contains(read_text(folder.path / "root_step1_tip.vtu").substr(0, 4000), "mises"));
  const auto whole = folder.results("whole")["steps"], root = folder.results("root")["steps"];
  for (const char* unknown : {"uy", "uz"})
    for (const char* sum : {"reaction_sum", "load_sum"}) {
      const double expected = whole[0][sum][unknown], found = root[0][sum][unknown];
      EXPECT_NEAR(found, expected, 1e-8 * std::abs(expected)) << sum << " " << unknown;
    }
  const double stress = whole[0]["extremes"]["mises"]["max"]["value"];
  EXPECT_NEAR(root[0]["extremes"]["mises"]["max"]["value"].get<double>(), stress, 1e-8 * stress);
  const auto frequency = [&](const std::string& name) {
    const std::string table = read_text(folder.path / (name + "_step2_modes.csv"));
    return std::stod(table.substr(table.find("\n1,") + 3));
  };
  EXPECT_NEAR(frequency("root"), frequency("whole"), 1e-6 * frequency("whole"));
}

TEST(Reduce, ErrorsNameWhatDoesNotFit) {
  const Folder folder("reduce_bad");
  const auto fails = [&](const std::vector<std::string>& arguments, const std::string& text) {
    const Outcome outcome = folder.run(arguments);
    EXPECT_NE(outcome.code, 0) << text;
    EXPECT_TRUE(contains(outcome.error, text)) << text << "\n" << outcome.error;
  };
  fails({"reduce", "tip.json", "--interface", "nowhere", "-o", "x.vsup"}, "nowhere");
  fails({"reduce", "tip.json", "--interface", "left"}, "--output");
  fails({"reduce", "whole.json", "--interface", "left", "-o", "x.vsup"}, "support on its interface");
  const std::string job = read_text(folder.path / "tip.json");
  fails({"reduce", "tip.json", "--interface", "left", "-o", "./tip.json", "--force"}, "this file is read");
  EXPECT_EQ(read_text(folder.path / "tip.json"), job);
  fails({"run", "root.json", "--backend", "openmp"}, "/superelements/0/file");
  ASSERT_EQ(folder.run({"reduce", "tip.json", "--interface", "left", "-o", "tip.vsup"}).code, 0);
  const std::string good = read_text(folder.path / "tip.vsup");
  std::string bad = good;
  bad[bad.size() - 100] = static_cast<char>(bad[bad.size() - 100] ^ 1);
  write_text(folder.path / "tip.vsup", bad);
  fails({"run", "root.json", "--backend", "openmp"}, "damaged");
  write_text(folder.path / "tip.vsup", good);
  write_text(folder.path / "root.msh", bar_mesh(0, 3));
  fails({"run", "root.json", "--backend", "openmp"}, "has no node 17");
  std::string moved = bar_mesh(0, 4);
  moved.replace(moved.find("\n17 4 0 0"), 9, "\n17 4 0 1e-3");
  write_text(folder.path / "root.msh", moved);
  fails({"run", "root.json", "--backend", "openmp"}, "node 17");
}

TEST(Reduce, StepsMustHaveTheSameSupports) {
  const Folder folder("reduce_supports");
  const auto job = [&](const std::string& second) {
    write_text(
        folder.path / "steps.json",
        bar_job("tip.msh",
                R"(, "supports": [{"name": "a", "group": "right", "ux": 0}, {"name": "b", "group": "right", "uy": 0}],
 "loads": [{"name": "push", "group": "bar", "gravity": [0, 0, 1]}],
 "steps": [{"name": "one", "loads": ["push"], "supports": ["a"]}, {"name": "two", "loads": ["push"], "supports": [)" +
                    second + "]}]"));
    return folder.run({"reduce", "steps.json", "--interface", "left", "-o", "steps.vsup", "--force"});
  };
  const Outcome same = job(R"("a")");
  EXPECT_EQ(same.code, 0) << same.error;
  const Outcome other = job(R"("a", "b")");
  EXPECT_EQ(other.code, 1) << other.error;
  EXPECT_TRUE(contains(other.error, "supports of step 'two' differ")) << other.error;
}

}  // namespace
}  // namespace voussoir::testing
