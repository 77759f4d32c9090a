#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "column_deck.hpp"
#include "support/expect_error.hpp"

// Steps of dynamics that begin with what the step before has left: its state, its loads and its supports.

namespace voussoir {
namespace {

using testing::column_deck;
using testing::expect_error;
using testing::RanDeck;
using testing::run_deck;

const std::string tip = "*NODE PRINT, NSET=TIP, FREQUENCY=1000\nU\n*NODE FILE, FREQUENCY=1000\nU\n*END STEP\n";

std::string step_of(const std::string& procedure, const std::string& cards) {
  return "*STEP, INC=10000\n" + procedure + "\n" + cards + tip;
}

/// The last state of the deck's last step.
const StepState& end_of(const RanDeck& ran) { return ran.kept.states.rbegin()->second.back(); }

void expect_same_motion(const std::string& deck, const std::string& same, double tolerance = 1e-12) {
  const RanDeck first = run_deck(deck), second = run_deck(same);
  const StepState &a = end_of(first), &b = end_of(second);
  double size = 0, speed = 0;
  for (std::int32_t n = 0; n < 16; ++n)
    for (int k = 0; k < 3; ++k) {
      size = std::max(size, std::abs(b.result.unknowns.at(n, k)));
      speed = std::max(speed, std::abs(b.velocity.at(n, k)));
    }
  EXPECT_GT(size, 1e-4);
  for (std::int32_t n = 0; n < 16; ++n)
    for (int k = 0; k < 3; ++k) {
      EXPECT_NEAR(a.result.unknowns.at(n, k), b.result.unknowns.at(n, k), tolerance * size) << n << " " << k;
      EXPECT_NEAR(a.velocity.at(n, k), b.velocity.at(n, k), tolerance * speed) << n << " " << k;
    }
}

const std::vector<std::string> methods{"*DYNAMIC, DIRECT\n0.01, 0.3", "*DYNAMIC, EXPLICIT\n, 0.3"};

// PULSE is 0.5 at the end of the first step; over the total time it is gone at 0.4.
TEST(ContinuedSteps, LoadsStayWhereTheirStepHasLeftThem) {
  const std::string expands = "*EXPANSION\n1E-3\n";
  for (const std::string& method : methods)
    for (const auto& [load, ended] : std::vector<std::pair<std::string, std::string>>{
             {"*CLOAD, AMPLITUDE=PULSE\nTIP, 1, 5.\n", "*CLOAD, OP=NEW\nTIP, 1, 2.5\n"},
             {"*DLOAD, AMPLITUDE=PULSE\n3, P2, 4.\n", "*DLOAD, OP=NEW\n3, P2, 2.\n"},
             {"*DLOAD, AMPLITUDE=PULSE\nEALL, GRAV, 9., 0.6, 0., 0.8\n",
              "*DLOAD, OP=NEW\nEALL, GRAV, 4.5, 0.6, 0., 0.8\n"}}) {
      SCOPED_TRACE(method + " " + load);
      expect_same_motion(column_deck() + step_of(method, load) + step_of(method, ""),
                         column_deck() + step_of(method, load) + step_of(method, ended));
    }
  const std::string warmed = "*TEMPERATURE, AMPLITUDE=PULSE\nNALL, 40.\n";
  expect_same_motion(
      column_deck(expands) + step_of(methods[0], warmed) + step_of(methods[0], ""),
      column_deck(expands) + step_of(methods[0], warmed) + step_of(methods[0], "*TEMPERATURE\nNALL, 20.\n"));
}

TEST(ContinuedSteps, AmplitudesOverTheTotalTimeGoOn) {
  const std::string model = column_deck("", "*AMPLITUDE, NAME=WHOLE, TIME=TOTAL TIME\n0., 0., 0.2, 1., 0.5, -1.\n");
  for (const std::string& method : methods)
    for (const std::string load :
         {"*CLOAD, AMPLITUDE=WHOLE\nTIP, 1, 5.\n", "*BOUNDARY, AMPLITUDE=WHOLE\nFOOT, 1, 1, 0.1\n"}) {
      SCOPED_TRACE(method + " " + load);
      expect_same_motion(model + step_of(method, load) + step_of(method, ""),
                         model + step_of(method, load) + step_of(method, load));
    }
}

TEST(ContinuedSteps, SupportsStayWhereTheyHaveMoved) {
  const std::string moved = "*BOUNDARY, AMPLITUDE=PULSE\nFOOT, 1, 1, 0.1\n";
  const std::string held = "*AMPLITUDE, NAME=HELD\n0., 0.5, 1., 0.5\n";
  for (const std::string& method : methods)
    expect_same_motion(column_deck("", held) + step_of(method, moved) + step_of(method, ""),
                       column_deck("", held) + step_of(method, moved) +
                           step_of(method, "*BOUNDARY, AMPLITUDE=HELD\nFOOT, 1, 1, 0.1\n"));
  expect_error(ErrorCode::bad_input, {"test.inp:", "jump from 0.05 to 0.1"}, [&] {
    run_deck(column_deck() + step_of(methods[0], moved) + step_of(methods[0], "*BOUNDARY\nFOOT, 1, 1, 0.1\n"));
  });
}

// The numbers are those that CalculiX 2.20 prints for the same deck.
TEST(ContinuedSteps, DynamicsBeginWithTheDisplacementsOfStatics) {
  const std::string loaded = "*STEP\n*STATIC\n*CLOAD\nTIP, 1, 5.\n*DLOAD\nEALL, GRAV, 9.81, 0., 0., -1.\n" + tip;
  const RanDeck ran =
      run_deck(column_deck() + loaded + step_of("*DYNAMIC, DIRECT, ALPHA=0.\n0.0005, 0.3", "*CLOAD, OP=NEW\n"));
  const double u[2][3] = {{5.495106E-01, -6.852493E-02, 2.772177E-02}, {2.659249E-01, 2.679122E-02, -2.745664E-02}};
  const double v[3] = {-1.611788E+00, 6.615939E-01, -7.331883E-02};
  for (int k = 0; k < 3; ++k) {
    EXPECT_NEAR(ran.kept.states.at(0).back().result.unknowns.at(12, k), u[0][k], 1e-6);
    EXPECT_NEAR(end_of(ran).result.unknowns.at(12, k), u[1][k], 1e-6);
    EXPECT_NEAR(end_of(ran).velocity.at(12, k), v[k], 1e-5);
  }
  EXPECT_NEAR(end_of(ran).at, 1.3, 1e-12);
}

TEST(ContinuedSteps, WhatIsInEquilibriumStaysAtRest) {
  const std::string pushed = "*STEP\n*STATIC\n*CLOAD\nTIP, 1, 5.\n*BOUNDARY\n14, 2, 2, 0.05\n" + tip;
  for (const std::string& method : methods) {
    // The step before the last is without loads: only the last one is the beginning.
    const RanDeck ran = run_deck(column_deck() + "*STEP\n*STATIC\n*DLOAD\n3, P2, 4.\n" + tip + "*STEP\n*STATIC\n" +
                                 "*DLOAD, OP=NEW\n" + pushed.substr(pushed.find("*CLOAD")) + step_of(method, ""));
    const StepState& end = end_of(ran);
    for (std::int32_t n = 0; n < 16; ++n)
      for (int k = 0; k < 3; ++k) {
        EXPECT_NEAR(end.result.unknowns.at(n, k), ran.kept.states.at(1).back().result.unknowns.at(n, k), 1e-8);
        EXPECT_NEAR(end.velocity.at(n, k), 0, 1e-7);
      }
    EXPECT_NEAR(end.result.unknowns.at(13, 1), 0.05, 1e-12);
    EXPECT_GT(std::abs(end.result.unknowns.at(12, 0)), 0.1);
  }
}

TEST(ContinuedSteps, WhatIsNotContinuedIsRefused) {
  const std::string modes = "*STEP\n*FREQUENCY\n5\n*END STEP\n", pushed = "*CLOAD, AMPLITUDE=PULSE\nTIP, 1, 5.\n";
  const std::string loaded = "*STEP\n*STATIC\n*CLOAD\nTIP, 1, 5.\n*END STEP\n";
  const auto refuse = [&](const std::string& steps, std::initializer_list<std::string> pieces) {
    SCOPED_TRACE(steps);
    expect_error(ErrorCode::bad_input, pieces, [&] { read_deck_text(column_deck() + steps, "test.inp"); });
  };
  // The amplitude of a step of modes would begin again.
  refuse(modes + step_of("*MODAL DYNAMIC\n0.01, 0.3", pushed) + step_of(methods[0], ""), {"still acts", "AMPLITUDE"});
  refuse(modes + loaded + step_of(methods[0], "") + step_of("*MODAL DYNAMIC\n0.01, 0.3", ""),
         {"between *FREQUENCY and this one"});
  refuse(loaded + step_of(methods[0], "") + "*STEP\n*STATIC\n*BOUNDARY, FIXED\nTIP, 1, 1\n*END STEP\n", {"FIXED"});
  refuse(loaded + step_of(methods[0], "") + "*STEP, PERTURBATION\n*FREQUENCY\n5\n*END STEP\n", {"PERTURBATION"});
}

TEST(ContinuedSteps, SupportsMayBeginAfterStaticsWithoutLoads) {
  expect_same_motion(
      column_deck() + "*STEP\n*STATIC\n" + tip + step_of(methods[0], "*CLOAD\nTIP, 1, 5.\n*BOUNDARY\n14, 2\n"),
      column_deck() + step_of(methods[0], "*CLOAD\nTIP, 1, 5.\n*BOUNDARY\n14, 2\n"));
}

// *STATIC, TIME RESET ends at the time at which it began.
TEST(ContinuedSteps, StaticsMayTakeNoTime) {
  const RanDeck ran = run_deck(column_deck() + "*STEP\n*STATIC, TIME RESET\n*CLOAD\nTIP, 1, 5.\n" + tip +
                               step_of(methods[0], "*CLOAD, OP=NEW\n"));
  EXPECT_NEAR(ran.kept.states.at(0).back().at, 0, 1e-12);
  EXPECT_NEAR(end_of(ran).at, 0.3, 1e-12);
}

}  // namespace
}  // namespace voussoir
