// Superelements on several processes, as a user runs them.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "apps/reduced_bar.hpp"
#include "engines/on_processes.hpp"
#include "support/vtu_file.hpp"

namespace voussoir::testing {
namespace {

/// A bar whose right half is reduced, with steps of statics, modes and dynamics.
class Superelements : public ::testing::Test {
 protected:
  void SetUp() override {
    const Outcome reduced =
        bar_.run({"reduce", "tip.json", "--interface", "left", "--modes", "10", "--stresses", "-o", "tip.vsup"});
    ASSERT_EQ(reduced.code, 0) << reduced.error;
    std::string job = read_text(bar_.path / "root.json");
    job.insert(job.rfind(']'), R"(, {"name": "blow", "analysis": "dynamic", "increment": 2e-5, "period": 2e-4,
 "automatic": "no", "loads": ["push"], "amplitudes": {"push": [[0, 0], [1e-4, 1]]}})");
    write_text(bar_.path / "job.json", job);
  }
  /// Values of an array of a VTU file.
  std::vector<double> array(const std::string& file, const std::string& name) const {
    return VtuFile(bar_.path / file).array<double>(name);
  }
  ReducedBar bar_{
      std::string("engine_superelements_") + ::testing::UnitTest::GetInstance()->current_test_info()->name(), "1.5"};
};

void expect_near(const std::vector<double>& a, const std::vector<double>& b, const std::string& what) {
  ASSERT_EQ(a.size(), b.size()) << what;
  double largest = 0, apart = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    largest = std::max(largest, std::abs(a[i]));
    apart = std::max(apart, std::abs(a[i] - b[i]));
  }
  EXPECT_GT(largest, 0) << what;
  EXPECT_LE(apart, 1e-9 * largest) << what;
}

TEST_F(Superelements, HaveTheAnswersOfOneProcess) {
  const Outcome alone = bar_.run({"run", "job.json", "--solver", "direct", "--output", "alone"});
  ASSERT_EQ(alone.code, 0) << alone.error;
  Json expected = results_of(bar_.path / "alone" / "job.results.json");
  ASSERT_EQ(expected["steps"].size(), 3u);
  expected["steps"][2].erase("peaks");  // that of the reaction along x is rounding
  for (const int count : {1, 2, 4}) {
    SCOPED_TRACE(count);
    const std::string output = "on" + std::to_string(count);
    const Outcome outcome =
        on_processes(count, bar_.path, {"run", "job.json", "--engine", "petsc:mumps", "--output", output});
    ASSERT_EQ(outcome.code, 0) << outcome.error << outcome.out;
    Json found = results_of(bar_.path / output / "job.results.json");
    found["steps"][2].erase("peaks");
    expect_same_steps(expected, found);
    EXPECT_EQ(files_in(bar_.path / "alone"), files_in(bar_.path / output));
    for (const std::string name : {"displacement", "mises"})
      expect_near(array("alone/job_step1_tip.vtu", name), array(output + "/job_step1_tip.vtu", name), name);
  }
}

TEST_F(Superelements, AreSolvedByIterationsToo) {
  std::string job = read_text(bar_.path / "root.json");
  job.replace(job.find(R"("steps": [)"), std::string::npos,
              R"("steps": [{"name": "bend", "loads": {"push": 2, "weight": 1}}]})");
  write_text(bar_.path / "job.json", job);
  const Outcome alone = bar_.run({"run", "job.json", "--solver", "direct", "--output", "alone"});
  ASSERT_EQ(alone.code, 0) << alone.error;
  const std::vector<std::vector<std::string>> ways = {{"petsc:gamg"},
                                                      {"petsc:asm"},
                                                      {"petsc:jacobi", "--storage", "matrix-free"},
                                                      {"petsc:backend-cg", "--storage", "element"}};
  for (std::size_t i = 0; i < ways.size(); ++i) {
    SCOPED_TRACE(ways[i][0]);
    const std::string output = "way" + std::to_string(i);
    std::vector<std::string> words{"run", "job.json", "--output", output, "--tolerance", "1e-13", "--engine"};
    words.insert(words.end(), ways[i].begin(), ways[i].end());
    const Outcome outcome = on_processes(3, bar_.path, words);
    ASSERT_EQ(outcome.code, 0) << outcome.error << outcome.out;
    expect_same_steps(results_of(bar_.path / "alone" / "job.results.json"),
                      results_of(bar_.path / output / "job.results.json"));
  }
}

TEST_F(Superelements, AreRefusedWhereTheWholeModelIsOnNoProcess) {
  const auto refused = [&](const Outcome& outcome, const std::string& text) {
    EXPECT_EQ(outcome.code, 4) << outcome.error;
    EXPECT_EQ(occurrences(outcome.error, "superelement 'tip'"), 1u) << outcome.error;
    EXPECT_TRUE(contains(outcome.error, text)) << outcome.error;
  };
  refused(on_processes(2, bar_.path, {"run", "job.json", "--engine", "petsc", "--pieces"}), "without --pieces");
  refused(bar_.run({"partition", "job.json", "--parts", "2", "--output", "job.vpart"}), "divided jobs");
  EXPECT_FALSE(std::filesystem::exists(bar_.path / "job.vpart"));
}

}  // namespace
}  // namespace voussoir::testing
