#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "heat_bar.hpp"

// Thermal stress during transient heat, from decks. Numbers without a formula are those that CalculiX 2.20
// prints for the same deck.

namespace voussoir {
namespace {

using testing::BarMaterial;
using testing::elastic;
using testing::heat_bar;
using testing::heated;
using testing::KeptHeat;
using testing::stress_supports;

// CalculiX's transient steps have inertia, which this density makes small, and numerical damping: it has settled at the
// times that are compared.
TEST(TransientStressSteps, UncoupledStepsAsInCalculiX) {
  BarMaterial material;
  material.specific_heat = "3.E9";
  material.density = "4.E-9";
  material.more = elastic;
  const std::string step = "*STEP\n*UNCOUPLED TEMPERATURE-DISPLACEMENT, DIRECT\n";
  const std::string end = "*NODE PRINT, NSET=NALL\nNT, U, RF\n*EL PRINT, ELSET=EALL\nS\n*END STEP\n";
  const KeptHeat kept =
      heated(heat_bar(material) + "*INITIAL CONDITIONS, TYPE=TEMPERATURE\nRIGHT, 110.\n" + stress_supports + step +
             "0.1, 0.4\n*BOUNDARY\nRIGHT, 11, 11, 110.\n*CLOAD, AMPLITUDE=A\n20, 1, 0.01\n*DLOAD\n2, P4, 0.05\n" + end +
             step + "0.1, 0.2\n*FILM\n1, F1, 50., 8.\n*BOUNDARY\nRIGHT, 1, 1, 0.002\n" + end +
             "*STEP\n*STATIC\n*CLOAD\n20, 1, 0.02\n" + end);
  ASSERT_EQ(kept.states.at(1).size(), 4u);
  ASSERT_EQ(kept.states.at(3).size(), 2u);
  const auto expect_u = [](const StepResult& result, int node, const std::array<double, 3>& u) {
    const double size = std::hypot(u[0], u[1], u[2]);
    for (int k = 0; k < 3; ++k) EXPECT_NEAR(result.unknowns.at(node - 1, k), u[k], 1e-3 * size) << node << " " << k;
  };
  const StepResult& fourth = kept.states.at(1).back().result;
  expect_u(fourth, 17, {1.847010E-03, -9.228464E-05, -8.710296E-04});
  expect_u(fourth, 20, {2.242899E-03, -1.207695E-04, -3.124144E-04});
  EXPECT_NEAR(kept.states.at(1).back().temperatures[16], 110, 1e-9);
  expect_u(kept.states.at(3).back().result, 20, {2.000000E-03, -3.790967E-04, 6.018854E-04});
  // Without inertia and amplitudes, CalculiX's static step is exact.
  expect_u(kept.results.at(4), 17, {2.000000E-03, -3.344797E-04, -1.089915E-04});
  expect_u(kept.results.at(4), 20, {2.000000E-03, -3.802250E-04, 6.035983E-04});
  EXPECT_NEAR(kept.states.at(1)[1].time, 0.2, 1e-12);
  EXPECT_NEAR(kept.states.at(3).back().time, 0.6, 1e-12);
}

TEST(TransientStressSteps, SteadyUncoupledStepAsInCalculiX) {
  BarMaterial material;
  material.more = elastic;
  const KeptHeat kept = heated(heat_bar(material) + stress_supports +
                               "*STEP\n*UNCOUPLED TEMPERATURE-DISPLACEMENT, STEADY STATE\n*BOUNDARY\nLEFT, 11, 11, "
                               "20.\n*CFLUX\nRIGHT, 11, 0.5\n*NODE PRINT, NSET=NALL\nNT, U\n*END STEP\n");
  EXPECT_NEAR(kept.at_end(0, 17), 36, 1e-9);
  EXPECT_NEAR(kept.at_end(1, 17, "ux"), 1.8e-3, 1e-9);
  EXPECT_NEAR(kept.at_end(1, 20, "uz"), 4.5e-4, 1e-9);
  EXPECT_NEAR(kept.at_end(1, 17, "uy"), -1.633508E-04, 1e-9);
}

// A bar between two walls that is heated uniformly: σ = −E α (T − 10), at each time, also where a wall moves.
TEST(TransientStressSteps, StressOfARestrainedBar) {
  BarMaterial material;
  material.more = "*ELASTIC\n1000., 0.\n*EXPANSION, ZERO=10.\n1.E-4\n";
  const std::string step = "*STEP\n*UNCOUPLED TEMPERATURE-DISPLACEMENT, DIRECT\n0.25, 1.\n*DFLUX\nEALL, BF, 60.\n";
  const std::string supports = "*BOUNDARY\nNALL, 2, 3\nLEFT, 1, 1\nRIGHT, 1, 1\n";
  const std::string end = "*EL PRINT, ELSET=EALL, FREQUENCY=2\nS\n*NODE FILE, FREQUENCY=4\nU\n*END STEP\n";
  const auto check = [](const KeptHeat& kept, double moved) {
    ASSERT_EQ(kept.states.at(1).size(), 2u);
    for (std::size_t i = 0; i < 2; ++i) {
      const double time = 0.5 * static_cast<double>(i + 1);
      const StepState& state = kept.states.at(1)[i];
      EXPECT_NEAR(state.time, time, 1e-12);
      EXPECT_EQ(state.for_viewers, i == 1);
      const PointField& points = state.result.points.at(0);
      for (int e = 0; e < 4; ++e)
        EXPECT_NEAR(points.at(e, 0, points.name_index("sxx")), -1000 * 1e-4 * 5 * time + 1000 * moved * time, 1e-8);
    }
  };
  check(heated(heat_bar(material) + supports + step + end), 0);
  // Small displacements do not change temperatures.
  std::string coupled = step;
  coupled.replace(coupled.find("*UNCOUPLED"), 10, "*COUPLED");
  check(heated(heat_bar(material) + supports + coupled + end), 0);
  check(heated(heat_bar(material) + supports + "*AMPLITUDE, NAME=GO\n0., 0., 1., 1.\n" + step +
               "*BOUNDARY, AMPLITUDE=GO\nRIGHT, 1, 1, 0.001\n" + end),
        0.001);
}

// More states than one group holds. Two loads of equal size with different amplitudes must not be mixed up.
TEST(TransientStressSteps, ManyStatesOfStress) {
  BarMaterial material;
  material.more = "*ELASTIC\n1000., 0.\n";
  const KeptHeat kept =
      heated(heat_bar(material) + "*BOUNDARY\nNALL, 2, 3\nLEFT, 1, 1\n" +
             "*AMPLITUDE, NAME=UP\n0., 0., 4., 4.\n*AMPLITUDE, NAME=DOWN\n0., 4., 4., 0.\n" +
             "*STEP\n*UNCOUPLED TEMPERATURE-DISPLACEMENT, DIRECT\n0.1, 4.\n*CLOAD, AMPLITUDE=UP\n"
             "RIGHT, 1, 1.\n*CLOAD, AMPLITUDE=DOWN\nRIGHT, 1, 1.\n*NODE PRINT, NSET=NALL\nU\n*END STEP\n");
  ASSERT_EQ(kept.states.at(1).size(), 40u);
  for (const StepState& state : kept.states.at(1))
    EXPECT_NEAR(state.result.unknowns.at(16, 0), 4 * 4 / 0.0625 / 1000, 1e-9) << state.time;
}

TEST(TransientStressSteps, TimePointsAndWhatFollows) {
  BarMaterial material;
  material.more = "*ELASTIC\n1000., 0.\n*EXPANSION, ZERO=10.\n1.E-4\n";
  const KeptHeat kept = heated(
      heat_bar(material) + "*BOUNDARY\nNALL, 2, 3\nLEFT, 1, 1\n*TIME POINTS, NAME=TP\n0.15, 0.5\n" +
      "*STEP\n*HEAT TRANSFER, DIRECT\n0.2, 1.\n*DFLUX\nEALL, BF, 60.\n*NODE FILE, TIME POINTS=TP\nNT\n*END STEP\n"
      "*STEP\n*STATIC\n*NODE PRINT, NSET=NALL\nU, NT\n*END STEP\n");
  const auto& states = kept.states.at(0);
  ASSERT_EQ(states.size(), 3u);
  EXPECT_NEAR(states[0].time, 0.15, 1e-12);
  EXPECT_TRUE(states[1].for_viewers);
  EXPECT_FALSE(states[2].for_viewers);  // the end of the step is not among the points, but the next step needs it
  EXPECT_NEAR(kept.at_end(1, 17, "ux"), 5e-4, 1e-9);
}

}  // namespace
}  // namespace voussoir
