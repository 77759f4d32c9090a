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

// Two devices of the debug backend, whose memory is not the host's, find what one does.
TEST(StepsOverTime, SeveralDevicesFindTheSame) {
  for (const auto& [name, deck] : decks_over_time()) {
    if (name == "automatic") continue;  // its many increments take long on this backend
    // On the yield surface, rounding decides on the first tangent, and with it on the number of iterations.
    if (name == "plastic_statics") continue;
    std::vector<KeptSteps> kept(2);
    for (const bool several : {false, true}) {
      Job job = read_deck_text(deck, "test.inp");
      StaticOptions options = plainly();
      options.backend = several ? "debug:2" : "openmp:1";
      if (several) options.solver = "cg";
      options.relative_tolerance = 1e-13;
      run_job(job, options, {}, kept[several]);
    }
    for (const auto& [step, response] : kept[0].responses) {
      const StepResponse& other = kept[1].responses.at(step);
      ASSERT_EQ(response.axis.size(), other.axis.size()) << name;
      const auto compare = [&](const NamedHistories& a, const NamedHistories& b) {
        ASSERT_EQ(a.size(), b.size()) << name;
        for (std::size_t k = 0; k < a.size(); ++k) {
          ASSERT_EQ(a[k].second.size(), b[k].second.size()) << name;
          double size = 0;
          for (const double value : a[k].second)
            if (!std::isnan(value)) size = std::max(size, std::abs(value));
          for (std::size_t i = 0; i < a[k].second.size(); ++i)
            if (!std::isnan(a[k].second[i])) {
              EXPECT_NEAR(a[k].second[i], b[k].second[i], 1e-6 * size + 1e-9) << name << " " << a[k].first << " " << i;
            }
        }
      };
      compare(response.histories, other.histories);
      compare(response.energies, other.energies);
      ASSERT_EQ(response.recorded.size(), other.recorded.size());
      for (std::size_t r = 0; r < response.recorded.size(); ++r)
        compare(response.recorded[r].curves, other.recorded[r].curves);
    }
    EXPECT_EQ(kept[0].states.size(), kept[1].states.size()) << name;
    for (const auto& [step, states] : kept[0].states) EXPECT_EQ(states.size(), kept[1].states.at(step).size()) << name;
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
