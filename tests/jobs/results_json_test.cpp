#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "job_models.hpp"

// What results.json says of a job: finished, failed or cancelled.

namespace voussoir {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using testing::bar_with_tables;
using testing::plainly;
using testing::pulled_bar;
using testing::read_all;
using testing::run_and_write;

class ResultsJson : public testing::FolderTest {};

TEST_F(ResultsJson, JsonSaysWhatRanAndWhatWasFound) {
  Job job = bar_with_tables();
  job.notes.push_back({"bar.inp:3", "something to know"});
  ResultFiles results(job, here());
  const JobResult result = run_and_write(job, results);
  EXPECT_EQ(read_all(folder_ / "bar.results.json"), results.json());
  const Json json = Json::parse(results.json());
  EXPECT_EQ(json["program"], "voussoir");
  EXPECT_EQ(json["status"], "finished");
  EXPECT_FALSE(json.contains("error"));
  EXPECT_EQ(json["job"]["name"], "bar");
  EXPECT_EQ(json["job"]["source"], "bar.inp");
  EXPECT_EQ(json["options"]["solver"], "direct");
  EXPECT_EQ(json["backend"], result.backend);
  EXPECT_EQ(json["machine"]["threads"], 1);
  EXPECT_EQ(json["sizes"]["nodes"], 20);
  EXPECT_EQ(json["sizes"]["elements_by_type"]["solid.hex8.full"], 4);
  EXPECT_EQ(json["sizes"]["equations"], 60);
  EXPECT_GT(json["sizes"]["peak_memory_bytes"].get<double>(), 1e6);
  EXPECT_EQ(json["seconds"]["read"], 0.25);
  EXPECT_TRUE(json["seconds"].contains("assemble and solve"));
  EXPECT_TRUE(json["seconds"].contains("write"));
  ASSERT_EQ(json["steps"].size(), 1u);
  const Json& step = json["steps"][0];
  EXPECT_EQ(step["procedure"], "linear statics");
  const Json& most = step["extremes"]["ux"]["max"];
  EXPECT_NEAR(most["value"].get<double>(), 0.2, 1e-12);
  const Domain& domain = *job.domains[0];
  EXPECT_EQ(domain.node(most["node"].get<Id>()).position[0], 4.0);
  EXPECT_NEAR(step["extremes"]["displacement"]["max"]["value"].get<double>(), 0.2, 1e-12);
  EXPECT_NEAR(step["extremes"]["mises"]["min"]["value"].get<double>(), 10.0, 1e-9);
  EXPECT_NEAR(step["extremes"]["principal1"]["max"]["value"].get<double>(), 10.0, 1e-9);
  EXPECT_NEAR(step["load_sum"]["ux"].get<double>(), 10.0, 1e-10);
  EXPECT_NEAR(step["reaction_sum"]["ux"].get<double>(), -10.0, 1e-10);
  EXPECT_NEAR(step["reactions_by_node_set"]["xmin"]["ux"].get<double>(), -10.0, 1e-10);
  EXPECT_NEAR(step["energy"].get<double>(), 0.5 * 10 * 0.2, 1e-10);
  EXPECT_EQ(step["solver"]["converged"], true);
  EXPECT_EQ(json["notes"][0], "bar.inp:3: something to know");
  ASSERT_EQ(json["files"].size(), 8u);
  for (const auto& file : json["files"]) EXPECT_TRUE(fs::exists(file.get<std::string>())) << file;
}

TEST_F(ResultsJson, JsonIsThereWithoutAnyFile) {
  Job job = bar_with_tables();
  OutputOptions nothing = here();
  nothing.vtu = nothing.tables = nothing.json = false;
  nothing.folder = folder_ / "never made";
  ResultFiles results(job, nothing);
  run_and_write(job, results);
  EXPECT_TRUE(files().empty());
  EXPECT_TRUE(results.written().empty());
  const Json json = Json::parse(results.json());
  EXPECT_NEAR(json["steps"][0]["extremes"]["mises"]["max"]["value"].get<double>(), 10.0, 1e-9);
}

TEST_F(ResultsJson, WhatASolverCouldNotExcludeIsInTheJson) {
  Job job = pulled_bar(10.0);
  ResultFiles results(job, here());
  const JobResult result = run_job(job, plainly(), {}, [&](std::size_t step, StepResult found) {
    found.report.note = "mechanisms were not excluded";
    results.write_step(step, std::move(found));
  });
  results.finish(result, {plainly(), 0.25});
  EXPECT_EQ(Json::parse(results.json())["steps"][0]["solver"]["note"], "mechanisms were not excluded");
}

TEST_F(ResultsJson, HeatAndTheStepItHeatsAreReported) {
  Job job = testing::heated_bar();
  ResultFiles results(job, here());
  run_and_write(job, results);
  ASSERT_EQ(results.summaries().size(), 2u);
  const StepSummary& heat = results.summaries()[0];
  EXPECT_EQ(heat.range("temperature")->greatest.value, 100.0);
  EXPECT_NEAR(heat.range("flux")->least.value, 1250.0, 1e-8);
  EXPECT_EQ(heat.range("mises"), nullptr);
  const StepSummary& expand = results.summaries()[1];
  EXPECT_EQ(expand.range("temperature")->greatest.value, 100.0);
  EXPECT_NEAR(expand.range("ux")->greatest.value, 0.2, 1e-10);
  EXPECT_NE(read_all(folder_ / "hot_step2.vtu").find("Name=\"temperature\""), std::string::npos);
  EXPECT_FALSE(Json::parse(results.json())["steps"][0].contains("energy"));
}

TEST_F(ResultsJson, AJobThatFailsKeepsWhatWasFinished) {
  Job job = bar_with_tables();
  testing::one_more_step(job).supports = std::make_shared<Supports>();  // nothing holds it
  ResultFiles results(job, here());
  try {
    run_job(job, plainly(), {}, [&](std::size_t step, StepResult r) { results.write_step(step, std::move(r)); });
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    results.give_up(error, {plainly(), 0});
  }
  const auto names = files();
  for (const char* name : {"bar_step1.vtu", "bar.pvd", "bar.dat", "bar.results.json", "bar_step1_U_xmax.csv"})
    EXPECT_TRUE(std::count(names.begin(), names.end(), name)) << name;
  EXPECT_FALSE(std::count(names.begin(), names.end(), "bar_step2.vtu"));
  const Json json = Json::parse(read_all(folder_ / "bar.results.json"));
  EXPECT_EQ(json["status"], "failed");
  EXPECT_EQ(json["error"]["code"], "singular");
  EXPECT_EQ(json["steps"].size(), 1u);
  EXPECT_EQ(json["backend"], nullptr);
}

TEST_F(ResultsJson, ACancelledJobSaysSo) {
  Job job = bar_with_tables();
  ResultFiles results(job, here());
  results.give_up(Error(ErrorCode::cancelled, "stopped"), {plainly(), 0});
  EXPECT_EQ(files(), std::vector<std::string>{"bar.results.json"});
  EXPECT_EQ(Json::parse(results.json())["status"], "cancelled");
}

}  // namespace
}  // namespace voussoir
