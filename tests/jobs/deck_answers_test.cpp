#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include <voussoir/framework/io/deck/deck_reader.hpp>
#include <voussoir/jobs/run_job.hpp>

// Decks, read and solved: closed forms, and what CalculiX 2.20 prints for the same deck.

namespace voussoir {
namespace {

struct Answer {
  Job job;
  JobResult result;

  double at(std::size_t step, Id node, const std::string& unknown) const {
    const Domain& d = *job.domains[job.steps[step].domain];
    return result.steps[step].unknowns.at(d.node_index(node), unknown);
  }
};

Answer solve(const std::string& text) {
  Answer a;
  a.job = read_deck_text(text, "test.inp");
  StaticOptions options;
  options.backend = "openmp:1";
  a.result = run_job(a.job, options);
  return a;
}

const std::string cube =
    "*NODE, NSET=NALL\n1,0,0,0\n2,1,0,0\n3,1,1,0\n4,0,1,0\n5,0,0,1\n6,1,0,1\n7,1,1,1\n8,0,1,1\n"
    "*NSET, NSET=TOP\n5,6,7,8\n*NSET, NSET=BOT\n1,2,3,4\n"
    "*ELEMENT, TYPE=C3D8, ELSET=EALL\n1,1,2,3,4,5,6,7,8\n";
const std::string section = "*SOLID SECTION, ELSET=EALL, MATERIAL=M\n";
const std::string clamped = "*BOUNDARY\nBOT, 1, 3\n";

/// CalculiX prints seven digits.
void expect_printed(double value, double printed, double largest) { EXPECT_NEAR(value, printed, 6e-7 * largest); }

TEST(DeckAnswers, RigidBodyAsInCalculiX) {
  const Answer a = solve(cube + "*NODE\n20,0.3,0.4,1.5\n21,0.3,0.4,1.5\n*MATERIAL, NAME=M\n*ELASTIC\n1000.,0.3\n" +
                         section + "*RIGID BODY, NSET=TOP, REF NODE=20, ROT NODE=21\n" + clamped +
                         "*STEP\n*STATIC\n*CLOAD\n20,1,1.\n20,3,2.\n21,3,1.5\n21,1,0.7\n*END STEP\n");
  expect_printed(a.at(0, 20, "ux"), 1.480267e-2, 0.025);
  expect_printed(a.at(0, 20, "uz"), 3.080381e-3, 0.025);
  expect_printed(a.at(0, 21, "uz"), 2.496000e-2, 0.025);  // the rotation
  expect_printed(a.at(0, 8, "uz"), 8.072381e-3, 0.025);
  // Moments on the rotation node are no forces.
  const std::vector<double> load{1, 0, 2};
  for (int k = 0; k < 3; ++k) {
    EXPECT_NEAR(a.result.steps[0].load_sum[k], load[k], 1e-12) << k;
    EXPECT_NEAR(a.result.steps[0].reaction_sum[k], -load[k], 1e-10) << k;
  }
}

TEST(DeckAnswers, AMomentOnTheReferenceNodeIsTheSameWithoutARotationNode) {
  const Answer a = solve(cube + "*NODE\n20,0.3,0.4,1.5\n*MATERIAL, NAME=M\n*ELASTIC\n1000.,0.3\n" + section +
                         "*RIGID BODY, NSET=TOP, REF NODE=20\n" + clamped +
                         "*STEP\n*STATIC\n*CLOAD\n20,1,1.\n20,3,2.\n20,6,1.5\n20,4,0.7\n*END STEP\n");
  expect_printed(a.at(0, 20, "ux"), 1.480267e-2, 0.025);
  expect_printed(a.at(0, 8, "uz"), 8.072381e-3, 0.025);
}

TEST(DeckAnswers, TurnedOrthotropicBodyWithLocalSupportsAndHeatAsInCalculiX) {
  const Answer a = solve(cube +
                         "*NSET, NSET=T2\n6,7\n*MATERIAL, NAME=M\n*ELASTIC, TYPE=ENGINEERING CONSTANTS\n"
                         "1000.,500.,800.,0.3,0.2,0.1,200.,300.,\n250.,\n*EXPANSION, TYPE=ORTHO\n1.E-5,2.E-5,3.E-5\n"
                         "*ORIENTATION, NAME=O, SYSTEM=RECTANGULAR\n1.,1.,0.,-1.,1.,0.\n3,20.\n"
                         "*SOLID SECTION, ELSET=EALL, MATERIAL=M, ORIENTATION=O\n"
                         "*TRANSFORM, NSET=T2, TYPE=C\n-1.,-1.,0.,-1.,-1.,1.\n" +
                         clamped +
                         "*INITIAL CONDITIONS, TYPE=TEMPERATURE\nNALL, 10.\n"
                         "*STEP\n*STATIC\n*BOUNDARY\n6,1,1,0.01\n*CLOAD\n7,2,5.\n*TEMPERATURE\nNALL,60.\n*END STEP\n");
  expect_printed(a.at(0, 5, "ux"), -3.051002e-3, 0.047);
  expect_printed(a.at(0, 5, "uy"), -7.417784e-3, 0.047);
  expect_printed(a.at(0, 8, "ux"), -4.634245e-2, 0.047);
  expect_printed(a.at(0, 8, "uz"), -1.734257e-2, 0.047);
}

TEST(DeckAnswers, MaterialOverTemperatureAsInCalculiX) {
  const Answer a =
      solve(cube +
            "*MATERIAL, NAME=M\n*ELASTIC\n1000.,0.3,0.\n500.,0.2,100.\n*EXPANSION, ZERO=20.\n1.E-5,0.\n"
            "3.E-5,100.\n" +
            section + clamped +
            "*INITIAL CONDITIONS, TYPE=TEMPERATURE\nNALL,50.\n*STEP\n*STATIC\n*TEMPERATURE\nNALL,80.\n*END STEP\n");
  EXPECT_NEAR(a.at(0, 7, "ux"), 6.455433e-4, 2e-9);
  EXPECT_NEAR(a.at(0, 7, "uz"), 1.137386e-3, 2e-9);
}

TEST(DeckAnswers, ModulusOverTemperatureWithoutExpansionAsInCalculiX) {
  // E = 1000 at 0°, 2000 at 100°; the cube is at 50°, wherever it started from, and stretched by 0.1.
  const Answer a = solve(cube + "*MATERIAL, NAME=M\n*ELASTIC\n1000.,0.,0.\n2000.,0.,100.\n" + section +
                         "*INITIAL CONDITIONS, TYPE=TEMPERATURE\nNALL,100.\n7,50.\n*BOUNDARY\nBOT,1,3\nTOP,1,2\n"
                         "TOP,3,3,0.1\n*STEP\n*STATIC\n*TEMPERATURE\nNALL,50.\n*END STEP\n"
                         "*STEP\n*STATIC\n*TEMPERATURE, OP=NEW\n*END STEP\n");
  for (int p = 0; p < 8; ++p) {
    EXPECT_NEAR(a.result.steps[0].points.at(0).at(0, p, "szz"), 150, 1e-10);
    // Without a temperature it is at its start, 93.75° in the mean.
    EXPECT_NEAR(a.result.steps[1].points.at(0).at(0, p, "szz"), 193.75, 1e-10);
  }
}

TEST(DeckAnswers, InitialTemperaturesOfNodesAndTablesAsInCalculiX) {
  const Answer a = solve(cube +
                         "*MATERIAL, NAME=M\n*ELASTIC\n1000.,0.3,0.\n500.,0.2,100.\n*EXPANSION, ZERO=20.\n1.E-5,0.\n"
                         "3.E-5,100.\n" +
                         section + clamped +
                         "*INITIAL CONDITIONS, TYPE=TEMPERATURE\nNALL,50.\n5,10.\n6,95.\n2,130.\n"
                         "*STEP\n*STATIC\n*TEMPERATURE\nNALL,80.\n7,20.\n*END STEP\n");
  expect_printed(a.at(0, 7, "ux"), 2.600499e-4, 4.6e-4);
  expect_printed(a.at(0, 7, "uz"), 4.624435e-4, 4.6e-4);
  expect_printed(a.result.steps[0].points.at(0).at(0, 0, "sxx"), -2.481860e-1, 0.25);
  expect_printed(a.result.steps[0].points.at(0).at(0, 7, "szz"), 6.509831e-2, 0.25);
}

TEST(DeckAnswers, HeatActsOnABodyWhoseInitialTemperatureDiffers) {
  // The heat step gives 80° everywhere. The bar is free along z, ν = 0; its start is 20° below and 60° above, 40° in
  // the mean, so it lengthens by 1e-5 · 40.
  const Answer a =
      solve(cube + "*MATERIAL, NAME=M\n*ELASTIC\n1000.,0.\n*EXPANSION\n1.E-5\n*CONDUCTIVITY\n3.\n" + section +
            "*INITIAL CONDITIONS, TYPE=TEMPERATURE\nBOT,20.\nTOP,60.\n"
            "*STEP\n*HEAT TRANSFER, STEADY STATE\n*BOUNDARY\nBOT,11,11,80.\n*END STEP\n"
            "*STEP\n*STATIC\n*BOUNDARY\nBOT,1,3\nTOP,1,2\n*END STEP\n");
  EXPECT_NEAR(a.at(0, 7, "T"), 80, 1e-9);
  EXPECT_NEAR(a.at(1, 7, "uz"), 4e-4, 1e-12);
}

TEST(DeckAnswers, NodalLoadsOnRingsAreOfTheWholeCircle) {
  // A ring of height 1 between r = 1 and 2 that is pulled with 10 in all: at its corners and the middle of its edge as
  // a uniform stress 10/(3π) would, ν = 0. It lengthens by σ/E.
  using std::numbers::pi;
  const auto share = [](double part) { return std::to_string(10 * part); };
  const Answer a = solve(
      "*NODE, NSET=NALL\n1,1,0\n2,2,0\n3,2,1\n4,1,1\n5,1.5,0\n6,2,.5\n7,1.5,1\n8,1,.5\n*NSET, NSET=BOT\n1,2,5\n"
      "*ELEMENT, TYPE=CAX8, ELSET=EALL\n1,1,2,3,4,5,6,7,8\n*MATERIAL, NAME=M\n*ELASTIC\n1000.,0.\n" +
      section + "*BOUNDARY\nBOT, 2, 2\n*STEP\n*STATIC\n*CLOAD\n4,2," + share(1.0 / 9) + "\n3,2," + share(2.0 / 9) +
      "\n7,2," + share(6.0 / 9) + "\n*END STEP\n");
  for (Id n : {3, 4, 7}) EXPECT_NEAR(a.at(0, n, "uy"), 10 / (3 * pi) / 1000, 2e-9);
}

TEST(DeckAnswers, ABodyIsHeatedAndThenStretches) {
  // Heat flows from bottom (20) to top (film to 140, h = k/L: half of the drop is in the film), so the top is at 80;
  // the bar is free along z, ν = 0, and started at 20: u_z(1) = α · mean(T − 20) = 1e-5 · 30.
  const Answer a =
      solve(cube + "*MATERIAL, NAME=M\n*ELASTIC\n1000.,0.\n*EXPANSION\n1.E-5\n*CONDUCTIVITY\n3.\n" + section +
            "*INITIAL CONDITIONS, TYPE=TEMPERATURE\nNALL,20.\n"
            "*STEP\n*HEAT TRANSFER, STEADY STATE\n*BOUNDARY\nBOT,11,11,20.\n*FILM\n1,F2,140.,3.\n*END STEP\n"
            "*STEP\n*STATIC\n*BOUNDARY\nBOT,1,3\nTOP,1,2\n*END STEP\n"
            "*STEP\n*STATIC\n*TEMPERATURE\nNALL,120.\n*END STEP\n");
  EXPECT_NEAR(a.at(0, 7, "T"), 80, 1e-9);
  EXPECT_NEAR(a.at(1, 7, "uz"), 3e-4, 1e-12);
  EXPECT_NEAR(a.at(2, 7, "uz"), 1e-3, 1e-12);
}

TEST(DeckAnswers, FixedHoldsWhatTheStepBeforeFound) {
  const Answer a = solve(cube + "*MATERIAL, NAME=M\n*ELASTIC\n1000.,0.\n" + section + "*BOUNDARY\nBOT,1,3\nTOP,1,2\n" +
                         "*STEP\n*STATIC\n*CLOAD\nTOP,3,2.5\n*END STEP\n"
                         "*STEP\n*STATIC\n*BOUNDARY, FIXED\nTOP,3,3\n*CLOAD, OP=NEW\n*END STEP\n");
  EXPECT_NEAR(a.at(0, 6, "uz"), 0.01, 1e-12);
  EXPECT_NEAR(a.at(1, 6, "uz"), 0.01, 1e-12);
}

TEST(DeckAnswers, TiedBlocksAreOneBar) {
  const Answer a = solve(cube +
                         "*NODE\n15,0,0,1\n16,1,0,1\n17,1,1,1\n18,0,1,1\n19,0,0,2\n20,1,0,2\n21,1,1,2\n22,0,1,2\n"
                         "*ELEMENT, TYPE=C3D8, ELSET=EALL\n2,15,16,17,18,19,20,21,22\n"
                         "*SURFACE, NAME=LOW\n1,S2\n*SURFACE, NAME=HIGH\n2,S1\n*TIE, NAME=T\nHIGH, LOW\n"
                         "*MATERIAL, NAME=M\n*ELASTIC\n1000.,0.\n" +
                         section + clamped + "*STEP\n*STATIC\n*DLOAD\n2,P2,-5.\n*END STEP\n");
  EXPECT_NEAR(a.at(0, 21, "uz"), 2 * 5.0 / 1000, 1e-12);
}

}  // namespace
}  // namespace voussoir
