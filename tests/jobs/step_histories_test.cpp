#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <numeric>

#include <voussoir/framework/io/deck/deck_reader.hpp>
#include <voussoir/framework/io/job/job_file.hpp>
#include <voussoir/jobs/detail/step_histories.hpp>
#include <voussoir/jobs/job_fingerprint.hpp>
#include <voussoir/jobs/result_files.hpp>
#include <voussoir/jobs/run_checkpoints.hpp>

#include "bar_job.hpp"
#include "column_deck.hpp"
#include "support/expect_error.hpp"

// Curves that steps of dynamics and of transient heat record: *OUTPUT, HISTORY in decks, "histories" in job files, and
// the sums and energies that every such step has.

namespace voussoir {
namespace {

using testing::column_deck;
using testing::expect_error;
using testing::KeptSteps;
using testing::plainly;
using testing::RanDeck;
using testing::run_deck;

const std::vector<double>& curve_of(const RecordedHistory& history, const std::string& name) {
  for (const auto& [found, values] : history.curves)
    if (found == name) return values;
  std::string names;
  for (const auto& [found, values] : history.curves) names += found + "; ";
  throw std::runtime_error("no curve '" + name + "' among " + names);
}

const std::vector<double>& sum_of(const StepResponse& response, const std::string& name) {
  for (const auto& [found, values] : response.sums)
    if (found == name) return values;
  throw std::runtime_error("no sum '" + name + "'");
}

/// One C3D8 of 2 × 1 × 1, E = 100, ν = 0, ρ = 3, whose right side (STRETCHED) may be moved along x.
std::string one_block() {
  return "*NODE, NSET=NALL\n1, 0, 0, 0\n2, 2, 0, 0\n3, 2, 1, 0\n4, 0, 1, 0\n5, 0, 0, 1\n6, 2, 0, 1\n7, 2, 1, 1\n"
         "8, 0, 1, 1\n*ELEMENT, TYPE=C3D8, ELSET=BLOCK\n7, 1, 2, 3, 4, 5, 6, 7, 8\n*NSET, NSET=STRETCHED\n2, 3, 6, 7\n"
         "*NSET, NSET=LEFT\n1, 4, 5, 8\n*MATERIAL, NAME=M\n*ELASTIC\n100., 0.\n*DENSITY\n3.\n*CONDUCTIVITY\n5.\n"
         "*SPECIFIC HEAT\n2.\n*SOLID SECTION, ELSET=BLOCK, MATERIAL=M\n*BOUNDARY\nNALL, 2, 3\nLEFT, 1\n"
         "*AMPLITUDE, NAME=RAMP\n0., 0., 1., 1.\n*TIME POINTS, NAME=SOME\n0.15, 0.5\n"
         "*INITIAL CONDITIONS, TYPE=TEMPERATURE\nNALL, 10.\n";
}

const std::string stretch = "*BOUNDARY, AMPLITUDE=RAMP\nSTRETCHED, 1, 1, 0.02\n";

// All nodes are prescribed, so that strains are known: u / L = 0.01 t.
TEST(StepHistories, ElementsOfAStretchedBlock) {
  const RanDeck ran = run_deck(one_block() + "*STEP\n*DYNAMIC, DIRECT\n0.1, 1.\n" + stretch +
                               "*OUTPUT, HISTORY\n*ELEMENT OUTPUT, ELSET=BLOCK\nS11, E, ENER\n"
                               "*ELEMENT OUTPUT, ELSET=BLOCK, POSITION=CENTROIDAL, TOTALS=YES\nMISES, S, ELSE, EVOL\n"
                               "*END STEP\n");
  const auto& recorded = ran.kept.responses.at(0).recorded;
  ASSERT_EQ(recorded.size(), 2u);
  ASSERT_EQ(recorded[0].times.size(), 11u);
  EXPECT_EQ(recorded[0].curves.size(), 8u * (1 + 6 + 1));
  for (std::size_t i = 0; i < recorded[0].times.size(); ++i) {
    const double t = recorded[0].times[i], strain = 0.01 * t;
    EXPECT_NEAR(t, 0.1 * static_cast<double>(i), 1e-12);
    for (int p = 1; p <= 8; ++p) {
      const std::string at = "element 7 point " + std::to_string(p) + " ";
      EXPECT_NEAR(curve_of(recorded[0], at + "exx")[i], strain, 1e-12);
      EXPECT_NEAR(curve_of(recorded[0], at + "eyy")[i], 0, 1e-12);
      EXPECT_NEAR(curve_of(recorded[0], at + "sxx")[i], 100 * strain, 1e-10);
      EXPECT_NEAR(curve_of(recorded[0], at + "energy_density")[i], 50 * strain * strain, 1e-12);
    }
    EXPECT_NEAR(curve_of(recorded[1], "element 7 sxx")[i], 100 * strain, 1e-10);
    EXPECT_NEAR(curve_of(recorded[1], "element 7 mises")[i], 100 * strain, 1e-10);
    EXPECT_NEAR(curve_of(recorded[1], "element 7 energy")[i], 2 * 50 * strain * strain, 1e-12);
    EXPECT_NEAR(curve_of(recorded[1], "sum over BLOCK volume")[i], 2, 1e-12);
    EXPECT_NEAR(curve_of(recorded[1], "sum over BLOCK energy")[i], 2 * 50 * strain * strain, 1e-12);
  }
}

// Momentum: with average acceleration, the change of momentum in an increment is the mean force times the increment.
TEST(StepHistories, SumsOfReactionsAndLoadsChangeTheMomentum) {
  const RanDeck ran = run_deck(column_deck() +
                               "*STEP\n*DYNAMIC, ALPHA=0., DIRECT\n0.01, 0.2\n*CLOAD, AMPLITUDE=PULSE\nTIP, 1, 5.\n"
                               "*OUTPUT, HISTORY\n*NODE OUTPUT, NSET=NALL\nV1, A1\n"
                               "*NODE OUTPUT, NSET=FOOT, TOTALS=ONLY\nRF\n*END STEP\n");
  const StepResponse& response = ran.kept.responses.at(0);
  ASSERT_EQ(response.recorded.size(), 2u);
  const RecordedHistory& nodes = response.recorded[0];
  const auto momentum = [&](const std::string& column, std::size_t i) {
    double sum = 0;  // ρ V / 8 of each element at each of its nodes: the consistent mass of a box
    for (int n = 1; n <= 16; ++n) {
      const int elements = n <= 4 || n > 12 ? 1 : 2;
      sum += elements * 2.0 * 0.8 / 8 * curve_of(nodes, "node " + std::to_string(n) + " " + column)[i];
    }
    return sum;
  };
  const auto& reaction = sum_of(response, "reaction x");
  const auto& load = sum_of(response, "load x");
  ASSERT_EQ(reaction.size(), 21u);
  double largest = 0;
  for (std::size_t i = 0; i < reaction.size(); ++i) {
    EXPECT_NEAR(load[i], 5 * std::min(1.0, response.axis[i] / 0.2), 1e-12) << i;
    EXPECT_NEAR(reaction[i] + load[i], momentum("acceleration_ux", i), 1e-7) << i;
    EXPECT_NEAR(curve_of(response.recorded[1], "sum over FOOT fx")[i], reaction[i], 1e-9) << i;
    largest = std::max(largest, std::abs(reaction[i]));
    if (i == 0) continue;
    const double mean = 0.5 * (reaction[i] + load[i] + reaction[i - 1] + load[i - 1]);
    EXPECT_NEAR(momentum("velocity_ux", i) - momentum("velocity_ux", i - 1), 0.01 * mean, 1e-8) << i;
  }
  EXPECT_GT(largest, 0.1);
}

// Explicit steps record the same quantities; the force in a bar under a slow pull is near the load.
TEST(StepHistories, ExplicitStepsRecordToo) {
  const RanDeck ran = run_deck(
      column_deck() +
      "*STEP\n*DYNAMIC, EXPLICIT\n, 0.4\n*CLOAD, AMPLITUDE=PULSE\nTIP, 3, 5.\n"
      "*OUTPUT, HISTORY, NUMBER INTERVAL=4\n*NODE OUTPUT, NSET=TIP\nU, V, A\n"
      "*OUTPUT, HISTORY, OP=ADD, FREQUENCY=7\n*ELEMENT OUTPUT, ELSET=EALL, POSITION=CENTROIDAL\nS33, ENER\n"
      "*OUTPUT, HISTORY, TIME POINTS=SOME\n*NODE OUTPUT, NSET=TIP\nU3\n*OUTPUT, FIELD\n*NODE OUTPUT, NSET=TIP\nU\n"
      "*END STEP\n*TIME POINTS, NAME=SOME\n0.1, 0.25\n");
  const StepResponse& response = ran.kept.responses.at(0);
  ASSERT_EQ(response.recorded.size(), 3u);
  const RecordedHistory& tip = response.recorded[0];
  ASSERT_EQ(tip.times.size(), 5u);
  EXPECT_EQ(tip.curves.size(), 9u);
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_GE(tip.times[i], 0.1 * static_cast<double>(i) - 1e-12);
    EXPECT_LT(tip.times[i], 0.1 * static_cast<double>(i + 1));
  }
  EXPECT_EQ(response.recorded[2].times, (std::vector<double>{0.1, 0.25}));
  EXPECT_EQ(response.recorded[2].curves.size(), 1u);
  EXPECT_EQ(response.recorded[1].curves.size(), 6u);
  EXPECT_GE(response.recorded[1].times.size(), 3u);
  EXPECT_NEAR(response.recorded[1].times.back(), 0.4, 1e-12);
  // Means over elements of what other states of the step have.
  const auto& reaction = sum_of(response, "reaction z");
  EXPECT_EQ(reaction.size(), response.axis.size());
  const auto& load = sum_of(response, "load z");
  EXPECT_GT(*std::max_element(load.begin(), load.end()), 3.5);
}

TEST(StepHistories, StatesAreThoseThatAreAskedFor) {
  const auto times_of = [&](const std::string& choice) {
    const RanDeck ran = run_deck(one_block() + "*STEP\n*DYNAMIC, DIRECT\n0.1, 1.\n" + stretch + "*OUTPUT, HISTORY" +
                                 choice + "\n*NODE OUTPUT, NSET=STRETCHED\nU1\n*END STEP\n");
    return ran.kept.responses.at(0).recorded.at(0).times;
  };
  const auto near = [](const std::vector<double>& found, const std::vector<double>& wanted) {
    ASSERT_EQ(found.size(), wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(found[i], wanted[i], 1e-12);
  };
  near(times_of(", FREQUENCY=3"), {0, 0.3, 0.6, 0.9, 1});
  near(times_of(", TIME INTERVAL=0.25"), {0, 0.3, 0.5, 0.8, 1});
  near(times_of(", NUMBER INTERVAL=2"), {0, 0.5, 1});
  near(times_of(", TIME POINTS=SOME"), {0.15, 0.5});
  EXPECT_EQ(times_of("").size(), 11u);
}

// What lasts, what is replaced, and what is not a curve.
TEST(StepHistories, RequestsLastUntilTheyAreGivenAnew) {
  const RanDeck ran =
      run_deck(column_deck() +
               "*STEP\n*DYNAMIC, DIRECT\n0.1, 0.2\n*OUTPUT, HISTORY\n*NODE OUTPUT, NSET=TIP\nU, XYZ\n*END STEP\n"
               "*STEP\n*DYNAMIC, DIRECT\n0.1, 0.2\n*END STEP\n"
               "*STEP\n*DYNAMIC, DIRECT\n0.1, 0.2\n*OUTPUT, HISTORY\n*NODE OUTPUT, NSET=FOOT\nRF\n*END STEP\n");
  EXPECT_EQ(ran.job.steps[0].histories.at(0).of.quantities, std::vector<std::string>{"U"});
  EXPECT_EQ(ran.job.steps[1].histories.at(0).name, "TIP");
  ASSERT_EQ(ran.job.steps[2].histories.size(), 1u);
  EXPECT_EQ(ran.job.steps[2].histories[0].name, "FOOT");
  EXPECT_NEAR(ran.kept.responses.at(1).recorded.at(0).times.front(), 0.2, 1e-12);
  bool told = false;
  for (const JobNote& note : ran.job.notes) told = told || note.text.find("'XYZ' has no history") != std::string::npos;
  EXPECT_TRUE(told);
}

TEST(StepHistories, RefusesByNameAndLine) {
  const auto refuse = [](const std::string& history, std::initializer_list<std::string> pieces,
                         ErrorCode code = ErrorCode::bad_input) {
    expect_error(code, pieces,
                 [&] { run_deck(column_deck() + "*STEP\n*DYNAMIC, DIRECT\n0.1, 0.2\n" + history + "*END STEP\n"); });
  };
  refuse("*OUTPUT, HISTORY\n*NODE OUTPUT, NSET=NONE\nU\n", {"test.inp:", "NONE"}, ErrorCode::not_found);
  refuse("*OUTPUT, HISTORY, TIME POINTS=P\n*NODE OUTPUT, NSET=TIP\nU\n", {"test.inp:", "'P'"}, ErrorCode::not_found);
  refuse("*OUTPUT, HISTORY\n*NODE OUTPUT, NSET=TIP, TOTALS=ONLY\nU\n", {"test.inp:", "requests sums"});
  refuse("*OUTPUT, HISTORY\n*NODE OUTPUT, NSET=TIP, SIDE=LEFT\nU\n", {"test.inp:", "SIDE"}, ErrorCode::not_found);
  refuse("*OUTPUT, HISTORY, TIME INTERVAL=-1\n*NODE OUTPUT, NSET=TIP\nU\n", {"test.inp:", "TIME INTERVAL"});
}

// Heat comes in by a flux at the right and by prescribed temperatures at the left; flows times increments are what the
// account of heat says, and temperatures of a long bar come to the linear profile T = 20 + q x / k.
TEST(StepHistories, HeatFlowsAreThoseOfTheAccount) {
  const RanDeck ran =
      run_deck(one_block() +
               "*STEP\n*HEAT TRANSFER, DIRECT\n0.5, 50.\n*BOUNDARY\nLEFT, 11, 11, 20.\n*CFLUX\nSTRETCHED, 11, 3.\n"
               "*OUTPUT, HISTORY\n*NODE OUTPUT, NSET=LEFT, TOTALS=ONLY\nRFL\n"
               "*NODE OUTPUT, NSET=STRETCHED\nNT\n*ELEMENT OUTPUT, ELSET=BLOCK, POSITION=CENTROIDAL\nHFL1\n"
               "*END STEP\n");
  const StepResponse& response = ran.kept.responses.at(0);
  const auto& loads = sum_of(response, "heat flow of loads");
  const auto& supports = sum_of(response, "heat flow of supports");
  const auto account = [&](const char* name) -> const std::vector<double>& {
    for (const auto& [found, values] : response.energies)
      if (found == name) return values;
    throw std::runtime_error(name);
  };
  EXPECT_TRUE(std::isnan(loads[0]) && std::isnan(supports[0]));
  double in = 0;
  for (std::size_t i = 1; i < loads.size(); ++i) {
    EXPECT_NEAR(loads[i], 12, 1e-9);
    in += 0.5 * (loads[i] + supports[i]);
    EXPECT_NEAR(in, account("stored")[i], 1e-6) << i;
    EXPECT_NEAR(curve_of(response.recorded[0], "sum over LEFT heat_flow")[i], supports[i], 1e-8);
  }
  EXPECT_NEAR(supports.back(), -12, 1e-4);
  EXPECT_NEAR(curve_of(response.recorded[1], "node 2 temperature").front(), 10, 1e-12);
  EXPECT_NEAR(curve_of(response.recorded[1], "node 2 temperature").back(), 20 + 12.0 * 2 / 5, 1e-4);
  EXPECT_NEAR(curve_of(response.recorded[2], "element 7 qx").back(), -12, 1e-4);
}

// A field with two points of unequal volumes.
TEST(StepHistories, CentroidsAreMeansByVolume) {
  PointField field;
  field.points = 2;
  field.names = {"sxx", "volume"};
  field.values = {10, 3, 20, 1, 7, 2, 7, 2};
  const PointField means = detail::centroid_values(field);
  EXPECT_EQ(means.points, 1);
  EXPECT_EQ(means.values, (std::vector<double>{12.5, 4, 7, 4}));
}

using HistoryJob = BarJob;

TEST_F(HistoryJob, JobFilesHaveHistoriesOfAllKinds) {
  Job job = read(R"([{"name": "blow", "analysis": "dynamic", "increment": 0.005, "period": 0.1, "loads": ["pull"],
    "support_motions": {"wall": [[0, 0], [1, 1]]},
    "histories": [{"at": "nodes", "group": "right", "values": ["displacement", "velocity", "acceleration"], "number": 4},
                  {"at": "nodes", "group": "left", "values": "reaction", "totals": "only", "name": "wall force"},
                  {"at": "elements", "group": "bar", "values": ["stress", "section_force"], "position": "centroids",
                   "times": [0.02, 0.1]}]}])");
  job.name = "blow";
  ResultFiles files(job, here());
  const JobResult result = run_job(job, plainly(), {}, files);
  files.finish(result, {});
  for (const char* name :
       {"blow_energies", "blow_sums", "blow_history_right", "blow_history_wall_force", "blow_history_bar"})
    for (const char* ending : {".csv", ".svg"})
      EXPECT_TRUE(std::filesystem::exists(folder_ / (std::string(name) + ending))) << name << ending;
  const std::string table = testing::read_all(folder_ / "blow_history_bar.csv");
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 3) << table;
  EXPECT_NE(table.find("element 3 sxx"), std::string::npos) << table;
  EXPECT_NE(testing::read_all(folder_ / "blow_history_right.svg").find("acceleration"), std::string::npos);
  EXPECT_NE(testing::read_all(folder_ / "blow_history_wall_force.csv").find("sum over left fx"), std::string::npos);
  const auto refuse = [&](const std::string& history, std::initializer_list<std::string> pieces) {
    expect_error(ErrorCode::bad_input, pieces, [&] {
      read(R"([{"analysis": "dynamic", "increment": 0.005, "period": 0.1, "support_motions": {"wall": [[0, 0], [1, 1]]},
        "histories": [)" +
           history + "]}]");
    });
  };
  refuse(R"({"at": "nodes", "values": "displacement", "every": 2, "number": 3})", {"bar.json", "either"});
  refuse(R"({"at": "nodes", "values": "displacement", "times": [0.2]})", {"bar.json", "not in the step"});
  refuse(R"({"at": "nodes", "values": "temperature"})", {"bar.json", "not a result"});
  refuse(R"({"at": "nodes", "values": "displacement", "position": "centroids"})", {"bar.json", "elements"});
  refuse(R"({"at": "nodes", "values": "mises"})", {"bar.json", "mises"});
}

// A run that stops in the middle and is resumed has the files of one that does not.
TEST_F(HistoryJob, CurvesSurviveAnInterruption) {
  for (const std::string procedure :
       {"*DYNAMIC, DIRECT\n0.01, 0.4\n", "*DYNAMIC, EXPLICIT\n, 0.4\n", "*DYNAMIC\n0.01, 0.4\n"}) {
    const std::string deck = column_deck() + "*STEP, INC=100000\n" + procedure +
                             "*CLOAD, AMPLITUDE=PULSE\nTIP, 1, 5.\n*OUTPUT, HISTORY, TIME INTERVAL=0.03\n"
                             "*NODE OUTPUT, NSET=TIP\nU, A\n*ELEMENT OUTPUT, ELSET=EALL, POSITION=CENTROIDAL\nMISES\n"
                             "*OUTPUT, HISTORY, OP=ADD\n*NODE OUTPUT, NSET=FOOT, TOTALS=ONLY\nRF\n*END STEP\n";
    const auto run = [&](const std::string& folder, int stop_after, bool resume) {
      Job job = read_deck_text(deck, "test.inp");
      OutputOptions options;
      options.folder = folder_ / folder;
      options.vtu = false;
      options.overwrite = resume;
      ResultFiles files(job, options);
      CheckpointOptions saving;
      saving.every_increments = 5;
      saving.resume = resume;
      RunCheckpoints checkpoints(options.folder, job.name, saving);
      checkpoints.begin(job_fingerprint(job), {"here", "csv"});
      files.attach(checkpoints);
      int told = 0;
      const JobResult result = run_job(
          job, plainly(), [&](const JobProgress& p) { return p.left < 0 || ++told != stop_after; }, files,
          &checkpoints);
      files.finish(result, {});
      checkpoints.finish();
    };
    std::filesystem::remove_all(folder_ / "whole");
    std::filesystem::remove_all(folder_ / "cut");
    run("whole", -1, false);
    expect_error(ErrorCode::cancelled, {"cancelled"}, [&] { run("cut", 9, false); });
    run("cut", -1, true);
    int compared = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder_ / "whole")) {
      const auto name = entry.path().filename();
      if (name.extension() != ".csv" && name.extension() != ".svg") continue;
      EXPECT_EQ(testing::read_all(entry.path()), testing::read_all(folder_ / "cut" / name)) << name << " " << procedure;
      ++compared;
    }
    EXPECT_GE(compared, 11);
  }
}

}  // namespace
}  // namespace voussoir
