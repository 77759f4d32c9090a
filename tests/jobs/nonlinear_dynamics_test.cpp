#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <map>
#include <sstream>

#include "column_deck.hpp"
#include "support/expect_error.hpp"

// *DYNAMIC with NLGEOM. Numbers of CalculiX are those of version 2.20.

namespace voussoir {
namespace {

using testing::column_deck;
using testing::expect_error;
using testing::RanDeck;
using testing::run_deck;

const std::string printed = "*NODE PRINT, NSET=TIP, FREQUENCY=20\nU, V\n*END STEP\n";

void expect_tip(const StepState& state, const std::array<double, 3>& u, const std::array<double, 3>& v,
                double tolerance) {
  for (std::size_t k = 0; k < 3; ++k) {
    const int component = static_cast<int>(k);
    EXPECT_NEAR(state.result.unknowns.at(12, component), u[k], tolerance * std::hypot(u[0], u[1], u[2])) << "u " << k;
    EXPECT_NEAR(state.velocity.at(12, component), v[k], tolerance * std::hypot(v[0], v[1], v[2])) << "v " << k;
  }
}

std::map<std::string, double> totals_of(const RanDeck& ran, std::size_t step) {
  const auto& totals = ran.kept.responses.at(step).totals;
  return {totals.begin(), totals.end()};
}

TEST(NonlinearDynamics, SuddenForceAsInCalculiX) {
  const RanDeck ran = run_deck(
      column_deck() + "*STEP, NLGEOM, INC=10000\n*DYNAMIC, DIRECT\n0.005, 0.3\n*CLOAD\nTIP, 1, 20.\n" + printed);
  const auto& states = ran.kept.states.at(0);
  expect_tip(states.back(), {1.345048, -1.971987e-1, -1.164785e-1}, {6.914072, 2.765861, -2.053189}, 1e-4);
}

TEST(NonlinearDynamics, BeginsWhereAStaticStepEndsAsInCalculiX) {
  const RanDeck ran = run_deck(column_deck() + "*STEP, NLGEOM\n*STATIC\n0.25, 1.\n*CLOAD\nTIP, 1, 20.\n*END STEP\n" +
                               "*STEP, INC=10000\n*DYNAMIC, DIRECT\n0.005, 0.3\n*CLOAD, OP=NEW\n" + printed);
  expect_tip(ran.kept.states.at(1).back(), {1.041182, 1.634056e-1, 2.043367e-2}, {-6.215322, 2.022351, 2.076953}, 2e-4);
  // The energy at the beginning is what the load has stored; nothing is added.
  const auto dynamic = totals_of(ran, 1);
  EXPECT_GT(dynamic.at("initial"), 1);
  EXPECT_EQ(dynamic.at("external"), 0);
  EXPECT_NEAR(dynamic.at("kinetic") + dynamic.at("internal"), dynamic.at("initial"), 0.02 * dynamic.at("initial"));
}

double tip_distance(const RanDeck& a, const RanDeck& b, std::size_t step, int node) {
  double sum = 0;
  for (int k = 0; k < 3; ++k)
    sum += std::pow(a.kept.states.at(step).back().result.unknowns.at(node, k) -
                        b.kept.states.at(step).back().result.unknowns.at(node, k),
                    2);
  return std::sqrt(sum);
}

// CalculiX 2.20 with DIRECT and increments of 2.5e-4 (`ccx` on the deck of `fixed`); with increments of 5e-4 its
// displacements differ by 1e-4. Automatic increments of the error estimate come as near to that.
TEST(NonlinearDynamics, AutomaticIncrementsAgreeWithShortOnes) {
  const auto run = [](const std::string& procedure) {
    return run_deck(column_deck() + "*STEP, NLGEOM, INC=100000\n" + procedure + "*CLOAD\nTIP, 1, 20.\n" +
                    "*NODE PRINT, NSET=TIP, FREQUENCY=100000\nU, V\n*END STEP\n");
  };
  const RanDeck fixed = run("*DYNAMIC, DIRECT\n2.5e-4, 0.3\n"), automatic = run("*DYNAMIC\n0.05, 0.3\n");
  const std::array<double, 3> u{1.347588, -1.797653e-1, -1.166908e-1}, v{7.290795, 2.682475, -1.831336};
  expect_tip(fixed.kept.states.at(0).back(), u, v, 1e-4);
  EXPECT_LT(tip_distance(automatic, fixed, 0, 12), 1e-3 * std::hypot(u[0], u[1], u[2]));
  EXPECT_LT(automatic.kept.responses.at(0).axis.size(), 0.5 * fixed.kept.responses.at(0).axis.size());
}

/// A column of 2 × 2 × 3 C3D20R, 1 × 0.8 × 3, that stands on FOOT; TOP are the nodes at its end, TIP one of them.
struct QuadraticColumn {
  std::string text;
  int tip = 0;  // index of the node
};

QuadraticColumn quadratic_column() {
  constexpr int cells[3] = {2, 2, 3},
                at[20][3] = {{0, 0, 0}, {2, 0, 0}, {2, 2, 0}, {0, 2, 0}, {0, 0, 2}, {2, 0, 2}, {2, 2, 2},
                             {0, 2, 2}, {1, 0, 0}, {2, 1, 0}, {1, 2, 0}, {0, 1, 0}, {1, 0, 2}, {2, 1, 2},
                             {1, 2, 2}, {0, 1, 2}, {0, 0, 1}, {2, 0, 1}, {2, 2, 1}, {0, 2, 1}};
  std::map<std::array<int, 3>, int> ids;
  std::ostringstream nodes, elements, foot, top;
  int element = 0;
  for (int k = 0; k < cells[2]; ++k)
    for (int j = 0; j < cells[1]; ++j)
      for (int i = 0; i < cells[0]; ++i) {
        elements << ++element;
        for (int n = 0; n < 20; ++n) {
          const std::array<int, 3> place{2 * i + at[n][0], 2 * j + at[n][1], 2 * k + at[n][2]};
          const auto [found, is_new] = ids.emplace(place, static_cast<int>(ids.size()) + 1);
          elements << (n == 15 ? ",\n" : ", ") << found->second;
          if (!is_new) continue;
          nodes << found->second << ", " << 0.25 * place[0] << ", " << 0.2 * place[1] << ", " << 0.5 * place[2] << "\n";
          if (place[2] == 0) foot << found->second << ",\n";
          if (place[2] == 2 * cells[2]) top << found->second << ",\n";
        }
        elements << "\n";
      }
  QuadraticColumn column;
  column.tip = ids.at({0, 0, 2 * cells[2]}) - 1;
  column.text = "*NODE, NSET=NALL\n" + nodes.str() + "*ELEMENT, TYPE=C3D20R, ELSET=EALL\n" + elements.str() +
                "*NSET, NSET=FOOT\n" + foot.str() + "*NSET, NSET=TOP\n" + top.str() + "*NSET, NSET=TIP\n" +
                std::to_string(column.tip + 1) +
                "\n*MATERIAL, NAME=M\n*ELASTIC\n1000., 0.25\n*DENSITY\n2.\n*DAMPING, ALPHA=0., BETA=0.05\n*SOLID "
                "SECTION, ELSET=EALL, MATERIAL=M\n"
                "*BOUNDARY\nFOOT, 1, 3\n";
  return column;
}

// Reduced integration leaves some motions almost without mass, which a sudden force would throw far away. The numbers
// are those of `ccx` 2.20 on this deck; with increments of 1e-3 it prints 0.3722138.
TEST(NonlinearDynamics, SuddenForcesOnReducedElementsAsInCalculiX) {
  const QuadraticColumn column = quadratic_column();
  for (const std::string nlgeom : {"", ", NLGEOM"}) {
    const RanDeck ran = run_deck(column.text + "*STEP, INC=1000" + nlgeom +
                                 "\n*DYNAMIC, DIRECT\n0.05, 0.5\n*CLOAD\nTOP, 1, 0.2\n"
                                 "*NODE PRINT, NSET=TIP, FREQUENCY=1000\nU, V\n*END STEP\n");
    const NodalField& u = ran.kept.states.at(0).back().result.unknowns;
    const std::array<double, 3> printed_u{3.717658e-1, -2.266161e-3, 9.164316e-2};
    for (std::size_t k = 0; k < 3 && nlgeom.empty(); ++k)
      EXPECT_NEAR(u.at(column.tip, static_cast<int>(k)), printed_u[k], 5e-4 * 0.3717) << k;
    EXPECT_NEAR(u.at(column.tip, 0), printed_u[0], 0.05 * printed_u[0]) << nlgeom;
    const auto totals = totals_of(ran, 0);
    EXPECT_GT(totals.at("damping"), 0) << nlgeom;
    EXPECT_LT(totals.at("internal"), totals.at("external")) << nlgeom;
  }
}

/// The complete elliptic integral of the first kind, by the arithmetic-geometric mean.
double elliptic(double k) {
  double a = 1, b = std::sqrt(1 - k * k);
  for (int i = 0; i < 20; ++i) {
    const double mean = (a + b) / 2;
    b = std::sqrt(a * b);
    a = mean;
  }
  return std::acos(-1.0) / (2 * a);
}

/// A bar 1 × 0.2 × 0.1 of two C3D8 along x, which turns about its lower edge at x = 0.
std::string pendulum() {
  std::ostringstream text;
  text << "*NODE, NSET=NALL\n";
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 2; ++j)
      for (int k = 0; k < 2; ++k)
        text << 1 + 4 * i + 2 * j + k << ", " << 0.5 * i << ", " << 0.2 * j << ", " << 0.1 * k << "\n";
  text << "*ELEMENT, TYPE=C3D8, ELSET=EALL\n1, 1, 5, 7, 3, 2, 6, 8, 4\n2, 5, 9, 11, 7, 6, 10, 12, 8\n"
       << "*NSET, NSET=EDGE\n1, 3\n*NSET, NSET=TIP\n9\n*MATERIAL, NAME=M\n*ELASTIC\n1.E7, 0.3\n*DENSITY\n10.\n"
       << "*SOLID SECTION, ELSET=EALL, MATERIAL=M\n*BOUNDARY\nEDGE, 1, 3\n";
  return text.str();
}

// Released where it is horizontal, it swings to the other side: half a period of a rigid pendulum is
// 2 √(I/(m g d)) K(sin ½θ), where θ is the angle of the centre of mass from below.
TEST(NonlinearDynamics, APendulumSwingsToTheOtherSide) {
  const double d = std::hypot(0.5, 0.05), inertia = (1 + 0.01) / 12 + d * d, g = 9.81;
  const double angle = std::acos(-0.05 / d);
  const double half = 2 * std::sqrt(inertia / (g * d)) * elliptic(std::sin(angle / 2));
  std::ostringstream step;
  step.precision(15);
  step << "*STEP, NLGEOM, INC=100000\n*DYNAMIC, DIRECT\n"
       << half / 400 << ", " << half
       << "\n*DLOAD\nEALL, GRAV, 9.81, 0., 0., -1.\n*NODE PRINT, NSET=TIP, FREQUENCY=200\nU, V\n*END STEP\n";
  const RanDeck ran = run_deck(pendulum() + step.str());
  const auto& states = ran.kept.states.at(0);
  const StepResult& last = states.back().result;
  EXPECT_NEAR(1 + last.unknowns.at(8, 0), std::cos(2 * angle), 5e-3);
  EXPECT_NEAR(last.unknowns.at(8, 2), -std::sin(2 * angle), 5e-3);
  EXPECT_NEAR(last.unknowns.at(8, 1), 0, 1e-6);
  // Half way it hangs, and all of m g (d + 0.05) is kinetic energy.
  const StepResponse& response = ran.kept.responses.at(0);
  const double mass = 10 * 0.2 * 0.1;
  EXPECT_NEAR(response.energies[0].second[200], mass * g * (d + 0.05), 0.01 * mass * g * d);
  const auto totals = totals_of(ran, 0);
  EXPECT_LT(std::abs(totals.at("numerical")), 0.01 * mass * g * d);
}

// A free bar that spins about y. Its momentum stays, and so does its energy without numerical damping.
TEST(NonlinearDynamics, AFreeBarSpins) {
  std::string deck = pendulum();
  deck.erase(deck.find("*BOUNDARY"));
  const double omega = 3, period = 2 * std::acos(-1.0) / omega;
  std::ostringstream text;
  text.precision(15);
  text << deck << "*INITIAL CONDITIONS, TYPE=VELOCITY\n";
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 2; ++j)
      for (int k = 0; k < 2; ++k) {
        const int n = 1 + 4 * i + 2 * j + k;
        text << n << ", 1, " << omega * (0.1 * k - 0.05) << "\n" << n << ", 3, " << -omega * (0.5 * i - 0.5) << "\n";
      }
  text << "*STEP, NLGEOM, INC=100000\n*DYNAMIC, DIRECT, ALPHA=0.\n"
       << period / 400 << ", " << period << "\n*NODE PRINT, NSET=TIP, FREQUENCY=100\nU, V\n*END STEP\n";
  const RanDeck ran = run_deck(text.str());
  const auto totals = totals_of(ran, 0);
  EXPECT_NEAR(totals.at("kinetic") + totals.at("internal"), totals.at("initial"), 1e-3 * totals.at("initial"));
  // After one turn it is where it began.
  const StepResult& last = ran.kept.states.at(0).back().result;
  for (int k = 0; k < 3; ++k) EXPECT_NEAR(last.unknowns.at(8, k), 0, 5e-3) << k;
  for (int n = 0; n < 12; ++n) EXPECT_NEAR(last.unknowns.at(n, 1), 0, 1e-6);
}

}  // namespace
}  // namespace voussoir
