// The cost model on models and grids: their sizes, choices of storage and height, and calibration.

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>

#include <voussoir/backends/version.hpp>
#include <voussoir/framework/mesh/structured_mesh.hpp>
#include <voussoir/solvers/cost/calibration.hpp>
#include <voussoir/solvers/cost/choice_reason.hpp>
#include <voussoir/solvers/cost/model_shape.hpp>
#include <voussoir/solvers/cost/operator_choice.hpp>
#include <voussoir/solvers/cost/pyramid_height.hpp>
#include <voussoir/solvers/cost/pyramid_plot.hpp>
#include <voussoir/solvers/static_problem.hpp>
#include <voussoir/solvers/stencil/jacobi_iteration.hpp>

namespace voussoir {
namespace {

void fill_box(Domain& domain, const std::string& type, std::array<int, 3> cells) {
  BoxMesh box;
  box.type = type;
  box.cells = cells;
  box.upper = {double(cells[0]), double(cells[1]), double(cells[2])};
  ElementBlock& block = add_box_mesh(domain, box);
  block.set_material(std::make_shared<IsotropicMaterial>("steel", 210e9, 0.3, 7850));
  domain.prescribe("xmin", "all");
  domain.add_load_case("end").traction("xmax", {0, 0, -1e6});
}

TEST(ModelShape, CountsABoxOfHexahedra) {
  Domain domain;
  fill_box(domain, "solid.hex8.full", {6, 4, 3});
  const ModelShape shape = model_shape(domain);
  const double nodes = 7 * 5 * 4, ordered = 19 * 13 * 10;  // n nodes of a row have 3n − 2 neighbours
  EXPECT_EQ(shape.nodes, nodes);
  EXPECT_EQ(shape.equations, 3 * nodes);
  EXPECT_EQ(shape.components, 3);
  EXPECT_EQ(shape.dimension, 3);
  EXPECT_NEAR(shape.node_pairs, (ordered - nodes) / 2, 1e-9);
  EXPECT_NEAR(shape.layer, 5 * 4, 1e-9);
  ASSERT_EQ(shape.blocks.size(), 1u);
  EXPECT_EQ(shape.blocks[0].elements, 72);
  EXPECT_EQ(shape.blocks[0].type.nodes, 8);
}

TEST(ModelShape, SamplesLargeMeshes) {
  Domain domain;
  fill_box(domain, "solid.hex8.full", {40, 14, 13});
  const ModelShape shape = model_shape(domain);
  const double nodes = 41 * 15 * 14, ordered = (3 * 41 - 2) * (3 * 15 - 2) * (3 * 14 - 2);
  EXPECT_NEAR(shape.node_pairs / ((ordered - nodes) / 2), 1, 0.03);
}

/// A profile in which one form of the product is as fast as told, and everything else takes no time.
MachineProfile made_profile(double stored, double matrix_free) {
  MachineProfile profile;
  profile.date = "today";
  const auto add = [&](const std::string& name, double seconds_per_unit) {
    OperationCost cost;
    cost.levels = {{1, seconds_per_unit}};
    profile.costs[name] = cost;
  };
  profile.element_types = {{"solid.hex8.full", 8, 8, 3}};
  add("product bsr 3", stored);
  add("cg vectors", 0);
  for (const char* what : {"pattern", "assemble", "integrate"}) add(std::string(what) + " solid.hex8.full", 0);
  add("product matrix-free solid.hex8.full", matrix_free);
  return profile;
}

TEST(ChooseOperator, TakesTheFormThatIsClearlyFaster) {
  Domain domain;
  fill_box(domain, "solid.hex8.full", {5, 4, 4});
  const ModelShape shape = model_shape(domain);
  const auto choose = [&](double ratio, const std::string& solver) {
    // One second per product with the stored matrix, `ratio` seconds without.
    const CostModel model(made_profile(1 / shape.half_matrix_numbers(), ratio / 80));
    return choose_operator(domain, model, solver, OperatorForm::bsr, 1e-8);
  };
  EXPECT_EQ(choose(0.5, "cg").storage, "matrix-free");
  EXPECT_EQ(choose(0.89, "cg+jacobi").storage, "matrix-free");
  EXPECT_EQ(choose(0.91, "cg+jacobi").storage, "");  // less than a tenth: as without a profile
  EXPECT_EQ(choose(2.0, "cg+chebyshev").storage, "");
  EXPECT_NE(choose(2.0, "cg").reason.find("today"), std::string::npos);
  for (const char* solver : {"direct", "cg+amg", "cg+fsai", "gmres"}) {
    EXPECT_EQ(choose(0.5, solver).storage, "") << solver;
    EXPECT_EQ(choose(0.5, solver).reason, "") << solver;
  }
}

TEST(ChooseOperator, DecidesNothingWithoutMeasurements) {
  Domain bricks, tets;
  fill_box(bricks, "solid.hex8.full", {3, 3, 3});
  fill_box(tets, "solid.tet10", {2, 2, 2});
  MachineProfile profile = made_profile(1, 1e-9);
  EXPECT_EQ(choose_operator(bricks, CostModel(profile), "cg", OperatorForm::bsr, 1e-8).storage, "matrix-free");
  EXPECT_EQ(choose_operator(tets, CostModel(profile), "cg", OperatorForm::bsr, 1e-8).storage, "");
  profile.is_assumption = true;
  EXPECT_EQ(choose_operator(bricks, CostModel(profile), "cg", OperatorForm::bsr, 1e-8).storage, "");
}

/// A profile in the place where the library looks for the user's.
class KeptProfile {
 public:
  KeptProfile(MachineProfile profile, const Backend& backend) {
    path_ = std::filesystem::temp_directory_path() / ("voussoir_cost_test_" + std::to_string(::getpid()) + ".json");
    profile.machine = machine_name();
    profile.backend = backend.name();
    profile.devices = backend.devices();
    profile.threads = backend.threads();
    profile.version = version();
    save_profile(profile, path_);
    ::setenv("VOUSSOIR_PROFILE", path_.c_str(), 1);
  }
  ~KeptProfile() {
    ::setenv("VOUSSOIR_PROFILE", "none", 1);
    std::filesystem::remove(path_);
  }

 private:
  std::filesystem::path path_;
};

TEST(Auto, TakesItsStorageFromTheProfileAndSaysSo) {
  Domain domain;
  fill_box(domain, "solid.hex8.full", {4, 3, 3});
  const auto backend = Backend::open("openmp:1");
  StaticOptions options;
  options.solver = "cg";
  const auto run = [&] { return make_static_analysis(domain, backend, options)->run().front(); };
  const StepResult without = run();
  EXPECT_NE(without.report.solver.find("bsr"), std::string::npos) << without.report.solver;
  EXPECT_EQ(without.report.choice, "");
  {
    const KeptProfile profile(made_profile(1, 1e-9), *backend);
    const auto analysis = make_static_analysis(domain, backend, options);
    EXPECT_NE(choice_reason(*analysis->collaborators().solver).find("matrix-free"), std::string::npos);
    const StepResult with = run(), again = run();
    EXPECT_NE(with.report.solver.find("matrix-free"), std::string::npos) << with.report.solver;
    EXPECT_NE(with.report.choice.find("predicted by the profile"), std::string::npos) << with.report.choice;
    EXPECT_EQ(with.unknowns.values, again.unknowns.values);  // the same bits within one choice
    for (std::size_t i = 0; i < with.unknowns.values.size(); ++i)
      EXPECT_NEAR(with.unknowns.values[i], without.unknowns.values[i], 1e-12);
    options.storage = "csr";  // what is named stays
    EXPECT_NE(run().report.solver.find("csr"), std::string::npos);
    options.storage = "auto";
  }
  {
    const KeptProfile profile(made_profile(1e-9, 1), *backend);
    EXPECT_NE(run().report.solver.find("bsr"), std::string::npos);
  }
}

TEST(PyramidJob, CountsAreThoseOfTheBackend) {
  const auto backend = Backend::open("openmp:1");
  auto& stencils = backend->service<StencilServices>();
  StencilProblem problem;
  problem.nodes = {6, 5, 23};
  for (const bool source : {false, true})
    for (const int h : {1, 2, 5})
      for (const std::int64_t slab : {2 * h + 1, 2 * h + 6, 2 * h + 40}) {
        std::vector<double> u(static_cast<std::size_t>(problem.size()), 1.0), f(source ? u : std::vector<double>());
        StencilOptions options;
        options.height = h;
        options.slab = slab;
        options.tile = 1;
        options.device_bytes = 100000000;
        const auto iteration = stencils.stream_jacobi(problem, u, f, options);
        iteration->iterate(std::vector<double>(static_cast<std::size_t>(h), 1.0));
        const StencilReport report = iteration->report();
        const PyramidJob job = make_pyramid_job(stencils, problem, source, 8, 0, 1, 1);
        const PyramidCounts counts = count_pyramid(job, h, slab);
        double updates = 0;
        for (const double layers : counts.computed) updates += 30 * layers;
        EXPECT_EQ(double(report.bytes_in), 8 * 30 * counts.layers_in) << h << " " << slab;
        EXPECT_EQ(double(report.bytes_out), 8 * 30 * counts.layers_out) << h << " " << slab;
        EXPECT_EQ(double(report.updates), updates) << h << " " << slab;
        EXPECT_EQ(report.slabs, counts.slabs);
      }
}

TEST(ChooseHeightByProfile, IsTheMinimumOfTheModelAndChangesNoBit) {
  const auto backend = Backend::open("openmp:1");
  StencilProblem problem;
  problem.nodes = {8, 8, 120};
  PyramidQuestion question;
  question.backend = backend.get();
  question.problem = problem;
  question.source = true;
  question.streamed = true;
  question.iterations = 24;
  question.limits.device_bytes = 200000;
  const PyramidChoice rule = choose_height(question);
  EXPECT_EQ(choose_height_by_profile(question).height, rule.height);  // without a profile
  MachineProfile made;
  const auto add = [&](const std::string& name, double seconds_per_unit) {
    OperationCost cost;
    cost.latency = 1e-6;
    cost.levels = {{1, seconds_per_unit}};
    made.costs[name] = cost;
  };
  add("slab in", 1e-8);
  add("slab out", 1e-8);
  for (int tile = 1; tile < 40; ++tile) add("slab tile " + std::to_string(tile), 1e-9);
  const KeptProfile profile(made, *backend);
  const PyramidChoice choice = choose_height_by_profile(question);
  auto& stencils = backend->service<StencilServices>();
  const PyramidJob job = make_pyramid_job(stencils, problem, true, 8, 200000, 1);
  const CostModel model(made);
  double best = 1e300;
  int height = 0;
  for (const int h : CostModel::candidate_heights(12))
    for (const std::int64_t slab : CostModel::candidate_slabs(job, h))
      if (const double t = *model.pyramid_pass(job, h, slab) / h; t < best) {
        best = t;
        height = h;
      }
  EXPECT_EQ(choice.height, height);
  EXPECT_GT(choice.slab, 2 * height);

  const auto solve = [&](int h) {
    std::vector<double> u(static_cast<std::size_t>(problem.size()));
    for (std::size_t i = 0; i < u.size(); ++i) u[i] = std::sin(double(i));
    const std::vector<double> f(u.size(), 0.5);
    JacobiOptions options;
    options.iterations = 24;
    options.placement = GridPlacement::streamed;
    options.pyramids.device_bytes = 200000;
    options.pyramids.height = h;
    const JacobiReport report = JacobiIteration(backend, problem, options).solve(u, f);
    if (h == 0) {
      EXPECT_EQ(report.pyramids.height, height);
    }
    return u;
  };
  EXPECT_EQ(solve(0), solve(1));
}

TEST(PyramidPlot, DrawsTheModelTheMeasurementsAndTheChoice) {
  const auto backend = Backend::open("openmp:1");
  StencilProblem problem;
  problem.nodes = {8, 8, 120};
  const PyramidJob job = make_pyramid_job(backend->service<StencilServices>(), problem, true, 8, 200000, 1);
  MachineProfile made;
  EXPECT_THROW(pyramid_plot(CostModel(made), job, 9), Error);  // no rates
  for (const char* name : {"slab in", "slab out", "slab tile 1"}) {
    made.costs[name].latency = 1e-6;
    made.costs[name].levels = {{1, 1e-8}};
  }
  const CostModel model(made);
  const std::string svg = pyramid_plot(model, job, 9, {{1, 1e-3}, {4, 2e-3}});
  const auto count = [&](const std::string& piece) {
    std::size_t found = 0;
    for (std::size_t at = svg.find(piece); at != std::string::npos; at = svg.find(piece, at + 1)) ++found;
    return found;
  };
  EXPECT_EQ(count("<circle"), 2u);
  EXPECT_EQ(count("<polyline"), 1u);
  EXPECT_EQ(count("chosen: h = " + std::to_string(model.choose_height(job, 9)->height)), 1u);
  EXPECT_EQ(count("8 × 8 × 120 points"), 1u);
}

class CalibrateOn : public ::testing::TestWithParam<const char*> {};

TEST_P(CalibrateOn, MeasuresWhatTheModelNeeds) {
  const auto backend = Backend::open(GetParam());
  CalibrationOptions options;
  options.quick = true;
  std::vector<std::string> groups;
  options.progress = [&](const std::string& what) { return groups.push_back(what), true; };
  const MachineProfile profile = calibrate(backend, options);
  EXPECT_GT(groups.size(), 8u);
  EXPECT_EQ(why_not_used(profile, *backend), "");
  EXPECT_EQ(to_json(profile_from_json(to_json(profile), "p")), to_json(profile));
  for (const char* name : {"fill",
                           "copy",
                           "axpy",
                           "add",
                           "saxpy",
                           "dot",
                           "to device",
                           "to host",
                           "product bsr 3",
                           "assemble solid.hex8.full",
                           "product matrix-free solid.hex8.full",
                           "cg vectors",
                           "amg cycle",
                           "factorise",
                           "stage recover",
                           "slab tile 1",
                           "slab in",
                           "border",
                           "staged in",
                           "staged out",
                           "to device, new",
                           "grid diffusion",
                           "grid source",
                           "sweep x",
                           "sweep y",
                           "sweep x, own matrices",
                           "sweep y, own matrices"}) {
    // Noise may make a measurement useless; it is then named.
    bool noted = false;
    for (const std::string& note : profile.notes) noted = noted || note.find(name) != std::string::npos;
    EXPECT_TRUE(profile.find(name) || noted) << name;
  }
  EXPECT_EQ(profile.find("exchange") != nullptr, backend->devices() > 1);
}

INSTANTIATE_TEST_SUITE_P(Backends, CalibrateOn, ::testing::Values("openmp:1", "debug:2"), [](const auto& info) {
  return std::string(info.param).substr(0, std::string(info.param).find(':'));
});

TEST(Calibrate, StopsWhereItIsTold) {
  CalibrationOptions options;
  options.quick = true;
  options.progress = [](const std::string& what) { return !what.starts_with("vectors: copy"); };
  try {
    calibrate(Backend::open("openmp:1"), options);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::cancelled);
  }
  EXPECT_THROW(calibrate(nullptr), Error);
}

}  // namespace
}  // namespace voussoir
