#include <gtest/gtest.h>

#include <voussoir/framework/analysis/mode_superposition.hpp>
#include <voussoir/solvers/eigen/mode_superposition_problem.hpp>

#include "backends_under_test.hpp"
#include "solvers/eigen/modal_models.hpp"

// A superposed response is the same on every backend, and has the same bits in every run.

namespace voussoir::conformance {
namespace {

struct SuperpositionOn : ::testing::TestWithParam<std::string> {};

/// A clamped distorted bar with an equation and an oblique support.
void build(Domain& d) {
  BoxMesh mesh;
  mesh.cells = {3, 2, 1};
  mesh.upper = {2, 1, 0.7};
  mesh.distortion = 0.2;
  add_box_mesh(d, mesh).set_material(std::make_shared<IsotropicMaterial>("steel", 1000, 0.3, 2));
  d.prescribe("xmin", "all");
  const Id last = d.node_id(d.node_count() - 1);
  d.add_equation({{last, "uy", 1}, {last - 1, "uy", -1}});
  d.prescribe_along(last - 5, {0, 1, 1});
  d.add_load_case("wind").traction("xmax", {0.1, 0.2, -0.3}).gravity("", {0, 0, -0.2});
}

/// Numbers of every kind of result.
std::vector<double> response(const Domain& d, const std::string& backend) {
  ModalOptions options;
  options.backend = backend;
  const auto analysis = make_modal_analysis(d, options);
  EigenRequest request;
  request.modes = 6;
  analysis->solve(request);
  ModeSuperposition modes = make_mode_superposition(*analysis, "direct");
  modes.set_damping(ModalDamping::ratio(0.03));
  modes.add_base_acceleration("y", Amplitude({{0, 0}, {0.3, 1}, {0.7, -1}, {1, 0}}));
  modes.add_load_case("wind", Amplitude({{0, 0}, {0.5, 1}}));
  const SuperposedHistory history = modes.time_history(even_times(0, 2, 0.05));
  std::vector<double> numbers;
  const auto add = [&](const std::vector<double>& values) {
    for (const double value : values)
      if (!std::isnan(value)) numbers.push_back(value);
  };
  const StepResult state = history.state(23);
  add(state.unknowns.values);
  add(state.reactions.values);
  for (const PointField& field : state.points) add(field.values);
  add(history.extremes(ModalQuantity::acceleration, MotionFrame::absolute).magnitude.values);
  add(history.reaction_extremes().reactions.maximum.values);
  for (const PointExtremes& extremes : history.point_extremes())
    for (const Extremes& e : extremes.values) numbers.push_back(e.maximum);
  add(history.history(d.node_id(d.node_count() - 2), "uz"));
  const ResponseSpectrum spectrum({{0, 0.3}, {10, 1}}, ResponseSpectrum::Axis::period);
  const SpectrumPeaks peaks = modes.response_spectrum(std::vector<SpectrumInput>{{"x", spectrum}, {"z", spectrum}});
  add(peaks.displacement.values);
  add(peaks.reaction_sum);
  for (const PointField& field : peaks.points) add(field.values);
  modes.add_harmonic_base_acceleration("z");
  const SuperposedSweep sweep = modes.harmonic_sweep(std::vector<double>{0.2, 1.1});
  add(sweep.state(1).imaginary.reactions.values);
  return numbers;
}

TEST_P(SuperpositionOn, AgreesWithTheOracleAndWithItself) {
  Domain d;
  build(d);
  const std::vector<double> expected = response(d, oracle), found = response(d, GetParam());
  ASSERT_EQ(found.size(), expected.size());
  double largest = 0;
  for (const double value : expected) largest = std::max(largest, std::abs(value));
  // Modes are as exact as their residuals, 1e-8.
  for (std::size_t i = 0; i < expected.size(); ++i) ASSERT_NEAR(found[i], expected[i], 1e-6 * largest) << i;
  EXPECT_EQ(found, response(d, GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Conformance, SuperpositionOn, ::testing::ValuesIn(backends_under_test()),
                         [](const auto& info) { return test_name(info.param); });

}  // namespace
}  // namespace voussoir::conformance
