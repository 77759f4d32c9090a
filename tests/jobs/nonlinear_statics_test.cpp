#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <sstream>

#include <voussoir/framework/io/deck/deck_reader.hpp>

#include "column_deck.hpp"
#include "support/expect_error.hpp"

// Decks with NLGEOM. Numbers of CalculiX are those of version 2.20 with tight tolerances (*CONTROLS, PARAMETERS=FIELD).

namespace voussoir {
namespace {

using testing::column_deck;
using testing::expect_error;
using testing::RanDeck;
using testing::run_deck;

const std::string nonlinear = "*STEP, NLGEOM, INC=1000\n*STATIC\n0.25, 1.\n";
const std::string printed = "*NODE PRINT, NSET=TIP\nU\n*END STEP\n";

/// Displacements of node 13 at the end of a step.
std::array<double, 3> tip_of(const RanDeck& ran, std::size_t step = 0) {
  const NodalField& u = ran.kept.states.at(step).back().result.unknowns;
  return {u.at(12, 0), u.at(12, 1), u.at(12, 2)};
}

void expect_tip(const RanDeck& ran, const std::array<double, 3>& u, double tolerance, std::size_t step = 0) {
  const std::array<double, 3> found = tip_of(ran, step);
  for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(found[k], u[k], tolerance * std::hypot(u[0], u[1], u[2])) << k;
}

std::map<std::string, double> counts_of(const RanDeck& ran, std::size_t step = 0) {
  const auto& counts = ran.kept.responses.at(step).counts;
  return {counts.begin(), counts.end()};
}

/// A unit cube of one element, held so that it can stretch along x, with the face x = 1 moved by `pull`.
std::string cube(const std::string& type, double pull, const std::string& more = "") {
  static const double corners[8][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0},
                                       {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}};
  static const int edges[12][2] = {{0, 1}, {1, 2}, {2, 3}, {3, 0}, {4, 5}, {5, 6},
                                   {6, 7}, {7, 4}, {0, 4}, {1, 5}, {2, 6}, {3, 7}};
  std::vector<std::array<double, 3>> nodes;
  for (const auto& c : corners) nodes.push_back({c[0], c[1], c[2]});
  if (type != "C3D8")
    for (const auto& e : edges)
      nodes.push_back({(corners[e[0]][0] + corners[e[1]][0]) / 2, (corners[e[0]][1] + corners[e[1]][1]) / 2,
                       (corners[e[0]][2] + corners[e[1]][2]) / 2});
  std::ostringstream text, zero[3], moved;
  text << "*NODE, NSET=NALL\n";
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    text << n + 1 << ", " << nodes[n][0] << ", " << nodes[n][1] << ", " << nodes[n][2] << "\n";
    for (std::size_t k = 0; k < 3; ++k)
      if (nodes[n][k] == 0) zero[k] << n + 1 << ", " << k + 1 << ", " << k + 1 << "\n";
    if (nodes[n][0] == 1) moved << n + 1 << ",\n";
  }
  text << "*ELEMENT, TYPE=" << type << ", ELSET=EALL\n1";
  for (std::size_t n = 0; n < nodes.size(); ++n) text << "," << (n == 10 ? "\n" : " ") << n + 1;
  text << "\n*NSET, NSET=FACE\n"
       << moved.str() << "*MATERIAL, NAME=M\n*ELASTIC\n1000., 0.3\n*SOLID SECTION, ELSET=EALL, MATERIAL=M\n*BOUNDARY\n"
       << zero[0].str() << zero[1].str() << zero[2].str() << more
       << "*STEP, NLGEOM\n*STATIC\n0.5, 1.\n*BOUNDARY\nFACE, 1, 1, " << pull
       << "\n*EL PRINT, ELSET=EALL\nS\n*END STEP\n";
  return text.str();
}

// Uniaxial stress of the St Venant–Kirchhoff law: P = λ E (λ² − 1)/2, and the sides shrink to √(1 − ν (λ² − 1)).
TEST(NonlinearStatics, UniaxialStretch) {
  for (const char* type : {"C3D8", "C3D20", "C3D20R"})
    for (const auto& [stretch, nominal] : {std::pair(0.8, -144.0), {1.1, 115.5}, {1.2, 264.0}, {1.5, 937.5}}) {
      SCOPED_TRACE(std::string(type) + " " + std::to_string(stretch));
      const RanDeck ran = run_deck(cube(type, stretch - 1));
      const StepResult& result = ran.kept.states.at(0).back().result;
      double force = 0;
      for (const std::int32_t n : ran.job.domains[0]->node_set("FACE")) force += result.reactions.at(n, 0);
      EXPECT_NEAR(force, nominal, 1e-7 * std::abs(nominal));
      const double across = std::sqrt(1 - 0.3 * (stretch * stretch - 1));
      EXPECT_NEAR(result.unknowns.at(6, 1), across - 1, 1e-8);
      EXPECT_NEAR(result.points[0].at(0, 0, "sxx"), nominal / (across * across), 1e-6 * std::abs(nominal));
    }
}

/// column_deck() with its foot turned about y. On the way, supports move along straight lines and compress it.
std::string turned_column(double angle, const std::string& statics) {
  std::ostringstream deck;
  deck.precision(15);
  deck << column_deck() << "*STEP, NLGEOM\n" << statics << "*BOUNDARY\n";
  const double x[4] = {0, 1, 1, 0};
  for (int i = 0; i < 4; ++i)
    deck << i + 1 << ", 1, 1, " << x[i] * (std::cos(angle) - 1) << "\n"
         << i + 1 << ", 3, 3, " << -x[i] * std::sin(angle) << "\n";
  return deck.str() + printed;
}

TEST(NonlinearStatics, ABodyThatTurnsIsFreeOfStress) {
  const double angle = std::acos(-1.0) / 2;
  const RanDeck ran = run_deck(turned_column(angle, "*STATIC\n0.1, 1.\n"));
  const StepResult& result = ran.kept.states.at(0).back().result;
  expect_tip(ran, {3, 0, -3}, 1e-8);  // from (0, 0, 3) to (3, 0, 0)
  for (int e = 0; e < 3; ++e)
    for (int q = 0; q < 8; ++q) EXPECT_NEAR(result.points[0].at(e, q, "szz"), 0, 1e-6);
}

TEST(NonlinearStatics, ForcesAsInCalculiX) {
  const RanDeck ran = run_deck(column_deck() + nonlinear + "*CLOAD\nTIP, 1, 20.\nTIP, 3, -10.\n" + printed);
  expect_tip(ran, {2.464348, -0.3387878, -0.9711487}, 1e-5);
  const StepResponse& response = ran.kept.responses.at(0);
  ASSERT_EQ(response.energies.size(), 4u);  // internal, external, iterations, unbalance
  const std::size_t increments = response.axis.size();
  EXPECT_EQ(response.energies[2].second.size(), increments);
  for (std::size_t i = 1; i < increments; ++i) {
    EXPECT_GE(response.energies[2].second[i], 2);
    EXPECT_LE(response.energies[2].second[i], 12);
    EXPECT_LE(response.energies[3].second[i], 1e-8);
  }
  EXPECT_NE(response.statement.find("statics with large displacements: "), std::string::npos) << response.statement;
}

// A second step that changes nothing is in balance from the beginning: there is no unbalance to compare with.
TEST(NonlinearStatics, IncrementsWithoutIterationHaveNoUnbalance) {
  const RanDeck ran = run_deck(column_deck() + nonlinear + "*CLOAD\nTIP, 1, 20.\n*END STEP\n" +
                               "*STEP, NLGEOM\n*STATIC, DIRECT\n0.5, 1.\n*END STEP\n");
  const StepResponse& response = ran.kept.responses.at(1);
  ASSERT_EQ(response.axis.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    if (response.energies[2].second[i] == 0)
      EXPECT_TRUE(std::isnan(response.energies[3].second[i])) << i;
    else
      EXPECT_LT(response.energies[3].second[i], 1) << i;
  }
  EXPECT_TRUE(std::isnan(response.energies[3].second[0]));
  EXPECT_TRUE(std::isnan(response.energies[3].second[2]));
}

TEST(NonlinearStatics, PressuresFollowTheirFacesAsInCalculiX) {
  // CalculiX does not converge beyond 0.9 of these pressures.
  const RanDeck ran =
      run_deck(column_deck() + nonlinear + "*DLOAD\n1, P3, 3.\n2, P3, 3.\n3, P3, 3.\n3, P2, 7.5\n" + printed);
  expect_tip(ran, {-8.206090E-04, 4.345760E-01, 1.601960E-02}, 3e-4);
}

TEST(NonlinearStatics, WeightAsInCalculiX) {
  expect_tip(run_deck(column_deck() + nonlinear + "*DLOAD\nEALL, GRAV, 9.81, 0.8, 0., -0.6\n" + printed),
             {1.982549, 1.569986e-3, -0.3879590}, 1e-5);
}

/// One C3D8 with all displacements prescribed, those of a turn about z and of a stretch, heated by 200.
StepResult heated(double angle, double stretch) {
  std::ostringstream text, moved;
  text << "*NODE, NSET=NALL\n";
  const double corner[4][2] = {{0, 0}, {1, 0}, {1, .8}, {0, .8}};
  for (int n = 0; n < 8; ++n) {
    const double x = corner[n % 4][0], y = corner[n % 4][1], z = n / 4;
    text << n + 1 << ", " << x << ", " << y << ", " << z << "\n";
    const double u[3] = {stretch * (std::cos(angle) * x - std::sin(angle) * y) - x,
                         stretch * (std::sin(angle) * x + std::cos(angle) * y) - y, stretch * z - z};
    moved.precision(15);
    for (int k = 0; k < 3; ++k) moved << n + 1 << ", " << k + 1 << ", " << k + 1 << ", " << u[k] << "\n";
  }
  text
      << "*ELEMENT, TYPE=C3D8, ELSET=EALL\n1, 1, 2, 3, 4, 5, 6, 7, 8\n*MATERIAL, NAME=M\n*ELASTIC\n1000., 0.25\n"
      << "*EXPANSION\n5.E-5\n*SOLID SECTION, ELSET=EALL, MATERIAL=M\n*INITIAL CONDITIONS, TYPE=TEMPERATURE\nNALL, 20.\n"
      << "*STEP, NLGEOM\n*STATIC\n*BOUNDARY\n"
      << moved.str() << "*TEMPERATURE\nNALL, 220.\n*END STEP\n";
  return run_deck(text.str()).kept.states.at(0).back().result;
}

TEST(NonlinearStatics, HeatedBodies) {
  // One that has expanded freely has no stress, however it has turned. (CalculiX 2.20 gives 8 after a turn by 60°.)
  for (const double angle : {0.0, std::acos(-1.0) / 3, std::acos(-1.0) / 2})
    for (const char* component : {"sxx", "syy", "szz", "sxy"})
      EXPECT_NEAR(heated(angle, 1.01).points[0].at(0, 0, component), 0, 1e-7) << angle;
  // One that is held: −3K (θ + ½ θ²) / (1 + θ); CalculiX gives −19.9.
  EXPECT_NEAR(heated(0, 1).points[0].at(0, 0, "sxx"), -2000 * (0.01 + 0.5e-4) / 1.01, 1e-7);
}

TEST(NonlinearStatics, AFreeBodyExpandsByItsThermalStretch) {
  std::string deck = column_deck("*EXPANSION\n1.E-3\n", "*INITIAL CONDITIONS, TYPE=TEMPERATURE\nNALL, 20.\n");
  deck.replace(deck.find("FOOT, 1, 3"), 10, "1, 1, 3\n2, 2, 3\n4, 3, 3");
  const RanDeck ran = run_deck(deck + nonlinear + "*TEMPERATURE\nNALL, 220.\n" + printed);
  const StepResult& result = ran.kept.states.at(0).back().result;
  EXPECT_NEAR(result.unknowns.at(12, 2), 0.6, 1e-8);  // 3 · 0.2
  EXPECT_NEAR(result.points[0].at(1, 3, "szz"), 0, 1e-6);
}

TEST(NonlinearStatics, LoadsGoOnFromStepToStepAsInCalculiX) {
  const RanDeck ran = run_deck(column_deck() + nonlinear + "*CLOAD\nTIP, 1, 20.\n" + printed +
                               "*STEP\n*STATIC, DIRECT\n0.25, 1.\n*CLOAD\nTIP, 1, 5.\nTIP, 2, 10.\n" + printed);
  expect_tip(ran, {2.061270, -3.816077e-2, -0.3654017}, 1e-5, 0);
  expect_tip(ran, {0.5190392, 1.482585, -5.754714e-2}, 1e-5, 1);
  // Half way, the forces are half way too: from (20, 0) to (5, 10).
  const RanDeck half = run_deck(column_deck() + nonlinear + "*CLOAD\nTIP, 1, 12.5\nTIP, 2, 5.\n" + printed);
  const auto& states = ran.kept.states.at(1);
  const auto middle =
      std::find_if(states.begin(), states.end(), [](const StepState& s) { return std::abs(s.at - 1.5) < 1e-9; });
  ASSERT_NE(middle, states.end());
  for (int k = 0; k < 3; ++k)
    EXPECT_NEAR(middle->result.unknowns.at(12, k), tip_of(half)[static_cast<std::size_t>(k)], 1e-6);
}

TEST(NonlinearStatics, SupportsMoveAndComeBackAsInCalculiX) {
  const std::string top = "*NSET, NSET=TOP\n13, 14, 15, 16\n";
  const RanDeck ran =
      run_deck(column_deck() + top + nonlinear + "*BOUNDARY\nTOP, 1, 1, 0.8\nTOP, 3, 3, -0.4\n" + printed + nonlinear +
               "*BOUNDARY\nTOP, 1, 1, -0.2\nTOP, 3, 3, 0.\n*CLOAD\n7, 2, 6.\n" + printed);
  expect_tip(ran, {0.8, -3.150346e-2, -0.4}, 1e-5, 0);
  expect_tip(ran, {-0.2, 5.993479e-2, 0}, 1e-5, 1);
}

/// A cantilever along x, `length` × 0.1 × 0.1, of C3D20 without lateral contraction, with the unit load of the
/// elastica.
std::string cantilever(int elements, double length, double force, int direction = 3) {
  std::ostringstream text;
  text << "*NODE, NSET=NALL\n";
  const double h = 0.1;
  const auto id = [](int i, int j, int k) { return 1 + i * 9 + j * 3 + k; };
  for (int i = 0; i <= 2 * elements; ++i)
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 3; ++k)
        if ((i % 2) + (j % 2) + (k % 2) <= 1)
          text << id(i, j, k) << ", " << length * i / (2 * elements) << ", " << h * j / 2 << ", " << h * k / 2 << "\n";
  text << "*ELEMENT, TYPE=C3D20, ELSET=EALL\n";
  for (int e = 0; e < elements; ++e) {
    const int a = 2 * e, m = a + 1, b = a + 2;
    const int nodes[20] = {id(a, 0, 0), id(b, 0, 0), id(b, 2, 0), id(a, 2, 0), id(a, 0, 2), id(b, 0, 2), id(b, 2, 2),
                           id(a, 2, 2), id(m, 0, 0), id(b, 1, 0), id(m, 2, 0), id(a, 1, 0), id(m, 0, 2), id(b, 1, 2),
                           id(m, 2, 2), id(a, 1, 2), id(a, 0, 1), id(b, 0, 1), id(b, 2, 1), id(a, 2, 1)};
    text << e + 1;
    for (int n = 0; n < 20; ++n) text << "," << (n == 10 ? "\n" : " ") << nodes[n];
    text << "\n";
  }
  text << "*NSET, NSET=FOOT\n1, 2, 3, 4, 6, 7, 8, 9\n*NSET, NSET=TIP\n"
       << id(2 * elements, 1, 0) << ", " << id(2 * elements, 1, 2) << "\n"
       << "*MATERIAL, NAME=M\n*ELASTIC\n1.2E6, 0.\n*SOLID SECTION, ELSET=EALL, MATERIAL=M\n*BOUNDARY\nFOOT, 1, 3\n"
       << "*STEP, NLGEOM\n*STATIC\n0.1, 1.\n*CLOAD\n"
       << id(2 * elements, 1, 0) << ", " << direction << ", " << force / 2 << "\n"
       << id(2 * elements, 1, 2) << ", " << direction << ", " << force / 2 << "\n"
       << printed;
  return text.str();
}

// Elastica with a dead tip load: w/L and u/L for P L² / (E I) = 1, 4, 10.
TEST(NonlinearStatics, Elastica) {
  const double length = 5, stiffness = 1.2e6 * 1e-4 / 12;
  for (const auto& [load, w, u] :
       {std::tuple(1.0, 0.301721, 0.056433), {4.0, 0.669964, 0.328941}, {10.0, 0.810609, 0.554996}}) {
    const RanDeck ran = run_deck(cantilever(32, length, load * stiffness / (length * length)));
    const Domain& domain = *ran.job.domains[0];
    const auto tip = domain.node_set("TIP");  // below and above the axis
    const StepResult& result = ran.kept.states.at(0).back().result;
    const auto mean = [&](int k) {
      return (result.unknowns.at(tip[0], k) + result.unknowns.at(tip[1], k)) / 2 / length;
    };
    // Beam theory has neither shear nor extension, which are of the order (h/L)² here.
    EXPECT_NEAR(mean(2), w, 1e-3) << load;
    EXPECT_NEAR(-mean(0), u, 1e-3) << load;
  }
}

// A straight column stays straight above Euler's load π² E I / (4 L²), where it is not stable.
TEST(NonlinearStatics, UnstableEquilibriaAreNoted) {
  const double length = 5, stiffness = 1.2e6 * 1e-4 / 12;
  const double euler = std::pow(std::acos(-1.0), 2) * stiffness / (4 * length * length);
  const auto is_noted = [&](double share) {
    const RanDeck ran = run_deck(cantilever(8, length, -share * euler, 1));
    const auto& notes = ran.kept.responses.at(0).notes;
    return std::any_of(notes.begin(), notes.end(),
                       [](const std::string& note) { return note.find("not stable") != std::string::npos; });
  };
  EXPECT_FALSE(is_noted(0.8));
  EXPECT_TRUE(is_noted(2));
}

TEST(NonlinearStatics, IncrementsThatFailAreRepeatedWithShorterOnes) {
  const double angle = 0.75 * std::acos(-1.0);
  const RanDeck ran = run_deck(turned_column(angle, "*STATIC\n1., 1.\n"));
  EXPECT_GT(counts_of(ran)["not_converged"], 0);
  EXPECT_GT(counts_of(ran)["increments"], 1);
  expect_tip(ran, {3 * std::sin(angle), 0, 3 * std::cos(angle) - 3}, 1e-8);
  // Increments of a fixed size are not cut back.
  expect_error(ErrorCode::not_converged, {"step 'time 1'", "did not converge", "element"},
               [&] { run_deck(turned_column(angle, "*STATIC, DIRECT\n1., 1.\n")); });
  const RanDeck fixed = run_deck(turned_column(angle, "*STATIC, DIRECT\n0.1, 1.\n"));
  EXPECT_EQ(counts_of(fixed)["increments"], 10);
  EXPECT_EQ(counts_of(fixed)["not_converged"], 0);
}

void expect_refused(const std::string& deck, std::initializer_list<std::string> pieces) {
  expect_error(ErrorCode::bad_input, pieces, [&] { read_deck_text(deck, "test.inp"); });
}

std::string with(std::string deck, const std::string& old, const std::string& text) {
  const std::size_t at = deck.find(old);
  EXPECT_NE(at, std::string::npos) << old;
  return deck.replace(at, old.size(), text);
}

TEST(NonlinearStatics, WhatHasNoLargeDisplacementsIsRefused) {
  const std::string load = nonlinear + "*CLOAD\nTIP, 1, 20.\n" + printed;
  for (const char* type : {"C3D8R", "C3D8I"})
    expect_refused(with(column_deck(), "C3D8", type) + load, {"test.inp:18", type, "NLGEOM"});
  DeckOptions abaqus;
  abaqus.dialect = Dialect::abaqus;
  expect_error(ErrorCode::bad_input, {"C3D8", "averaged"},
               [&] { read_deck_text(column_deck() + load, "test.inp", abaqus); });
  expect_refused(with(column_deck(), "*ELASTIC\n1000., 0.25",
                      "*ELASTIC, TYPE=ENGINEERING CONSTANTS\n1000., 900., 800., 0.2, 0.2, 0.2, 400., 400.,\n400.") +
                     load,
                 {"orthotropic", "NLGEOM"});
  expect_refused(
      with(column_deck(), "*BOUNDARY", "*NODE\n99, 0., 0., 4.\n*RIGID BODY, NSET=TIP, REF NODE=99\n*BOUNDARY") + load,
      {"*RIGID BODY", "NLGEOM"});
  expect_refused(column_deck() + nonlinear + "*DLOAD\nEALL, CENTRIF, 4., 0., 0., 0., 0., 0., 1.\n" + printed,
                 {"CENTRIF", "NLGEOM"});
  expect_refused(column_deck() + "*STEP\n*STATIC\n*CLOAD\nTIP, 1, 1.\n*END STEP\n" + load,
                 {"has no NLGEOM", "test.inp:36"});
  expect_refused(column_deck() + load + "*STEP\n*FREQUENCY\n3\n*END STEP\n", {"*FREQUENCY with NLGEOM"});
  expect_refused(column_deck() + load + "*STEP, NLGEOM=NO\n*STATIC\n*END STEP\n", {"NLGEOM=NO"});
  expect_refused(column_deck() + "*STEP, NLGEOM\n*STATIC, RIKS\n", {"RIKS", "arc-length"});
  expect_refused(column_deck() + "*STEP, NLGEOM\n*STATIC, STABILIZE\n", {"STABILIZE"});
  expect_refused(column_deck() + load + nonlinear + "*BOUNDARY\nTIP, 2, 2\n" + printed, {"would jump"});
  expect_refused(column_deck() + load + nonlinear + "*CLOAD, AMPLITUDE=PULSE\nTIP, 1, 20.\n" + printed,
                 {"AMPLITUDE replaces it"});
}

}  // namespace
}  // namespace voussoir
