#include <gtest/gtest.h>

#include <cmath>

#include <voussoir/framework/io/deck/deck_reader.hpp>
#include <voussoir/jobs/run_job.hpp>

// *ELASTIC, TYPE=ANISO: 21 stiffnesses in the order of the card, turned by *ORIENTATION, over temperature.

namespace voussoir {
namespace {

struct Answer {
  Job job;
  JobResult result;
  double at(Id node, const std::string& unknown) const {
    return result.steps[0].unknowns.at(job.domains[0]->node_index(node), unknown);
  }
  /// Stress at the first point of the first element.
  double stress(const std::string& name) const { return result.steps[0].points[0].at(0, 0, name); }
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
    "*ELEMENT, TYPE=C3D8, ELSET=EALL\n1,1,2,3,4,5,6,7,8\n";
/// D1111 = 300, D1122 = 11, D2222 = 320, … : no two numbers alike.
const std::string stiffness =
    "*MATERIAL, NAME=M\n*ELASTIC, TYPE=ANISO\n300.,11.,320.,13.,14.,350.,16.,17.,\n"
    "18.,390.,20.,21.,22.,23.,440.,25.,\n26.,27.,28.,29.,500.\n";

/// All nodes move by u = G x.
std::string motion(const double (&g)[3][3]) {
  std::string text = "*STEP\n*STATIC\n*BOUNDARY\n";
  const double x[8][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}};
  for (int n = 0; n < 8; ++n)
    for (int i = 0; i < 3; ++i) {
      const double u = g[i][0] * x[n][0] + g[i][1] * x[n][1] + g[i][2] * x[n][2];
      text += std::to_string(n + 1) + "," + std::to_string(i + 1) + "," + std::to_string(i + 1) + "," +
              std::to_string(u) + "\n";
    }
  return text + "*END STEP\n";
}

TEST(DeckAnisotropy, EachStiffnessStandsWhereTheCardHasIt) {
  const std::string section = "*SOLID SECTION, ELSET=EALL, MATERIAL=M\n";
  // A stretch along 2: D1122 D2222 D2233 D2212 D2213 D2223.
  const double stretch[3][3] = {{0, 0, 0}, {0, 0.1, 0}, {0, 0, 0}};
  const Answer a = solve(cube + stiffness + section + motion(stretch));
  EXPECT_NEAR(a.stress("sxx"), 1.1, 1e-9);
  EXPECT_NEAR(a.stress("syy"), 32.0, 1e-9);
  EXPECT_NEAR(a.stress("szz"), 1.4, 1e-9);
  EXPECT_NEAR(a.stress("sxy"), 1.7, 1e-9);
  EXPECT_NEAR(a.stress("sxz"), 2.1, 1e-9);
  EXPECT_NEAR(a.stress("syz"), 2.6, 1e-9);
  // A shear 2 ε_13 = 0.1: D1113 D2213 D3313 D1213 D1313 D1323.
  const double shear[3][3] = {{0, 0, 0.1}, {0, 0, 0}, {0, 0, 0}};
  const Answer b = solve(cube + stiffness + section + motion(shear));
  EXPECT_NEAR(b.stress("sxx"), 2.0, 1e-9);
  EXPECT_NEAR(b.stress("syy"), 2.1, 1e-9);
  EXPECT_NEAR(b.stress("szz"), 2.2, 1e-9);
  EXPECT_NEAR(b.stress("sxy"), 2.3, 1e-9);
  EXPECT_NEAR(b.stress("sxz"), 44.0, 1e-9);
  EXPECT_NEAR(b.stress("syz"), 2.9, 1e-9);
}

TEST(DeckAnisotropy, OrientationTurnsTheLaw) {
  // Local 1, 2, 3 are global y, z, x: a stretch along y is one along the local 1, and local 23 is global zx.
  const double stretch[3][3] = {{0, 0, 0}, {0, 0.1, 0}, {0, 0, 0}};
  const Answer a = solve(cube + stiffness +
                         "*ORIENTATION, NAME=O\n0,1,0, 0,0,1\n*SOLID SECTION, ELSET=EALL, MATERIAL=M, ORIENTATION=O\n" +
                         motion(stretch));
  EXPECT_NEAR(a.stress("syy"), 30.0, 1e-9);
  EXPECT_NEAR(a.stress("szz"), 1.1, 1e-9);
  EXPECT_NEAR(a.stress("sxx"), 1.3, 1e-9);
  EXPECT_NEAR(a.stress("syz"), 1.6, 1e-9);
  EXPECT_NEAR(a.stress("sxy"), 2.0, 1e-9);
  EXPECT_NEAR(a.stress("sxz"), 2.5, 1e-9);
}

TEST(DeckAnisotropy, IsotropicNumbersGiveTheIsotropicAnswer) {
  const double e = 1000, nu = 0.25, mu = e / (2 * (1 + nu)), lambda = e * nu / ((1 + nu) * (1 - 2 * nu));
  const auto text = [](double v) { return std::to_string(v) + ","; };
  const std::string normal = text(lambda + 2 * mu), across = text(lambda), shear = text(mu);
  const std::string aniso = "*MATERIAL, NAME=M\n*ELASTIC, TYPE=ANISO\n" + normal + across + normal + across + across +
                            normal + "0.,0.,\n0.," + shear + "0.,0.,0.,0.," + shear + "0.,\n0.,0.,0.,0.," +
                            std::to_string(mu) + ", 0.\n*EXPANSION\n1.E-3\n";
  const std::string iso = "*MATERIAL, NAME=M\n*ELASTIC\n1000.,0.25\n*EXPANSION\n1.E-3\n";
  const std::string rest =
      "*SOLID SECTION, ELSET=EALL, MATERIAL=M\n*NSET, NSET=BOT\n1,2,3,4\n*STEP\n*STATIC\n*BOUNDARY\nBOT,1,3\n*CLOAD\n"
      "7,1,3.\n7,3,-2.\n*TEMPERATURE\nNALL,10.\n*END STEP\n";
  for (const char* type : {"C3D8", "C3D8R", "C3D8I"}) {
    std::string nodes = cube;
    nodes.replace(nodes.find("C3D8"), 4, type);
    const Answer a = solve(nodes + aniso + rest), b = solve(nodes + iso + rest);
    for (Id n : {5, 6, 7, 8})
      for (const char* u : {"ux", "uy", "uz"}) EXPECT_NEAR(a.at(n, u), b.at(n, u), 1e-9) << type << n << u;
  }
}

TEST(DeckAnisotropy, StiffnessesMayDependOnTemperature) {
  // The second row, at 100, is twice the first; at 50 it is one and a half times.
  std::string table = "*MATERIAL, NAME=M\n*ELASTIC, TYPE=ANISO\n";
  for (int row = 1; row <= 2; ++row) {
    const double d[21] = {300, 11, 320, 13, 14, 350, 16, 17, 18, 390, 20, 21, 22, 23, 440, 25, 26, 27, 28, 29, 500};
    for (int i = 0; i < 21; ++i) table += std::to_string(row * d[i]) + (i % 8 == 7 ? ",\n" : ",");
    table += std::to_string(100.0 * (row - 1)) + "\n";
  }
  const double stretch[3][3] = {{0, 0, 0}, {0, 0.1, 0}, {0, 0, 0}};
  std::string step = motion(stretch);
  step.insert(step.find("*BOUNDARY"), "*TEMPERATURE\nNALL,50.\n");
  const Answer a = solve(cube + table + "*SOLID SECTION, ELSET=EALL, MATERIAL=M\n" + step);
  EXPECT_NEAR(a.stress("syy"), 48.0, 1e-9);
}

TEST(DeckAnisotropy, NineStiffnessesAreLinearBetweenRows) {
  // At 25° a quarter of the way: D1111 = 1500 + 0.25 · 2500, D1122 = 500, D1133 = 400 + 0.25 · 1000.
  const std::string numbers =
      "1500.,500.,1600.,400.,450.,1700.,300.,350.,\n400.,0.\n4000.,500.,1600.,1400.,450.,2700.,600.,650.,\n500.,100.\n";
  const std::string section = "*SOLID SECTION, ELSET=EALL, MATERIAL=M\n";
  const double stretch[3][3] = {{0.1, 0, 0}, {0, 0, 0}, {0, 0, 0}};
  std::string step = motion(stretch);
  step.replace(step.find("*END STEP"), 0, "*TEMPERATURE\nNALL, 25.\n");
  const Answer a = solve(cube + "*MATERIAL, NAME=M\n*ELASTIC, TYPE=ORTHO\n" + numbers + section + step);
  EXPECT_NEAR(a.stress("sxx"), 212.5, 2e-5);
  EXPECT_NEAR(a.stress("syy"), 50.0, 2e-5);
  EXPECT_NEAR(a.stress("szz"), 65.0, 2e-5);
}

TEST(DeckAnisotropy, EngineeringConstantsAreLinearAsTheDialectSays) {
  // E1 = E2 = E3 = E and ν = 0 at 0°, 0.4 at 100°: half way, stiffnesses are means in CalculiX; in Abaqus ν is 0.2.
  const std::string deck = cube +
                           "*MATERIAL, NAME=M\n*ELASTIC, TYPE=ENGINEERING CONSTANTS\n1000.,1000.,1000.,0.,0.,0.,500.,"
                           "500.,\n500.,0.\n1000.,1000.,1000.,.4,.4,.4,500.,500.,\n500.,100.\n"
                           "*SOLID SECTION, ELSET=EALL, MATERIAL=M\n";
  const double stretch[3][3] = {{0.1, 0, 0}, {0, 0, 0}, {0, 0, 0}};
  std::string step = motion(stretch);
  step.replace(step.find("*END STEP"), 0, "*TEMPERATURE\nNALL, 50.\n");
  const auto d1111 = [](double nu) { return 1000 * (1 - nu) / ((1 + nu) * (1 - 2 * nu)); };
  EXPECT_NEAR(solve(deck + step).stress("sxx"), 0.1 * (d1111(0) + d1111(0.4)) / 2, 2e-5);
  DeckOptions abaqus;
  abaqus.dialect = Dialect::abaqus;
  Job job = read_deck_text(deck + step, "test.inp", abaqus);
  StaticOptions options;
  options.backend = "openmp:1";
  EXPECT_NEAR(run_job(job, options).steps[0].points[0].at(0, 0, "sxx"), 0.1 * d1111(0.2), 1e-9);
}

TEST(DeckAnisotropy, WhatCannotBeIsRefused) {
  const auto refused = [](const std::string& text, const std::string& what) {
    try {
      read_deck_text(text, "test.inp");
      ADD_FAILURE() << "nothing was thrown";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(what), std::string::npos) << error.what();
    }
  };
  refused("*NODE\n1,0,0\n2,1,0\n3,1,1\n4,0,1\n*ELEMENT, TYPE=CPE4, ELSET=EALL\n1,1,2,3,4\n" + stiffness +
              "*SOLID SECTION, ELSET=EALL, MATERIAL=M\n",
          "can be used only with solid elements, and CPE4 is a plane strain element");
  std::string soft = stiffness;
  soft.replace(soft.find("390."), 4, "0.01");
  refused(cube + soft + "*SOLID SECTION, ELSET=EALL, MATERIAL=M\n", "not positive definite");
}

}  // namespace
}  // namespace voussoir
