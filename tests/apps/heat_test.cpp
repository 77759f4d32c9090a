// `voussoir heat`: jobs on regular grids, Ctrl-C and --resume, and what it says of wrong jobs.

#include <gtest/gtest.h>
#include <signal.h>

#include <nlohmann/json.hpp>

#include "program_run.hpp"

namespace voussoir::testing {
namespace {

std::string heat_job(int steps, const std::string& sides = "\"all\": \"periodic\"", int nodes = 20) {
  const std::string n = std::to_string(nodes);
  return R"({"title": "A plate", "grid": {"nodes": [)" + n + ", " + n + R"(], "lengths": [1, 1]}, "sides": {)" + sides +
         R"(}, "material": {"conductivity": 1, "density": 1, "specific_heat": 1},
 "initial": {"sine": {"amplitude": 1, "waves": [1, 1]}}, "time": {"step": 0.001, "steps": )" +
         std::to_string(steps) + R"(}, "points": [{"name": "P", "at": [0.25, 0.25]}]})";
}

RunSettings in(const std::filesystem::path& folder) {
  RunSettings settings;
  settings.folder = folder;
  return settings;
}

TEST(HeatCommand, PrintsATableAndWritesFiles) {
  const auto folder = fresh_folder("heat");
  write_text(folder / "plate.json", heat_job(10));
  const Outcome run = run_program({"heat", "plate.json", "--threads", "2"}, in(folder));
  ASSERT_EQ(run.code, 0) << run.error;
  for (const char* piece : {"20 × 20 nodes", "scheme douglas", "10 steps of 0.001 to time 0.01", "defect", "P: 0.4"})
    EXPECT_TRUE(contains(run.out, piece)) << piece << '\n' << run.out;
  EXPECT_EQ(files_in(folder), (std::vector<std::string>{"plate.csv", "plate.json", "plate.png", "plate.pvd",
                                                        "plate.results.json", "plate_000000.vti", "plate_000010.vti"}));
  const Outcome again = run_program({"heat", "plate.json"}, in(folder));
  EXPECT_EQ(again.code, 5);
  EXPECT_TRUE(contains(again.error, "--force")) << again.error;
  EXPECT_EQ(run_program({"heat", "plate.json", "--force", "--quiet", "--no-vti", "--no-picture"}, in(folder)).out, "");
  EXPECT_EQ(run_program({"heat", "plate.json", "--force", "--resume"}, in(folder)).code, 2);
  EXPECT_EQ(run_program({"heat", "plate.json", "--no-files", "--resume"}, in(folder)).code, 2);

  const Outcome json = run_program({"heat", "plate.json", "--json", "--no-files", "--backend", "debug:2"}, in(folder));
  ASSERT_EQ(json.code, 0) << json.error;
  const auto document = nlohmann::json::parse(json.out);
  EXPECT_EQ(document["steps"], 10);
  EXPECT_TRUE(contains(document["backend"], "debug: 2")) << document["backend"];
}

TEST(HeatCommand, SaysWhatIsWrongAndWhere) {
  const auto folder = fresh_folder("heat_wrong");
  write_text(folder / "plate.json", heat_job(10, "\"x\": \"perodic\""));
  const Outcome word = run_program({"heat", "plate.json"}, in(folder));
  EXPECT_EQ(word.code, 1);
  EXPECT_TRUE(contains(word.error, "plate.json:1, /sides/x")) << word.error;
  EXPECT_TRUE(contains(word.error, "did you mean 'periodic'?")) << word.error;
  EXPECT_EQ(run_program({"heat", "none.json"}, in(folder)).code, 5);
  EXPECT_EQ(run_program({"heat"}, in(folder)).code, 2);
  write_text(folder / "fine.json", heat_job(10));
  EXPECT_EQ(run_program({"heat", "fine.json", "--backend", "abacus"}, in(folder)).code, 1);
  EXPECT_EQ(run_program({"heat", "fine.json", "--resume"}, in(folder)).code, 5);
  const Outcome failed = run_program({"heat", "plate.json", "--json"}, in(folder));
  EXPECT_EQ(failed.code, 1);
  EXPECT_FALSE(nlohmann::json::parse(failed.out)["complete"]);
}

TEST(HeatCommand, AnInterruptedRunIsResumed) {
  const auto folder = fresh_folder("heat_interrupted");
  write_text(folder / "long.json", heat_job(200000000, "\"all\": \"periodic\"", 64));
  RunSettings settings = in(folder);
  settings.signal = SIGINT;
  settings.after = 1;
  settings.limit_seconds = 60;
  const Outcome run = run_program({"heat", "long.json", "--no-vti", "--threads", "1"}, settings);
  EXPECT_EQ(run.code, 130) << run.error;
  EXPECT_TRUE(contains(run.error, "use --resume to continue from there")) << run.error;
  EXPECT_TRUE(std::filesystem::exists(folder / "long.state"));
  EXPECT_FALSE(std::filesystem::exists(folder / "long.results.json"));
  settings.terminal = true;
  const Outcome resumed = run_program({"heat", "long.json", "--no-vti", "--threads", "1", "--resume"}, settings);
  EXPECT_EQ(resumed.code, 130) << resumed.error;
  EXPECT_TRUE(contains(resumed.error, "long.json  step ")) << resumed.error;
  EXPECT_TRUE(contains(resumed.error, "/200000000  stepping")) << resumed.error;
  EXPECT_TRUE(contains(resumed.error, " left")) << resumed.error;
  write_text(folder / "long.json", heat_job(200000000, "\"all\": \"insulated\"", 64));
  const Outcome other = run_program({"heat", "long.json", "--resume"}, in(folder));
  EXPECT_EQ(other.code, 1);
  EXPECT_TRUE(contains(other.error, "another job")) << other.error;
}

}  // namespace
}  // namespace voussoir::testing
