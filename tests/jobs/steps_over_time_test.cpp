#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include <voussoir/framework/io/deck/deck_reader.hpp>
#include <voussoir/jobs/job_fingerprint.hpp>
#include <voussoir/jobs/result_files.hpp>
#include <voussoir/jobs/run_checkpoints.hpp>

#include "column_deck.hpp"
#include "support/expect_error.hpp"

// Steps over time on several devices, and runs of all kinds of them that stop and are resumed.

namespace voussoir {
namespace {

using testing::column_deck;
using testing::expect_error;
using testing::KeptSteps;
using testing::plainly;

const std::string heat_of_column = "*CONDUCTIVITY\n20.\n*SPECIFIC HEAT\n3.\n*EXPANSION\n1E-4\n";

/// Decks with one step of each kind that integrates over time; of the last one, a second step of stress is made.
std::vector<std::pair<std::string, std::string>> decks_over_time() {
  const std::string curves =
      "*OUTPUT, HISTORY\n*NODE OUTPUT, NSET=TIP\nU, NT\n*ELEMENT OUTPUT, ELSET=EALL, POSITION=CENTROIDAL\nS, HFL\n"
      "*NODE PRINT, NSET=TIP\nU, NT\n*EL PRINT, ELSET=EALL, FREQUENCY=5\nS\n*END STEP\n";
  const std::string push = "*CLOAD, AMPLITUDE=PULSE\nTIP, 1, 5.\n";
  const std::string heated = "*BOUNDARY\nFOOT, 11, 11, 120.\n*FILM, AMPLITUDE=PULSE\n3, F2, 300., 40.\n";
  return {{"implicit", column_deck("*DAMPING, ALPHA=0.3, BETA=1E-4\n") +
                           "*STEP, INC=100000\n*DYNAMIC, DIRECT\n0.08, 0.4\n" + push + curves},
          {"automatic", column_deck() + "*STEP, INC=100000\n*DYNAMIC\n0.01, 0.4\n" + push + curves},
          {"explicit", column_deck() + "*STEP, INC=100000\n*DYNAMIC, EXPLICIT\n, 0.4\n" + push + curves},
          {"plastic", column_deck("*PLASTIC\n2., 0.\n3., 0.01\n") +
                          "*STEP, NLGEOM, INC=100000\n*DYNAMIC, EXPLICIT\n, 0.4\n*BULK VISCOSITY\n0.06, 1.2\n" +
                          "*CLOAD, AMPLITUDE=PULSE\nTIP, 1, 20.\n*EL PRINT\nPEEQ\n" + curves},
          // The run stops in the second step, which continues the history of the first.
          {"plastic_statics", column_deck("*PLASTIC\n2., 0.\n3., 0.01\n") +
                                  "*STEP, NLGEOM, INC=1000\n*STATIC, DIRECT\n0.5, 1.\n*CLOAD\nTIP, 1, 0.25\n" +
                                  "*EL PRINT\nPEEQ\n" + curves + "*STEP, NLGEOM, INC=1000\n*STATIC, DIRECT\n" +
                                  "0.25, 1.\n*CLOAD\nTIP, 1, -0.2\n" + curves},
          {"heat", column_deck(heat_of_column, "*INITIAL CONDITIONS, TYPE=TEMPERATURE\nNALL, 20.\n") +
                       "*STEP, INC=100000\n*HEAT TRANSFER, DIRECT\n0.08, 0.4\n" + heated + curves},
          {"uncoupled", column_deck(heat_of_column, "*INITIAL CONDITIONS, TYPE=TEMPERATURE\nNALL, 20.\n") +
                            "*STEP, INC=100000\n*UNCOUPLED TEMPERATURE-DISPLACEMENT, DIRECT\n0.08, 0.4\n" + heated +
                            push + curves}};
}

/// Curves of two runs are the same to rounding.
void expect_same_curves(const NamedHistories& a, const NamedHistories& b, const std::string& name) {
  ASSERT_EQ(a.size(), b.size()) << name;
  for (std::size_t k = 0; k < a.size(); ++k) {
    // On the yield surface, rounding decides on the first tangent, and with it on the way to the solution.
    if (name == "plastic_statics" && (a[k].first == "iterations" || a[k].first == "unbalance")) continue;
    ASSERT_EQ(a[k].second.size(), b[k].second.size()) << name;
    double size = 0;
    for (const double value : a[k].second)
      if (!std::isnan(value)) size = std::max(size, std::abs(value));
    for (std::size_t i = 0; i < a[k].second.size(); ++i)
      if (!std::isnan(a[k].second[i])) {
        EXPECT_NEAR(a[k].second[i], b[k].second[i], 1e-6 * size + 1e-9) << name << " " << a[k].first << " " << i;
      }
  }
}

/// What the steps of two runs pass on is the same to rounding.
void expect_same_steps(const KeptSteps& a, const KeptSteps& b, const std::string& name) {
  EXPECT_FALSE(a.responses.empty()) << name;
  for (const auto& [step, response] : a.responses) {
    const StepResponse& other = b.responses.at(step);
    ASSERT_EQ(response.axis.size(), other.axis.size()) << name;
    expect_same_curves(response.histories, other.histories, name);
    expect_same_curves(response.energies, other.energies, name);
    ASSERT_EQ(response.recorded.size(), other.recorded.size());
    for (std::size_t r = 0; r < response.recorded.size(); ++r)
      expect_same_curves(response.recorded[r].curves, other.recorded[r].curves, name);
  }
  EXPECT_EQ(a.states.size(), b.states.size()) << name;
  for (const auto& [step, states] : a.states) EXPECT_EQ(states.size(), b.states.at(step).size()) << name;
}

/// Two devices of the debug backend, whose memory is not the host's.
StaticOptions on_two_devices() {
  StaticOptions options = plainly();
  options.backend = "debug:2";
  options.solver = "cg";
  options.relative_tolerance = 1e-13;
  return options;
}

KeptSteps run_on_one_device(const std::string& deck) {
  KeptSteps kept;
  Job job = read_deck_text(deck, "test.inp");
  StaticOptions options = plainly();
  options.relative_tolerance = 1e-13;
  run_job(job, options, {}, kept);
  return kept;
}

TEST(StepsOverTime, SeveralDevicesFindTheSame) {
  for (const auto& [name, deck] : decks_over_time()) {
    if (name == "automatic") continue;  // its many increments take long on this backend
    KeptSteps several;
    Job job = read_deck_text(deck, "test.inp");
    run_job(job, on_two_devices(), {}, several);
    expect_same_steps(run_on_one_device(deck), several, name);
  }
}

/// Devices that seem to be equally fast at first. In the third to fifth measurement, the first device takes three times
/// as long for each equation, and from then on a third of the time.
StepBalancer::Options changing_devices(int& measurements) {
  StepBalancer::Options options;
  options.first_check = 1;
  options.longest_wait = 1;
  options.least_gain = 0;
  options.measure = [&measurements](Backend&, const Layout& layout) {
    const double slow = ++measurements <= 2 ? 1 : measurements <= 5 ? 3 : 1.0 / 3;
    return std::vector<double>{slow * layout.owned(0), 1.0 * layout.owned(1)};
  };
  return options;
}

// Nodes move between the devices from one increment to another, to and fro, with what belongs to them: motions, the
// history of the elements, forces, energies. The files and curves are those of one device.
TEST(StepsOverTime, NodesThatMoveToOtherDevicesKeepTheirState) {
  for (const auto& [name, deck] : decks_over_time()) {
    if (name == "automatic" || name == "uncoupled") continue;  // as implicit and heat
    KeptSteps moving;
    Job job = read_deck_text(deck, "test.inp");
    StaticOptions options = on_two_devices();
    options.numbering = "divided:contiguous,speeds=measured";
    int measurements = 0;
    const JobResult result = run_job(job, options, {}, moving, nullptr, changing_devices(measurements));
    expect_same_steps(run_on_one_device(deck), moving, name);
    int divisions = 0;
    for (const std::string& note : result.notes) divisions += note.find("moved to other devices") != std::string::npos;
    EXPECT_GE(divisions, 2) << name;
  }
}

class ResumedSteps : public testing::FolderTest {
 protected:
  /// Runs a deck in a folder; a run that is to stop does so when it has told of its progress so often.
  void run(const std::string& deck, const std::string& folder, const std::string& backend, int stop_after,
           bool resume) {
    Job job = read_deck_text(deck, "test.inp");
    OutputOptions options;
    options.folder = folder_ / folder;
    options.overwrite = resume;
    options.frd = true;
    ResultFiles files(job, options);
    CheckpointOptions saving;
    saving.every_increments = 2;
    saving.resume = resume;
    RunCheckpoints checkpoints(options.folder, job.name, saving);
    checkpoints.begin(job_fingerprint(job), {"here", "all"});
    files.attach(checkpoints);
    StaticOptions how = plainly();
    how.backend = backend;
    if (backend != "openmp:1") how.solver = "cg";
    int told = 0;
    const JobResult result = run_job(
        job, how, [&](const JobProgress& p) { return p.left < 0 || ++told != stop_after; }, files, &checkpoints);
    files.finish(result, {});
    checkpoints.finish();
  }
};

TEST_F(ResumedSteps, HaveTheFilesOfARunThatDoesNotStop) {
  for (const std::string backend : {"openmp:1", "debug:2"})
    for (const auto& [name, deck] : decks_over_time()) {
      if (name == "automatic" && backend == "debug:2") continue;  // its many increments take long there
      const std::string whole = name + "_whole", cut = name + "_cut";
      for (const std::string& folder : {whole, cut}) std::filesystem::remove_all(folder_ / folder);
      run(deck, whole, backend, -1, false);
      expect_error(ErrorCode::cancelled, {"cancelled"}, [&, &deck = deck] { run(deck, cut, backend, 3, false); });
      run(deck, cut, backend, -1, true);
      int compared = 0;
      for (const auto& entry : std::filesystem::directory_iterator(folder_ / whole)) {
        const auto file = entry.path().filename();
        if (file.extension() == ".json" || file.extension() == ".frd") continue;  // they have dates and times
        EXPECT_EQ(testing::read_all(entry.path()), testing::read_all(folder_ / cut / file)) << name << " " << file;
        ++compared;
      }
      EXPECT_GE(compared, 15) << name;
    }
}

}  // namespace
}  // namespace voussoir
