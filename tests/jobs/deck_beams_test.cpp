#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include <voussoir/framework/io/deck/deck_reader.hpp>
#include <voussoir/jobs/run_job.hpp>

// Beams of decks: three nodes, plane ones, and hollow sections, against beam theory.

namespace voussoir {
namespace {

struct Answer {
  Job job;
  JobResult result;
  double at(Id node, const std::string& unknown) const {
    return result.steps[0].unknowns.at(job.domains[0]->node_index(node), unknown);
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

const std::string material = "*MATERIAL, NAME=M\n*ELASTIC\n200000., 0.25\n*DENSITY\n1.E-3\n";

/// A cantilever of one element along x, 2 long, with its middle node second, as decks have it.
std::string cantilever(const std::string& type, const std::string& section, const std::string& load) {
  const bool middle = type == "B32" || type == "B32R" || type == "B22";
  return "*NODE\n1,0,0,0\n2,1,0,0\n3,2,0,0\n*ELEMENT, TYPE=" + type + ", ELSET=E\n" +
         (middle ? "1,1,2,3\n" : "1,1,3\n") + material + section + "*STEP\n*STATIC\n*BOUNDARY\n1,1,6\n" + load +
         "*END STEP\n";
}

TEST(DeckBeams, EveryTypeAndSectionIsExactForAForceAtItsEnd) {
  const double e = 200000, g = 80000, nu = 0.25, pi = std::numbers::pi;
  struct Case {
    const char* section;
    double inertia, shear_area;
  };
  // n1 is (0, 0, −1): local y is −z, and a force along y bends about it, with the second dimension as height.
  const double r = 0.05, hole = 0.04, m = hole / r;
  const double tube_kappa =
      6 * (1 + nu) * std::pow(1 + m * m, 2) / ((7 + 6 * nu) * std::pow(1 + m * m, 2) + (20 + 12 * nu) * m * m);
  const Case cases[] = {
      {"RECT\n0.1, 0.2\n", 0.1 * std::pow(0.2, 3) / 12, 10 * (1 + nu) / (12 + 11 * nu) * 0.02},
      {"PIPE\n0.05, 0.01\n", pi / 4 * (std::pow(r, 4) - std::pow(hole, 4)), tube_kappa * pi * (r * r - hole * hole)},
      {"BOX\n0.1, 0.2, 0.01, 0.02, 0.01, 0.02\n", (0.1 * std::pow(0.2, 3) - 0.08 * std::pow(0.16, 3)) / 12,
       2 * 0.01 * (0.2 - 0.02)},
  };
  for (const char* type : {"B31", "B32", "B32R", "B21", "B22"})
    for (const Case& c : cases) {
      const std::string section = std::string("*BEAM SECTION, ELSET=E, MATERIAL=M, SECTION=") + c.section;
      const Answer a = solve(cantilever(type, section, "*CLOAD\n3,2,1.\n"));
      const double expected = 8 / (3 * e * c.inertia) + 2 / (g * c.shear_area);
      EXPECT_NEAR(a.at(3, "uy"), expected, 1e-9 * expected) << type << " " << c.section;
      EXPECT_NEAR(a.at(3, "rz"), 2 / (e * c.inertia), 1e-9 * 2 / (e * c.inertia)) << type << " " << c.section;
      EXPECT_EQ(a.at(3, "uz"), 0) << type;
    }
}

TEST(DeckBeams, ShearFollowsPoissonsRatioAtTheTemperature) {
  // E and ν are linear between rows; G = E/(2(1 + ν)) and κ(ν) are formed of them at 30°, whatever the initial 0°.
  std::string text = cantilever("B31", "*BEAM SECTION, ELSET=E, MATERIAL=M, SECTION=RECT\n0.1, 0.2\n",
                                "*TEMPERATURE\n1, 30.\n3, 30.\n*CLOAD\n3,2,1.\n");
  text.replace(text.find("200000., 0.25\n"), 14, "200000., 0.1, 0.\n100000., 0.4, 100.\n");
  const Answer a = solve(text);
  const double e = 170000, nu = 0.19, g = e / (2 * (1 + nu)), kappa = 10 * (1 + nu) / (12 + 11 * nu);
  const double bending = 8 / (3 * e * 0.1 * std::pow(0.2, 3) / 12), shear = 2 / (g * kappa * 0.02);
  EXPECT_NEAR(a.at(3, "uy") - bending, shear, 5e-7 * shear);
}

TEST(DeckBeams, QuarterCircleOfThreeNodeBeams) {
  // Castigliano: F R³/EI (3π/4 − 2) + F R π/4 (1/EA + 1/G κA).
  const int count = 6;
  const double radius = 3, pi = std::numbers::pi;
  for (const char* type : {"B32", "B22"}) {
    std::string text = "*NODE\n";
    for (int i = 0; i <= 2 * count; ++i) {
      const double angle = 0.5 * pi * i / (2 * count);
      char line[96];
      std::snprintf(line, sizeof line, "%d, %.15g, %.15g\n", i + 1, radius * std::sin(angle),
                    radius * (1 - std::cos(angle)));
      text += line;
    }
    text += std::string("*ELEMENT, TYPE=") + type + ", ELSET=E\n";
    for (int i = 0; i < count; ++i)
      text += std::to_string(i + 1) + "," + std::to_string(2 * i + 1) + "," + std::to_string(2 * i + 2) + "," +
              std::to_string(2 * i + 3) + "\n";
    const Answer a =
        solve(text + material +
              "*BEAM SECTION, ELSET=E, MATERIAL=M, SECTION=RECT\n0.1, 0.2\n*STEP\n*STATIC\n*BOUNDARY\n1,1,6\n"
              "*CLOAD\n13,2,1.\n*END STEP\n");
    const double inertia = 0.1 * 0.008 / 12, area = 0.02, kappa = 10 * 1.25 / (12 + 11 * 0.25);
    const double expected = 27 / (200000 * inertia) * (0.75 * pi - 2) +
                            radius * pi / 4 * (1 / (200000 * area) + 1 / (80000 * kappa * area));
    EXPECT_NEAR(a.at(13, "uy") / expected, 1, 5e-6) << type;
  }
}

TEST(DeckBeams, PlaneBeamsStandOnPlaneElements) {
  // A square of CPS4 that is held, and a B21 on its corner with a pin (its rotation is held apart).
  const Answer a = solve(
      "*NODE\n1,0,0\n2,1,0\n3,1,1\n4,0,1\n5,1,3\n*ELEMENT, TYPE=CPS4, ELSET=P\n1,1,2,3,4\n*ELEMENT, TYPE=B21, "
      "ELSET=E\n2,3,5\n" +
      material +
      "*SOLID SECTION, ELSET=P, MATERIAL=M\n1.\n*BEAM SECTION, ELSET=E, MATERIAL=M, SECTION=RECT\n0.1, 0.2\n"
      "*STEP\n*STATIC\n*BOUNDARY\n1,1,2\n2,1,2\n3,1,2\n4,1,2\n3,6,6\n5,3,5\n*CLOAD\n5,1,1.\n*END STEP\n");
  const double inertia = 0.1 * 0.008 / 12, kappa = 10 * 1.25 / (12 + 11 * 0.25);
  const double expected = 8 / (3 * 200000 * inertia) + 2 / (80000 * kappa * 0.02);
  EXPECT_NEAR(a.at(5, "ux"), expected, 1e-9 * expected);
  const auto refused = [](const std::string& text, const std::string& what) {
    try {
      read_deck_text(text, "test.inp");
      ADD_FAILURE() << "nothing was thrown";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(what), std::string::npos) << error.what();
    }
  };
  const std::string section = "*BEAM SECTION, ELSET=E, MATERIAL=M, SECTION=RECT\n0.1, 0.2\n";
  refused(cantilever("B21", section, "*CLOAD\n3,3,1.\n"), "node 3 has no degree of freedom 3 to load");
  refused("*NODE\n1,0,0,0\n2,1,0,0\n3,2,0,0\n*ELEMENT, TYPE=B21, ELSET=E\n1,1,2\n*ELEMENT, TYPE=B31, ELSET=E\n2,2,3\n" +
              material + section,
          "lie in the xy plane");
}

}  // namespace
}  // namespace voussoir
