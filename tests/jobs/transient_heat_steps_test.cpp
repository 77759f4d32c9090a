#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include "heat_bar.hpp"
#include "support/expect_error.hpp"

// Transient heat from decks. Numbers without a formula are those that CalculiX 2.20
// prints for the same deck.

namespace voussoir {
namespace {

using testing::BarMaterial;
using testing::elastic;
using testing::end_step;
using testing::expect_error;
using testing::expect_temperatures;
using testing::heat_bar;
using testing::heat_step;
using testing::heated;
using testing::KeptHeat;
using testing::plainly;

/// Solves three diagonals of five unknowns, of which the first is prescribed.
void solve_bar(const std::array<double, 5>& lower, std::array<double, 5> middle, std::array<double, 5> upper,
               std::array<double, 5> right, double first, std::array<double, 5>& t) {
  middle[0] = 1;
  upper[0] = 0;
  right[0] = first;
  for (std::size_t i = 1; i < 5; ++i) {
    const double factor = lower[i] / middle[i - 1];
    middle[i] -= factor * upper[i - 1];
    right[i] -= factor * right[i - 1];
  }
  t[4] = right[4] / middle[4];
  for (std::size_t i = 4; i-- > 0;) t[i] = (right[i] - upper[i] * t[i + 1]) / middle[i];
}

/// The bar in one dimension by backward Euler with increments of 0.1: five unknowns, the first of them prescribed, and
/// a heat flow into the last.
std::vector<std::array<double, 3>> bar_of_five(const std::vector<double>& prescribed, double flow) {
  const double conduction = 2 * 0.0625 / 0.25, capacity = 12 * 0.0625 * 0.25 / 6 / 0.1;
  std::array<double, 5> t{};
  t.fill(10);
  std::vector<std::array<double, 3>> found;
  for (const double left : prescribed) {
    std::array<double, 5> lower{}, middle{}, upper{}, right{};
    for (std::size_t e = 0; e < 4; ++e) {
      middle[e] += conduction + 2 * capacity;
      middle[e + 1] += conduction + 2 * capacity;
      upper[e] += capacity - conduction;
      lower[e + 1] += capacity - conduction;
      right[e] += capacity * (2 * t[e] + t[e + 1]);
      right[e + 1] += capacity * (2 * t[e + 1] + t[e]);
    }
    right[4] += flow;
    solve_bar(lower, middle, upper, right, left, t);
    found.push_back({t[0], t[2], t[4]});
  }
  return found;
}

// Prescribed temperatures that jump, that have an amplitude, and that stay where the amplitude has left them.
TEST(TransientHeatSteps, SequencesOfSteps) {
  const KeptHeat kept =
      heated(heat_bar() + heat_step + "0.1, 0.4\n*BOUNDARY\nLEFT, 11, 11, 100.\n*CFLUX\nRIGHT, 11, 3.\n" + end_step +
             heat_step + "0.1, 0.2\n*BOUNDARY\nLEFT, 11, 11, 200.\n" + end_step + heat_step +
             "0.1, 0.2\n*BOUNDARY, AMPLITUDE=B\nLEFT, 11, 11, 50.\n" + end_step + heat_step + "0.1, 0.2\n" + end_step);
  const auto wanted = bar_of_five({100, 100, 100, 100, 200, 200, 60, 70, 70, 70}, 12);
  expect_temperatures(kept, 0, {wanted.begin(), wanted.begin() + 4}, {1, 9, 17}, 1e-9);
  expect_temperatures(kept, 1, {wanted.begin() + 4, wanted.begin() + 6}, {1, 9, 17}, 1e-9);
  expect_temperatures(kept, 2, {wanted.begin() + 6, wanted.begin() + 8}, {1, 9, 17}, 1e-9);
  expect_temperatures(kept, 3, {wanted.begin() + 8, wanted.end()}, {1, 9, 17}, 1e-9);
  EXPECT_NEAR(kept.states.at(3).back().time, 1.0, 1e-12);
}

TEST(TransientHeatSteps, FilmsAndRadiationWithAmplitudesAsInCalculiX) {
  const KeptHeat kept =
      heated(heat_bar() + heat_step +
             "0.1, 0.4\n*FILM, AMPLITUDE=A\n4, F2, 100., 5.\n*RADIATE, AMPLITUDE=A\n1, R1, 300., 0.8\n" + end_step +
             heat_step + "0.1, 0.2\n*DFLUX, AMPLITUDE=T\n2, BF, 40.\n" + end_step +
             "*STEP\n*HEAT TRANSFER, STEADY STATE\n1., 1.\n*CFLUX\n9, 11, 2.\n*END STEP\n" + heat_step +
             "0.05, 0.1\n*FILM\n4, F2, 20., 7.\n" + end_step);
  expect_temperatures(kept, 0,
                      {{308.1486, 12.30102, 38.59671},
                       {481.7928, 24.05532, 61.40749},
                       {235.1546, 46.38107, 46.26198},
                       {175.6375, 66.62125, 42.94112}});
  expect_temperatures(kept, 1, {{155.5352, 77.84005, 44.27696}, {146.8542, 83.63877, 47.46545}});
  EXPECT_NEAR(kept.at_end(2, 1), 142.8819, 1e-3);
  EXPECT_NEAR(kept.at_end(2, 9), 121.7459, 1e-3);
  EXPECT_NEAR(kept.at_end(2, 17), 80.01491, 1e-3);
  // It begins with the temperatures of the steady step.
  expect_temperatures(kept, 3, {{142.8819, 121.7359, 72.28928}, {142.8822, 121.8153, 68.01395}});
}

/// A table of a material over the temperature.
double value_of(const std::vector<std::pair<double, double>>& table, double t) { return Amplitude(table).at(t); }

/// The bar in one dimension with conductivity, specific heat and density over the temperature, by backward Euler with
/// increments of 0.05 and the properties at the end of the increment: 150 degrees on the left, 10 per area out on the
/// right.
std::array<double, 5> bar_with_tables() {
  std::array<double, 5> t{150, 10, 10, 10, 10};
  const double at[2] = {0.5 - 0.5 / std::sqrt(3.0), 0.5 + 0.5 / std::sqrt(3.0)};
  for (int step = 0; step < 10; ++step) {
    const std::array<double, 5> old = t;
    for (int iteration = 0; iteration < 60; ++iteration) {
      std::array<double, 5> lower{}, middle{}, upper{}, right{};
      for (std::size_t e = 0; e < 4; ++e)
        for (const double x : at) {
          const double now = (1 - x) * t[e] + x * t[e + 1], before = (1 - x) * old[e] + x * old[e + 1];
          const double k = value_of({{0, 2}, {100, 4}}, now) / 0.25 / 2;
          const double c =
              value_of({{0, 3}, {50, 5}, {200, 6}}, now) * value_of({{0, 4}, {100, 3}}, now) * 0.25 / 2 / 0.05;
          middle[e] += k + c * (1 - x) * (1 - x);
          middle[e + 1] += k + c * x * x;
          upper[e] += c * x * (1 - x) - k;
          lower[e + 1] += c * x * (1 - x) - k;
          right[e] += c * (1 - x) * before;
          right[e + 1] += c * x * before;
        }
      right[4] -= 10;
      solve_bar(lower, middle, upper, right, 150, t);
    }
  }
  return t;
}

// CalculiX takes the properties of C3D8 at other points, and has 99.69, 55.71 and 16.10 on this mesh.
TEST(TransientHeatSteps, TablesOfAllProperties) {
  BarMaterial material;
  material.conductivity = "2., 0.\n4., 100.";
  material.specific_heat = "3., 0.\n5., 50.\n6., 200.";
  material.density = "4., 0.\n3., 100.";
  const KeptHeat kept = heated(heat_bar(material) + "*INITIAL CONDITIONS, TYPE=TEMPERATURE\nLEFT, 150.\n" + heat_step +
                               "0.05, 0.5\n*BOUNDARY\nLEFT, 11, 11, 150.\n*DFLUX\n4, S2, -10.\n" + end_step);
  const std::array<double, 5> wanted = bar_with_tables();
  for (int i = 0; i < 5; ++i) EXPECT_NEAR(kept.at_end(0, 4 * i + 1), wanted[static_cast<std::size_t>(i)], 1e-4) << i;
}

// A source without any other heat: T = 10 + q t / (ρ c), whatever the increments.
TEST(TransientHeatSteps, ASourceHeatsUniformly) {
  for (const char* card : {"*HEAT TRANSFER, DIRECT\n0.3, 1.\n", "*HEAT TRANSFER\n0.01, 1.\n",
                           "*HEAT TRANSFER, DELTMX=0.4\n0.01, 1., 1e-6, 0.5\n"}) {
    const KeptHeat kept = heated(heat_bar() + "*STEP\n" + card + "*DFLUX\nEALL, BF, 60.\n" + end_step);
    for (int n = 1; n <= 20; ++n) EXPECT_NEAR(kept.at_end(0, n), 15, 1e-8) << card;
    std::map<std::string, double> totals(kept.responses.at(0).totals.begin(), kept.responses.at(0).totals.end());
    EXPECT_NEAR(totals.at("stored"), 60 * 0.0625, 1e-8);
    EXPECT_NEAR(totals.at("missing"), 0, 1e-9);
  }
}

TEST(TransientHeatSteps, DeltmxLimitsTheChange) {
  const KeptHeat kept =
      heated(heat_bar() + "*STEP\n*HEAT TRANSFER, DELTMX=0.4\n0.01, 1.\n*DFLUX\nEALL, BF, 60.\n" + end_step);
  double before = 10;
  for (const StepState& state : kept.states.at(0)) {
    EXPECT_LE(state.result.unknowns.at(0, 0) - before, 0.4 * (1 + 1e-9));
    before = state.result.unknowns.at(0, 0);
  }
  EXPECT_GE(kept.states.at(0).size(), 13u);
}

// Conductivity so high that the body has one temperature: T' = −h A (T − T_a)/(ρ c V) by backward Euler.
TEST(TransientHeatSteps, ALumpedBodyFollowsAFilmWhoseSinkHasAnAmplitude) {
  BarMaterial material;
  material.conductivity = "1.E8";
  const KeptHeat kept =
      heated(heat_bar(material) + heat_step + "0.05, 0.6\n*FILM, AMPLITUDE=A\n4, F2, 100., 12.\n" + end_step);
  const auto factor = [](double t) { return t < 0.25 ? 1 + 4 * t : t < 0.3 ? 2 - 30 * (t - 0.25) : 0.5; };
  double temperature = 10;
  const double rate = 12.0 / 12.0;  // h A / (ρ c V)
  for (std::size_t i = 0; i < 12; ++i) {
    const double t = 0.05 * static_cast<double>(i + 1);
    temperature = (temperature + 0.05 * rate * 100 * factor(t)) / (1 + 0.05 * rate);
    EXPECT_NEAR(kept.states.at(0)[i].result.unknowns.at(8, 0), temperature, 1e-4) << t;
  }
}

// Two steps are one step.
TEST(TransientHeatSteps, AStepBeginsWhereTheOneBeforeEnded) {
  const std::string loads = "*BOUNDARY\nLEFT, 11, 11, 100.\n*RADIATE\n4, R2, 900., 1.\n";
  const KeptHeat one = heated(heat_bar() + heat_step + "0.1, 0.6\n" + loads + end_step);
  const KeptHeat two =
      heated(heat_bar() + heat_step + "0.1, 0.2\n" + loads + end_step + heat_step + "0.1, 0.4\n" + end_step);
  for (int n = 1; n <= 20; ++n) EXPECT_NEAR(one.at_end(0, n), two.at_end(1, n), 1e-8 * std::abs(one.at_end(0, n)));
}

// The temperature of a body that nothing happens to, and of one whose surroundings have its temperature.
TEST(TransientHeatSteps, NothingHappens) {
  for (const char* loads : {"", "*RADIATE\n1, R1, 10., 1.\n4, R2, 10., 1.\n*FILM\n2, F3, 10., 4.\n",
                            "*RADIATE, AMPLITUDE=T\n1, R1, 0., 0.\n"}) {
    const KeptHeat kept = heated(heat_bar() + "*STEP\n*HEAT TRANSFER\n0.1, 1.\n" + std::string(loads) + end_step);
    for (int n = 1; n <= 20; ++n) EXPECT_NEAR(kept.at_end(0, n), 10, 1e-9);
  }
}

/// NAFEMS T3: a wall of 0.1 with 0 °C on one side and 100 sin(π t/40) on the other; 36.60 °C at 0.08 after 32 s.
std::string nafems_t3(const std::string& type, const std::string& procedure) {
  const int cells = type == "C3D8" ? 20 : 10, points = 2 * cells + 1;
  const auto id = [&](int i, int j, int k) { return 1 + i + points * (j + 3 * k); };
  std::ostringstream text;
  text << "*NODE, NSET=NALL\n";
  for (int k = 0; k < 3; ++k)
    for (int j = 0; j < 3; ++j)
      for (int i = 0; i < points; ++i)
        if (type != "C3D8" || (i % 2 == 0 && j % 2 == 0 && k % 2 == 0))
          text << id(i, j, k) << ", " << 0.1 * i / (points - 1) << ", " << 0.005 * j << ", " << 0.005 * k << "\n";
  text << "*ELEMENT, TYPE=" << type << ", ELSET=EALL\n";
  const int corner[8][3] = {{0, 0, 0}, {2, 0, 0}, {2, 2, 0}, {0, 2, 0}, {0, 0, 2}, {2, 0, 2}, {2, 2, 2}, {0, 2, 2}};
  const int edge[12][2] = {{0, 1}, {1, 2}, {2, 3}, {3, 0}, {4, 5}, {5, 6},
                           {6, 7}, {7, 4}, {0, 4}, {1, 5}, {2, 6}, {3, 7}};
  const int tet[6][4] = {{0, 1, 2, 6}, {0, 2, 3, 6}, {0, 3, 7, 6}, {0, 7, 4, 6}, {0, 4, 5, 6}, {0, 5, 1, 6}};
  const int tet_edge[6][2] = {{0, 1}, {1, 2}, {2, 0}, {0, 3}, {1, 3}, {2, 3}};
  int number = 0;
  for (int c = 0; c < cells; ++c) {
    const auto at = [&](int a, int b) {  // the node of a corner, or between two
      return id(2 * c + (corner[a][0] + corner[b][0]) / 2, (corner[a][1] + corner[b][1]) / 2,
                (corner[a][2] + corner[b][2]) / 2);
    };
    if (type == "C3D10") {
      for (const auto& t : tet) {
        text << ++number;
        for (int a : t) text << ", " << at(a, a);
        for (const auto& e : tet_edge) text << ", " << at(t[e[0]], t[e[1]]);
        text << "\n";
      }
      continue;
    }
    text << ++number;
    for (int a = 0; a < 8; ++a) text << ", " << at(a, a);
    if (type != "C3D8")
      for (int e = 0; e < 12; ++e) text << (e == 6 ? ",\n" : ", ") << at(edge[e][0], edge[e][1]);
    text << "\n";
  }
  std::string cold, hot;
  for (int k = 0; k < 3; ++k)
    for (int j = 0; j < 3; ++j) {
      if (type == "C3D8" && (j == 1 || k == 1)) continue;
      cold += std::to_string(id(0, j, k)) + ",\n";
      hot += std::to_string(id(points - 1, j, k)) + ",\n";
    }
  text << "*NSET, NSET=COLD\n"
       << cold << "*NSET, NSET=HOT\n"
       << hot << "*NSET, NSET=PROBE\n"
       << id(8 * cells / 5, 0, 0)
       << "\n*MATERIAL, NAME=M\n*CONDUCTIVITY\n35.\n*SPECIFIC HEAT\n440.5\n*DENSITY\n7200.\n"
          "*SOLID SECTION, ELSET=EALL, MATERIAL=M\n*AMPLITUDE, NAME=SINE\n";
  for (int i = 0; i <= 160; ++i) text << 0.2 * i << ", " << std::sin(std::acos(-1.0) * 0.2 * i / 40) << ",\n";
  text << "*STEP\n"
       << procedure << "*BOUNDARY\nCOLD, 11, 11, 0.\n*BOUNDARY, AMPLITUDE=SINE\nHOT, 11, 11, 100.\n"
       << "*NODE PRINT, NSET=PROBE\nNT\n*NODE FILE, FREQUENCY=1000\nNT\n*END STEP\n";
  return text.str();
}

TEST(TransientHeatSteps, NafemsT3) {
  for (const char* type : {"C3D8", "C3D20", "C3D20R", "C3D10"})
    for (const char* procedure : {"*HEAT TRANSFER, DIRECT\n0.2, 32.\n", "*HEAT TRANSFER\n0.1, 32., 1e-4, 0.4\n"}) {
      Job job = read_deck_text(nafems_t3(type, procedure), "t3.inp");
      KeptHeat kept;
      run_job(job, plainly(), {}, kept);
      const auto node = job.domains[0]->node_set("PROBE")[0];
      EXPECT_NEAR(kept.states.at(0).back().result.unknowns.at(node, 0), 36.60, 0.37) << type << procedure;
    }
}

TEST(TransientHeatSteps, RefusesByNameAndLine) {
  BarMaterial material;
  material.more = elastic;
  const auto refuse = [&](const std::string& text, std::initializer_list<std::string> pieces,
                          ErrorCode code = ErrorCode::bad_input) {
    expect_error(code, pieces, [&] { heated(heat_bar(material) + text + "*END STEP\n"); });
  };
  refuse("*STEP\n*HEAT TRANSFER\n", {"test.inp:", "data line"});
  refuse("*STEP\n*HEAT TRANSFER\n0., 1.\n", {"test.inp:", "positive"});
  refuse("*STEP\n*HEAT TRANSFER\n2., 1.\n", {"test.inp:", "longer than the period"});
  refuse("*STEP\n*HEAT TRANSFER, END=SS\n0.1, 1.\n", {"test.inp:", "END=SS"});
  refuse("*STEP\n*HEAT TRANSFER, DELTMX=0.\n0.1, 1.\n", {"test.inp:", "DELTMX"});
  refuse("*STEP\n*HEAT TRANSFER, FREQUENCY\n", {"test.inp:", "FREQUENCY"});
  refuse("*STEP, AMPLITUDE=RAMP\n*HEAT TRANSFER\n0.1, 1.\n", {"test.inp:", "RAMP"});
  refuse("*STEP\n*HEAT TRANSFER\n0.1, 1.\n*CLOAD\n17, 1, 1.\n", {"test.inp:", "*CLOAD"});
  refuse("*STEP\n*HEAT TRANSFER\n0.1, 1.\n*BOUNDARY, FIXED\nLEFT, 11\n", {"test.inp:", "FIXED"});
  refuse(
      "*AMPLITUDE, NAME=COLD\n0., 1., 1., -1.\n*STEP\n*HEAT TRANSFER\n0.1, 1.\n*RADIATE, AMPLITUDE=COLD\n4, R2, 300., "
      "1.\n",
      {"test.inp:", "ABSOLUTE ZERO"});
  refuse("*BOUNDARY\nNALL, 1, 3\n*STEP\n*STATIC\n*TEMPERATURE\nNALL, 30.\n*END STEP\n*STEP\n*HEAT TRANSFER\n0.1, 1.\n",
         {"test.inp:", "*TEMPERATURE acts in a step before"});
  refuse("*STEP\n*UNCOUPLED TEMPERATURE-DISPLACEMENT\n0.1, 1.\n*TEMPERATURE\nNALL, 30.\n",
         {"test.inp:", "*TEMPERATURE"});
  refuse("*STEP, NLGEOM\n*UNCOUPLED TEMPERATURE-DISPLACEMENT\n0.1, 1.\n", {"test.inp:", "NLGEOM"});
  refuse("*STEP, NLGEOM\n*COUPLED TEMPERATURE-DISPLACEMENT\n0.1, 1.\n", {"test.inp:", "NLGEOM"});
  for (const auto& [card, name] : {std::pair<std::string, std::string>{"*DENSITY\n4.\n", "'M' has no *DENSITY"},
                                   {"*SPECIFIC HEAT\n3.\n", "'M' has no *SPECIFIC HEAT"}}) {
    std::string without = heat_bar();
    without.replace(without.find(card), card.size(), "");
    expect_error(ErrorCode::bad_input, {"test.inp:", name},
                 [&] { read_deck_text(without + "*STEP\n*HEAT TRANSFER\n0.1, 1.\n*END STEP\n", "test.inp"); });
  }
}

}  // namespace
}  // namespace voussoir
