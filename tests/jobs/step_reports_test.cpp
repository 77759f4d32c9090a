// What a job reports beyond its tables: reactions by support, error estimates, pictures, points, paths, units.

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "job_models.hpp"
#include "support/expect_error.hpp"
#include "support/vtu_file.hpp"

namespace voussoir {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using testing::expect_error;
using testing::heated_bar;
using testing::one_more_step;
using testing::plainly;
using testing::pulled_bar;
using testing::read_all;
using testing::run_and_write;

class StepReports : public testing::FolderTest {
 protected:
  /// Runs a job with all its files and gives results.json.
  Json run(Job& job, OutputOptions options) {
    ResultFiles files(job, std::move(options));
    run_and_write(job, files);
    notes_ = files.notes();
    return Json::parse(files.json());
  }
  std::vector<std::string> notes_;
};

const Json* support_named(const Json& step, const std::string& name) {
  for (const Json& s : step["supports"])
    if (s["name"] == name) return &s;
  return nullptr;
}

/// A cantilever of 4 × 1 × 1, clamped at x = 0, with a force down at its end.
Job cantilever(double force) {
  Job job = pulled_bar();
  Domain& domain = *job.domains[0];
  domain.clear_loads();
  domain.add_load_case("pull").traction("xmax", {0, 0, -force});
  auto clamp = std::make_shared<Supports>();
  for (const std::int32_t n : domain.node_set("xmin"))
    for (const char* u : {"ux", "uy", "uz"}) clamp->values.push_back({n, u, 0.0});
  job.steps[0].supports = clamp;
  return job;
}

TEST_F(StepReports, ReactionsBySupportHaveForcesAndMoments) {
  Job job = cantilever(3);
  Domain& domain = *job.domains[0];
  // A set that is held in part only is no support, one with the same nodes is listed once.
  std::vector<Id> same;
  for (const std::int32_t n : domain.node_set("xmin")) same.push_back(domain.node_id(n));
  domain.add_node_set("ymore", same);
  const Json json = run(job, here());
  const Json& step = json["steps"][0];
  ASSERT_EQ(step["supports"].size(), 1u) << step["supports"];
  const Json* wall = support_named(step, "xmin");
  ASSERT_TRUE(wall);
  EXPECT_EQ((*wall)["nodes"], 4);
  EXPECT_NEAR((*wall)["sum"]["uz"].get<double>(), 3, 1e-9);
  EXPECT_NEAR((*wall)["centre"][0].get<double>(), 0, 1e-12);
  EXPECT_NEAR((*wall)["centre"][1].get<double>(), 0.5, 1e-12);
  // Force times length: the wall turns the beam against its load, −3 · 4 about y.
  EXPECT_NEAR((*wall)["moment"][1].get<double>(), -12, 1e-8);
  EXPECT_NEAR((*wall)["moment"][0].get<double>(), 0, 1e-8);
  EXPECT_NEAR((*wall)["moment"][2].get<double>(), 0, 1e-8);
}

TEST_F(StepReports, SupportsOutsideOfSetsAreNodes) {
  Job job = pulled_bar();
  const Json json = run(job, here());
  const Json& supports = json["steps"][0]["supports"];
  // xmin, ymin and zmin are held, each in its direction, and share nodes.
  ASSERT_EQ(supports.size(), 3u) << supports;
  EXPECT_NEAR((*support_named(json["steps"][0], "xmin"))["sum"]["ux"].get<double>(), -10, 1e-9);

  Job single = cantilever(1);
  Domain& domain = *single.domains[0];
  auto more = std::make_shared<Supports>(*single.steps[0].supports);
  const std::int32_t corner = domain.node_set("xmax")[0];
  more->values.push_back({corner, "uy", 0.0});
  single.steps[0].supports = more;
  OutputOptions again = here();
  again.overwrite = true;
  const Json other = run(single, again);
  ASSERT_EQ(other["steps"][0]["supports"].size(), 2u);
  EXPECT_TRUE(support_named(other["steps"][0], "node " + std::to_string(domain.node_id(corner))));
}

TEST_F(StepReports, HeatOfSupportsIsReportedWithoutMoments) {
  Job job = heated_bar();
  const Json json = run(job, here());
  const Json* hot = support_named(json["steps"][0], "xmax");
  ASSERT_TRUE(hot);
  EXPECT_NEAR((*hot)["sum"]["T"].get<double>(), 50.0 * 100 / 4, 1e-8) << "k ΔT / L times the area of 1";
  EXPECT_FALSE(hot->contains("moment"));
}

TEST_F(StepReports, ErrorsAreInTheVtuTheSummaryAndTheJson) {
  Job job = cantilever(3);
  const Json json = run(job, here());
  const Json& error = json["steps"][0]["error_estimate"];
  EXPECT_EQ(error["quantity"], "stress");
  EXPECT_GT(error["percent"].get<double>(), 5);
  EXPECT_LT(error["percent"].get<double>(), 100);
  const VtuFile vtu(folder_ / "bar.vtu");
  const auto norms = vtu.array<double>("error"), percents = vtu.array<double>("error_percent");
  ASSERT_EQ(norms.size(), 4u);
  double square = 0, mean = 0, largest = 0;
  for (std::size_t e = 0; e < 4; ++e) {
    square += norms[e] * norms[e];
    mean += percents[e] * percents[e] / 4;  // elements of one volume
    largest = std::max(largest, norms[e]);
  }
  EXPECT_NEAR(std::sqrt(square), error["error"].get<double>(), 1e-9);
  EXPECT_NEAR(std::sqrt(mean), error["percent"].get<double>(), 1e-9);
  EXPECT_NEAR(error["worst_elements"][0]["error"].get<double>(), largest, 1e-12);
  EXPECT_EQ(error["worst_elements"].size(), 4u);
  // Where the stress is exact there is nothing to say.
  Job exact = pulled_bar();
  OutputOptions again = here();
  again.overwrite = true;
  const Json none = run(exact, again);
  EXPECT_LT(none["steps"][0]["error_estimate"]["percent"].get<double>(), 1e-6);
  EXPECT_TRUE(none["steps"][0]["hints"].empty());
  EXPECT_TRUE(VtuFile(folder_ / "bar.vtu").attribute("error", "NumberOfComponents") == "1");
}

TEST_F(StepReports, APeakWithoutLimitIsNamed) {
  Job job = cantilever(3);
  const Json json = run(job, here());
  const Json& hints = json["steps"][0]["hints"];
  ASSERT_EQ(hints.size(), 1u);
  const std::string hint = hints[0];
  EXPECT_NE(hint.find("the largest stress"), std::string::npos) << hint;
  EXPECT_NE(hint.find("the edge of a support (node "), std::string::npos) << hint;
  EXPECT_NE(hint.find("grows with refinement"), std::string::npos) << hint;
}

TEST_F(StepReports, PicturesShowTheWorstStepOrEach) {
  Job job = cantilever(3);
  one_more_step(job).load_factor = 5;
  one_more_step(job).load_factor = 2;
  OutputOptions options = here();
  options.vtu = options.tables = false;
  options.pictures = Pictures::worst;
  const Json worst = run(job, options);
  EXPECT_EQ(files(), (std::vector<std::string>{"bar.png", "bar.results.json"}));
  const std::string picture = read_all(folder_ / "bar.png");
  EXPECT_TRUE(picture.starts_with("\x89PNG"));
  options.pictures = Pictures::each;
  options.overwrite = true;
  run(job, options);
  // The picture of the run before is removed.
  EXPECT_EQ(files(), (std::vector<std::string>{"bar.results.json", "bar_step1.png", "bar_step2.png", "bar_step3.png"}));
  EXPECT_EQ(read_all(folder_ / "bar_step2.png"), picture) << "the second step is the worst";
  EXPECT_NE(read_all(folder_ / "bar_step1.png"), picture);
  // Other fields, and one that is not there.
  options.pictures = Pictures::worst;
  for (const char* field : {"sxx", "displacement", "uz", "error", "principal3"}) {
    options.picture_field = field;
    run(job, options);
    EXPECT_NE(read_all(folder_ / "bar.png"), picture) << field;
  }
  options.picture_field = "temprature";
  expect_error(ErrorCode::bad_input, {"temprature", "mises", "displacement"}, [&] { ResultFiles(job, options); });
}

TEST_F(StepReports, PicturesOfHeatShowTemperatures) {
  Job job = heated_bar();
  OutputOptions options = here();
  options.vtu = options.tables = false;
  options.pictures = Pictures::each;
  run(job, options);
  EXPECT_EQ(files(), (std::vector<std::string>{"hot.results.json", "hot_step1.png", "hot_step2.png"}));
  options.overwrite = true;
  options.picture_field = "flux";
  options.pictures = Pictures::worst;
  run(job, options);
  EXPECT_TRUE(fs::exists(folder_ / "hot.png"));
}

TEST_F(StepReports, ExistingPicturesAreKept) {
  Job job = cantilever(3);
  OutputOptions options = here();
  options.pictures = Pictures::worst;
  std::ofstream(folder_ / "bar.png") << "precious";
  expect_error(ErrorCode::io, {"bar.png", "--force"}, [&] { ResultFiles(job, options); });
}

TEST_F(StepReports, PointsAndPathsAreWritten) {
  Job job = pulled_bar();
  job.points = {{"tip", {4, 0.5, 0.5}, "here"}, {"middle", {2, 0.25, 0.5}, ""}};
  job.paths = {{"along", {0, 0.5, 0.5}, {4, 0.5, 0.5}, 5, ""}, {"a/b", {2, 0.5, 0.5}, {2, 2.5, 0.5}, 5, ""}};
  const Json json = run(job, here());
  for (const char* name :
       {"bar_points.csv", "bar_path_along.csv", "bar_path_along.svg", "bar_path_a_b.csv", "bar_path_a_b.svg"})
    EXPECT_TRUE(fs::exists(folder_ / name)) << name;
  const Json& points = json["steps"][0]["points"];
  ASSERT_EQ(points.size(), 2u);
  EXPECT_EQ(points[0]["name"], "tip");
  EXPECT_NEAR(points[0]["values"]["ux"].get<double>(), 0.2, 1e-12);
  EXPECT_NEAR(points[1]["values"]["ux"].get<double>(), 0.1, 1e-12);
  EXPECT_NEAR(points[1]["values"]["mises"].get<double>(), 10, 1e-9);
  EXPECT_EQ(points[1]["material"], "steel");
  const std::string csv = read_all(folder_ / "bar_path_along.csv");
  EXPECT_TRUE(csv.starts_with("distance,x,y,z,element,material,ux,uy,uz,sxx,")) << csv;
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 6);
  ASSERT_EQ(notes_.size(), 1u);
  EXPECT_NE(notes_[0].find("3 of the 5 points of path 'a/b' are outside"), std::string::npos) << notes_[0];
  EXPECT_NE(read_all(folder_ / "bar_path_along.svg").find("mises"), std::string::npos);
}

TEST_F(StepReports, PointsOutsideAreToldBeforeAnythingIsSolved) {
  Job job = pulled_bar();
  job.points = {{"far", {5, 0.5, 0.5}, "--point 5,0.5,0.5"}};
  expect_error(ErrorCode::bad_input, {"--point 5,0.5,0.5", "outside", "1 away"}, [&] { ResultFiles(job, here()); });
  EXPECT_TRUE(files().empty());
}

TEST_F(StepReports, UnitsStandEverywhere) {
  Job job = cantilever(3);
  job.units = Units::parse("N,mm,MPa", "");
  job.points = {{"tip", {4, 0.5, 0.5}, ""}};
  PrintRequest request;
  request.set = "xmax";
  request.quantities = {"U", "RF"};
  job.steps[0].prints = {request};
  const Json json = run(job, here());
  EXPECT_EQ(json["units"], (Json{{"force", "N"}, {"length", "mm"}, {"stress", "MPa"}}));
  EXPECT_TRUE(read_all(folder_ / "bar_U_xmax.csv").starts_with("node,x [mm],y [mm],z [mm],ux [mm],uy [mm],uz [mm]"));
  EXPECT_TRUE(read_all(folder_ / "bar_RF_xmax.csv").find("fx [N]") != std::string::npos);
  EXPECT_TRUE(read_all(folder_ / "bar_points.csv").find("mises [MPa]") != std::string::npos);
  const VtuFile vtu(folder_ / "bar.vtu");
  const auto unit = [&](const std::string& array) {
    const std::string& head = vtu.head();
    const std::size_t at = head.find("Name=\"" + array + "\""), key = head.find("UNITS_LABEL", at);
    const std::size_t begin = head.find('>', key) + 1;
    return at == std::string::npos ? "" : head.substr(begin, head.find('<', begin) - begin);
  };
  EXPECT_EQ(unit("displacement"), "mm");
  EXPECT_EQ(unit("stress"), "MPa");
  EXPECT_EQ(unit("mises"), "MPa");
  EXPECT_EQ(unit("reaction"), "N");
  // Numbers are as without units, and the arrays are still read.
  EXPECT_EQ(vtu.array<double>("mises").size(), 20u);
  Job plain = cantilever(3);
  OutputOptions again = here();
  again.overwrite = true;
  const Json without = run(plain, again);
  EXPECT_FALSE(without.contains("units"));
  EXPECT_EQ(without["steps"][0]["extremes"], json["steps"][0]["extremes"]);
  EXPECT_EQ(read_all(folder_ / "bar.vtu").find("UNITS_LABEL"), std::string::npos);
}

}  // namespace
}  // namespace voussoir
