// `voussoir reduce` and job files with superelements, as a user runs them.

#include <gtest/gtest.h>

#include <cmath>

#include "reduced_bar.hpp"

namespace voussoir::testing {
namespace {

TEST(Reduce, AReducedTipGivesTheWholeBarsResults) {
  const ReducedBar folder("reduce");
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
  const ReducedBar folder("reduce_bad");
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
  const ReducedBar folder("reduce_supports");
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
