// Published and closed-form cases of solids.
#include "validation/support.hpp"

namespace voussoir::validation {
namespace {

/// NAFEMS LE10: a thick elliptic plate under 1 MPa, held along its outer surface.
double le10(int around, int across, int through) {
  Domain domain;
  BoxMesh mesh;
  mesh.type = "solid.hex20";
  mesh.cells = {across, around, through};
  mesh.map = [](double s, double t, double z) {
    const double angle = 0.5 * pi * t;
    return Position{((1 - s) * 2 + s * 3.25) * std::cos(angle), ((1 - s) * 1 + s * 2.75) * std::sin(angle), 0.6 * z};
  };
  add_box_mesh(domain, mesh).set_material(elastic(210e9, 0.3));
  domain.prescribe("ymin", "uy");
  domain.prescribe("ymax", "ux");
  domain.prescribe("xmax", "ux");
  domain.prescribe("xmax", "uy");
  std::vector<Id> middle;
  for (std::int32_t n : domain.node_set("xmax"))
    if (std::abs(position(domain, n)[2] - 0.3) < 1e-9) middle.push_back(domain.node_id(n));
  domain.add_node_set("middle", middle);
  domain.prescribe("middle", "uz");
  domain.add_load_case("pressure").pressure("zmax", 1e6);
  const StepResult result = solve(domain);
  return at_node(domain, result, "syy", node_at(domain, {2, 0, 0.6}));
}

TEST(NafemsLe10, Hex20StressAtD) {
  expect_relative(le10(6, 4, 2), -5.565e6, 0.04);
  expect_relative(le10(12, 8, 4), -5.523e6, 0.04);
  const double fine = le10(20, 14, 6);
  expect_relative(fine, -5.455e6, 0.04);
  expect_relative(fine, -5.38e6, 0.04, "NAFEMS");
}

/// MacNeal and Harder's curved beam: a quarter ring held at one end, a unit load spread over the other. Returns the
/// displacement there in the direction of the load, as the load feels it.
double curved_beam(const std::string& type, std::array<int, 3> cells, bool out_of_plane) {
  Domain domain;
  BoxMesh mesh;
  mesh.type = type;
  mesh.cells = {cells[1], cells[0], cells[2]};
  mesh.map = [](double s, double t, double z) {
    const double r = 4.12 + 0.2 * s, angle = 0.5 * pi * t;
    return Position{r * std::cos(angle), r * std::sin(angle), 0.1 * z};
  };
  add_box_mesh(domain, mesh).set_material(elastic(1e7, 0.25));
  domain.prescribe("ymin", "all");
  const double unit = 1 / (0.2 * 0.1);
  domain.add_load_case("tip").traction("ymax", {0, out_of_plane ? 0 : unit, out_of_plane ? unit : 0});
  return 2 * solve(domain).energy;  // the work of the unit load
}

TEST(CurvedBeam, Hex20) {
  expect_relative(curved_beam("solid.hex20", {24, 2, 2}, false), 0.088318, 1e-5);
  expect_relative(curved_beam("solid.hex20", {24, 2, 2}, true), 0.493189, 1e-5);
  expect_relative(curved_beam("solid.hex20", {6, 1, 1}, false), 0.076384, 1e-5);
  expect_relative(curved_beam("solid.hex20", {6, 1, 1}, true), 0.467025, 1e-5);
  // Beam theory leaves out shear and the curvature of the section.
  expect_relative(curved_beam("solid.hex20", {24, 2, 2}, false), 0.08734, 0.02);
  expect_relative(curved_beam("solid.hex20", {24, 2, 2}, true), 0.5022, 0.02);
}

TEST(CurvedBeam, PlainHex8Locks) {
  expect_relative(curved_beam("solid.hex8.full", {6, 1, 1}, false), 0.006397, 1e-4);
  expect_relative(curved_beam("solid.hex8.full", {6, 1, 1}, true), 0.116167, 1e-5);
}

TEST(CurvedBeam, TheDefaultHex8Bends) {
  expect_relative(curved_beam("solid.hex8", {24, 2, 2}, false), 0.088318, 0.05);
  expect_relative(curved_beam("solid.hex8", {24, 2, 2}, true), 0.493189, 0.05);
}

/// Lamé's thick cylinder as a slice of solids between two planes, a quarter of it: radial displacement of the bore.
TEST(LameCylinder, SolidsDoNotLock) {
  const auto bore = [](const std::string& type, double nu) {
    Domain domain;
    BoxMesh mesh;
    mesh.type = type;
    mesh.cells = {16, 16, 1};
    mesh.map = [](double s, double t, double z) {
      const double r = 3 + 6 * s, angle = 0.5 * pi * t;
      return Position{r * std::cos(angle), r * std::sin(angle), 0.5 * z};
    };
    add_box_mesh(domain, mesh).set_material(elastic(1000, nu));
    domain.prescribe("ymin", "uy");
    domain.prescribe("ymax", "ux");
    domain.prescribe("zmin", "uz");
    domain.prescribe("zmax", "uz");
    domain.add_load_case("pressure").pressure("xmin", 1);
    return solve(domain).unknowns.at(node_at(domain, {3, 0, 0}), "ux");
  };
  const double table[][2] = {
      {0, 3.75e-3}, {0.3, 4.5825e-3}, {0.49, 5.039925e-3}, {0.499, 5.0602493e-3}, {0.4999, 5.0622750e-3}};
  for (const auto& [nu, exact] : table)
    for (const char* type : {"solid.hex8.bbar", "solid.hex8.incompatible", "solid.hex20.reduced"})
      expect_relative(bore(type, nu), exact, 0.02, type);
  EXPECT_LT(bore("solid.hex8.full", 0.4999), 0.75 * 5.0622750e-3) << "the plain element does lock";
}

/// A cantilever of 10 × 1 × 1 m under a transverse traction at its end; the load-weighted mean of u_z there. The
/// numbers come from several independent programs that agree in all digits.
double cantilever(const std::string& type, int n, const StaticOptions& options = {}) {
  Domain domain;
  BoxMesh mesh;
  mesh.type = type;
  mesh.cells = {10 * n, n, n};
  mesh.upper = {10, 1, 1};
  add_box_mesh(domain, mesh).set_material(elastic(210e9, 0.3, 7850));
  domain.prescribe("xmin", "all");
  domain.add_load_case("tip").traction("xmax", {0, 0, -1e6});
  const StepResult result = solve(domain, options);
  expect_relative(result.load_sum[2], -1e6, 1e-10);
  expect_relative(result.reaction_sum[2], 1e6, 1e-6);
  return -2 * result.energy / 1e6;
}

TEST(Cantilever, Hex8) {
  expect_relative(cantilever("solid.hex8.full", 10), -1.894331294e-2, 2e-9);
  StaticOptions cg;
  cg.solver = "cg";
  cg.relative_tolerance = 1e-8;
  expect_relative(cantilever("solid.hex8.full", 14, cg), -1.900103892e-2, 2e-9);
}

TEST(Cantilever, QuadraticMeshes) {
  StaticOptions cg;
  cg.solver = "cg";
  cg.relative_tolerance = 1e-8;
  expect_relative(cantilever("solid.hex20", 9, cg), -1.905871469e-2, 2e-9);
  expect_relative(cantilever("solid.tet10", 7, cg), -1.90559373e-2, 2e-9);
}

}  // namespace
}  // namespace voussoir::validation
