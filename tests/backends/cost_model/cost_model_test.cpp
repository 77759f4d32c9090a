#include <voussoir/backends/cost_model/cost_model.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace voussoir {
namespace {

OperationCost constant_rate(double latency, double seconds_per_unit, double width = 1) {
  OperationCost cost;
  cost.latency = latency;
  cost.width = width;
  cost.levels = {{1, seconds_per_unit}};
  return cost;
}

MachineProfile made_profile() {
  MachineProfile profile;
  const auto add = [&](const std::string& name, const OperationCost& cost) { profile.costs[name] = cost; };
  add("add", constant_rate(2, 0.5, 4));
  add("saxpy", constant_rate(2, 0.75, 4));
  add("border", constant_rate(2, 0.0));
  add("staged in", constant_rate(1, 0.01));
  add("staged out", constant_rate(1, 0.02));
  add("slab in", constant_rate(0, 0.125));  // per byte: one second per number
  add("slab out", constant_rate(0, 0.125));
  add("slab tile 1", constant_rate(0, 0.01));
  add("slab tile 2", constant_rate(0, 0.006));
  add("exchange", constant_rate(10, 0.001));
  add("cg vectors", constant_rate(5, 0.01));
  add("product bsr 3", constant_rate(1, 0.001));
  return profile;
}

// N = 2, s = 4: (N+2)² − 1 = 15 sums are 4 rounds, N(N+2) − 2 = 6 are 2.
TEST(LongVectors, FormulaOneByHand) {
  const LongVectorTimes t{.copies = 100, .launch = 2, .add = 3, .saxpy = 5, .border = 7, .in_flight = 4};
  EXPECT_DOUBLE_EQ(long_vector_formula(t, 2, 1), 100 + 4 * 2 + 3 * 4 + 3 * 2 + 5 * 2 + 7);
  EXPECT_DOUBLE_EQ(long_vector_formula(t, 2, 10), 100 + 10 * (4 * 2 + 3 * 4 + 3 * 2 + 5 * 2 + 7));
}

TEST(LongVectors, TheModelIsTheFormulaWhereRatesAreConstant) {
  const CostModel model(made_profile());
  for (const std::int64_t n : {1, 2, 3, 7, 10, 61, 500}) {
    const double entries = double(n + 2) * double(n + 2);
    LongVectorTimes t{.copies = 2 + 8 * entries * 0.03, .launch = 2, .add = 2, .saxpy = 3, .border = 0, .in_flight = 4};
    EXPECT_NEAR(*model.long_vectors(n, 9), long_vector_formula(t, n, 9), 1e-9 * long_vector_formula(t, n, 9)) << n;
    t.copies = 0;
    EXPECT_NEAR(*model.long_vectors(n, 9, false), long_vector_formula(t, n, 9), 1e-9 * long_vector_formula(t, n, 9));
  }
}

TEST(LongVectors, StepsAppearWhereThreadsAreFull) {
  LongVectorTimes t{.add = 1, .saxpy = 1, .in_flight = 3600};
  EXPECT_EQ(long_vector_formula(t, 10, 1), long_vector_formula(t, 50, 1));  // one round each: the paper's first step
  EXPECT_LT(long_vector_formula(t, 50, 1), long_vector_formula(t, 70, 1));
}

// Launches overlap with execution: a step takes the larger one of both, by hand for N = 2 and s = 1.
TEST(LongVectors, QueuedLaunchesHideBehindExecution) {
  MachineProfile profile = made_profile();
  for (const char* name : {"add", "saxpy", "border"}) {
    profile.costs[name].queued = true;
    profile.costs[name].width = 1;
  }
  const double work = 15 * 0.5 + 6 * 0.5 + 6 * 0.75;                          // 15 and 6 sums, 6 scaled sums
  EXPECT_DOUBLE_EQ(*CostModel(profile).long_vectors(2, 3, false), 3 * work);  // 15 > four launches of 2
  for (const char* name : {"add", "saxpy", "border"}) profile.costs[name].latency = 5;
  EXPECT_DOUBLE_EQ(*CostModel(profile).long_vectors(2, 3, false), 3 * 20.0);
}

// Half of the entries are two vectors away, half three: with a cache in between, half of the work is fast.
TEST(LongVectors, RatesAreThoseOfTheWorkingSet) {
  MachineProfile profile = made_profile();
  for (const char* name : {"add", "saxpy"}) {
    OperationCost& cost = profile.costs[name];
    cost.latency = 0;
    cost.width = 1;
    cost.levels = {{16 * 144.0, 1}, {16 * 144.0 + 1, 3}};  // N = 10: two vectors just fit
  }
  profile.costs["border"] = constant_rate(0, 0);
  EXPECT_NEAR(*CostModel(profile).long_vectors(10, 1, false), (143 + 118 + 118) * 2.0, 1e-6);
  EXPECT_NEAR(*CostModel(profile).long_vectors(9, 1, false), (120 + 97 + 97) * (0.5 * 1 + 0.5 * 3), 1e-6);
  EXPECT_NEAR(*CostModel(profile).long_vectors(5, 1, false), 48 + 33 + 33, 1e-6);
  EXPECT_NEAR(*CostModel(profile).long_vectors(30, 1, false), 3 * (1023 + 958 + 958), 1e-6);
}

TEST(LongVectors, IsUnknownWithoutItsOperations) {
  MachineProfile profile = made_profile();
  profile.costs.erase("saxpy");
  EXPECT_FALSE(CostModel(profile).long_vectors(10, 1));
}

// N = 10, 3 slabs of R = 12, h = 2: 3·12 − 4 = 32 layers copied; 2·9·8² = 1152 updates, 12 rounds of 100.
TEST(Pyramids, FormulaTwoByHand) {
  EXPECT_DOUBLE_EQ(pyramid_formula(10, 3, 12, 2, 0.5, 4, 100), 3 * (32 * 0.5 + 12 * 4));
}

/// Counts by marking every layer of every slab.
TEST(Pyramids, CountsAreThoseOfASimulation) {
  for (const std::int64_t nz : {5, 16, 33})
    for (const int h : {1, 2, 3})
      for (const std::int64_t slab : {2 * h + 1, 2 * h + 4, 2 * h + 50}) {
        PyramidJob job;
        job.nx = job.ny = 4;
        job.nz = nz;
        const PyramidCounts counts = count_pyramid(job, h, slab);
        std::set<std::int64_t> in;
        double out = 0, updates = 0, slabs = 0;
        for (std::int64_t first = 0; first < nz; first += slab - 2 * h, ++slabs) {
          const std::int64_t last = std::min(nz, first + slab - 2 * h);
          for (std::int64_t z = first - h; z < last + h; ++z)
            if (z >= 0 && z < nz) in.insert(z);
          out += double(last - first);
          for (int j = 1; j <= h; ++j)
            for (std::int64_t z = first - h + j; z < last + h - j; ++z) updates += z >= 0 && z < nz;
        }
        EXPECT_EQ(counts.slabs, slabs);
        EXPECT_EQ(counts.layers_in, 2 * double(in.size()));
        EXPECT_EQ(counts.layers_out, out);
        double computed = 0;
        for (const double layers : counts.computed) computed += layers;
        EXPECT_EQ(computed, updates) << nz << " " << h << " " << slab;
        EXPECT_NEAR(counts.repeated, updates / (double(nz) * h) - 1, 1e-12);
      }
  PyramidJob job;
  job.nz = 10;
  EXPECT_THROW(count_pyramid(job, 0, 5), Error);
  EXPECT_THROW(count_pyramid(job, 2, 4), Error);
}

TEST(Pyramids, OverlapsCrossTheBusOnceOrEveryTime) {
  PyramidJob job;
  job.nx = job.ny = 2;
  job.nz = 12;
  job.source = false;
  EXPECT_EQ(count_pyramid(job, 2, 8).layers_in, 12);
  job.keeps_overlap = false;
  // Slabs return 4 layers: 0–3 needs 0–5, 4–7 needs 2–9, 8–11 needs 6–11.
  EXPECT_EQ(count_pyramid(job, 2, 8).layers_in, 6 + 8 + 6);
}

PyramidJob small_job(double budget) {
  PyramidJob job;
  job.nx = job.ny = 10;
  job.nz = 200;
  job.tile = 2;
  job.budget = budget;
  return job;
}

TEST(Pyramids, SlabsAreTheLargestThatFit) {
  const PyramidJob job = small_job(6.0 * 8 * 100 * 40);  // the default of six arrays: 40 layers
  EXPECT_EQ(CostModel::largest_slab(job, 3), 40);
  EXPECT_EQ(CostModel::largest_slab(job, 19), 40);
  EXPECT_EQ(CostModel::largest_slab(job, 20), 0);  // 41 layers at least
  EXPECT_EQ(CostModel::largest_slab(small_job(0), 3), 206);
}

TEST(Pyramids, TenToFifteenHeightsAreTried) {
  for (const int largest : {1, 2, 5, 12, 20, 80, 700}) {
    const auto heights = CostModel::candidate_heights(largest);
    EXPECT_EQ(heights.front(), 1);
    EXPECT_EQ(heights.back(), largest);
    EXPECT_LE(heights.size(), 15u);
    EXPECT_TRUE(std::is_sorted(heights.begin(), heights.end()));
    if (largest >= 20) {
      EXPECT_GE(heights.size(), 10u) << largest;
    }
  }
}

TEST(Pyramids, TheChosenHeightIsTheMinimumOfTheModel) {
  for (const bool overlaps : {false, true})
    for (const double rate : {1e-4, 1e-2, 1.0}) {
      MachineProfile profile = made_profile();
      profile.overlaps_copies = overlaps;
      profile.costs["slab tile 1"] = constant_rate(0.1, rate);
      profile.costs["slab tile 2"] = constant_rate(0.1, 0.6 * rate);
      const CostModel model(profile);
      const PyramidJob job = small_job(6.0 * 8 * 100 * 64);
      const auto choice = model.choose_height(job, 20);
      ASSERT_TRUE(choice);
      double best = 1e300;
      for (const int h : CostModel::candidate_heights(20))
        for (const std::int64_t slab : CostModel::candidate_slabs(job, h))
          best = std::min(best, *model.pyramid_pass(job, h, slab) / h);
      EXPECT_DOUBLE_EQ(choice->seconds, best);
      EXPECT_DOUBLE_EQ(*model.pyramid_pass(job, choice->height, choice->slab) / choice->height, choice->seconds);
      // All heights and slabs, not those that are tried alone, are hardly better.
      double full = 1e300;
      for (int h = 1; h <= 20; ++h)
        for (std::int64_t slab = 2 * h + 1; slab <= CostModel::largest_slab(job, h); ++slab)
          full = std::min(full, *model.pyramid_pass(job, h, slab) / h);
      EXPECT_LE(best, 1.05 * full) << rate;
    }
}

TEST(Pyramids, SlowCopiesAskForHighPyramidsAndSlowUpdatesForLowOnes) {
  const auto height_for = [](double copy, double update) {
    MachineProfile profile = made_profile();
    profile.costs["slab in"] = profile.costs["slab out"] = constant_rate(0, copy);
    profile.costs["slab tile 1"] = profile.costs["slab tile 2"] = constant_rate(0, update);
    return CostModel(profile).choose_height(small_job(6.0 * 8 * 100 * 64), 20)->height;
  };
  EXPECT_EQ(height_for(1.0, 1e-9), 20);
  EXPECT_LE(height_for(1e-9, 1.0), 2);
  EXPECT_FALSE(CostModel(MachineProfile()).choose_height(small_job(0), 20));
  EXPECT_FALSE(CostModel(made_profile()).choose_height(small_job(100), 20));  // no slab fits
}

ModelShape cube_shape(double edge) {
  ModelShape shape;
  shape.nodes = edge * edge * edge;
  shape.equations = 3 * shape.nodes;
  shape.components = 3;
  shape.node_pairs = 13 * shape.nodes;
  shape.layer = edge * edge;
  shape.blocks = {{{"solid.hex8.full", 8, 8, 3}, (edge - 1) * (edge - 1) * (edge - 1)}};
  return shape;
}

TEST(CostModel, SumsOperationsByHand) {
  const CostModel model(made_profile());
  const ModelShape shape = cube_shape(10);
  const double numbers = 14 * 1000 * 9;
  EXPECT_DOUBLE_EQ(shape.half_matrix_numbers(), numbers);
  EXPECT_DOUBLE_EQ(*model.product(shape, OperatorForm::bsr), 1 + 0.001 * numbers);
  EXPECT_DOUBLE_EQ(*model.cg_iteration(shape, OperatorForm::bsr), 1 + 0.001 * numbers + 5 + 0.01 * 3000);
  EXPECT_DOUBLE_EQ(*model.halo_exchange(shape), 10 + 0.001 * 300);
  EXPECT_FALSE(model.product(shape, OperatorForm::csr));
  EXPECT_FALSE(model.assemble(shape, OperatorForm::bsr));
  EXPECT_EQ(*model.assemble(shape, OperatorForm::matrix_free), 0);
}

TEST(CostModel, GrowsWithTheModelAndTakesMoreDevicesForLargeOnes) {
  const CostModel model(made_profile());
  double before = 0;
  for (const double edge : {2.0, 5.0, 10.0, 30.0}) {
    const double t = *model.cg_iteration(cube_shape(edge), OperatorForm::bsr);
    EXPECT_GT(t, before);
    before = t;
  }
  EXPECT_EQ(model.choose_devices(cube_shape(2), OperatorForm::bsr, 4), 1);
  EXPECT_EQ(model.choose_devices(cube_shape(40), OperatorForm::bsr, 4), 4);
  MachineProfile alone = made_profile();
  alone.costs.erase("exchange");
  EXPECT_EQ(CostModel(alone).choose_devices(cube_shape(40), OperatorForm::bsr, 4), 1);
}

TEST(CostModel, ScalesUnmeasuredTypesByTheirWork) {
  MachineProfile profile;
  profile.element_types = {{"solid.hex8.full", 8, 8, 3}, {"heat.hex8", 8, 8, 1}};
  profile.costs["integrate solid.hex8.full"] = constant_rate(1, 2);
  profile.costs["integrate heat.hex8"] = constant_rate(1, 7);
  const CostModel model(profile);
  EXPECT_DOUBLE_EQ(*model.element_operation("integrate", {"solid.hex8.full", 8, 8, 3}, 10, 0), 21);
  // 27 points × 60² against 8 × 24²; three unknowns per node as the first type.
  const double ratio = 27.0 * 3600 / (8 * 576.0);
  EXPECT_DOUBLE_EQ(*model.element_operation("integrate", {"solid.hex20", 20, 27, 3}, 10, 0), 1 + 20 * ratio);
  EXPECT_FALSE(model.element_operation("assemble", {"solid.hex8.full", 8, 8, 3}, 10, 0));
}

// 752 iterations on a cube of 85³ nodes and 832 on 211 × 22 × 22 were measured (docs/benchmarks).
TEST(AssumedIterations, AreNearMeasuredOnes) {
  EXPECT_NEAR(assumed_iterations("block-jacobi", cube_shape(85))->iterations / 752, 1, 0.1);
  ModelShape beam = cube_shape(85);
  beam.nodes = 211 * 22 * 22;
  beam.layer = 22 * 22;
  EXPECT_NEAR(assumed_iterations("block-jacobi", beam)->iterations / 832, 1, 0.1);
  EXPECT_EQ(assumed_iterations("amg", beam)->iterations, 20);
  EXPECT_EQ(assumed_iterations("amg", beam, 1e-4)->iterations, 10);
  EXPECT_FALSE(assumed_iterations("somebody's own", beam));
}

TEST(FactorWork, GrowsAsNestedDissectionDoes) {
  EXPECT_NEAR(factor_work(cube_shape(40)) / factor_work(cube_shape(20)), 64, 1e-9);  // n², n nodes eight times as many
  EXPECT_NEAR(factor_numbers(cube_shape(40)) / factor_numbers(cube_shape(20)), 16, 1e-9);  // n^(4/3)
}

// A bar is pieces as long as wide, each between two others: more work than as many cubes, and twice as long is twice as
// much in the end.
TEST(FactorWork, IsLargerInLongBodies) {
  const auto bar = [](double times) {
    ModelShape shape = cube_shape(20);
    shape.nodes *= times;
    shape.equations *= times;
    return factor_work(shape);
  };
  EXPECT_EQ(bar(1), factor_work(cube_shape(20)));
  EXPECT_NEAR(bar(2) / bar(1), 2 * (1 + 1.65 / 2), 1e-9);
  EXPECT_NEAR(bar(2000) / bar(1000), 2, 1e-2);
  EXPECT_NEAR(bar(1000) / (1000 * bar(1)), 2.65, 0.01);
}

}  // namespace
}  // namespace voussoir
