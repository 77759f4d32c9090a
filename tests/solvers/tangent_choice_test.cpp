// Full or symmetric tangents of a conductivity that depends on temperature: what `auto` takes, and what it comes to.

#include <voussoir/solvers/detail/tangent_choice.hpp>

#include <gtest/gtest.h>

#include <cmath>

#include <voussoir/framework/mesh/structured_mesh.hpp>
#include <voussoir/framework/model/analysis_model.hpp>

#include "support/expect_error.hpp"

namespace voussoir {
namespace {

using detail::choose_tangent;
using detail::TangentChoice;
using testing::expect_error;

/// A bar between 0 and 100 degrees.
ElementBlock& add_bar(Domain& d, const std::vector<std::pair<double, double>>& conductivity) {
  BoxMesh mesh;
  mesh.type = "heat.hex8";
  mesh.cells = {16, 1, 1};
  auto m = std::make_shared<Material>("m");
  m->set_table("conductivity", conductivity);
  auto& block = add_box_mesh(d, mesh);
  block.set_material(m);
  d.prescribe("xmin", "T", 0);
  d.prescribe("xmax", "T", 100);
  return block;
}

const std::vector<std::pair<double, double>> mild{{0, 5}, {100, 20}};

StaticOptions with(const std::string& tangent, const std::string& solver = "auto",
                   const std::string& storage = "auto") {
  StaticOptions options;
  options.backend = "openmp:1";
  options.tangent = tangent;
  options.solver = solver;
  options.storage = storage;
  return options;
}

TEST(TangentChoice, AutoTakesTheFullTangentWhereItCanBeSolved) {
  Domain d;
  add_bar(d, mild);
  const auto backend = Backend::open("openmp:1");
  const auto choose = [&](const StaticOptions& options, std::int64_t equations = 1000) {
    return choose_tangent(d, options, *backend, equations, 20000);
  };
  for (const char* solver :
       {"auto", "direct", "direct:mumps", "direct:eigen", "gmres", "bicgstab+jacobi", "gmres+none", "gmres+asm",
        "gmres+ras2:parts=4", "bicgstab+msm2", "gmres+asm2:solver=direct:eigen", "gmres+ras:solver=block-jacobi"}) {
    const TangentChoice choice = choose(with("auto", solver));
    EXPECT_TRUE(choice.full && choice.automatic) << solver << ": " << choice.reason;
  }
  for (const char* solver : {"cg", "cg+amg", "gmres+amg", "bicgstab+fsai", "direct:band", "direct:profile", "cg+asm2",
                             "gmres+bddc", "gmres+asm2:coarse=geneo", "gmres+ras:solver=amg", "schur"}) {
    const TangentChoice choice = choose(with("auto", solver));
    EXPECT_FALSE(choice.full) << solver;
    EXPECT_NE(choice.reason.find(solver), std::string::npos) << choice.reason;
  }
  for (const char* storage : {"matrix-free", "band", "profile", "element"})
    EXPECT_FALSE(choose(with("auto", "auto", storage)).full) << storage;
  EXPECT_FALSE(choose(with("auto", "gmres", "matrix-free")).full);
  EXPECT_TRUE(choose(with("auto", "gmres", "element")).full);
  EXPECT_FALSE(choose(with("auto"), 20001).full);
  EXPECT_FALSE(choose(with("auto", "direct"), 20001).full);
  EXPECT_TRUE(choose(with("auto", "gmres"), 20001).full);
  EXPECT_TRUE(choose(with("full", "direct"), 20001).full);
  EXPECT_FALSE(choose(with("full")).automatic);
  EXPECT_FALSE(choose(with("symmetric")).full);
  expect_error(ErrorCode::not_found, {"tangent 'ful'", "did you mean 'full'", "symmetric"},
               [&] { choose(with("ful")); });
}

TEST(TangentChoice, NothingIsChosenWhereConductivityIsConstant) {
  Domain d;
  auto& block = add_bar(d, {{0, 5}});
  const auto backend = Backend::open("openmp:1");
  EXPECT_EQ(choose_tangent(d, with("full"), *backend, 100, 20000).reason, "");
  auto capacity = std::make_shared<Material>("capacity");  // does not matter to a steady state
  capacity->set("conductivity", 5).set_table("density", {{0, 1}, {100, 2}});
  block.set_material(capacity);
  EXPECT_EQ(choose_tangent(d, with("full"), *backend, 100, 20000).reason, "");
  EXPECT_FALSE(has_full_tangent(block));
  auto analysis = make_static_analysis(d, with("full"));
  analysis->run();
  EXPECT_TRUE(analysis->model().device_model().symmetric());
}

TEST(TangentChoice, AutoFallsBackWhereTheFullTangentFails) {
  // A conductivity that grows by a factor of 8000: from 0 degrees, Newton's method does not find the way.
  Domain d;
  std::vector<std::pair<double, double>> steep;
  for (int i = 0; i <= 10; ++i) steep.emplace_back(10 * i, std::exp(0.9 * i));
  add_bar(d, steep);
  expect_error(ErrorCode::not_converged, {"symmetric tangent"}, [&] { make_static_analysis(d, with("full"))->run(); });
  const StepResult symmetric = make_static_analysis(d, with("symmetric"))->run().front();
  auto analysis = make_static_analysis(d, with("auto"));
  analysis->add_step({"half", {}, 0.5});
  analysis->add_step({"whole", {}, 1.0});
  analysis->add_step({"again", {}, 1.0});
  for (int runs = 0; runs < 2; ++runs) {
    const auto results = analysis->run();
    ASSERT_EQ(results.size(), 3u);
    EXPECT_EQ(results[0].report.choice.find("failed"), std::string::npos) << results[0].report.choice;
    for (const int step : {1, 2}) {
      EXPECT_NE(results[step].report.choice.find("step 'whole' failed with the full tangent"), std::string::npos)
          << results[step].report.choice;
      EXPECT_EQ(results[step].unknowns.values, symmetric.unknowns.values);
    }
    EXPECT_TRUE(analysis->model().device_model().symmetric());
  }
}

TEST(TangentChoice, ModelsOfSeveralFieldsKeepTheSymmetricTangentUnlessAsked) {
  Domain d;
  auto& heat = add_bar(d, mild);
  auto& solid = d.add_block("solid", "solid.hex8");
  solid.set_material(std::make_shared<IsotropicMaterial>("steel", 210e3, 0.3, 0, 1e-5));
  for (std::int32_t e = 0; e < heat.size(); ++e) {
    std::vector<Id> nodes;
    for (const std::int32_t n : heat.nodes(e)) nodes.push_back(d.node_id(n));
    solid.add(1000 + e, nodes);
  }
  for (const char* u : {"ux", "uy", "uz"}) d.prescribe("xmin", u);
  auto chosen = make_static_analysis(d, with("auto"));
  const StepResult symmetric = chosen->run().front();
  EXPECT_TRUE(chosen->model().device_model().symmetric());
  EXPECT_NE(symmetric.report.choice.find("symmetric tangent, since the model has other unknowns"), std::string::npos)
      << symmetric.report.choice;
  const StepResult full = make_static_analysis(d, with("full"))->run().front();
  EXPECT_LT(full.report.history.size(), symmetric.report.history.size());
  const double end = 250;  // T + 0.015 T² at the warm end
  for (std::int32_t n = 0; n < d.node_count(); ++n) {
    const double exact = (std::sqrt(1 + 0.06 * end * d.coordinates()[3 * n]) - 1) / 0.03;
    EXPECT_NEAR(full.unknowns.at(n, "T"), exact, 1e-6);
    EXPECT_NEAR(symmetric.unknowns.at(n, "T"), exact, 1e-6);
    EXPECT_NEAR(full.unknowns.at(n, "ux"), symmetric.unknowns.at(n, "ux"), 1e-11);
  }
}

}  // namespace
}  // namespace voussoir
