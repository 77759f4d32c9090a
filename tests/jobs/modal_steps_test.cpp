#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include <voussoir/framework/io/deck/deck_reader.hpp>
#include <voussoir/jobs/result_files.hpp>

#include "job_models.hpp"
#include "support/expect_error.hpp"

// Steps of modes and of mode superposition, run from decks. The numbers are those that CalculiX 2.20 prints for the
// same deck, with seven digits.

namespace voussoir {
namespace {

using testing::plainly;

/// A column of three C3D8, 1 × 0.8 × 3, that stands on nodes 1 to 4; node 13 is at its top.
std::string column() {
  std::ostringstream text;
  text << "*NODE, NSET=NALL\n";
  const double corner[4][2] = {{0, 0}, {1, 0}, {1, .8}, {0, .8}};
  for (int k = 0; k < 4; ++k)
    for (int i = 0; i < 4; ++i)
      text << 4 * k + i + 1 << ", " << corner[i][0] << ", " << corner[i][1] << ", " << k << "\n";
  text << "*ELEMENT, TYPE=C3D8, ELSET=EALL\n";
  for (int e = 0; e < 3; ++e) {
    text << e + 1;
    for (int j = 1; j <= 8; ++j) text << ", " << 4 * e + j;
    text << "\n";
  }
  text << "*NSET, NSET=FOOT\n1, 2, 3, 4\n*NSET, NSET=TIP\n13\n*MATERIAL, NAME=M\n*ELASTIC\n1000., 0.25\n*DENSITY\n2.\n"
          "*SOLID SECTION, ELSET=EALL, MATERIAL=M\n*BOUNDARY\nFOOT, 1, 3\n"
          "*AMPLITUDE, NAME=PULSE\n0., 0., 0.2, 1., 0.4, 0.\n";
  return text.str();
}

const std::string six_modes = "*STEP\n*FREQUENCY, STORAGE=YES\n6\n*END STEP\n";

/// Keeps what steps pass on.
class Kept : public StepReceiver {
 public:
  void step(std::size_t, StepResult) override {}
  void modes(std::size_t step, std::shared_ptr<const ModeSet> modes) override { found[step] = std::move(modes); }
  void state(std::size_t step, StepState state) override { states[step].push_back(std::move(state)); }
  void end(std::size_t step, StepResponse response) override { responses[step] = std::move(response); }

  std::map<std::size_t, std::shared_ptr<const ModeSet>> found;
  std::map<std::size_t, std::vector<StepState>> states;
  std::map<std::size_t, StepResponse> responses;
};

struct Ran {
  Job job;
  Kept kept;
  JobResult result;
};

Ran run(const std::string& text) {
  Ran ran;
  ran.job = read_deck_text(text, "test.inp");
  ran.result = run_job(ran.job, plainly(), {}, ran.kept);
  return ran;
}

void expect_at(const NodalField& field, std::int32_t node, const std::array<double, 3>& printed, double sign = 1) {
  double largest = 0;
  for (const double value : printed) largest = std::max(largest, std::abs(value));
  for (int k = 0; k < 3; ++k) EXPECT_NEAR(sign * field.at(node, k), printed[k], 1e-6 * largest) << k;
}

constexpr std::int32_t tip = 12;  // index of node 13

TEST(ModalSteps, FrequenciesShapesAndStressesAsInCalculiX) {
  const Ran ran =
      run(column() + "*STEP\n*FREQUENCY\n3\n*NODE PRINT, NSET=TIP\nU\n*EL PRINT, ELSET=EALL\nS\n*END STEP\n");
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
  const Ran ran = run(column() + six_modes +
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
  const Ran ran = run(column() + six_modes +
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
  const Ran base = run(column() + "*AMPLITUDE, NAME=ONE\n0., 1., 9., 1.\n" + six_modes +
                       "*STEP\n*MODAL DYNAMIC\n0.1, 0.4\n*BASE MOTION, DOF=1, AMPLITUDE=ONE, SCALE=3.\n"
                       "*NODE PRINT, NSET=TIP\nU\n*END STEP\n");
  const Ran weight = run(column() + six_modes +
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
  Ran ran = run(column() + "*NSET, NSET=UPPER, GENERATE\n5, 16\n*INITIAL CONDITIONS, TYPE=VELOCITY\nUPPER, 1, 2.\n" +
                "*STEP\n*FREQUENCY\n36\n*END STEP\n*STEP\n*MODAL DYNAMIC\n1e-6, 1e-6\n*NODE PRINT, NSET=TIP\nU\n*END "
                "STEP\n");
  EXPECT_NEAR(ran.kept.states.at(1)[0].result.unknowns.at(tip, 0), 2e-6, 1e-10);
}

TEST(ModalSteps, LowerBoundLeavesModesOut) {
  const Ran ran = run(column() + "*STEP\n*FREQUENCY\n2, 0.42\n*END STEP\n");
  ASSERT_EQ(ran.kept.found.at(0)->count(), 2);
  EXPECT_NEAR(ran.kept.found.at(0)->frequency(0), 0.4573352, 1e-6);
  EXPECT_NEAR(ran.kept.found.at(0)->frequency(1), 1.171399, 2e-6);
}

class ModalStepFiles : public testing::FolderTest {};

TEST_F(ModalStepFiles, FilesOfAllSteps) {
  Job job = read_deck_text(
      column() + six_modes +
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

TEST(ModalSteps, ObserverStopsThem) {
  Job job = read_deck_text(column() + six_modes + "*STEP\n*MODAL DYNAMIC\n0.1, 9.\n*CLOAD\n13, 1, 10.\n*END STEP\n",
                           "test.inp");
  testing::expect_error(ErrorCode::cancelled, {"test.inp"}, [&] {
    Kept kept;
    run_job(
        job, plainly(), [](const JobProgress& p) { return p.step == 0 || p.analysis.iteration < 5; }, kept);
  });
}

}  // namespace
}  // namespace voussoir
