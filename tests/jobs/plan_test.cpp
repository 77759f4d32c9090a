#include <voussoir/jobs/plan.hpp>

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <voussoir/framework/io/deck/deck_reader.hpp>
#include <voussoir/framework/mesh/structured_mesh.hpp>
#include <voussoir/jobs/run_job.hpp>

#include "support/further_backends.hpp"

namespace voussoir {
namespace {

/// A box with some steps under the same supports.
Job box_job(std::array<int, 3> cells, int steps) {
  Job job;
  job.name = "box";
  job.source = "box.inp";
  auto domain = std::make_unique<Domain>();
  BoxMesh box;
  box.type = "solid.hex8.full";
  box.cells = cells;
  add_box_mesh(*domain, box).set_material(std::make_shared<IsotropicMaterial>("steel", 210e9, 0.3, 7850));
  domain->prescribe("xmin", "all");
  domain->add_load_case("end").traction("xmax", {0, 0, -1e6});
  job.domains.push_back(std::move(domain));
  for (int s = 0; s < steps; ++s) {
    JobStep step;
    step.name = "step " + std::to_string(s + 1);
    step.load_case = "end";
    job.steps.push_back(step);
  }
  return job;
}

TEST(PlanJob, PredictsEveryStrategyOfEveryBackend) {
  const Job job = box_job({6, 4, 4}, 2);
  const JobPlan plan = plan_job(job, {"openmp:1", "debug:2"});
  ASSERT_EQ(plan.backends.size(), 2u);
  for (const BackendPlan& backend : plan.backends) {
    EXPECT_TRUE(backend.usable);
    EXPECT_TRUE(backend.is_assumption);
    EXPECT_NE(backend.profile_note, "");
    ASSERT_EQ(backend.models.size(), 1u);
    const ModelPlan& model = backend.models[0];
    EXPECT_EQ(model.steps, 2u);
    EXPECT_EQ(model.matrices, 1u);
    EXPECT_TRUE(model.linear);
    EXPECT_TRUE(model.chosen_solver.starts_with("direct")) << model.chosen_solver;
    EXPECT_NE(model.reason.find("unknowns"), std::string::npos) << model.reason;
    const auto memory = estimate_memory(model_size(*job.domains[0]));
    EXPECT_EQ(model.strategies.size(), memory.size());
    int chosen = 0;
    double before = 0;
    for (const StrategyPlan& s : model.strategies) {
      chosen += s.chosen;
      EXPECT_GT(s.memory, 0);
      const double seconds = s.seconds.value_or(1e300);  // unknown times last
      EXPECT_GE(seconds, before);
      before = seconds;
      EXPECT_EQ(s.count.has_value(), s.solver != "direct") << s.solver;
      if (s.solver != "cg+fsai") {
        EXPECT_TRUE(s.seconds) << s.solver;
      }
    }
    EXPECT_EQ(chosen, 1);
  }
}

TEST(PlanJob, StepsCostIterationsAndNoSecondMatrix) {
  const auto backend = Backend::open("openmp:1");
  const CostModel model(default_profile(*backend));
  ModelShape shape;
  shape.nodes = 1000;
  shape.equations = 3000;
  shape.components = 3;
  shape.node_pairs = 13000;
  shape.layer = 100;
  shape.blocks = {{{"solid.hex8.full", 8, 8, 3}, 729}};
  const auto one = predict_strategy(model, shape, "cg+block-jacobi", "bsr", 1, 1, 1e-8);
  const auto three = predict_strategy(model, shape, "cg+block-jacobi", "bsr", 1, 3, 1e-8);
  EXPECT_NEAR(*three.seconds - *one.seconds, 2 * one.count->iterations * *one.iteration_seconds, 1e-9 * *three.seconds);
  EXPECT_EQ(*one.set_up_seconds, *three.set_up_seconds);
  const auto unknown = predict_strategy(CostModel(MachineProfile()), shape, "cg+amg", "bsr", 1, 1, 1e-8);
  EXPECT_FALSE(unknown.seconds);
  EXPECT_FALSE(unknown.iteration_seconds);
}

TEST(PlanJob, WritesJsonThatSaysPredicted) {
  const auto document = nlohmann::json::parse(to_json(plan_job(box_job({3, 3, 3}, 1), {"openmp:1"})));
  EXPECT_EQ(document["file"], "box.inp");
  const auto& backend = document["backends"][0];
  EXPECT_EQ(backend["measured_profile"], false);
  const auto& strategy = backend["models"][0]["strategies"][0];
  EXPECT_TRUE(strategy.contains("predicted_seconds"));
  EXPECT_TRUE(strategy.contains("predicted_bytes"));
  EXPECT_FALSE(strategy.contains("seconds"));
}

TEST(PlanJob, RefusesWhatHasNothingToPredict) {
  Job empty = box_job({2, 2, 2}, 0);
  EXPECT_THROW(plan_job(empty, {"openmp:1"}), Error);
  empty.mesh_only = true;
  EXPECT_THROW(plan_job(empty, {"openmp:1"}), Error);
  const Job job = box_job({2, 2, 2}, 1);
  EXPECT_THROW(plan_job(job, {}), Error);
  EXPECT_THROW(plan_job(job, {"openmp:none"}), Error);
  if (further::cuda_info().usable) {  // there are GPUs, so that a number too high is a mistake
    EXPECT_THROW(plan_job(job, {"cuda:77"}), Error);
    return;
  }
  const JobPlan plan = plan_job(job, {"cuda:77"});
  EXPECT_FALSE(plan.backends[0].usable);
  EXPECT_NE(plan.backends[0].device, "");
}

TEST(PlanJob, NaturalModesAreNotPredicted) {
  Job job = box_job({2, 2, 2}, 1);
  job.steps[0].procedure = Procedure::frequency;
  job.steps[0].modal = FrequencyStep{};
  const JobPlan plan = plan_job(job, {"openmp:1"});
  EXPECT_TRUE(plan.backends[0].models.empty());
  ASSERT_EQ(plan.notes.size(), 1u);
  EXPECT_NE(plan.notes[0].find("1 step of modes or dynamics"), std::string::npos);
}

// The estimate of the matrix and the work of CG against the peak of the backend's arrays. The model's share of host
// memory is not the backend's, so the factor is stated loosely: 0.5 to 2.
TEST(PlanJob, PredictedMemoryIsThatOfARun) {
  for (const char* storage : {"bsr", "matrix-free"}) {
    Job job = box_job({24, 12, 12}, 1);
    StaticOptions options;
    options.backend = "openmp:1";
    options.storage = storage;
    options.solver = std::string(storage) == "bsr" ? "cg+block-jacobi" : "cg+chebyshev";
    const JobPlan plan = plan_job(job, {"openmp:1"}, options);
    const auto& strategies = plan.backends[0].models[0].strategies;
    const auto chosen = std::find_if(strategies.begin(), strategies.end(), [](const auto& s) { return s.chosen; });
    ASSERT_NE(chosen, strategies.end()) << storage;
    EXPECT_EQ(chosen->storage, storage);
    const JobResult result = run_job(job, options);
    // Less the constant of the estimate and the results on the host, which backends do not count.
    const ModelSize size = model_size(*job.domains[0]);
    const double results = 1.3 * 8 * double(size.recovered_numbers) + 8 * 40 * double(size.nodes);
    const double predicted = chosen->memory - 20e6 - results;
    EXPECT_GT(predicted / double(result.backend_bytes), 0.5) << storage;
    EXPECT_LT(predicted / double(result.backend_bytes), 2.0) << storage;
  }
}

TEST(PredictRun, SaysWhyThereIsNothingWithoutAProfile) {
  Job job = box_job({2, 2, 2}, 1);
  const RunPrediction prediction = predict_run(job, Backend::open("openmp:1"), {});
  EXPECT_TRUE(prediction.stages.empty());
  EXPECT_NE(prediction.note, "");
}

}  // namespace
}  // namespace voussoir
