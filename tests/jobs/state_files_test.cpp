#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include <voussoir/jobs/detail/step_picture.hpp>
#include <voussoir/jobs/result_files.hpp>

#include "column_deck.hpp"
#include "support/expect_error.hpp"

// Pictures, points and paths of steps that have states over time or frequency.

namespace voussoir {
namespace {

using testing::column_deck;
using testing::plainly;
using testing::read_all;

class StateFiles : public testing::FolderTest {
 protected:
  /// Runs a deck with a point at node 13, a path up the column whose last point is above it, and pictures.
  nlohmann::json run(const std::string& deck, Pictures pictures) {
    Job job = read_deck_text(deck, "test.inp");
    job.points.push_back({"tip", {0, 0, 3}, {}});
    ProbePath path;
    path.name = "A";
    path.from = {0, 0, 0};
    path.to = {0, 0, 4};
    path.points = 5;
    job.paths.push_back(path);
    OutputOptions options = here();
    options.pictures = pictures;
    ResultFiles files(job, options);
    const JobResult result = run_job(job, plainly(), {}, files);
    files.finish(result, {plainly(), 0});
    return nlohmann::json::parse(files.json());
  }

  /// The rows of a table of the folder as fields.
  std::vector<std::vector<std::string>> table(const std::string& name) const {
    std::vector<std::vector<std::string>> rows;
    std::istringstream text(read_all(folder_ / name));
    for (std::string line; std::getline(text, line);) {
      std::istringstream row(line);
      rows.emplace_back();
      for (std::string field; std::getline(row, field, ',');) rows.back().push_back(field);
    }
    return rows;
  }

  /// The columns of a table that have these names, row by row.
  std::vector<std::vector<std::string>> columns(const std::string& name, const std::vector<std::string>& names) const {
    const auto rows = table(name);
    std::vector<std::vector<std::string>> found;
    for (std::size_t r = 1; r < rows.size(); ++r) {
      found.emplace_back();
      for (const std::string& column : names) {
        const auto at = std::find(rows[0].begin(), rows[0].end(), column);
        if (at == rows[0].end()) {
          ADD_FAILURE() << name << " has no column " << column;
          return {};
        }
        found.back().push_back(rows[r].at(static_cast<std::size_t>(at - rows[0].begin())));
      }
    }
    return found;
  }

  void expect_same_numbers(const std::vector<std::vector<std::string>>& a,
                           const std::vector<std::vector<std::string>>& b, std::size_t first_number) const {
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t r = 0; r < a.size(); ++r)
      for (std::size_t c = 0; c < a[r].size(); ++c)
        if (c < first_number) {
          EXPECT_EQ(a[r][c], b[r][c]) << r;
        } else {
          EXPECT_NEAR(std::stod(a[r][c]), std::stod(b[r][c]), 1e-9 * std::abs(std::stod(b[r][c])) + 1e-15) << r;
        }
  }
};

const std::string modes = "*STEP\n*FREQUENCY, STORAGE=YES\n6\n*END STEP\n";

TEST_F(StateFiles, ModeSuperpositionIsDrawnAndProbed) {
  const auto document =
      run(column_deck() + modes +
              "*STEP\n*MODAL DYNAMIC\n0.1, 0.5\n*CLOAD\n13, 1, 10.\n*NODE PRINT, NSET=TIP\nU\n*END STEP\n"
              "*STEP\n*STEADY STATE DYNAMICS\n0.6, 1., 3\n*MODAL DAMPING\n1, 6, .02\n*CLOAD\n13, 1, 10.\n"
              "*NODE PRINT, NSET=TIP\nU\n*END STEP\n",
          Pictures::each);
  for (const char* name : {"test_step2.png", "test_step3.png"})
    EXPECT_EQ(read_all(folder_ / name).substr(1, 3), "PNG") << name;
  // The point is node 13, whose displacements are in the tables, too.
  const auto over_time = columns("test_step2_points.csv", {"time", "ux", "uy", "uz"});
  ASSERT_EQ(over_time.size(), 5u);
  expect_same_numbers(over_time, columns("test_step2_U_TIP.csv", {"time", "ux", "uy", "uz"}), 0);
  EXPECT_EQ(columns("test_step2_points.csv", {"mises"}).size(), 5u);
  const auto over_frequency = columns("test_step3_points.csv", {"part", "frequency", "ux", "uy", "uz"});
  EXPECT_GT(over_frequency.size(), 5u);
  expect_same_numbers(over_frequency, columns("test_step3_U_TIP.csv", {"part", "frequency", "ux", "uy", "uz"}), 1);
  EXPECT_EQ(over_frequency[0][0], "real");
  EXPECT_EQ(over_frequency[1][0], "imaginary");
  // Invariants of the parts would be no amplitudes: there are none.
  const auto head = table("test_step3_points.csv").at(0);
  EXPECT_EQ(std::find(head.begin(), head.end(), "mises"), head.end());
  EXPECT_EQ(table("test_step2_path_A.csv").size(), 1 + 5 * 4u);
  EXPECT_EQ(table("test_step3_path_A.csv").size(), 1 + over_frequency.size() * 4);
  ASSERT_EQ(document["notes"].size(), 1u) << document["notes"];
  EXPECT_NE(document["notes"][0].get<std::string>().find("1 of the 5 points of path 'A'"), std::string::npos);
}

TEST_F(StateFiles, DirectIntegrationIsDrawnAndProbed) {
  run(column_deck() +
          "*STEP, INC=10000\n*DYNAMIC, DIRECT\n0.05, 0.3\n*CLOAD\nTIP, 1, 5.\n*NODE PRINT, NSET=TIP\nU\n"
          "*END STEP\n",
      Pictures::worst);
  EXPECT_EQ(read_all(folder_ / "test.png").substr(1, 3), "PNG");
  const auto over_time = columns("test_points.csv", {"time", "ux", "uy", "uz"});
  ASSERT_EQ(over_time.size(), 6u);
  expect_same_numbers(over_time, columns("test_U_TIP.csv", {"time", "ux", "uy", "uz"}), 0);
}

/// A state whose displacement along x is `ux` at the top of the column.
StepState state_of(const Job& job, double at, double ux) {
  StepState state;
  state.at = state.time = at;
  NodalField& u = state.result.unknowns;
  u = {"displacement", {"ux", "uy", "uz"}, {}};
  u.values.assign(3 * static_cast<std::size_t>(job.domains[0]->node_count()), 0.0);
  for (std::size_t n = 12; n < 16; ++n) u.values[3 * n] = ux;
  return state;
}

class StatePictures : public StateFiles {
 protected:
  std::string drawn(const Job& job, std::size_t step, const std::vector<StepState>& states, const std::string& name) {
    OutputOptions options = here();
    options.pictures = Pictures::each;
    options.picture_field = "displacement";
    detail::StepPictures pictures(job, options);
    for (const StepState& state : states) pictures.take_state(step, state);
    const auto files = pictures.draw_states(step, folder_, name);
    EXPECT_EQ(files.size(), states.empty() ? 0u : 1u);
    return files.empty() ? "" : read_all(files[0]);
  }
};

TEST_F(StatePictures, TheStateWithTheLargestValueIsDrawn) {
  const Job job = read_deck_text(column_deck() + "*STEP\n*DYNAMIC, DIRECT\n0.05, 0.3\n*END STEP\n", "test.inp");
  const StepState small = state_of(job, 0.1, 0.2), large = state_of(job, 0.2, -0.5), later = state_of(job, 0.3, 0.4);
  const std::string worst = drawn(job, 0, {small, large, later}, "a");
  EXPECT_EQ(worst, drawn(job, 0, {large}, "b"));
  EXPECT_NE(worst, drawn(job, 0, {small}, "c"));
  StepState unseen = state_of(job, 0.25, 7);
  unseen.for_viewers = false;
  EXPECT_EQ(worst, drawn(job, 0, {small, unseen, large}, "d"));
  EXPECT_EQ(drawn(job, 0, {}, "e"), "");
}

TEST_F(StatePictures, HarmonicMotionsAreDrawnAtTheirLargest) {
  const Job job =
      read_deck_text(column_deck() + modes + "*STEP\n*STEADY STATE DYNAMICS\n0.6, 1., 3\n*END STEP\n", "test.inp");
  // 3 cos φ − 4 sin φ has the amplitude 5.
  StepState both = state_of(job, 0.7, 3), real = state_of(job, 0.7, 5), weak = state_of(job, 0.7, 3);
  both.imaginary = state_of(job, 0.7, 4).result;
  real.imaginary = weak.imaginary = state_of(job, 0.7, 0).result;
  const std::string picture = drawn(job, 1, {both}, "a");
  EXPECT_EQ(picture, drawn(job, 1, {real}, "b"));
  EXPECT_NE(picture, drawn(job, 1, {weak}, "c"));
}

TEST_F(StateFiles, FieldsThatStepsDoNotHaveAreRefused) {
  OutputOptions options = here();
  options.pictures = Pictures::worst;
  const Job dynamic = read_deck_text(column_deck() + "*STEP\n*DYNAMIC, DIRECT\n0.05, 0.3\n*END STEP\n", "test.inp");
  options.picture_field = "error";
  testing::expect_error(ErrorCode::bad_input, {"--picture-field", "'error'", "mises"},
                        [&] { ResultFiles(dynamic, options); });
}

}  // namespace
}  // namespace voussoir
