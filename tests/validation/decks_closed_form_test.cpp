// Decks whose answers have a closed form, through the program: what each card of a deck means.
#include "validation/deck_run.hpp"
#include "validation/support.hpp"

namespace voussoir::validation {
namespace {

double sum_of(const DeckRun& run, const char* which, const char* unknown, int step = 1) {
  return run.step(step).at(which).at(unknown).get<double>();
}

/// Every value of a column lies near a number.
void expect_all(const Table& table, const std::string& column, double expected, double tolerance) {
  ASSERT_FALSE(table.rows.empty());
  EXPECT_NEAR(table.least(column), expected, tolerance) << column;
  EXPECT_NEAR(table.greatest(column), expected, tolerance) << column;
}

// ---- Structures of lines
// ----------------------------------------------------------------------------------------------

TEST(DeckFormulas, BentCantilever) {
  const double f = 1000, h = 3, b = 2, young = 2.1e11, nu = 0.3, area = 0.06 * 0.1, inertia = 0.06 * 1e-3 / 12;
  const double shear = young / (2 * (1 + nu)) * 10 * (1 + nu) / (12 + 11 * nu) * area;  // G κ A, Cowper's κ
  const DeckRun run("frame_b31");
  const Table u = run.table("U_NALL"), force = run.table("RF_FOOT");
  expect_relative(u.at(3, "ux"), f * b * h * h / (2 * young * inertia), 1e-9);
  expect_relative(u.at(3, "uy"),
                  -(f * b * b * b / (3 * young * inertia) + f * b / shear + f * b * b * h / (young * inertia) +
                    f * h / (young * area)),
                  1e-9);
  expect_relative(u.at(2, "rz"), -f * b * h / (young * inertia), 1e-9);
  expect_relative(force.only("fy"), f, 1e-9);
  expect_relative(force.only("mz"), f * b, 1e-9);
}

TEST(DeckFormulas, MassesHangFromSprings) {
  const DeckRun run("springs");
  const Table u = run.table("U_NALL");
  expect_relative(u.at(2, "uz"), -(20 + 10) * 10 / 1000.0, 1e-12);
  expect_relative(u.at(3, "uz"), -0.3 - 10 * 10 / 500.0, 1e-12);
  expect_relative(run.table("RF_NALL").at(1, "fz"), 300, 1e-12);
}

TEST(DeckFormulas, InclinedRoller) {
  const double c = std::cos(pi / 6), s = std::sin(pi / 6), load = 100, stiffness = 1e4 / 2;
  const DeckRun run("inclined_roller");
  const Table u = run.table("U_ROLLER"), force = run.table("RF_ROLLER");
  const double slide = -load * s / (stiffness * c * c);
  expect_relative(u.only("ux"), slide, 1e-10);
  EXPECT_NEAR(u.only("uy"), 0, 1e-14) << "it does not leave the slope";
  // Forces at nodes are those of the elements, loads included, as in CalculiX.
  expect_relative(force.only("fx"), -load * s, 1e-10);
  expect_relative(force.only("fy"), -stiffness * slide * c * s, 1e-10);
  expect_relative(sum_of(run, "reaction_sum", "uy"), load, 1e-10);
}

// ---- Thermal strain
// ---------------------------------------------------------------------------------------------------

TEST(DeckFormulas, FreeExpansion) {
  const DeckRun run("free_expansion_c3d20r");
  const Table u = run.table("U_NALL");
  for (const auto& row : u.rows)
    for (int k = 0; k < 3; ++k) EXPECT_NEAR(row[4 + k], 1.2e-5 * 100 * row[1 + k], 1e-14);
  const Table stress = run.table("S_EALL");
  for (const char* s : {"sxx", "syy", "szz", "sxy", "sxz", "syz"}) expect_all(stress, s, 0, 1e-8 * 2.1e11 * 1.2e-3);
}

TEST(DeckFormulas, BarBetweenWalls) {
  const double stress = -1.8e11 * 1.2e-5 * 100;  // E between its rows at 70 and 170
  const DeckRun run("clamped_bar_c3d8");
  expect_all(run.table("S_EALL"), "sxx", stress, 1e-9 * 2e8);
  expect_all(run.table("S_EALL"), "syy", 0, 1e-9 * 2e8);
  expect_relative(run.table("RF_X1_total").only("fx"), stress, 1e-9);
}

TEST(DeckFormulas, HeatedThenFree) {
  const DeckRun run("heated_then_free_c3d20");
  const Table warm = run.table("NT_NALL", 1), flux = run.table("HFL_EALL", 1);
  for (const auto& row : warm.rows) EXPECT_NEAR(row[warm.column("temperature")], 50 * row[1], 1e-9);
  expect_all(flux, "qx", -50 * 50, 1e-7);
  const Table u = run.table("U_FAR", 2);
  for (const auto& row : u.rows) {
    const double x = row[1], y = row[2], z = row[3];
    EXPECT_NEAR(row[4], 1e-5 * 50 * (x * x - y * y - z * z) / 2, 1e-10);
    EXPECT_NEAR(row[5], 1e-5 * 50 * x * y, 1e-10);
    EXPECT_NEAR(row[6], 1e-5 * 50 * x * z, 1e-10);
  }
  // Held, this temperature would cause 2.1e11 · 1e-3: a linear field is free of stress.
  for (const char* s : {"sxx", "syy", "szz"}) expect_all(run.table("S_EALL", 2), s, 0, 2.1e8 * 1e-6);
}

// ---- Weight and rotation
// ----------------------------------------------------------------------------------------------

TEST(DeckFormulas, ColumnUnderItsWeight) {
  const double density = 2400, g = 9.81, young = 3e10, height = 8;
  for (const char* kind : {"c3d6", "c3d8", "c3d10", "c3d15"}) {
    SCOPED_TRACE(kind);
    const DeckRun run(std::string("column_") + kind);
    const double sinks = -density * g * height * height / (2 * young);
    expect_all(run.table("U_Z1"), "uz", sinks, 1e-9 * std::abs(sinks));
    expect_relative(sum_of(run, "load_sum", "uz"), -density * g * height, 1e-12);
    expect_relative(sum_of(run, "reaction_sum", "uz"), density * g * height, 1e-10);
  }
}

TEST(DeckFormulas, SpinningBar) {
  const double pull = 7800 * 1e4;  // ρ ω²
  const DeckRun run("spinning_bar_c3d20");
  expect_relative(run.table("U_TIP").only("ux"), pull * 8 / (3 * 2e11), 1e-9);
  expect_relative(sum_of(run, "reaction_sum", "ux"), -pull * 4 / 2 * 0.04, 1e-9);
}

TEST(DeckFormulas, SpinningDisc) {
  const double pull = 7800 * 1e4, nu = 0.3, a = 1, b = 2;
  const double hoop = (3 + nu) / 4 * pull * (b * b + (1 - nu) / (3 + nu) * a * a);
  const DeckRun run("spinning_disc_cps8");
  const Table u = run.table("U_BORE");
  expect_all(u, "ux", hoop * a / 2e11, 1e-3 * hoop / 2e11);
  expect_all(u, "uy", 0, 1e-3 * hoop / 2e11);
}

// ---- Orthotropic materials
// --------------------------------------------------------------------------------------------

TEST(DeckFormulas, FibresAtAnAngle) {
  const double s11 = 1 / 4000.0, s22 = 1 / 1000.0, s12 = -0.3 / 4000, s66 = 1 / 500.0, pull = 10;
  const double c = std::cos(pi / 6), s = std::sin(pi / 6), c2 = c * c, s2 = s * s;
  const double exx = pull * (s11 * c2 * c2 + (2 * s12 + s66) * c2 * s2 + s22 * s2 * s2);
  const double eyy = pull * ((s11 + s22 - s66) * c2 * s2 + s12 * (c2 * c2 + s2 * s2));
  const double ezz = -pull * (0.25 / 4000 * c2 + 0.2 / 1000 * s2);
  const double shear = pull * ((2 * s11 - 2 * s12 - s66) * c2 * c * s - (2 * s22 - 2 * s12 - s66) * s2 * s * c);
  const DeckRun run("fibres_c3d8");
  const Table stress = run.table("S_EALL"), strain = run.table("E_EALL"), far = run.table("U_FAR");
  expect_all(stress, "sxx", pull, 1e-9 * pull);
  for (const char* zero : {"syy", "szz", "sxy", "sxz", "syz"}) expect_all(stress, zero, 0, 1e-9 * pull);
  expect_all(strain, "exx", exx, 1e-9 * exx);
  expect_all(strain, "eyy", eyy, 1e-9 * exx);
  expect_all(strain, "ezz", ezz, 1e-9 * exx);
  expect_all(strain, "exy", shear / 2, 1e-9 * exx);
  expect_relative(far.only("ux"), 4 * exx + shear, 1e-9);
  expect_relative(far.only("uy"), eyy, 1e-9);
  expect_relative(far.only("uz"), ezz, 1e-9);
}

TEST(DeckFormulas, RingWithStiffHoops) {
  // σ_r = A r^(k−1) + B r^(−k−1), σ_t = k (A r^(k−1) − B r^(−k−1)) with k = √(E_t / E_r) = 2 (Lekhnitskii, Anisotropic
  // Plates, 1968); σ_r(1) = −1 and σ_r(2) = 0 give A = 1/15, B = −16/15.
  const double radial = 34.0 / 15 / 4000 + 0.1 / 1000;
  const DeckRun run("hoops_c3d20");
  expect_all(run.table("U_BORE"), "ux", radial, 1e-4 * radial);
  const Table stress = run.table("S_INSIDE");
  for (const auto& row : stress.rows) {  // within 4 % of the pressure and of the hoop stress at the bore
    const double r = std::hypot(row[2], row[3]);
    EXPECT_NEAR(row[stress.column("sxx")], (r - 16 / (r * r * r)) / 15, 0.04);
    EXPECT_NEAR(row[stress.column("syy")], 2 * (r + 16 / (r * r * r)) / 15, 0.04 * 34 / 15);
  }
}

// ---- Heat
// -------------------------------------------------------------------------------------------------------------

TEST(DeckFormulas, RodWithFluxFilmAndSource) {
  const double k = 4, q = 60, film = 15, sink = 20, source = 30, length = 2, area = 0.25;
  const DeckRun run("rod_dc3d8");
  const Table first = run.table("NT_NALL", 1), second = run.table("NT_NALL", 2);
  for (const auto& row : first.rows)
    EXPECT_NEAR(row[first.column("temperature")], sink + q / film + q * (length - row[1]) / k, 1e-9);
  expect_all(run.table("HFL_EALL", 1), "qx", q, 1e-9);
  for (const auto& row : second.rows)
    EXPECT_NEAR(row[second.column("temperature")], source * row[1] * (length - row[1]) / (2 * k), 1e-9);
  expect_relative(sum_of(run, "reaction_sum", "T", 2), -source * length * area, 1e-10);
  // The heat of the elements at the end alone, without what is set free in its nodes: a gap of one element.
  expect_relative(run.table("RFL_X0_total", 2).only("heat_flow"), -source * (length - 0.4) / 2 * area, 1e-9);
}

TEST(DeckFormulas, PipeWall) {
  const DeckRun run("pipe_wall_dcax8");
  const Table warm = run.table("NT_NALL");
  for (const auto& row : warm.rows)
    EXPECT_NEAR(row[warm.column("temperature")], 100 - 80 * std::log(row[1]) / std::log(3.0), 80 * 5e-4);
  const Table heat = run.table("RFL_INSIDE");
  double in = 0;
  for (const auto& row : heat.rows) in += row[heat.column("heat_flow")];
  expect_relative(in, 2 * pi * 3 * 0.5 * 80 / std::log(3.0), 1e-3, "of the full circle");
}

// ---- Constraints and steps
// --------------------------------------------------------------------------------------------

TEST(DeckFormulas, MomentOnARigidEnd) {
  const double bending = 1e6 * 0.5 / 12, moment = 100, length = 10;
  const DeckRun run("rigid_end_c3d20");
  expect_relative(run.table("U_REFERENCE").only("uy"), moment * length * length / (2 * bending), 1e-8);
  // A node that carries the rotation of a rigid body prints it in the place of its displacement, as in CalculiX.
  expect_relative(run.table("U_ROTATION").only("uz"), moment * length / bending, 1e-8);
  const Table force = run.table("RF_X0");
  double turning = 0;
  for (const auto& row : force.rows) turning -= (row[2] - 0.5) * row[force.column("fx")];
  expect_relative(turning, -moment, 1e-8);
}

TEST(DeckFormulas, TiedBlocksAreOneBody) {
  const DeckRun one("tied_one"), two("tied_two");
  const Table whole = one.table("U_TIP"), tied = two.table("U_TIP");
  ASSERT_EQ(whole.rows.size(), 9u);
  ASSERT_EQ(tied.rows.size(), 9u);
  for (std::size_t r = 0; r < 9; ++r)
    for (std::size_t k = 1; k < 7; ++k) EXPECT_NEAR(tied.rows[r][k], whole.rows[r][k], k < 4 ? 0 : 1e-12);
  for (const char* unknown : {"ux", "uy", "uz"})
    expect_relative(sum_of(two, "reaction_sum", unknown), sum_of(one, "reaction_sum", unknown), 1e-9);
  expect_relative(sum_of(two, "reaction_sum", "uy"), 2.7e-6 * 1e5 * 4, 1e-9, "density times g times volume");
}

TEST(DeckFormulas, PulledHeldAndPulledOn) {
  const DeckRun run("hold_c3d8");
  const double length = 4, young = 1000;
  const double moves[] = {0.04, 0.04, 0.08};
  for (int step = 1; step <= 3; ++step) {
    SCOPED_TRACE(step);
    const double u = moves[step - 1], stress = young * u / length;
    expect_all(run.table("U_X1", step), "ux", u, 1e-12);
    expect_all(run.table("S_EALL", step), "sxx", stress, 1e-9);
    expect_relative(run.table("RF_X0_total", step).only("fx"), -stress, 1e-9);
    expect_relative(run.table("RF_X1_total", step).only("fx"), stress, 1e-9);
    EXPECT_NEAR(sum_of(run, "load_sum", "ux", step), step == 1 ? 10 : 0, 1e-12) << "*CLOAD, OP=NEW lets go";
  }
}

}  // namespace
}  // namespace voussoir::validation
