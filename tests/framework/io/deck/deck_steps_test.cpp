#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "deck_text.hpp"
#include "support/expect_error.hpp"

// Supports, loads and steps of decks.

namespace voussoir {
namespace {

using namespace voussoir::testing;

const LoadCase& loads(const Job& job, std::size_t step) {
  return job.domains[job.steps[step].domain]->load_case(job.steps[step].load_case);
}

/// The sum of what acts on an unknown at a node of the deck.
double force(const Job& job, std::size_t step, Id node, const std::string& unknown) {
  const Domain& d = *job.domains[job.steps[step].domain];
  double sum = 0;
  for (const auto& n : loads(job, step).nodal_loads())
    if (d.node_id(n.node) == node && n.unknown == unknown) sum += n.value;
  return sum;
}

/// The value of a held unknown, NaN where it is free.
double held(const Job& job, std::size_t step, Id node, const std::string& unknown) {
  const Domain& d = *job.domains[job.steps[step].domain];
  for (const auto& p : job.steps[step].supports->values)
    if (d.node_id(p.node) == node && p.unknown == unknown) return p.value;
  return NAN;
}

double pressure_on(const Job& job, std::size_t step, FaceRef face) {
  const Domain& d = *job.domains[job.steps[step].domain];
  double sum = 0;
  for (const auto& s : loads(job, step).surface_loads())
    for (const FaceRef& f : d.surface(s.surface))
      if (f == face) sum += s.values[0];
  return sum;
}

TEST(DeckSteps, TimeResetLetsTotalTimeStandStill) {
  const Job job = job_of(cube_model() + clamped + static_step("") + "*STEP\n*STATIC, TIME RESET\n.5, 4.\n*END STEP\n" +
                         static_step(""));
  ASSERT_EQ(job.steps.size(), 3u);
  EXPECT_EQ(job.steps[0].total_time, 1.0);
  EXPECT_EQ(job.steps[1].total_time, 1.0);
  EXPECT_EQ(job.steps[2].total_time, 2.0);
}

TEST(DeckSteps, NamesTimesAndTitles) {
  const Job job = job_of("*HEADING\nA cube\n" + cube_model() + clamped +
                         "*STEP\nfirst\n*STATIC\n1., 2.\n*CLOAD\nTOP, 3, 1.\n*END STEP\n" + static_step(""));
  ASSERT_EQ(job.steps.size(), 2u);
  EXPECT_EQ(job.title, "A cube");
  EXPECT_EQ(job.name, "test");
  EXPECT_EQ(job.steps[0].name, "step 1");
  EXPECT_EQ(job.steps[0].total_time, 2.0);
  EXPECT_EQ(job.steps[1].total_time, 3.0);
  EXPECT_EQ(job.steps[0].where.substr(0, 9), "test.inp:");
  EXPECT_EQ(job.own_nodes, 8);
}

TEST(DeckSteps, StepsWithTheSameSupportsShareThem) {
  const Job job =
      job_of(cube_model() + clamped + static_step("*CLOAD\n5, 3, 1.\n") + static_step("*CLOAD\n5, 3, 2.\n") +
             static_step("*BOUNDARY\n5, 3, 3, 0.5\n") + static_step("*BOUNDARY\n5, 3, 3, 0.5\n") +
             static_step("*BOUNDARY, OP=NEW\n1, 1, 3\n2, 2, 3\n4, 3, 3\n"));
  EXPECT_EQ(job.steps[0].supports, job.steps[1].supports);
  EXPECT_NE(job.steps[1].supports, job.steps[2].supports);
  EXPECT_EQ(job.steps[2].supports, job.steps[3].supports);
  EXPECT_EQ(job.steps[0].supports->values.size(), 12u);
  EXPECT_EQ(held(job, 2, 5, "uz"), 0.5);
  EXPECT_EQ(job.steps[4].supports->values.size(), 6u);
}

// What CalculiX 2.20 does with repeated cards, as its results show.
TEST(DeckSteps, StepsWithTheSameLoadsShareThem) {
  const std::string push = "*CLOAD\nTOP, 3, 1.\n*DLOAD\nEALL, P1, 2.\n", more = "*CLOAD\nTOP, 3, 4.\n";
  const Job job = job_of(cube_model() + clamped + static_step(push) + static_step("") + static_step(push) +
                         static_step(more) + static_step("") + static_step("*CLOAD, OP=NEW\n*DLOAD, OP=NEW\n"));
  ASSERT_EQ(job.steps.size(), 6u);
  EXPECT_EQ(job.steps[1].load_case, "step 1");  // goes on
  EXPECT_EQ(job.steps[2].load_case, "step 1");  // said again
  EXPECT_EQ(job.steps[3].load_case, "step 4");
  EXPECT_EQ(job.steps[4].load_case, "step 4");
  EXPECT_EQ(job.steps[5].load_case, "");
  EXPECT_EQ(job.domains[0]->load_case_count(), 2u);
  EXPECT_EQ(force(job, 2, 5, "uz"), 1.0);
  EXPECT_EQ(force(job, 4, 5, "uz"), 4.0);
  EXPECT_EQ(pressure_on(job, 4, {0, 0, 0}), 2.0);
}

TEST(DeckSteps, LoadsThatFollowTheTotalTimeAreNotShared) {
  const Job job = job_of(cube_model() + "*AMPLITUDE, NAME=RAMP, TIME=TOTAL TIME\n0, 0, 4, 8\n" + clamped +
                         static_step("*CLOAD, AMPLITUDE=RAMP\n5, 3, 1.\n") + static_step("") + static_step(""));
  for (std::size_t s = 0; s < 3; ++s) EXPECT_EQ(force(job, s, 5, "uz"), 2.0 * (static_cast<double>(s) + 1));
}

TEST(DeckSteps, NodalLoadsAddWithinAStepAndReplaceAcrossSteps) {
  const Job job =
      job_of(cube_model() + clamped + static_step("*CLOAD\n5, 3, 1.\n5, 3, 1.\n*CLOAD\n6, 3, 2.\n*CLOAD\n6, 3, 3.\n") +
             static_step("*CLOAD\n5, 3, 10.\n") + static_step("*CLOAD, OP=NEW\n7, 1, 4.\n"));
  EXPECT_EQ(force(job, 0, 5, "uz") + force(job, 0, 6, "uz"), 7.0);
  EXPECT_EQ(force(job, 1, 5, "uz"), 10.0);
  EXPECT_EQ(force(job, 1, 6, "uz"), 5.0);
  EXPECT_EQ(force(job, 2, 5, "uz"), 0.0);
  EXPECT_EQ(force(job, 2, 7, "ux"), 4.0);
}

TEST(DeckSteps, PressuresAddWithinAStepAndReplaceAcrossSteps) {
  const std::string surface = "*SURFACE, NAME=LID\nEALL, S2\n";
  const std::string deck = cube_model() + surface + clamped +
                           static_step("*DLOAD\n1, P2, 1.\n1, P2, 2.\n*DLOAD\nEALL, P2, 4.\n") +
                           static_step("*DSLOAD\nLID, P, 0.5\n") + static_step("*DLOAD\n1, P1, 3.\n");
  const Job job = job_of(deck);
  EXPECT_EQ(pressure_on(job, 0, {0, 0, 1}), 7.0);
  EXPECT_EQ(pressure_on(job, 1, {0, 0, 1}), 0.5);
  EXPECT_EQ(pressure_on(job, 2, {0, 0, 1}), 0.5);
  EXPECT_EQ(pressure_on(job, 2, {0, 0, 0}), 3.0);
  // The two kinds are apart in Abaqus.
  EXPECT_EQ(pressure_on(job_of(deck, Dialect::abaqus), 1, {0, 0, 1}), 7.5);
}

TEST(DeckSteps, WeightOfOneDirectionIsReplacedAndOfAnotherAdded) {
  const Job job =
      job_of(cube_model() + clamped + static_step("*DLOAD\nEALL, GRAV, 1., 1., 0., 0.\nEALL, GRAV, 2., 0., 0., -2.\n") +
             static_step("*DLOAD\nEALL, GRAV, 4., 0., 0., -2.\n1, GRAV, 8., 0., 0., -1.\n") +
             static_step("*DLOAD, OP=NEW\nEALL, P2, 1.\n"));
  const auto total = [&](std::size_t step) {
    std::array<double, 3> g{0, 0, 0};
    for (const auto& b : loads(job, step).body_loads())
      for (int k = 0; k < 3; ++k) g[k] += b.load.acceleration[k];
    return g;
  };
  EXPECT_EQ(total(0), (std::array<double, 3>{1, 0, -2}));
  EXPECT_EQ(total(1), (std::array<double, 3>{1, 0, -12}));
  EXPECT_EQ(total(2), (std::array<double, 3>{0, 0, 0}));
}

TEST(DeckSteps, CentrifIsGivenBySquare) {
  const Job job = job_of(cube_model() + clamped + static_step("*DLOAD\nEALL, CENTRIF, 9., 1., 2., 3., 0., 0., 5.\n"));
  const BodyLoad& load = loads(job, 0).body_loads().at(0).load;
  EXPECT_DOUBLE_EQ(load.angular_velocity_squared, 9.0);
  EXPECT_EQ(load.axis_point[1], 2.0);
  EXPECT_EQ(load.axis_direction[2], 1.0);
}

TEST(DeckSteps, AmplitudesCountAtTheEndOfTheStep) {
  const Job job =
      job_of(cube_model() + clamped +
             "*AMPLITUDE, NAME=RAMP\n0., 0., 4., 2.\n*AMPLITUDE, NAME=LONG, TIME=TOTAL TIME\n0., 0., 4., 2.\n"
             "*STEP\n*STATIC\n1., 2.\n*CLOAD, AMPLITUDE=RAMP\n5, 1, 10.\n*CLOAD, AMPLITUDE=LONG\n6, 1, 10.\n"
             "*BOUNDARY, AMPLITUDE=RAMP\n7, 1, 1, 10.\n*END STEP\n"
             "*STEP\n*STATIC\n1., 1.\n*END STEP\n");
  EXPECT_DOUBLE_EQ(force(job, 0, 5, "ux"), 10.0);  // at 2 of 4
  EXPECT_DOUBLE_EQ(force(job, 1, 5, "ux"), 10.0);  // stays where its own step left it
  EXPECT_DOUBLE_EQ(force(job, 1, 6, "ux"), 15.0);  // at 3 of 4 in all
  EXPECT_DOUBLE_EQ(held(job, 1, 7, "ux"), 10.0);
}

// As the results of CalculiX 2.20 show, save for temperatures: of these it keeps one node and lets the others go on.
TEST(DeckSteps, LoadsStayWhereTheAmplitudeOfTheirStepLeftThem) {
  const std::string ramp = "*AMPLITUDE, NAME=RAMP\n0., 0., 4., 2.\n*AMPLITUDE, NAME=FLAT\n0., 3.\n";
  const auto step_of = [](const std::string& procedure, const std::string& period, const std::string& cards) {
    return "*STEP\n" + procedure + "\n1., " + period + "\n" + cards + "*END STEP\n";
  };
  const Job job = job_of(
      cube_model() + clamped + ramp +
      step_of("*STATIC", "2.",
              "*DLOAD, AMPLITUDE=RAMP\n1, P2, 10.\nEALL, GRAV, 10., 1., 0., 0.\n*DLOAD, AMPLITUDE=FLAT\n1, P2, 1.\n"
              "*TEMPERATURE, AMPLITUDE=RAMP\nTOP, 50.\n") +
      step_of("*STATIC", "1.", "*CLOAD, AMPLITUDE=RAMP\n5, 1, 10.\n") +
      step_of("*STATIC", "4.", "*DLOAD, AMPLITUDE=RAMP\n1, P2, 10.\n"));
  const double pressure[] = {13, 13, 20};
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_DOUBLE_EQ(pressure_on(job, i, {0, 0, 1}), pressure[i]);
    EXPECT_DOUBLE_EQ(loads(job, i).body_loads().at(0).load.acceleration[0], 10.0);
    EXPECT_DOUBLE_EQ(loads(job, i).temperatures()[4], 50.0);
  }
  EXPECT_DOUBLE_EQ(force(job, 2, 5, "ux"), 5.0);  // from the second step
  const std::string heat = "*HEAT TRANSFER, STEADY STATE";
  const Job warm =
      job_of(cube_model() + ramp +
             step_of(heat, "2.",
                     "*BOUNDARY, AMPLITUDE=RAMP\nBOTTOM, 11, 11, 3.\n*CFLUX, AMPLITUDE=RAMP\n5, 11, 7.\n"
                     "*DFLUX, AMPLITUDE=RAMP\n1, S2, 5.\n1, BF, 6.\n*FILM, AMPLITUDE=RAMP\n1, F3, 20., 3.\n") +
             step_of(heat, "4.", ""));
  EXPECT_DOUBLE_EQ(held(warm, 1, 1, "T"), 3.0);
  EXPECT_DOUBLE_EQ(force(warm, 1, 5, "T"), 7.0);
  EXPECT_DOUBLE_EQ(loads(warm, 1).surface_loads()[0].values[0], 5.0);
  EXPECT_EQ(loads(warm, 1).surface_loads()[1].values, (std::vector<double>{3.0, 20.0}));
  EXPECT_DOUBLE_EQ(loads(warm, 1).body_loads().at(0).load.source, 6.0);
}

TEST(DeckSteps, TemperaturesThatNothingFeelsAreNotedOnceForEachMaterial) {
  const std::string warm = static_step(clamped + "*TEMPERATURE\nTOP, 50.\n");
  const Job job = job_of(cube_model() + warm + warm);
  ASSERT_EQ(job.notes.size(), 1u);
  EXPECT_NE(job.notes[0].text.find("has no effect on elements of material 'STEEL', which has no *EXPANSION"),
            std::string::npos);
  EXPECT_EQ(job.notes[0].where.substr(0, 9), "test.inp:");
  const auto with = [&](const std::string& cards) {
    return job_of(cube_of("C3D8") + "*MATERIAL, NAME=STEEL\n" + cards + solid_section + warm).notes.size();
  };
  EXPECT_EQ(with("*ELASTIC\n1000., 0.25\n*EXPANSION\n1.e-5\n"), 0u);
  EXPECT_EQ(with("*ELASTIC\n1000., 0.25, 0.\n900., 0.25, 100.\n"), 0u);
}

TEST(DeckSteps, FixedKeepsThePlace) {
  const Job job =
      job_of(cube_model() + clamped + static_step("*CLOAD\n5, 3, 1.\n") + static_step("*BOUNDARY, FIXED\n5, 3, 3\n"));
  ASSERT_EQ(job.steps[1].supports->kept.size(), 1u);
  EXPECT_EQ(job.steps[1].supports->kept[0].unknown, "uz");
}

// --- local axes -----------------------------------------------------------------------------------------------------

TEST(DeckSteps, SupportsInLocalAxes) {
  // Node 7 at (1, 1): radial is (1, 1)/√2. Node 6 at (1, 0): radial is x.
  const Job job = job_of(cube_model() + "*NSET, NSET=TURNED\n6, 7\n*TRANSFORM, NSET=TURNED, TYPE=C\n0,0,0, 0,0,1\n" +
                         clamped + static_step("*BOUNDARY\n7, 1, 1, 0.1\n6, 1, 3, 0.2\n*CLOAD\n7, 2, 8.\n"));
  const Supports& s = *job.steps[0].supports;
  ASSERT_EQ(s.oblique.size(), 1u);
  EXPECT_NEAR(s.oblique[0].direction[0], std::sqrt(0.5), 1e-15);
  EXPECT_NEAR(s.oblique[0].direction[1], std::sqrt(0.5), 1e-15);
  EXPECT_EQ(s.oblique[0].value, 0.1);
  EXPECT_DOUBLE_EQ(held(job, 0, 6, "ux"), 0.2);
  EXPECT_DOUBLE_EQ(held(job, 0, 6, "uy"), 0.2);
  EXPECT_NEAR(force(job, 0, 7, "ux"), -8 * std::sqrt(0.5), 1e-14);
  EXPECT_NEAR(force(job, 0, 7, "uy"), 8 * std::sqrt(0.5), 1e-14);
  ASSERT_EQ(job.node_axes.systems.size(), 1u);
  EXPECT_EQ(job.node_axes.system_of[6], 0);
  EXPECT_EQ(job.node_axes.system_of[0], -1);
}

TEST(DeckSteps, AllOfATurnedNodeIsPlainWhateverTheAxes) {
  const Job job = job_of(cube_model() + "*NSET, NSET=TURNED\n7\n*TRANSFORM, NSET=TURNED, TYPE=C\n0,0,0, 0,0,1\n" +
                         clamped + static_step("*BOUNDARY\n7, 1, 1, 2.\n7, 2, 3\n"));
  EXPECT_TRUE(job.steps[0].supports->oblique.empty());
  EXPECT_NEAR(held(job, 0, 7, "ux"), std::sqrt(2.0), 1e-15);
  EXPECT_NEAR(held(job, 0, 7, "uy"), std::sqrt(2.0), 1e-15);
  EXPECT_EQ(held(job, 0, 7, "uz"), 0.0);
}

TEST(DeckSteps, SupportsOfWhatCannotMoveAreNoted) {
  const Job plane = job_of(square_model("CPS4") + static_step("*BOUNDARY\nLEFT, 1, 6\n"));
  EXPECT_EQ(plane.steps[0].supports->values.size(), 4u);
  EXPECT_EQ(plane.notes.size(), 2u);
  const Job unused = job_of(cube_model() + "*NODE\n99, 5, 5, 5\n" + static_step(clamped + "*BOUNDARY\n99, 1, 3\n"));
  EXPECT_EQ(unused.steps[0].supports->values.size(), 12u);
  ASSERT_EQ(unused.notes.size(), 1u);
  EXPECT_NE(unused.notes[0].text.find("nodes without elements"), std::string::npos);
}

// --- heat -----------------------------------------------------------------------------------------------------------

TEST(DeckSteps, HeatLoads) {
  const Job job = job_of(cube_model("C3D8I") + "*BOUNDARY\nBOTTOM, 11, 11, 3.\n" +
                         heat_step("*CFLUX\n5, 11, 1.\n5, 11, 1.\n*DFLUX\n1, S2, 1.\n1, S2, 2.\n1, BF, 1.\n1, BF, 3.\n"
                                   "*FILM\n1, F3, 10., 1.\n1, F3, 20., 3.\n"));
  EXPECT_EQ(held(job, 0, 1, "T"), 3.0);
  EXPECT_EQ(force(job, 0, 5, "T"), 2.0);
  const LoadCase& c = loads(job, 0);
  ASSERT_EQ(c.surface_loads().size(), 2u);
  EXPECT_EQ(c.surface_loads()[0].kind, "flux");
  EXPECT_EQ(c.surface_loads()[0].values[0], 3.0);
  EXPECT_EQ(c.surface_loads()[1].kind, "convection");  // the last of two films counts
  EXPECT_EQ(c.surface_loads()[1].values, (std::vector<double>{3.0, 20.0}));
  EXPECT_EQ(c.body_loads().at(0).load.source, 4.0);
}

TEST(DeckSteps, TemperaturesStartFromTheInitialOnes) {
  const std::string model =
      cube_of("C3D8") + "*MATERIAL, NAME=STEEL\n*ELASTIC\n260., 0.3\n*EXPANSION\n1.e-5\n" + solid_section + clamped;
  const Job job = job_of(model + "*INITIAL CONDITIONS, TYPE=TEMPERATURE\nNALL, 20.\n" +
                         static_step("*CLOAD\n5, 3, 1.\n") + static_step("*TEMPERATURE\nTOP, 50.\n") +
                         static_step("*TEMPERATURE\n5, 60.\n") + static_step("*TEMPERATURE, OP=NEW\n6, 70.\n"));
  EXPECT_EQ(job.domains[0]->initial_temperature(3), 20.0);
  EXPECT_TRUE(loads(job, 0).temperatures().empty());
  EXPECT_EQ(loads(job, 1).temperatures(), (std::vector<double>{20, 20, 20, 20, 50, 50, 50, 50}));
  EXPECT_EQ(loads(job, 2).temperatures(), (std::vector<double>{20, 20, 20, 20, 60, 50, 50, 50}));
  EXPECT_EQ(loads(job, 3).temperatures(), (std::vector<double>{20, 20, 20, 20, 20, 70, 20, 20}));
  // The start may differ from node to node; nodes without a temperature keep theirs.
  const Job mixed = job_of(model + "*INITIAL CONDITIONS, TYPE=TEMPERATURE\nNALL, 20.\nTOP, 30.\n" +
                           static_step("*TEMPERATURE\n1, 50.\n5, 50.\n*NODE PRINT, NSET=TOP\nU, NT\n"));
  EXPECT_EQ(mixed.domains[0]->initial_temperature(0), 20.0);
  EXPECT_EQ(mixed.domains[0]->initial_temperature(7), 30.0);
  EXPECT_EQ(loads(mixed, 0).temperatures(), (std::vector<double>{50, 20, 20, 20, 50, 30, 30, 30}));
  ASSERT_EQ(mixed.steps[0].prints.size(), 1u);
  EXPECT_EQ(mixed.steps[0].prints[0].quantities, (std::vector<std::string>{"U", "NT"}));
}

TEST(DeckSteps, StaticStepsTakeTheTemperaturesOfTheHeatStepBefore) {
  const std::string heat = heat_step("*BOUNDARY\nBOTTOM, 11, 11, 3.\n");
  const Job job = job_of(cube_model() + clamped + static_step("*TEMPERATURE\nTOP, 50.\n") + heat + static_step("") +
                         static_step("*TEMPERATURE\n5, 60.\n"));
  EXPECT_FALSE(job.steps[0].heated_by);
  ASSERT_TRUE(job.steps[2].heated_by);
  EXPECT_EQ(*job.steps[2].heated_by, 1u);
  EXPECT_TRUE(loads(job, 2).temperatures().empty());  // those of the step before the heat step are forgotten
  const auto& own = loads(job, 3).temperatures();
  EXPECT_EQ(own[4], 60.0);
  EXPECT_TRUE(std::isnan(own[5]));
}

TEST(DeckSteps, TemperaturesOfSingleNodes) {
  Domain d;
  d.add_node(3, 0, 0);
  d.add_node(5, 1, 0);
  LoadCase& c = d.add_load_case("warm");
  c.temperature_at(5, 40);
  EXPECT_TRUE(std::isnan(c.temperatures()[0]));
  EXPECT_EQ(c.temperatures()[1], 40);
  expect_error(ErrorCode::not_found, {"node 9"}, [&] { c.temperature_at(9, 1); });
  expect_error(ErrorCode::bad_input, {"not a finite number"}, [&] { c.temperature_at(3, INFINITY); });
}

TEST(DeckSteps, PrintsAreCheckedAndKept) {
  const Job job =
      job_of(cube_model() + clamped + static_step("*NODE PRINT, NSET=TOP\nU, RF\n*EL PRINT, ELSET=EALL\nS\n"));
  ASSERT_EQ(job.steps[0].prints.size(), 2u);
  EXPECT_EQ(job.steps[0].prints[0].set, "TOP");
  EXPECT_EQ(job.steps[0].prints[1].at, PrintRequest::At::elements);
}

}  // namespace
}  // namespace voussoir
