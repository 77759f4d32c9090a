#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include <voussoir/framework/io/deck/deck_reader.hpp>
#include <voussoir/jobs/run_job.hpp>

// Decks with ties of meshes that do not match and with couplings, solved: constant stress, equilibrium, beam theory.

namespace voussoir {
namespace {

struct Answer {
  Job job;
  JobResult result;
  double at(Id node, const std::string& unknown, std::size_t step = 0) const {
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

/// A box of C3D8 elements with nodes and elements from `first` on; faces z = low and z = high are surfaces
/// NAME_LOW and NAME_HIGH.
std::string box(const std::string& name, int first, int nx, int ny, int nz, double low, double high) {
  std::string nodes = "*NODE, NSET=NALL\n", elements = "*ELEMENT, TYPE=C3D8, ELSET=" + name + "\n";
  const auto id = [&](int i, int j, int k) { return first + i + (nx + 1) * (j + (ny + 1) * k); };
  for (int k = 0; k <= nz; ++k)
    for (int j = 0; j <= ny; ++j)
      for (int i = 0; i <= nx; ++i)
        nodes += std::to_string(id(i, j, k)) + ", " + std::to_string(double(i) / nx) + ", " +
                 std::to_string(double(j) / ny) + ", " + std::to_string(low + (high - low) * k / nz) + "\n";
  std::string lower = "*SURFACE, NAME=" + name + "_LOW\n", upper = "*SURFACE, NAME=" + name + "_HIGH\n";
  int element = first;
  for (int k = 0; k < nz; ++k)
    for (int j = 0; j < ny; ++j)
      for (int i = 0; i < nx; ++i, ++element) {
        elements += std::to_string(element);
        for (int n : {id(i, j, k), id(i + 1, j, k), id(i + 1, j + 1, k), id(i, j + 1, k), id(i, j, k + 1),
                      id(i + 1, j, k + 1), id(i + 1, j + 1, k + 1), id(i, j + 1, k + 1)})
          elements += "," + std::to_string(n);
        elements += "\n";
        if (k == 0) lower += std::to_string(element) + ", S1\n";
        if (k == nz - 1) upper += std::to_string(element) + ", S2\n";
      }
  return nodes + elements + lower + upper + "*SOLID SECTION, ELSET=" + name + ", MATERIAL=M\n";
}

const std::string material = "*MATERIAL, NAME=M\n*ELASTIC\n1000., 0.3\n*CONDUCTIVITY\n2.\n";

/// Two boxes of n × n and m × m elements in their planes, one on the other, the upper pulled by 10: the largest
/// difference from constant stress, relative to the motion of the top.
double patch_error(int lower, int upper, bool upper_is_slave) {
  const std::string tie = upper_is_slave ? "UP_LOW, DOWN_HIGH\n" : "DOWN_HIGH, UP_LOW\n";
  const int right = 1 + lower;
  const Answer a =
      solve(box("DOWN", 1, lower, lower, 2, 0, 1) + box("UP", 1001, upper, upper, 2, 1, 2) + material +
            "*TIE, NAME=GLUE\n" + tie + "*NSET, NSET=FOOT, GENERATE\n1, " + std::to_string((lower + 1) * (lower + 1)) +
            "\n*STEP\n*STATIC\n*BOUNDARY\nFOOT, 3, 3\n1, 1, 2\n" + std::to_string(right) +
            ", 2, 2\n*DSLOAD\nUP_HIGH, P, -10.\n*END STEP\n");
  const Domain& d = *a.job.domains[0];
  double worst = 0;
  for (std::int32_t n = 0; n < d.node_count(); ++n) {
    const double* x = &d.coordinates()[3 * static_cast<std::size_t>(n)];
    const double exact[3] = {-0.003 * x[0], -0.003 * x[1], 0.01 * x[2]};
    const char* const names[] = {"ux", "uy", "uz"};
    for (int k = 0; k < 3; ++k)
      worst = std::max(worst, std::abs(a.result.steps[0].unknowns.at(n, names[k]) - exact[k]) / 0.02);
  }
  return worst;
}

TEST(DeckTieAnswers, ConstantStressPassesWhereTheSlaveRefinesTheMaster) {
  EXPECT_LT(patch_error(2, 2, true), 1e-10);
  EXPECT_LT(patch_error(1, 2, true), 1e-10);
  EXPECT_LT(patch_error(1, 3, true), 1e-10);
  EXPECT_LT(patch_error(2, 4, true), 1e-10);
  EXPECT_LT(patch_error(4, 2, false), 1e-10);
}

TEST(DeckTieAnswers, OtherMeshesComeNearToConstantStress) {
  // Forces of slave nodes reach the master by interpolation, which is exact where the master's shape functions are
  // linear between slave nodes. Elsewhere an error remains, as with every node-to-face tie.
  EXPECT_LT(patch_error(2, 3, true), 0.05);
  EXPECT_LT(patch_error(3, 5, true), 0.02);
  EXPECT_GT(patch_error(2, 3, true), 1e-6);
}

TEST(DeckTieAnswers, HeatFlowsThroughMeshesThatDoNotMatch) {
  const Answer a =
      solve(box("DOWN", 1, 2, 2, 2, 0, 1) + box("UP", 1001, 4, 4, 2, 1, 2) + material +
            "*TIE, NAME=GLUE\nUP_LOW, DOWN_HIGH\n*NSET, NSET=FOOT, GENERATE\n1, 9\n*STEP\n"
            "*HEAT TRANSFER, STEADY STATE\n*BOUNDARY\nFOOT, 11, 11, 20.\n*DFLUX\nUP_HIGH, S, 6.\n*END STEP\n");
  const Domain& d = *a.job.domains[0];
  for (std::int32_t n = 0; n < d.node_count(); ++n)
    EXPECT_NEAR(a.result.steps[0].unknowns.at(n, "T"), 20 + 3 * d.coordinates()[3 * static_cast<std::size_t>(n) + 2],
                1e-9);
}

/// A bar of 1 × 1 × length clamped at z = 0 (ν = 0), with the reference node 9999 in the middle of its end.
std::string bar(const std::string& coupling, const std::string& loads, int length = 8) {
  const int n = 4;
  return box("BAR", 1, n, n, 4 * length, 0, length) +
         "*MATERIAL, NAME=M\n*ELASTIC\n1000., 0.\n*NODE\n9999, 0.5, 0.5, " + std::to_string(length) +
         "\n*COUPLING, CONSTRAINT NAME=C, REF NODE=9999, SURFACE=BAR_HIGH\n" + coupling +
         "*NSET, NSET=FOOT, GENERATE\n1, 25\n*STEP\n*STATIC\n*BOUNDARY\nFOOT, 1, 3\n" + loads + "*END STEP\n";
}

TEST(DeckCouplingAnswers, DistributingPullsEvenly) {
  // ν = 0: u = F z / E A exactly where the force is shared out by area.
  const Answer a = solve(bar("*DISTRIBUTING\n", "*CLOAD\n9999, 3, 5.\n", 2));
  const Domain& d = *a.job.domains[0];
  for (std::int32_t n = 0; n < a.job.own_nodes - 1; ++n)
    EXPECT_NEAR(a.result.steps[0].unknowns.at(n, "uz"), 0.005 * d.coordinates()[3 * static_cast<std::size_t>(n) + 2],
                1e-12);
  EXPECT_NEAR(a.at(9999, "uz"), 0.01, 1e-12);
}

TEST(DeckCouplingAnswers, MomentsAndForcesBendLikeABeam) {
  // C3D8I would be exact; plain C3D8 with four layers are a little stiff. The two couplings differ by what the end's
  // warping does, and both carry the whole moment: the tip rotates by M L / E I and moves by M L² / 2 E I.
  const double inertia = 1.0 / 12, moment = 2, rotation = moment * 8 / (1000 * inertia);
  for (const char* kind : {"*DISTRIBUTING\n", "*KINEMATIC\n1, 6\n"}) {
    const Answer a = solve(bar(kind, "*CLOAD\n9999, 4, 2.\n"));
    EXPECT_NEAR(a.at(9999, "uy") / (-rotation * 4), 1, 0.07) << kind;
    const Answer sheared = solve(bar(kind, "*CLOAD\n9999, 2, 1.\n"));
    const double deflection = 512 / (3 * 1000 * inertia) + 8 / (5.0 / 6 * 500);
    EXPECT_NEAR(sheared.at(9999, "uy") / deflection, 1, 0.07) << kind;
    // Betti: the motion by the moment under the force is the rotation by the force under the moment.
    EXPECT_NEAR(a.at(9999, "uy") / 2, sheared.at(10000, "ux"), 1e-9) << kind;
  }
}

TEST(DeckCouplingAnswers, ReferenceMotionsMoveTheSurface) {
  // The end is turned by 0.01 about x; all forces of the clamp sum up to a moment alone.
  for (const char* kind : {"*DISTRIBUTING\n", "*KINEMATIC\n"}) {
    const Answer a = solve(bar(kind, "*BOUNDARY\n9999, 4, 4, 0.01\n"));
    EXPECT_NEAR(a.at(9999, "uy") / (-0.01 * 4), 1, 0.02) << kind;
  }
}

TEST(DeckFixed, LocalDirectionsAreHeldWhereTheStepBeforeLeftThem) {
  // Local axis 1 of node 7 is turned by 30 degrees about z. Step 1 pushes the node; step 2 holds its local 1 alone.
  const std::string cube =
      "*NODE, NSET=NALL\n1,0,0,0\n2,1,0,0\n3,1,1,0\n4,0,1,0\n5,0,0,1\n6,1,0,1\n7,1,1,1\n8,0,1,1\n*NSET, NSET=BOT\n"
      "1,2,3,4\n*NSET, NSET=SEVEN\n7\n*ELEMENT, TYPE=C3D8, ELSET=EALL\n1,1,2,3,4,5,6,7,8\n"
      "*MATERIAL, NAME=M\n*ELASTIC\n1000.,0.3\n*SOLID SECTION, ELSET=EALL, MATERIAL=M\n"
      "*TRANSFORM, NSET=SEVEN\n0.8660254037844387, 0.5, 0, -0.5, 0.8660254037844387, 0\n*BOUNDARY\nBOT,1,3\n";
  const Answer a = solve(cube +
                         "*STEP\n*STATIC\n*CLOAD\n7,1,2.\n7,2,1.\n*END STEP\n"
                         "*STEP\n*STATIC\n*BOUNDARY, FIXED\n7,1,1\n*CLOAD, OP=NEW\n*END STEP\n"
                         "*STEP\n*STATIC\n*BOUNDARY, FIXED\n7,2,2\n*BOUNDARY\n7,3,3,0.1\n*END STEP\n");
  const auto local = [&](std::size_t step, int axis) {
    const double c = std::sqrt(0.75), s = 0.5, x = a.at(7, "ux", step), y = a.at(7, "uy", step);
    return axis == 1 ? c * x + s * y : -s * x + c * y;
  };
  EXPECT_GT(std::abs(local(0, 1)), 1e-3);
  EXPECT_NEAR(local(1, 1), local(0, 1), 1e-12);
  EXPECT_GT(std::abs(local(1, 2) - local(0, 2)), 1e-5) << "the other directions are free";
  EXPECT_NEAR(local(2, 1), local(1, 1), 1e-12);
  EXPECT_NEAR(local(2, 2), local(1, 2), 1e-12);
  EXPECT_NEAR(a.at(7, "uz", 2), 0.1, 1e-12);
}

TEST(DeckNetworkPressure, TheNodeOfTheLoadHasThePressure) {
  const std::string deck =
      "*NODE, NSET=NALL\n1,0,0,0\n2,1,0,0\n3,1,1,0\n4,0,1,0\n5,0,0,1\n6,1,0,1\n7,1,1,1\n8,0,1,1\n262,0,0,0\n"
      "*NSET, NSET=BOT\n1,2,3,4\n*ELEMENT, TYPE=C3D8, ELSET=EALL\n1,1,2,3,4,5,6,7,8\n"
      "*MATERIAL, NAME=M\n*ELASTIC\n1000.,0.\n*SOLID SECTION, ELSET=EALL, "
      "MATERIAL=M\n*BOUNDARY\nBOT,1,3\n*STEP\n*STATIC\n"
      "*DLOAD\n1,P2NP,262\n";
  const Answer a = solve(deck + "*BOUNDARY\n262,2,2,-5.\n*END STEP\n");
  EXPECT_NEAR(a.at(7, "uz"), 0.005, 1e-12);
  EXPECT_TRUE(a.job.notes.empty());
  try {
    solve(deck + "*END STEP\n");
    FAIL() << "the pressure is not known";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("uses the pressure of node 262"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace voussoir
