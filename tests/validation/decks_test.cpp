// Published cases, from their decks through the program. Numbers that name a mesh belong to that mesh and element; the
// others are what the cases are known for.
#include <zlib.h>

#include <fstream>
#include <sstream>

#include <voussoir/elements/shapes/shapes.hpp>

#include "support/scratch_folder.hpp"
#include "validation/deck_run.hpp"
#include "validation/support.hpp"

namespace voussoir::validation {
namespace {

namespace fs = std::filesystem;

TEST(Decks, AreWhatTheirScriptWrites) {
  if (std::system("python3 -c pass > /dev/null 2>&1") != 0) GTEST_SKIP() << "python3 is not installed";
  const std::string script = (deck_folder() / "make_decks.py").string();
  EXPECT_EQ(std::system(("PYTHONDONTWRITEBYTECODE=1 python3 \"" + script + "\" --check").c_str()), 0);
}

// ---- MacNeal and Harder's patch
// ---------------------------------------------------------------------------------------

TEST(Decks, SolidPatch) {
  for (const char* kind : {"c3d4", "c3d6", "c3d8", "c3d8i", "c3d8r", "c3d10", "c3d15", "c3d20", "c3d20r"}) {
    SCOPED_TRACE(kind);
    const DeckRun run(std::string("patch_") + kind);
    const Table stress = run.table("S_CUBE"), strain = run.table("E_CUBE"), volume = run.table("EVOL_CUBE");
    ASSERT_GE(stress.rows.size(), 7u);
    for (const char* s : {"sxx", "syy", "szz"}) {
      EXPECT_NEAR(stress.least(s), 2000, 1e-8) << s;
      EXPECT_NEAR(stress.greatest(s), 2000, 1e-8) << s;
    }
    for (const char* s : {"sxy", "sxz", "syz"}) {
      EXPECT_NEAR(stress.least(s), 400, 1e-8) << s;
      EXPECT_NEAR(stress.greatest(s), 400, 1e-8) << s;
    }
    EXPECT_NEAR(strain.least("exx"), 1e-3, 1e-14);
    EXPECT_NEAR(strain.greatest("eyz"), 0.5e-3, 1e-14) << "shear strains are those of the tensor, as in CalculiX";
    double sum = 0;
    for (const auto& row : volume.rows) sum += row[volume.column("volume")];
    EXPECT_NEAR(sum, 1, 1e-13);
    const Table u = run.table("U_NALL");
    for (const auto& row : u.rows) {
      const double x = row[1], y = row[2], z = row[3];
      EXPECT_NEAR(row[u.column("ux")], 1e-3 * (2 * x + y + z) / 2, 1e-14);
      EXPECT_NEAR(row[u.column("uy")], 1e-3 * (x + 2 * y + z) / 2, 1e-14);
      EXPECT_NEAR(row[u.column("uz")], 1e-3 * (x + y + 2 * z) / 2, 1e-14);
    }
  }
}

// ---- NAFEMS LE1 and LE10
// ----------------------------------------------------------------------------------------------

/// σ_yy of plane stress at the first node of the first element, from the printed displacements of its nodes.
template <class Shape>
double stress_from_displacements(const std::string& deck, const Table& u, double young, double nu) {
  const std::vector<int> nodes = nodes_of_element(deck, 1);
  const double xi[2] = {Shape::node(0, 0), Shape::node(0, 1)};
  double g[Shape::nodes][2], jacobian[2][2] = {}, du[2][2] = {};
  Shape::gradients(xi, g);
  for (int b = 0; b < Shape::nodes; ++b)
    for (int i = 0; i < 2; ++i)
      for (int k = 0; k < 2; ++k) {
        jacobian[i][k] += u.at(nodes.at(b), i ? "y" : "x") * g[b][k];
        du[i][k] += u.at(nodes.at(b), i ? "uy" : "ux") * g[b][k];
      }
  const double det = jacobian[0][0] * jacobian[1][1] - jacobian[0][1] * jacobian[1][0];
  const double exx = (du[0][0] * jacobian[1][1] - du[0][1] * jacobian[1][0]) / det;
  const double eyy = (du[1][1] * jacobian[0][0] - du[1][0] * jacobian[0][1]) / det;
  return young / (1 - nu * nu) * (eyy + nu * exx);
}

constexpr int sxx = 0, syy = 1;  // of the six of a stress

TEST(Decks, NafemsLe1) {
  const auto check = [](const std::string& deck, double published, auto shape, double recovery) {
    const DeckRun run(deck);
    const double stress = stress_from_displacements<decltype(shape)>(deck, run.table("U_CORNER"), 210e9, 0.3);
    if (published > 0) expect_relative(stress, published, 1e-4, deck);
    const double recovered = run.at(1, "stress", syy);
    if (published > 0) expect_relative(recovered, published, recovery, deck + " recovered");
    expect_relative(recovered, 92.7e6, 0.04, deck + " against NAFEMS");
    expect_relative(run.table("U_CORNER").at(1, "ux"), -1.02207e-4, 0.03, deck + " displacement of D");
  };
  check("le1_cps8_6x4", 90.425e6, Quad8{}, 0.01);
  check("le1_cps8_12x8", 92.787e6, Quad8{}, 0.01);
  check("le1_cps8_24x16", 92.877e6, Quad8{}, 0.01);
  check("le1_cps4_96x64", 93.49e6, Quad4{}, 0.001);
  check("le1_cps8r_12x8", 0, Quad8{}, 0);
  check("le1_cps6_24x16", 0, Tri6{}, 0);
}

TEST(Decks, NafemsLe10) {
  const struct {
    const char* deck;
    int d;
    double stress;
  } rows[] = {{"le10_c3d20_6x4x2", 257, -5.565e6}, {"le10_c3d20_12x8x4", 1785, -5.523e6}};
  for (const auto& row : rows) {
    const DeckRun run(row.deck);
    const double stress = run.at(row.d, "stress", syy);
    expect_relative(stress, row.stress, 0.04, row.deck);
    expect_relative(stress, -5.38e6, 0.04, std::string(row.deck) + " against NAFEMS");
    // The pressure on the top, 1 MPa on the area between the ellipses, is carried by the outer surface.
    const double area = pi / 4 * (3.25 * 2.75 - 2 * 1);
    expect_relative(run.step().at("reaction_sum").at("uz").get<double>(), 1e6 * area, 1e-3, row.deck);
  }
}

// ---- Cook, Timoshenko
// -------------------------------------------------------------------------------------------------

double cook(const std::string& deck, const std::string& arguments = {}) {
  const DeckRun run(deck, arguments);
  const Table u = run.table("U_MIDEDGE");
  return u.rows.at(0).at(u.column("uy"));
}

TEST(Decks, CookMembrane) {
  expect_relative(cook("cook_cps4_2x2"), 11.8452, 1e-5);
  expect_relative(cook("cook_cps4_8x8"), 22.0792, 1e-5);
  expect_relative(cook("cook_cps4_16x16"), 23.4304, 1e-5);
  expect_relative(cook("cook_cps8_4x4"), 23.7083, 1e-5);
  expect_relative(cook("cook_cps8_16x16"), 23.9346, 1e-5);
}

TEST(Decks, CookMembraneBetterElementsBeatThePlainOne) {
  const double converged = 23.965;
  for (const char* mesh : {"8x8", "16x16"}) {
    const double plain = cook(std::string("cook_cps4_") + mesh), better = cook(std::string("cook_cps4i_") + mesh);
    EXPECT_LT(std::abs(better - converged), std::abs(plain - converged)) << mesh;
    expect_relative(better, converged, 0.02, mesh);
  }
  const double plain = cook("cook_c3d8_8x8", "--dialect calculix"), bbar = cook("cook_c3d8_8x8", "--dialect abaqus");
  EXPECT_LT(std::abs(bbar - converged), std::abs(plain - converged));
}

TEST(Decks, TimoshenkoCantilever) {
  const DeckRun quadratic("timoshenko_cps8_8x4"), linear("timoshenko_cps4_32x8");
  expect_relative(quadratic.table("U_TIP").only("uy"), -8.899368e-3, 1e-6);
  expect_relative(linear.table("U_TIP").only("uy"), -8.834608e-3, 1e-6);
  expect_relative(quadratic.table("U_TIP").only("uy"), -8.9e-3, 0.02, "exact");
  expect_relative(quadratic.table("RF_ROOT_total").only("fy"), 1000, 1e-9);
}

// ---- Lamé, Kirsch
// -----------------------------------------------------------------------------------------------------

/// Radial displacement of the bore, at its lower end.
double bore(const std::string& deck, const std::string& arguments = {}) {
  const DeckRun run(deck, arguments);
  const Table u = run.table("U_BORE");
  for (const auto& row : u.rows) EXPECT_NEAR(row[u.column("uy")], 0, 1e-2 * u.rows[0][u.column("ux")]) << deck;
  return u.at(1, "ux");
}

TEST(Decks, LameCylinder) {
  expect_relative(bore("lame_cpe8_nu3"), 4.5823385e-3, 1e-6);
  expect_relative(bore("lame_cpe8_nu49"), 5.0356726e-3, 1e-6);
  for (const char* form : {"lame_cpe4i_nu4999", "lame_cpe8r_nu4999"})
    expect_relative(bore(form), 5.0622750e-3, 0.02, form);
  expect_relative(bore("lame_cpe4_nu4999", "--dialect abaqus"), 5.0622750e-3, 0.02, "B-bar, as Abaqus means CPE4");
  EXPECT_LT(bore("lame_cpe4_nu4999"), 0.75 * 5.0622750e-3) << "with CalculiX's meaning, CPE4 locks";
}

TEST(Decks, LameCylinderAsARing) {
  const DeckRun run("lame_cax8");
  expect_relative(run.table("U_BORE").at(1, "ux"), 4.5825e-3, 2e-3);
  // σ_z = 2 ν p a² / (b² − a²), over the whole circle.
  expect_relative(run.table("RF_TOP_total").only("fy"), 2 * 0.3 * 9 / 72.0 * pi * 72, 1e-6);
}

TEST(Decks, Kirsch) {
  const DeckRun run("kirsch_cps8_24x24");
  const int top = static_cast<int>(run.table("U_TOP_OF_HOLE").only("node")),
            side = static_cast<int>(run.table("U_SIDE_OF_HOLE").only("node"));
  expect_relative(run.at(top, "stress", sxx), 3, 0.01);
  expect_relative(run.at(side, "stress", syy), -1, 0.02);
  // u_r = S a / E (1 + 2 cos 2θ) at the hole.
  expect_relative(run.table("U_SIDE_OF_HOLE").only("ux"), 3e-3, 1e-4);
  expect_relative(run.table("U_TOP_OF_HOLE").only("uy"), -1e-3, 1e-4);
}

// ---- Curved beam, truss, heat
// -----------------------------------------------------------------------------------------

TEST(Decks, CurvedBeam) {
  const struct {
    const char* deck;
    double radial, across;
  } rows[] = {{"curved_beam_c3d20_24x2x2", 0.088318, 0.493189},
              {"curved_beam_c3d20_6x1x1", 0.076384, 0.467025},
              {"curved_beam_c3d8_6x1x1", 0.006397, 0.116167}};
  for (const auto& row : rows) {
    const DeckRun run(row.deck);
    expect_relative(run.table("U_TIP", 1).only("uy"), row.radial, 1e-4, row.deck);
    expect_relative(run.table("U_TIP", 2).only("uz"), row.across, 1e-5, row.deck);
    EXPECT_NEAR(run.table("U_TIP", 2).only("uy"), 0, 1e-6) << "OP=NEW takes the first load away";
    expect_relative(run.table("RF_ROOT_total", 1).only("fy"), -1, 1e-7, row.deck);
    expect_relative(run.table("RF_ROOT_total", 2).only("fz"), -1, 1e-7, row.deck);
    // The node that stands for the tip does the work of the load: twice the energy.
    expect_relative(2 * run.step(1).at("energy").get<double>(), run.table("U_TIP", 1).only("uy"), 1e-6, row.deck);
  }
  const DeckRun fine("curved_beam_c3d20_24x2x2");
  expect_relative(fine.table("U_TIP", 1).only("uy"), 0.08734, 0.02, "beam theory");
  expect_relative(fine.table("U_TIP", 2).only("uz"), 0.5022, 0.02, "beam theory");
}

TEST(Decks, PopovTruss) {
  const DeckRun run("popov_t3d2");
  const double c = std::cos(pi / 6), f1 = 200 / (2 * c * c * c + 1), f2 = f1 * c * c;
  expect_relative(run.table("U_NALL").at(1, "uy"), -f1 * 200 / (10 * 3000), 1e-9);
  const Table force = run.table("RF_TOP"), stress = run.table("S_BARS");
  expect_relative(force.at(2, "fy"), f1, 1e-9);
  expect_relative(force.at(3, "fy"), f2 * c, 1e-9);
  // The one stress of a bar, in global directions.
  expect_relative(stress.at(1, "syy"), f1 / 10, 1e-9);
  expect_relative(stress.at(2, "sxx") + stress.at(2, "syy"), f2 / 10, 1e-9);
}

TEST(Decks, NafemsT4) {
  const DeckRun run("t4_dc2d8_12x20");
  expect_relative(run.table("NT_E").only("temperature"), 18.272, 1e-4);
  expect_relative(run.table("NT_E").only("temperature"), 18.2538, 0.02, "converged");
}

// ---- A deck of CalculiX's own tests
// -----------------------------------------------------------------------------------

std::string unpacked(const std::string& path) {
  std::string text;
  gzFile file = gzopen(path.c_str(), "rb");
  char buffer[65536];
  for (int n; file && (n = gzread(file, buffer, sizeof buffer)) > 0;) text.append(buffer, n);
  if (file) gzclose(file);
  return text;
}

/// Rows of numbers below a heading of a .dat file that begins with some words.
std::vector<std::vector<double>> rows_below(const std::string& text, const std::string& words) {
  std::vector<std::vector<double>> rows;
  std::stringstream lines(text);
  std::string line;
  bool inside = false;
  while (std::getline(lines, line)) {
    if (line.find(" for set ") != std::string::npos) {
      inside = line.find(words) != std::string::npos;
      continue;
    }
    std::stringstream fields(line);
    std::vector<double> row;
    for (double value; fields >> value;) row.push_back(value);
    if (inside && !row.empty()) rows.push_back(row);
  }
  return rows;
}

TEST(Decks, Beam8fOfCalculiX) {
  const std::string suite = "/usr/share/doc/calculix-ccx-test/examples/test/beam8f.inp.gz";
  if (!fs::exists(suite)) GTEST_SKIP() << "the Debian package calculix-ccx-test is not installed; it has " << suite;
  const fs::path deck = testing::scratch_file("beam8f.inp");
  std::ofstream(deck) << unpacked(suite);
  const DeckRun run(deck.string());
  const double published[] = {13798.13, 19852.05, 81356.76, 88787.12, 109446.1,
                              163403.6, 211154.3, 266831.4, 267673.8, 379922.6};
  const auto& modes = run.step().at("modes");
  ASSERT_EQ(modes.size(), 10u);
  for (std::size_t m = 0; m < 10; ++m)
    expect_relative(modes[m].at("frequency").get<double>(), published[m], 1e-6, "mode " + std::to_string(m + 1));
}

TEST(Decks, Beam8pOfCalculiX) {
  const std::string suite = "/usr/share/doc/calculix-ccx-test/examples/test/beam8p";
  if (!fs::exists(suite + ".inp.gz"))
    GTEST_SKIP() << "the Debian package calculix-ccx-test is not installed; it has " << suite << ".inp.gz";
  const fs::path deck = testing::scratch_file("beam8p.inp");
  std::ofstream(deck) << unpacked(suite + ".inp.gz");
  const DeckRun run(deck.string());
  const auto& largest = run.step().at("extremes").at("uy").at("max");
  EXPECT_EQ(largest.at("node").get<int>(), 65);
  expect_relative(largest.at("value").get<double>(), 7.895238e-2, 1e-6);
  // Every displacement and every stress that CalculiX prints.
  const std::string reference = unpacked(suite + ".dat.ref.gz"), ours = run.dat();
  for (const char* words : {"displacements", "stresses"}) {
    const auto theirs = rows_below(reference, words), mine = rows_below(ours, words);
    ASSERT_EQ(mine.size(), theirs.size()) << words;
    ASSERT_GT(mine.size(), 100u) << words;
    double scale = 0, worst = 0;
    const std::size_t first = std::string(words) == "stresses" ? 2 : 1;
    for (std::size_t r = 0; r < mine.size(); ++r) {
      ASSERT_EQ(mine[r].size(), theirs[r].size());
      for (std::size_t k = 0; k < mine[r].size(); ++k) {
        if (k < first) {
          EXPECT_EQ(mine[r][k], theirs[r][k]) << "the same rows in the same order";
          continue;
        }
        scale = std::max(scale, std::abs(theirs[r][k]));
        worst = std::max(worst, std::abs(mine[r][k] - theirs[r][k]));
      }
    }
    EXPECT_LT(worst, 2e-6 * scale) << words;
  }
  fs::remove(deck);
}

}  // namespace
}  // namespace voussoir::validation
