#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include <voussoir/framework/domain/plastic_material.hpp>
#include <voussoir/framework/mesh/structured_mesh.hpp>
#include <voussoir/solvers/transient_problem.hpp>

#include "column_deck.hpp"
#include "support/expect_error.hpp"

// Plastic flow at small strains: *PLASTIC in *STATIC and *DYNAMIC steps without NLGEOM. Numbers of CalculiX are those
// of version 2.20.

namespace voussoir {
namespace {

using testing::expect_error;
using testing::RanDeck;
using testing::run_deck;

const char* const small_elements[] = {"C3D4", "C3D8", "C3D10", "C3D20", "C3D20R"};

std::string solid_type(const std::string& element) {
  return element == "C3D4"    ? "solid.tet4"
         : element == "C3D8"  ? "solid.hex8.full"
         : element == "C3D10" ? "solid.tet10"
                              : "solid.hex20";
}

const std::string steel_cards =
    "*MATERIAL, NAME=M\n*ELASTIC\n200000., 0.3\n*DENSITY\n7.8e-9\n*PLASTIC\n250., 0.\n300., 0.01\n400., 0.1\n500., "
    "0.5\n*SOLID SECTION, ELSET=EALL, MATERIAL=M\n";
const std::string short_increments = "*STEP, INC=1000\n*STATIC\n0.1, 1., 1e-6, 0.1\n";

/// Nodes, elements and the sets X0, Y0, Z0, Z1 and NALL of a box with one corner at the origin.
std::string box_cards(const std::string& element, const std::array<int, 3>& cells, const std::array<double, 3>& size) {
  Domain domain;
  BoxMesh mesh;
  mesh.type = solid_type(element);
  mesh.cells = cells;
  mesh.upper = size;
  const ElementBlock& block = add_box_mesh(domain, mesh);
  std::ostringstream text;
  text.precision(17);
  text << "*NODE, NSET=NALL\n";
  const auto x = domain.coordinates();
  for (std::int32_t n = 0; n < domain.node_count(); ++n) {
    const auto at = static_cast<std::size_t>(3 * n);
    text << domain.node_id(n) << ", " << x[at] << ", " << x[at + 1] << ", " << x[at + 2] << "\n";
  }
  text << "*ELEMENT, TYPE=" << element << ", ELSET=EALL\n";
  for (std::int32_t e = 0; e < block.size(); ++e) {
    text << block.id(e);
    int written = 0;
    for (const std::int32_t n : block.nodes(e)) text << (++written == 11 ? ",\n" : ", ") << domain.node_id(n);
    text << "\n";
  }
  for (const auto& [set, side] : {std::pair{"X0", "xmin"}, {"Y0", "ymin"}, {"Z0", "zmin"}, {"Z1", "zmax"}}) {
    text << "*NSET, NSET=" << set << "\n";
    for (const std::int32_t n : domain.node_set(side)) text << domain.node_id(n) << "\n";
  }
  return text.str();
}

std::vector<double> values_at_points(const RanDeck& ran, std::size_t step, const std::string& name) {
  std::vector<double> all;
  for (const PointField& field : ran.kept.states.at(step).back().result.points)
    for (std::size_t p = static_cast<std::size_t>(field.name_index(name)); p < field.values.size();
         p += field.names.size())
      all.push_back(field.values[p]);
  return all;
}
double largest(const std::vector<double>& values) { return *std::max_element(values.begin(), values.end()); }
double smallest(const std::vector<double>& values) { return *std::min_element(values.begin(), values.end()); }

double force_on(const RanDeck& ran, std::size_t step, const std::string& set, const char* unknown) {
  double force = 0;
  const StepResult& result = ran.kept.states.at(step).back().result;
  for (const std::int32_t n : ran.job.domains[0]->node_set(set)) force += result.reactions.at(n, unknown);
  return force;
}

/// Uniaxial stress: ε = σ/E + εp with |σ| ≤ σy(α).
struct SmallBar {
  double plastic = 0, peeq = 0, stress = 0;
  static double yield(double strain) {
    if (strain < 0.01) return 250 + 5000 * strain;
    return strain < 0.1 ? 300 + 100 / 0.09 * (strain - 0.01) : 400 + 250 * (strain - 0.1);
  }
  void go_to(double strain) {
    const double trial = 200000 * (strain - plastic);
    if (std::abs(trial) > yield(peeq)) {
      double low = 0, high = std::abs(trial) / 200000;
      for (int i = 0; i < 200; ++i) {
        const double mid = 0.5 * (low + high);
        (std::abs(trial) - 200000 * mid > yield(peeq + mid) ? low : high) = mid;
      }
      peeq += low;
      plastic += trial > 0 ? low : -low;
    }
    stress = 200000 * (strain - plastic);
  }
};

TEST(SmallPlasticity, CyclesOfABarHaveTheirClosedForm) {
  const std::vector<double> course{0.001, 0.02, 0.0185, 0, 0.01, -0.01, 0.2};
  for (const char* element : small_elements) {
    std::string deck = box_cards(element, {1, 1, 2}, {1, 1, 1}) + steel_cards + "*BOUNDARY\nX0, 1\nY0, 2\nZ0, 3\n";
    for (const double strain : course)
      deck += "*STEP, INC=1000\n*STATIC\n0.25, 1.\n*BOUNDARY\nZ1, 3, 3, " + std::to_string(strain) +
              "\n*EL PRINT, ELSET=EALL\nS, E, PEEQ\n*END STEP\n";
    const RanDeck ran = run_deck(deck);
    SmallBar bar;
    for (std::size_t step = 0; step < course.size(); ++step) {
      SCOPED_TRACE(std::string(element) + " step " + std::to_string(step + 1));
      bar.go_to(course[step]);
      for (const double stress : values_at_points(ran, step, "szz")) EXPECT_NEAR(stress, bar.stress, 1e-5);
      for (const double stress : values_at_points(ran, step, "sxx")) EXPECT_NEAR(stress, 0, 1e-5);
      for (const double strain : values_at_points(ran, step, "ezz")) EXPECT_NEAR(strain, course[step], 1e-12);
      for (const double strain : values_at_points(ran, step, "peeq")) EXPECT_NEAR(strain, bar.peeq, 1e-9);
    }
    EXPECT_GT(bar.peeq, 0.2);
  }
}

TEST(SmallPlasticity, RotationsAreSmall) {
  // An affine motion with a rotation of 0.3 rad: its stress is that of its symmetric part, which is zero.
  Domain domain;
  BoxMesh mesh;
  mesh.type = "solid.hex20.reduced";
  auto metal = std::make_shared<PlasticMaterial>("metal", std::vector<HardeningPoint>{{10, 0}});
  metal->set("young", 1000).set("poisson", 0.25);
  add_box_mesh(domain, mesh).set_material(metal);
  const auto x = domain.coordinates();
  for (std::int32_t n = 0; n < domain.node_count(); ++n) {
    const std::string set = "n" + std::to_string(n);
    domain.add_node_set(set, {domain.node_id(n)});
    domain.prescribe(set, "ux", -0.3 * x[static_cast<std::size_t>(3 * n) + 1]);
    domain.prescribe(set, "uy", 0.3 * x[static_cast<std::size_t>(3 * n)]);
    domain.prescribe(set, "uz", 0);
  }
  TransientOptions options;
  options.method = "static";
  options.backend = "openmp";
  const auto analysis = make_transient_analysis(domain, options);
  analysis->loads().move_supports(SupportMotion::by_displacement(Amplitude({{0, 0}, {1, 1}})));
  analysis->set_steps({.end = 1, .step = 1});
  const StepResult result = analysis->run().back();
  for (const char* name : {"sxx", "syy", "szz", "sxy", "peeq"})
    EXPECT_NEAR(result.points.at(0).at(0, 0, name), 0, 1e-10) << name;
}

// ---- Against CalculiX -----------------------------------------------------------------------------------------------

/// A block of 1 × 1 × 1.5 between plates, of which the upper one moves along z and x.
std::string plates_deck(const std::string& element, const std::string& procedure, const std::string& more = "") {
  std::string deck = box_cards(element, {2, 2, 3}, {1, 1, 1.5}) + steel_cards + more + "*BOUNDARY\nZ0, 1, 3\n";
  for (const auto& [along, across] : {std::pair{"0.004", "0."}, {"0.0033", "0.0007"}, {"-0.0027", "0.0013"}})
    deck += procedure + "*BOUNDARY\nZ1, 1, 1, " + across + "\nZ1, 2, 2\nZ1, 3, 3, " + along +
            "\n*NODE PRINT, NSET=Z1\nRF\n*EL PRINT, ELSET=EALL\nS, PEEQ\n*END STEP\n";
  return deck;
}

struct PlateCase {
  const char* element;
  double forces[3][2];  // along x and z
  double strain[3];     // largest equivalent plastic strain
};

TEST(SmallPlasticity, ABlockBetweenPlatesAsInCalculiX) {
  const PlateCase cases[] = {
      {"C3D8",
       {{0, 307.41949}, {22.684363, 206.55109}, {14.721733, -299.53367}},
       {0.002343172, 0.002343172, 0.00571346}},
      {"C3D20",
       {{0, 270.35173}, {19.166416, 172.01865}, {5.9569403, -279.98722}},
       {0.002583851, 0.002583851, 0.006245538}},
      {"C3D20R",
       {{0, 267.96817}, {19.002939, 169.90373}, {5.3033617, -278.76898}},
       {0.002744922, 0.002744922, 0.006374263}},
  };
  for (const PlateCase& known : cases) {
    const RanDeck ran = run_deck(plates_deck(known.element, short_increments));
    for (std::size_t step = 0; step < 3; ++step) {
      SCOPED_TRACE(std::string(known.element) + " step " + std::to_string(step + 1));
      EXPECT_NEAR(force_on(ran, step, "Z1", "ux"), known.forces[step][0], 1e-3 * 307);
      EXPECT_NEAR(force_on(ran, step, "Z1", "uz"), known.forces[step][1], 1e-3 * 307);
      EXPECT_NEAR(largest(values_at_points(ran, step, "peeq")), known.strain[step], 1e-3 * known.strain[step]);
    }
  }
}

// ---- Limit loads ----------------------------------------------------------------------------------------------------

TEST(SmallPlasticity, PerfectPlasticityHasItsLimitLoad) {
  const std::string perfect =
      "*MATERIAL, NAME=M\n*ELASTIC\n200000., 0.3\n*PLASTIC\n250., 0.\n*SOLID SECTION, ELSET=EALL, MATERIAL=M\n";
  const std::string body = box_cards("C3D20R", {1, 1, 2}, {1, 1, 2}) + perfect + "*BOUNDARY\nX0, 1\nY0, 2\nZ0, 3\n";
  // By displacements, the force stays at the yield stress times the area.
  const RanDeck ran = run_deck(body + "*STEP, INC=1000\n*STATIC\n0.25, 1.\n*BOUNDARY\nZ1, 3, 3, 0.1\n*END STEP\n");
  EXPECT_NEAR(force_on(ran, 0, "Z1", "uz"), 250, 1e-6);
  EXPECT_NEAR(smallest(values_at_points(ran, 0, "peeq")), 0.05 - 250.0 / 200000, 1e-9);
  // By a pressure: just below the limit, and beyond it.
  const auto pulled = [&](double tension) {
    return body + "*SURFACE, NAME=UP\n" + "2, S2\n*STEP, INC=1000\n*STATIC\n0.25, 1.\n*DSLOAD\nUP, P, " +
           std::to_string(-tension) + "\n*END STEP\n";
  };
  EXPECT_NEAR(largest(values_at_points(run_deck(pulled(249.9)), 0, "szz")), 249.9, 1e-6);
  expect_error(ErrorCode::not_converged, {"time 0.996", "the largest that the body carries"},
               [&] { run_deck(pulled(251)); });
}

// ---- What goes together ---------------------------------------------------------------------------------------------

TEST(SmallPlasticity, SlowDynamicsIsStaticsAndContinuesIt) {
  const std::string amplitudes = "*AMPLITUDE, NAME=SLOW\n0., 0., 1., 1.\n*AMPLITUDE, NAME=HOLD\n0., 1., 1., 1.\n";
  const std::string body =
      box_cards("C3D20R", {1, 1, 1}, {1, 1, 1}) + steel_cards + amplitudes + "*BOUNDARY\nX0, 1\nY0, 2\nZ0, 3\n";
  const std::string moved = "*EL PRINT, ELSET=EALL\nS, PEEQ\n*END STEP\n";
  SmallBar bar;
  bar.go_to(0.02);
  const std::string dynamic = "*STEP, INC=1000\n*DYNAMIC, DIRECT, ALPHA=-0.3\n0.05, 1.\n*BOUNDARY, AMPLITUDE=";
  const RanDeck slow = run_deck(body + dynamic + "SLOW\nZ1, 3, 3, 0.02\n" + moved);
  EXPECT_NEAR(largest(values_at_points(slow, 0, "szz")), bar.stress, 1e-3 * bar.stress);
  EXPECT_NEAR(largest(values_at_points(slow, 0, "peeq")), bar.peeq, 1e-5);
  const RanDeck held = run_deck(body + short_increments + "*BOUNDARY\nZ1, 3, 3, 0.02\n" + moved + dynamic +
                                "HOLD\nZ1, 3, 3, 0.02\n" + moved);
  EXPECT_NEAR(largest(values_at_points(held, 1, "szz")), bar.stress, 1e-4);
  EXPECT_NEAR(largest(values_at_points(held, 1, "peeq")), bar.peeq, 1e-9);
}

TEST(SmallPlasticity, ElasticAsInLinearStaticsAsLongAsNothingYields) {
  const std::string body = box_cards("C3D20", {1, 1, 3}, {1, 1, 3});
  const std::string step =
      "*BOUNDARY\nZ0, 1, 3\n*STEP, INC=1000\n*STATIC\n*CLOAD\nZ1, 1, 0.2\nZ1, 3, -1.\n*NODE PRINT, NSET=NALL\nU\n*END "
      "STEP\n";
  const RanDeck plastic = run_deck(body + steel_cards + step);
  const std::string elastic_cards =
      steel_cards.substr(0, steel_cards.find("*PLASTIC")) + "*SOLID SECTION, ELSET=EALL, MATERIAL=M\n";
  Job job = read_deck_text(body + elastic_cards + step, "test.inp");
  const JobResult elastic = run_job(job, testing::plainly());
  const StepResult& found = plastic.kept.states.at(0).back().result;
  EXPECT_EQ(largest(values_at_points(plastic, 0, "peeq")), 0);
  const std::vector<double>& expected = elastic.steps.at(0).unknowns.values;
  ASSERT_EQ(found.unknowns.values.size(), expected.size());
  const double most = largest(expected);
  EXPECT_GT(most, 1e-5);
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(found.unknowns.values[i], expected[i], 1e-7 * most);
}

TEST(SmallPlasticity, WhatIsNotSupportedIsRefused) {
  const auto refuse = [](const std::string& deck, std::initializer_list<std::string> pieces) {
    expect_error(ErrorCode::bad_input, pieces, [&] { read_deck_text(deck, "test.inp"); });
  };
  const std::string step = "*STEP\n*STATIC\n0.1, 1.\n*END STEP\n";
  const std::string cube = box_cards("C3D8", {1, 1, 1}, {1, 1, 1}), held = "*BOUNDARY\nZ0, 1, 3\n";
  const auto as = [&](const std::string& element) {
    std::string text = cube;
    return text.replace(text.find("TYPE=C3D8"), 9, "TYPE=" + element) + steel_cards + held;
  };
  refuse(as("C3D8I") + step, {"test.inp:", "C3D8I", "incompatible modes", "*PLASTIC", "C3D20R"});
  refuse(as("C3D8R") + step, {"test.inp:", "C3D8R", "one integration point", "*PLASTIC"});
  const std::string body = cube + steel_cards + held;
  refuse(body + "*STEP\n*FREQUENCY\n2\n*END STEP\n", {"*PLASTIC is not supported in steps other than"});
  refuse(body + "*STEP, AMPLITUDE=STEP\n*STATIC\n0.1, 1.\n*END STEP\n", {"test.inp:", "AMPLITUDE=STEP", "*PLASTIC"});
  refuse(body + "*STEP, PERTURBATION\n*STATIC\n0.1, 1.\n*END STEP\n", {"test.inp:", "PERTURBATION with *PLASTIC"});
  refuse(body + step + "*STEP, NLGEOM\n*STATIC\n0.1, 1.\n*END STEP\n", {"test.inp:", "this step has no NLGEOM"});
  refuse(body + step + "*STEP\n*DYNAMIC, EXPLICIT\n, 0.1\n*END STEP\n", {"test.inp:", "cannot be combined"});
  DeckOptions abaqus;
  abaqus.dialect = Dialect::abaqus;
  expect_error(ErrorCode::bad_input, {"averaged change of volume", "*PLASTIC"},
               [&] { read_deck_text(body + step, "test.inp", abaqus); });
}

}  // namespace
}  // namespace voussoir
