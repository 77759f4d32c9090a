#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include <voussoir/framework/io/deck/deck_reader.hpp>
#include <voussoir/jobs/result_files.hpp>

#include "column_deck.hpp"
#include "support/expect_error.hpp"

// Steps of modes and of mode superposition, run from decks. The numbers are those that CalculiX 2.20 prints for the
// same deck, with seven digits.

namespace voussoir {
namespace {

using testing::column_deck;
using testing::expect_error;
using testing::KeptSteps;
using testing::plainly;
using testing::RanDeck;
using testing::run_deck;

const std::string six_modes = "*STEP\n*FREQUENCY, STORAGE=YES\n6\n*END STEP\n";

void expect_at(const NodalField& field, std::int32_t node, const std::array<double, 3>& printed, double sign = 1) {
  double largest = 0;
  for (const double value : printed) largest = std::max(largest, std::abs(value));
  for (int k = 0; k < 3; ++k) EXPECT_NEAR(sign * field.at(node, k), printed[k], 1e-6 * largest) << k;
}

constexpr std::int32_t tip = 12;  // index of node 13

TEST(ModalSteps, FrequenciesShapesAndStressesAsInCalculiX) {
  const RanDeck ran =
      run_deck(column_deck() + "*STEP\n*FREQUENCY\n3\n*NODE PRINT, NSET=TIP\nU\n*EL PRINT, ELSET=EALL\nS\n*END STEP\n");
  const ModeSet& modes = *ran.kept.found.at(0);
  ASSERT_EQ(modes.count(), 3);
  const double frequencies[] = {0.4031200, 0.4573352, 1.171399};
  for (int m = 0; m < 3; ++m) EXPECT_NEAR(modes.frequency(m), frequencies[m], 1e-6 * frequencies[m]);
  const auto& states = ran.kept.states.at(0);
  ASSERT_EQ(states.size(), 3u);
  const std::array<double, 3> shapes[] = {{8.617489e-4, 8.850578e-1, 1.575714e-1},
                                          {-8.745325e-1, -1.064003e-3, -1.898682e-1},
                                          {7.155238e-1, -9.003782e-1, -1.027854e-2}};
  for (std::size_t m = 0; m < 3; ++m) {
    const NodalField& shape = states[m].result.unknowns;
    const double sign = shape.at(tip, m == 0 ? 1 : 0) * shapes[m][m == 0 ? 1 : 0] > 0 ? 1 : -1;
    expect_at(shape, tip, shapes[m], sign);
    EXPECT_FALSE(states[m].result.points.empty());
  }
  EXPECT_TRUE(ran.result.faults.empty());
}

TEST(ModalSteps, ResponseOverTimeAsInCalculiX) {
  const RanDeck ran =
      run_deck(column_deck() + six_modes +
               "*STEP\n*MODAL DYNAMIC\n0.1, 0.6\n*MODAL DAMPING\n1, 2, 0.05\n3, 6, 0.02\n"
               "*CLOAD, AMPLITUDE=PULSE\n13, 1, 10.\n*DLOAD\n3, P2, 2.\n*NODE PRINT, NSET=TIP\nU, V\n"
               "*EL PRINT, ELSET=EALL\nS\n*END STEP\n"
               "*STEP\n*MODAL DYNAMIC\n0.1, 0.3\n*CLOAD, OP=NEW\n*NODE PRINT, NSET=TIP\nU, V\n*END STEP\n");
  const auto& first = ran.kept.states.at(1);
  ASSERT_EQ(first.size(), 6u);
  EXPECT_NEAR(first[2].at, 0.3, 1e-12);
  expect_at(first[2].result.unknowns, tip, {2.688649e-1, -9.863585e-2, 5.441885e-2});
  expect_at(first[2].velocity, tip, {1.637423, -6.175612e-1, 2.396386e-1});
  expect_at(first[5].result.unknowns, tip, {4.520463e-1, -2.804222e-2, 8.053125e-2});
  const PointField& points = first[5].result.points.at(0);
  const std::pair<const char*, double> stress[] = {{"sxx", 1.289906e1},   {"syy", 1.133559e1}, {"szz", 3.990118e1},
                                                   {"sxy", -6.396208e-1}, {"sxz", 3.070838e1}, {"syz", -2.009946}};
  for (const auto& [name, value] : stress) EXPECT_NEAR(points.at(0, 0, name), value, 1e-6 * 40) << name;
  // The second step goes on from the end of the first, with the pressure and the damping of that.
  const auto& second = ran.kept.states.at(2);
  ASSERT_EQ(second.size(), 3u);
  EXPECT_NEAR(second[2].at, 0.9, 1e-12);
  expect_at(second[2].result.unknowns, tip, {3.115079e-1, 1.197476e-1, 7.390151e-2});
  expect_at(second[2].velocity, tip, {-6.206789e-1, -4.408301e-1, -3.620699e-1});
  EXPECT_FALSE(ran.kept.responses.at(1).peaks.empty());
  EXPECT_FALSE(ran.kept.responses.at(1).statement.empty());
}

TEST(ModalSteps, HarmonicResponseAsInCalculiX) {
  const RanDeck ran =
      run_deck(column_deck() + six_modes +
               "*STEP\n*STEADY STATE DYNAMICS\n0.5, 2., 3\n*MODAL DAMPING, RAYLEIGH\n, , 0.5, 0.001\n"
               "*CLOAD\n13, 1, 10.\n*CLOAD, LOAD CASE=2\n13, 2, 5.\n*NODE PRINT, NSET=TIP\nU\n*END STEP\n");
  const auto& states = ran.kept.states.at(1);
  ASSERT_EQ(states.size(), 7u);
  EXPECT_NEAR(states[2].at, 1.171399, 1e-6);
  expect_at(states[2].result.unknowns, tip, {-9.192486e-1, 1.002443, 6.628226e-3});
  expect_at(states[2].imaginary->unknowns, tip, {-1.269174, 1.520559, 1.481799e-2});
  EXPECT_NEAR(states[3].at, 1.547850, 1e-6);
  expect_at(states[3].result.unknowns, tip, {-1.747320e-1, 1.767623e-1, 2.479520e-2});
}

TEST(ModalSteps, BaseAccelerationIsInertiaOfTheModesAlone) {
  // Relative to the base, a constant acceleration is a body force: modes superpose to the same as gravity backwards,
  // less the mass that the supports carry directly, which both leave out.
  const RanDeck base = run_deck(column_deck() + "*AMPLITUDE, NAME=ONE\n0., 1., 9., 1.\n" + six_modes +
                                "*STEP\n*MODAL DYNAMIC\n0.1, 0.4\n*BASE MOTION, DOF=1, AMPLITUDE=ONE, SCALE=3.\n"
                                "*NODE PRINT, NSET=TIP\nU\n*END STEP\n");
  const RanDeck weight = run_deck(column_deck() + six_modes +
                                  "*STEP\n*MODAL DYNAMIC\n0.1, 0.4\n*DLOAD\nEALL, GRAV, 3., -1., 0., 0.\n"
                                  "*NODE PRINT, NSET=TIP\nU\n*END STEP\n");
  for (std::size_t k = 0; k < 4; ++k)
    for (int c = 0; c < 3; ++c) {
      const double expected = weight.kept.states.at(1)[k].result.unknowns.at(tip, c);
      EXPECT_NEAR(base.kept.states.at(1)[k].result.unknowns.at(tip, c), expected, 1e-9);
    }
  EXPECT_GT(std::abs(base.kept.states.at(1)[3].result.unknowns.at(tip, 0)), 1e-3);
}

TEST(ModalSteps, InitialVelocityMovesTheBodyAtFirst) {
  // All modes together represent any field: after a short time, displacement = velocity × time.
  RanDeck ran = run_deck(
      column_deck() + "*NSET, NSET=UPPER, GENERATE\n5, 16\n*INITIAL CONDITIONS, TYPE=VELOCITY\nUPPER, 1, 2.\n" +
      "*STEP\n*FREQUENCY\n36\n*END STEP\n*STEP\n*MODAL DYNAMIC\n1e-6, 1e-6\n*NODE PRINT, NSET=TIP\nU\n*END "
      "STEP\n");
  EXPECT_NEAR(ran.kept.states.at(1)[0].result.unknowns.at(tip, 0), 2e-6, 1e-10);
}

TEST(ModalSteps, LowerBoundLeavesModesOut) {
  const RanDeck ran = run_deck(column_deck() + "*STEP\n*FREQUENCY\n2, 0.42\n*END STEP\n");
  ASSERT_EQ(ran.kept.found.at(0)->count(), 2);
  EXPECT_NEAR(ran.kept.found.at(0)->frequency(0), 0.4573352, 1e-6);
  EXPECT_NEAR(ran.kept.found.at(0)->frequency(1), 1.171399, 2e-6);
}

/// A mass of 2 on a spring of 50 along x, so that ω = 5, which is pushed by 1 from the beginning.
std::string oscillator(const std::string& damping) {
  return "*NODE\n1, 0, 0, 0\n2, 1, 0, 0\n*ELEMENT, TYPE=SPRINGA, ELSET=SPRING\n1, 1, 2\n"
         "*ELEMENT, TYPE=MASS, ELSET=MASS\n2, 2\n*SPRING, ELSET=SPRING\n\n50.\n*MASS, ELSET=MASS\n2.\n"
         "*NSET, NSET=END\n2\n*BOUNDARY\n1, 1, 3\n2, 2, 3\n*STEP\n*FREQUENCY\n1\n*END STEP\n"
         "*STEP\n*MODAL DYNAMIC\n0.05, 1.\n*MODAL DAMPING\n" +
         damping + "\n*CLOAD\n2, 1, 1.\n*NODE PRINT, NSET=END\nU, V\n*END STEP\n";
}

bool has_note(const RanDeck& ran, const std::vector<std::string>& parts) {
  return std::any_of(ran.result.notes.begin(), ran.result.notes.end(), [&](const std::string& note) {
    return std::all_of(parts.begin(), parts.end(),
                       [&](const std::string& part) { return note.find(part) != std::string::npos; });
  });
}

// u = F/k (1 − (r₁ e^(−r₂ t) − r₂ e^(−r₁ t)) / (r₁ − r₂)) with r = ω (ζ ± √(ζ² − 1)), and for ζ = 1 its limit,
// F/k (1 − (1 + ωt) e^(−ωt)).
TEST(ModalSteps, OverdampedModesFollowTheirClosedForm) {
  for (const double ratio : {1.0, 1.0000001, 1.5, 40.0}) {
    const RanDeck ran = run_deck(oscillator("1, 1, " + std::to_string(ratio)));
    const auto& states = ran.kept.states.at(1);
    ASSERT_EQ(states.size(), 20u);
    const double zeta = std::stod(std::to_string(ratio)), omega = 5;
    for (std::size_t k = 0; k < states.size(); ++k) {
      const double t = 0.05 * static_cast<double>(k + 1);
      const double root = std::sqrt(zeta * zeta - 1), fast = omega * (zeta + root), slow = omega / (zeta + root);
      const double part = zeta == 1 ? (1 + omega * t) * std::exp(-omega * t)
                                    : (fast * std::exp(-slow * t) - slow * std::exp(-fast * t)) / (fast - slow);
      EXPECT_NEAR(states[k].result.unknowns.at(1, 0), (1 - part) / 50, 1e-9 / 50) << ratio << " at " << t;
    }
    EXPECT_EQ(has_note(ran, {"test.inp:", "more than critically"}), zeta > 1) << ratio;
  }
}

TEST(ModalSteps, OverdampedResponseAsInCalculiX) {
  const RanDeck ran = run_deck(
      column_deck() + "*STEP\n*FREQUENCY, STORAGE=YES\n3\n*END STEP\n*STEP\n*MODAL DYNAMIC\n0.1, 0.3\n" +
      "*MODAL DAMPING\n1, 3, 1.5\n*CLOAD, AMPLITUDE=PULSE\n13, 1, 10.\n*NODE PRINT, NSET=TIP\nU\n" + "*END STEP\n");
  const auto& states = ran.kept.states.at(1);
  ASSERT_EQ(states.size(), 3u);
  expect_at(states[0].result.unknowns, tip, {7.790370e-3, -3.264996e-3, 1.089564e-3});
  expect_at(states[2].result.unknowns, tip, {1.157412e-1, -3.579683e-2, 1.852348e-2});
  EXPECT_TRUE(has_note(ran, {"3 modes, the first of them mode 1", "1.5"}));
}

TEST(ModalSteps, DampingOfModesThatThereAreNotIsSaid) {
  const RanDeck ran = run_deck(oscillator("1, 4, 0.05\n7, 7, 0.02"));
  EXPECT_TRUE(has_note(ran, {"test.inp:26", "modes 1 to 4", "there is 1 mode", "modes 2 to 4 are ignored"}))
      << ::testing::PrintToString(ran.result.notes);
  EXPECT_TRUE(has_note(ran, {"test.inp:27", "mode 7", "is ignored"})) << ::testing::PrintToString(ran.result.notes);
  EXPECT_FALSE(has_note(run_deck(oscillator("1, 1, 0.05")), {"damping"}));
}

// One corner of the top moves as the mean of the other three along x, with coefficients of five digits.
TEST(ModalSteps, EquationsWithRoundedCoefficientsFollowTheBase) {
  const auto with = [&](const std::string& third) {
    const std::string equation =
        "*EQUATION\n4\n13, 1, -1., 14, 1, " + third + ", 15, 1, " + third + ", 16, 1, " + third;
    return run_deck(column_deck() + equation + "\n*AMPLITUDE, NAME=ONE\n0., 1., 9., 1.\n" + six_modes +
                    "*STEP\n*MODAL DYNAMIC\n0.1, 0.4\n*BASE MOTION, DOF=1, AMPLITUDE=ONE, SCALE=3.\n"
                    "*NODE PRINT, NSET=TIP\nU\n*END STEP\n");
  };
  const RanDeck exact = with("0.333333333333333"), rounded = with("0.33333");
  EXPECT_EQ(exact.kept.responses.at(1).statement.find("rounded"), std::string::npos);
  EXPECT_NE(rounded.kept.responses.at(1).statement.find("as if its coefficients were rounded"), std::string::npos)
      << rounded.kept.responses.at(1).statement;
  const double u = exact.kept.states.at(1)[3].result.unknowns.at(tip, 0);
  EXPECT_NEAR(rounded.kept.states.at(1)[3].result.unknowns.at(tip, 0), u, 1e-4 * std::abs(u));
  testing::expect_error(ErrorCode::bad_input, {"test.inp", "cannot follow the base"}, [&] { with("0.333"); });
}

class ModalStepFiles : public testing::FolderTest {};

TEST_F(ModalStepFiles, FilesOfAllSteps) {
  Job job = read_deck_text(
      column_deck() + six_modes +
          "*STEP\n*MODAL DYNAMIC\n0.1, 0.3\n*CLOAD\n13, 1, 10.\n*NODE PRINT, NSET=TIP\nU\n"
          "*EL PRINT, ELSET=EALL, TOTALS=ONLY\nEVOL\n*END STEP\n"
          "*STEP\n*STEADY STATE DYNAMICS\n0.6, 1., 3\n*MODAL DAMPING\n1, 6, .02\n*CLOAD\n13, 1, 10.\n*END STEP\n",
      "test.inp");
  OutputOptions options;
  options.folder = folder_;
  ResultFiles files(job, options);
  const StaticOptions how = plainly();
  const JobResult result = run_job(job, how, {}, files);
  files.finish(result, {how, 0});
  for (const char* name :
       {"test_step1_modes.csv", "test_step1_modes.pvd", "test_step1_mode_006.vtu", "test_step2_times.pvd",
        "test_step2_time_0003.vtu", "test_step2_history.csv", "test_step2_history.svg", "test_step2_peaks.csv",
        "test_step2_U_TIP.csv", "test_step2_EVOL_EALL_total.csv", "test_step3_frequencies.pvd",
        "test_step3_frequency_0003.vtu", "test_step3_history.csv", "test_step3_U_TIP.csv", "test.dat",
        "test.results.json"})
    EXPECT_TRUE(std::filesystem::exists(folder_ / name)) << name;
  EXPECT_FALSE(std::filesystem::exists(folder_ / "test.pvd"));
  const std::string table = testing::read_all(folder_ / "test_step2_U_TIP.csv");
  EXPECT_EQ(table.substr(0, 10), "time,node,") << table;
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 4);
  const auto document = nlohmann::json::parse(files.json());
  EXPECT_EQ(document["status"], "finished");
  EXPECT_EQ(document["steps"][0]["modes"].size(), 6u);
  EXPECT_EQ(document["steps"][1]["procedure"], "modal dynamics");
  EXPECT_FALSE(document["steps"][1]["peaks"].empty());
  const std::string dat = testing::read_all(folder_ / "test.dat");
  EXPECT_NE(dat.find("E I G E N V A L U E   O U T P U T"), std::string::npos);
  EXPECT_NE(dat.find("displacements (vx,vy,vz) for set TIP and time  0.3000000E+00"), std::string::npos);
}

/// Runs the lowest modes of the column, with what is asked for.
std::string write_modes(Job& job, const OutputOptions& options) {
  ResultFiles files(job, options);
  const StaticOptions how = plainly();
  const JobResult result = run_job(job, how, {}, files);
  files.finish(result, {how, 0});
  return files.json();
}

TEST_F(ModalStepFiles, PicturesOfModesHaveNoFieldToChoose) {
  const Job job = read_deck_text(column_deck() + "*STEP\n*FREQUENCY\n3\n*END STEP\n", "test.inp");
  OutputOptions options = here();
  options.pictures = Pictures::worst;
  options.picture_field = "mises";
  testing::expect_error(ErrorCode::bad_input, {"--picture-field", "natural modes"}, [&] { ResultFiles(job, options); });
}

TEST_F(ModalStepFiles, ModesForViewersPicturesAndProbes) {
  Job job = read_deck_text(column_deck() + "*STEP\n*FREQUENCY\n3\n*END STEP\n", "test.inp");
  job.points.push_back({"tip", {0, 0, 3}, {}});
  ProbePath path;
  path.name = "A";
  path.from = {0, 0, 0};
  path.to = {0, 0, 3};
  path.points = 4;
  job.paths.push_back(path);
  OutputOptions options = here();
  options.frd = true;
  options.pictures = Pictures::worst;
  const auto document = nlohmann::json::parse(write_modes(job, options));
  EXPECT_EQ(files(), (std::vector<std::string>{"test.dat", "test.frd", "test.results.json", "test_mode_001.vtu",
                                               "test_mode_002.vtu", "test_mode_003.vtu", "test_modes.csv",
                                               "test_modes.json", "test_modes.png", "test_modes.pvd", "test_modes.svg",
                                               "test_path_A.csv", "test_points.csv"}));
  EXPECT_FALSE(document["steps"][0].contains("time")) << "modes are not of a time";
  EXPECT_TRUE(document["notes"].empty()) << document["notes"];

  // The lines that CalculiX 2.20 writes for the first mode.
  const std::string frd = testing::read_all(folder_ / "test.frd");
  const std::string blanks(34, ' ');
  for (const std::string& line :
       {std::string("    1PSTEP                         1           1           1          "),
        "    1PGM                1.000000E+00" + blanks, "    1PGK                6.415471E+00" + blanks,
        "    1PHID                         -1" + blanks, "    1PSUBC                         0" + blanks,
        "    1PMODE                         1" + blanks,
        std::string("  100CL  101 4.03120E-01          16                     2    1MODAL      1"),
        std::string("  100CL  103 1.17140E+00          16                     2    3MODAL      1")})
    EXPECT_NE(frd.find("\n" + line + "\n"), std::string::npos) << line;

  const auto modes = nlohmann::json::parse(testing::read_all(folder_ / "test_modes.json"));
  EXPECT_EQ(modes["completeness"], "verified");
  EXPECT_EQ(modes["modes"], document["steps"][0]["modes"]);

  // Node 13 is the point: its displacements are those that CalculiX prints, but for the sign.
  std::istringstream table(testing::read_all(folder_ / "test_points.csv"));
  std::string line;
  std::getline(table, line);
  EXPECT_TRUE(line.starts_with("mode,point,x,y,z,element,material,ux,uy,uz")) << line;
  const double largest[] = {8.850578e-1, 8.745325e-1, 9.003782e-1};
  for (int m = 0; m < 3; ++m) {
    ASSERT_TRUE(std::getline(table, line));
    std::vector<std::string> fields;
    std::istringstream row(line);
    for (std::string field; std::getline(row, field, ',');) fields.push_back(field);
    ASSERT_GE(fields.size(), 10u) << line;
    EXPECT_EQ(fields[0], std::to_string(m + 1));
    double most = 0;
    for (std::size_t k = 7; k < 10; ++k) most = std::max(most, std::abs(std::stod(fields[k])));
    EXPECT_NEAR(most, largest[m], 1e-6) << line;
  }
  const std::string along = testing::read_all(folder_ / "test_path_A.csv");
  EXPECT_EQ(std::count(along.begin(), along.end(), '\n'), 1 + 3 * 4);
}

TEST_F(ModalStepFiles, StatesOverTimeAreInTheFrdFile) {
  Job job = read_deck_text(
      column_deck() + six_modes + "*STEP\n*MODAL DYNAMIC\n0.1, 0.3\n*CLOAD\n13, 1, 10.\n*END STEP\n", "test.inp");
  OutputOptions options = here();
  options.frd = true;
  write_modes(job, options);
  const std::string frd = testing::read_all(folder_ / "test.frd");
  EXPECT_NE(frd.find("    1PMODE                         6"), std::string::npos);
  // Six modes come before; kind 1 is over time.
  EXPECT_NE(frd.find("  100CL  109 0.300000000          16                     1    9           1\n"),
            std::string::npos);
}

TEST_F(ModalStepFiles, FilesOfAnEarlierRunAreRemoved) {
  const auto deck = [](int modes) {
    return read_deck_text(column_deck() + "*STEP\n*FREQUENCY\n" + std::to_string(modes) + "\n*END STEP\n", "test.inp");
  };
  OutputOptions options = here();
  Job six = deck(6), three = deck(3);
  write_modes(six, options);
  // What this program did not write stays, whatever it is called, and so does what an edited record claims elsewhere.
  for (const char* name : {"test_mode_009.vtu", "test_notes.txt", "other.txt", "tester.csv"})
    std::ofstream(folder_ / name) << "mine";
  auto record = nlohmann::json::parse(testing::read_all(folder_ / "test.results.json"));
  for (const char* name : {"other.txt", "tester.csv", "../other.txt", "/tmp/other.txt", ""})
    record["files"].push_back(name);
  record["files"].push_back(17);
  std::filesystem::create_directory(folder_ / "test_folder");
  record["files"].push_back("test_folder");
  std::ofstream(folder_ / "test.results.json") << record.dump();
  options.overwrite = true;
  const auto document = nlohmann::json::parse(write_modes(three, options));
  EXPECT_EQ(files(),
            (std::vector<std::string>{"other.txt", "test.dat", "test.results.json", "test_folder", "test_mode_001.vtu",
                                      "test_mode_002.vtu", "test_mode_003.vtu", "test_mode_009.vtu", "test_modes.csv",
                                      "test_modes.json", "test_modes.pvd", "test_notes.txt", "tester.csv"}));
  ASSERT_EQ(document["notes"].size(), 1u) << document["notes"];
  EXPECT_EQ(document["notes"][0],
            "removed 3 files of an earlier run of this job: test_mode_004.vtu, test_mode_005.vtu, test_mode_006.vtu");
}

TEST_F(ModalStepFiles, FilesOfAnEarlierRunStayWhereTheJobFails) {
  Job six = read_deck_text(column_deck() + six_modes, "test.inp");
  OutputOptions options = here();
  write_modes(six, options);
  options.overwrite = true;
  {
    ResultFiles files(six, options);
    files.give_up(Error(ErrorCode::cancelled, "stopped"), {plainly(), 0});
    const auto document = nlohmann::json::parse(files.json());
    EXPECT_EQ(document["earlier_files"].size(), 10u) << document["earlier_files"];
  }
  EXPECT_TRUE(std::filesystem::exists(folder_ / "test_mode_006.vtu"));
  // The next run knows them from the record of the one that failed.
  Job three = read_deck_text(column_deck() + "*STEP\n*FREQUENCY\n3\n*END STEP\n", "test.inp");
  write_modes(three, options);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "test_mode_006.vtu"));
}

TEST(ModalSteps, INCIsTheMostIncrements) {
  const auto deck = [](const std::string& most) {
    return column_deck() + "*STEP\n*FREQUENCY\n6\n*END STEP\n*STEP, INC=" + most +
           "\n*MODAL DYNAMIC\n0.01, 0.2\n*CLOAD\nTIP, 1, 1.\n*END STEP\n";
  };
  expect_error(ErrorCode::bad_input, {"test.inp:", "20 increments", "INC=19"}, [&] { run_deck(deck("19")); });
  EXPECT_EQ(run_deck(deck("20")).kept.responses.at(1).axis.size(), 21u);
}

// Three modes of a heavy point mass on the column are far below those of the column: ω² is the inverse of the mass
// times the flexibility at the node, so that ω √m does not depend on the mass where it is large.
TEST(ModalSteps, ModesOfVeryHeavyPointMasses) {
  std::vector<double> first;
  for (const char* const mass : {"4.8e4", "4.8e6", "4.8e8"}) {
    std::string deck = column_deck();
    deck.insert(deck.find("*NSET, NSET=FOOT"),
                "*ELEMENT, TYPE=MASS, ELSET=HEAVY\n100, 13\n*MASS, ELSET=HEAVY\n" + std::string(mass) + "\n");
    const RanDeck ran = run_deck(deck + "*STEP\n*FREQUENCY\n10\n*END STEP\n");
    const ModeSet& modes = *ran.kept.found.at(0);
    ASSERT_EQ(modes.count(), 10);
    EXPECT_TRUE(ran.result.faults.empty()) << mass;
    for (const auto& mode : modes.report.modes) EXPECT_LE(mode.residual, 1e-8) << mass;
    for (int i = 0; i < 3; ++i) {
      const double scaled = modes.frequency(i) * std::sqrt(std::stod(mass));
      if (first.size() < 3) first.push_back(scaled);
      EXPECT_NEAR(scaled, first[static_cast<std::size_t>(i)], 2e-5 * scaled) << mass << " " << i;
    }
  }
}

TEST(ModalSteps, ObserverStopsThem) {
  Job job = read_deck_text(
      column_deck() + six_modes + "*STEP\n*MODAL DYNAMIC\n0.1, 9.\n*CLOAD\n13, 1, 10.\n*END STEP\n", "test.inp");
  testing::expect_error(ErrorCode::cancelled, {"test.inp"}, [&] {
    KeptSteps kept;
    run_job(
        job, plainly(), [](const JobProgress& p) { return p.step == 0 || p.analysis.iteration < 5; }, kept);
  });
}

}  // namespace
}  // namespace voussoir
