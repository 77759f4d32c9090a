#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <map>

#include <voussoir/jobs/procedures.hpp>

#include "job_models.hpp"
#include "support/expect_error.hpp"

namespace voussoir {
namespace {

using testing::expect_error;
using testing::plainly;
using testing::pulled_bar;

double end_of(const Job& job, const StepResult& result) {
  const Domain& domain = *job.domains.back();
  return result.unknowns.at(domain.node_set("xmax")[0], "ux");
}

TEST(RunJob, PulledBarLengthensAsTheFormulaSays) {
  Job job = pulled_bar(10.0);
  const JobResult result = run_job(job, plainly());
  ASSERT_EQ(result.steps.size(), 1u);
  EXPECT_NEAR(end_of(job, result.steps[0]), 10.0 * 4.0 / 200.0, 1e-12);
  EXPECT_NEAR(result.steps[0].reaction_sum[0], -10.0, 1e-10);
  EXPECT_EQ(result.equations, 5 * 2 * 2 * 3);
  EXPECT_EQ(result.free_equations, 60 - 4 - 10 - 10);
  EXPECT_EQ(result.threads, 1);
  EXPECT_FALSE(result.backend.empty());
  EXPECT_FALSE(result.matrix.empty());
}

TEST(RunJob, FactorOfAStepScalesItsLoads) {
  Job job = pulled_bar(10.0);
  job.steps[0].load_factor = -2.5;
  EXPECT_NEAR(end_of(job, run_job(job, plainly()).steps[0]), -2.5 * 0.2, 1e-12);
}

TEST(RunJob, StepsWithTheSameSupportsAreNumberedOnce) {
  Job job = pulled_bar();
  testing::one_more_step(job).load_factor = 2;
  testing::one_more_step(job).supports = testing::hold_one_end(*job.domains[0]);  // alike, but another object
  std::map<std::string, int> stages;
  const JobResult result = run_job(job, plainly(), [&](const JobProgress& p) {
    EXPECT_EQ(p.steps, 3u);
    EXPECT_EQ(p.step_name, job.steps[p.step].name);
    ++stages[p.analysis.stage];
    return true;
  });
  EXPECT_EQ(stages["number"], 2);
  EXPECT_EQ(stages["recover"], 3);
  ASSERT_EQ(result.steps.size(), 3u);
  EXPECT_NEAR(end_of(job, result.steps[1]), 0.4, 1e-12);
  // Times of a stage are summed: each stands once.
  std::map<std::string, int> times;
  for (const StageTime& t : result.stage_times) EXPECT_EQ(++times[t.stage], 1) << t.stage;
  EXPECT_EQ(times.count("recover"), 1u);
}

/// Statics whose answer is twice as large.
class Doubled : public StaticAnalysis {
 public:
  using StaticAnalysis::StaticAnalysis;

 protected:
  StepResult make_result(const AnalysisState& state, const SolveReport& report) override {
    StepResult result = StaticAnalysis::make_result(state, report);
    for (double& value : result.unknowns.values) value *= 2;
    return result;
  }
};

TEST(RunJob, AStepIsSolvedByTheProcedureThatItNames) {
  procedures().add("test-doubled", "twice the answer",
                   {[](const Domain& domain, std::shared_ptr<Backend> backend, const StaticOptions& options) {
                     return std::make_unique<Doubled>(
                         domain, make_static_analysis(domain, std::move(backend), options)->collaborators());
                   }});
  Job job = pulled_bar(10.0);
  testing::one_more_step(job).procedure_name = "test-doubled";
  testing::one_more_step(job).procedure_name = "static";
  const JobResult result = run_job(job, plainly());
  ASSERT_EQ(result.steps.size(), 3u);
  EXPECT_NEAR(end_of(job, result.steps[0]), 0.2, 1e-12);
  EXPECT_NEAR(end_of(job, result.steps[1]), 0.4, 1e-12);
  EXPECT_NEAR(end_of(job, result.steps[2]), 0.2, 1e-12);
  // A name that is wrong is known before anything is solved.
  job.steps[2].procedure_name = "statc";
  job.steps[2].where = "job.json:7";
  int finished = 0;
  expect_error(ErrorCode::not_found, {"job.json:7", "procedure 'statc'", "did you mean 'static'?"},
               [&] { run_job(job, plainly(), {}, [&](std::size_t, StepResult) { ++finished; }); });
  EXPECT_EQ(finished, 0);
  EXPECT_EQ(procedures().origin("heat"), "built in");
}

TEST(RunJob, FinishedTakesTheResultsInOrder) {
  Job job = pulled_bar();
  testing::one_more_step(job).load_factor = 3;
  std::vector<double> ends;
  const JobResult result = run_job(job, plainly(), {}, [&](std::size_t step, StepResult found) {
    EXPECT_EQ(step, ends.size());
    ends.push_back(end_of(job, found));
  });
  EXPECT_TRUE(result.steps.empty());
  ASSERT_EQ(ends.size(), 2u);
  EXPECT_NEAR(ends[0], 0.2, 1e-12);
  EXPECT_NEAR(ends[1], 0.6, 1e-12);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
// Each step has a load case of its own. A number for every pair of them would take 128 MB, the products of all loads
// with each other as much again.
TEST(RunJob, ThousandsOfStepsTakeMemoryThatGrowsWithTheirNumberOnly) {
  const pid_t child = ::fork();  // whose peak of memory is its own
  if (child == 0) {
    constexpr int count = 4000;
    Job job = pulled_bar();
    for (int i = 1; i < count; ++i) {
      JobStep& step = testing::one_more_step(job);
      step.load_case = "pull " + std::to_string(i);
      job.domains[0]->add_load_case(step.load_case).nodal("xmax", "ux", 1.0 + i);
    }
    rusage before{}, after{};
    ::getrusage(RUSAGE_SELF, &before);
    int right = 0;
    run_job(job, plainly(), {}, [&](std::size_t step, StepResult found) {
      const double force = step == 0 ? 10.0 : 4.0 * (1.0 + static_cast<double>(step));
      right += std::abs(end_of(job, found) - force * 4.0 / 200.0) < 1e-9 * force;
    });
    ::getrusage(RUSAGE_SELF, &after);
    if (right != count) ::_exit(1);
    ::_exit(after.ru_maxrss - before.ru_maxrss < 60 * 1024 ? 0 : 2);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << WEXITSTATUS(status);
}
#endif

TEST(RunJob, WhatIsFixedStaysWhereTheStepBeforeLeftIt) {
  Job job = pulled_bar(10.0);
  JobStep& second = testing::one_more_step(job);
  auto supports = testing::hold_one_end(*job.domains[0]);
  for (const std::int32_t n : job.domains[0]->node_set("xmax")) supports->kept.push_back({n, "ux"});
  second.supports = supports;
  second.load_case = "";
  testing::one_more_step(job).load_case = "pull";  // still held there: nothing moves
  const JobResult result = run_job(job, plainly());
  for (int step = 0; step < 3; ++step) EXPECT_NEAR(end_of(job, result.steps[step]), 0.2, 1e-12) << step;
  const double pulled = sum_over(result.steps[1].reactions, *job.domains[0], "xmax", "ux");
  EXPECT_NEAR(pulled, 10.0, 1e-10);
  EXPECT_NEAR(sum_over(result.steps[2].reactions, *job.domains[0], "xmax", "ux"), 0.0, 1e-10);
}

TEST(RunJob, TemperaturesOfAStepOfHeatLengthenTheBody) {
  Job job = testing::heated_bar();
  const JobResult result = run_job(job, plainly());
  ASSERT_EQ(result.steps.size(), 2u);
  EXPECT_NEAR(result.steps[0].unknowns.largest("T").value, 100.0, 1e-10);
  // α ∫ T dx over the bar, T from 0 to 100.
  EXPECT_NEAR(end_of(job, result.steps[1]), 1e-3 * 50.0 * 4.0, 1e-10);
}

TEST(RunJob, WhatAStepSaysOfATemperatureCountsMoreThanTheHeat) {
  Job job = testing::heated_bar();
  Domain& domain = *job.domains[1];
  std::vector<double> cold(domain.node_count(), 7.0);
  domain.add_load_case("cold").temperature_field(cold);
  job.steps[1].load_case = "cold";
  EXPECT_NEAR(end_of(job, run_job(job, plainly()).steps[1]), 1e-3 * 7.0 * 4.0, 1e-12);
}

TEST(RunJob, HeatIsNotScaledByTheFactorOfTheLoads) {
  Job job = testing::heated_bar();
  job.domains[1]->add_load_case("pull").traction("xmax", {10, 0, 0});
  job.steps[1].load_case = "pull";
  job.steps[1].load_factor = 2;
  EXPECT_NEAR(end_of(job, run_job(job, plainly()).steps[1]), 0.2 + 2 * 0.2, 1e-10);
}

TEST(RunJob, HeatReachesNodesThatTheHeatModelDoesNotHave) {
  // The reader keeps one list of nodes for both models; an element that does not conduct leaves its own without T.
  Job job = testing::heated_bar();
  for (auto& domain : job.domains) domain->add_node(1000, 9, 0, 0), domain->add_node(1001, 10, 0, 0);
  ElementBlock& bar = job.domains[1]->add_block("spring", "truss");
  bar.set_material(std::make_shared<IsotropicMaterial>("soft", 1.0, 0.0, 0.0, 1.0)).set_section("area", 1.0);
  bar.add(500, {1000, 1001});
  auto supports = testing::hold_one_end(*job.domains[1]);
  for (const char* u : {"ux", "uy", "uz"}) supports->values.push_back({job.domains[1]->node_index(1000), u, 0});
  for (const char* u : {"uy", "uz"}) supports->values.push_back({job.domains[1]->node_index(1001), u, 0});
  job.steps[1].supports = supports;
  job.domains[1]->set_reference_temperature(0.0);
  const JobResult result = run_job(job, plainly());
  EXPECT_NEAR(result.steps[1].unknowns.at(job.domains[1]->node_index(1001), "ux"), 0.0, 1e-12);
}

TEST(RunJob, StopsWhenAskedAndKeepsWhatWasFinished) {
  Job job = pulled_bar();
  testing::one_more_step(job).supports = testing::hold_one_end(*job.domains[0]);
  std::size_t finished = 0;
  expect_error(ErrorCode::cancelled, {"cancelled"}, [&] {
    run_job(
        job, plainly(), [](const JobProgress& p) { return p.step == 0; }, [&](std::size_t, StepResult) { ++finished; });
  });
  EXPECT_EQ(finished, 1u);
}

TEST(RunJob, AnErrorOfTheTakerStopsTheJob) {
  Job job = pulled_bar();
  testing::one_more_step(job);
  int taken = 0;
  expect_error(ErrorCode::io, {"disk full"}, [&] {
    run_job(job, plainly(), {}, [&](std::size_t, StepResult) {
      ++taken;
      throw Error(ErrorCode::io, "disk full");
    });
  });
  EXPECT_EQ(taken, 1);
}

TEST(RunJob, AStepThatIsNotHeldFailsAfterTheOthersWereHandedOver) {
  Job job = pulled_bar();
  testing::one_more_step(job).supports = std::make_shared<Supports>();
  std::size_t finished = 0;
  expect_error(ErrorCode::singular, {},
               [&] { run_job(job, plainly(), {}, [&](std::size_t, StepResult) { ++finished; }); });
  EXPECT_EQ(finished, 1u);
}

TEST(RunJob, WithoutSupportsOfItsOwnAStepTakesThoseOfTheModel) {
  Job job = pulled_bar();
  job.steps[0].supports->apply(*job.domains[0]);
  job.steps[0].supports = nullptr;
  EXPECT_NEAR(end_of(job, run_job(job, plainly()).steps[0]), 0.2, 1e-12);
}

TEST(RunJob, RefusesAJobWhosePartsDoNotFit) {
  {
    Job job = pulled_bar();
    job.steps[0].domain = 3;
    job.steps[0].where = "bar.inp:40";
    expect_error(ErrorCode::misuse, {"bar.inp:40", "model 3", "the job has 1"}, [&] { run_job(job, plainly()); });
  }
  {
    Job job = testing::heated_bar();
    job.steps[1].heated_by = 1;
    expect_error(ErrorCode::misuse, {"step 'expand'", "not an earlier heat step"}, [&] { run_job(job, plainly()); });
  }
  {
    Job job = testing::heated_bar();
    job.domains[1]->add_node(999, 0, 0, 9);
    expect_error(ErrorCode::misuse, {"a model with other nodes"}, [&] { run_job(job, plainly()); });
  }
  {
    Job job = pulled_bar();
    job.steps[0].load_case = "push";
    expect_error(ErrorCode::not_found, {"push", "pull"}, [&] { run_job(job, plainly()); });
  }
}

}  // namespace
}  // namespace voussoir
