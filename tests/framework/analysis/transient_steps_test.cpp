#include <gtest/gtest.h>

#include <cmath>

#include "support/expect_error.hpp"
#include "support/transient_models.hpp"

// Steps of implicit dynamics: unknowns without mass, automatic sizes, fixed sizes and the times that steps meet.

namespace voussoir {
namespace {

using testing::add_bar;
using testing::add_oscillator;
using testing::add_spring_chain;
using testing::field_at;
using testing::options_of;

constexpr double pi = 3.14159265358979323846;

TEST(TransientSteps, MasslessUnknownsFollowTheOthers) {
  // Two equal springs in a row, a mass at the end alone: ω = √(k / 2m).
  Domain d;
  add_spring_chain(d, 2, 8, 1);
  d.add_load_case("pull").nodal_at(3, "ux", 1);
  auto a = make_transient_analysis(d, options_of("newmark"));
  a->loads().add_load_case("pull");
  a->set_steps({.end = pi / 2, .step = pi / 200});  // half a period of ω = 2
  const StepResult end = a->run().back();
  EXPECT_NEAR(end.unknowns.at(2, "ux"), 0.5, 1e-4);
  EXPECT_NEAR(end.unknowns.at(1, "ux"), 0.25, 1e-4);
}

TEST(TransientSteps, LoadsWithoutMassAreNoAccelerations) {
  // The same with the load at the node without mass: the mass has half of it, and moves by 0.125 (1 − cos 2t).
  Domain d;
  add_spring_chain(d, 2, 8, 1);
  d.add_load_case("pull").nodal_at(2, "ux", 1);
  for (const char* method : {"newmark", "hht:alpha=-0.05", "hht:alpha=-0.3", "generalised-alpha"}) {
    auto a = make_transient_analysis(d, options_of(method));
    a->loads().add_load_case("pull");
    a->set_steps({.end = pi / 2, .step = pi / 400});
    const StepResult end = a->run().back();
    EXPECT_NEAR(end.unknowns.at(2, "ux"), 0.25, 1e-3) << method;
    EXPECT_NEAR(end.unknowns.at(1, "ux"), 0.1875, 1e-3) << method;
  }
}

TEST(TransientSteps, AutomaticStepsRefuseWhatFliesAway) {
  Domain d;
  d.add_node(1, 0, 0, 0);
  d.add_node(2, 1, 0, 0);
  auto& bar = d.add_block("bar", "truss");
  bar.set_material(std::make_shared<IsotropicMaterial>("m", 8, 0.3, 1)).set_section("area", 1);
  bar.add(1, {1, 2});
  d.add_node_set("all", {1, 2});
  d.prescribe("all", "uy");
  d.prescribe("all", "uz");
  auto a = make_transient_analysis(d, options_of("newmark"));
  a->set_steps({.end = 1, .step = 0.01, .automatic = true});
  testing::expect_error(ErrorCode::bad_input, {"move freely", "size of steps"}, [&] { a->run(); });
  a->set_steps({.end = 1, .step = 0.01});
  EXPECT_NO_THROW(a->run());
}

TEST(TransientSteps, AutomaticStepsEndWhereLoadsAreNotSmooth) {
  // A body at rest is hit late and briefly.
  Domain d;
  add_oscillator(d, 4, 1);
  d.add_load_case("hit").nodal_at(2, "ux", 1);
  auto a = make_transient_analysis(d, options_of("newmark"));
  a->loads().add_load_case("hit", Amplitude({{0, 0}, {0.4, 0}, {0.42, 1}, {0.44, 0}}));
  a->set_steps({.end = 0.42 + pi / 4, .step = 0.01, .automatic = true, .tolerance = 1e-5});
  const StepResult end = a->run().back();
  EXPECT_NEAR(end.unknowns.at(1, "ux"), 0.02 / 2, 1e-4);  // a quarter of a period of ω = 2 after the impulse of 0.02
}

TEST(TransientSteps, AutomaticStepsFollowSupportsThatChangeTheirVelocity) {
  // The wall rises within a short time, stays there, and returns slowly: steps of very different sizes.
  Domain d;
  testing::add_bar_on_a_moving_wall(d, 10);
  for (const double rise : {0.1, 1e-3, 1e-5}) {
    const SupportMotion motion =
        SupportMotion::by_displacement(Amplitude({{0, 0}, {0.2, 0}, {0.2 + rise, 0.01}, {0.5, 0.01}, {0.9, 0}}));
    const auto run = [&](bool automatic) {
      auto a = make_transient_analysis(d, options_of("newmark"));
      a->loads().move_supports(d, "wall", "ux", motion);
      if (automatic)
        a->set_steps({.end = 1.2, .step = 0.01, .automatic = true, .tolerance = 1e-5, .shortest = 1e-9});
      else
        a->set_steps({.end = 1.2, .step = 4e-4});
      const double tip = a->run().back().unknowns.at(10, "ux");
      EXPECT_LT(std::abs(a->energies().numerical()), 0.02 * a->energies().scale()) << rise << ", " << automatic;
      return tip;
    };
    EXPECT_NEAR(run(true), run(false), 2e-4) << rise;  // of 0.01
  }
}

TEST(TransientSteps, SupportsBeginWithTheVelocityOfTheirFirstSegment) {
  Domain d;
  testing::add_bar_on_a_moving_wall(d, 4);
  auto a = make_transient_analysis(d, options_of("newmark"));
  // The first segment is shorter than a step.
  a->loads().move_supports(d, "wall", "ux",
                           SupportMotion::by_displacement(Amplitude({{0, 0}, {0.001, 0.003}, {1, 0}})));
  a->set_steps({.end = 0.01, .step = 0.005});
  a->start();
  EXPECT_NEAR(a->integrator().motion(a->model(), a->state(), 1).at(0, "ux"), 3, 1e-9);
}

TEST(TransientSteps, SupportsThatJumpAreRefused) {
  Domain d;
  testing::add_bar_on_a_moving_wall(d, 4);
  for (const bool automatic : {false, true}) {
    auto a = make_transient_analysis(d, options_of("newmark"));
    a->loads().move_supports(d, "wall", "ux", SupportMotion::by_displacement(Amplitude({{0, 0}, {0.5, 0}, {0.5, 1}})));
    a->set_steps({.end = 1, .step = 0.1, .automatic = automatic});
    testing::expect_error(ErrorCode::bad_input, {"support jumps at time 0.5", "rises"}, [&] { a->run(); });
  }
}

TEST(TransientSteps, TheFirstAutomaticStepThatMovesSomethingIsShort) {
  // A quarter of a period at once would be far too long.
  Domain d;
  add_oscillator(d, 4, 1);
  d.add_load_case("pull").nodal_at(2, "ux", 4);
  auto a = make_transient_analysis(d, options_of("newmark"));
  a->loads().add_load_case("pull");
  a->set_steps({.end = pi / 4, .step = pi / 4, .automatic = true, .tolerance = 1e-4});
  EXPECT_NEAR(a->run().back().unknowns.at(1, "ux"), 1, 0.01);  // 1 − cos 2t
  EXPECT_LE(a->report().smallest_step, pi / 4 / 64 * (1 + 1e-9));
}

TEST(TransientSteps, AutomaticStepsFollowTheErrorAndEndOnTime) {
  Domain d;
  add_oscillator(d, 4 * pi * pi, 1);  // period 1
  d.add_load_case("kick").nodal_at(2, "ux", 1);
  const auto run = [&](double tolerance, double first, double& error) {
    auto a = make_transient_analysis(d, options_of("newmark"));
    a->set_initial_displacement(field_at(a->model(), 2, "ux", 1));
    a->set_steps({.end = 2.25, .step = first, .automatic = true, .tolerance = tolerance});
    error = std::abs(a->run().back().unknowns.at(1, "ux"));  // cos(2π · 2.25) = 0
    EXPECT_EQ(a->state().time, 2.25);
    return a->report();
  };
  double loose = 0, tight = 0, far = 0;
  const TransientReport few = run(1e-3, 0.01, loose), many = run(1e-5, 0.01, tight), cut = run(1e-4, 0.5, far);
  EXPECT_GT(many.steps, 2 * few.steps);
  EXPECT_LT(tight, 0.2 * loose);
  EXPECT_LT(loose, 0.3);
  EXPECT_GT(cut.rejected, 0);
  EXPECT_LT(far, 0.1);
  EXPECT_GT(few.largest_step, 0.01);
}

TEST(TransientSteps, FixedStepsAreCountedAndMeetTheirTimes) {
  Domain d;
  add_bar(d, 3);
  auto a = make_transient_analysis(d, options_of("newmark"));
  a->set_steps({.end = 1, .step = 0.1, .times = {0.25}});
  const auto history = std::make_shared<HistoryRecorder>();
  a->add_recorder(history);
  EXPECT_EQ(a->run().size(), 2u);
  const std::vector<double> expected{0, 0.1, 0.2, 0.25, 0.35, 0.45, 0.55, 0.65, 0.75, 0.85, 0.95, 1};
  ASSERT_EQ(history->times().size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(history->times()[i], expected[i], 1e-15);
  auto b = make_transient_analysis(d, options_of("newmark"));
  b->set_steps({.end = 0.7, .step = 0.0007});
  b->run();
  EXPECT_EQ(b->report().steps, 1000);
  EXPECT_EQ(b->report().factorisations, 1);
}

}  // namespace
}  // namespace voussoir
