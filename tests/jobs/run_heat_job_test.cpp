// Heat jobs from text to files: totals, series, restart to the same bits, and what is refused.

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include <voussoir/jobs/run_heat_job.hpp>

#include "support/expect_error.hpp"
#include "support/scratch_folder.hpp"
#include "support/vtu_file.hpp"

namespace voussoir {
namespace {

using testing::expect_error;

std::string read_all(const std::filesystem::path& path) {
  std::stringstream all;
  all << std::ifstream(path, std::ios::binary).rdbuf();
  return all.str();
}

HeatJob job_of(const std::string& scheme = "douglas", const std::string& more = "") {
  return read_heat_text(R"({
  "grid": {"nodes": [12, 9], "lengths": [1, 1]},
  "sides": {"x": "periodic", "y-": {"flux": [[0, 1], [1, 3]]}},
  "material": {"conductivity": 1, "density": 2, "specific_heat": 3},
  "sources": [{"gaussian": {"centre": [0.5, 0.5], "width": 0.2, "value": 5}, "factor": [[0, 1], [1, 2]]}],
  "initial": {"box": {"lower": [0, 0], "upper": [0.5, 0.5], "value": 4, "outside": 1}},
  "scheme": ")" + scheme + R"(",
  "time": {"step": 0.005, "steps": 20},
  "output": {"every": 5}, )" +
                            more + R"(
  "points": [{"name": "A", "at": [0.5, 0.5]}],
  "backend": "openmp:2"
})",
                        "plate.json", ".");
}

TEST(HeatJobs, WriteSeriesHistoryPictureAndTotals) {
  const auto folder = testing::empty_scratch_folder("heat_files");
  HeatRunOptions options;
  options.folder = folder;
  std::int64_t calls = 0;
  options.observer = [&](const HeatJobProgress& progress) {
    EXPECT_EQ(progress.step, ++calls);
    EXPECT_EQ(progress.steps, 20);
    EXPECT_GE(progress.seconds_left, 0);
    return true;
  };
  const HeatRunResult result = run_heat_job(job_of(), options);
  EXPECT_EQ(calls, 20);
  EXPECT_TRUE(result.complete);
  EXPECT_DOUBLE_EQ(result.time, 0.1);
  EXPECT_LT(std::abs(result.balance.remainder()), 1e-12 * result.balance.content);
  // ∫ (1 + 2t) dt over 0.1, along a side of length 1.
  EXPECT_NEAR(result.balance.through_flux_sides, 0.1 + 0.01, 1e-14);
  for (const char* name : {"plate_000000.vti", "plate_000005.vti", "plate_000010.vti", "plate_000015.vti",
                           "plate_000020.vti", "plate.pvd", "plate.csv", "plate.png", "plate.results.json"})
    EXPECT_TRUE(std::filesystem::exists(folder / name)) << name;
  EXPECT_FALSE(std::filesystem::exists(folder / "plate.state"));
  EXPECT_NE(read_all(folder / "plate.pvd").find("timestep=\"0.025\" part=\"0\" file=\"plate_000005.vti\""),
            std::string::npos);
  const auto values = VtuFile(folder / "plate_000020.vti").array<double>("temperature");
  ASSERT_EQ(values.size(), 108U);
  EXPECT_EQ(values[6 + 12 * 4], result.at_points[0]);
  const std::string history = read_all(folder / "plate.csv");
  EXPECT_EQ(std::count(history.begin(), history.end(), '\n'), 22);
  EXPECT_TRUE(history.starts_with("step,time,A\n0,0,4\n")) << history;
  const auto document = nlohmann::json::parse(read_all(folder / "plate.results.json"));
  EXPECT_EQ(document["scheme"], "douglas");
  EXPECT_EQ(document["steps"], 20);
  EXPECT_EQ(document["temperature"]["max"], result.summary.greatest);
  EXPECT_TRUE(document["heat"]["defect"].is_number());  // no side has a prescribed temperature
  EXPECT_EQ(document["heat"]["through_prescribed_sides"], 0.0);
  EXPECT_TRUE(document["predicted"]["note"].is_string());
  EXPECT_EQ(document["points"][0]["temperature"], result.at_points[0]);
  EXPECT_EQ(document["files"].size(), 9U);

  // Names that are taken are found before anything is computed.
  calls = 0;
  expect_error(ErrorCode::io, {"plate.results.json", "--force"}, [&] { run_heat_job(job_of(), options); });
  EXPECT_EQ(calls, 0);
  options.overwrite = true;
  EXPECT_TRUE(run_heat_job(job_of(), options).complete);
}

TEST(HeatJobs, AStoppedRunResumesToTheSameBits) {
  for (const char* scheme : {"douglas", "peaceman-rachford", "explicit"}) {
    const auto whole = testing::empty_scratch_folder("heat_whole"), parts = testing::empty_scratch_folder("heat_parts");
    HeatRunOptions options;
    options.folder = whole;
    HeatJob job = job_of(scheme);
    if (std::string(scheme) == "explicit") job.options.time_step = 0.001;
    run_heat_job(job, options);
    options.folder = parts;
    options.observer = [](const HeatJobProgress& progress) { return progress.step != 7; };
    const HeatRunResult stopped = run_heat_job(job, options);
    EXPECT_FALSE(stopped.complete);
    EXPECT_EQ(stopped.steps, 7);
    EXPECT_TRUE(std::filesystem::exists(parts / "plate.state"));
    EXPECT_FALSE(std::filesystem::exists(parts / "plate.results.json"));
    options.observer = [](const HeatJobProgress& progress) { return progress.step != 13; };
    expect_error(ErrorCode::io, {"plate.state", "--resume"}, [&] { run_heat_job(job, options); });
    options.resume = true;
    EXPECT_EQ(run_heat_job(job, options).resumed_from, 7);
    options.observer = {};
    const HeatRunResult last = run_heat_job(job, options);
    EXPECT_TRUE(last.complete);
    EXPECT_EQ(last.resumed_from, 13);
    EXPECT_FALSE(std::filesystem::exists(parts / "plate.state"));
    for (const char* name :
         {"plate_000005.vti", "plate_000010.vti", "plate_000020.vti", "plate.pvd", "plate.csv", "plate.png"})
      EXPECT_EQ(read_all(whole / name), read_all(parts / name)) << scheme << ' ' << name;
    const auto one = nlohmann::json::parse(read_all(whole / "plate.results.json")),
               two = nlohmann::json::parse(read_all(parts / "plate.results.json"));
    EXPECT_EQ(one["heat"], two["heat"]);
    EXPECT_EQ(one["temperature"], two["temperature"]);
  }
}

TEST(HeatJobs, StatesOfOtherJobsAndDamagedOnesAreRefused) {
  const auto folder = testing::empty_scratch_folder("heat_states");
  HeatRunOptions options;
  options.folder = folder;
  options.observer = [](const HeatJobProgress& progress) { return progress.step != 3; };
  run_heat_job(job_of(), options);
  options.resume = true;
  expect_error(ErrorCode::bad_input, {"plate.state", "another job"},
               [&] { run_heat_job(job_of("peaceman-rachford"), options); });
  HeatJob shorter = job_of();
  shorter.steps = 2;
  expect_error(ErrorCode::bad_input, {"plate.state", "after step 3", "2 steps"},
               [&] { run_heat_job(shorter, options); });
  const std::string sound = read_all(folder / "plate.state");
  for (const std::size_t at : {std::size_t{3}, std::size_t{12}, sound.size() / 2, sound.size() - 1}) {
    std::string damaged = sound;
    damaged[at] = static_cast<char>(damaged[at] ^ 4);
    std::ofstream(folder / "plate.state", std::ios::binary) << damaged;
    expect_error(ErrorCode::bad_input, {"plate.state", "cannot be resumed"}, [&] { run_heat_job(job_of(), options); });
  }
  for (const std::size_t size : {std::size_t{0}, std::size_t{8}, std::size_t{20}, sound.size() - 8}) {
    std::ofstream(folder / "plate.state", std::ios::binary) << sound.substr(0, size);
    expect_error(ErrorCode::bad_input, {"plate.state", "cannot be resumed"}, [&] { run_heat_job(job_of(), options); });
  }
  std::filesystem::remove(folder / "plate.state");
  expect_error(ErrorCode::io, {"plate.state", "without --resume"}, [&] { run_heat_job(job_of(), options); });
}

TEST(HeatJobs, ForceRemovesFieldsOfTheRunBefore) {
  const auto folder = testing::empty_scratch_folder("heat_force");
  HeatRunOptions options;
  options.folder = folder;
  run_heat_job(job_of(), options);
  std::filesystem::remove(folder / "plate.results.json");
  for (const char* ending : {".pvd", ".csv", ".png"}) std::filesystem::remove(folder / (std::string("plate") + ending));
  expect_error(ErrorCode::io, {"plate_0000", "--force"}, [&] { run_heat_job(job_of(), options); });
  options.overwrite = true;
  run_heat_job(job_of(), options);
  HeatJob fewer = job_of();
  fewer.every = 10;
  run_heat_job(fewer, options);
  for (const auto& [name, stays] : {std::pair{"plate_000005.vti", false}, {"plate_000010.vti", true}})
    EXPECT_EQ(std::filesystem::exists(folder / name), stays) << name;
}

// A step of 1000 h²ρc/k hardly damps what is rough: Crank and Nicolson's factor is (1 − 2r) / (1 + 2r).
TEST(HeatJobs, LongStepsAreNoted) {
  HeatRunOptions options;
  options.files = false;
  HeatJob job = job_of();
  EXPECT_TRUE(run_heat_job(job, options).notes.empty());
  job.options.time_step = 100;
  const HeatRunResult result = run_heat_job(job, options);
  ASSERT_EQ(result.notes.size(), 1U);
  EXPECT_NE(result.notes[0].find("shorter steps"), std::string::npos) << result.notes[0];
}

TEST(HeatJobs, GridsThatDoNotFitInMemoryAreRefused) {
  HeatRunOptions options;
  options.files = false;
  const HeatJob job = read_heat_text(R"({"grid": {"nodes": [100000, 100000, 1000], "lengths": [1, 1, 1]},
 "material": {"conductivity": 1, "density": 1, "specific_heat": 1}, "time": {"step": 1, "steps": 1}, "backend": "openmp:1"})",
                                     "large.json", ".");
  expect_error(ErrorCode::out_of_memory, {"10000000000000 nodes", "fewer nodes"}, [&] { run_heat_job(job, options); });
}

TEST(HeatJobs, StationaryJobsReachTheirTolerance) {
  const auto job = [](int most) {
    return read_heat_text(R"({"grid": {"nodes": [11, 5], "lengths": [1, 1]},
 "sides": {"x-": {"temperature": 2}, "x+": {"flux": 3}}, "material": {"conductivity": 2, "density": 1, "specific_heat": 1},
 "sources": [{"constant": 4}], "scheme": "stationary", "points": [{"at": [1, 0.5]}], "backend": "openmp:1",
 "stationary": {"tolerance": 1e-10, "max_iterations": )" +
                              std::to_string(most) + "}}",
                          "steady.json", ".");
  };
  const auto folder = testing::empty_scratch_folder("heat_steady");
  HeatRunOptions options;
  options.folder = folder;
  const HeatRunResult result = run_heat_job(job(100000), options);
  EXPECT_LE(result.residual, 1e-10);
  EXPECT_NEAR(result.at_points[0], 2 + 3.5 - 1, 1e-8);  // 2 u'' = −4, u(0) = 2, 2 u'(1) = 3
  EXPECT_TRUE(std::filesystem::exists(folder / "steady_000000.vti"));
  options.overwrite = true;
  expect_error(ErrorCode::not_converged, {"after 10 Jacobi iterations", "max_iterations"},
               [&] { run_heat_job(job(10), options); });
  options.resume = true;
  expect_error(ErrorCode::bad_input, {"stationary"}, [&] { run_heat_job(job(10), options); });
}

// A wall of two layers, 0.25 m each but for half a distance of nodes: ΔT / Σ d/k is what leaves at the cold side.
TEST(HeatRun, LayersOfAJobFileHaveTheirSteadyFlux) {
  const HeatJob job = read_heat_text(R"({"grid": {"nodes": [20, 4], "lengths": [1, 1]},
 "sides": {"x-": {"temperature": 100}, "x+": {"temperature": 0}},
 "material": {"conductivity": 2, "density": 1, "specific_heat": 1},
 "materials": [{"box": {"lower": [0.5, 0], "upper": [1, 1]}, "conductivity": 0.5, "density": 3}],
 "initial": 50, "time": {"step": 0.02, "steps": 2000}, "backend": "openmp:1",
 "points": [{"name": "warm", "at": [0.4737, 0]}, {"name": "cold", "at": [0.5263, 1]}]})",
                                     "wall.json", ".");
  HeatRunOptions options;
  options.files = false;
  const HeatRunResult result = run_heat_job(job, options);
  const double flux = 100 / (0.5 / 2 + 0.5 / 0.5);  // the interface lies in the middle, between the nodes 9 and 10
  EXPECT_NEAR(result.at_points[0], 100 - flux * 9 / 19 / 2, 1e-6);
  EXPECT_NEAR(result.at_points[1], flux * 9 / 19 / 0.5, 1e-6);
  const auto document = nlohmann::json::parse(heat_results_json(job, result));
  EXPECT_TRUE(document["heat"]["defect"].is_null());  // what passes the prescribed sides is not known otherwise
  EXPECT_TRUE(document["heat"]["through_prescribed_sides"].is_number());
  EXPECT_NEAR(result.balance.content - result.balance.initial_content, result.balance.remainder(), 1e-9);
}

}  // namespace
}  // namespace voussoir
