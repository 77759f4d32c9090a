#include <gtest/gtest.h>

#include <cmath>

#include <voussoir/framework/analysis/step.hpp>
#include <voussoir/solvers/static_problem.hpp>

#include "framework/analysis/superposition_models.hpp"
#include "support/expect_error.hpp"

// Histories against closed forms; extremes against the states of every time; what the modes leave out.

namespace voussoir {
namespace {

using testing::expect_error;

/// n trusses along x with E = A = ρ = L = 1, fixed at x = 0, with a force at the tip.
void build_bar(Domain& d, int n) {
  for (int i = 0; i <= n; ++i) d.add_node(i + 1, static_cast<double>(i) / n, 0, 0);
  auto& bar = d.add_block("bar", "truss");
  bar.set_material(std::make_shared<IsotropicMaterial>("unit", 1, 0.3, 1)).set_section("area", 1);
  for (int i = 1; i <= n; ++i) bar.add(i, {i, i + 1});
  d.add_node_set_where("all", [](double, double, double) { return true; });
  d.prescribe("all", "uy");
  d.prescribe("all", "uz");
  d.prescribe_at(1, "ux");
  d.add_load_case("pull").nodal_at(n + 1, "ux", 1);
}

// Two lumped masses: m₁ = 1/2 at x = 1/2, m₂ = 1/4 at x = 1, springs of 2: λ = 4 (2 ∓ √2), and the shapes are (1, ±√2)
// up to a factor. A unit step at the tip moves it by Σ φ² (1 − cos ωt)/ω².
TEST(SuperposedHistory, TwoMasses) {
  Domain d;
  build_bar(d, 2);
  const auto analysis = test::modes_of_model(d, 2, "openmp:2", MassKind::lumped);
  ModeSuperposition modes = make_mode_superposition(*analysis);
  const double low = 4 * (2 - std::sqrt(2.0)), high = 4 * (2 + std::sqrt(2.0));
  EXPECT_NEAR(analysis->modes().eigenvalue(0), low, 1e-12 * low);
  EXPECT_NEAR(analysis->modes().eigenvalue(1), high, 1e-12 * high);
  // φ = (1, ±√2)/√(1/2 + 2/4) = (1, ±√2): φ₂² = 2 for both.
  modes.add_load_case("pull");
  const std::vector<double> times = even_times(0, 6, 0.5);
  const SuperposedHistory history = modes.time_history(times);
  const std::vector<double> tip = history.history(3, "ux"), middle = history.history(2, "ux");
  const std::vector<double> wall = history.reaction_sums()[0];
  for (std::size_t k = 0; k < times.size(); ++k) {
    const double c1 = 1 - std::cos(std::sqrt(low) * times[k]), c2 = 1 - std::cos(std::sqrt(high) * times[k]);
    EXPECT_NEAR(tip[k], 2 * c1 / low + 2 * c2 / high, 1e-12);
    EXPECT_NEAR(middle[k], std::sqrt(2.0) * (c1 / low - c2 / high), 1e-12);
    // The wall holds the first spring alone: masses at the wall rest, and lumped masses do not couple.
    EXPECT_NEAR(wall[k], -2 * middle[k], 1e-12);
    EXPECT_NEAR(history.state(k).points[0].at(0, 0, "N"), 2 * middle[k], 1e-12);
  }
}

// The wave in a bar under a step at its tip: u(L, t) rises and falls between 0 and 2 F L/(E A) with the period 4 L/c,
// as a triangle; the force in the wall jumps from 0 to 2 F and back.
TEST(SuperposedHistory, StepAtTheTipOfABar) {
  Domain d;
  build_bar(d, 100);
  const auto analysis = test::modes_of_model(d, 60);
  ModeSuperposition modes = make_mode_superposition(*analysis);
  modes.add_load_case("pull", Amplitude(), 3);
  const std::vector<double> times{0.5, 1, 1.5, 2, 3, 4};
  const SuperposedHistory history = modes.time_history(times);
  const std::vector<double> tip = history.history(101, "ux");
  const double expected[] = {0.5, 1, 1.5, 2, 1, 0};
  for (std::size_t k = 0; k < times.size(); ++k) EXPECT_NEAR(tip[k], 3 * expected[k], 0.07) << times[k];
  const std::vector<double> wall = modes.time_history(std::vector<double>{0.7, 2, 3.3}).reaction_sums()[0];
  EXPECT_NEAR(wall[0], 0, 0.25);
  EXPECT_NEAR(wall[1], -6, 0.25);
  EXPECT_NEAR(wall[2], 0, 0.25);
}

// The base of the bar accelerates suddenly by a: with c = 1 and L = 1 the tip, which no wave has reached before t = 1,
// stays behind by a t²/2, and at t = 2 it is a ρ L²/E behind, twice the static value. The wall pushes with the mass
// that the wave has reached, times a: a t for t ≤ 1, so that reactions contain inertia.
TEST(SuperposedHistory, BaseOfABarAccelerates) {
  Domain d;
  build_bar(d, 100);
  const auto analysis = test::modes_of_model(d, 60);
  ModeSuperposition modes = make_mode_superposition(*analysis);
  modes.add_base_acceleration("x", Amplitude(), 2);
  const SuperposedHistory history = modes.time_history(std::vector<double>{0.5, 1, 2, 4});
  const std::vector<double> tip = history.history(101, "ux");
  EXPECT_NEAR(tip[0], -0.25, 1e-3);
  EXPECT_NEAR(tip[1], -1, 1e-3);
  EXPECT_NEAR(tip[2], -2, 1e-3);
  EXPECT_NEAR(tip[3], 0, 1e-3);
  const std::vector<double> wall = history.reaction_sums()[0];
  EXPECT_NEAR(wall[0], 1, 0.02);
  EXPECT_NEAR(wall[1], 2, 0.02);
  // No wave has come to the tip: in absolute terms it has not moved.
  EXPECT_NEAR(history.history(101, "ux", ModalQuantity::displacement, MotionFrame::absolute)[0], 0, 1e-3);
}

/// A damped block under base motion and a load.
struct Shaken {
  Shaken() {
    test::add_block_on_supports(d);
    analysis = test::modes_of_model(d, 8);
    modes = std::make_unique<ModeSuperposition>(make_mode_superposition(*analysis));
    modes->set_damping(ModalDamping::ratio(0.05));
    modes->add_base_acceleration("y", Amplitude({{0, 0}, {0.1, 2}, {0.25, -1.5}, {0.4, 0.5}, {0.6, 0}}));
    modes->add_load_case("tip", Amplitude({{0, 0.5}, {0.2, 1}, {0.2, -1}, {0.5, 0.3}}));
  }
  Domain d;
  std::unique_ptr<ModalAnalysis> analysis;
  std::unique_ptr<ModeSuperposition> modes;
};

TEST(SuperposedHistory, ExtremesAreThoseOfTheStates) {
  for (const bool correction : {false, true}) {
    Shaken s;
    s.modes->set_static_correction(correction);
    const SuperposedHistory history = s.modes->time_history(even_times(0, 0.8, 0.02));
    const FieldExtremes displacement = history.extremes();
    const FieldExtremes acceleration = history.extremes(ModalQuantity::acceleration, MotionFrame::absolute);
    const ReactionExtremes reactions = history.reaction_extremes();
    const std::vector<PointExtremes> points = history.point_extremes();
    ASSERT_EQ(points.size(), 1u);
    const std::int32_t node = s.d.node_count() - 2, clamped = s.d.node_set("xmin").front();
    const std::int32_t oblique = s.d.oblique_supports().front().node;
    double most_u = -1e300, most_a = -1e300, least_r = 1e300, most_o = -1e300, most_sum = -1e300, mises = 0,
           sxx = 1e300;
    double force = 0;
    for (std::size_t k = 0; k < history.count(); ++k) {
      StepResult state = history.state(k);
      most_u = std::max(most_u, state.unknowns.at(node, "uz"));
      most_a = std::max(most_a, history.field(k, ModalQuantity::acceleration, MotionFrame::absolute).at(node, "uy"));
      least_r = std::min(least_r, state.reactions.at(clamped, "ux"));
      most_o = std::max(most_o, state.reactions.at(oblique, "uy"));
      force = std::max(force, std::abs(state.reactions.at(clamped, "ux")));
      most_sum = std::max(most_sum, state.reaction_sum[1]);
      // The oblique support pushes along (0, 1, 1).
      EXPECT_NEAR(state.reactions.at(oblique, "uy"), state.reactions.at(oblique, "uz"), 1e-9 * force);
      add_invariants(state.points[0]);
      mises = std::max(mises, state.points[0].at(1, 3, "mises"));
      sxx = std::min(sxx, state.points[0].at(2, 5, "sxx"));
    }
    EXPECT_NEAR(displacement.at(node, "uz").maximum, most_u, 1e-12);
    EXPECT_NEAR(acceleration.at(node, "uy").maximum, most_a, 1e-10 * most_a);
    EXPECT_NEAR(reactions.reactions.at(clamped, "ux").minimum, least_r, 1e-9 * force);
    EXPECT_NEAR(reactions.reactions.at(oblique, "uy").maximum, most_o, 1e-9 * force);
    EXPECT_NEAR(reactions.sums[1].maximum, most_sum, 1e-9 * force);
    EXPECT_NEAR(points[0].at(1, 3, "mises").maximum, mises, 1e-10 * mises);
    EXPECT_NEAR(points[0].at(2, 5, "sxx").minimum, sxx, 1e-10 * std::abs(sxx));
    EXPECT_TRUE(std::isnan(reactions.reactions.maximum.at(node, "uz")));
    EXPECT_GE(points[0].largest("mises").peak.value, mises * (1 - 1e-10));
    EXPECT_EQ(displacement.magnitude.at(clamped, "ux"), 0);
  }
}

TEST(SuperposedHistory, StressesInSeveralPassesHaveTheSameBits) {
  Shaken s;
  const std::vector<Id> last{3};
  s.d.add_element_set("last", last);
  s.analysis = test::modes_of_model(s.d, 8);
  s.modes = std::make_unique<ModeSuperposition>(make_mode_superposition(*s.analysis));
  s.modes->add_base_acceleration("y", Amplitude({{0, 0}, {0.1, 2}, {0.25, -1.5}}));
  const SuperposedHistory history = s.modes->time_history(even_times(0, 0.8, 0.02));
  PointRequest request;
  const auto at_once = history.point_extremes(request).front();
  request.memory_bytes = 9 * 8 * 6 * 8;  // the columns of one element: 8 modes and a static response, 8 points
  const auto one_by_one = history.point_extremes(request).front();
  ASSERT_EQ(at_once.values.size(), one_by_one.values.size());
  for (std::size_t i = 0; i < at_once.values.size(); ++i) {
    EXPECT_EQ(at_once.values[i].maximum, one_by_one.values[i].maximum);
    EXPECT_EQ(at_once.values[i].minimum_time, one_by_one.values[i].minimum_time);
  }
  request.most_passes = 2;
  expect_error(ErrorCode::out_of_memory, {"GB", "element set"}, [&] { history.point_extremes(request); });
  request.element_set = "last";
  const auto of_set = history.point_extremes(request).front();
  ASSERT_EQ(of_set.elements, std::vector<std::int32_t>{2});
  EXPECT_EQ(of_set.at(0, 1, "syy").maximum, at_once.at(2, 1, "syy").maximum);
}

TEST(SuperposedHistory, FloorSpectraAreThoseOfTheAbsoluteAcceleration) {
  Shaken s;
  const std::vector<double> times = even_times(0, 2, 0.005), periods{0.05, 0.2, 1};
  const SuperposedHistory history = s.modes->time_history(times);
  const Id clamped = s.d.node_id(s.d.node_set("xmin").front()), tip = s.d.node_id(s.d.node_count() - 2);
  // At a support, the spectrum is that of the ground.
  const Accelerogram ground({0, 0.1, 0.25, 0.4, 0.6, 2}, {0, 2, -1.5, 0.5, 0, 0});
  const auto of_ground = oscillator_peaks(ground, periods, 0.02),
             at_support = history.floor_spectrum(clamped, "uy", periods, 0.02);
  for (std::size_t i = 0; i < periods.size(); ++i)
    EXPECT_NEAR(at_support[i].acceleration, of_ground[i].acceleration, 1e-4 * of_ground[i].acceleration);
  const auto floor = history.floor_spectrum(tip, "uy", std::vector<double>{0}, 0.02);
  const Extremes peak =
      history.extremes(ModalQuantity::acceleration, MotionFrame::absolute).at(s.d.node_count() - 2, "uy");
  EXPECT_NEAR(floor[0].acceleration, std::abs(peak.peak().value), 1e-9 * floor[0].acceleration);
}

// After a load has come slowly and stays, what is left is the static response, which a few modes have only with the
// static correction; and without it they lack what the truncation says.
TEST(SuperposedHistory, StaticCorrectionMakesTheQuasiStaticPartExact) {
  Domain d;
  test::add_block_on_supports(d);
  d.add_load_case("pressure").pressure("ymax", 2).gravity("", {0, 0, -9.81});
  const auto analysis = test::modes_of_model(d, 3);
  ModeSuperposition modes = make_mode_superposition(*analysis);
  modes.set_damping(ModalDamping::ratio(0.5));
  modes.add_load_case("pressure", Amplitude({{0, 0}, {1, 1}}));
  auto statics = make_static_analysis(d);
  Step step;
  step.name = "pressure";
  step.load_cases["pressure"] = 1;
  statics->add_step(step);
  const StepResult expected = statics->run().front();
  const auto error = [&](const NodalField& a, const NodalField& b) {
    double off = 0, most = 0;
    for (std::size_t i = 0; i < a.values.size(); ++i) {
      if (std::isnan(b.values[i])) continue;
      off = std::max(off, std::abs(a.values[i] - b.values[i]));
      most = std::max(most, std::abs(b.values[i]));
    }
    return off / most;
  };
  const StepResult corrected = modes.time_history(std::vector<double>{60}).state(0);
  EXPECT_LT(error(corrected.unknowns, expected.unknowns), 1e-9);
  EXPECT_LT(error(corrected.reactions, expected.reactions), 1e-9);
  EXPECT_NEAR(corrected.energy, expected.energy, 1e-9 * expected.energy);
  EXPECT_NEAR(corrected.points[0].at(0, 2, "sxy"), expected.points[0].at(0, 2, "sxy"), 1e-8);

  modes.set_static_correction(false);
  const StepResult plain = modes.time_history(std::vector<double>{60}).state(0);
  const LoadCoverage coverage = modes.truncation().loads.at(0);
  EXPECT_FALSE(coverage.corrected);
  EXPECT_GT(coverage.static_error, 1e-3);
  EXPECT_NEAR(error(plain.unknowns, expected.unknowns), coverage.static_error, 1e-9);
  // The strain energy of the modes alone: that of their displacements.
  EXPECT_NEAR(coverage.static_energy, plain.energy / expected.energy, 1e-9);
  EXPECT_TRUE(std::isnan(coverage.mass));
}

TEST(SuperposedHistory, FewModesDifferByNoMoreThanTheTruncationSays) {
  Domain d;
  test::add_block_on_supports(d);
  const auto all = test::modes_of_model(d, test::free_unknowns(d));
  const auto few = test::modes_of_model(d, 4);
  const Amplitude slow({{0, 0}, {4, 1}, {8, -1}, {12, 0}});  // slow beside the modes that are left out
  const auto run = [&](ModalAnalysis& analysis, bool correction) {
    ModeSuperposition modes = make_mode_superposition(analysis);
    modes.set_damping(ModalDamping::rayleigh(0.5, 0.01));
    modes.set_static_correction(correction);
    modes.add_base_acceleration("z", slow);
    modes.add_load_case("tip", slow, 0.1);
    const Truncation left_out = modes.truncation();
    double error = 0;
    for (const LoadCoverage& c : left_out.loads) error = std::max(error, c.static_error);
    return std::pair(modes.time_history(even_times(0, 12, 0.1)).extremes().magnitude, error);
  };
  const NodalField exact = run(*all, false).first;
  const double largest = std::abs(exact.largest("uz").value);
  const auto off = [&](const NodalField& f) {
    double most = 0;
    for (std::size_t i = 0; i < f.values.size(); ++i) most = std::max(most, std::abs(f.values[i] - exact.values[i]));
    return most / largest;
  };
  const auto [plain, said] = run(*few, false);
  const auto [corrected, same] = run(*few, true);
  EXPECT_EQ(said, same);
  EXPECT_GT(said, 0);
  EXPECT_LT(off(plain), 2 * said);
  EXPECT_LT(off(corrected), 0.02 * off(plain));
}

TEST(SuperposedHistory, TruncationInWords) {
  Domain d;
  build_bar(d, 10);
  const auto analysis = test::modes_of_model(d, 10);
  ModeSuperposition modes = make_mode_superposition(*analysis);
  modes.select_modes(1, 2);
  modes.add_base_acceleration("x", Amplitude());
  modes.add_load_case("pull");
  const Truncation t = modes.truncation();
  EXPECT_NEAR(t.loads[0].mass, analysis->modes().accumulated(1, 0), 1e-12);
  EXPECT_NEAR(t.loads[0].mass, 8 / (9.8696044010893586) * (1 + 1.0 / 9), 5e-3);  // the bar: 8/(π² (2k − 1)²)
  const std::string text = t.text();
  EXPECT_TRUE(text.starts_with("modes 1 to 2 (up to 0.75")) << text;
  for (const char* piece : {" % of the mass along x", "load case 'pull'", "static correction, which adds the rest"})
    EXPECT_NE(text.find(piece), std::string::npos) << text;
  modes.select_frequencies(0.5, 2);
  EXPECT_EQ(modes.selected_modes().front(), 1);
  EXPECT_NE(modes.truncation().text().find("are not selected"), std::string::npos);
}

}  // namespace
}  // namespace voussoir
