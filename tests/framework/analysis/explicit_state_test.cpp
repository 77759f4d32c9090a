#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include <voussoir/framework/analysis/detail/element_steps.hpp>
#include <voussoir/framework/analysis/detail/stable_step.hpp>
#include <voussoir/framework/analysis/explicit_analysis.hpp>
#include <voussoir/framework/mesh/structured_mesh.hpp>

#include "support/expect_error.hpp"

// Explicit dynamics that is saved and continued, the stable steps of elements, and mass scaling. Laws are those of
// support/finite_strain_laws.hpp.

namespace voussoir {
namespace {

using testing::expect_error;

Analysis::Collaborators explicit_parts(const std::string& backend = "openmp:1") {
  Analysis::Collaborators parts;
  parts.backend = Backend::open(backend);
  return parts;
}

/// A block that is pulled by moving supports, unless its end is free, and pushed by a pressure, with damping.
void add_pulled_block(Domain& d, const std::string& type, bool pulled = true) {
  BoxMesh mesh;
  mesh.type = type;
  mesh.cells = {3, 2, 1};
  mesh.upper = {3, 2, 1};
  mesh.distortion = 0.1;
  auto m = std::make_shared<Material>("m");
  m->set("lambda", 60).set("mu", 40).set("rho", 1);
  if (type == "heavy_j2.hex8") m->set("yield", 0.5).set("hardening", 10);
  add_box_mesh(d, mesh).set_material(m);
  d.prescribe("xmin", "all");
  if (pulled) d.prescribe("xmax", "ux", 0.2);
  d.add_load_case("wind").pressure("ymax", 0.4);
}

void set_pulled_block(ExplicitAnalysis& a, const Domain& d, const MassScaling& scaling = {}, bool pulled = true) {
  a.set_damping({0.3, 0});
  a.set_mass_scaling(scaling);
  a.loads().add_load_case("wind", Amplitude({{0, 0}, {1, 1}, {2, 1}, {2, 0}}));
  if (pulled)
    a.loads().move_supports(d, "xmax", "ux", SupportMotion::by_displacement(Amplitude({{0, 0}, {1, 1}, {3, -1}})));
  a.set_steps({.end = 2.4, .factor = 0.7, .estimate_every = 17, .report_every = 10, .times = {0.7, 1.5}});
  a.set_recovery(false);
}

class RestoredOn : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Backends, RestoredOn, ::testing::Values("openmp", "openmp:1", "debug", "debug:2"),
                         [](const auto& info) {
                           std::string name = info.param;
                           for (char& c : name)
                             if (c == ':') c = '_';
                           return name;
                         });

TEST_P(RestoredOn, ARestoredRunGoesOnWithTheSameBits) {
  for (const char* type : {"heavy_j2.hex8", "heavy_neo_hooke.hex8"})
    for (const double scaled : {0.0, 0.05}) {
      if (GetParam() == "debug:2" && scaled == 0) continue;  // slow, and no other path
      // Where no support moves, backends take runs of steps in one go.
      const bool pulled = (std::string(type) == "heavy_j2.hex8") == (scaled > 0);
      Domain d;
      add_pulled_block(d, type, pulled);
      const MassScaling scaling{scaled, 10};
      ExplicitAnalysis whole(d, explicit_parts(GetParam()));
      set_pulled_block(whole, d, scaling, pulled);
      whole.run();

      ExplicitAnalysis first(d, explicit_parts(GetParam()));
      set_pulled_block(first, d, scaling, pulled);
      std::ostringstream saved;
      int reports = 0;
      first.watch = [&](const TransientProgress&) {
        if (++reports == 3) first.save(saved);
        return reports < 4;
      };
      EXPECT_THROW(first.run(), Error);  // cancelled
      ASSERT_FALSE(saved.str().empty());

      ExplicitAnalysis second(d, explicit_parts(GetParam()));
      set_pulled_block(second, d, scaling, pulled);
      std::istringstream bytes(saved.str());
      second.restore(bytes);
      EXPECT_GT(second.state().time, 0);
      EXPECT_LT(second.state().time, 2);
      const std::int64_t before = second.report().steps;
      second.finish();
      EXPECT_EQ(difference(second.model(), second.state(), whole.state()), "") << type;
      EXPECT_GT(whole.report().steps, before + 10) << type;
      EXPECT_EQ(second.report().steps, whole.report().steps) << type;
      EXPECT_EQ(second.report().limit, whole.report().limit) << type;
      EXPECT_EQ(second.report().added_mass, whole.report().added_mass) << type;
      EXPECT_EQ(second.report().added_mass > 0, scaled > 0) << type;
      EXPECT_EQ(second.energies().kinetic, whole.energies().kinetic) << type;
      EXPECT_EQ(second.energies().internal, whole.energies().internal) << type;
      EXPECT_EQ(second.energies().external, whole.energies().external) << type;
      EXPECT_EQ(second.energies().damping, whole.energies().damping) << type;
    }
}

TEST(ExplicitState, RunsOfStepsAreTheStepsOneByOne) {
  for (const char* type : {"heavy_j2.hex8", "heavy_neo_hooke.hex8"})
    for (const double scaled : {0.0, 0.05}) {
      Domain d;
      add_pulled_block(d, type, false);
      ExplicitAnalysis whole(d, explicit_parts()), single(d, explicit_parts());
      for (ExplicitAnalysis* a : {&whole, &single}) set_pulled_block(*a, d, {scaled, 10}, false);
      whole.run();
      single.start();
      while (!single.at_end()) single.advance(1);
      EXPECT_EQ(single.report().steps, whole.report().steps) << type;
      EXPECT_EQ(difference(whole.model(), single.state(), whole.state(), 1e-10), "") << type;
      const EnergyBalance &is = whole.energies(), &expected = single.energies();
      const double near = 1e-10 * expected.scale();
      EXPECT_GT(expected.damping, 1e-3 * expected.scale()) << type;
      EXPECT_NEAR(is.kinetic, expected.kinetic, near) << type;
      EXPECT_NEAR(is.internal, expected.internal, near) << type;
      EXPECT_NEAR(is.external, expected.external, near) << type;
      EXPECT_NEAR(is.damping, expected.damping, near) << type;
    }
}

TEST(ExplicitState, RefusesOtherBytes) {
  Domain d;
  add_pulled_block(d, "heavy_neo_hooke.hex8");
  ExplicitAnalysis a(d, explicit_parts());
  set_pulled_block(a, d);
  std::ostringstream early;
  expect_error(ErrorCode::misuse, {"after start()"}, [&] { a.save(early); });
  a.start();
  a.advance(3);
  std::ostringstream saved;
  a.save(saved);
  const auto restore = [&](const std::string& text) {
    ExplicitAnalysis other(d, explicit_parts());
    set_pulled_block(other, d);
    std::istringstream bytes(text);
    other.restore(bytes);
  };
  restore(saved.str());
  std::string damaged = saved.str();
  damaged[damaged.size() / 2] ^= 1;
  expect_error(ErrorCode::bad_input, {"damaged"}, [&] { restore(damaged); });
  expect_error(ErrorCode::bad_input, {"ends too early"}, [&] { restore(saved.str().substr(0, damaged.size() - 5)); });
  expect_error(ErrorCode::bad_input, {}, [&] { restore(""); });
  // A state alone, and the state of an analysis whose supports rest.
  std::ostringstream plain;
  for (int k = 0; k < 4; ++k) save_state(a.model(), a.state(), plain);
  expect_error(ErrorCode::bad_input, {"explicit analysis"}, [&] { restore(plain.str()); });
  expect_error(ErrorCode::bad_input, {"same loads"}, [&] {
    ExplicitAnalysis other(d, explicit_parts());
    other.set_steps({.end = 4});
    std::istringstream bytes(saved.str());
    other.restore(bytes);
  });
}

/// A bar of trusses along x with nodes at these places, E = A = ρ = 1, held at its first node.
void add_graded_bar(Domain& d, const std::vector<double>& places) {
  std::vector<Id> all;
  for (std::size_t i = 0; i < places.size(); ++i) {
    d.add_node(static_cast<Id>(i) + 1, places[i], 0, 0);
    all.push_back(static_cast<Id>(i) + 1);
  }
  auto& bar = d.add_block("bar", "truss");
  bar.set_material(std::make_shared<IsotropicMaterial>("m", 1, 0.3, 1)).set_section("area", 1);
  for (std::size_t i = 0; i + 1 < places.size(); ++i)
    bar.add(100 + static_cast<Id>(i), {static_cast<Id>(i) + 1, static_cast<Id>(i) + 2});
  d.add_node_set("wall", {1});
  d.add_node_set("all", all);
  d.prescribe("wall", "ux");
  d.prescribe("all", "uy");
  d.prescribe("all", "uz");
  d.add_load_case("end").nodal_at(static_cast<Id>(places.size()), "ux", 1);
}

TEST(ElementSteps, OfABarAreTheTimesThatAWaveNeeds) {
  // Lumped masses ρAL/2 and the stiffness EA/L have ω² = 4E/(ρL²): 2/ω is the length over the speed of waves, 1.
  Domain d;
  add_graded_bar(d, {0, 0.5, 0.75, 2});
  ExplicitAnalysis a(d, explicit_parts());
  a.set_steps({.end = 1});
  a.start();
  const detail::ElementSteps steps(a.model(), a.state());
  EXPECT_NEAR(steps.shortest(), 0.25, 1e-12);
  EXPECT_EQ(steps.critical_element(), "element 101");
  EXPECT_EQ(steps.shorter_than(0.6), 2);
  EXPECT_EQ(steps.shorter_than(0.25 - 1e-9), 0);
  const std::vector<double> added = steps.added_mass(0.5);
  // (0.5 / 0.25)² − 1 = 3 times the half of 0.25, at both nodes of element 101 and in all directions.
  for (const char* unknown : {"ux", "uy", "uz"})
    for (std::int32_t n = 0; n < 4; ++n)
      EXPECT_NEAR(added[static_cast<std::size_t>(a.model().equation(n, unknown))], n == 1 || n == 2 ? 0.375 : 0, 1e-12);
  // The mesh is stiffer than none of its elements.
  EXPECT_GE(a.report().limit, steps.shortest());
}

TEST(ElementSteps, BoundTheStepOfEveryMesh) {
  for (const char* type : {"solid.hex8", "solid.hex8.full", "solid.tet4", "heavy_neo_hooke.hex8"})
    for (const char* backend : {"openmp", "debug:2"}) {
      Domain d;
      BoxMesh mesh;
      mesh.type = type;
      mesh.cells = {4, 3, 2};
      mesh.upper = {3, 2, 1};
      mesh.distortion = 0.2;
      auto m = std::make_shared<Material>("m");
      if (std::string(type).starts_with("solid"))
        m->set("young", 100).set("poisson", 0.3).set("density", 1);
      else
        m->set("lambda", 60).set("mu", 40).set("rho", 1);
      add_box_mesh(d, mesh).set_material(m);
      ExplicitAnalysis a(d, explicit_parts(backend));
      a.set_steps({.end = 1e-3});
      a.start();
      const detail::ElementSteps steps(a.model(), a.state());
      EXPECT_LE(steps.shortest(), a.report().limit * 1.01) << type;  // the limit is estimated to half a per cent
      EXPECT_GT(steps.shortest(), 0.4 * a.report().limit) << type;
    }
}

TEST(MassScaling, MakesTheWantedStepStable) {
  // Nine elements of 0.1 and one of 0.01, which has a hundredth of the mass of the bar.
  std::vector<double> places;
  for (int i = 0; i <= 9; ++i) places.push_back(0.1 * i);
  places.push_back(0.91);
  const double h = 0.08;
  const auto tip = [&](double scaled, std::int64_t& count, double& share) {
    Domain d;
    add_graded_bar(d, places);
    ExplicitAnalysis a(d, explicit_parts());
    a.loads().add_load_case("end", Amplitude({{0, 0}, {1, 1}, {2, 0}}));
    a.set_mass_scaling({scaled, 2});
    a.set_steps({.end = 3, .report_every = 5});
    const double u = a.run().back().unknowns.at(10, "ux");
    count = a.report().steps;
    share = a.report().added_mass;
    EXPECT_LT(a.report().worst_balance, 0.1);
    EXPECT_EQ(a.report().scaled_elements, scaled > 0 ? 1 : 0);
    EXPECT_EQ(a.report().critical_element, scaled > 0 ? "element 109" : "");
    return u;
  };
  std::int64_t plain_steps = 0, scaled_steps = 0;
  double none = 0, share = 0;
  const double plain = tip(0, plain_steps, none), scaled = tip(h, scaled_steps, share);
  EXPECT_EQ(none, 0);
  // s = (h / 0.9 / 0.01)² of 0.01 of mass. Half of it is at node 10, which element 108 shares.
  EXPECT_NEAR(share, (std::pow(h / 0.9 / 0.01, 2) - 1) * 0.01 / 0.91, 1e-9);
  EXPECT_LE(scaled_steps, static_cast<std::int64_t>(std::ceil(3 / h)));
  EXPECT_GT(plain_steps, 3 * scaled_steps);
  EXPECT_GT(std::abs(plain), 1e-3);
  EXPECT_GT(std::abs(scaled - plain), 1e-6);  // the added mass is felt
}

TEST(MassScaling, IsRefusedAboveItsLimit) {
  Domain d;
  add_graded_bar(d, {0, 1, 1.01});
  ExplicitAnalysis a(d, explicit_parts());
  a.set_mass_scaling({0.5});
  a.set_steps({.end = 3});
  expect_error(ErrorCode::bad_input, {"mass scaling", "more mass", "1 elements", "5 %", "element 101"},
               [&] { a.start(); });
  a.set_mass_scaling({0.5, 1e3});
  a.start();
  EXPECT_GE(0.9 * a.report().limit, 0.5);
  a.set_mass_scaling({0.009});  // below the step that is stable as it is: 0.9 of some 0.012
  a.set_steps({.end = 3});
  a.start();
  EXPECT_EQ(a.report().scaled_elements, 0);
  a.loads().add_base_acceleration("x", Amplitude({{0, 1}}));
  expect_error(ErrorCode::bad_input, {"base accelerates"}, [&] { a.start(); });
  expect_error(ErrorCode::bad_input, {"negative"}, [&] { a.set_mass_scaling({-1}); });
  expect_error(ErrorCode::bad_input, {"negative"}, [&] { a.set_mass_scaling({1, std::nan("")}); });
}

TEST(ExplicitSteps, BoundsOfStepsAndReportsByTime) {
  Domain d;
  add_graded_bar(d, {0, 0.5, 0.75, 2});
  const auto run = [&](ExplicitSteps steps) {
    ExplicitAnalysis a(d, explicit_parts());
    a.loads().add_load_case("end");
    a.set_steps(std::move(steps));
    a.set_recovery(false);
    auto history = std::make_shared<HistoryRecorder>();
    history->add(4, "ux");
    a.add_recorder(history);
    a.run();
    return std::pair(a.report().steps, history->times());
  };
  EXPECT_EQ(run({.end = 3, .longest = 0.1}).first, 30);
  expect_error(ErrorCode::bad_input, {"must not be shorter than 0.5", "element 101"},
               [&] { run({.end = 3, .shortest = 0.5}); });
  // Every 0.7, with the steps of 0.1 that end at or after, and the end.
  const std::vector<double> times = run({.end = 3, .longest = 0.1, .report_every = 0, .report_interval = 0.7}).second;
  const std::vector<double> expected{0, 0.7, 1.4, 2.1, 2.8, 3};
  ASSERT_EQ(times.size(), expected.size());
  for (std::size_t i = 0; i < times.size(); ++i) EXPECT_NEAR(times[i], expected[i], 1e-12);
  expect_error(ErrorCode::bad_input, {"every 1, 2, 3"}, [&] { run({.end = 3, .report_every = 0}); });
  expect_error(ErrorCode::bad_input, {"longest"}, [&] { run({.end = 3, .longest = 0.1, .shortest = 0.2}); });
}

}  // namespace
}  // namespace voussoir
