#include <gtest/gtest.h>

#include <cmath>

#include <voussoir/framework/io/deck/deck_reader.hpp>
#include <voussoir/jobs/run_job.hpp>

// *RADIATE: closed forms of bodies that conduct and radiate, and what CalculiX 2.20 prints.

namespace voussoir {
namespace {

Job run(const std::string& text, JobResult& result) {
  Job job = read_deck_text(text, "test.inp");
  StaticOptions options;
  options.backend = "openmp:1";
  result = run_job(job, options);
  return job;
}

double temperature(const Job& job, const JobResult& result, Id node, std::size_t step = 0) {
  return result.steps[step].unknowns.at(job.domains[0]->node_index(node), "T");
}

const std::string cube =
    "*NODE, NSET=NALL\n1,0,0,0\n2,1,0,0\n3,1,1,0\n4,0,1,0\n5,0,0,1\n6,1,0,1\n7,1,1,1\n8,0,1,1\n*NSET, "
    "NSET=BOT\n1,2,3,4\n"
    "*ELEMENT, TYPE=C3D8, ELSET=EALL\n1,1,2,3,4,5,6,7,8\n*SURFACE, NAME=LID\n1, S2\n*MATERIAL, "
    "NAME=M\n*CONDUCTIVITY\n50.\n"
    "*SOLID SECTION, ELSET=EALL, MATERIAL=M\n";
const std::string constants = "*PHYSICAL CONSTANTS, ABSOLUTE ZERO=-273.15, STEFAN BOLTZMANN=5.669E-8\n";

/// Where k (hot − T) / L = ε σ (T⁴ − sink⁴), by bisection; temperatures in kelvin.
double slab(double k, double hot, double coefficient, double sink) {
  double low = std::min(hot, sink), high = std::max(hot, sink);
  for (int i = 0; i < 200; ++i) {
    const double t = 0.5 * (low + high);
    (k * (hot - t) > coefficient * (std::pow(t, 4) - std::pow(sink, 4)) ? low : high) = t;
  }
  return 0.5 * (low + high);
}

TEST(DeckRadiation, ASlabRadiatesFromOneSide) {
  for (const char* line : {"1, R2, -12., 0.8\n", "LID, R, -12., 0.8\n"}) {
    JobResult result;
    const Job job =
        run(cube + constants + "*STEP\n*HEAT TRANSFER, STEADY STATE\n*BOUNDARY\nBOT,11,11,900.\n*RADIATE\n" + line +
                "*END STEP\n*STEP\n*HEAT TRANSFER, STEADY STATE\n*RADIATE\n1, R2, 1200., 0.8\n*END STEP\n",
            result);
    const double expected = slab(50, 1173.15, 0.8 * 5.669e-8, 261.15) - 273.15;
    for (Id n : {5, 6, 7, 8}) EXPECT_NEAR(temperature(job, result, n), expected, 1e-4);
    // A later step takes the place of what was said of the face, and heats it now.
    EXPECT_NEAR(temperature(job, result, 7, 1), slab(50, 1173.15, 0.8 * 5.669e-8, 1473.15) - 273.15, 1e-4);
  }
}

TEST(DeckRadiation, OnlyRadiationHoldsTheTemperature) {
  // Heat enters below and leaves above by radiation alone: T⁴ = sink⁴ + q / ε σ above, and q L / k more below. The
  // scale begins at absolute zero, where radiation has no slope.
  JobResult result;
  const Job job = run(cube +
                          "*PHYSICAL CONSTANTS, ABSOLUTE ZERO=0., STEFAN BOLTZMANN=5.669E-8\n*STEP\n"
                          "*HEAT TRANSFER, STEADY STATE\n*DFLUX\n1, S1, 2000.\n*RADIATE\n1, R2, 0., 0.5\n*END STEP\n",
                      result);
  const double top = std::pow(2000 / (0.5 * 5.669e-8), 0.25);
  EXPECT_NEAR(temperature(job, result, 7), top, 1e-4);
  EXPECT_NEAR(temperature(job, result, 3), top + 40, 1e-4);
}

TEST(DeckRadiation, CubeOfCalculiX) {
  // The deck oneel8ra of CalculiX's tests, and the temperature that CalculiX 2.20 prints for it.
  JobResult result;
  const Job job = run(cube + constants +
                          "*STEP\n*HEAT TRANSFER, STEADY STATE\n*BOUNDARY\nBOT,11,11,0.\n*RADIATE\n"
                          "1,R2,-12.,1.\n*END STEP\n",
                      result);
  EXPECT_NEAR(temperature(job, result, 7), slab(50, 273.15, 5.669e-8, 261.15) - 273.15, 1e-6);
  EXPECT_NEAR(temperature(job, result, 7), -0.9507386, 1e-6);
}

TEST(DeckRadiation, PlaneAndAxisymmetricEdgesRadiateToo) {
  for (const char* type : {"DC2D4", "DCAX4"}) {
    JobResult result;
    const Job job =
        run(std::string("*NODE\n1,1,0\n2,2,0\n3,2,1\n4,1,1\n*NSET, NSET=BOT\n1,2\n*ELEMENT, TYPE=") + type +
                ", ELSET=EALL\n1,1,2,3,4\n*MATERIAL, NAME=M\n*CONDUCTIVITY\n50.\n*SOLID SECTION, ELSET=EALL, "
                "MATERIAL=M\n" +
                constants +
                "*STEP\n*HEAT TRANSFER, STEADY STATE\n*BOUNDARY\nBOT,11,11,500.\n*RADIATE\n1,R3,20.,0.9\n"
                "*END STEP\n",
            result);
    EXPECT_NEAR(temperature(job, result, 3), slab(50, 773.15, 0.9 * 5.669e-8, 293.15) - 273.15, 1e-4) << type;
  }
}

TEST(DeckRadiation, WhatIsMissingIsNamed) {
  const auto refused = [](const std::string& text, const std::string& what) {
    try {
      read_deck_text(text, "test.inp");
      ADD_FAILURE() << "nothing was thrown: " << what;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(what), std::string::npos) << error.what();
    }
  };
  const std::string step = "*STEP\n*HEAT TRANSFER, STEADY STATE\n*BOUNDARY\nBOT,11,11,0.\n*RADIATE\n";
  refused(cube + step + "1,R2,20.,0.5\n*END STEP\n", "ABSOLUTE ZERO=, STEFAN BOLTZMANN=");
  refused(cube + constants + step + "1,R2,20.,1.5\n*END STEP\n", "between 0 and 1");
  refused(cube + constants + step + "1,R2,-300.,0.5\n*END STEP\n", "below ABSOLUTE ZERO");
  refused(cube + constants + step + "1,R2CR,20.,0.5\n*END STEP\n", "between faces");
  refused(cube + constants + step + "1,F2,20.,0.5\n*END STEP\n", "not a radiation load");
}

}  // namespace
}  // namespace voussoir
