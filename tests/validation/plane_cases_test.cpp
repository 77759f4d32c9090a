// Published and closed-form cases of plane elasticity.
#include "validation/support.hpp"

#include <voussoir/elements/shapes/shapes.hpp>

namespace voussoir::validation {
namespace {

/// Stress σ_yy of plane stress at local node `a` of an element, from the displacements of its nodes: what the published
/// tables list. (The recovered nodal value is carried there from the integration points instead, and differs a little.)
template <class Shape>
double syy_at(const Domain& domain, const StepResult& result, std::int32_t element, int a, double young, double nu) {
  const double xi[2] = {Shape::node(a, 0), Shape::node(a, 1)};
  double g[Shape::nodes][2], jacobian[2][2] = {}, du[2][2] = {};
  Shape::gradients(xi, g);
  const auto nodes = domain.block(0).nodes(element);
  for (int b = 0; b < Shape::nodes; ++b)
    for (int i = 0; i < 2; ++i)
      for (int k = 0; k < 2; ++k) {
        jacobian[i][k] += position(domain, nodes[b])[i] * g[b][k];
        du[i][k] += result.unknowns.at(nodes[b], i) * g[b][k];
      }
  const double det = jacobian[0][0] * jacobian[1][1] - jacobian[0][1] * jacobian[1][0];
  const double exx = (du[0][0] * jacobian[1][1] - du[0][1] * jacobian[1][0]) / det;
  const double eyy = (du[1][1] * jacobian[0][0] - du[1][0] * jacobian[0][1]) / det;
  return young / (1 - nu * nu) * (eyy + nu * exx);
}

/// NAFEMS LE1: a quarter of an elliptic membrane, mapped linearly in the angle and across.
struct EllipticMembrane {
  Domain domain;
  StepResult result;
  std::int32_t d = 0;

  EllipticMembrane(const std::string& type, int around, int across) {
    BoxMesh mesh;
    mesh.type = type;
    mesh.cells = {across, around, 1};
    mesh.map = [](double s, double t, double) {
      const double angle = 0.5 * pi * t;
      return Position{((1 - s) * 2 + s * 3.25) * std::cos(angle), ((1 - s) * 1 + s * 2.75) * std::sin(angle), 0};
    };
    add_box_mesh(domain, mesh).set_material(elastic(210e9, 0.3)).set_section("thickness", 0.1);
    domain.prescribe("ymin", "uy");
    domain.prescribe("ymax", "ux");
    domain.add_load_case("pull").pressure("xmax", -10e6);
    result = solve(domain);
    d = node_at(domain, {2, 0, 0});
  }
  /// As recovered.
  double stress() const { return at_node(domain, result, "syy", d); }
  /// From the displacements of the one element that has D as a corner.
  template <class Shape>
  double stress_of() const {
    for (std::int32_t e = 0; e < domain.block(0).size(); ++e)
      for (int a = 0; a < Shape::nodes; ++a)
        if (domain.block(0).nodes(e)[a] == d) return syy_at<Shape>(domain, result, e, a, 210e9, 0.3);
    return 0;
  }
};

TEST(NafemsLe1, Quad8StressAtD) {
  struct Row {
    int around, across;
    double stress;
  };
  for (const Row& row : {Row{6, 4, 90.425e6}, {12, 8, 92.787e6}, {24, 16, 92.877e6}, {48, 32, 92.745e6}}) {
    const EllipticMembrane m("plane_stress.quad8", row.around, row.across);
    const std::string mesh = std::to_string(row.around) + " x " + std::to_string(row.across);
    expect_relative(m.stress_of<Quad8>(), row.stress, 1e-5, mesh);
    expect_relative(m.stress(), row.stress, 0.01, mesh + " recovered");
    expect_relative(m.stress(), 92.7e6, 0.04, mesh + " against NAFEMS");
    if (row.around == 48) expect_relative(m.result.unknowns.at(m.d, "ux"), -1.02207e-4, 1e-5, "displacement of D");
  }
}

TEST(NafemsLe1, Quad4StressAtD) {
  const EllipticMembrane m("plane_stress.quad4.full", 96, 64);
  expect_relative(m.stress_of<Quad4>(), 93.49e6, 1e-4);
  expect_relative(m.stress(), 93.49e6, 1e-3, "recovered");
  expect_relative(EllipticMembrane("plane_stress.quad4", 96, 64).stress(), 92.7e6, 0.02, "default formulation");
}

TEST(NafemsLe1, TrianglesStressAtD) {
  expect_relative(EllipticMembrane("plane_stress.tri6", 24, 16).stress(), 92.7e6, 0.04);
  expect_relative(EllipticMembrane("plane_stress.quad8.reduced", 24, 16).stress(), 92.7e6, 0.04);
}

/// Cook's membrane: deflection at the middle of the loaded side.
double cook(const std::string& type, int n) {
  Domain domain;
  BoxMesh mesh;
  mesh.type = type;
  mesh.cells = {n, n, 1};
  mesh.map = [](double x, double y, double) { return Position{48 * x, 44 * x + y * (44 - 28 * x), 0}; };
  add_box_mesh(domain, mesh).set_material(elastic(1, 1.0 / 3.0)).set_section("thickness", 1);
  domain.prescribe("xmin", "all");
  domain.add_load_case("shear").traction("xmax", {0, 1.0 / 16.0, 0});
  const StepResult result = solve(domain);
  return result.unknowns.at(node_at(domain, {48, 52, 0}), "uy");
}

TEST(CookMembrane, Quad4Full) {
  const double expected[] = {11.8452, 18.2992, 22.0792, 23.4304, 23.8176, 23.9245};
  for (int i = 0, n = 2; i < 6; ++i, n *= 2) expect_relative(cook("plane_stress.quad4.full", n), expected[i], 1e-5);
}

TEST(CookMembrane, Quad8) {
  const double expected[] = {22.7177, 23.7083, 23.8837, 23.9346, 23.9551};
  for (int i = 0, n = 2; i < 5; ++i, n *= 2) expect_relative(cook("plane_stress.quad8", n), expected[i], 1e-5);
}

TEST(CookMembrane, IncompatibleModesBeatTheBilinearElement) {
  const double converged = 23.965;
  for (int n : {2, 4, 8, 16, 32}) {
    const double plain = cook("plane_stress.quad4.full", n), better = cook("plane_stress.quad4.incompatible", n);
    EXPECT_LT(std::abs(better - converged), std::abs(plain - converged)) << n;
    EXPECT_EQ(better, cook("plane_stress.quad4", n)) << "the default of Quad4 is the one that bends";
  }
  EXPECT_LT(std::abs(cook("plane_stress.quad4", 16) - converged), 0.005 * converged);
}

/// The same membrane in plane strain, for formulations that plane stress has not: both must beat Quad4 full there.
TEST(CookMembrane, BBarBeatsTheBilinearElementInPlaneStrain) {
  const double converged = cook("plane_strain.quad8", 32);
  for (int n : {2, 4, 8, 16}) {
    const double plain = cook("plane_strain.quad4.full", n);
    for (const char* form : {"plane_strain.quad4.bbar", "plane_strain.quad4.incompatible"})
      EXPECT_LT(std::abs(cook(form, n) - converged), std::abs(plain - converged)) << form << " " << n;
  }
}

/// Timoshenko and Goodier, end-loaded cantilever: exact displacements at the root, the exact parabola of shear at the
/// end.
double timoshenko(const std::string& type, int nx, int ny) {
  const double p = 1000, length = 48, depth = 12, young = 3e7, nu = 0.3, inertia = depth * depth * depth / 12;
  Domain domain;
  BoxMesh mesh;
  mesh.type = type;
  mesh.cells = {nx, ny, 1};
  mesh.lower = {0, -depth / 2, 0};
  mesh.upper = {length, depth / 2, 1};
  add_box_mesh(domain, mesh).set_material(elastic(young, nu)).set_section("thickness", 1);
  const auto root = domain.node_set("xmin");
  prescribe_field(domain, {root.begin(), root.end()}, {"ux", "uy"}, [&](const Position& q) {
    const double x = q[0], y = q[1], f = p / (6 * young * inertia);
    return std::vector<double>{
        f * y * ((6 * length - 3 * x) * x + (2 + nu) * (y * y - depth * depth / 4)),
        -f * (3 * nu * y * y * (length - x) + (4 + 5 * nu) * depth * depth * x / 4 + (3 * length - x) * x * x)};
  });
  add_plane_traction(domain, domain.add_load_case("shear"), "xmax", 1, [&](const Position& q) {
    return std::array<double, 2>{0, -p / (2 * inertia) * (depth * depth / 4 - q[1] * q[1])};
  });
  const StepResult result = solve(domain);
  return result.unknowns.at(node_at(domain, {length, 0, 0}), "uy");
}

TEST(TimoshenkoCantilever, TipDeflection) {
  expect_relative(timoshenko("plane_stress.quad8", 8, 4), -8.899368e-3, 1e-6);
  expect_relative(timoshenko("plane_stress.quad4.full", 32, 8), -8.834608e-3, 1e-6);
  expect_relative(timoshenko("plane_stress.quad4", 32, 8), -8.9e-3, 1e-3);
  expect_relative(timoshenko("plane_stress.tri6", 16, 8), -8.9e-3, 1e-3);
}

/// Lamé's thick cylinder in plane strain, a quarter of it: radial displacement of the bore.
double lame(const std::string& type, int n, double nu) {
  Domain domain;
  BoxMesh mesh;
  mesh.type = type;
  mesh.cells = {n, n, 1};
  mesh.map = [](double s, double t, double) {
    const double r = 3 + 6 * s, angle = 0.5 * pi * t;
    return Position{r * std::cos(angle), r * std::sin(angle), 0};
  };
  add_box_mesh(domain, mesh).set_material(elastic(1000, nu)).set_section("thickness", 1);
  domain.prescribe("ymin", "uy");
  domain.prescribe("ymax", "ux");
  domain.add_load_case("pressure").pressure("xmin", 1);
  const StepResult result = solve(domain);
  return result.unknowns.at(node_at(domain, {3, 0, 0}), "ux");
}

TEST(LameCylinder, Quad8) {
  expect_relative(lame("plane_strain.quad8", 8, 0.3), 4.5823385e-3, 1e-6);
  expect_relative(lame("plane_strain.quad8", 8, 0.49), 5.0356726e-3, 1e-6);
}

/// u(a) = (1 + ν) a / E · (a² (1 − 2ν) + b²) / (b² − a²).
double lame_exact(double nu) { return (1 + nu) * 3 / 1000 * (9 * (1 - 2 * nu) + 81) / 72; }

TEST(LameCylinder, ClosedFormNumbers) {
  const double table[][2] = {
      {0, 3.75e-3}, {0.3, 4.5825e-3}, {0.49, 5.039925e-3}, {0.499, 5.0602493e-3}, {0.4999, 5.0622750e-3}};
  for (const auto& [nu, u] : table) expect_relative(lame_exact(nu), u, 1e-7);
}

TEST(LameCylinder, NoLockingOfBBarAndIncompatibleModes) {
  for (const char* type : {"plane_strain.quad4.bbar", "plane_strain.quad4.incompatible", "plane_strain.quad8.reduced"})
    for (double nu : {0.0, 0.3, 0.49, 0.499, 0.4999}) expect_relative(lame(type, 16, nu), lame_exact(nu), 0.02, type);
  EXPECT_LT(lame("plane_strain.quad4.full", 16, 0.4999), 0.75 * lame_exact(0.4999)) << "the plain element does lock";
}

/// The same cylinder as a ring in axisymmetric elements, held so that it keeps its length.
TEST(LameCylinder, Axisymmetric) {
  for (const auto& [type, tolerance] : {std::pair{"axisymmetric.quad8", 1e-4},
                                        {"axisymmetric.tri6", 1e-3},
                                        {"axisymmetric.quad4.full", 0.01},
                                        {"axisymmetric.quad4.incompatible", 0.01},
                                        {"axisymmetric.quad4.bbar", 0.01},
                                        {"axisymmetric.quad4.reduced", 0.02},
                                        {"axisymmetric.tri3", 0.01}}) {
    Domain domain;
    BoxMesh mesh;
    mesh.type = type;
    mesh.cells = {16, 2, 1};
    mesh.lower = {3, 0, 0};
    mesh.upper = {9, 1, 1};
    add_box_mesh(domain, mesh).set_material(elastic(1000, 0.3));
    domain.prescribe("ymin", "uy");
    domain.prescribe("ymax", "uy");
    domain.add_load_case("pressure").pressure("xmin", 1);
    const StepResult result = solve(domain);
    expect_relative(result.unknowns.at(node_at(domain, {3, 0, 0}), "ux"), lame_exact(0.3), tolerance, type);
    // Forces are those of the full circle.
    expect_relative(result.load_sum[0], 2 * pi * 3, 1e-9, type);
  }
}

/// Kirsch's plate with a hole of radius 1 under a pull S = 1 along x: exact tractions on a circle of radius 5.
StepResult kirsch(Domain& domain, const std::string& type, int around, int across) {
  BoxMesh mesh;
  mesh.type = type;
  mesh.cells = {across, around, 1};
  mesh.map = [](double s, double t, double) {
    const double r = std::pow(5.0, s), angle = 0.5 * pi * t;  // cells grow with the radius
    return Position{r * std::cos(angle), r * std::sin(angle), 0};
  };
  add_box_mesh(domain, mesh).set_material(elastic(1000, 0.3)).set_section("thickness", 2);
  domain.prescribe("ymin", "uy");
  domain.prescribe("ymax", "ux");
  add_plane_traction(domain, domain.add_load_case("pull"), "xmax", 2, [](const Position& x) {
    const double r = std::hypot(x[0], x[1]), t = std::atan2(x[1], x[0]), q = 1 / (r * r);
    const double sxx = 1 - q * (1.5 * std::cos(2 * t) + std::cos(4 * t)) + 1.5 * q * q * std::cos(4 * t);
    const double syy = -q * (0.5 * std::cos(2 * t) - std::cos(4 * t)) - 1.5 * q * q * std::cos(4 * t);
    const double sxy = -q * (0.5 * std::sin(2 * t) + std::sin(4 * t)) + 1.5 * q * q * std::sin(4 * t);
    return std::array<double, 2>{sxx * std::cos(t) + sxy * std::sin(t), sxy * std::cos(t) + syy * std::sin(t)};
  });
  return solve(domain);
}

TEST(Kirsch, StressConcentration) {
  for (const char* type : {"plane_stress.quad8", "plane_strain.quad8", "plane_stress.tri6"}) {
    Domain domain;
    const StepResult result = kirsch(domain, type, 24, 24);
    expect_relative(at_node(domain, result, "sxx", node_at(domain, {0, 1, 0})), 3, 0.01, type);
    expect_relative(at_node(domain, result, "syy", node_at(domain, {1, 0, 0})), -1, 0.02, type);
  }
  Domain domain;
  const StepResult result = kirsch(domain, "plane_stress.quad4", 48, 48);
  expect_relative(at_node(domain, result, "sxx", node_at(domain, {0, 1, 0})), 3, 0.04);
  expect_relative(at_node(domain, result, "syy", node_at(domain, {1, 0, 0})), -1, 0.04);
}

}  // namespace
}  // namespace voussoir::validation
