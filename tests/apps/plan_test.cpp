// `voussoir plan`, `bench calibrate` and `bench model`, and predictions in results.json.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "program_run.hpp"
#include "support/further_backends.hpp"

namespace voussoir::testing {
namespace {

using Json = nlohmann::json;

TEST(Plan, PrintsPredictionsAndTheChoiceOfAuto) {
  const auto folder = fresh_folder("plan");
  write_text(folder / "beam.inp", cantilever_deck(6, 2, 2, {1.0, 2.0}));
  const Outcome outcome = run_program({"plan", (folder / "beam.inp").string(), "--backend", "openmp:1"});
  ASSERT_EQ(outcome.code, 0) << outcome.error;
  for (const char* word : {"Predictions, nothing was solved", "built-in rates", "cg+amg", "matrix-free", "auto takes",
                           "assumption:", "2 steps", "1 matrix"})
    EXPECT_TRUE(contains(outcome.out, word)) << word << "\n" << outcome.out;
  EXPECT_EQ(files_in(folder).size(), 1u);  // nothing is written
}

TEST(Plan, SaysWhereAModelIsNotLinearOrABackendIsMissing) {
  const std::string deck = std::string(VSR_TEST_SOURCE_DIR) + "/tests/fuzz/seeds/deck/radiation.inp";
  const Outcome outcome = run_program({"plan", deck, "--backend", "openmp:1"});
  EXPECT_EQ(outcome.code, 0) << outcome.error;
  EXPECT_TRUE(contains(outcome.out, "the model is not linear")) << outcome.out;
  // Without a GPU, CUDA is unavailable; with one, the number is a mistake.
  EXPECT_EQ(run_program({"plan", deck, "--backend", "cuda:77"}).code, further::cuda_info().usable ? 1 : 4);
}

TEST(Plan, BadInputIsAnErrorWithItsPlace) {
  const auto folder = fresh_folder("plan_bad");
  EXPECT_EQ(run_program({"plan"}).code, 2);
  const Outcome missing = run_program({"plan", (folder / "none.inp").string()});
  EXPECT_NE(missing.code, 0);
  EXPECT_TRUE(contains(missing.error, "none.inp"));
  write_text(folder / "bad.inp", "*NODE\n1, 0, 0\n*ELEMENT, TYPE=NONSENSE\n1, 1\n");
  const Outcome bad = run_program({"plan", (folder / "bad.inp").string()});
  EXPECT_NE(bad.code, 0);
  EXPECT_TRUE(contains(bad.error, "bad.inp:3")) << bad.error;
  write_text(folder / "beam.inp", cantilever_deck(2, 1, 1));
  EXPECT_NE(run_program({"plan", (folder / "beam.inp").string(), "--backend", "openmp:zero"}).code, 0);
  EXPECT_EQ(run_program({"plan", (folder / "beam.inp").string(), "--tolerance", "0"}).code, 2);
}

/// A quick profile of one thread, as a file.
std::string measured_profile(const std::filesystem::path& folder) {
  const std::string profile = (folder / "profile.json").string();
  const Outcome outcome = run_program({"bench", "calibrate", "--backend", "openmp:1", "--quick", "--json", profile});
  EXPECT_EQ(outcome.code, 0) << outcome.error;
  EXPECT_TRUE(contains(outcome.out, "product bsr 3")) << outcome.out;
  EXPECT_TRUE(contains(outcome.out, "not kept")) << outcome.out;
  return profile;
}

TEST(Plan, UsesAMeasuredProfileAndRunsReportPredictions) {
  const auto folder = fresh_folder("plan_profile");
  const std::string deck = (folder / "beam.inp").string();
  write_text(deck, cantilever_deck(6, 2, 2));
  RunSettings settings;
  settings.environment = {"VOUSSOIR_PROFILE=" + measured_profile(folder)};
  const Outcome plan = run_program({"plan", deck, "--backend", "openmp:1", "--json"}, settings);
  ASSERT_EQ(plan.code, 0) << plan.error;
  const Json document = Json::parse(plan.out);
  EXPECT_EQ(document["backends"][0]["measured_profile"], true) << plan.out;
  const Outcome run =
      run_program({"run", deck, "--backend", "openmp:1", "--output", (folder / "results").string()}, settings);
  ASSERT_EQ(run.code, 0) << run.error;
  Json results;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder / "results"))
    if (contains(entry.path().filename().string(), "results.json")) results = Json::parse(read_text(entry.path()));
  ASSERT_TRUE(results.contains("predicted")) << results;
  EXPECT_TRUE(contains(results["predicted"]["note"].get<std::string>(), "profile of")) << results["predicted"];
  ASSERT_TRUE(results["predicted"].contains("seconds"));
  for (const char* stage : {"assemble and solve", "number", "recover"}) {
    EXPECT_TRUE(results["seconds"].contains(stage)) << stage;
    EXPECT_TRUE(results["predicted"]["seconds"].contains(stage)) << stage;
  }
  // On another number of threads the profile is not used, and the reason is given.
  const Outcome other = run_program({"plan", deck, "--backend", "openmp:2"}, settings);
  EXPECT_TRUE(contains(other.out, "is not used")) << other.out;
}

TEST(BenchModel, ComparesPredictionsWithMeasurementsAndPlotsThem) {
  const auto folder = fresh_folder("bench_model");
  const std::string numbers = (folder / "model.json").string(), plot = (folder / "model.svg").string();
  const Outcome outcome = run_program(
      {"bench", "model", "--backend", "openmp:1", "--quick", "--size", "40", "--json", numbers, "--svg", plot});
  ASSERT_EQ(outcome.code, 0) << outcome.out << outcome.error;
  const Json document = Json::parse(read_text(numbers));
  EXPECT_GE(document["long_vectors"]["rows"].size(), 8u);
  EXPECT_GE(document["pyramids"]["rows"].size(), 2u);
  for (const Json& row : document["pyramids"]["rows"]) EXPECT_GT(row["measured"].get<double>(), 0);
  EXPECT_GE(document["pyramids"]["chosen_seconds"].get<double>(), document["pyramids"]["best_seconds"].get<double>());
  for (const char* name : {"model-long-vectors.svg", "model-pyramids.svg"})
    EXPECT_TRUE(contains(read_text(folder / name), "<svg")) << name;
  EXPECT_TRUE(contains(outcome.out, "normalised RMS deviation"));
  EXPECT_EQ(run_program({"bench", "model", "spmv"}).code, 2);
  EXPECT_EQ(run_program({"bench", "spmv", "--svg", plot}).code, 2);
}

}  // namespace
}  // namespace voussoir::testing
