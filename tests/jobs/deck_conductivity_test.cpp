#include <gtest/gtest.h>

#include <cmath>

#include <voussoir/framework/io/deck/deck_reader.hpp>
#include <voussoir/jobs/run_job.hpp>

// *CONDUCTIVITY that depends on temperature: closed forms, and how many iterations they take.

namespace voussoir {
namespace {

/// A bar along x from 0 to 8: eight cubes, of which node 1 is at x = 0. `table` are the lines of *CONDUCTIVITY.
std::string bar(const std::string& table) {
  std::string text = "*NODE\n";
  const int corner[4][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};
  for (int i = 0; i <= 8; ++i)
    for (int c = 0; c < 4; ++c)
      text += std::to_string(4 * i + c + 1) + "," + std::to_string(i) + "," + std::to_string(corner[c][0]) + "," +
              std::to_string(corner[c][1]) + "\n";
  text += "*ELEMENT, TYPE=DC3D8, ELSET=EALL\n";
  for (int i = 0; i < 8; ++i) {
    text += std::to_string(i + 1);
    for (int n = 4 * i + 1; n <= 4 * i + 8; ++n) text += "," + std::to_string(n);
    text += "\n";
  }
  return text + "*NSET, NSET=COLD\n1,2,3,4\n*NSET, NSET=WARM\n33,34,35,36\n*SURFACE, NAME=END\n8, S2\n" +
         "*MATERIAL, NAME=M\n*CONDUCTIVITY\n" + table + "*SOLID SECTION, ELSET=EALL, MATERIAL=M\n";
}
const std::string step = "*STEP\n*HEAT TRANSFER, STEADY STATE\n";

JobResult run(Job& job, const std::string& tangent, const std::string& solver = "auto") {
  StaticOptions options;
  options.backend = "openmp:1";
  options.solver = solver;
  options.tangent = tangent;
  return run_job(job, options);
}

std::size_t iterations(const StepResult& result) { return result.report.history.size() - 1; }

TEST(DeckConductivity, TakesTheFullTangentUnasked) {
  // k = 5 + 0.15 T: T + 0.015 T² is linear in x (Kirchhoff's transformation).
  const std::string deck = bar("5., 0.\n20., 100.\n") + step + "*BOUNDARY\nCOLD,11,11,0.\nWARM,11,11,100.\n*END STEP\n";
  std::size_t full = 0, symmetric = 0;
  for (const std::string tangent : {"auto", "full", "symmetric"}) {
    Job job = read_deck_text(deck, "test.inp");
    const JobResult result = run(job, tangent);
    const StepResult& found = result.steps[0];
    for (int i = 0; i <= 8; ++i)
      EXPECT_NEAR(found.unknowns.at(job.domains[0]->node_index(4 * i + 1), "T"),
                  (std::sqrt(1 + 0.06 * 250.0 * i / 8) - 1) / 0.03, 1e-6)
          << tangent;
    (tangent == "symmetric" ? symmetric : full) = iterations(found);
    const std::string told = (tangent == "symmetric" ? "symmetric" : "full") + std::string(" tangent");
    EXPECT_EQ(found.report.choice.find(told), 0u) << found.report.choice;
  }
  EXPECT_LE(full, 6u);
  EXPECT_GE(symmetric, 9u);
}

TEST(DeckConductivity, SolversForSymmetricMatricesKeepTheSymmetricTangent) {
  const std::string deck = bar("5., 0.\n20., 100.\n") + step + "*BOUNDARY\nCOLD,11,11,0.\nWARM,11,11,100.\n*END STEP\n";
  for (const std::string solver : {"cg", "cg+amg", "gmres+amg", "direct:profile", "direct:band"}) {
    Job job = read_deck_text(deck, "test.inp");
    const StepResult found = run(job, "auto", solver).steps[0];
    EXPECT_GE(iterations(found), 9u) << solver;
    EXPECT_NE(found.report.choice.find("symmetric tangent, since solver '" + solver + "'"), std::string::npos)
        << found.report.choice;
  }
  Job job = read_deck_text(deck, "test.inp");
  EXPECT_LE(iterations(run(job, "auto", "gmres").steps[0]), 6u);
  EXPECT_THROW(run(job, "full", "cg"), Error);
  EXPECT_THROW(run(job, "ful"), Error);
}

TEST(DeckConductivity, FilmsRadiationInitialTemperaturesAndSeveralSteps) {
  const std::string deck = bar("5., 0.\n20., 100.\n4., 300.\n4., 800.\n30., 900.\n") +
                           "*PHYSICAL CONSTANTS, ABSOLUTE ZERO=-273.15, STEFAN BOLTZMANN=5.669E-8\n"
                           "*INITIAL CONDITIONS, TYPE=TEMPERATURE\nCOLD, 300.\nWARM, 20.\n" +
                           step + "*BOUNDARY\nCOLD,11,11,850.\n*FILM\n8, F2, 20., 3.\n*RADIATE\n8, R2, -12., 0.8\n" +
                           "*DFLUX\n3, S4, 200.\n*END STEP\n" + step +
                           "*BOUNDARY, OP=NEW\nCOLD,11,11,100.\n*DFLUX, OP=NEW\n*END STEP\n";
  Job job = read_deck_text(deck, "test.inp");
  const JobResult full = run(job, "full"), symmetric = run(job, "symmetric"), chosen = run(job, "auto");
  ASSERT_EQ(full.steps.size(), 2u);
  for (std::size_t s = 0; s < 2; ++s) {
    for (std::int32_t n = 0; n < job.domains[0]->node_count(); ++n) {
      EXPECT_NEAR(full.steps[s].unknowns.at(n, "T"), symmetric.steps[s].unknowns.at(n, "T"), 1e-4) << n;
      EXPECT_EQ(full.steps[s].unknowns.at(n, "T"), chosen.steps[s].unknowns.at(n, "T")) << n;
    }
    EXPECT_LT(iterations(full.steps[s]), iterations(symmetric.steps[s]));
  }
}

}  // namespace
}  // namespace voussoir
