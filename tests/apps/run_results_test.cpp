// What `voussoir run` shows and writes beyond its table: pictures, points, paths, supports, errors, units.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "program_run.hpp"

namespace voussoir::testing {
namespace {

using Json = nlohmann::json;

class RunResults : public ::testing::Test {
 protected:
  explicit RunResults()
      : folder_(
            fresh_folder(std::string("results_") + ::testing::UnitTest::GetInstance()->current_test_info()->name())) {
    write_text(folder_ / "bar.inp", cantilever_deck(10, 1, 1, {25.0, 50.0}));
  }
  Outcome run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "run");
    RunSettings settings;
    settings.folder = folder_;
    return run_program(arguments, settings);
  }
  bool exists(const char* name) const { return std::filesystem::exists(folder_ / name); }
  std::filesystem::path folder_;
};

TEST_F(RunResults, TheTableHasErrorsAndReactionsOfEachSupport) {
  const Outcome run = this->run({"bar.inp", "--no-files"});
  ASSERT_EQ(run.code, 0) << run.error;
  EXPECT_TRUE(contains(run.out, "est. error")) << run.out;
  EXPECT_TRUE(contains(run.out, " %")) << run.out;
  EXPECT_TRUE(contains(run.out, "reactions by support")) << run.out;
  EXPECT_TRUE(contains(run.out, "moments about")) << run.out;
  EXPECT_TRUE(contains(run.out, "mean position of the restrained nodes")) << run.out;
}

TEST_F(RunResults, PicturesAreDrawnWhereverTheOptionStands) {
  ASSERT_EQ(run({"bar.inp", "--picture"}).code, 0);
  EXPECT_TRUE(exists("bar.png"));
  ASSERT_EQ(run({"--picture", "bar.inp", "--output", "a"}).code, 0) << "the file is no word of --picture";
  EXPECT_TRUE(exists("a/bar.png"));
  const Outcome each = run({"bar.inp", "--picture", "each", "--output", "b"});
  ASSERT_EQ(each.code, 0) << each.error;
  EXPECT_TRUE(exists("b/bar_step1.png") && exists("b/bar_step2.png"));
  EXPECT_TRUE(contains(each.out, "bar_step2.png")) << each.out;
  ASSERT_EQ(run({"bar.inp", "--picture-field", "displacement", "--output", "c"}).code, 0);
  EXPECT_TRUE(exists("c/bar.png")) << "naming a field asks for a picture";
  const Outcome wrong = run({"bar.inp", "--picture-field", "misses", "--output", "d"});
  EXPECT_EQ(wrong.code, 1);
  EXPECT_TRUE(contains(wrong.error, "misses") && contains(wrong.error, "mises")) << wrong.error;
  EXPECT_EQ(run({"--picture"}).code, 2) << "a file is still needed";
  EXPECT_EQ(run({"bar.inp", "--picture", "--no-files", "--output", "e"}).code, 0);
  EXPECT_FALSE(exists("e/bar.png"));
}

TEST_F(RunResults, PointsAndPaths) {
  const Outcome run = this->run({"bar.inp", "--point", "tip=10,0.5,0.5", "--point", "0,0,0", "--path",
                                 "A=0,0.5,0.5:10,0.5,0.5:11", "--units", "N,mm,MPa"});
  ASSERT_EQ(run.code, 0) << run.error;
  EXPECT_TRUE(contains(run.out, "at points") && contains(run.out, "tip") && contains(run.out, "P2")) << run.out;
  EXPECT_TRUE(contains(run.out, "mises [MPa]") && contains(run.out, "displacement [mm]") &&
              contains(run.out, "force x [N]"))
      << run.out;
  for (const char* name :
       {"bar_step1_points.csv", "bar_step2_points.csv", "bar_step1_path_A.csv", "bar_step1_path_A.svg"})
    EXPECT_TRUE(exists(name)) << name;
  const Json json = Json::parse(read_text(folder_ / "bar.results.json"));
  EXPECT_EQ(json["units"]["stress"], "MPa");
  // u = F l / (E A) of the free end, and a little less for the clamped end.
  EXPECT_NEAR(json["steps"][0]["points"][0]["values"]["ux"].get<double>(), 4.762e-3, 0.02 * 4.762e-3);
  const Outcome outside = this->run({"bar.inp", "--point", "-3,0.5,0.5", "--force"});
  EXPECT_EQ(outside.code, 1);
  EXPECT_TRUE(contains(outside.error, "--point -3,0.5,0.5") && contains(outside.error, "3 away")) << outside.error;
  for (const std::vector<std::string>& wrong : std::vector<std::vector<std::string>>{{"--point", "1"},
                                                                                     {"--point", "1,2,x"},
                                                                                     {"--point", "1,2,3,4"},
                                                                                     {"--point", "=1,2,3"},
                                                                                     {"--point", "nan,0,0"},
                                                                                     {"--path", "0,0,0"},
                                                                                     {"--path", "0,0,0:1,0,0:1"},
                                                                                     {"--path", "0,0,0:1,0,0:2.5"},
                                                                                     {"--path", "0,0,0:1,0,0:5:6"},
                                                                                     {"--units", ""},
                                                                                     {"--units", "a,b,c,d,e,f"}}) {
    std::vector<std::string> arguments{"bar.inp", "--force"};
    arguments.insert(arguments.end(), wrong.begin(), wrong.end());
    EXPECT_EQ(this->run(arguments).code, 2) << wrong[0] << " " << wrong[1];
  }
  const Outcome twice = this->run({"bar.inp", "--force", "--point", "A=0,0,0", "--point", "A=1,0,0"});
  EXPECT_EQ(twice.code, 1);
  EXPECT_TRUE(contains(twice.error, "'A'")) << twice.error;
}

TEST_F(RunResults, JobFilesHavePointsPathsAndUnits) {
  const std::filesystem::path examples = std::filesystem::path(VSR_TEST_SOURCE_DIR) / "docs/examples";
  std::filesystem::copy(examples / "bracket.msh", folder_ / "bracket.msh");
  std::string text = read_text(examples / "bracket.json");
  const Outcome run = this->run({(examples / "bracket.json").string(), "--output", "out", "--picture"});
  ASSERT_EQ(run.code, 0) << run.error;
  EXPECT_TRUE(exists("out/bracket.png"));
  const Json json = Json::parse(read_text(folder_ / "out/bracket.results.json"));
  EXPECT_TRUE(json.contains("units"));
  EXPECT_FALSE(json["steps"][0]["points"].empty());
}

}  // namespace
}  // namespace voussoir::testing
