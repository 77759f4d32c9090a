#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include <voussoir/framework/io/deck/deck_reader.hpp>
#include <voussoir/framework/io/job/job_file.hpp>
#include <voussoir/jobs/result_files.hpp>

#include "bar_job.hpp"
#include "column_deck.hpp"
#include "support/expect_error.hpp"

// Steps of direct integration from decks and job files. The numbers of decks are those that CalculiX 2.20 prints for
// the same deck.

namespace voussoir {
namespace {

using testing::column_deck;
using testing::expect_error;
using testing::KeptSteps;
using testing::plainly;
using testing::RanDeck;
using testing::run_deck;

/// column_deck() with the amplitude SHAKE, which goes from 0 to 1 and back within 0.4 without jumps of its rate.
std::string dynamic_column(const std::string& damping = "", const std::string& initial = "") {
  std::ostringstream text;
  text << column_deck(damping, initial) << "*AMPLITUDE, NAME=SHAKE\n";
  char line[64];
  for (int i = 0; i <= 400; ++i) {
    std::snprintf(line, sizeof line, "%.3f, %.9f,\n", 0.001 * i,
                  (1 - std::cos(2 * std::acos(-1.0) * 0.001 * i / 0.4)) / 2);
    text << line;
  }
  return text.str();
}

const std::string printed = "*NODE PRINT, NSET=TIP\nU, V\n*NODE PRINT, NSET=FOOT, TOTALS=ONLY\nRF\n*END STEP\n";

/// U and V of node 13 in a state, as CalculiX prints them.
void expect_tip(const StepState& state, const std::array<double, 3>& u, const std::array<double, 3>& v,
                double tolerance) {
  const auto size = [](const std::array<double, 3>& x) { return std::hypot(x[0], x[1], x[2]); };
  for (int k = 0; k < 3; ++k) {
    EXPECT_NEAR(state.result.unknowns.at(12, k), u[k], tolerance * size(u)) << "u " << k;
    EXPECT_NEAR(state.velocity.at(12, k), v[k], tolerance * size(v)) << "v " << k;
  }
}

TEST(DynamicSteps, StepLoadAsInCalculiX) {
  const RanDeck ran =
      run_deck(dynamic_column() + "*STEP, INC=10000\n*DYNAMIC, DIRECT\n0.01, 0.3\n*CLOAD\nTIP, 1, 5.\n" + printed);
  const auto& states = ran.kept.states.at(0);
  ASSERT_EQ(states.size(), 30u);
  EXPECT_NEAR(states.back().at, 0.3, 1e-12);
  expect_tip(states.back(), {2.709063E-01, -9.551260E-02, 5.196088E-02}, {1.135193E+00, -3.996794E-01, 3.552217E-01},
             1e-3);
  const StepResponse& response = ran.kept.responses.at(0);
  EXPECT_EQ(response.axis.size(), 31u);
  ASSERT_EQ(response.energies.size(), 5u);
  EXPECT_EQ(response.energies[0].second.size(), 31u);
  std::map<std::string, double> totals(response.totals.begin(), response.totals.end());
  EXPECT_NEAR(totals.at("external"), 5 * states.back().result.unknowns.at(12, 0), 1e-9);
  EXPECT_GT(totals.at("numerical"), -1e-9);
  std::map<std::string, double> counts(response.counts.begin(), response.counts.end());
  EXPECT_EQ(counts.at("increments"), 30);
  EXPECT_EQ(counts.at("matrices"), 1);
  ASSERT_EQ(response.histories.size(), 3u + 12u);
}

TEST(DynamicSteps, DampedPulseAsInCalculiX) {
  const std::string deck = dynamic_column("*DAMPING, ALPHA=1.5, BETA=0.004\n") +
                           "*STEP, INC=10000\n*DYNAMIC, DIRECT, ALPHA=-0.1\n0.01, 0.5\n*DLOAD, AMPLITUDE=PULSE\n3, P2, "
                           "4.\n*CLOAD, AMPLITUDE=PULSE\nTIP, 2, 3.\n" +
                           printed;
  expect_tip(run_deck(deck).kept.states.at(0).back(), {-2.916773E-02, 1.284828E-01, 1.699295E-02},
             {1.238893E-01, -2.664751E-02, 9.931235E-02}, 1e-3);
}

// The foot moves by 0.05 (1 − cos ωt) and ends where it began, so that relative and absolute displacements are the same
// there. CalculiX 2.20 is not the reference: it prints 1.854e-2 for ux whatever the increment, the modes have 1.345e-2.
TEST(DynamicSteps, MovedSupportsAreTheBaseMotionOfAllModes) {
  const RanDeck moved =
      run_deck(dynamic_column() +
               "*STEP, INC=10000\n*DYNAMIC, DIRECT, ALPHA=0.\n0.001, 0.4\n*BOUNDARY, AMPLITUDE=SHAKE\nFOOT, "
               "1, 1, 0.1\n" +
               printed);
  const double omega = 2 * std::acos(-1.0) / 0.4;
  std::ostringstream deck;
  deck << dynamic_column() << "*AMPLITUDE, NAME=ACC\n";
  for (int i = 0; i <= 400; ++i) deck << 0.001 * i << ", " << std::cos(omega * 0.001 * i) << ",\n";
  deck
      << "*STEP\n*FREQUENCY\n36\n*END STEP\n*STEP\n*MODAL DYNAMIC\n0.1, 0.4\n*BASE MOTION, DOF=1, AMPLITUDE=ACC, SCALE="
      << 0.05 * omega * omega << "\n*NODE PRINT, NSET=TIP\nU, V\n*END STEP\n";
  const RanDeck modal = run_deck(deck.str());
  const StepState& found = modal.kept.states.at(1).back();
  std::array<double, 3> u{}, v{};
  for (int k = 0; k < 3; ++k) {
    u[static_cast<std::size_t>(k)] = found.result.unknowns.at(12, k);
    v[static_cast<std::size_t>(k)] = found.velocity.at(12, k);
  }
  expect_tip(moved.kept.states.at(0).back(), u, v, 2e-2);
}

TEST(DynamicSteps, InitialVelocitiesAsInCalculiX) {
  const RanDeck ran = run_deck(
      dynamic_column("", "*INITIAL CONDITIONS, TYPE=VELOCITY\n13, 1, 0.5\n14, 1, 0.5\n15, 1, 0.5\n16, 1, 0.5\n") +
      "*STEP, INC=10000\n*DYNAMIC, DIRECT, ALPHA=0.\n0.01, 0.3\n" + printed);
  expect_tip(ran.kept.states.at(0).back(), {6.153898E-02, -3.480450E-04, 7.350750E-03},
             {8.429869E-02, -2.088982E-02, -3.080150E-02}, 1e-3);
  const StepResponse& response = ran.kept.responses.at(0);
  std::map<std::string, double> totals(response.totals.begin(), response.totals.end());
  EXPECT_NEAR(totals.at("kinetic") + totals.at("internal"), totals.at("initial"), 1e-10 * totals.at("initial"));
}

// Without AMPLITUDE the temperature jumps at the beginning; with it, the given value is multiplied. CalculiX begins the
// first without the accelerations of the jump and converges with the first order only: its numbers are those of
// increments of 5e-5.
TEST(DynamicSteps, TemperaturesAsInCalculiX) {
  const std::string model =
      dynamic_column("*EXPANSION\n1e-3\n", "*INITIAL CONDITIONS, TYPE=TEMPERATURE\nNALL, 20.\n") +
      "*AMPLITUDE, NAME=WARM\n0., 0.2, 0.2, 1., 0.4, 0.4\n*STEP, INC=10000\n*DYNAMIC, DIRECT\n0.0005, 0.3\n";
  const std::string tables = "*NODE FILE, FREQUENCY=100\nU\n*END STEP\n";
  expect_tip(run_deck(model + "*TEMPERATURE\nNALL, 120.\n" + tables).kept.states.at(0).back(),
             {-7.971845E-02, -5.781104E-02, 5.859980E-01}, {1.347897E+00, 6.367071E-01, -1.896535E+00}, 2e-2);
  expect_tip(run_deck(model + "*TEMPERATURE, AMPLITUDE=WARM\nNALL, 100.\n" + tables).kept.states.at(0).back(),
             {-2.352810E-02, -1.350876E-02, 3.563261E-01}, {-1.055338E-01, -1.914037E-01, 8.241604E-01}, 1e-5);
}

TEST(DynamicSteps, TemperaturesThatJumpInExplicitStepsAreRefused) {
  expect_error(ErrorCode::bad_input, {"test.inp:", "would jump from", "to 120", "explicit"}, [&] {
    run_deck(dynamic_column("*EXPANSION\n1e-3\n") +
             "*STEP\n*DYNAMIC, EXPLICIT\n0.001, 0.3\n*TEMPERATURE\nNALL, 120.\n*END STEP\n");
  });
}

TEST(DynamicSteps, AStepContinuesTheOneBefore) {
  const RanDeck ran =
      run_deck(dynamic_column() + "*STEP, INC=10000\n*DYNAMIC, DIRECT\n0.01, 0.2\n*CLOAD\nTIP, 1, 5.\n" + printed +
               "*STEP, INC=10000\n*DYNAMIC, DIRECT\n0.01, 0.2\n*CLOAD, OP=NEW\n" + printed);
  EXPECT_NEAR(ran.kept.states.at(1).back().at, 0.4, 1e-12);
  expect_tip(ran.kept.states.at(1).back(), {2.354634E-01, -7.021817E-02, 2.566770E-02},
             {-4.686803E-01, 4.180007E-01, 2.710653E-01}, 1e-2);
}

// Both programs print these numbers with DIRECT and increments of 2.5e-4. The automatic increments of CalculiX give a
// velocity along y of -0.0270.
TEST(DynamicSteps, AutomaticIncrementsAreNearShortOnes) {
  const RanDeck ran = run_deck(dynamic_column("*DAMPING, ALPHA=1.5, BETA=0.004\n") +
                               "*STEP, INC=10000\n*DYNAMIC, ALPHA=-0.1\n0.005, 0.5, 1e-6, 0.01\n*DLOAD, "
                               "AMPLITUDE=PULSE\n3, P2, 4.\n*CLOAD, AMPLITUDE=PULSE\nTIP, 2, 3.\n" +
                               printed);
  expect_tip(ran.kept.states.at(0).back(), {-2.922379E-02, 1.285286E-01, 1.702441E-02},
             {1.257015E-01, -3.058520E-02, 9.926267E-02}, 5e-3);
  for (int k = 0; k < 3; ++k)
    EXPECT_NEAR(ran.kept.states.at(0).back().result.unknowns.at(12, k),
                (std::array<double, 3>{-2.922379E-02, 1.285286E-01, 1.702441E-02}[static_cast<std::size_t>(k)]), 1e-4);
}

TEST(DynamicSteps, IncrementsEndOnTimePoints) {
  const RanDeck ran = run_deck(dynamic_column() +
                               "*TIME POINTS, NAME=T\n0.025, 0.07\n*STEP\n*DYNAMIC, DIRECT\n0.02, "
                               "0.1\n*CLOAD\nTIP, 1, 5.\n*NODE PRINT, NSET=TIP, "
                               "TIME POINTS=T\nU\n*NODE FILE, FREQUENCY=100\nU\n*END STEP\n");
  const auto& states = ran.kept.states.at(0);
  ASSERT_EQ(states.size(), 3u);
  EXPECT_NEAR(states[0].at, 0.025, 1e-12);
  EXPECT_NEAR(states[1].at, 0.07, 1e-12);
  EXPECT_FALSE(states[0].for_viewers);
  EXPECT_TRUE(states[2].for_viewers);
  EXPECT_FALSE(states[2].prints[0]);
}

TEST(DynamicSteps, InitialMotionsOfSupportsAreNoted) {
  const RanDeck ran = run_deck(dynamic_column("", "*INITIAL CONDITIONS, TYPE=VELOCITY\nNALL, 1, 0.5\n") +
                               "*STEP, INC=10000\n*DYNAMIC, DIRECT\n0.01, 0.02\n" + printed);
  const auto& notes = ran.kept.responses.at(0).notes;
  const auto found = std::find_if(notes.begin(), notes.end(), [](const std::string& note) {
    return note.find("initial velocities of 4 supported unknowns are not used (the first: ux of node 1)") !=
           std::string::npos;
  });
  EXPECT_NE(found, notes.end());
  // Zeros say nothing.
  const RanDeck still = run_deck(dynamic_column("", "*INITIAL CONDITIONS, TYPE=VELOCITY\n1, 1, 0.\n13, 1, 0.5\n") +
                                 "*STEP, INC=10000\n*DYNAMIC, DIRECT\n0.01, 0.02\n" + printed);
  for (const std::string& note : still.kept.responses.at(0).notes)
    EXPECT_EQ(note.find("supported"), std::string::npos) << note;
}

TEST(DynamicSteps, RefusesByNameAndLine) {
  const std::string model = dynamic_column();
  const auto refuse = [&](const std::string& step, std::initializer_list<std::string> pieces) {
    expect_error(ErrorCode::bad_input, pieces, [&] { read_deck_text(model + step + "*END STEP\n", "test.inp"); });
  };
  refuse("*STEP\n*DYNAMIC, ALPHA=-0.5\n0.1, 1.\n", {"test.inp:", "-1/3"});
  refuse("*STEP\n*DYNAMIC\n", {"test.inp:", "data line"});
  refuse("*STEP\n*DYNAMIC\n0., 1.\n", {"test.inp:", "positive"});
  refuse("*STEP\n*DYNAMIC\n2., 1.\n", {"test.inp:", "longer than the period"});
  refuse("*STEP\n*DYNAMIC, ADIABATIC\n0.1, 1.\n", {"test.inp:", "ADIABATIC", "produces no heat"});
  refuse("*STEP\n*DYNAMIC, RELATIVE TO ABSOLUTE\n0.1, 1.\n", {"test.inp:", "RELATIVE TO ABSOLUTE"});
  refuse("*STEP, AMPLITUDE=RAMP\n*DYNAMIC\n0.1, 1.\n*CLOAD\n13, 1, 1.\n", {"test.inp:", "RAMP"});
  refuse("*STEP\n*DYNAMIC\n0.1, 1.\n*BOUNDARY\n13, 1, 1, 0.1\n", {"test.inp:", "jump"});
  const std::string pushed = "*STEP\n*DYNAMIC, DIRECT\n0.1, 1.\n*CLOAD\n13, 1, 1.\n*END STEP\n*STEP\n";
  refuse(pushed + "*DYNAMIC, DIRECT\n0.1, 1.\n*BOUNDARY\n13, 1\n", {"test.inp:", "later step", "jump"});
  refuse("*STEP\n*DYNAMIC\n0.1, 1.\n*BASE MOTION, DOF=1, AMPLITUDE=PULSE\n", {"test.inp:", "*BASE MOTION"});
  refuse("*AMPLITUDE, NAME=ON\n0., 1., 10., 1.\n*STEP\n*DYNAMIC\n0.1, 1.\n*BOUNDARY, AMPLITUDE=ON\nFOOT, 1, 1, 0.1\n",
         {"test.inp:", "jump from 0 to 0.1"});
  refuse(
      "*STEP\n*DYNAMIC\n0.1, 0.2\n*BOUNDARY, AMPLITUDE=PULSE\nFOOT, 1, 1, 0.1\n*END STEP\n*STEP\n*DYNAMIC\n0.1, 0.2\n"
      "*BOUNDARY, OP=NEW\nFOOT, 1, 3\n",
      {"test.inp:", "jump from 0.1 to 0"});
  refuse("*STEP\n*DYNAMIC\n0.1, 0.2\n*END STEP\n*STEP\n*FREQUENCY\n2\n*END STEP\n*STEP\n*DYNAMIC\n0.1, 0.2\n",
         {"test.inp:", "one after the other"});
  std::string weightless = dynamic_column();
  weightless.replace(weightless.find("*DENSITY\n2.\n"), 12, "");
  expect_error(ErrorCode::bad_input, {"test.inp:", "'M' has no *DENSITY"},
               [&] { read_deck_text(weightless + "*STEP\n*DYNAMIC\n0.1, 1.\n*END STEP\n", "test.inp"); });
}

TEST(DynamicSteps, InitialMotionsOfWhatFollowsAreNotLost) {
  // A rigid body at the tip: velocities of its nodes alone would be replaced by those of its reference node.
  const std::string rigid =
      "*NODE\n99, 0.5, 0.5, 3.\n*NSET, NSET=TOP\n13, 14, 15, 16\n*RIGID BODY, NSET=TOP, REF NODE=99\n";
  const std::string step = "*STEP\n*DYNAMIC, DIRECT\n0.01, 0.02\n*END STEP\n";
  expect_error(ErrorCode::bad_input, {"initial velocity", "reference node"}, [&] {
    run_deck(dynamic_column("", rigid + "*INITIAL CONDITIONS, TYPE=VELOCITY\nTOP, 1, 2.\n") + step);
  });
}

TEST(DynamicSteps, PulsesBetweenIncrementsAreToldOf) {
  const auto notes_of = [](const std::string& increment, const std::string& kind) {
    const RanDeck ran =
        run_deck(dynamic_column("", "*AMPLITUDE, NAME=HIT\n0., 0., 0.031, 0., 0.032, 1., 0.033, 0.\n") +
                 "*STEP, INC=1000\n" + kind + "\n" + increment + "\n*CLOAD, AMPLITUDE=HIT\nTIP, 1, 5.\n*END STEP\n");
    std::string text;
    for (const std::string& note : ran.kept.responses.at(0).notes) text += note + "\n";
    return text;
  };
  EXPECT_NE(notes_of("0.01, 0.1", "*DYNAMIC, DIRECT").find("100 % too small"), std::string::npos);
  EXPECT_EQ(notes_of("0.0005, 0.1", "*DYNAMIC, DIRECT").find("too small"), std::string::npos);
  EXPECT_EQ(notes_of("0.01, 0.1", "*DYNAMIC").find("too small"), std::string::npos);  // increments end at the points
}

using DynamicJob = BarJob;

TEST_F(DynamicJob, JobFilesHaveMotionsLoadsAndDamping) {
  Job job = read(R"([{"name": "blow", "analysis": "dynamic", "increment": 0.005, "period": 0.1, "loads": ["pull"],
    "method": {"name": "hht", "alpha": -0.1}, "damping": {"alpha": 0.5, "beta": 0.001},
    "amplitudes": {"pull": [[0, 0], [0.05, 1]]}, "support_motions": {"wall": [[0, 0], [1, 1]]},
    "initial_velocity": [{"group": "right", "unknown": "ux", "value": 2}]},
   {"name": "more", "analysis": "dynamic", "increment": 0.005, "period": 0.1, "continue": "yes", "automatic": "yes",
    "support_motions": {"wall": [[0, 0.1], [1, 1.1]]}, "base_motion": [{"direction": "x", "acceleration": [[0, 1]]}]}])");
  KeptSteps kept;
  run_job(job, plainly(), {}, kept);
  EXPECT_NEAR(kept.states.at(0).back().result.unknowns.at(0, "ux"), 0.001, 1e-12);
  EXPECT_NEAR(kept.states.at(0).back().velocity.at(0, "ux"), 0.01, 1e-9);
  EXPECT_NEAR(kept.states.at(1).back().at, 0.2, 1e-12);
  EXPECT_NE(kept.responses.at(0).statement.find("20 increments"), std::string::npos);
  EXPECT_NE(kept.responses.at(1).notes.front().find("relative"), std::string::npos);
  expect_error(ErrorCode::bad_input, {"bar.json", "support_motions"},
               [&] { read(R"([{"analysis": "dynamic", "increment": 0.005, "period": 0.1}])"); });
  expect_error(ErrorCode::bad_input, {"bar.json", "automatic"}, [&] {
    read(R"([{"analysis": "dynamic", "increment": 0.005, "period": 0.1, "tolerance": 1e-3,
              "support_motions": {"wall": [[0, 0], [1, 1]]}}])");
  });
}

TEST_F(DynamicJob, SupportsOfJobFilesDoNotJump) {
  const std::string times = R"("analysis": "dynamic", "increment": 0.005, "period": 0.1)";
  // From 0 to 0.005 at once, and onwards.
  expect_error(ErrorCode::bad_input, {"bar.json", "'wall'", "from 0 to 0.005", "support_motions"},
               [&] { read("[{" + times + R"(, "support_motions": {"wall": [[0, 0.5], [1, 1]]}}])"); });
  expect_error(ErrorCode::bad_input, {"bar.json", "'wall'", "from 0 to 0.01"},
               [&] { read("[{" + times + R"(, "support_motions": {"wall": [[0, 0], [0, 1]]}}])"); });
  const std::string first = "[{" + times + R"(, "support_motions": {"wall": [[0, 0], [0.05, 1]]}}, {)" + times;
  expect_error(ErrorCode::bad_input, {"'wall'", "from 0.01 to 0 "},
               [&] { read(first + R"(, "continue": "yes", "support_motions": {"wall": [[0, 0], [1, 1]]}}])"); });
  EXPECT_NO_THROW(read(first + R"(, "continue": "yes", "support_motions": {"wall": [[0, 1], [1, 0]]}}])"));
  // A step that continues nothing begins at rest.
  EXPECT_NO_THROW(read(first + R"(, "support_motions": {"wall": [[0, 0], [1, 1]]}}])"));
}

TEST_F(DynamicJob, TablesHaveTheTemperaturesOfTheirTimes) {
  Job job = read_deck_text(
      dynamic_column("*EXPANSION\n1e-3\n", "*INITIAL CONDITIONS, TYPE=TEMPERATURE\nNALL, 20.\n") +
          "*AMPLITUDE, NAME=WARM\n0., 0.2, 0.2, 1., 0.4, 0.4\n*STEP\n*DYNAMIC, DIRECT\n0.1, 0.3\n"
          "*TEMPERATURE, AMPLITUDE=WARM\nTIP, 100.\n*NODE PRINT, NSET=TIP\nNT\n*NODE PRINT, NSET=FOOT\nNT\n*END STEP\n",
      "test.inp");
  ResultFiles files(job, here());
  const JobResult result = run_job(job, plainly(), {}, files);
  files.finish(result, {});
  std::string table = testing::read_all(folder_ / "test_NT_TIP.csv");
  EXPECT_NE(table.find("\n0.2,13,0,0,3,100\n"), std::string::npos) << table;
  EXPECT_NE(table.find("\n0.3,13,0,0,3,70\n"), std::string::npos) << table;
  table = testing::read_all(folder_ / "test_NT_FOOT.csv");
  EXPECT_NE(table.find("\n0.3,1,0,0,0,20\n"), std::string::npos) << table;
}

TEST_F(DynamicJob, FilesHaveEnergiesAndResults) {
  Job job = read_deck_text(
      dynamic_column() +
          "*STEP\n*DYNAMIC, DIRECT\n0.05, 0.2\n*CLOAD\nTIP, 1, 5.\n*NODE PRINT, NSET=TIP\nU\n*END STEP\n",
      "test.inp");
  job.name = "blow";
  OutputOptions options;
  options.folder = folder_ / "out";
  std::filesystem::create_directories(options.folder);
  ResultFiles files(job, options);
  const JobResult result = run_job(job, plainly(), {}, files);
  files.finish(result, {});
  for (const char* name : {"blow_energies.csv", "blow_history.csv", "blow_peaks.csv", "blow_times.pvd",
                           "blow_time_0001.vtu", "blow_time_0004.vtu"})
    EXPECT_TRUE(std::filesystem::exists(options.folder / name)) << name;
  const auto json = nlohmann::json::parse(files.json());
  EXPECT_EQ(json["steps"][0]["procedure"], "dynamics");
  EXPECT_GT(json["steps"][0]["energies"]["external"].get<double>(), 0);
  EXPECT_EQ(json["steps"][0]["integration"]["increments"].get<double>(), 4);
}

}  // namespace
}  // namespace voussoir
