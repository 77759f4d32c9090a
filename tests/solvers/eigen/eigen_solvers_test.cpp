#include <cmath>

#include "../solver_models.hpp"
#include "modal_models.hpp"
#include "support/expect_error.hpp"

// Every eigen-solver on models with closed forms, repeated frequencies, free parts, constraints and no mass.

namespace voussoir::test {
namespace {

using testing::expect_error;

struct EigenSolverOf : ::testing::TestWithParam<std::string> {};

/// Axial motion of a row of bricks, both ends free. With ν = 0 and lateral motion prescribed the discrete equations
/// have a closed form: ω² = (6E/ρh²)(1 − cos q)/(2 + cos q) with consistent and (2E/ρh²)(1 − cos q) with lumped mass,
/// q = nπ/N.
TEST_P(EigenSolverOf, AxialBarHasItsExactDiscreteFrequencies) {
  const int n = 8;
  const double young = 200, density = 3, h = 0.5;
  Domain d;
  add_box(d, "bar", {n, 1, 1}, {0, 0, 0}, {n * h, 0.02, 0.02}, dense_material(young, 0, density));
  for (const char* side : {"bar_ymin", "bar_ymax"})
    for (const char* unknown : {"uy", "uz"}) d.prescribe(side, unknown);
  // Sections stay plane: the four nodes of one move as one.
  const auto x = d.coordinates();
  for (std::int32_t a = 0; a < d.node_count(); ++a)
    for (std::int32_t b = 0; b < d.node_count(); ++b)
      if (x[3 * a] == x[3 * b] && x[3 * a + 1] == 0 && x[3 * a + 2] == 0 && a != b)
        d.add_equation({{d.node_id(b), "ux", 1}, {d.node_id(a), "ux", -1}});
  for (const MassKind kind : {MassKind::consistent, MassKind::lumped}) {
    const ModeSet modes = modes_of(d, n + 1, GetParam(), "openmp:2", {}, kind);
    expect_sound(modes);
    ASSERT_EQ(modes.count(), n + 1);
    EXPECT_EQ(free_modes(modes), 1);
    for (int k = 1; k <= n; ++k) {
      const double c = std::cos(k * pi / n);
      const double exact = kind == MassKind::lumped ? 2 * young / (density * h * h) * (1 - c)
                                                    : 6 * young / (density * h * h) * (1 - c) / (2 + c);
      EXPECT_NEAR(modes.eigenvalue(k) / exact, 1, 1e-9) << k;
    }
  }
}

/// A slender cantilever: βL = 1.8751, 4.6941, 7.8548, in pairs as the section has two equal moments of inertia.
TEST_P(EigenSolverOf, CantileverOfBeamsFollowsEulerAndBernoulli) {
  const int parts = 20;
  const double young = 2e11, density = 7850, area = 1e-4, inertia = 1e-10, length = 2;
  Domain d;
  for (int i = 0; i <= parts; ++i) d.add_node(i + 1, length * i / parts, 0, 0);
  ElementBlock& block = d.add_block("beam", "beam");
  block.set_material(dense_material(young, 0.25, density));
  block.set_section("shear_modulus", 8e10).set_section("area", area).set_section("torsion", 2 * inertia);
  block.set_section("inertia_y", inertia).set_section("inertia_z", inertia);
  block.set_section("shear_area_y", 0).set_section("shear_area_z", 0);
  block.set_section("orientation_x", 0).set_section("orientation_y", 1).set_section("orientation_z", 0);
  for (int i = 0; i < parts; ++i) block.add(i + 1, {i + 1, i + 2});
  d.add_node_set("root", {1});
  d.prescribe("root", "all");
  const ModeSet modes = modes_of(d, 6, GetParam());
  expect_sound(modes);
  const double beta[] = {1.87510406871196, 4.69409113297417, 7.85475743823761};
  for (int k = 0; k < 3; ++k) {
    const double exact = std::pow(beta[k] / length, 4) * young * inertia / (density * area);
    for (const int m : {2 * k, 2 * k + 1}) EXPECT_NEAR(modes.eigenvalue(m) / exact, 1, 5e-5) << m;
    EXPECT_NEAR(modes.eigenvalue(2 * k) / modes.eigenvalue(2 * k + 1), 1, 1e-8);
  }
  // The first pair has 61.3 % of the mass in both directions, known from the closed form of the shapes.
  EXPECT_NEAR(modes.accumulated(1, 1), 0.6131, 1e-3);
  EXPECT_NEAR(modes.accumulated(1, 2), 0.6131, 1e-3);
}

/// A free cube has six rigid motions, and Lamé's modes: in each of three planes u = (cos kx sin ky, −sin kx cos ky, 0)
/// with k = π/L, which leaves all faces without traction, at ω² = 2π²G/(ρL²). A pair of the three is equal by symmetry
/// on any cubic mesh.
TEST_P(EigenSolverOf, FreeCubeHasSixRigidMotionsAndLamesModes) {
  const double young = 1000, poisson = 0.3, density = 2;
  Domain d;
  add_box(d, "cube", {4, 4, 4}, {0, 0, 0}, {1, 1, 1}, dense_material(young, poisson, density), "solid.hex20");
  const ModeSet modes = modes_of(d, 20, GetParam());
  expect_sound(modes);
  EXPECT_EQ(free_modes(modes), 6);
  for (int m = 0; m < 6; ++m) EXPECT_EQ(modes.frequency(m), 0) << m;
  const double exact = 2 * pi * pi * young / (2 * (1 + poisson)) / density;
  std::vector<int> found;
  for (int m = 6; m < modes.count(); ++m)
    if (std::abs(modes.eigenvalue(m) / exact - 1) < 4e-3) found.push_back(m);
  ASSERT_EQ(found.size(), 3u) << "three planes";
  double closest = 1;
  for (std::size_t i = 1; i < 3; ++i)
    closest = std::min(closest, std::abs(modes.eigenvalue(found[i]) / modes.eigenvalue(found[i - 1]) - 1));
  EXPECT_LT(closest, 1e-9);
  EXPECT_NEAR(modes.eigenvalue(6) / modes.eigenvalue(7), 1, 1e-9) << "the lowest is a pair as well";
  // All of the mass moves in the rigid motions, and none in any other mode.
  EXPECT_NEAR(modes.total_mass[0], density, 1e-12);
  for (int direction = 0; direction < 6; ++direction) {
    EXPECT_NEAR(modes.accumulated(5, direction), 1, 1e-10);
    EXPECT_NEAR(modes.accumulated(19, direction), 1, 1e-10);
  }
}

TEST_P(EigenSolverOf, FindsTheEighteenRigidMotionsOfThreeParts) {
  Domain d;
  const auto steel = dense_material(1000, 0.3, 2);
  for (int i = 0; i < 3; ++i)
    add_box(d, "part" + std::to_string(i), {2, 2, 2}, {3.0 * i, 0, 0}, {3.0 * i + 1, 1, 1.0 + 0.3 * i}, steel);
  const ModeSet modes = modes_of(d, 24, GetParam());
  expect_sound(modes);
  EXPECT_EQ(free_modes(modes), 18);
  EXPECT_GT(modes.frequency(18), 0);
  EXPECT_EQ(modes_of(d, 7, GetParam()).report.statement.substr(0, 21), "verified: 18 of 18 be") << "all that are equal";
}

/// Twelve bodies that know nothing of each other have every frequency twelve times: more often than any block has
/// vectors.
TEST_P(EigenSolverOf, FindsAllTwelveOfTwelveEqualFrequencies) {
  Domain d;
  const auto steel = dense_material(1000, 0.3, 2);
  for (int i = 0; i < 12; ++i) {
    const std::string name = "part" + std::to_string(i);
    add_box(d, name, {3, 1, 1}, {0, 0, 2.0 * i}, {3, 1, 2.0 * i + 0.6}, steel);
    d.prescribe(name + "_xmin", "all");
  }
  EigenRequest request;
  request.block = 4;
  const ModeSet modes = modes_of(d, 13, GetParam(), "openmp:2", request);
  expect_sound(modes);
  for (int m = 1; m < 12; ++m) EXPECT_NEAR(modes.eigenvalue(m) / modes.eigenvalue(0), 1, 1e-9) << m;
  EXPECT_GT(modes.eigenvalue(12), 1.1 * modes.eigenvalue(0));
  EXPECT_TRUE(modes_of(d, 12, GetParam()).report.statement.starts_with("verified: 12 of 12 below "));
}

/// The dense generalized problem, solved by Eigen, of a distorted bar with a multi-point equation.
TEST_P(EigenSolverOf, AgreesWithADenseSolution) {
  Domain d;
  add_bar(d);
  const System dense(d, "csr");
  const EigenProblem problem(dense.model);
  const Eigen::GeneralizedSelfAdjointEigenSolver<Eigen::MatrixXd> exact(dense.dense(problem.stiffness()),
                                                                        dense.dense(problem.mass()));
  const ModeSet modes = modes_of(d, 15, GetParam());
  expect_sound(modes);
  for (int m = 0; m < 15; ++m) EXPECT_NEAR(modes.eigenvalue(m) / exact.eigenvalues()[m], 1, 1e-9) << m;
  EXPECT_EQ(problem.free_motion_count(), 0);
  // What depends on others follows them in every shape.
  const std::int32_t last = d.node_count() - 1;
  for (const NodalField& shape : modes.shapes) EXPECT_NEAR(shape.at(last, "uy"), 0.5 * shape.at(last - 1, "uz"), 1e-12);
}

/// Two halves tied by equations are the whole.
TEST_P(EigenSolverOf, TiedHalvesVibrateAsTheWhole) {
  const auto steel = dense_material(1000, 0.3, 2);
  Domain whole, tied;
  add_box(whole, "bar", {4, 2, 2}, {0, 0, 0}, {4, 1, 1.2}, steel);
  add_box(tied, "left", {2, 2, 2}, {0, 0, 0}, {2, 1, 1.2}, steel);
  add_box(tied, "right", {2, 2, 2}, {2, 0, 0}, {4, 1, 1.2}, steel);
  const auto a = tied.node_set("left_xmax"), b = tied.node_set("right_xmin");
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i)
    for (const char* u : {"ux", "uy", "uz"})
      tied.add_equation({{tied.node_id(a[i]), u, 1}, {tied.node_id(b[i]), u, -1}});
  const ModeSet one = modes_of(whole, 14, GetParam()), two = modes_of(tied, 14, GetParam());
  expect_sound(one);
  expect_sound(two);
  EXPECT_EQ(free_modes(two), 6);
  for (int m = 6; m < 14; ++m) EXPECT_NEAR(two.eigenvalue(m) / one.eigenvalue(m), 1, 1e-8) << m;
  for (const NodalField& shape : two.shapes)
    for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(shape.at(a[i], "uz"), shape.at(b[i], "uz"), 1e-12);
}

/// Two bricks that share an edge only: the second one swings about it, which is a mode at frequency zero.
TEST_P(EigenSolverOf, AMechanismIsAModeAtZero) {
  const auto steel = dense_material(1000, 0.3, 2);
  Domain d;
  add_box(d, "fixed", {2, 2, 2}, {0, 0, 0}, {1, 1, 1}, steel);
  add_box(d, "door", {2, 2, 2}, {1, 0, 1}, {2, 1, 2}, steel);
  d.prescribe("fixed_xmin", "all");
  for (const std::int32_t a : d.node_set("fixed_xmax"))
    for (const std::int32_t b : d.node_set("door_xmin")) {
      const auto x = d.coordinates();
      if (x[3 * a + 1] == x[3 * b + 1] && x[3 * a + 2] == x[3 * b + 2])
        for (const char* u : {"ux", "uy", "uz"}) d.add_equation({{d.node_id(a), u, 1}, {d.node_id(b), u, -1}});
    }
  const ModeSet modes = modes_of(d, 6, GetParam());
  expect_sound(modes);
  EXPECT_EQ(free_modes(modes), 1);
  EXPECT_GT(modes.frequency(1), 0.1);
}

TEST_P(EigenSolverOf, SameRequestSameBits) {
  Domain d;
  add_bar(d);
  const ModeSet first = modes_of(d, 8, GetParam()), second = modes_of(d, 8, GetParam());
  for (int m = 0; m < 8; ++m) {
    EXPECT_EQ(first.eigenvalue(m), second.eigenvalue(m));
    EXPECT_EQ(first.shapes[static_cast<std::size_t>(m)].values, second.shapes[static_cast<std::size_t>(m)].values);
  }
}

TEST_P(EigenSolverOf, FindsAllBelowAFrequency) {
  Domain d;
  add_bar(d);
  const ModeSet all = modes_of(d, 12, GetParam());
  EigenRequest request;
  request.below = 0.5 * (all.frequency(6) + all.frequency(7));
  for (const CompletenessCheck check : {CompletenessCheck::automatic, CompletenessCheck::probe}) {
    request.check = check;
    const ModeSet some = modes_of(d, 0, GetParam(), "openmp:2", request);
    ASSERT_EQ(some.count(), 7);
    for (int m = 0; m < 7; ++m) EXPECT_NEAR(some.eigenvalue(m) / all.eigenvalue(m), 1, 1e-9);
    EXPECT_TRUE(some.report.statement.starts_with(check == CompletenessCheck::probe ? "probe found none missing"
                                                                                    : "verified: 7 of 7 below"))
        << some.report.statement;
  }
  request.below = 0.5 * all.frequency(0);
  request.check = CompletenessCheck::automatic;
  const ModeSet none = modes_of(d, 0, GetParam(), "openmp:2", request);
  EXPECT_EQ(none.count(), 0);
  EXPECT_TRUE(none.report.statement.starts_with("verified: 0 of 0 below")) << none.report.statement;
}

INSTANTIATE_TEST_SUITE_P(EigenSolvers, EigenSolverOf, ::testing::ValuesIn(built_in(eigen_solvers())),
                         [](const auto& info) { return info.param; });

TEST(Lanczos, FindsModesInsideTheSpectrum) {
  Domain d;
  add_bar(d);
  const ModeSet all = modes_of(d, 20, "lanczos");
  EigenRequest request;
  request.from = 0.5 * (all.frequency(5) + all.frequency(6));
  request.below = 0.5 * (all.frequency(11) + all.frequency(12));
  const ModeSet inside = modes_of(d, 0, "lanczos", "openmp:2", request);
  ASSERT_EQ(inside.count(), 6);
  expect_sound(inside);
  for (int m = 0; m < 6; ++m) EXPECT_NEAR(inside.eigenvalue(m) / all.eigenvalue(6 + m), 1, 1e-9);
  EXPECT_TRUE(inside.report.statement.starts_with("verified: 6 of 6 between ")) << inside.report.statement;

  EigenRequest near;
  near.shift = 1.001 * all.eigenvalue(9);
  const ModeSet nearest = modes_of(d, 1, "lanczos", "openmp:2", near);
  ASSERT_EQ(nearest.count(), 1);
  EXPECT_NEAR(nearest.eigenvalue(0) / all.eigenvalue(9), 1, 1e-9);
  expect_sound(nearest);
  for (const char* solver : {"subspace", "lobpcg"})
    expect_error(ErrorCode::bad_input, {"lowest modes only", "lanczos"},
                 [&] { modes_of(d, 0, solver, "openmp:2", request); });
}

/// A mass on two springs of bars without mass in a row: λ = (EA/2L)/m, and nothing else vibrates.
TEST(Lanczos, HandlesUnknownsWithoutMass) {
  Domain d;
  for (int i = 0; i < 3; ++i) d.add_node(i + 1, i, 0, 0);
  ElementBlock& bars = d.add_block("bars", "truss");
  bars.set_material(dense_material(300, 0.3, 0)).set_section("area", 2);
  bars.add(1, {1, 2});
  bars.add(2, {2, 3});
  ElementBlock& mass = d.add_block("mass", "mass");
  mass.set_section("mass", 5);
  mass.add(3, {3});
  d.add_node_set("root", {1});
  d.add_node_set("others", {2, 3});
  d.prescribe("root", "all");
  d.prescribe("others", "uy");
  d.prescribe("others", "uz");
  for (const char* solver : {"lanczos", "subspace", "auto"}) {
    const ModeSet modes = modes_of(d, 2, solver);
    ASSERT_EQ(modes.count(), 1) << solver;
    EXPECT_NEAR(modes.eigenvalue(0), 300 * 2 / 2.0 / 5, 1e-9);
    EXPECT_NEAR(modes.modal_masses[0], 5, 1e-9);
    EXPECT_NEAR(modes.shapes[0].at(1, "ux") / modes.shapes[0].at(2, "ux"), 0.5, 1e-12);
    ASSERT_FALSE(modes.report.notes.empty());
    EXPECT_NE(modes.report.notes[0].find("only 1 mode"), std::string::npos) << modes.report.notes[0];
  }
  expect_error(ErrorCode::bad_input, {"no mass", "lanczos"}, [&] { modes_of(d, 1, "lobpcg"); });
}

TEST(EigenProblemOf, ModelsWithoutModesAreRefused) {
  Domain light;
  add_box(light, "bar", {2, 1, 1}, {0, 0, 0}, {2, 1, 1}, dense_material(1000, 0.3, 0));
  light.prescribe("bar_xmin", "all");
  expect_error(ErrorCode::bad_input, {"density"}, [&] { modes_of(light, 3); });
  Domain held;
  add_box(held, "bar", {1, 1, 1}, {0, 0, 0}, {1, 1, 1}, dense_material(1000, 0.3, 1));
  for (const char* side : {"bar_xmin", "bar_xmax"}) held.prescribe(side, "all");
  expect_error(ErrorCode::bad_input, {"prescribed"}, [&] { modes_of(held, 3); });
  Domain warm;
  BoxMesh mesh;
  mesh.type = "heat.hex8";
  auto material = std::make_shared<Material>("m");
  material->set("conductivity", 1);
  add_box_mesh(warm, mesh).set_material(material);
  expect_error(ErrorCode::bad_input, {"'T'"}, [&] { modes_of(warm, 3); });
}

TEST(EigenRequestOf, ThatMakesNoSenseIsRefused) {
  Domain d;
  add_bar(d);
  expect_error(ErrorCode::bad_input, {"number of modes"}, [&] { modes_of(d, 0); });
  EigenRequest backwards;
  backwards.from = 10;
  backwards.below = 5;
  expect_error(ErrorCode::bad_input, {"interval"}, [&] { modes_of(d, 0, "auto", "openmp:2", backwards); });
  EigenRequest stopped;
  stopped.progress = [](int, double) { return false; };
  expect_error(ErrorCode::cancelled, {"cancelled"}, [&] { modes_of(d, 5, "auto", "openmp:2", stopped); });
  expect_error(ErrorCode::not_found, {"did you mean 'lanczos'?"}, [] { make_eigen_solver("lancos"); });
  expect_error(ErrorCode::bad_input, {"no options"}, [] { make_eigen_solver("lanczos:fast"); });
}

/// Modes that were not found are said to be missing, also where the solver gives up.
TEST(Completeness, IsNotClaimedWhereIterationsEndTooEarly) {
  Domain d;
  add_bar(d, {6, 3, 3});
  EigenRequest request;
  request.max_iterations = 2;
  request.block = 1;
  const ModeSet modes = modes_of(d, 20, "lanczos", "openmp:2", request);
  EXPECT_LT(modes.count(), 20);
  EXPECT_NE(modes.report.completeness, Completeness::verified) << modes.report.statement;
  // Nor where not a single mode converged, whatever is checked.
  request.max_iterations = 1;
  request.check = CompletenessCheck::none;
  for (const char* solver : {"lanczos", "subspace", "lobpcg"}) {
    const ModeSet few = modes_of(d, 20, solver, "openmp:2", request);
    EXPECT_LT(few.count(), 20) << solver;
    EXPECT_EQ(few.report.completeness, Completeness::incomplete) << solver << ": " << few.report.statement;
  }
}

/// A probe searches where the modes found are not. Shapes with residuals of 0.1 contain parts of others, so that it
/// proves even less than usual, and must not say that it found none missing. A Sturm count is exact all the same.
TEST(Completeness, IsNotClaimedByAProbeOfLooseModes) {
  Domain d;
  add_bar(d, {6, 3, 3});
  EigenRequest request;
  request.check = CompletenessCheck::probe;
  for (const double tolerance : {0.1, 2e-3}) {
    request.tolerance = tolerance;
    const ModeSet loose = modes_of(d, 8, "lobpcg", "openmp:2", request);
    EXPECT_NE(loose.report.completeness, Completeness::probed) << loose.report.statement;
    EXPECT_NE(loose.report.completeness, Completeness::verified) << loose.report.statement;
    EXPECT_FALSE(loose.report.statement.starts_with("probe found none")) << loose.report.statement;
  }
  request.tolerance = 1e-3;
  const ModeSet tight = modes_of(d, 8, "lobpcg", "openmp:2", request);
  EXPECT_EQ(tight.report.completeness, Completeness::probed) << tight.report.statement;
  const ModeSet exact = modes_of(d, 8);
  request.tolerance = 0.1;
  request.check = CompletenessCheck::sturm;
  const ModeSet counted = modes_of(d, 8, "lobpcg", "openmp:2", request);
  ASSERT_EQ(counted.report.completeness, Completeness::verified) << counted.report.statement;
  for (int m = 0; m < 8; ++m) EXPECT_GE(counted.eigenvalue(m), exact.eigenvalue(m) * (1 - 1e-9)) << m;
}

/// Reduced integration leaves open whether geometry shows all motions without stiffness; a factorisation finds them.
TEST(Lobpcg, RefusesFreeBodiesWhoseMotionsItCannotKnow) {
  Domain d;
  add_box(d, "cube", {3, 2, 1}, {0, 0, 0}, {3, 2, 1}, dense_material(1000, 0.3, 2), "solid.hex20.reduced");
  expect_error(ErrorCode::bad_input, {"lanczos"}, [&] { modes_of(d, 8, "lobpcg"); });
  const ModeSet modes = modes_of(d, 8);
  expect_sound(modes);
  EXPECT_EQ(free_modes(modes), 6);
  // On supports there is nothing to be lost.
  d.prescribe("cube_xmin", "all");
  EXPECT_NEAR(modes_of(d, 3, "lobpcg").eigenvalue(0) / modes_of(d, 3, "lanczos").eigenvalue(0), 1, 1e-8);
}

TEST(EigenProblemOf, AnUnknownWithMassAndNoStiffnessIsNamed) {
  Domain d;
  d.add_node(1, 0, 0, 0);
  d.add_node(2, 1, 0, 0);
  ElementBlock& bar = d.add_block("bar", "truss");
  bar.set_material(dense_material(1000, 0.3, 2));
  bar.set_section("area", 0.1);
  bar.add(1, {1, 2});
  expect_error(ErrorCode::singular, {"node 1", "uy", "no stiffness"}, [&] { modes_of(d, 3); });
}

/// Two parts whose stiffnesses differ by 1e7: the energy of the soft one is lost in rounding, and that is said.
TEST(EigenReportOf, FrequenciesThatRoundingHidesAreNotCalledExact) {
  Domain d;
  add_box(d, "soft", {8, 1, 1}, {0, 0, 0}, {8, 0.2, 0.2}, dense_material(1, 0.3, 2), "solid.hex20");
  add_box(d, "stiff", {8, 1, 1}, {0, 0, 1}, {8, 0.2, 1.2}, dense_material(1e7, 0.3, 3), "solid.hex20");
  d.prescribe("soft_xmin", "all");
  const auto x = d.coordinates();
  // The stiff part rides on the tip of the soft one.
  for (std::int32_t a = 0; a < d.node_count(); ++a)
    for (std::int32_t b = 0; b < d.node_count(); ++b)
      if (x[3 * a] == 8 && x[3 * b] == 0 && x[3 * a + 1] == x[3 * b + 1] && x[3 * a + 2] < 0.5 &&
          std::abs(x[3 * a + 2] + 1 - x[3 * b + 2]) < 1e-9)
        for (const char* unknown : {"ux", "uy", "uz"})
          d.add_equation({{d.node_id(b), unknown, 1}, {d.node_id(a), unknown, -1}});
  for (const char* solver : {"lanczos", "subspace"})
    expect_error(ErrorCode::singular, {"lost in rounding"}, [&] { modes_of(d, 4, solver); });
}

TEST(ModalAssurance, IsOneForTheSameShapeAndZeroForOthers) {
  Domain d;
  add_bar(d);
  const ModeSet a = modes_of(d, 4, "lanczos"), b = modes_of(d, 4, "lobpcg");
  const std::vector<double> mac = modal_assurance(a, b);
  ASSERT_EQ(mac.size(), 16u);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(mac[i * 4 + i], 1, 1e-9);
    for (std::size_t j = 0; j < 4; ++j) {
      if (i == j) continue;
      EXPECT_LT(mac[i * 4 + j], 0.2);
    }
  }
}

TEST(AutomaticChoice, OfAnEigenSolverSaysWhy) {
  Domain d;
  add_bar(d);
  const ModeSet modes = modes_of(d, 3);
  EXPECT_TRUE(modes.report.choice.starts_with("lanczos, since ")) << modes.report.choice;
}

TEST(ModalAnalysisRun, GivesAResultForEachMode) {
  Domain d;
  add_bar(d);
  ModalOptions options;
  options.backend = "openmp:2";
  const auto analysis = make_modal_analysis(d, options);
  expect_error(ErrorCode::misuse, {"no modes yet"}, [&] { analysis->modes(); });
  EigenRequest request;
  request.modes = 3;
  analysis->set_request(request);
  const std::vector<StepResult> results = analysis->run();
  ASSERT_EQ(results.size(), 3u);
  EXPECT_TRUE(results[0].step.starts_with("mode 1, "));
  EXPECT_EQ(results[1].unknowns.values, analysis->modes().shapes[1].values);
}

}  // namespace
}  // namespace voussoir::test
