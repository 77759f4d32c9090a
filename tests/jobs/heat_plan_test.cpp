// Plans of heat jobs: counts by hand, schemes that fit, and what a run reports of its prediction.

#include <voussoir/jobs/heat_plan.hpp>

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include <voussoir/backends/version.hpp>
#include <voussoir/jobs/run_heat_job.hpp>

namespace voussoir {
namespace {

HeatJob plan_sample(const std::string& scheme, const std::string& more = "") {
  const std::string time = scheme == "stationary" ? "" : R"("time": {"step": 0.01, "steps": 40},)";
  return read_heat_text(R"({"grid": {"nodes": [30, 30], "lengths": [1, 1]}, "sides": {"all": {"temperature": 1}},
 "material": {"conductivity": 1, "density": 1, "specific_heat": 1}, )" +
                            time + more + R"( "scheme": ")" + scheme + R"(", "backend": "openmp:1"})",
                        "plan.json", ".");
}

/// One second per unit of every operation, times a factor.
MachineProfile unit_profile() {
  MachineProfile profile;
  const auto add = [&](std::string_view name, double seconds) {
    OperationCost cost;
    cost.levels = {{1, seconds}};
    profile.costs[std::string(name)] = cost;
  };
  add(operations::diffusion, 1);
  add(operations::source, 3);
  add(operations::sweep, 10);
  add(operations::sweep_across, 20);
  add(operations::sweep_own, 100);
  add(operations::sweep_own_across, 200);
  add(operations::axpy, 0.5);
  add(operations::dot, 1);
  add(operations::new_array, 0.125);
  add(operations::stencil, 0.1);
  profile.costs[std::string(operations::dot)].latency = 7;
  return profile;
}

TEST(PlanHeat, CountsTheOperationsOfAStep) {
  const CostModel model(unit_profile());
  const auto step = [&](const std::string& scheme, const std::string& more = "") {
    return *predict_heat(model, plan_sample(scheme, more), scheme, 0.01, 40).step_seconds / 900;
  };
  EXPECT_DOUBLE_EQ(step("douglas"), 1 + 10 + 20 + 0.5);
  EXPECT_DOUBLE_EQ(step("peaceman-rachford"), 2 + 10 + 20);
  const std::string source = R"("sources": [{"constant": 1}],)";
  EXPECT_DOUBLE_EQ(step("douglas", source), 1 + 10 + 20 + 0.5 + 0.5);
  const std::string changing = R"("sources": [{"constant": 1, "factor": [[0, 1], [1, 2]]}],)";
  EXPECT_DOUBLE_EQ(step("douglas", changing), 1 + 10 + 20 + 0.5 + 3 + 0.5);
  const std::string layers = R"("materials": [{"box": {"lower": [0, 0], "upper": [0.5, 1]}, "conductivity": 2}],)";
  EXPECT_DOUBLE_EQ(step("douglas", layers), 2 * 2 + 100 + 200 + 0.5);
  const std::string points = R"("points": [{"at": [0, 0]}],)";
  EXPECT_DOUBLE_EQ(step("douglas", points) * 900, 900 * 31.5 + 7);

  const HeatSchemePlan plan = predict_heat(model, plan_sample("douglas"), "douglas", 0.01, 40);
  EXPECT_DOUBLE_EQ(*plan.seconds, *plan.set_up_seconds + 40 * *plan.step_seconds);
  EXPECT_DOUBLE_EQ(*plan.set_up_seconds, 2 * 900);  // two fields of 8 bytes, an eighth of a second each
  EXPECT_EQ(plan.memory, 8 * 900 * 3);
  EXPECT_GT(predict_heat(model, plan_sample("douglas", layers), "douglas", 0.01, 40).memory, plan.memory);
  EXPECT_FALSE(predict_heat(CostModel(MachineProfile()), plan_sample("douglas"), "douglas", 0.01, 40).seconds);
}

TEST(PlanHeat, ComparesSchemesWithStepsThatTheyAllow) {
  const HeatPlan plan = plan_heat_job(plan_sample("douglas"), {"openmp:1", "debug:2"}, "plan.json");
  ASSERT_EQ(plan.backends.size(), 2u);
  for (const HeatBackendPlan& backend : plan.backends) {
    ASSERT_EQ(backend.schemes.size(), 3u);
    EXPECT_TRUE(backend.is_assumption);
    int chosen = 0;
    double before = 0;
    for (const HeatSchemePlan& s : backend.schemes) {
      ASSERT_TRUE(s.seconds) << s.scheme;
      EXPECT_GE(*s.seconds, before);
      before = *s.seconds;
      chosen += s.chosen;
      EXPECT_EQ(s.chosen, s.scheme == "douglas");
      EXPECT_NEAR(s.time_step * s.steps, 0.4, 1e-12);
      if (s.scheme == "explicit") {
        EXPECT_LE(s.time_step, 1.0 / (4 * 29 * 29) * (1 + 1e-12));
        EXPECT_EQ(s.steps, std::ceil(0.4 * 4 * 29 * 29));
        EXPECT_NE(s.note, "");
      }
    }
    EXPECT_EQ(chosen, 1);
  }
  const auto document = nlohmann::json::parse(to_json(plan));
  EXPECT_EQ(document["nodes"], 900);
  EXPECT_EQ(document["backends"][0]["schemes"].size(), 3u);
  EXPECT_TRUE(document["backends"][0]["schemes"][0]["predicted_seconds"].is_number());
}

TEST(PlanHeat, IterationsOfSteadyStatesAreNearThoseOfTheRun) {
  const HeatJob job = plan_sample("stationary", R"("sources": [{"constant": 1}],)");
  const HeatPlan plan = plan_heat_job(job, {"openmp:1"}, "plan.json");
  ASSERT_EQ(plan.backends[0].schemes.size(), 1u);
  HeatRunOptions options;
  options.files = false;
  const HeatRunResult result = run_heat_job(job, options);
  EXPECT_NEAR(plan.backends[0].schemes[0].steps / static_cast<double>(result.steps), 1, 0.5) << result.steps;
}

TEST(PlanHeat, RunsReportTheirPrediction) {
  const auto backend = Backend::open("openmp:1");
  MachineProfile profile = unit_profile();
  profile.machine = machine_name();
  profile.backend = backend->name();
  profile.devices = backend->devices();
  profile.threads = backend->threads();
  profile.version = version();
  const auto path =
      std::filesystem::temp_directory_path() / ("voussoir_heat_plan_" + std::to_string(::getpid()) + ".json");
  save_profile(profile, path);
  ::setenv("VOUSSOIR_PROFILE", path.c_str(), 1);
  const HeatJob job = plan_sample("douglas");
  HeatRunOptions options;
  options.files = false;
  const HeatRunResult result = run_heat_job(job, options);
  ::setenv("VOUSSOIR_PROFILE", "none", 1);
  std::filesystem::remove(path);
  const auto document = nlohmann::json::parse(heat_results_json(job, result));
  EXPECT_DOUBLE_EQ(document["predicted"]["seconds"]["steps"].get<double>(), 40 * 900 * 31.5);
  EXPECT_DOUBLE_EQ(document["predicted"]["seconds"]["setup"].get<double>(), 1800);
  EXPECT_TRUE(document["seconds"].contains("setup") && document["seconds"].contains("steps"));
  const auto without = nlohmann::json::parse(heat_results_json(job, run_heat_job(job, options)));
  EXPECT_FALSE(without["predicted"].contains("seconds"));
  EXPECT_NE(without["predicted"]["note"].get<std::string>().find("none"), std::string::npos);
}

}  // namespace
}  // namespace voussoir
