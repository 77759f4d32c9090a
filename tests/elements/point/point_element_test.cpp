#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <voussoir/framework/domain/shape_topology.hpp>

#include "elements/element_run.hpp"
#include "support/dense_algebra.hpp"

// Facts that hold for every stock point element, whatever its shape, physics and formulation.

namespace voussoir {
namespace {

using testing::ElementRun;
using Nodes = std::vector<std::array<double, 3>>;
using Parameters = std::map<std::string, double>;

const double pi = std::acos(-1.0);

/// The point elements of the house by physics: first part of the name.
bool is_physics(const std::string& type, const std::vector<std::string>& physics) {
  return std::find(physics.begin(), physics.end(), type.substr(0, type.find('.'))) != physics.end();
}
const std::vector<std::string> isotropic = {"solid", "plane_stress", "plane_strain", "axisymmetric"};
const std::vector<std::string> orthotropic = {"orthotropic_solid", "orthotropic_plane_stress",
                                              "orthotropic_plane_strain", "orthotropic_axisymmetric"};
const std::vector<std::string> conduction = {"heat",
                                             "plane_heat",
                                             "axisymmetric_heat",
                                             "orthotropic_heat",
                                             "orthotropic_plane_heat",
                                             "orthotropic_axisymmetric_heat"};

std::vector<const ElementType*> types(std::vector<std::string> physics, const std::vector<std::string>& more = {},
                                      const std::vector<std::string>& still_more = {}) {
  physics.insert(physics.end(), more.begin(), more.end());
  physics.insert(physics.end(), still_more.begin(), still_more.end());
  std::vector<const ElementType*> result;
  for (const ElementType* type : ElementLibrary::instance().all())
    if (is_physics(type->name(), physics)) result.push_back(type);
  return result;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }
bool ring(const ElementType& type) { return has(type.name(), "axisymmetric"); }
int dimension(const ElementType& type) { return shape_topology(type.shape()).dim; }

const double young = 210.0, poisson = 0.3, density = 7.8, expansion = 1.2e-5, thickness = 0.7;

Eigen::Matrix3d plane_axes(double angle) {
  Eigen::Matrix3d a = Eigen::Matrix3d::Identity();
  a(0, 0) = a(1, 1) = std::cos(angle);
  a(0, 1) = std::sin(angle);
  a(1, 0) = -a(0, 1);
  return a;
}
Eigen::Matrix3d material_axes(bool space) {
  if (!space) return plane_axes(0.4);
  return plane_axes(0.4) * Eigen::AngleAxisd(0.7, Eigen::Vector3d(1, 2, 2).normalized()).toRotationMatrix();
}

Parameters parameters(bool space) {
  Parameters p = {{"young", young},
                  {"poisson", poisson},
                  {"density", density},
                  {"expansion", expansion},
                  {"E1", 140},
                  {"E2", 10},
                  {"E3", 12},
                  {"nu12", 0.3},
                  {"nu13", 0.25},
                  {"nu23", 0.4},
                  {"G12", 5},
                  {"G13", 4.5},
                  {"G23", 3.5},
                  {"expansion1", 1e-6},
                  {"expansion2", 2e-5},
                  {"expansion3", 3e-5},
                  {"conductivity", 3},
                  {"k1", 5},
                  {"k2", 2},
                  {"k3", 1},
                  {"specific_heat", 2},
                  {"thickness", thickness}};
  const Eigen::Matrix3d axes = material_axes(space);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) p["axis" + std::to_string(i + 1) + std::to_string(j + 1)] = axes(i, j);
  return p;
}

/// A crooked element: the reference cell sheared, moved to x > 0, every node pushed a little, middle nodes too.
Nodes crooked(const ElementType& type, unsigned seed = 1, double push = 0.08) {
  const ShapeTopology& t = shape_topology(type.shape());
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> some(-push, push);
  Eigen::Matrix3d a;
  a << 1.1, 0.2, -0.1, 0.1, 0.9, 0.15, -0.05, 0.1, 1.2;
  Nodes x(t.nodes);
  for (int i = 0; i < t.nodes; ++i) {
    const Eigen::Vector3d xi(t.reference_nodes[i].data());
    const Eigen::Vector3d y = a * xi;
    for (int k = 0; k < t.dim; ++k) x[i][k] = y[k] + some(random) * (i < t.corners ? 1.0 : 0.5) + (k == 0 ? 3.0 : 0.0);
    for (int k = t.dim; k < 3; ++k) x[i][k] = 0;
  }
  return x;
}

/// A parallelepiped, or what becomes of a plane or wedge-shaped reference cell under an affine map.
Nodes straight(const ElementType& type, const Eigen::Matrix3d& a) {
  const ShapeTopology& t = shape_topology(type.shape());
  Nodes x(t.nodes);
  for (int i = 0; i < t.nodes; ++i) {
    const Eigen::Vector3d y = a * Eigen::Vector3d(t.reference_nodes[i].data());
    for (int k = 0; k < 3; ++k) x[i][k] = k < t.dim ? y[k] + (k == 0 ? 3.0 : 0.0) : 0.0;
  }
  return x;
}

double reference_volume(const ElementType& type) {
  const std::string& s = type.shape();
  if (has(s, "tri")) return 0.5;
  if (has(s, "quad")) return 4;
  if (has(s, "tet")) return 1.0 / 6;
  if (has(s, "wedge")) return 1;
  return 8;
}

/// A displacement field linear in position that a type can strain by: in a ring u_r = g r, or its hoop strain varies.
Eigen::Matrix3d linear_field(const ElementType& type) {
  Eigen::Matrix3d g;
  g << 0.3, -0.5, 0.2, 0.7, 0.4, 0.1, -0.3, 0.6, -0.8;
  if (dimension(type) == 2) g.row(2).setZero(), g.col(2).setZero();
  if (ring(type)) g(0, 1) = 0;
  return g;
}
/// The 3 × 3 gradient that the field has in the body.
Eigen::Matrix3d body_gradient(const ElementType& type, const Eigen::Matrix3d& g) {
  Eigen::Matrix3d b = g;
  if (ring(type)) b(2, 2) = g(0, 0);
  return b;
}

void displace(ElementRun& run, const ElementType& type, const Nodes& x, const Eigen::Matrix3d& g, int element = 0) {
  const int c = type.program().components();
  for (std::size_t a = 0; a < x.size(); ++a)
    for (int i = 0; i < c; ++i)
      run.unknowns(element)[a * c + i] =
          g.row(i).dot(Eigen::Vector3d(x[a].data())) + (ring(type) && i == 0 ? 0.0 : 0.1);
}

Eigen::Matrix3d tensor(ElementRun& run, const std::string& letter, int point) {
  Eigen::Matrix3d t;
  const char* names[3][3] = {{"xx", "xy", "xz"}, {"xy", "yy", "yz"}, {"xz", "yz", "zz"}};
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) t(i, j) = run.recovered(letter + names[i][j], point);
  return t;
}

TEST(PointElement, LinearFieldGivesConstantStrainAndHookesStress) {
  for (const ElementType* type : types(isotropic)) {
    SCOPED_TRACE(type->name());
    const Nodes x = crooked(*type);
    ElementRun run(type->program());
    run.add(x, parameters(true));
    const Eigen::Matrix3d g = linear_field(*type);
    displace(run, *type, x, g);
    Eigen::Matrix3d strain = body_gradient(*type, g);
    strain = (0.5 * (strain + strain.transpose())).eval();
    if (has(type->name(), "plane_stress")) strain(2, 2) = -poisson / (1 - poisson) * (strain(0, 0) + strain(1, 1));
    const double lambda = young * poisson / ((1 + poisson) * (1 - 2 * poisson)), mu = young / (2 * (1 + poisson));
    const Eigen::Matrix3d stress = lambda * strain.trace() * Eigen::Matrix3d::Identity() + 2 * mu * strain;
    double volume = 0;
    for (int q = 0; q < type->program().points(); ++q) {
      EXPECT_LT((tensor(run, "e", q) - strain).cwiseAbs().maxCoeff(), 1e-13);
      EXPECT_LT((tensor(run, "s", q) - stress).cwiseAbs().maxCoeff(), 1e-10);
      EXPECT_NEAR(run.recovered("energy", q), 0.5 * stress.cwiseProduct(strain).sum(), 1e-10);
      volume += run.recovered("volume", q);
    }
    // The force does the work of that constant stress.
    const Eigen::VectorXd r = run.residual();
    const Eigen::VectorXd u = Eigen::Map<Eigen::VectorXd>(run.unknowns(0), r.size());
    EXPECT_NEAR(r.dot(u), volume * stress.cwiseProduct(strain).sum(), 1e-10 * std::abs(r.dot(u)));
  }
}

TEST(PointElement, OrthotropicStressFollowsTheComplianceInTurnedAxes) {
  for (const ElementType* type : types(orthotropic)) {
    SCOPED_TRACE(type->name());
    const bool space = dimension(*type) == 3;
    const Nodes x = crooked(*type);
    ElementRun run(type->program());
    const Parameters p = parameters(space);
    run.add(x, p);
    run.set_temperature(120, 20);
    displace(run, *type, x, linear_field(*type));
    // Turn the stress into the material's axes, and compare strain with compliance times stress plus expansion.
    const Eigen::Matrix3d a = material_axes(space);
    for (int q = 0; q < type->program().points(); ++q) {
      const Eigen::Matrix3d s = a * tensor(run, "s", q) * a.transpose(), e = a * tensor(run, "e", q) * a.transpose();
      const auto v = [&p](const char* name) { return p.at(name); };
      Eigen::Matrix3d expected;
      expected(0, 0) = s(0, 0) / v("E1") - v("nu12") / v("E1") * s(1, 1) - v("nu13") / v("E1") * s(2, 2);
      expected(1, 1) = -v("nu12") / v("E1") * s(0, 0) + s(1, 1) / v("E2") - v("nu23") / v("E2") * s(2, 2);
      expected(2, 2) = -v("nu13") / v("E1") * s(0, 0) - v("nu23") / v("E2") * s(1, 1) + s(2, 2) / v("E3");
      expected(0, 1) = expected(1, 0) = s(0, 1) / (2 * v("G12"));
      expected(0, 2) = expected(2, 0) = s(0, 2) / (2 * v("G13"));
      expected(1, 2) = expected(2, 1) = s(1, 2) / (2 * v("G23"));
      Eigen::Matrix3d elastic = expected;
      for (int i = 0; i < 3; ++i) expected(i, i) += 100 * v(("expansion" + std::to_string(i + 1)).c_str());
      EXPECT_LT((e - expected).cwiseAbs().maxCoeff(), 1e-13);
      EXPECT_NEAR(run.recovered("energy", q), 0.5 * s.cwiseProduct(elastic).sum(), 1e-11);
      if (has(type->name(), "plane_stress")) {
        EXPECT_EQ(s(2, 2), 0);
      }
    }
  }
}

TEST(PointElement, OrthotropicWithEqualModuliIsIsotropic) {
  for (const ElementType* type : types(orthotropic)) {
    SCOPED_TRACE(type->name());
    const Nodes x = crooked(*type);
    Parameters p = parameters(dimension(*type) == 3);
    for (const char* name : {"E1", "E2", "E3"}) p[name] = young;
    for (const char* name : {"nu12", "nu13", "nu23"}) p[name] = poisson;
    for (const char* name : {"G12", "G13", "G23"}) p[name] = young / (2 * (1 + poisson));
    for (const char* name : {"expansion1", "expansion2", "expansion3"}) p[name] = expansion;
    ElementRun run(type->program()), plain(type->name().substr(std::string("orthotropic_").size()));
    run.add(x, p);
    plain.add(x, p);
    run.set_temperature(70, 20);
    plain.set_temperature(70, 20);
    const Eigen::MatrixXd k = plain.tangent();
    EXPECT_LT((run.tangent() - k).cwiseAbs().maxCoeff(), 1e-12 * k.cwiseAbs().maxCoeff());
    const Eigen::VectorXd r = plain.residual();
    EXPECT_LT((run.residual() - r).cwiseAbs().maxCoeff(), 1e-12 * r.cwiseAbs().maxCoeff());
  }
}

TEST(PointElement, RigidMotionsAndNoOthersAreFree) {
  for (const ElementType* type : types(isotropic, orthotropic, conduction)) {
    SCOPED_TRACE(type->name());
    const Nodes x = crooked(*type);
    ElementRun run(type->program());
    run.add(x, parameters(dimension(*type) == 3));
    const Eigen::MatrixXd k = run.tangent();
    ASSERT_EQ(run.status.fault, ElementFault::none);
    const int c = type->program().components(), n = type->program().dofs(), dim = dimension(*type);
    std::vector<Eigen::VectorXd> motions;
    for (int i = 0; i < c; ++i) {
      if (c > 1 && ring(*type) && i == 0) continue;
      Eigen::VectorXd u = Eigen::VectorXd::Zero(n);
      for (int a = 0; a < n / c; ++a) u[a * c + i] = 1;
      motions.push_back(u);
    }
    if (c > 1 && !ring(*type))
      for (int i = 0; i < dim; ++i)
        for (int j = i + 1; j < dim; ++j) {
          Eigen::VectorXd u = Eigen::VectorXd::Zero(n);
          for (int a = 0; a < n / c; ++a) u[a * c + i] = -x[a][j], u[a * c + j] = x[a][i];
          motions.push_back(u);
        }
    for (const Eigen::VectorXd& u : motions)
      EXPECT_LT((k * u).cwiseAbs().maxCoeff(), 1e-12 * k.cwiseAbs().maxCoeff() * u.cwiseAbs().maxCoeff());
    const Eigen::VectorXd eigenvalues = testing::symmetric_eigenvalues(k);
    int free = 0;
    for (int i = 0; i < n; ++i) free += std::abs(eigenvalues[i]) < 1e-10 * eigenvalues[n - 1] ? 1 : 0;
    int expected = static_cast<int>(motions.size());
    // Reduced quadratic shapes have well-known motions without strain at their points, which a mesh suppresses: six of
    // a hexahedron (60 unknowns, 48 strains), one of a plane quadrilateral (16 unknowns, 12 strains). The two points on
    // the axis of a wedge miss one too. Conduction has strains enough.
    if (c > 1) {
      if (has(type->name(), "hex20.reduced")) expected += 6;
      if (has(type->name(), "quad8.reduced") && !ring(*type)) expected += 1;
      if (has(type->name(), "wedge6.reduced")) expected += 1;
    }
    EXPECT_EQ(free, expected);
    EXPECT_GT(eigenvalues[0], -1e-12 * eigenvalues[n - 1]);
  }
}

TEST(PointElement, AnElementDoesNotDependOnItsNeighboursInTheBatch) {
  for (const ElementType* type : types(isotropic, orthotropic, conduction)) {
    SCOPED_TRACE(type->name());
    ElementRun together(type->program());
    const int n = type->program().lanes() + 1;
    std::vector<Eigen::MatrixXd> alone;
    for (int i = 0; i < n; ++i) {
      Parameters p = parameters(dimension(*type) == 3);
      p["young"] += i;
      const Nodes x = crooked(*type, 10 + i);
      together.add(x, p);
      ElementRun one(type->program());
      one.add(x, p);
      alone.push_back(one.tangent());
    }
    for (int i = 0; i < n; ++i) EXPECT_EQ(together.tangent(i), alone[i]);
  }
}

TEST(PointElement, FreeExpansionIsWithoutStress) {
  const double degrees = 80;
  for (const ElementType* type : types(isotropic)) {
    SCOPED_TRACE(type->name());
    const bool plane_strain = has(type->name(), "plane_strain");
    const Nodes x = crooked(*type);
    ElementRun run(type->program());
    run.add(x, parameters(true));
    run.set_temperature(20 + degrees, 20);
    const double stretch = expansion * degrees * (plane_strain ? 1 + poisson : 1);
    displace(run, *type, x, stretch * Eigen::Matrix3d::Identity());
    const double scale = young * expansion * degrees;
    EXPECT_LT(run.residual().cwiseAbs().maxCoeff(), 1e-11 * scale);
    for (int q = 0; q < type->program().points(); ++q) {
      Eigen::Matrix3d stress = tensor(run, "s", q);
      if (plane_strain) stress(2, 2) += scale;  // held across the plane: −E α ΔT
      EXPECT_LT(stress.cwiseAbs().maxCoeff(), 1e-11 * scale);
      EXPECT_NEAR(run.recovered("energy", q), plane_strain ? 0.5 * scale * expansion * degrees : 0, 1e-12 * scale);
      if (has(type->name(), "plane_stress")) {
        EXPECT_NEAR(run.recovered("ezz", q), expansion * degrees, 1e-15);
      }
    }
  }
}

TEST(PointElement, ResidualIsTangentTimesUnknownsPlusThermalForce) {
  for (const ElementType* type : types(isotropic, orthotropic)) {
    SCOPED_TRACE(type->name());
    const Nodes x = crooked(*type);
    ElementRun run(type->program());
    run.add(x, parameters(dimension(*type) == 3));
    std::vector<double> temperature;
    for (const auto& point : x) temperature.push_back(20 + 30 * point[0] - 40 * point[1] + 25 * point[2]);
    run.set_temperatures(temperature, 20);
    const Eigen::VectorXd thermal = run.residual();
    const Eigen::MatrixXd k = run.tangent();
    Eigen::VectorXd u(thermal.size());
    for (int i = 0; i < u.size(); ++i) run.unknowns(0)[i] = u[i] = 1e-3 * std::sin(3.0 * i + 1);
    const Eigen::VectorXd r = run.residual();
    EXPECT_LT((r - thermal - k * u).cwiseAbs().maxCoeff(), 1e-12 * r.cwiseAbs().maxCoeff());
    // A thermal force is in balance: it does no work on a translation.
    const int c = type->program().components();
    for (int i = ring(*type) ? 1 : 0; i < c; ++i) {
      double sum = 0;
      for (int a = 0; a < static_cast<int>(x.size()); ++a) sum += thermal[a * c + i];
      EXPECT_NEAR(sum, 0, 1e-12 * thermal.cwiseAbs().maxCoeff());
    }
  }
}

TEST(PointElement, TablesOverTemperatureAreLinearBetweenRows) {
  // Two rows 30 % below and above, temperature half way: as without a table, though by another path.
  for (const ElementType* type : types(isotropic, orthotropic, conduction)) {
    SCOPED_TRACE(type->name());
    const Nodes x = crooked(*type);
    const Parameters p = parameters(dimension(*type) == 3);
    ElementRun plain(type->program()), table(type->program());
    plain.add(x, p);
    table.add(x, p);
    std::vector<double> rows;
    for (int row = 0; row < 2; ++row) {
      rows.push_back(row == 0 ? 100 : 300);
      for (const std::string& name : type->program().parameter_names()) {
        const bool varies = has(name, "young") || name == "E1" || has(name, "conductivity") || name == "k2";
        rows.push_back(p.at(name) * (varies ? (row == 0 ? 0.7 : 1.3) : 1.0));
      }
    }
    table.set_table(rows, 2);
    plain.set_temperature(200, 20);
    table.set_temperature(200, 20);
    for (int i = 0; i < type->program().dofs(); ++i)
      plain.unknowns(0)[i] = table.unknowns(0)[i] = 1e-3 * std::sin(2.0 * i);
    const Eigen::MatrixXd k = plain.tangent();
    EXPECT_LT((table.tangent() - k).cwiseAbs().maxCoeff(), 1e-12 * k.cwiseAbs().maxCoeff());
    const Eigen::VectorXd r = plain.residual();
    EXPECT_LT((table.residual() - r).cwiseAbs().maxCoeff(), 1e-12 * r.cwiseAbs().maxCoeff());
    // Beyond the ends the values are held.
    table.set_temperature(900, 20);
    if (!has(type->name(), "orthotropic")) {
      EXPECT_LT((table.tangent() - 1.3 * k).cwiseAbs().maxCoeff(), 1e-12 * k.cwiseAbs().maxCoeff());
    }
  }
}

TEST(PointElement, StressFollowsTheModulusAtTheTemperatureOfThePoint) {
  const ElementType& type = ElementLibrary::instance().find("solid.tet10");
  const Nodes x = crooked(type);
  ElementRun run(type.program());
  run.add(x, parameters(true));
  // E = T, no expansion; T = 50 + 10 x.
  run.set_table({0, 1e-9, 0.0, 1.0, 0.0, 1000, 1000, 0.0, 1.0, 0.0}, 2);
  std::vector<double> temperature;
  for (const auto& point : x) temperature.push_back(50 + 10 * point[0]);
  run.set_temperatures(temperature, 20);
  Eigen::Matrix3d g = Eigen::Matrix3d::Zero();
  g(0, 0) = 0.01;
  displace(run, type, x, g);
  for (int q = 0; q < 4; ++q) EXPECT_NEAR(run.recovered("sxx", q), 0.01 * (50 + 10 * run.recovered("x", q)), 1e-9);
}

/// Stresses sxx of a cube [−1, 1]³ (a square) that is held everywhere, where one node is warmer by one degree and
/// E α = 1, ν = 0: the temperature that each point takes, with the sign turned.
std::vector<double> temperatures_taken(const std::string& name, int warm_node) {
  const ElementType& type = ElementLibrary::instance().find(name);
  Nodes x;
  for (const auto& r : shape_topology(type.shape()).reference_nodes) x.push_back({r[0], r[1], r[2]});
  Parameters p = parameters(dimension(type) == 3);
  p["young"] = 1;
  p["poisson"] = 0;
  p["expansion"] = 1;
  ElementRun run(type.program());
  run.add(x, p);
  std::vector<double> temperature(x.size(), 0.0);
  temperature[warm_node] = 1;
  run.set_temperatures(temperature, 0);
  std::vector<double> taken;
  for (int q = 0; q < type.program().points(); ++q) taken.push_back(-run.recovered("sxx", q));
  return taken;
}

TEST(PointElement, TemperaturesAreOfTheOrderOfStrains) {
  // Numbers of C3D8, C3D20R and C3D20 of CalculiX 2.20, one element, the same model.
  for (double t : temperatures_taken("solid.hex8.full", 0)) EXPECT_NEAR(t, 0.125, 1e-14);
  const std::vector<double> reduced = temperatures_taken("solid.hex20.reduced", 0);
  EXPECT_NEAR(reduced[0], -0.1314, 5e-5);
  EXPECT_NEAR(reduced[1], -0.1870, 5e-5);
  EXPECT_NEAR(reduced[7], -0.0352, 5e-5);
  const std::vector<double> corner = temperatures_taken("solid.hex20", 0),
                            middle = temperatures_taken("solid.hex20", 19);
  const double at_corner[] = {-0.0887, -0.1645, -0.2404, -0.1645, -0.1573, -0.15, -0.2404, -0.15, -0.0596};
  const double at_middle[] = {0.0667, 0.0376, 0.0085, 0.2958, 0.1667, 0.0376, 0.5249, 0.2958, 0.0667};
  for (int q = 0; q < 9; ++q) {
    EXPECT_NEAR(corner[q], at_corner[q], 6e-5) << q;
    EXPECT_NEAR(middle[q], at_middle[q], 6e-5) << q;
  }
  // Incompatible modes carry linear strains, and so linear temperatures.
  EXPECT_NE(temperatures_taken("solid.hex8", 0)[0], temperatures_taken("solid.hex8", 0)[7]);
}

TEST(PointElement, VolumeMassAndWeightOfStraightBodiesAreExact) {
  Eigen::Matrix3d a;
  a << 1.1, 0.2, -0.1, 0.1, 0.9, 0.15, -0.05, 0.1, 1.2;
  for (const ElementType* type : types(isotropic, orthotropic, conduction)) {
    SCOPED_TRACE(type->name());
    const int dim = dimension(*type), c = type->program().components();
    const Nodes x = straight(*type, a);
    double volume = reference_volume(*type);
    if (dim == 3) {
      volume *= a.determinant();
    } else {
      volume *= a.topLeftCorner<2, 2>().determinant();
      double centroid = 0;  // Guldin: area times the path of its centroid
      const int corners = shape_topology(type->shape()).corners;
      for (int i = 0; i < corners; ++i) centroid += x[i][0] / corners;
      volume *= ring(*type) ? 2 * pi * centroid : thickness;
    }
    ElementRun run(type->program());
    const Parameters p = parameters(dim == 3);
    run.add(x, p);
    double sum = 0;
    for (int q = 0; q < type->program().points(); ++q) sum += run.recovered("volume", q);
    EXPECT_NEAR(sum, volume, 1e-13 * volume);

    const double mass = volume * density * (c == 1 ? p.at("specific_heat") : 1.0);
    const Eigen::MatrixXd m = run.mass(MassKind::consistent), lumped = run.mass(MassKind::lumped);
    for (int i = 0; i < c; ++i)
      for (int j = 0; j < c; ++j) {
        double total = 0, diagonal = 0;
        for (std::size_t s = 0; s < x.size(); ++s) {
          diagonal += lumped(s * c + i, s * c + j);
          for (std::size_t t = 0; t < x.size(); ++t) total += m(s * c + i, t * c + j);
        }
        EXPECT_NEAR(total, i == j ? mass : 0, 1e-12 * mass);
        EXPECT_NEAR(diagonal, i == j ? mass : 0, 1e-12 * mass);
      }
    EXPECT_EQ((lumped - Eigen::MatrixXd(lumped.diagonal().asDiagonal())).cwiseAbs().maxCoeff(), 0);
    EXPECT_GT(lumped.diagonal().minCoeff(), 0);

    BodyLoad load;
    if (c == 1) {
      load.source = 2.5;
      EXPECT_NEAR(run.body_load(load).sum(), 2.5 * volume, 1e-12 * volume);
    } else {
      for (int k = 0; k < 3; ++k) load.acceleration[k] = 1 + k;
      const Eigen::VectorXd f = run.body_load(load);
      for (int i = 0; i < c; ++i) {
        double total = 0;
        for (std::size_t s = 0; s < x.size(); ++s) total += f[s * c + i];
        EXPECT_NEAR(total, mass * (1 + i), 1e-12 * mass);
      }
    }
  }
}

TEST(PointElement, ConsistentMassOfStraightBodiesIsExact) {
  // M_ab = ρ ∫ N_a N_b dV: its action on the nodal values of a polynomial that the shape holds has closed forms, and
  // 1ᵀ M x = ρ ∫ x dV, xᵀ M x = ρ ∫ x² dV. For a cube [−1, 1]³: 0 and 8/3 ρ; for the unit simplex 1/12 … by Dirichlet.
  const std::map<std::string, std::pair<double, double>> moments = {
      {"tet4", {1.0 / 24, 1.0 / 60}}, {"tet10", {1.0 / 24, 1.0 / 60}}, {"hex8", {0, 8.0 / 3}},
      {"hex20", {0, 8.0 / 3}},        {"wedge6", {1.0 / 3, 1.0 / 6}},  {"wedge15", {1.0 / 3, 1.0 / 6}},
      {"tri3", {1.0 / 6, 1.0 / 12}},  {"tri6", {1.0 / 6, 1.0 / 12}},   {"quad4", {0, 4.0 / 3}},
      {"quad8", {0, 4.0 / 3}},        {"quad9", {0, 4.0 / 3}},         {"wedge18", {1.0 / 3, 1.0 / 6}},
      {"hex27", {0, 8.0 / 3}}};
  for (const ElementType* type : types({"solid", "plane_strain"})) {
    SCOPED_TRACE(type->name());
    const ShapeTopology& t = shape_topology(type->shape());
    const Nodes x(t.reference_nodes.begin(), t.reference_nodes.end());
    ElementRun run(type->program());
    Parameters p = parameters(true);
    p["density"] = 1, p["thickness"] = 1;
    run.add(x, p);
    const Eigen::MatrixXd m = run.mass(MassKind::consistent);
    const int c = type->program().components();
    double first = 0, second = 0;
    for (int a = 0; a < t.nodes; ++a)
      for (int b = 0; b < t.nodes; ++b) {
        first += m(a * c, b * c) * x[b][0];
        second += x[a][0] * m(a * c, b * c) * x[b][0];
      }
    EXPECT_NEAR(first, moments.at(type->shape()).first, 1e-14);
    EXPECT_NEAR(second, moments.at(type->shape()).second, 1e-14);
  }
}

TEST(PointElement, CentrifugalForceIsDensityTimesFirstMoment) {
  // ω² about the line x = 1, z = 0 along y: total force ρ V ω² (x_c − 1, 0, z_c).
  Eigen::Matrix3d a;
  a << 1.1, 0.2, -0.1, 0.1, 0.9, 0.15, -0.05, 0.1, 1.2;
  const ElementType& type = ElementLibrary::instance().find("solid.tet10");
  const Nodes x = straight(type, a);
  ElementRun run(type.program());
  run.add(x, parameters(true));
  BodyLoad load;
  load.angular_velocity_squared = 9;
  load.axis_point[0] = 1;
  load.axis_direction[1] = 1, load.axis_direction[2] = 0;
  const Eigen::VectorXd f = run.body_load(load);
  const Eigen::Vector3d centre = a * Eigen::Vector3d(0.25, 0.25, 0.25) + Eigen::Vector3d(3, 0, 0);
  const double mass = density * a.determinant() / 6;
  Eigen::Vector3d total = Eigen::Vector3d::Zero();
  for (int i = 0; i < 10; ++i) total += f.segment<3>(3 * i);
  EXPECT_NEAR(total[0], mass * 9 * (centre[0] - 1), 1e-12);
  EXPECT_NEAR(total[1], 0, 1e-13);
  EXPECT_NEAR(total[2], mass * 9 * centre[2], 1e-12);
}

TEST(PointElement, ExtrapolationCarriesLinearFieldsExactly) {
  for (const ElementType* type : types(isotropic, conduction)) {
    SCOPED_TRACE(type->name());
    const ElementProgram& program = type->program();
    Eigen::Matrix3d a;
    a << 1.1, 0.2, -0.1, 0.1, 0.9, 0.15, -0.05, 0.1, 1.2;
    const Nodes x = straight(*type, a);
    ElementRun run(program);
    run.add(x, parameters(true));
    const auto matrix = program.extrapolation();
    ASSERT_EQ(static_cast<int>(matrix.size()), program.nodes() * program.points());
    for (int node = 0; node < program.nodes(); ++node) {
      double one = 0, linear = 0;
      for (int q = 0; q < program.points(); ++q) {
        const double w = matrix[node * program.points() + q];
        one += w;
        linear += w * (2 + run.recovered("x", q) - 3 * run.recovered("y", q) + 0.5 * run.recovered("z", q));
      }
      EXPECT_NEAR(one, 1, 1e-14);
      if (program.points() > 2) {  // two points of a wedge know of its axis alone
        EXPECT_NEAR(linear, 2 + x[node][0] - 3 * x[node][1] + 0.5 * x[node][2], 1e-12);
      }
    }
  }
}

TEST(PointElement, ElementsInsideOutAreFound) {
  for (const ElementType* type : types(isotropic, orthotropic, conduction)) {
    SCOPED_TRACE(type->name());
    const int dim = dimension(*type);
    Nodes x = crooked(*type), mirrored = x;
    for (auto& point : mirrored) point[dim - 1] = -point[dim - 1];
    ElementRun run(type->program());
    for (int i = 0; i < 3; ++i) run.add(i == 1 ? mirrored : x, parameters(dim == 3));
    const auto expect_fault = [&] {
      EXPECT_EQ(run.status.fault, ElementFault::inverted);
      EXPECT_EQ(run.status.element, 1);
    };
    run.tangent(), expect_fault();
    run.residual(), expect_fault();
    run.mass(MassKind::consistent), expect_fault();
    run.mass(MassKind::lumped), expect_fault();
    run.recovered("x"), expect_fault();
    run.body_load({}), expect_fault();
  }
}

TEST(PointElement, ParametersThatMakeNoSenseAreFound) {
  const std::vector<std::pair<std::string, Parameters>> mistakes = {{"solid.hex8", {{"young", 0}}},
                                                                    {"solid.tet4", {{"poisson", 0.5}}},
                                                                    {"solid.tet4", {{"poisson", -1}}},
                                                                    {"solid.hex20", {{"density", -1}}},
                                                                    {"plane_stress.quad4", {{"thickness", 0}}},
                                                                    {"heat.hex8", {{"conductivity", 0}}},
                                                                    {"orthotropic_solid.hex8", {{"nu12", 8}}},
                                                                    {"orthotropic_solid.hex8", {{"G23", 0}}},
                                                                    {"orthotropic_heat.tet4", {{"axis11", 2}}},
                                                                    {"orthotropic_solid.tet4", {{"axis23", 0.9}}}};
  for (const auto& [name, wrong] : mistakes) {
    SCOPED_TRACE(name + " " + wrong.begin()->first);
    const ElementType& type = ElementLibrary::instance().find(name);
    Parameters p = parameters(dimension(type) == 3);
    ElementRun run(type.program());
    run.add(crooked(type), p);
    run.tangent();
    EXPECT_EQ(run.status.fault, ElementFault::none);
    p[wrong.begin()->first] = wrong.begin()->second;
    run.add(crooked(type), p);
    run.tangent();
    EXPECT_EQ(run.status.fault, ElementFault::bad_parameter);
    EXPECT_EQ(run.status.element, 1);
  }
}

TEST(PointElement, HeatFlowsDownALinearTemperature) {
  for (const ElementType* type : types(conduction)) {
    SCOPED_TRACE(type->name());
    const bool space = dimension(*type) == 3;
    const Nodes x = crooked(*type);
    ElementRun run(type->program());
    run.add(x, parameters(space));
    const Eigen::Vector3d gradient(3, ring(*type) ? 2.0 : -2.0, space ? 0.5 : 0.0);
    for (std::size_t a = 0; a < x.size(); ++a) run.unknowns(0)[a] = 5 + gradient.dot(Eigen::Vector3d(x[a].data()));
    Eigen::Matrix3d k = 3 * Eigen::Matrix3d::Identity();
    if (has(type->name(), "orthotropic"))
      k = material_axes(space).transpose() * Eigen::Vector3d(5, 2, 1).asDiagonal() * material_axes(space);
    const Eigen::Vector3d q = -k * gradient;
    double volume = 0;
    for (int i = 0; i < type->program().points(); ++i) {
      EXPECT_NEAR(run.recovered("gx", i), gradient[0], 1e-12);
      EXPECT_NEAR(run.recovered("gy", i), gradient[1], 1e-12);
      EXPECT_NEAR(run.recovered("gz", i), gradient[2], 1e-12);
      EXPECT_NEAR(run.recovered("qx", i), q[0], 1e-12);
      EXPECT_NEAR(run.recovered("qy", i), q[1], 1e-12);
      EXPECT_NEAR(run.recovered("qz", i), q[2], 1e-12);
      volume += run.recovered("volume", i);
    }
    const Eigen::VectorXd r = run.residual();
    EXPECT_NEAR(r.sum(), 0, 1e-11);
    const Eigen::VectorXd t = Eigen::Map<Eigen::VectorXd>(run.unknowns(0), r.size());
    EXPECT_NEAR(r.dot(t), -q.dot(gradient) * volume, 1e-11 * std::abs(r.dot(t)));
  }
}

}  // namespace
}  // namespace voussoir
