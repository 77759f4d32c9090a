// *RESTART, WRITE and READ: steps in two decks give the same bits as in one, and what is refused.

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include "program_run.hpp"

namespace voussoir::testing {
namespace {

namespace fs = std::filesystem;

/// A cantilever without steps whose material has more properties.
std::string model(const std::string& properties, const std::string& type = "C3D8") {
  std::string deck = cantilever_deck(3, 1, 1, {});
  const std::string elastic = "*ELASTIC\n210000., 0.3\n";
  deck.replace(deck.find(elastic), elastic.size(), elastic + properties);
  deck.replace(deck.find("C3D8"), 4, type);
  return deck + "*AMPLITUDE, NAME=HIT, TIME=TOTAL TIME\n0., 0., 1e-4, 1., 2e-4, 0.5, 1., 0.5\n";
}

const std::string density = "*DENSITY\n7.8e-9\n";
const std::string thermal = "*CONDUCTIVITY\n50.\n*SPECIFIC HEAT\n5e8\n*EXPANSION\n1.2e-5\n" + density;
const std::string plastic = "*PLASTIC\n250., 0.\n300., 0.01\n400., 0.1\n" + density;

/// Of many increments, the last one is shown.
std::string step(const std::string& begin, const std::string& actions) {
  return begin + actions +
         "*NODE PRINT, NSET=TIP, FREQUENCY=1000\nU\n*NODE PRINT, NSET=CLAMP, TOTALS=YES, FREQUENCY=1000\nRF\n*EL "
         "PRINT, "
         "ELSET=BEAM, FREQUENCY=1000\nS\n*NODE FILE, FREQUENCY=1000\nU\n*END STEP\n";
}

std::string heat_step(const std::string& begin, const std::string& actions) {
  return begin + actions + "*NODE PRINT, NSET=TIP, FREQUENCY=1000\nNT\n*NODE FILE, FREQUENCY=1000\nNT\n*END STEP\n";
}

struct Job {
  std::string name, model;
  std::vector<std::string> steps;
  std::size_t results_of_step = 1;  // heat and stress are two
};

Outcome run_deck(const fs::path& folder, const std::string& deck, const std::vector<std::string>& more = {}) {
  write_text(folder / "job.inp", deck);
  std::vector<std::string> words{"run", "job.inp", "--threads", "1", "--solver", "direct"};
  words.insert(words.end(), more.begin(), more.end());
  RunSettings settings;
  settings.folder = folder;
  return run_program(words, settings);
}

std::string joined(const Job& job, std::size_t first, std::size_t last) {
  std::string text;
  for (std::size_t i = first; i < last; ++i) text += job.steps[i];
  return text;
}

/// All files of a step of two runs.
void expect_same_step(const fs::path& whole, const fs::path& continued, std::size_t number, const std::string& what) {
  const std::string start = "job_step" + std::to_string(number);
  std::size_t compared = 0;
  for (const std::string& name : files_in(whole)) {
    if (!name.starts_with(start)) continue;
    ++compared;
    EXPECT_TRUE(fs::exists(continued / name)) << what << ": " << name;
    if (fs::exists(continued / name)) {
      EXPECT_TRUE(read_text(whole / name) == read_text(continued / name)) << what << ": " << name << " differs";
    }
  }
  EXPECT_GT(compared, 1u) << what;
}

/// All files of the last step of two runs, of which the second has solved it alone.
void expect_same_last_step(const fs::path& whole, const fs::path& continued, std::size_t steps,
                           const std::string& what) {
  expect_same_step(whole, continued, steps, what);
  for (const std::string& name : files_in(continued))
    EXPECT_FALSE(name.starts_with("job_step1")) << what << ": step 1 was solved again: " << name;
  // The tables of the last step are the end of those of all steps.
  const std::string all = read_text(whole / "job.dat"), last = read_text(continued / "job.dat");
  EXPECT_TRUE(!last.empty() && all.ends_with(last)) << what << ": job.dat";
}

/// Runs all steps in one deck, and the last one in a deck that continues the others.
void check(const Job& job, const std::string& between = "") {
  const fs::path whole = fresh_folder("restart_whole"), first = fresh_folder("restart_first"),
                 continued = fresh_folder("restart_continued");
  const std::size_t count = job.steps.size();
  const Outcome all = run_deck(whole, job.model + between + joined(job, 0, count));
  ASSERT_EQ(all.code, 0) << job.name << all.error;
  const Outcome begin = run_deck(first, job.model + "*RESTART, WRITE\n" + joined(job, 0, count - 1));
  ASSERT_EQ(begin.code, 0) << job.name << begin.error;
  ASSERT_TRUE(fs::exists(first / "job.rout")) << job.name;
  fs::copy_file(first / "job.rout", continued / "job.rin");
  const Outcome end = run_deck(continued, "** new steps\n*RESTART, READ\n" + between + job.steps.back());
  ASSERT_EQ(end.code, 0) << job.name << end.error;
  EXPECT_TRUE(contains(end.error, "continues after step " + std::to_string(count - 1) + " of 'job.inp'")) << end.error;
  for (std::size_t k = 1; k < job.results_of_step; ++k)
    expect_same_step(whole, continued, count * job.results_of_step - k, job.name);
  expect_same_last_step(whole, continued, count * job.results_of_step, job.name);
}

std::vector<Job> jobs() {
  const std::string linear = "*STEP\n*STATIC\n", large = "*STEP, NLGEOM\n*STATIC\n0.5, 1.\n",
                    increments = "*STEP\n*STATIC\n0.25, 1.\n", implicit = "*STEP, INC=1000\n*DYNAMIC\n5e-6, 1e-5\n",
                    fixed = "*STEP, INC=1000\n*DYNAMIC, DIRECT\n1e-5, 1e-4\n",
                    large_implicit = "*STEP, NLGEOM, INC=1000\n*DYNAMIC, DIRECT\n1e-5, 1e-4\n",
                    explicit_step = "*STEP\n*DYNAMIC, EXPLICIT\n, 2e-6\n",
                    heat = "*STEP, INC=1000\n*HEAT TRANSFER\n0.2, 1.\n",
                    both = "*STEP, INC=1000\n*UNCOUPLED TEMPERATURE-DISPLACEMENT\n0.2, 1.\n";
  const std::string pull = "*CLOAD\nTIP, 3, 20.\n", more = "*CLOAD\nTIP, 3, 35.\nTIP, 2, 5.\n",
                    hit = "*CLOAD, AMPLITUDE=HIT\nTIP, 3, 20.\n", warm = "*DFLUX\nBEAM, BF, 1000.\n";
  const std::string hot = "*INITIAL CONDITIONS, TYPE=TEMPERATURE\nALL, 20.\n*BOUNDARY\nCLAMP, 11, 11, 20.\n";
  return {
      {"linear statics", model(""), {step(linear, pull), step(linear, ""), step(linear, more)}},
      {"a support that stays where it is",
       model(""),
       {step(linear, "*BOUNDARY\nTIP, 1, 1, 0.01\n"), step(linear, "*BOUNDARY, FIXED\nTIP, 1, 1\n" + pull)}},
      {"large displacements", model(""), {step(large, pull), step(large, more)}},
      {"plastic statics",
       model(plastic),
       {step(increments, "*CLOAD\nTIP, 1, 70.\n"), step(increments, "*CLOAD\nTIP, 1, 10.\n"), step(increments, "")}},
      {"implicit dynamics", model(density), {step(implicit, hit), step(implicit, "")}},
      {"implicit dynamics, fixed increments", model(density), {step(fixed, hit), step(fixed, ""), step(fixed, more)}},
      {"large displacements in time", model(density), {step(large_implicit, hit), step(large_implicit, "")}},
      {"plastic dynamics", model(plastic), {step(fixed, "*CLOAD, AMPLITUDE=HIT\nTIP, 1, 150.\n"), step(fixed, "")}},
      {"statics in increments before dynamics", model(plastic), {step(increments, pull), step(fixed, "")}},
      {"explicit dynamics", model(density), {step(explicit_step, hit), step(explicit_step, "")}},
      {"explicit plastic dynamics",
       model(plastic),
       {step("*STEP, NLGEOM\n*DYNAMIC, EXPLICIT\n, 2e-5\n", "*CLOAD\nTIP, 1, 150.\n"),
        step("*STEP, NLGEOM\n*DYNAMIC, EXPLICIT\n, 2e-6\n", "*CLOAD, OP=NEW\n")}},
      {"transient heat", model(thermal) + hot, {heat_step(heat, warm), heat_step(heat, "")}},
      {"heat and stress", model(thermal) + hot, {step(both, warm), step(both, pull)}, 2},
  };
}

TEST(Restart, ContinuesToTheSameBits) {
  for (const Job& job : jobs()) check(job);
}

TEST(Restart, NewSetsAndAmplitudesMayBeDefined) {
  Job job = jobs()[4];
  job.steps[1] = step("*STEP, INC=1000\n*DYNAMIC\n5e-6, 1e-5\n", "*CLOAD, AMPLITUDE=PULSE\nCORNER, 2, 3.\n");
  check(job, "*NSET, NSET=CORNER\n4,\n*AMPLITUDE, NAME=PULSE\n0., 0., 1e-4, 1.\n");
}

/// Statics before *DYNAMIC: linear in one deck, in an increment of its own in the other.
TEST(Restart, DynamicsBeginsWithLinearStatics) {
  const std::string pull = step("*STEP\n*STATIC\n", "*CLOAD\nTIP, 3, 20.\n"),
                    rest = step("*STEP, INC=1000\n*DYNAMIC, DIRECT\n1e-5, 1e-4\n", "");
  const fs::path first = fresh_folder("restart_first"), continued = fresh_folder("restart_continued"),
                 whole = fresh_folder("restart_whole");
  ASSERT_EQ(run_deck(whole, model(density) + pull + rest).code, 0);
  ASSERT_EQ(run_deck(first, model(density) + "*RESTART, WRITE\n" + pull).code, 0);
  fs::copy_file(first / "job.rout", continued / "job.rin");
  const Outcome end = run_deck(continued, "*RESTART, READ\n" + rest);
  ASSERT_EQ(end.code, 0) << end.error;
  const auto last_line = [](const fs::path& folder) {
    std::istringstream lines(read_text(folder / "job_step2_U_TIP.csv"));
    std::string last;
    for (std::string line; std::getline(lines, line);) last = line;
    return last;
  };
  std::istringstream a(last_line(whole)), b(last_line(continued));
  std::string x, y;
  int numbers = 0;
  while (std::getline(a, x, ',') && std::getline(b, y, ',')) {
    EXPECT_NEAR(std::stod(x), std::stod(y), 1e-9 * std::abs(std::stod(x)) + 1e-12);
    ++numbers;
  }
  EXPECT_GT(numbers, 3);
}

TEST(Restart, StepsAreChosenAndCanBeContinuedAgain) {
  const Job job = jobs()[5];
  const fs::path whole = fresh_folder("restart_whole"), first = fresh_folder("restart_first"),
                 second = fresh_folder("restart_second"), third = fresh_folder("restart_third");
  ASSERT_EQ(run_deck(whole, job.model + joined(job, 0, 3)).code, 0);
  // The text with what it includes is in the file: neither is needed later.
  write_text(first / "model.inp", job.model);
  ASSERT_EQ(run_deck(first, "*INCLUDE, INPUT=model.inp\n*RESTART, WRITE\n" + joined(job, 0, 3)).code, 0);
  fs::copy_file(first / "job.rout", second / "job.rin");
  const Outcome run = run_deck(second, "*RESTART, READ, STEP=1\n*RESTART, WRITE, OVERLAY\n" + job.steps[1]);
  ASSERT_EQ(run.code, 0) << run.error;
  fs::copy_file(second / "job.rout", third / "job.rin");
  const Outcome last = run_deck(third, "*RESTART, READ\n" + job.steps[2]);
  ASSERT_EQ(last.code, 0) << last.error;
  expect_same_last_step(whole, third, 3, "continued twice");
  // A file with OVERLAY has the last step alone.
  const Outcome none = run_deck(third, "*RESTART, READ, STEP=1\n" + job.steps[2], {"--force"});
  EXPECT_EQ(none.code, 1);
  EXPECT_TRUE(contains(none.error, "job.inp:1") && contains(none.error, "it has those of step 2")) << none.error;
}

/// A comma at the end of the line is looked beyond; what follows is the new deck with what it includes.
TEST(Restart, NewDecksIncludeFilesOfTheirOwn) {
  const Job job = jobs()[5];
  const fs::path whole = fresh_folder("restart_whole"), first = fresh_folder("restart_first"),
                 continued = fresh_folder("restart_continued");
  ASSERT_EQ(run_deck(whole, job.model + joined(job, 0, 2)).code, 0);
  for (const char* end : {"*END STEP,", "*END STEP", "*END STEP\n** the end\n"}) {
    SCOPED_TRACE(end);
    std::string begin = job.model + "*RESTART, WRITE\n" + job.steps[0];
    begin.replace(begin.find("*END STEP"), std::string::npos, end);
    ASSERT_EQ(run_deck(first, begin, {"--force"}).code, 0);
    fs::copy_file(first / "job.rout", continued / "job.rin", fs::copy_options::overwrite_existing);
    write_text(continued / "steps.inp", job.steps[1]);
    const Outcome run = run_deck(continued, "*RESTART, READ\n*INCLUDE, INPUT=steps.inp\n", {"--force"});
    ASSERT_EQ(run.code, 0) << run.error;
    expect_same_last_step(whole, continued, 2, end);
  }
}

TEST(Restart, FrequencyCountsSteps) {
  const Job job = jobs()[0];
  const fs::path folder = fresh_folder("restart_first");
  ASSERT_EQ(run_deck(folder, job.model + "*RESTART, WRITE, FREQUENCY=2\n" + joined(job, 0, 3)).code, 0);
  fs::copy_file(folder / "job.rout", folder / "job.rin");
  const Outcome none = run_deck(folder, "*RESTART, READ, STEP=3\n" + job.steps[2], {"--force"});
  EXPECT_TRUE(contains(none.error, "it has those of step 2")) << none.error;
}

/// A state does not repeat what all earlier steps were solved with.
TEST(Restart, FilesGrowWithTheNumberOfSteps) {
  const auto size = [](int steps) {
    std::string deck = model("") + "*RESTART, WRITE\n";
    for (int i = 0; i < steps; ++i)
      deck += "*STEP\n*STATIC\n*CLOAD\nTIP, 3, " + std::to_string(10 + i) + ".\n*END STEP\n";
    const fs::path folder = fresh_folder("restart_first");
    EXPECT_EQ(run_deck(folder, deck).code, 0);
    return static_cast<double>(fs::file_size(folder / "job.rout"));
  };
  const double few = size(10), more = size(20), most = size(40);
  EXPECT_NEAR((most - more) / (more - few), 2, 0.1);
}

/// The error message of a deck that reads the restart file of a linear job.
std::string refused(const std::string& deck, const std::function<void(std::string&)>& damage = {}) {
  static const std::string file = [] {
    const fs::path folder = fresh_folder("restart_refused_first");
    const Job job = jobs()[0];
    EXPECT_EQ(run_deck(folder, job.model + "*RESTART, WRITE\n" + joined(job, 0, 1)).code, 0);
    return read_text(folder / "job.rout");
  }();
  const fs::path folder = fresh_folder("restart_refused");
  std::string bytes = file;
  if (damage) damage(bytes);
  if (!bytes.empty()) write_text(folder / "job.rin", bytes);
  const Outcome run = run_deck(folder, deck);
  EXPECT_NE(run.code, 0) << deck;
  EXPECT_TRUE(contains(run.error, "job.inp:")) << run.error;
  return run.error;
}

TEST(Restart, RefusesWhatItCannotRead) {
  const std::string next = "*RESTART, READ\n*STEP\n*STATIC\n*END STEP\n";
  EXPECT_TRUE(contains(refused(next, [](std::string& bytes) { bytes.clear(); }), "there is no restart file"));
  EXPECT_TRUE(contains(refused(next, [](std::string& bytes) { bytes[bytes.size() / 2] ^= 1; }), "checksum"));
  EXPECT_TRUE(contains(refused(next, [](std::string& bytes) { bytes.resize(bytes.size() - 9); }), "length"));
  EXPECT_TRUE(contains(refused(next, [](std::string& bytes) { bytes[8] = 9; }), "format 9"));
  EXPECT_TRUE(contains(refused(next, [](std::string& bytes) { bytes = "*NODE\n1, 0., 0., 0.\n"; }), "cannot be used"));
  EXPECT_TRUE(contains(refused(next, [](std::string& bytes) { bytes = std::string("P\0\0\0Version 2.20", 16); }),
                       "written by CalculiX"));
  EXPECT_TRUE(contains(refused("*RESTART, READ, STEP=4\n*STEP\n*STATIC\n*END STEP\n"), "no state of this step"));
}

TEST(Restart, RefusesDecksThatChangeWhatWasSolved) {
  EXPECT_TRUE(contains(refused("*RESTART, READ\n"), "no new step"));
  EXPECT_TRUE(contains(refused("*NSET, NSET=A\n1,\n*RESTART, READ\n*STEP\n*STATIC\n*END STEP\n"), "first card"));
  EXPECT_TRUE(contains(refused("*RESTART, WRITE\n*RESTART, READ\n*STEP\n*STATIC\n*END STEP\n"), "first card"));
  EXPECT_TRUE(contains(refused("*RESTART, READ\n*NODE\n99, 0., 0., 0.\n*STEP\n*STATIC\n*END STEP\n"), "*NODE"));
  EXPECT_TRUE(contains(refused("*RESTART, READ\n*NSET, NSET=TIP\n1,\n*STEP\n*STATIC\n*END STEP\n"), "another name"));
  EXPECT_TRUE(contains(refused("*RESTART, READ\n*STEP, NLGEOM\n*STATIC\n*END STEP\n"), "NLGEOM"));
  EXPECT_TRUE(contains(refused("*RESTART, READ\n*STEP\n*FREQUENCY\n2\n*END STEP\n"), "modes"));
  EXPECT_TRUE(contains(refused("*RESTART, READ, WRITE\n*STEP\n*STATIC\n*END STEP\n"), "READ or WRITE"));
}

/// A set that a later step of the first deck extends would be smaller in the steps that are kept.
TEST(Restart, RefusesSetsThatALaterStepExtends) {
  const std::string pull = step("*STEP\n*STATIC\n", "*CLOAD\nTIP, 3, 20.\n");
  const fs::path folder = fresh_folder("restart_first"), continued = fresh_folder("restart_continued");
  const Outcome first =
      run_deck(folder, model("") + "*RESTART, WRITE\n" + pull + "*STEP\n*STATIC\n*NSET, NSET=TIP\n3,\n*END STEP\n");
  ASSERT_EQ(first.code, 0) << first.error;
  fs::copy_file(folder / "job.rout", continued / "job.rin");
  const Outcome run = run_deck(continued, "*RESTART, READ, STEP=1\n" + pull);
  EXPECT_EQ(run.code, 1);
  EXPECT_TRUE(contains(run.error, "node set 'TIP'")) << run.error;
}

}  // namespace
}  // namespace voussoir::testing
