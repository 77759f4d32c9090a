#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include <voussoir/framework/domain/host_element.hpp>

#include "job_models.hpp"
#include "support/vtu_file.hpp"

// Which files a job writes, under which names, and what tables contain.

namespace voussoir {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using testing::bar_with_tables;
using testing::plainly;
using testing::print;
using testing::pulled_bar;
using testing::read_all;
using testing::run_and_write;

class ResultFilesTest : public testing::FolderTest {};

TEST_F(ResultFilesTest, OneStepGivesFilesOfTheJobsName) {
  Job job = bar_with_tables();
  ResultFiles results(job, here());
  EXPECT_EQ(files(), (std::vector<std::string>{".bar.running"}));
  run_and_write(job, results);
  EXPECT_EQ(files(), (std::vector<std::string>{"bar.dat", "bar.pvd", "bar.results.json", "bar.vtu", "bar_RF_xmax.csv",
                                               "bar_RF_xmax_total.csv", "bar_S_EALL.csv", "bar_U_xmax.csv"}));
  EXPECT_EQ(results.written().size(), 8u);
  for (const auto& path : results.written()) EXPECT_TRUE(fs::exists(path)) << path;
  EXPECT_GT(results.seconds(), 0.0);
}

/// Ground water between two nodes, of a user's own.
class Seep : public HostElement {
 public:
  int nodes() const override { return 2; }
  std::vector<std::string> unknown_names() const override { return {"head"}; }
  bool linear() const override { return true; }
  void tangent(const HostElementData&, std::span<double> k) const override {
    k[0] = k[3] = 2;
    k[1] = k[2] = -2;
  }
};

TEST_F(ResultFilesTest, UnknownsOfUsersElementsKeepTheirNames) {
  static const auto seep = std::make_shared<const Seep>();
  register_host_element("test_seep", "line2", seep);
  Job job;
  job.name = "well";
  job.domains.push_back(std::make_unique<Domain>());
  Domain& d = *job.domains[0];
  for (int i = 0; i < 3; ++i) d.add_node(i + 1, i, 0, 0);
  ElementBlock& ground = d.add_block("ground", "test_seep");
  ground.add(1, {1, 2});
  ground.add(2, {2, 3});
  auto supports = std::make_shared<Supports>();
  supports->values = {{0, "head", 1.0}, {2, "head", 5.0}};
  JobStep step;
  step.name = "step 1";
  step.supports = supports;
  step.prints = {print(PrintRequest::At::nodes, "", {"U", "RF"})};
  job.steps.push_back(step);
  ResultFiles results(job, here());
  run_and_write(job, results);
  const VtuFile vtu(folder_ / "well.vtu");
  EXPECT_EQ(vtu.array<double>("head"), (std::vector<double>{1, 3, 5}));
  EXPECT_EQ(vtu.head().find("displacement"), std::string::npos);
  const std::string text = read_all(folder_ / "well.results.json");
  EXPECT_EQ(text.find("displacement\""), std::string::npos) << text;
  EXPECT_NE(text.find("\"head\""), std::string::npos) << text;
  // A table of displacements would be one of zeros.
  EXPECT_FALSE(fs::exists(folder_ / "well_U_NALL.csv"));
  ASSERT_EQ(results.notes().size(), 2u);
  EXPECT_NE(results.notes()[0].find("U is not printed: the model has no displacements, its unknowns are head"),
            std::string::npos);
}

TEST_F(ResultFilesTest, SeveralStepsAreNumbered) {
  Job job = bar_with_tables();
  testing::one_more_step(job).prints = {print(PrintRequest::At::nodes, "xmax", {"U"})};
  ResultFiles results(job, here());
  run_and_write(job, results);
  const auto names = files();
  for (const char* name : {"bar_step1.vtu", "bar_step2.vtu", "bar_step1_U_xmax.csv", "bar_step2_U_xmax.csv", "bar.pvd"})
    EXPECT_TRUE(std::count(names.begin(), names.end(), name)) << name;
  EXPECT_FALSE(std::count(names.begin(), names.end(), "bar.vtu"));
  const std::string series = read_all(folder_ / "bar.pvd");
  EXPECT_NE(series.find("<DataSet timestep=\"1\" part=\"0\" file=\"bar_step1.vtu\"/>"), std::string::npos) << series;
  EXPECT_NE(series.find("<DataSet timestep=\"2\" part=\"0\" file=\"bar_step2.vtu\"/>"), std::string::npos) << series;
  // One .dat for all steps, with the time of each in its headings.
  const std::string dat = read_all(folder_ / "bar.dat");
  EXPECT_NE(dat.find(" displacements (vx,vy,vz) for set xmax and time  0.1000000E+01\n"), std::string::npos);
  EXPECT_NE(dat.find(" displacements (vx,vy,vz) for set xmax and time  0.2000000E+01\n"), std::string::npos);
}

// Beyond a hundred steps the list is not written with each of them, but it is whole in the end, however that comes.
TEST_F(ResultFilesTest, TheListOfManyStepsIsWholeInTheEnd) {
  for (const bool fails : {false, true}) {
    Job job = pulled_bar();
    OutputOptions options = here();
    options.folder = folder_ / (fails ? "failed" : "finished");
    while (job.steps.size() < 117) testing::one_more_step(job);
    const JobResult solved = run_job(job, plainly());
    ResultFiles results(job, options);
    for (std::size_t i = 0; i < 116; ++i) results.write_step(i, solved.steps[i]);
    EXPECT_EQ(read_all(options.folder / "bar.pvd").find("bar_step116.vtu"), std::string::npos);
    EXPECT_NE(read_all(options.folder / "bar.pvd").find("bar_step100.vtu"), std::string::npos);
    if (fails) {
      results.give_up(Error(ErrorCode::cancelled, "stopped"), {plainly(), 0});
    } else {
      results.write_step(116, solved.steps[116]);
      results.finish(solved, {plainly(), 0});
    }
    EXPECT_NE(read_all(options.folder / "bar.pvd").find(fails ? "bar_step116.vtu" : "bar_step117.vtu"),
              std::string::npos);
  }
}

TEST_F(ResultFilesTest, TimesOfASeriesAlwaysRise) {
  Job job = pulled_bar();
  testing::one_more_step(job).total_time = 1.0;  // two steps at one time would be parts of one picture
  ResultFiles results(job, here());
  run_and_write(job, results);
  const std::string series = read_all(folder_ / "bar.pvd");
  EXPECT_NE(series.find("timestep=\"2\" part=\"0\" file=\"bar_step2.vtu\""), std::string::npos) << series;
}

TEST_F(ResultFilesTest, TablesHoldTheNumbers) {
  Job job = bar_with_tables();
  ResultFiles results(job, here());
  run_and_write(job, results);
  std::istringstream u(read_all(folder_ / "bar_U_xmax.csv"));
  std::string line;
  std::getline(u, line);
  EXPECT_EQ(line, "node,x,y,z,ux,uy,uz");
  int rows = 0;
  while (std::getline(u, line)) {
    ++rows;
    std::vector<double> v;
    std::istringstream fields(line);
    for (std::string f; std::getline(fields, f, ',');) v.push_back(std::stod(f));
    ASSERT_EQ(v.size(), 7u);
    EXPECT_EQ(v[1], 4.0);
    EXPECT_NEAR(v[4], 0.2, 1e-12);
  }
  EXPECT_EQ(rows, 4);
  EXPECT_EQ(read_all(folder_ / "bar_S_EALL.csv").substr(0, 45), "element,point,x,y,z,sxx,syy,szz,sxy,sxz,syz\n1");
  const std::string total = read_all(folder_ / "bar_RF_xmax_total.csv");
  EXPECT_EQ(total.substr(0, 18), "set,fx,fy,fz\nxmax,");
  EXPECT_NEAR(std::stod(total.substr(18)), 10.0, 1e-10);
  EXPECT_NE(read_all(folder_ / "bar.dat").find("  2.000000E-01  "), std::string::npos);
}

TEST_F(ResultFilesTest, TablesOfTheSameNameAreToldApart) {
  Job job = pulled_bar();
  job.domains[0]->add_node_set("A/B", {1, 2});
  job.domains[0]->add_node_set("A B", {3});
  job.steps[0].prints = {print(PrintRequest::At::nodes, "A/B", {"U"}), print(PrintRequest::At::nodes, "A B", {"U"}),
                         print(PrintRequest::At::nodes, "A B", {"U"})};
  job.steps[0].prints[2].local = true;
  ResultFiles results(job, here());
  run_and_write(job, results);
  EXPECT_TRUE(fs::exists(folder_ / "bar_U_A_B.csv"));
  EXPECT_TRUE(fs::exists(folder_ / "bar_U_A_B_2.csv"));
  EXPECT_TRUE(fs::exists(folder_ / "bar_U_A_B_3.csv")) << "no node has axes of its own";
}

TEST_F(ResultFilesTest, LocalStandsInTheNameWhereAxesAreLocal) {
  Job job = pulled_bar();
  job.domains[0]->add_node_set("turned", {1});
  job.domains[0]->add_node_set("plain", {2});
  job.node_axes.systems = {Orientation::rectangular({0, 1, 0}, {-1, 0, 0})};
  job.node_axes.system_of.assign(static_cast<std::size_t>(job.domains[0]->node_count()), -1);
  job.node_axes.system_of[static_cast<std::size_t>(job.domains[0]->node_set("turned")[0])] = 0;
  job.steps[0].prints = {print(PrintRequest::At::nodes, "turned", {"U", "NT"}),
                         print(PrintRequest::At::nodes, "plain", {"U"}), print(PrintRequest::At::nodes, "", {"RF"}),
                         print(PrintRequest::At::elements, "", {"S", "ENER"})};
  for (PrintRequest& request : job.steps[0].prints) request.local = true;
  {
    ResultFiles results(job, here());
    run_and_write(job, results);
  }
  for (const char* name : {"bar_U_turned_local.csv", "bar_NT_turned.csv", "bar_U_plain.csv", "bar_RF_NALL_local.csv",
                           "bar_S_EALL.csv", "bar_ENER_EALL.csv"})
    EXPECT_TRUE(fs::exists(folder_ / name)) << name;
}

TEST_F(ResultFilesTest, NamesThatAreNotUtf8AreNoHindrance) {
  Job job = pulled_bar();
  job.title =
      "L\xfc"
      "fter";  // Latin-1, as old decks have it
  job.domains[0]->block(0).set_material(std::make_shared<IsotropicMaterial>("St\xe4hl\x01", 200.0, 0.0));
  BoxMesh second;
  second.lower = {10, 0, 0}, second.upper = {11, 1, 1};
  second.block = "other", second.set_prefix = "o_", second.type = "solid.hex8.full";
  add_box_mesh(*job.domains[0], second).set_material(std::make_shared<IsotropicMaterial>("b", 1.0, 0.0));
  auto supports = std::make_shared<Supports>(*job.steps[0].supports);
  for (const char* u : {"ux", "uy", "uz"})
    for (const Prescribed& p : testing::hold(*job.domains[0], "o_xmin", u)) supports->values.push_back(p);
  job.steps[0].supports = supports;
  ResultFiles results(job, here());
  run_and_write(job, results);
  EXPECT_EQ(Json::parse(results.json())["job"]["title"],
            "L\xef\xbf\xbd"
            "fter");
  const std::string vtu = read_all(folder_ / "bar.vtu");
  EXPECT_NE(vtu.find("Name=\"stress_St_hl_\""), std::string::npos);
  EXPECT_NE(vtu.find("Name=\"mises_b\""), std::string::npos);
}

TEST_F(ResultFilesTest, ManyMaterialsShowMeansOfElements) {
  Job job;
  job.name = "many";
  job.domains.push_back(std::make_unique<Domain>());
  Domain& domain = *job.domains[0];
  auto supports = std::make_shared<Supports>();
  for (int i = 0; i < 9; ++i) {
    BoxMesh cube;
    cube.type = "solid.hex8.full";
    cube.lower = {2.0 * i, 0, 0}, cube.upper = {2.0 * i + 1, 1, 1};
    cube.block = "cube" + std::to_string(i), cube.set_prefix = cube.block + "_";
    add_box_mesh(domain, cube)
        .set_material(std::make_shared<IsotropicMaterial>("m" + std::to_string(i), 100.0 * (i + 1), 0.0));
    for (const char* u : {"ux", "uy", "uz"})
      for (const Prescribed& p : testing::hold(domain, cube.set_prefix + "xmin", u)) supports->values.push_back(p);
    for (const Prescribed& p : testing::hold(domain, cube.set_prefix + "xmax", "ux", 0.01))
      supports->values.push_back(p);
  }
  JobStep step;
  step.name = "step 1";
  step.supports = supports;
  job.steps.push_back(step);
  ResultFiles results(job, here());
  run_and_write(job, results);
  ASSERT_EQ(results.notes().size(), 1u);
  EXPECT_NE(results.notes()[0].find("so many materials"), std::string::npos);
  EXPECT_NEAR(results.summaries()[0].range("mises")->greatest.value, 9.0, 1e-9);  // E ε of the last one
  const std::string vtu = read_all(folder_ / "many.vtu");
  EXPECT_NE(vtu.find("Name=\"mises\""), std::string::npos);
  EXPECT_EQ(vtu.find("Name=\"stress_m0\""), std::string::npos);
}

}  // namespace
}  // namespace voussoir
