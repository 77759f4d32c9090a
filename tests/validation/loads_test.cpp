// Loads against closed forms: weight, rotation, pressure, traction, prescribed values, steps.
#include "validation/support.hpp"

namespace voussoir::validation {
namespace {

const std::vector<std::string> solids = {"solid.tet4",  "solid.tet10",        "solid.wedge6",    "solid.wedge15",
                                         "solid.hex8",  "solid.hex8.full",    "solid.hex8.bbar", "solid.hex8.reduced",
                                         "solid.hex20", "solid.hex20.reduced"};

/// A standing column without Poisson's effect: every section carries what is above it, u = −ρ g (L z − z²/2) / E.
TEST(Gravity, Column) {
  const double young = 2e9, density = 2400, g = 9.81, length = 3, area = 0.4 * 0.5;
  for (const std::string& type : solids) {
    SCOPED_TRACE(type);
    Domain domain;
    BoxMesh mesh;
    mesh.type = type;
    mesh.cells = {2, 2, 6};
    mesh.upper = {0.4, 0.5, length};
    add_box_mesh(domain, mesh).set_material(elastic(young, 0, density));
    domain.prescribe("zmin", "all");
    domain.add_load_case("weight").gravity("", {0, 0, -g});
    const StepResult result = solve(domain);
    const double weight = density * g * area * length, tip = -density * g * length * length / (2 * young);
    expect_relative(result.load_sum[2], -weight, 1e-12);
    expect_relative(result.reaction_sum[2], weight, 1e-10);
    EXPECT_NEAR(result.reaction_sum[0], 0, 1e-9 * weight);
    // Exact at the nodes but for Tet4, whose six tetrahedra per cell share out the weight unevenly.
    const double tolerance = type == "solid.tet4" ? 0.06 : 1e-10;
    for (std::int32_t n : domain.node_set("zmax"))
      EXPECT_NEAR(result.unknowns.at(n, "uz"), tip, tolerance * std::abs(tip));
  }
}

/// Weight on a set of elements alone, and of a plate with a thickness.
TEST(Gravity, PartOfAModel) {
  Domain domain;
  BoxMesh mesh;
  mesh.type = "plane_stress.quad4";
  mesh.cells = {4, 2, 1};
  mesh.upper = {4, 2, 1};
  ElementBlock& block = add_box_mesh(domain, mesh);
  block.set_material(elastic(1e9, 0.3, 1000)).set_section("thickness", 0.3);
  const std::vector<Id> heavy = {block.id(0), block.id(1), block.id(2)};
  domain.add_element_set("heavy", heavy);
  domain.prescribe("ymin", "all");
  domain.add_load_case("weight").gravity("heavy", {0, -10, 0});
  const StepResult result = solve(domain);
  expect_relative(result.reaction_sum[1], 3 * 1.0 * 0.3 * 1000 * 10, 1e-10);
}

/// A bar that spins about its end: N(x) = ρ A ω² (L² − x²)/2, the root pulls with ρ A ω² L²/2, and the tip moves by
/// ρ ω² L³ / (3 E).
TEST(Centrifugal, SpinningBar) {
  const double young = 70e9, density = 2700, omega = 300, length = 2, area = 0.1 * 0.1;
  for (const std::string& type : solids) {
    SCOPED_TRACE(type);
    Domain domain;
    BoxMesh mesh;
    mesh.type = type;
    mesh.cells = {16, 1, 1};
    mesh.lower = {0, -0.05, -0.05};
    mesh.upper = {length, 0.05, 0.05};
    add_box_mesh(domain, mesh).set_material(elastic(young, 0, density));
    domain.prescribe("xmin", "ux");
    domain.add_node_set_where("axis",
                              [](double, double y, double z) { return std::abs(y) > 0.04 && std::abs(z) > 0.04; });
    domain.prescribe("axis", "uy");
    domain.prescribe("axis", "uz");
    // About y, whose direction need not be a unit vector.
    domain.add_load_case("spin").centrifugal("", omega, {0, 5, 0}, {0, 3, 0});
    const StepResult result = solve(domain);
    expect_relative(result.load_sum[0], density * area * omega * omega * length * length / 2, 1e-9);
    expect_relative(result.reaction_sum[0], -density * area * omega * omega * length * length / 2, 1e-9);
    const double tip = density * omega * omega * length * length * length / (3 * young);
    double mean = 0;
    for (std::int32_t n : domain.node_set("xmax")) mean += result.unknowns.at(n, "ux") / domain.node_set("xmax").size();
    expect_relative(mean, tip, 5e-3);
  }
}

/// A thin disc in plane stress and as a ring of solid elements agree with the closed form of a rotating disc with a
/// hole (Timoshenko and Goodier): u(a) = ρ ω² a / (4 E) · ((3 + ν) b² + (1 − ν) a²).
TEST(Centrifugal, Disc) {
  const double young = 200e9, nu = 0.3, density = 7800, omega = 500, a = 0.1, b = 0.4;
  const double exact = density * omega * omega * a / (4 * young) * ((3 + nu) * b * b + (1 - nu) * a * a);
  Domain domain;
  BoxMesh mesh;
  mesh.type = "plane_stress.quad8";
  mesh.cells = {12, 12, 1};
  mesh.map = [&](double s, double t, double) {
    const double r = a + (b - a) * s, angle = 0.5 * pi * t;
    return Position{r * std::cos(angle), r * std::sin(angle), 0};
  };
  add_box_mesh(domain, mesh).set_material(elastic(young, nu, density)).set_section("thickness", 0.01);
  domain.prescribe("ymin", "uy");
  domain.prescribe("ymax", "ux");
  domain.add_load_case("spin").centrifugal("", omega, {0, 0, 0}, {0, 0, 1});
  const StepResult result = solve(domain);
  expect_relative(result.unknowns.at(node_at(domain, {a, 0, 0}), "ux"), exact, 1e-4);

  // The ring is so thin that its plane stress is that of the disc.
  Domain ring;
  BoxMesh strip;
  strip.type = "axisymmetric.quad8";
  strip.cells = {24, 1, 1};
  strip.lower = {a, 0, 0};
  strip.upper = {b, 0.002, 0};
  add_box_mesh(ring, strip).set_material(elastic(young, nu, density));
  ring.prescribe("ymin", "uy");
  ring.add_load_case("spin").centrifugal("", omega, {0, 0, 0}, {0, 1, 0});
  const StepResult spun = solve(ring);
  expect_relative(spun.unknowns.at(node_at(ring, {a, 0, 0}), "ux"), exact, 1e-3);
  expect_relative(spun.load_sum[0], density * omega * omega * 0.002 * 2 * pi * (b * b * b - a * a * a) / 3, 1e-10);
}

/// Pressure on flat faces is a traction against the normal, for every face of every solid shape.
TEST(Pressure, IsTractionAgainstTheNormal) {
  const std::vector<std::string> sides = {"xmin", "xmax", "ymin", "ymax", "zmin", "zmax"};
  for (const std::string& type : solids) {
    SCOPED_TRACE(type);
    Domain domain;
    BoxMesh mesh;
    mesh.type = type;
    mesh.cells = {2, 3, 2};
    mesh.upper = {2, 3, 1};
    add_box_mesh(domain, mesh).set_material(elastic(1000, 0.3));
    domain.add_node_set("corners", {1, 2, domain.node_id(domain.node_count() - 1)});
    domain.prescribe("corners", "all");
    for (std::size_t i = 0; i < 6; ++i) {
      std::array<double, 3> t{0, 0, 0};
      t[i / 2] = i % 2 ? -5 : 5;
      domain.add_load_case("pressure " + sides[i]).pressure(sides[i], 5);
      domain.add_load_case("traction " + sides[i]).traction(sides[i], t);
    }
    auto analysis = make_static_analysis(domain);
    for (const std::string& side : sides)
      for (const char* kind : {"pressure ", "traction "}) analysis->add_step({kind + side, {{kind + side, 1.0}}, 1.0});
    const auto results = analysis->run();
    const double area[] = {3, 2, 6};
    for (std::size_t i = 0; i < 6; ++i) {
      const auto& p = results[2 * i].unknowns.values;
      const auto& t = results[2 * i + 1].unknowns.values;
      const double size = std::abs(results[2 * i].unknowns.largest(i / 2 == 0 ? "ux" : i / 2 == 1 ? "uy" : "uz").value);
      for (std::size_t k = 0; k < p.size(); ++k) EXPECT_NEAR(p[k], t[k], 1e-11 * size);
      expect_relative(results[2 * i].load_sum[i / 2], (i % 2 ? -5 : 5) * area[i / 2], 1e-12);
    }
  }
}

/// Under the same pressure all around, every body shrinks evenly: u = −p (1 − 2ν)/E · x, whatever its surface. Here a
/// bent and twisted one. Edges are straight: on curved ones the volume rules of some quadratic shapes are not exact.
TEST(Pressure, AllAroundShrinksEvenly) {
  const double young = 1000, nu = 0.3, p = 7;
  for (const std::string& type : solids) {
    SCOPED_TRACE(type);
    Domain domain;
    BoxMesh mesh;
    mesh.type = type;
    mesh.cells = {4, 3, 3};
    mesh.straight_edges = type != "solid.hex20";
    mesh.map = [](double x, double y, double z) {
      const double r = 2 + y, t = x, w = z + 0.2 * x;
      return Position{r * std::cos(t), -r * std::sin(t), w};
    };
    add_box_mesh(domain, mesh).set_material(elastic(young, nu));
    LoadCase& load = domain.add_load_case("around");
    for (const char* side : {"xmin", "xmax", "ymin", "ymax", "zmin", "zmax"}) load.pressure(side, p);
    const auto exact = [&](const Position& x) {
      const double s = -p * (1 - 2 * nu) / young;
      return std::vector<double>{s * x[0], s * x[1], s * x[2]};
    };
    prescribe_field(domain, {0, 5, domain.node_count() - 1}, {"ux", "uy", "uz"}, exact);
    const StepResult result = solve(domain);
    for (std::int32_t n = 0; n < domain.node_count(); ++n)
      for (int k = 0; k < 3; ++k) EXPECT_NEAR(result.unknowns.at(n, k), exact(position(domain, n))[k], 1e-10);
    for (std::int32_t e = 0; e < domain.block(0).size(); ++e) {
      expect_relative(result.points[0].at(e, 0, "sxx"), -p, 1e-8);
      expect_relative(result.points[0].at(e, 0, "szz"), -p, 1e-8);
      EXPECT_NEAR(result.points[0].at(e, 0, "sxy"), 0, 1e-8 * p);
    }
  }
}

/// Nodal forces, surface loads and prescribed values, alone and together with factors: results add up.
TEST(Steps, AreSuperposed) {
  Domain domain;
  BoxMesh mesh;
  mesh.type = "solid.hex8";
  mesh.cells = {6, 2, 2};
  mesh.upper = {3, 1, 1};
  add_box_mesh(domain, mesh).set_material(elastic(1000, 0.3, 2, 1e-5));
  domain.prescribe("xmin", "uy");
  domain.prescribe("xmin", "uz");
  domain.prescribe("xmin", "ux", 0.01);
  domain.add_load_case("pull").nodal("xmax", "ux", 3);
  domain.add_load_case("weight").gravity("", {0, 0, -1});
  domain.add_load_case("press").pressure("ymax", 4);
  domain.add_load_case("warm").temperature_field(std::vector<double>(domain.node_count(), 50));
  auto analysis = make_static_analysis(domain);
  analysis->add_step({"pull", {{"pull", 1}}, 0});
  analysis->add_step({"weight", {{"weight", 1}}, 0});
  analysis->add_step({"press", {{"press", 1}}, 0});
  analysis->add_step({"support moves", {}, 1});
  analysis->add_step({"warm", {{"warm", 1}}, 0});
  analysis->add_step({"all", {{"pull", 2}, {"weight", -0.5}, {"press", 3}, {"warm", 1}}, 1.5});
  const auto r = analysis->run();
  ASSERT_EQ(r.size(), 6u);
  const double factor[] = {2, -0.5, 3, 1.5, 1};
  const auto compare = [&](auto values, double tolerance) {
    const std::vector<double>& all = values(r[5]);
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (std::isnan(all[i])) continue;
      double sum = 0;
      for (int k = 0; k < 5; ++k) sum += factor[k] * values(r[k])[i];
      EXPECT_NEAR(all[i], sum, tolerance);
    }
  };
  compare([](const StepResult& s) -> const std::vector<double>& { return s.unknowns.values; }, 1e-11);
  compare([](const StepResult& s) -> const std::vector<double>& { return s.reactions.values; }, 1e-9);
  compare([](const StepResult& s) -> const std::vector<double>& { return s.reaction_sum; }, 1e-9);
  const int sxx = r[5].points[0].name_index("sxx");
  for (std::int32_t e = 0; e < domain.block(0).size(); ++e) {
    double sum = 0;
    for (int k = 0; k < 5; ++k) sum += factor[k] * r[k].points[0].at(e, 3, sxx);
    EXPECT_NEAR(r[5].points[0].at(e, 3, sxx), sum, 1e-9);
  }
  expect_relative(r[0].load_sum[0], 27, 1e-12);
  expect_relative(r[1].load_sum[2], -6, 1e-12);
  expect_relative(r[2].load_sum[1], -12, 1e-12);
  EXPECT_EQ(r[5].step, "all");
}

/// A bar stretched by prescribed ends: reactions are ± E A ε on both, and the same from every solver and storage.
TEST(PrescribedValues, StretchedBar) {
  Domain domain;
  BoxMesh mesh;
  mesh.type = "solid.hex8.full";
  mesh.cells = {6, 2, 2};
  mesh.upper = {3, 1, 0.5};
  mesh.distortion = 0.1;
  add_box_mesh(domain, mesh).set_material(elastic(1000, 0.3));
  domain.prescribe("xmin", "ux", -0.01);
  domain.prescribe("xmax", "ux", 0.05);
  domain.prescribe("ymin", "uy");
  domain.prescribe("zmin", "uz");
  for (const auto& [solver, storage] : {std::pair{"direct", "bsr"},
                                        {"direct:eigen", "csr"},
                                        {"direct", "band"},
                                        {"direct", "profile"},
                                        {"cg", "bsr"},
                                        {"cg+jacobi", "csr"},
                                        {"cg+none", "element"},
                                        {"cg+jacobi", "element-scatter"},
                                        {"cg+jacobi", "point"},
                                        {"cg+chebyshev", "matrix-free"},
                                        {"cg+fsai", "bsr"}}) {
    SCOPED_TRACE(std::string(solver) + " " + storage);
    StaticOptions options;
    options.solver = solver;
    options.storage = storage;
    options.relative_tolerance = 1e-12;
    const StepResult result = solve(domain, options);
    double left = 0, right = 0;
    for (std::int32_t n : domain.node_set("xmin")) left += result.reactions.at(n, "ux");
    for (std::int32_t n : domain.node_set("xmax")) right += result.reactions.at(n, "ux");
    expect_relative(right, 1000 * 0.5 * 0.06 / 3, 1e-9);
    expect_relative(left, -1000 * 0.5 * 0.06 / 3, 1e-9);
    for (std::int32_t n = 0; n < domain.node_count(); ++n) {
      EXPECT_NEAR(result.unknowns.at(n, "ux"), -0.01 + 0.02 * position(domain, n)[0], 1e-11);
      EXPECT_NEAR(result.unknowns.at(n, "uy"), -0.3 * 0.02 * position(domain, n)[1], 1e-11);
    }
    expect_relative(result.energy, 0.5 * 1000 * 0.02 * 0.02 * 1.5, 1e-9);
  }
}

}  // namespace
}  // namespace voussoir::validation
