// `voussoir modal`: tables, files and what it says of models without modes.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "program_run.hpp"

namespace voussoir::testing {
namespace {

/// A cantilever with a mass; CalculiX's usual names.
std::string vibrating_deck() {
  std::string deck = cantilever_deck(6, 1, 2);
  const auto elastic = deck.find("*ELASTIC");
  EXPECT_NE(elastic, std::string::npos);
  return deck.insert(elastic, "*DENSITY\n7.8e-9\n");
}

TEST(ModalCommand, PrintsATableAndWritesFiles) {
  const auto folder = fresh_folder("modal");
  write_text(folder / "beam.inp", vibrating_deck());
  RunSettings here;
  here.folder = folder;
  const Outcome run = run_program({"modal", "beam.inp", "--modes", "4", "--backend", "openmp:2"}, here);
  EXPECT_EQ(run.code, 0) << run.error;
  for (const char* word : {"frequency", "effective mass", "accumulated", "verified: 4 of 4 below", "beam_modes.csv"})
    EXPECT_TRUE(contains(run.out, word)) << word << "\n" << run.out;
  EXPECT_EQ(files_in(folder),
            (std::vector<std::string>{"beam.inp", "beam_mode_001.vtu", "beam_mode_002.vtu", "beam_mode_003.vtu",
                                      "beam_mode_004.vtu", "beam_modes.csv", "beam_modes.json", "beam_modes.png",
                                      "beam_modes.pvd", "beam_modes.svg"}));
  EXPECT_TRUE(read_text(folder / "beam_modes.csv").starts_with("mode,frequency,eigenvalue,residual,modal_mass,"));
  const Outcome again = run_program({"modal", "beam.inp", "--modes", "4"}, here);
  EXPECT_EQ(again.code, 5);
  EXPECT_TRUE(contains(again.error, "--force")) << again.error;
}

TEST(ModalCommand, AnimatesAModeOnRequest) {
  const auto folder = fresh_folder("modal_animation");
  write_text(folder / "beam.inp", vibrating_deck());
  RunSettings here;
  here.folder = folder;
  const auto ask = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"modal", "--modes", "2", "--no-vtu", "--no-picture", "--backend", "openmp:2"});
    return run_program(more, here);
  };
  const Outcome run = ask({"--animate", "3", "--mode", "2", "beam.inp"});
  EXPECT_EQ(run.code, 0) << run.error;
  EXPECT_TRUE(contains(run.out, "Wrote beam_mode_002_animation.pvd")) << run.out;
  EXPECT_EQ(files_in(folder),
            (std::vector<std::string>{"beam.inp", "beam_mode_002_animation.pvd",
                                      "beam_mode_002_animation_frame_001.vtu", "beam_mode_002_animation_frame_002.vtu",
                                      "beam_mode_002_animation_frame_003.vtu", "beam_modes.csv", "beam_modes.json"}));
  // A file may follow the option, which then has its usual 24 frames; and a name that is taken is found at once.
  const Outcome all = ask({"--force", "--mode", "all", "--animate", "beam.inp"});
  EXPECT_EQ(all.code, 0) << all.error;
  EXPECT_EQ(files_in(folder).size(), 3u + 2 * 25);
  for (const char* ending : {"_modes.csv", "_modes.json"})
    std::filesystem::remove(folder / ("beam" + std::string(ending)));
  const Outcome again = ask({"--animate", "beam.inp"});
  EXPECT_EQ(again.code, 5);
  EXPECT_TRUE(contains(again.error, "beam_mode_001_animation.pvd")) << again.error;
  const Outcome seventh = ask({"--force", "--animate", "--mode", "7", "beam.inp"});
  EXPECT_EQ(seventh.code, 2) << "before anything is solved";
  EXPECT_TRUE(contains(seventh.error, "only 2 modes are requested")) << seventh.error;
  EXPECT_EQ(ask({"--mode", "2", "beam.inp"}).code, 2) << "without --animate";
  EXPECT_EQ(ask({"--animate", "1", "beam.inp"}).code, 2);
  EXPECT_EQ(ask({"--animate", "--mode", "none", "beam.inp"}).code, 2);
}

TEST(ModalCommand, ForceRemovesFilesOfTheRunBefore) {
  const auto folder = fresh_folder("modal_force");
  write_text(folder / "beam.inp", vibrating_deck());
  write_text(folder / "beam_mode_007.vtu", "not of this program");
  RunSettings here;
  here.folder = folder;
  const auto ask = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"modal", "beam.inp", "--no-picture", "--backend", "openmp:2"});
    return run_program(more, here);
  };
  EXPECT_EQ(ask({"--modes", "4", "--animate", "3"}).code, 0);
  EXPECT_EQ(files_in(folder).size(), 2u + 2 + 5 + 4);
  const Outcome again = ask({"--modes", "2", "--force"});
  EXPECT_EQ(again.code, 0) << again.error;
  EXPECT_TRUE(contains(again.out, "removed 6 files of an earlier run")) << again.out;
  EXPECT_EQ(files_in(folder),
            (std::vector<std::string>{"beam.inp", "beam_mode_001.vtu", "beam_mode_002.vtu", "beam_mode_007.vtu",
                                      "beam_modes.csv", "beam_modes.json", "beam_modes.pvd"}));
}

/// A row of 60 bricks, the outer half of them 10⁷ times as stiff as the inner one, with steps.
std::string uneven_deck(const std::string& steps) {
  std::string deck = "*NODE\n";
  const int n = 60;
  for (int i = 0; i <= n; ++i)
    for (int k = 0; k < 4; ++k)
      deck += std::to_string(4 * i + k + 1) + ", " + std::to_string(i) + ", " + (k == 1 || k == 2 ? "1, " : "0, ") +
              (k >= 2 ? "1\n" : "0\n");
  deck += "*ELEMENT, TYPE=C3D8, ELSET=EALL\n";
  for (int i = 0; i < n; ++i) {
    deck += std::to_string(i + 1);
    for (int k = 1; k <= 8; ++k) deck += ", " + std::to_string(4 * i + k);
    deck += "\n";
  }
  for (const char* half : {"INNER, GENERATE\n1, 30\n", "OUTER, GENERATE\n31, 60\n"})
    deck += "*ELSET, ELSET=" + std::string(half);
  for (const char* name : {"INNER", "OUTER"})
    deck += "*MATERIAL, NAME=" + std::string(name) + "\n*ELASTIC\n" + (name[0] == 'I' ? "1e3" : "1e10") +
            ", 0.3\n*DENSITY\n1.\n*SOLID SECTION, ELSET=" + name + ", MATERIAL=" + name + "\n";
  return deck + "*NSET, NSET=FOOT\n1, 2, 3, 4\n*BOUNDARY\nFOOT, 1, 3\n" + steps;
}

/// The stiffness of the soft half is lost in the rounding of the other's: modes are written and not called exact.
TEST(RunCommand, ModesThatDidNotConvergeAreExitCodeThree) {
  const auto folder = fresh_folder("run_not_converged");
  const std::string modes = "*STEP\n*FREQUENCY\n3\n*END STEP\n";
  write_text(folder / "row.inp", uneven_deck(modes));
  RunSettings here;
  here.folder = folder;
  const Outcome run = run_program({"run", "row.inp", "--backend", "openmp:2"}, here);
  EXPECT_EQ(run.code, 3) << run.error;
  EXPECT_TRUE(contains(run.error, "row.inp:")) << run.error;
  EXPECT_TRUE(contains(run.error, "not all modes have residuals within the tolerance")) << run.error;
  const auto document = nlohmann::json::parse(read_text(folder / "row.results.json"));
  EXPECT_EQ(document["status"], "not converged");
  EXPECT_EQ(document["steps"][0]["converged"], false);
  EXPECT_EQ(document["steps"][0]["modes"].size(), 3u);
  // And they are not superposed.
  write_text(folder / "shaken.inp",
             uneven_deck(modes + "*STEP\n*MODAL DYNAMIC\n0.1, 1.\n*CLOAD\n240, 3, 1.\n*END STEP\n"));
  const Outcome shaken = run_program({"run", "shaken.inp", "--backend", "openmp:2"}, here);
  EXPECT_EQ(shaken.code, 3) << shaken.error;
  EXPECT_TRUE(contains(shaken.error, "are not superposed")) << shaken.error;
}

TEST(ModalCommand, SaysHowManyModesThereAre) {
  const auto folder = fresh_folder("modal_many");
  write_text(folder / "beam.inp", vibrating_deck());
  RunSettings here;
  here.folder = folder;
  const Outcome run = run_program({"modal", "beam.inp", "--modes", "5000", "--no-files"}, here);
  EXPECT_EQ(run.code, 0) << run.error;
  EXPECT_TRUE(contains(run.out, "note: the model has only ")) << run.out;
}

TEST(ModalCommand, AllBelowAFrequencyAsJson) {
  const auto folder = fresh_folder("modal_json");
  write_text(folder / "beam.inp", vibrating_deck());
  RunSettings here;
  here.folder = folder;
  const auto ask = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"modal", "beam.inp", "--json", "--no-files", "--backend", "openmp:2"});
    const Outcome run = run_program(more, here);
    EXPECT_EQ(run.code, 0) << run.error;
    return nlohmann::json::parse(run.out);
  };
  const auto first = ask({"--modes", "5"});
  ASSERT_EQ(first["modes"].size(), 5u);
  EXPECT_EQ(first["completeness"], "verified");
  const double limit =
      0.5 * (first["modes"][2]["frequency"].get<double>() + first["modes"][3]["frequency"].get<double>());
  for (const char* solver : {"auto", "lanczos", "subspace", "lobpcg"}) {
    const auto below = ask({"--below", std::to_string(limit), "--solver", solver});
    ASSERT_EQ(below["modes"].size(), 3u) << solver;
    for (std::size_t m = 0; m < 3; ++m) {
      const double frequency = first["modes"][m]["frequency"];
      EXPECT_NEAR(below["modes"][m]["frequency"].get<double>(), frequency, 1e-8 * frequency) << solver;
    }
  }
  EXPECT_EQ(files_in(folder), std::vector<std::string>{"beam.inp"});
}

TEST(ModalCommand, SaysWhatIsMissing) {
  const auto folder = fresh_folder("modal_wrong");
  write_text(folder / "light.inp", cantilever_deck(2, 1, 1));
  RunSettings here;
  here.folder = folder;
  const Outcome light = run_program({"modal", "light.inp"}, here);
  EXPECT_EQ(light.code, 1);
  EXPECT_TRUE(contains(light.error, "density")) << light.error;
  const Outcome step = run_program({"modal", "light.inp", "--step", "7"}, here);
  EXPECT_EQ(step.code, 1);
  EXPECT_TRUE(contains(step.error, "no step 7")) << step.error;
  EXPECT_EQ(run_program({"modal", "light.inp", "--from", "3"}, here).code, 2);
  EXPECT_EQ(run_program({"modal", "light.inp", "--threads", "1", "--backend", "openmp:2"}, here).code, 2);
  EXPECT_EQ(run_program({"modal", "light.inp", "--solver", "arpack"}, here).code, 2);
  EXPECT_EQ(files_in(folder), std::vector<std::string>{"light.inp"});
}

TEST(ModalCommand, NeverLosesSupportsOrModesWithoutAWord) {
  const auto folder = fresh_folder("modal_loud");
  const std::string deck = vibrating_deck();
  write_text(folder / "beam.inp", deck);
  write_text(folder / "stepless.inp", deck.substr(0, deck.find("*STEP")));
  RunSettings here;
  here.folder = folder;
  const Outcome stepless = run_program({"modal", "stepless.inp", "--no-files"}, here);
  EXPECT_EQ(stepless.code, 1) << stepless.out;
  EXPECT_TRUE(contains(stepless.error, "no step")) << stepless.error;
  const Outcome early = run_program({"modal", "beam.inp", "--modes", "5", "--max-iterations", "1", "--no-files",
                                     "--json", "--backend", "openmp:2", "--solver", "subspace"},
                                    here);
  EXPECT_EQ(early.code, 3) << early.out;
  EXPECT_NE(nlohmann::json::parse(early.out)["status"], "ok");
}

}  // namespace
}  // namespace voussoir::testing
