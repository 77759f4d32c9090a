#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "deck_text.hpp"
#include "support/expect_error.hpp"

// Steps of modes and of mode superposition in decks.

namespace voussoir {
namespace {

using namespace voussoir::testing;

std::string step_of(const std::string& cards) { return "*STEP\n" + cards + "*END STEP\n"; }

const std::string model = cube_model() +
                          "*AMPLITUDE, NAME=RAMP\n0., 0., 2., 4.\n*AMPLITUDE, NAME=LATER, TIME=TOTAL TIME\n"
                          "0., 0., 10., 10.\n" +
                          clamped;
const std::string modes = step_of("*FREQUENCY, STORAGE=YES\n4\n");

TEST(DeckModalSteps, FrequencyTakesNumberAndInterval) {
  const Job job = job_of(model + step_of("*FREQUENCY\n5, 1., 20.\n") + step_of("*FREQUENCY\n, 2., 30.\n"));
  ASSERT_EQ(job.steps.size(), 2u);
  const auto& first = std::get<FrequencyStep>(job.steps[0].modal);
  EXPECT_EQ(job.steps[0].procedure, Procedure::frequency);
  EXPECT_EQ(first.modes, 5);
  EXPECT_EQ(first.from, 1.);
  EXPECT_EQ(first.below, 20.);
  EXPECT_EQ(std::get<FrequencyStep>(job.steps[1].modal).modes, 0);
}

TEST(DeckModalSteps, LoadsAreSplitByAmplitude) {
  const Job job = job_of(model + modes +
                         step_of("*MODAL DYNAMIC\n0.5, 2.\n*CLOAD, AMPLITUDE=RAMP\n5, 1, 3.\n*CLOAD\n6, 2, 7.\n"
                                 "*DLOAD, AMPLITUDE=RAMP\n1, P2, 11.\n"));
  const auto& step = std::get<ModalDynamicStep>(job.steps[1].modal);
  EXPECT_EQ(step.modes_of, 0u);
  EXPECT_FALSE(step.continues);
  EXPECT_EQ(step.increment, 0.5);
  EXPECT_EQ(step.period, 2.);
  ASSERT_EQ(step.loads.size(), 2u);
  const Domain& domain = *job.domains[0];
  double constant = 0, timed = 0;
  for (const StepLoad& load : step.loads) {
    const LoadCase& of = domain.load_case(load.load_case);
    const bool is_timed = load.amplitude.at(1) == 2;
    EXPECT_EQ(of.surface_loads().size(), is_timed ? 1u : 0u);
    for (const auto& nodal : of.nodal_loads()) (is_timed ? timed : constant) += nodal.value;
    EXPECT_EQ(load.amplitude.at(0), is_timed ? 0 : 1);
  }
  EXPECT_EQ(timed, 3.);
  EXPECT_EQ(constant, 7.);
}

TEST(DeckModalSteps, TotalTimeBeginsWithTheFirstStep) {
  const std::string dynamic = "*MODAL DYNAMIC\n1., 3.\n*CLOAD, AMPLITUDE=LATER\n5, 1, 1.\n";
  const Job job = job_of(model + modes + step_of(dynamic) + step_of(dynamic));
  const auto& second = std::get<ModalDynamicStep>(job.steps[2].modal);
  EXPECT_EQ(second.start, 3.);
  EXPECT_EQ(second.continues, std::optional<std::size_t>(1));
  EXPECT_EQ(second.loads.at(0).amplitude.at(0), 3.);
  EXPECT_EQ(job.steps[2].total_time, 6.);
}

TEST(DeckModalSteps, FrequencyStepInBetweenBeginsAtRest) {
  const std::string dynamic = step_of("*MODAL DYNAMIC\n1., 3.\n*CLOAD\n5, 1, 1.\n");
  const Job job = job_of(model + modes + dynamic + modes + dynamic);
  const auto& last = std::get<ModalDynamicStep>(job.steps[3].modal);
  EXPECT_EQ(last.modes_of, 2u);
  EXPECT_FALSE(last.continues);
}

TEST(DeckModalSteps, DampingLastsAndIsByRanges) {
  const Job job = job_of(model + modes + step_of("*MODAL DYNAMIC\n1., 1.\n*MODAL DAMPING\n1, 2, .05\n3, 4, .1\n") +
                         step_of("*STEADY STATE DYNAMICS\n1., 9., 7, 2.\n*CLOAD, LOAD CASE=2\n5, 1, 1.\n"));
  const auto& dynamic = std::get<ModalDynamicStep>(job.steps[1].modal);
  const std::vector<double> omegas{1, 2, 3, 4};
  const std::vector<double> ratios{.05, .05, .1, .1};
  for (std::size_t m = 0; m < 4; ++m) {
    EXPECT_DOUBLE_EQ(dynamic.damping.of(4).damping_ratios(omegas)[m], ratios[m]);
    EXPECT_DOUBLE_EQ(std::get<HarmonicStep>(job.steps[2].modal).damping.of(4).damping_ratios(omegas)[m], ratios[m]);
  }
  const auto& harmonic = std::get<HarmonicStep>(job.steps[2].modal);
  EXPECT_EQ(harmonic.points, 7u);
  EXPECT_EQ(harmonic.bias, 2.);
  EXPECT_EQ(harmonic.loads.at(0).real, 0.);
  EXPECT_EQ(harmonic.loads.at(0).imaginary, 1.);
}

TEST(DeckModalSteps, BaseMotionAndInitialMotion) {
  const Job job = job_of(cube_model() + "*AMPLITUDE, NAME=RAMP\n0., 0., 2., 4.\n" + clamped +
                         "*INITIAL CONDITIONS, TYPE=VELOCITY\nTOP, 2, 3.\n" + modes +
                         step_of("*MODAL DYNAMIC\n1., 1.\n*BASE MOTION, DOF=2, AMPLITUDE=RAMP, SCALE=9.81\n"));
  const auto& step = std::get<ModalDynamicStep>(job.steps[1].modal);
  ASSERT_EQ(step.base.size(), 1u);
  EXPECT_EQ(step.base[0].direction, 1);
  EXPECT_EQ(step.base[0].real, 9.81);
  EXPECT_EQ(step.base[0].acceleration.at(1), 2.);
  ASSERT_EQ(step.velocity.size(), 4u);
  EXPECT_EQ(step.velocity[0].unknown, "uy");
}

TEST(DeckModalSteps, TimePointsAndFrequencyOfTables) {
  const Job job = job_of("*TIME POINTS, NAME=T1, GENERATE\n0.5, 1.5, 0.5\n" + model + modes +
                         step_of("*MODAL DYNAMIC\n0.1, 2.\n*CLOAD\n5, 1, 1.\n*NODE PRINT, NSET=TOP, TIME POINTS=T1\nU\n"
                                 "*EL PRINT, ELSET=EALL, FREQUENCY=4\nS\n*NODE FILE, FREQUENCY=10\nU\n"));
  ASSERT_EQ(job.steps[1].prints.size(), 2u);
  EXPECT_EQ(job.steps[1].prints[0].times, (std::vector<double>{.5, 1., 1.5}));
  EXPECT_EQ(job.steps[1].prints[1].every, 4);
  EXPECT_EQ(std::get<ModalDynamicStep>(job.steps[1].modal).states.every, 10);
}

TEST(DeckModalSteps, AbaqusForgetsLoadsOfOtherSteps) {
  const std::string text = model + static_step("*CLOAD\n5, 1, 3.\n") + modes + step_of("*MODAL DYNAMIC\n1., 1.\n");
  EXPECT_EQ(std::get<ModalDynamicStep>(job_of(text).steps[2].modal).loads.size(), 1u);
  EXPECT_TRUE(std::get<ModalDynamicStep>(job_of(text, Dialect::abaqus).steps[2].modal).loads.empty());
}

TEST(DeckModalSteps, RefusesWhatIsNotDone) {
  const std::string dynamic = "*MODAL DYNAMIC\n1., 1.\n";
  const std::vector<std::pair<std::string, std::vector<std::string>>> cases{
      {step_of(dynamic), {"no *FREQUENCY step before"}},
      {step_of("*FREQUENCY\n"), {"number of modes"}},
      {step_of("*FREQUENCY\n5, 9., 3.\n"), {"must be above the lower one"}},
      {modes + step_of("*MODAL DYNAMIC, STEADY STATE\n1., 1.\n"), {"STEADY STATE is not supported"}},
      {modes + step_of("*STEADY STATE DYNAMICS, HARMONIC=NO\n1., 2.\n"), {"HARMONIC=NO is not supported"}},
      {modes + step_of(dynamic + "*BASE MOTION, DOF=1, AMPLITUDE=RAMP, TYPE=DISPLACEMENT\n"),
       {"give the acceleration"}},
      {modes + step_of(dynamic + "*BASE MOTION, DOF=4, AMPLITUDE=RAMP\n"), {"1, 2 and 3 are supported"}},
      {modes + step_of(dynamic + "*BOUNDARY, AMPLITUDE=RAMP\nBOTTOM, 1, 1, 2.\n"), {"*BASE MOTION"}},
      {modes + step_of(dynamic + "*BOUNDARY\nTOP, 1\n"), {"supports of this step are not those"}},
      {modes + step_of(dynamic + "*TEMPERATURE\nNALL, 5.\n"), {"*TEMPERATURE is not supported"}},
      {modes + step_of(dynamic + "*CLOAD, LOAD CASE=2\n5, 1, 1.\n"), {"LOAD CASE=2"}},
      {modes + step_of(dynamic + "*CLOAD, AMPLITUDE=RAMP\n5, 1, 1.\n") + step_of(dynamic),
       {"still acts in test.inp", "AMPLITUDE", "OP=NEW"}},
      {modes + step_of(dynamic + "*CLOAD\n5, 1, 1.\n") + step_of("*STEADY STATE DYNAMICS\n1., 2.\n"), {"still acts"}},
      {modes + step_of(dynamic) + step_of("*STEADY STATE DYNAMICS\n1., 2.\n") + step_of(dynamic), {"begin at rest"}},
      {modes + "*STEP, AMPLITUDE=RAMP\n" + dynamic + "*END STEP\n", {"AMPLITUDE=RAMP is not supported"}},
      {modes + step_of(dynamic + "*MODAL DAMPING, RAYLEIGH\n1, 2, 3., 4.\n"), {"leave the first two fields empty"}},
      {static_step("*CLOAD\n5, 1, 3.\n") + "*STEP, PERTURBATION\n*FREQUENCY\n3\n*END STEP\n",
       {"takes the stress of the static step", "omit PERTURBATION"}},
      {static_step("*MODAL DAMPING\n1, 2, .1\n"), {"belong in *MODAL DYNAMIC"}},
      {modes + step_of(dynamic + "*NODE PRINT, NSET=TOP, TIME POINTS=NONE\nU\n"), {"there are no *TIME POINTS"}},
      {"*AMPLITUDE, NAME=MAGNITUDES, VALUE=ABSOLUTE\n0., 0., 1., 5.\n" + modes,
       {"test.inp:30", "VALUE=ABSOLUTE is not supported", "Omit VALUE"}},
      {heat_step("*BOUNDARY\nBOTTOM, 11, 11, 20.\nTOP, 11, 11, 80.\n") + modes + step_of(dynamic),
       {"temperatures of the *HEAT TRANSFER step at test.inp:30", "before it, or into a deck of their own"}},
  };
  for (const auto& [text, pieces] : cases) {
    SCOPED_TRACE(text);
    try {
      job_of(model + text);
      ADD_FAILURE() << "nothing was thrown";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("test.inp:"), std::string::npos) << error.what();
      for (const std::string& piece : pieces)
        EXPECT_NE(std::string(error.what()).find(piece), std::string::npos) << error.what();
    }
  }
}

TEST(DeckModalSteps, PerturbationOfAnUnloadedBodyIsTheBodyItself) {
  const Job job = job_of(model + static_step("") + "*STEP, PERTURBATION\n*FREQUENCY\n3\n*END STEP\n");
  EXPECT_EQ(std::get<FrequencyStep>(job.steps[1].modal).modes, 3);
}

TEST(DeckModalSteps, DampingOfAMaterialIsRefusedInASuperposition) {
  const std::string damped = cube_of("C3D8") + steel + "*DAMPING, ALPHA=0.1, BETA=0.\n" + solid_section + clamped;
  const std::string unused = cube_model() + "*MATERIAL, NAME=OTHER\n*ELASTIC\n1., 0.\n*DAMPING, ALPHA=0.1\n" + clamped;
  const std::string dynamic = step_of("*MODAL DYNAMIC\n0.5, 2.\n*CLOAD\n5, 1, 3.\n");
  EXPECT_NO_THROW(job_of(damped + modes));
  EXPECT_NO_THROW(job_of(unused + modes + dynamic));
  expect_error(ErrorCode::bad_input, {"test.inp:23", "'STEEL'", "*MODAL DAMPING, RAYLEIGH"},
               [&] { job_of(damped + modes + dynamic); });
}

TEST(DeckModalSteps, LoadCasesHaveNamesThatTheUserKnows) {
  const Job job =
      job_of(model + modes + step_of("*MODAL DYNAMIC\n0.5, 2.\n*CLOAD, AMPLITUDE=RAMP\n5, 1, 3.\n*CLOAD\n6, 2, 7.\n"));
  std::vector<std::string> names;
  for (const StepLoad& load : std::get<ModalDynamicStep>(job.steps[1].modal).loads) names.push_back(load.load_case);
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, (std::vector<std::string>{"loads of step 2", "loads of step 2, amplitude RAMP"}));
}

}  // namespace
}  // namespace voussoir
