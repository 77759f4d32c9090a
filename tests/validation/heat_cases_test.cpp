// Steady heat: published cases and closed forms.
#include "validation/support.hpp"

namespace voussoir::validation {
namespace {

/// NAFEMS T4: a plate that convects on two sides.
double t4(const std::string& type, int nx, int ny) {
  Domain domain;
  BoxMesh mesh;
  mesh.type = type;
  mesh.cells = {nx, ny, 1};
  mesh.upper = {0.6, 1.0, 1};
  add_box_mesh(domain, mesh).set_material(conducting(52)).set_section("thickness", 1);
  domain.prescribe("ymin", "T", 100);
  domain.add_load_case("film").convection("xmax", 750, 0).convection("ymax", 750, 0);
  return solve(domain).unknowns.at(node_at(domain, {0.6, 0.2, 0}), "T");
}

TEST(NafemsT4, TemperatureAtE) {
  expect_relative(t4("plane_heat.quad8", 12, 20), 18.272, 3e-5);
  expect_relative(t4("plane_heat.quad8", 48, 80), 18.2538, 5e-6);
  expect_relative(t4("plane_heat.quad4", 48, 80), 18.2538, 0.005);
  expect_relative(t4("plane_heat.tri6", 24, 40), 18.2538, 0.001);
}

/// A bar of every shape between a fixed temperature and a film: T falls linearly, and the heat that enters on the left
/// leaves on the right.
TEST(Convection, WallBetweenTemperatureAndFilm) {
  const double k = 3, h = 7, sink = 20, hot = 100, length = 2, area = 0.25;
  for (const char* type : {"heat.hex8", "heat.hex20", "heat.tet4", "heat.tet10", "heat.wedge6", "heat.wedge15"}) {
    Domain domain;
    BoxMesh mesh;
    mesh.type = type;
    mesh.cells = {4, 2, 2};
    mesh.upper = {length, 0.5, 0.5};
    mesh.distortion = 0.15;
    add_box_mesh(domain, mesh).set_material(conducting(k));
    domain.prescribe("xmin", "T", hot);
    domain.add_load_case("film").convection("xmax", h, sink);
    const StepResult result = solve(domain);
    const double flux = (hot - sink) / (length / k + 1 / h);
    for (std::int32_t n = 0; n < domain.node_count(); ++n)
      EXPECT_NEAR(result.unknowns.at(n, 0), hot - flux / k * position(domain, n)[0], 1e-9) << type;
    expect_relative(result.reaction_sum[0], flux * area, 1e-9, type);
    expect_relative(result.load_sum[0], -flux * area, 1e-9, type);
    for (std::int32_t e = 0; e < domain.block(0).size(); ++e)
      expect_relative(result.points[0].at(e, 0, "qx"), flux, 1e-9, type);
  }
}

/// A film counts with its load case's factor, in the matrix as in the load; steps with other films have other matrices.
TEST(Convection, StepsWithDifferentFilms) {
  const double k = 3, h = 7, sink = 20, hot = 100, length = 2;
  Domain domain;
  BoxMesh mesh;
  mesh.type = "plane_heat.quad4";
  mesh.cells = {4, 2, 1};
  mesh.upper = {length, 1, 1};
  add_box_mesh(domain, mesh).set_material(conducting(k)).set_section("thickness", 1);
  domain.prescribe("xmin", "T", hot);
  domain.add_load_case("film").convection("xmax", h, sink);
  domain.add_load_case("sun").heat_flux("xmax", 30);
  auto analysis = make_static_analysis(domain);
  analysis->add_step({"insulated", {}, 1});
  analysis->add_step({"film", {{"film", 1}}, 1});
  analysis->add_step({"double film", {{"film", 2}}, 1});
  analysis->add_step({"film and sun", {{"film", 1}, {"sun", 2}}, 1});
  analysis->add_step({"film and sun, colder wall", {{"film", 1}, {"sun", 2}}, 0.5});
  const auto r = analysis->run();
  const std::int32_t end = node_at(domain, {length, 1, 0});
  // k (T₀ − T)/L + s = h (T − sink)
  const auto expected = [&](double wall, double film, double sun) {
    return (k * wall / length + sun + film * sink) / (k / length + film);
  };
  EXPECT_NEAR(r[0].unknowns.at(end, 0), hot, 1e-9);
  EXPECT_NEAR(r[1].unknowns.at(end, 0), expected(hot, h, 0), 1e-9);
  EXPECT_NEAR(r[2].unknowns.at(end, 0), expected(hot, 2 * h, 0), 1e-9);
  EXPECT_NEAR(r[3].unknowns.at(end, 0), expected(hot, h, 60), 1e-9);
  EXPECT_NEAR(r[4].unknowns.at(end, 0), expected(hot / 2, h, 60), 1e-9);
}

/// Steady heating of a wall: T = s x (L − x) / (2k) between cold faces. Quadratic shapes hold this exactly, linear ones
/// at the nodes.
TEST(HeatSource, WallBetweenColdFaces) {
  const double k = 3, s = 11, length = 2;
  for (const char* type : {"heat.hex8", "heat.hex20", "heat.tet10", "heat.wedge6", "heat.wedge15", "plane_heat.quad4",
                           "plane_heat.quad8", "plane_heat.tri6"}) {
    Domain domain;
    BoxMesh mesh;
    mesh.type = type;
    mesh.cells = {6, 2, 2};
    mesh.upper = {length, 0.5, 0.5};
    ElementBlock& block = add_box_mesh(domain, mesh);
    block.set_material(conducting(k));
    const bool plane = std::string(type).starts_with("plane");
    if (plane) block.set_section("thickness", 0.5);
    domain.prescribe("xmin", "T");
    domain.prescribe("xmax", "T");
    domain.add_load_case("source").heat_source("", s);
    const StepResult result = solve(domain);
    for (std::int32_t n = 0; n < domain.node_count(); ++n) {
      const double x = position(domain, n)[0];
      EXPECT_NEAR(result.unknowns.at(n, 0), s * x * (length - x) / (2 * k), 1e-10) << type;
    }
    expect_relative(result.load_sum[0], s * length * 0.25, 1e-12, type);
    expect_relative(result.reaction_sum[0], -s * length * 0.25, 1e-10, type);
  }
}

TEST(HeatFlux, RodTakesWhatIsGiven) {
  Domain domain;
  BoxMesh mesh;
  mesh.type = "heat.hex8";
  mesh.cells = {5, 2, 2};
  mesh.upper = {2, 0.5, 0.5};
  add_box_mesh(domain, mesh).set_material(conducting(4));
  domain.prescribe("xmin", "T", 10);
  domain.add_load_case("flux").heat_flux("xmax", 6);
  const StepResult result = solve(domain);
  EXPECT_NEAR(result.unknowns.at(node_at(domain, {2, 0.5, 0}), "T"), 10 + 6 * 2 / 4.0, 1e-10);
  EXPECT_NEAR(result.points[0].at(0, 0, "qx"), -6, 1e-9) << "heat flows from the heated end to the cold one";
  EXPECT_NEAR(result.reaction_sum[0], -6 * 0.25, 1e-10);
}

/// A pipe wall as a ring: T = T_a + (T_b − T_a) ln(r/a) / ln(b/a), and 2π k L (T_a − T_b) / ln(b/a) flows through it.
TEST(AxisymmetricHeat, PipeWall) {
  const double k = 3, a = 1, b = 3, height = 0.5;
  for (const auto& [type, tolerance] : {std::pair{"axisymmetric_heat.quad8", 1e-4},
                                        {"axisymmetric_heat.tri6", 1e-4},
                                        {"axisymmetric_heat.quad4", 1e-2},
                                        {"axisymmetric_heat.tri3", 1e-2}}) {
    Domain domain;
    BoxMesh mesh;
    mesh.type = type;
    mesh.cells = {16, 2, 1};
    mesh.lower = {a, 0, 0};
    mesh.upper = {b, height, 1};
    add_box_mesh(domain, mesh).set_material(conducting(k));
    domain.prescribe("xmin", "T", 100);
    domain.prescribe("xmax", "T", 20);
    const StepResult result = solve(domain);
    for (std::int32_t n = 0; n < domain.node_count(); ++n)
      EXPECT_NEAR(result.unknowns.at(n, 0), 100 - 80 * std::log(position(domain, n)[0]) / std::log(3.0), 80 * tolerance)
          << type;
    double in = 0;
    for (std::int32_t n : domain.node_set("xmin")) in += result.reactions.at(n, 0);
    expect_relative(in, 2 * pi * k * height * 80 / std::log(3.0), tolerance, type);
  }
}

/// Conductivity k = k₀ (1 + β T): Kirchhoff's transformation makes T + β T²/2 linear in x. Newton's iterations find it.
TEST(TemperatureDependentConductivity, KirchhoffTransformation) {
  const double k0 = 2, beta = 0.01, hot = 200, length = 1;
  for (const char* type : {"heat.hex8", "heat.hex20", "heat.tet10", "plane_heat.quad8"}) {
    Domain domain;
    BoxMesh mesh;
    mesh.type = type;
    mesh.cells = {32, 1, 1};
    mesh.upper = {length, 0.1, 0.1};
    ElementBlock& block = add_box_mesh(domain, mesh);
    auto material = std::make_shared<Material>("varying");
    material->set_table("conductivity", {{0, k0}, {400, k0 * (1 + 400 * beta)}});
    block.set_material(material);
    if (std::string(type).starts_with("plane")) block.set_section("thickness", 0.1);
    domain.prescribe("xmin", "T", 0);
    domain.prescribe("xmax", "T", hot);
    const StepResult result = solve(domain);
    EXPECT_TRUE(result.report.converged);
    EXPECT_NE(result.report.solver.find("newton"), std::string::npos) << result.report.solver;
    const double top = hot + 0.5 * beta * hot * hot;
    for (std::int32_t n = 0; n < domain.node_count(); ++n) {
      const double theta = top * position(domain, n)[0] / length;
      EXPECT_NEAR(result.unknowns.at(n, 0), (std::sqrt(1 + 2 * beta * theta) - 1) / beta, 0.02) << type;
    }
    double in = 0;
    for (std::int32_t n : domain.node_set("xmax")) in += result.reactions.at(n, 0);
    expect_relative(in, k0 * top / length * 0.01, 1e-3, type);
  }
}

/// Two layers in series: the interface takes the temperature that both fluxes agree on.
TEST(HeatConduction, LayersInSeries) {
  Domain domain;
  BoxMesh mesh;
  mesh.type = "heat.hex8";
  mesh.cells = {3, 2, 2};
  mesh.block = "left";
  mesh.set_prefix = "left ";
  add_box_mesh(domain, mesh).set_material(conducting(1));
  const std::int32_t first = domain.node_count();
  mesh.lower = {1, 0, 0};
  mesh.upper = {3, 1, 1};
  mesh.block = "right";
  mesh.set_prefix = "right ";
  add_box_mesh(domain, mesh).set_material(conducting(10));
  // The halves have nodes of their own at x = 1, tied by equations.
  for (std::int32_t n : domain.node_set("left xmax")) {
    const Position p = position(domain, n);
    for (std::int32_t m : domain.node_set("right xmin"))
      if (m >= first && position(domain, m) == p)
        domain.add_equation({{domain.node_id(n), "T", 1}, {domain.node_id(m), "T", -1}});
  }
  ASSERT_EQ(domain.equations().size(), 9u);
  domain.prescribe("left xmin", "T", 100);
  domain.prescribe("right xmax", "T", 0);
  const StepResult result = solve(domain);
  const double flux = 100 / (1.0 / 1 + 2.0 / 10);
  EXPECT_NEAR(result.unknowns.at(node_at(domain, {1, 0.5, 0.5}), "T"), 100 - flux, 1e-9);
  EXPECT_NEAR(result.points[1].at(0, 0, "qx"), flux, 1e-9);
}

}  // namespace
}  // namespace voussoir::validation
