#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include <voussoir/framework/io/deck/deck_reader.hpp>
#include <voussoir/framework/io/job/job_file.hpp>
#include <voussoir/jobs/result_files.hpp>

#include "job_models.hpp"
#include "support/expect_error.hpp"

// Transient heat and thermal stress from decks and job files. Numbers without a formula are those that CalculiX 2.20
// prints for the same deck.

namespace voussoir {
namespace {

using testing::expect_error;
using testing::plainly;

struct BarMaterial {
  std::string conductivity = "2.", specific_heat = "3.", density = "4.", more;
};

/// Four C3D8 in a row, 1 × 0.25 × 0.25, with nodes 1 to 4 at x = 0 and 17 to 20 at x = 1; 10 degrees.
std::string heat_bar(const BarMaterial& material = {}) {
  std::ostringstream text;
  text << "*NODE, NSET=NALL\n";
  const double corner[4][2] = {{0, 0}, {.25, 0}, {.25, .25}, {0, .25}};
  for (int i = 0; i <= 4; ++i)
    for (int k = 0; k < 4; ++k)
      text << 4 * i + k + 1 << ", " << 0.25 * i << ", " << corner[k][0] << ", " << corner[k][1] << "\n";
  text << "*ELEMENT, TYPE=C3D8, ELSET=EALL\n";
  for (int e = 0; e < 4; ++e) {
    text << e + 1;
    for (int j = 1; j <= 8; ++j) text << ", " << 4 * e + j;
    text << "\n";
  }
  text << "*NSET, NSET=LEFT\n1, 2, 3, 4\n*NSET, NSET=RIGHT\n17, 18, 19, 20\n*MATERIAL, NAME=M\n*CONDUCTIVITY\n"
       << material.conductivity << "\n*SPECIFIC HEAT\n"
       << material.specific_heat << "\n*DENSITY\n"
       << material.density << "\n"
       << material.more << "*SOLID SECTION, ELSET=EALL, MATERIAL=M\n"
       << "*PHYSICAL CONSTANTS, ABSOLUTE ZERO=-273.15, STEFAN BOLTZMANN=5.67E-8\n"
       << "*INITIAL CONDITIONS, TYPE=TEMPERATURE\nNALL, 10.\n"
       << "*AMPLITUDE, NAME=A\n0., 1., 0.25, 2., 0.3, 0.5\n*AMPLITUDE, NAME=B\n0., 1., 0.5, 2.\n"
       << "*AMPLITUDE, NAME=T, TIME=TOTAL TIME\n0., 1., 0.5, 2.\n";
  return text.str();
}

const std::string heat_step = "*STEP\n*HEAT TRANSFER, DIRECT\n";
const std::string end_step = "*NODE PRINT, NSET=NALL\nNT\n*END STEP\n";

class KeptHeat : public StepReceiver {
 public:
  void step(std::size_t step, StepResult result) override { results[step] = std::move(result); }
  void modes(std::size_t, std::shared_ptr<const ModeSet>) override {}
  void state(std::size_t step, StepState state) override { states[step].push_back(std::move(state)); }
  void end(std::size_t step, StepResponse response) override { responses[step] = std::move(response); }
  /// The temperature or another unknown of a node at the end of a step.
  double at_end(std::size_t step, int node, const char* unknown = "T") const {
    const StepResult& last = results.contains(step) ? results.at(step) : states.at(step).back().result;
    return last.unknowns.at(node - 1, unknown);
  }
  std::map<std::size_t, StepResult> results;
  std::map<std::size_t, std::vector<StepState>> states;
  std::map<std::size_t, StepResponse> responses;
};

KeptHeat heated(const std::string& deck) {
  Job job = read_deck_text(deck, "test.inp");
  KeptHeat kept;
  run_job(job, plainly(), {}, kept);
  return kept;
}

/// Temperatures of nodes 1, 9 and 17 (or `nodes`) of each state of a step.
void expect_temperatures(const KeptHeat& kept, std::size_t step, const std::vector<std::array<double, 3>>& wanted,
                         const std::array<int, 3>& nodes = {1, 9, 17}, double tolerance = 1e-5) {
  const auto& states = kept.states.at(step);
  ASSERT_EQ(states.size(), wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i)
    for (std::size_t k = 0; k < 3; ++k)
      EXPECT_NEAR(states[i].result.unknowns.at(nodes[k] - 1, 0), wanted[i][k], tolerance * std::abs(wanted[i][k]))
          << "step " << step + 1 << ", state " << i + 1 << ", node " << nodes[k];
}

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

const std::string elastic = "*ELASTIC\n1000., 0.3\n*EXPANSION, ZERO=10.\n1.E-4\n";
const std::string stress_supports = "*BOUNDARY\nLEFT, 1, 1\n1, 2, 3\n2, 3, 3\n";

// CalculiX's transient steps have inertia, which this density makes small, and numerical damping: it has settled at the
// times that are compared.
TEST(TransientHeatSteps, UncoupledStepsAsInCalculiX) {
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

TEST(TransientHeatSteps, SteadyUncoupledStepAsInCalculiX) {
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
TEST(TransientHeatSteps, StressOfARestrainedBar) {
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
TEST(TransientHeatSteps, ManyStatesOfStress) {
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

TEST(TransientHeatSteps, TimePointsAndWhatFollows) {
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

class TransientHeatJob : public testing::FolderTest {
 protected:
  /// The bar of heat_bar() as one row of four hexahedra, with a model of heat and one of statics.
  Job read(const std::string& steps) {
    std::ostringstream mesh;
    mesh << "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n3\n2 1 \"left\"\n2 2 \"right\"\n3 3 "
            "\"bar\"\n$EndPhysicalNames\n$Nodes\n20\n";
    const double corner[4][2] = {{0, 0}, {.25, 0}, {.25, .25}, {0, .25}};
    for (int i = 0; i <= 4; ++i)
      for (int k = 0; k < 4; ++k)
        mesh << 4 * i + k + 1 << " " << 0.25 * i << " " << corner[k][0] << " " << corner[k][1] << "\n";
    mesh << "$EndNodes\n$Elements\n6\n1 3 2 1 1 1 2 3 4\n2 3 2 2 2 17 18 19 20\n";
    for (int e = 0; e < 4; ++e) {
      mesh << 3 + e << " 5 2 3 3";
      for (int j = 1; j <= 8; ++j) mesh << " " << 4 * e + j;
      mesh << "\n";
    }
    mesh << "$EndElements\n";
    std::ofstream(folder_ / "bar.msh") << mesh.str();
    std::ofstream(folder_ / "bar.json") << R"({"mesh": "bar.msh", "materials": {"m": {"conductivity": 2,
 "specific_heat": 3, "density": 4, "young": 1000, "poisson": 0, "expansion": 1e-4}}, "initial_temperature": 10,
 "sections": [{"group": "bar", "physics": "heat", "material": "m"}, {"group": "bar", "physics": "solid", "material": "m"}],
 "supports": [{"name": "hot", "group": "left", "T": 50}, {"name": "foot", "group": "left", "ux": 0},
              {"name": "across", "group": "bar", "uy": 0, "uz": 0}],
 "loads": [{"name": "air", "group": "right", "convection": {"film": 5, "sink": 100}},
           {"name": "fire", "group": "left", "radiation": {"emissivity": 0.8, "sink": 300, "stefan_boltzmann": 5.67e-8,
            "absolute_zero": -273.15}},
           {"name": "source", "group": "bar", "heat_source": 60},
           {"name": "push", "group": "right", "pressure": -2}],
 "steps": )" << steps << "}";
    return read_job_file(folder_ / "bar.json");
  }
  KeptHeat run(const std::string& steps) {
    Job job = read(steps);
    KeptHeat kept;
    run_job(job, plainly(), {}, kept);
    return kept;
  }
};

TEST_F(TransientHeatJob, AmplitudesAreThoseOfDecks) {
  const KeptHeat kept = run(R"([{"name": "heating", "analysis": "transient_heat", "increment": 0.1, "period": 0.4,
    "method": "backward-euler", "supports": [], "loads": ["air", "fire"], "states_every": 1,
    "amplitudes": {"air": [[0, 1], [0.25, 2], [0.3, 0.5]], "fire": [[0, 1], [0.25, 2], [0.3, 0.5]]}}])");
  expect_temperatures(kept, 0,
                      {{308.1486, 12.30102, 38.59671},
                       {481.7928, 24.05532, 61.40749},
                       {235.1546, 46.38107, 46.26198},
                       {175.6375, 66.62125, 42.94112}});
}

TEST_F(TransientHeatJob, StepsContinueAndSupportsHaveAmplitudes) {
  const KeptHeat kept = run(R"([
   {"analysis": "transient_heat", "increment": 0.1, "period": 0.2, "method": "backward-euler", "loads": [],
    "support_amplitudes": {"hot": [[0, 1], [0.5, 2]]}},
   {"analysis": "transient_heat", "increment": 0.1, "period": 0.2, "continue": "yes", "method": "backward-euler",
    "loads": [], "support_amplitudes": {"hot": [[0, 1.4]]}},
   {"analysis": "transient_heat", "increment": 0.1, "period": 0.2, "loads": [], "method": "backward-euler",
    "supports": []}])");
  const KeptHeat deck = heated(heat_bar() + heat_step + "0.1, 0.2\n*BOUNDARY, AMPLITUDE=B\nLEFT, 11, 11, 50.\n" +
                               end_step + heat_step + "0.1, 0.2\n" + end_step);
  for (int n = 1; n <= 20; ++n) {
    EXPECT_NEAR(kept.at_end(0, n), deck.at_end(0, n), 1e-9);
    EXPECT_NEAR(kept.at_end(1, n), deck.at_end(1, n), 1e-9);
    EXPECT_NEAR(kept.at_end(2, n), 10, 1e-9);  // it does not continue
  }
  EXPECT_NEAR(kept.states.at(1).back().time, 0.4, 1e-12);
}

TEST_F(TransientHeatJob, MethodsConvergeToTheSame) {
  // 60 t / 12 for all three.
  for (const char* method : {"backward-euler", "crank-nicolson", "bdf2"}) {
    const KeptHeat kept =
        run(std::string(R"([{"analysis": "transient_heat", "increment": 0.1, "period": 1, "supports": [],
      "loads": {"source": 2}, "method": ")") +
            method + "\"}]");
    EXPECT_NEAR(kept.at_end(0, 9), 20, 1e-8) << method;
  }
}

TEST_F(TransientHeatJob, ThermalStressAtStates) {
  const KeptHeat kept = run(R"([{"name": "heating", "analysis": "transient_heat", "increment": 0.1, "period": 1,
    "supports": [], "loads": ["source"]},
   {"name": "stress", "analysis": "thermal_stress", "temperatures_from": "heating", "states_at": [0.25, 1],
    "amplitudes": {"push": [[0, 0], [1, 1]]}},
   {"name": "end", "analysis": "static", "temperatures_from": "heating", "loads": []}])");
  const auto& states = kept.states.at(1);
  ASSERT_EQ(states.size(), 2u);
  for (const StepState& state : states)
    EXPECT_NEAR(state.result.unknowns.at(16, 0), 1e-4 * 5 * state.time + 2.0 / 1000 * state.time, 1e-9) << state.time;
  EXPECT_NEAR(states[0].time, 0.25, 1e-12);
  EXPECT_NEAR(kept.at_end(2, 17, "ux"), 5e-4, 1e-9);
  const StepResponse& response = kept.responses.at(1);
  ASSERT_FALSE(response.peaks.empty());
  EXPECT_EQ(response.peaks[0].quantity, "ux");
  EXPECT_NEAR(response.peaks[0].value, 2.5e-3, 1e-9);
  EXPECT_NEAR(response.peaks[0].at, 1, 1e-12);
}

TEST_F(TransientHeatJob, RefusesByKey) {
  const auto refuse = [&](const std::string& step, std::initializer_list<std::string> pieces) {
    expect_error(ErrorCode::bad_input, pieces, [&] { run("[{\"analysis\": \"transient_heat\", " + step + "}]"); });
  };
  refuse(R"("increment": 0.1)", {"bar.json", "period"});
  refuse(R"("increment": 2, "period": 1)", {"bar.json", "longer than the period"});
  refuse(R"("increment": 0.1, "period": 1, "tolerance": 1e-3)", {"bar.json", "automatic"});
  refuse(R"("increment": 0.1, "period": 1, "largest_change": 1)", {"bar.json", "automatic"});
  refuse(R"("increment": 0.1, "period": 1, "continue": "yes")", {"bar.json", "no heat step"});
  refuse(R"("increment": 0.1, "period": 1, "method": "hht")", {"bar.json", "method"});
  refuse(R"("increment": 0.1, "period": 1, "states_at": [2])", {"bar.json", "not in the step"});
  refuse(R"("increment": 0.1, "period": 1, "states_at": [0.2], "states_every": 2)", {"bar.json", "either"});
  refuse(R"("increment": 0.1, "period": 1, "amplitudes": {"push": [[0, 1]]})", {"bar.json", "no load 'push'"});
  refuse(R"("increment": 0.1, "period": 1, "amplitudes": {"fire": [[0, 1], [1, -1]]})", {"bar.json", "absolute_zero"});
  refuse(R"("increment": 0.1, "period": 1, "supports": [], "support_amplitudes": {"hot": [[0, 1]]})",
         {"bar.json", "does not use"});
  expect_error(ErrorCode::bad_input, {"bar.json", "one state"}, [&] {
    run(R"([{"name": "h", "analysis": "heat"}, {"analysis": "thermal_stress", "temperatures_from": "h"}])");
  });
}

TEST_F(TransientHeatJob, FilesHaveTheSeries) {
  BarMaterial material;
  material.more = elastic;
  Job job = read_deck_text(
      heat_bar(material) + stress_supports +
          "*STEP\n*UNCOUPLED TEMPERATURE-DISPLACEMENT, DIRECT\n0.1, 0.3\n*BOUNDARY\nRIGHT, 11, 11, 110.\n"
          "*NODE PRINT, NSET=RIGHT\nNT, U\n*EL PRINT, ELSET=EALL\nHFL, S\n*END STEP\n"
          "*STEP\n*STATIC\n*NODE PRINT, NSET=RIGHT\nNT\n*END STEP\n",
      "test.inp");
  job.name = "fire";
  OutputOptions options;
  options.folder = folder_ / "out";
  options.frd = true;
  std::filesystem::create_directories(options.folder);
  ResultFiles files(job, options);
  const JobResult result = run_job(job, plainly(), {}, files);
  files.finish(result, {});
  for (const char* name :
       {"fire_step1_heat.csv", "fire_step1_history.csv", "fire_step1_peaks.csv", "fire_step1_times.pvd",
        "fire_step1_time_0003.vtu", "fire_step1_NT_RIGHT.csv", "fire_step1_HFL_EALL.csv", "fire_step2_times.pvd",
        "fire_step2_time_0003.vtu", "fire_step2_U_RIGHT.csv", "fire_step2_S_EALL.csv", "fire_step3_NT_RIGHT.csv",
        "fire.frd", "fire.dat"})
    EXPECT_TRUE(std::filesystem::exists(options.folder / name)) << name;
  EXPECT_FALSE(std::filesystem::exists(options.folder / "fire_step2_energies.csv"));
  const auto json = nlohmann::json::parse(files.json());
  EXPECT_EQ(json["steps"][0]["procedure"], "transient heat");
  EXPECT_EQ(json["steps"][1]["procedure"], "thermal stress");
  EXPECT_EQ(json["steps"][1]["name"], "step 1, stress");
  EXPECT_EQ(json["steps"][2]["name"], "step 2");
  EXPECT_GT(json["steps"][0]["heat"]["stored"].get<double>(), 0);
  EXPECT_EQ(json["steps"][0]["integration"]["increments"].get<double>(), 3);
  // The static step has the temperatures at the end of the transient one.
  EXPECT_NE(testing::read_all(options.folder / "fire_step3_NT_RIGHT.csv").find("110"), std::string::npos);
  EXPECT_NE(testing::read_all(options.folder / "fire_step2_time_0003.vtu").find("temperature"), std::string::npos);
}

}  // namespace
}  // namespace voussoir
