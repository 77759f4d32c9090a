#include <gtest/gtest.h>
#include <omp.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <nlohmann/json.hpp>

#include <voussoir/framework/domain/host_element.hpp>

#include "job_models.hpp"
#include "support/expect_error.hpp"
#include "support/vtu_file.hpp"

namespace voussoir {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using testing::expect_error;
using testing::plainly;
using testing::pulled_bar;
using testing::read_all;
using testing::run_and_write;

class ResultFilesTest : public testing::FolderTest {};

PrintRequest print(PrintRequest::At at, const std::string& set, std::vector<std::string> quantities) {
  PrintRequest request;
  request.at = at;
  request.set = set;
  request.quantities = std::move(quantities);
  return request;
}

Job bar_with_tables() {
  Job job = pulled_bar(10.0);
  job.steps[0].prints = {print(PrintRequest::At::nodes, "xmax", {"U", "RF"}),
                         print(PrintRequest::At::elements, "", {"S"})};
  job.steps[0].prints[0].totals = PrintRequest::Totals::also;
  return job;
}

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

TEST_F(ResultFilesTest, ExistingResultsAreRefusedBeforeAnythingIsSolved) {
  Job job = bar_with_tables();
  std::ofstream(folder_ / "bar.results.json") << "precious";
  expect_error(ErrorCode::io, {"bar.results.json", "--force", "--output", folder_.string()},
               [&] { ResultFiles(job, here()); });
  std::ofstream(folder_ / "bar.vtu") << "precious";
  std::ofstream(folder_ / "bar_U_xmax.csv") << "precious";
  expect_error(ErrorCode::io, {"and 1 more"}, [&] { ResultFiles(job, here()); });
  EXPECT_EQ(read_all(folder_ / "bar.vtu"), "precious");
  // Files that this run would not write do not matter.
  OutputOptions tables = here();
  tables.vtu = tables.json = false;
  expect_error(ErrorCode::io, {"bar_U_xmax.csv"}, [&] { ResultFiles(job, tables); });
  OutputOptions force = here();
  force.overwrite = true;
  ResultFiles results(job, force);
  run_and_write(job, results);
  EXPECT_NE(read_all(folder_ / "bar.vtu"), "precious");
  EXPECT_NE(read_all(folder_ / "bar.results.json"), "precious");
  EXPECT_EQ(files().size(), 8u);
}

TEST_F(ResultFilesTest, ARunOfTheSameNameInTheSameFolderIsRefusedBeforeAnythingIsSolved) {
  Job job = bar_with_tables();
  const JobResult solved = run_job(job, plainly());
  OutputOptions pictures = here(), force = here();
  pictures.vtu = pictures.tables = false;
  pictures.pictures = Pictures::worst;
  force.overwrite = true;
  {
    ResultFiles running(job, here());
    for (const OutputOptions& other : {here(), pictures, force})
      expect_error(ErrorCode::io, {"this process", "is writing results of this name", "--output", "'bar'"},
                   [&] { ResultFiles(job, other); });
    OutputOptions elsewhere = here(), renamed = here();
    elsewhere.folder = folder_ / "other";
    renamed.name = "rod";
    EXPECT_NO_THROW((ResultFiles(job, elsewhere), ResultFiles(job, renamed)));
    running.write_step(0, solved.steps[0]);
    running.finish(solved, {plainly(), 0});
    EXPECT_FALSE(fs::exists(folder_ / ".bar.running"));
    ResultFiles(job, force);  // the first one has ended, although its object is still there
  }
  {
    ResultFiles stopped(job, force);
    EXPECT_TRUE(fs::exists(folder_ / ".bar.running"));
    stopped.give_up(Error(ErrorCode::cancelled, "stopped"), {plainly(), 0});
    EXPECT_FALSE(fs::exists(folder_ / ".bar.running"));
  }
  { const ResultFiles forgotten(job, force); }
  EXPECT_FALSE(fs::exists(folder_ / ".bar.running"));
}

TEST_F(ResultFilesTest, TheLockFileOfAKilledRunIsNoObstacle) {
  Job job = bar_with_tables();
  std::ofstream(folder_ / ".bar.running") << "4711 elsewhere\n";
  ResultFiles results(job, here());
  run_and_write(job, results);
  EXPECT_FALSE(fs::exists(folder_ / ".bar.running"));
}

TEST_F(ResultFilesTest, WhatIsNoLockFileIsNotTouched) {
  Job job = bar_with_tables();
  std::ofstream(folder_ / "precious") << "precious";
  fs::create_symlink("precious", folder_ / ".bar.running");
  expect_error(ErrorCode::io, {".bar.running", "lock file", "--output"}, [&] { ResultFiles(job, here()); });
  EXPECT_EQ(read_all(folder_ / "precious"), "precious");
  fs::remove(folder_ / ".bar.running");
  fs::create_directory(folder_ / ".bar.running");
  expect_error(ErrorCode::io, {".bar.running", "lock file"}, [&] { ResultFiles(job, here()); });
}

TEST_F(ResultFilesTest, LongNamesHaveLocksToo) {
  Job job = bar_with_tables();
  OutputOptions first = here(), second = here();
  first.tables = second.tables = first.json = second.json = false;
  first.name = std::string(250, 'n') + "1";
  second.name = std::string(250, 'n') + "2";
  const ResultFiles running(job, first), another(job, second);
  expect_error(ErrorCode::io, {"is writing results of this name"}, [&] { ResultFiles(job, first); });
}

// As on a file system without locks: whoever comes second stops, and keeps the other's files.
TEST_F(ResultFilesTest, OfTwoRunsWithoutLocksTheSecondFailsAndKeepsTheFirstOnesFiles) {
  Job job = bar_with_tables();
  testing::one_more_step(job);
  const JobResult solved = run_job(job, plainly());
  ResultFiles winner(job, here());
  fs::remove(folder_ / ".bar.running");
  ResultFiles loser(job, here());
  winner.write_step(0, solved.steps[0]);
  expect_error(ErrorCode::io, {"bar_step1.vtu", "another run", "--output"},
               [&] { loser.write_step(0, solved.steps[0]); });
  loser.give_up(Error(ErrorCode::io, "lost"), {plainly(), 0});
  EXPECT_TRUE(loser.written().empty());
  EXPECT_EQ(Json::parse(loser.json())["status"], "failed");
  EXPECT_FALSE(fs::exists(folder_ / "bar.results.json"));
  winner.write_step(1, solved.steps[1]);
  winner.finish(solved, {plainly(), 0});
  EXPECT_EQ(Json::parse(read_all(folder_ / "bar.results.json"))["status"], "finished");
  EXPECT_NE(read_all(folder_ / "bar.pvd").find("bar_step2.vtu"), std::string::npos);
}

TEST_F(ResultFilesTest, ARunThatLosesItsLastNameKeepsTheOtherFile) {
  for (const std::string taken : {"bar.dat", "bar.results.json"}) {
    Job job = bar_with_tables();
    const JobResult solved = run_job(job, plainly());
    OutputOptions options = here();
    options.folder = folder_ / taken;
    fs::remove_all(options.folder);
    ResultFiles results(job, options);
    results.write_step(0, solved.steps[0]);
    std::ofstream(options.folder / taken) << "precious";
    expect_error(ErrorCode::io, {taken, "another run"}, [&] { results.finish(solved, {plainly(), 0}); });
    results.give_up(Error(ErrorCode::io, "lost"), {plainly(), 0});
    EXPECT_EQ(read_all(options.folder / taken), "precious");
    EXPECT_EQ(fs::exists(options.folder / "bar.results.json"), taken == "bar.results.json");
  }
}

TEST_F(ResultFilesTest, AListThatSomebodyElseWroteIsNotReplaced) {
  Job job = pulled_bar();
  testing::one_more_step(job);
  const JobResult solved = run_job(job, plainly());
  ResultFiles results(job, here());
  results.write_step(0, solved.steps[0]);
  fs::remove(folder_ / "bar.pvd");
  std::ofstream(folder_ / "bar.pvd") << "precious";
  expect_error(ErrorCode::io, {"bar.pvd", "another run"}, [&] { results.write_step(1, solved.steps[1]); });
  EXPECT_EQ(read_all(folder_ / "bar.pvd"), "precious");
}

TEST_F(ResultFilesTest, ALinkThatLeadsNowhereIsNoticedBeforeAnythingIsSolved) {
  Job job = bar_with_tables();
  fs::create_symlink("nowhere", folder_ / "bar.dat");
  expect_error(ErrorCode::io, {"bar.dat (a dangling link)", "--force"}, [&] { ResultFiles(job, here()); });
  OutputOptions force = here();
  force.overwrite = true;
  ResultFiles results(job, force);
  run_and_write(job, results);
  EXPECT_FALSE(fs::is_symlink(folder_ / "bar.dat"));
  EXPECT_FALSE(fs::exists(folder_ / "nowhere"));
}

TEST_F(ResultFilesTest, OutputGoesToAFolderThatIsMade) {
  Job job = pulled_bar();
  OutputOptions options = here();
  options.folder /= "deep/down";
  options.name = "other";
  ResultFiles results(job, options);
  run_and_write(job, results);
  EXPECT_TRUE(fs::exists(folder_ / "deep/down/other.vtu"));
}

TEST_F(ResultFilesTest, RefusesPlacesWhereNothingCanBeWritten) {
  Job job = pulled_bar();
  OutputOptions options = here();
  std::ofstream(folder_ / "file") << "x";
  options.folder = folder_ / "file" / "below";
  expect_error(ErrorCode::io, {"cannot be created", "--output"}, [&] { ResultFiles(job, options); });
  options = here();
  for (const char* name : {"a/b", "..", "."}) {
    options.name = name;
    expect_error(ErrorCode::bad_input, {"without '/'"}, [&] { ResultFiles(job, options); });
  }
  fs::create_directories(folder_ / "bar.vtu");
  expect_error(ErrorCode::io, {"a folder has the name", "bar.vtu"}, [&] { ResultFiles(job, here()); });
  job.name.clear();
  expect_error(ErrorCode::bad_input, {"name ''"}, [&] { ResultFiles(job, here()); });
  if (::geteuid() != 0) {  // to root every folder is open
    fs::create_directories(folder_ / "closed");
    fs::permissions(folder_ / "closed", fs::perms::owner_read | fs::perms::owner_exec);
    options = here();
    options.folder = folder_ / "closed";
    job.name = "bar";
    expect_error(ErrorCode::io, {"the folder is not writable", "--output"}, [&] { ResultFiles(job, options); });
  }
}

TEST_F(ResultFilesTest, JsonSaysWhatRanAndWhatWasFound) {
  Job job = bar_with_tables();
  job.notes.push_back({"bar.inp:3", "something to know"});
  ResultFiles results(job, here());
  const JobResult result = run_and_write(job, results);
  EXPECT_EQ(read_all(folder_ / "bar.results.json"), results.json());
  const Json json = Json::parse(results.json());
  EXPECT_EQ(json["program"], "voussoir");
  EXPECT_EQ(json["status"], "finished");
  EXPECT_FALSE(json.contains("error"));
  EXPECT_EQ(json["job"]["name"], "bar");
  EXPECT_EQ(json["job"]["source"], "bar.inp");
  EXPECT_EQ(json["options"]["solver"], "direct");
  EXPECT_EQ(json["backend"], result.backend);
  EXPECT_EQ(json["machine"]["threads"], 1);
  EXPECT_EQ(json["sizes"]["nodes"], 20);
  EXPECT_EQ(json["sizes"]["elements_by_type"]["solid.hex8.full"], 4);
  EXPECT_EQ(json["sizes"]["equations"], 60);
  EXPECT_GT(json["sizes"]["peak_memory_bytes"].get<double>(), 1e6);
  EXPECT_EQ(json["seconds"]["read"], 0.25);
  EXPECT_TRUE(json["seconds"].contains("assemble and solve"));
  EXPECT_TRUE(json["seconds"].contains("write"));
  ASSERT_EQ(json["steps"].size(), 1u);
  const Json& step = json["steps"][0];
  EXPECT_EQ(step["procedure"], "linear statics");
  const Json& most = step["extremes"]["ux"]["max"];
  EXPECT_NEAR(most["value"].get<double>(), 0.2, 1e-12);
  const Domain& domain = *job.domains[0];
  EXPECT_EQ(domain.node(most["node"].get<Id>()).position[0], 4.0);
  EXPECT_NEAR(step["extremes"]["displacement"]["max"]["value"].get<double>(), 0.2, 1e-12);
  EXPECT_NEAR(step["extremes"]["mises"]["min"]["value"].get<double>(), 10.0, 1e-9);
  EXPECT_NEAR(step["extremes"]["principal1"]["max"]["value"].get<double>(), 10.0, 1e-9);
  EXPECT_NEAR(step["load_sum"]["ux"].get<double>(), 10.0, 1e-10);
  EXPECT_NEAR(step["reaction_sum"]["ux"].get<double>(), -10.0, 1e-10);
  EXPECT_NEAR(step["reactions_by_node_set"]["xmin"]["ux"].get<double>(), -10.0, 1e-10);
  EXPECT_NEAR(step["energy"].get<double>(), 0.5 * 10 * 0.2, 1e-10);
  EXPECT_EQ(step["solver"]["converged"], true);
  EXPECT_EQ(json["notes"][0], "bar.inp:3: something to know");
  ASSERT_EQ(json["files"].size(), 8u);
  for (const auto& file : json["files"]) EXPECT_TRUE(fs::exists(file.get<std::string>())) << file;
}

TEST_F(ResultFilesTest, JsonIsThereWithoutAnyFile) {
  Job job = bar_with_tables();
  OutputOptions nothing = here();
  nothing.vtu = nothing.tables = nothing.json = false;
  nothing.folder = folder_ / "never made";
  ResultFiles results(job, nothing);
  run_and_write(job, results);
  EXPECT_TRUE(files().empty());
  EXPECT_TRUE(results.written().empty());
  const Json json = Json::parse(results.json());
  EXPECT_NEAR(json["steps"][0]["extremes"]["mises"]["max"]["value"].get<double>(), 10.0, 1e-9);
}

TEST_F(ResultFilesTest, WhatASolverCouldNotExcludeIsInTheJson) {
  Job job = pulled_bar(10.0);
  ResultFiles results(job, here());
  const JobResult result = run_job(job, plainly(), {}, [&](std::size_t step, StepResult found) {
    found.report.note = "mechanisms were not excluded";
    results.write_step(step, std::move(found));
  });
  results.finish(result, {plainly(), 0.25});
  EXPECT_EQ(Json::parse(results.json())["steps"][0]["solver"]["note"], "mechanisms were not excluded");
}

TEST_F(ResultFilesTest, HeatAndTheStepItHeatsAreReported) {
  Job job = testing::heated_bar();
  ResultFiles results(job, here());
  run_and_write(job, results);
  ASSERT_EQ(results.summaries().size(), 2u);
  const StepSummary& heat = results.summaries()[0];
  EXPECT_EQ(heat.range("temperature")->greatest.value, 100.0);
  EXPECT_NEAR(heat.range("flux")->least.value, 1250.0, 1e-8);
  EXPECT_EQ(heat.range("mises"), nullptr);
  const StepSummary& expand = results.summaries()[1];
  EXPECT_EQ(expand.range("temperature")->greatest.value, 100.0);
  EXPECT_NEAR(expand.range("ux")->greatest.value, 0.2, 1e-10);
  EXPECT_NE(read_all(folder_ / "hot_step2.vtu").find("Name=\"temperature\""), std::string::npos);
  EXPECT_FALSE(Json::parse(results.json())["steps"][0].contains("energy"));
}

TEST_F(ResultFilesTest, AJobThatFailsKeepsWhatWasFinished) {
  Job job = bar_with_tables();
  testing::one_more_step(job).supports = std::make_shared<Supports>();  // nothing holds it
  ResultFiles results(job, here());
  try {
    run_job(job, plainly(), {}, [&](std::size_t step, StepResult r) { results.write_step(step, std::move(r)); });
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    results.give_up(error, {plainly(), 0});
  }
  const auto names = files();
  for (const char* name : {"bar_step1.vtu", "bar.pvd", "bar.dat", "bar.results.json", "bar_step1_U_xmax.csv"})
    EXPECT_TRUE(std::count(names.begin(), names.end(), name)) << name;
  EXPECT_FALSE(std::count(names.begin(), names.end(), "bar_step2.vtu"));
  const Json json = Json::parse(read_all(folder_ / "bar.results.json"));
  EXPECT_EQ(json["status"], "failed");
  EXPECT_EQ(json["error"]["code"], "singular");
  EXPECT_EQ(json["steps"].size(), 1u);
  EXPECT_EQ(json["backend"], nullptr);
}

TEST_F(ResultFilesTest, ACancelledJobSaysSo) {
  Job job = bar_with_tables();
  ResultFiles results(job, here());
  results.give_up(Error(ErrorCode::cancelled, "stopped"), {plainly(), 0});
  EXPECT_EQ(files(), std::vector<std::string>{"bar.results.json"});
  EXPECT_EQ(Json::parse(results.json())["status"], "cancelled");
}

TEST_F(ResultFilesTest, WithoutAnEndNothingHalfIsLeft) {
  Job job = bar_with_tables();
  {
    ResultFiles results(job, here());
    run_job(job, plainly(), {}, [&](std::size_t step, StepResult r) { results.write_step(step, std::move(r)); });
  }
  // The .dat was begun and never finished: it is not there, and neither is its beginning.
  for (const std::string& name : files()) {
    EXPECT_EQ(name.find(".part"), std::string::npos) << name;
    EXPECT_EQ(name.find(".dat"), std::string::npos) << name;
  }
}

/// Limits the size of files, as a full disk would, and takes the limit off again.
class SmallDisk {
 public:
  explicit SmallDisk(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &old_);
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{bytes, old_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~SmallDisk() {
    ::setrlimit(RLIMIT_FSIZE, &old_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit old_{};
  void (*handler_)(int) = nullptr;
};

TEST_F(ResultFilesTest, AFullDiskLeavesWholeFilesOnly) {
  Job job = bar_with_tables();
  ResultFiles results(job, here());
  const JobResult solved = run_job(job, plainly());
  {
    const SmallDisk full(300);  // enough for no picture
    expect_error(ErrorCode::io, {"bar.vtu", "writing failed"}, [&] { results.write_step(0, solved.steps[0]); });
    results.give_up(Error(ErrorCode::io, "full"), {plainly(), 0});
  }
  EXPECT_TRUE(files().empty()) << files().front();
  EXPECT_TRUE(results.written().empty());
  {
    const SmallDisk full(8000);  // the picture fits, results.json might; the tables of points do not
    for (int k = 0; k < 6; ++k) job.steps[0].prints.push_back(job.steps[0].prints[1]);
    ResultFiles more(job, here());
    EXPECT_THROW(
        {
          more.write_step(0, solved.steps[0]);
          more.finish({}, {plainly(), 0});
        },
        Error);
    for (const std::string& name : files()) EXPECT_EQ(name.find(".part"), std::string::npos) << name;
    for (const auto& path : more.written()) EXPECT_TRUE(fs::exists(path)) << path;
    EXPECT_EQ(more.written().size() + 1, files().size());  // the lock is held until give_up()
  }
}

TEST_F(ResultFilesTest, AKilledProgramLeavesWholeFilesOnly) {
  Job job = bar_with_tables();
  const JobResult solved = run_job(job, plainly());
  const pid_t child = ::fork();
  if (child == 0) {
    omp_set_num_threads(1);  // the threads of before are not there after a fork
    ResultFiles results(job, here());
    OutputOptions options = here();
    options.vtu = false;
    options.name = "killed";
    ResultFiles tables(job, options);
    tables.write_step(0, solved.steps[0]);  // the .dat is begun
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));
  const auto names = files();
  EXPECT_TRUE(std::count(names.begin(), names.end(), "killed_U_xmax.csv"));
  EXPECT_FALSE(std::count(names.begin(), names.end(), "killed.dat"));
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

TEST_F(ResultFilesTest, NamesThatAreTooLongAreToldBeforeSolving) {
  const Job job = pulled_bar();
  OutputOptions options = here();
  options.name = std::string(250, 'n');
  try {
    const ResultFiles results(job, options);
    ADD_FAILURE() << "no file can have such a name";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::io);
    EXPECT_NE(std::string(error.what()).find("the limit is 255"), std::string::npos) << error.what();
  }
  options.name = std::string(230, 'n');
  options.overwrite = true;
  Job again = pulled_bar();
  again.steps[0].prints.clear();
  for (int i = 0; i < 2; ++i) {  // to replace a file takes a temporary name beside it
    ResultFiles results(again, options);
    run_and_write(again, results);
  }
  EXPECT_TRUE(fs::exists(folder_ / (options.name + ".results.json")));
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
