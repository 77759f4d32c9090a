// Patch tests through the whole analysis: a linear field prescribed on the skin of a distorted mesh is taken up by the
// inside, with the constant stress or flux that the law says, for every shape, physics, formulation and law.
#include <Eigen/Dense>

#include <voussoir/framework/domain/shape_topology.hpp>

#include "validation/support.hpp"

namespace voussoir::validation {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

const std::vector<std::string> solids = {"solid.tet4",
                                         "solid.tet10",
                                         "solid.wedge6",
                                         "solid.wedge15",
                                         "solid.hex8",
                                         "solid.hex8.full",
                                         "solid.hex8.incompatible",
                                         "solid.hex8.bbar",
                                         "solid.hex8.reduced",
                                         "solid.hex20",
                                         "solid.hex20.reduced",
                                         "solid.wedge18",
                                         "solid.hex27"};
const std::vector<std::string> plane_shapes = {
    "tri3", "tri6", "quad4", "quad4.full", "quad4.incompatible", "quad4.reduced", "quad8", "quad8.reduced", "quad9"};

std::vector<std::string> plane_types(const std::string& physics) {
  std::vector<std::string> types;
  for (const std::string& shape : plane_shapes) types.push_back(physics + "." + shape);
  if (physics != "plane_stress") types.push_back(physics + ".quad4.bbar");
  return types;
}

/// Engineering constants of a made-up composite, all different.
struct Constants {
  double young[3] = {140e3, 10e3, 8e3};
  double nu12 = 0.3, nu13 = 0.25, nu23 = 0.4;
  double g12 = 5e3, g13 = 4e3, g23 = 3e3;
  double expansion[3] = {-1e-6, 25e-6, 30e-6};
};

std::shared_ptr<Material> composite(const Constants& c) {
  auto m = std::make_shared<OrthotropicMaterial>("composite");
  m->set("E1", c.young[0]).set("E2", c.young[1]).set("E3", c.young[2]);
  m->set("nu12", c.nu12).set("nu13", c.nu13).set("nu23", c.nu23);
  m->set("G12", c.g12).set("G13", c.g13).set("G23", c.g23).set("density", 1);
  m->set("expansion1", c.expansion[0]).set("expansion2", c.expansion[1]).set("expansion3", c.expansion[2]);
  return m;
}

/// Hooke's law for engineering constants with unit vectors 1, 2, 3 as rows of `axes`.
Matrix3d orthotropic_stress(const Constants& c, const Matrix3d& axes, const Matrix3d& strain) {
  const Matrix3d local = axes * strain * axes.transpose();
  Matrix3d compliance;
  compliance << 1 / c.young[0], -c.nu12 / c.young[0], -c.nu13 / c.young[0],  //
      -c.nu12 / c.young[0], 1 / c.young[1], -c.nu23 / c.young[1],            //
      -c.nu13 / c.young[0], -c.nu23 / c.young[1], 1 / c.young[2];
  const Vector3d normal = compliance.inverse() * local.diagonal();
  Matrix3d s = normal.asDiagonal();
  s(0, 1) = s(1, 0) = 2 * c.g12 * local(0, 1);
  s(0, 2) = s(2, 0) = 2 * c.g13 * local(0, 2);
  s(1, 2) = s(2, 1) = 2 * c.g23 * local(1, 2);
  return axes.transpose() * s * axes;
}

Matrix3d isotropic_stress(double young, double nu, const Matrix3d& strain) {
  const double mu = young / (2 * (1 + nu)), lambda = young * nu / ((1 + nu) * (1 - 2 * nu));
  return lambda * strain.trace() * Matrix3d::Identity() + 2 * mu * strain;
}

using Law = std::function<Matrix3d(const Matrix3d&)>;

/// The strain across the plane at which nothing pulls there.
Matrix3d without_stress_across(const Law& law, Matrix3d strain) {
  strain(2, 2) = 0;
  const double at_zero = law(strain)(2, 2);
  strain(2, 2) = 1;
  const double slope = law(strain)(2, 2) - at_zero;
  strain(2, 2) = -at_zero / slope;
  return strain;
}

BoxMesh distorted(const std::string& type) {
  BoxMesh mesh;
  mesh.type = type;
  mesh.cells = {3, 3, 3};
  mesh.lower = {1, 0, 0};
  mesh.upper = {3, 1.5, 1};
  mesh.distortion = 0.2;
  mesh.seed = 7;
  return mesh;
}

/// Solves with u = gradient · x on the skin and checks displacement, strain, stress and energy everywhere.
void mechanical_patch(const std::string& type, const std::shared_ptr<Material>& material,
                      const Orientation& orientation, const Matrix3d& gradient, const Law& law) {
  SCOPED_TRACE(type + ", " + material->name());
  Domain domain;
  ElementBlock& block = add_box_mesh(domain, distorted(type));
  block.set_material(material).set_orientation(orientation);
  const bool plane = type.starts_with("plane"), ring = type.starts_with("axi");
  if (plane) block.set_section("thickness", 0.7);
  const std::vector<std::string> names =
      plane || ring ? std::vector<std::string>{"ux", "uy"} : std::vector<std::string>{"ux", "uy", "uz"};
  const auto field = [&](const Position& p) {
    const Vector3d u = gradient * Vector3d(p[0], p[1], p[2]);
    return std::vector<double>{u[0], u[1], u[2]};
  };
  const std::vector<std::int32_t> outside = skin(domain);
  ASSERT_LT(outside.size(), static_cast<std::size_t>(domain.node_count()));
  prescribe_field(domain, outside, names, field);
  const StepResult result = solve(domain);

  Matrix3d strain = 0.5 * (gradient + gradient.transpose());
  if (ring) strain(2, 2) = gradient(0, 0);
  if (type.starts_with("plane_stress")) strain = without_stress_across(law, strain);
  const Matrix3d stress = law(strain);
  const double size = gradient.norm();
  for (std::int32_t n = 0; n < domain.node_count(); ++n)
    for (std::size_t k = 0; k < names.size(); ++k)
      EXPECT_NEAR(result.unknowns.at(n, static_cast<int>(k)), field(position(domain, n))[k], 1e-12 * size);
  const char* const pairs[] = {"xx", "yy", "zz", "xy", "yz", "xz"};
  const int row[] = {0, 1, 2, 0, 1, 0}, column[] = {0, 1, 2, 1, 2, 2};
  const PointField& points = result.points.at(0);
  double volume = 0;
  for (std::int32_t e = 0; e < block.size(); ++e)
    for (int q = 0; q < points.points; ++q) {
      volume += points.at(e, q, "volume");
      for (int m = 0; m < 6; ++m) {
        EXPECT_NEAR(points.at(e, q, std::string("e") + pairs[m]), strain(row[m], column[m]), 1e-11 * size) << pairs[m];
        EXPECT_NEAR(points.at(e, q, std::string("s") + pairs[m]), stress(row[m], column[m]), 1e-10 * stress.norm())
            << pairs[m];
      }
    }
  const double exact = plane ? 2 * 1.5 * 0.7 : ring ? pi * (9 - 1) * 1.5 : 2 * 1.5 * 1;
  EXPECT_NEAR(volume, exact, 1e-11);
  EXPECT_NEAR(result.energy, 0.5 * exact * (strain.array() * stress.array()).sum(),
              1e-10 * exact * strain.norm() * stress.norm());
  // Radial forces of a ring do not add up to zero.
  for (std::size_t k = ring ? 1 : 0; k < names.size(); ++k)
    EXPECT_NEAR(result.reaction_sum[k], 0, 1e-9 * stress.norm());
}

const Matrix3d& space_gradient() {
  static const Matrix3d g = (Matrix3d() << 2, -1, 0.5, 0.7, -1.5, 1.1, -0.4, 0.9, 1.3).finished() * 1e-3;
  return g;
}
const Matrix3d& plane_gradient() {
  static const Matrix3d g = (Matrix3d() << 2, -1, 0, 0.7, -1.5, 0, 0, 0, 0).finished() * 1e-3;
  return g;
}
/// In a ring, u_r ~ r and u_z ~ z: other linear fields are not in balance.
const Matrix3d& ring_gradient() {
  static const Matrix3d g = (Matrix3d() << 2, 0, 0, 0, -1.5, 0, 0, 0, 0).finished() * 1e-3;
  return g;
}

Law isotropic() {
  return [](const Matrix3d& e) { return isotropic_stress(210e3, 0.3, e); };
}

TEST(PatchTest, IsotropicSolids) {
  for (const auto& type : solids) mechanical_patch(type, elastic(210e3, 0.3), {}, space_gradient(), isotropic());
}
TEST(PatchTest, IsotropicPlaneBodies) {
  for (const char* physics : {"plane_stress", "plane_strain"})
    for (const auto& type : plane_types(physics))
      mechanical_patch(type, elastic(210e3, 0.3), {}, plane_gradient(), isotropic());
}
TEST(PatchTest, IsotropicRings) {
  for (const auto& type : plane_types("axisymmetric"))
    mechanical_patch(type, elastic(210e3, 0.3), {}, ring_gradient(), isotropic());
}

TEST(PatchTest, OrthotropicSolids) {
  const Constants c;
  const Orientation o = Orientation::rectangular({1, 2, 0.5}, {-1, 1, 0.3});
  const auto a = o.at({0, 0, 0});
  const Matrix3d axes = Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>(a.data());
  for (const auto& type : solids)
    mechanical_patch(type, composite(c), o, space_gradient(),
                     [&](const Matrix3d& e) { return orthotropic_stress(c, axes, e); });
}
TEST(PatchTest, OrthotropicPlaneBodies) {
  const Constants c;
  const double t = 0.6;
  const Orientation o = Orientation::rectangular({std::cos(t), std::sin(t), 0}, {-std::sin(t), std::cos(t), 0});
  Matrix3d axes;
  axes << std::cos(t), std::sin(t), 0, -std::sin(t), std::cos(t), 0, 0, 0, 1;
  for (const char* physics : {"plane_stress", "plane_strain"})
    for (const auto& type : plane_types(physics))
      mechanical_patch(type, composite(c), o, plane_gradient(),
                       [&](const Matrix3d& e) { return orthotropic_stress(c, axes, e); });
}
/// Alike in radial and hoop direction, so that a uniform stretch is in balance; another along the axis.
TEST(PatchTest, OrthotropicRings) {
  Constants c;
  c.young[2] = c.young[0];
  c.nu12 = 0.3;
  c.nu13 = 0.2;
  c.nu23 = c.nu12 * c.young[1] / c.young[0];
  for (const auto& type : plane_types("axisymmetric"))
    mechanical_patch(type, composite(c), {}, ring_gradient(),
                     [&](const Matrix3d& e) { return orthotropic_stress(c, Matrix3d::Identity(), e); });
}

/// T = 5 + g · x on the skin; flux −k g everywhere.
void heat_patch(const std::string& type, const std::shared_ptr<Material>& material, const Orientation& orientation,
                const Vector3d& gradient, const Matrix3d& conductivity) {
  SCOPED_TRACE(type + ", " + material->name());
  Domain domain;
  ElementBlock& block = add_box_mesh(domain, distorted(type));
  block.set_material(material).set_orientation(orientation);
  if (type.starts_with("plane")) block.set_section("thickness", 0.7);
  const auto field = [&](const Position& p) {
    return std::vector<double>{5 + gradient.dot(Vector3d(p[0], p[1], p[2]))};
  };
  prescribe_field(domain, skin(domain), {"T"}, field);
  const StepResult result = solve(domain);
  const Vector3d flux = -conductivity * gradient;
  for (std::int32_t n = 0; n < domain.node_count(); ++n)
    EXPECT_NEAR(result.unknowns.at(n, 0), field(position(domain, n))[0], 1e-11);
  const PointField& points = result.points.at(0);
  for (std::int32_t e = 0; e < block.size(); ++e)
    for (int q = 0; q < points.points; ++q)
      for (int k = 0; k < 3; ++k) {
        EXPECT_NEAR(points.at(e, q, std::string("g") + "xyz"[k]), gradient[k], 1e-11);
        EXPECT_NEAR(points.at(e, q, std::string("q") + "xyz"[k]), flux[k], 1e-10 * flux.norm());
      }
  EXPECT_NEAR(result.reaction_sum[0], 0, 1e-9 * flux.norm());
}

TEST(PatchTest, Heat) {
  auto composite = std::make_shared<OrthotropicMaterial>("layered");
  composite->set("k1", 12).set("k2", 3).set("k3", 1).set("density", 1).set("specific_heat", 1);
  const Orientation turned = Orientation::rectangular({1, 2, 0.5}, {-1, 1, 0.3});
  const auto a = turned.at({0, 0, 0});
  const Matrix3d axes = Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>(a.data());
  const Matrix3d k = Vector3d(12, 3, 1).asDiagonal(), one = Matrix3d::Identity();
  for (const char* shape : {"tet4", "tet10", "wedge6", "wedge15", "hex8", "hex20", "wedge18", "hex27"}) {
    heat_patch(std::string("heat.") + shape, conducting(4), {}, {3, -2, 7}, 4 * one);
    heat_patch(std::string("heat.") + shape, composite, turned, {3, -2, 7}, axes.transpose() * k * axes);
  }
  const double t = 0.6;
  const Orientation flat = Orientation::rectangular({std::cos(t), std::sin(t), 0}, {-std::sin(t), std::cos(t), 0});
  Matrix3d turn;
  turn << std::cos(t), std::sin(t), 0, -std::sin(t), std::cos(t), 0, 0, 0, 1;
  for (const char* shape : {"tri3", "tri6", "quad4", "quad8", "quad9"}) {
    heat_patch(std::string("plane_heat.") + shape, conducting(4), {}, {3, -2, 0}, 4 * one);
    heat_patch(std::string("plane_heat.") + shape, composite, flat, {3, -2, 0}, turn.transpose() * k * turn);
    // In a ring only a fall along the axis is in balance.
    heat_patch(std::string("axisymmetric_heat.") + shape, conducting(4), {}, {0, -2, 0}, 4 * one);
    heat_patch(std::string("axisymmetric_heat.") + shape, composite, {}, {0, -2, 0}, k);
  }
}

// --- thermal strain ------------------------------------------------------------------------------------------------

std::vector<std::string> all_mechanical() {
  std::vector<std::string> all = solids;
  for (const char* physics : {"plane_stress", "plane_strain", "axisymmetric"})
    for (const auto& type : plane_types(physics)) all.push_back(type);
  return all;
}

/// Warmed evenly and held just enough not to move, a body grows without stress (a slice in plane strain excepted, which
/// is held across).
TEST(ThermalStrain, FreeExpansionIsStressFree) {
  const double young = 210e3, nu = 0.3, alpha = 1.2e-5, change = 80, strain = alpha * change;
  for (const std::string& type : all_mechanical()) {
    if (type.starts_with("plane_strain")) continue;
    SCOPED_TRACE(type);
    Domain domain;
    ElementBlock& block = add_box_mesh(domain, distorted(type));
    block.set_material(elastic(young, nu, 0, alpha));
    if (type.starts_with("plane")) block.set_section("thickness", 0.7);
    domain.set_reference_temperature(20);
    if (type.starts_with("axi")) {
      domain.prescribe("ymin", "uy");
    } else {
      domain.prescribe("xmin", "ux");
      domain.prescribe("ymin", "uy");
      if (type.starts_with("solid")) domain.prescribe("zmin", "uz");
    }
    domain.add_node_set_where("everywhere", [](double, double, double) { return true; });
    domain.add_load_case("warm").temperature("everywhere", 20 + change);
    const StepResult result = solve(domain);
    const double origin = type.starts_with("axi") ? 0 : 1;
    for (std::int32_t n = 0; n < domain.node_count(); ++n) {
      EXPECT_NEAR(result.unknowns.at(n, "ux"), strain * (position(domain, n)[0] - origin), 1e-12);
      EXPECT_NEAR(result.unknowns.at(n, "uy"), strain * position(domain, n)[1], 1e-12);
    }
    for (std::int32_t e = 0; e < block.size(); ++e)
      for (const char* s : {"sxx", "syy", "szz", "sxy"})
        EXPECT_NEAR(result.points[0].at(e, 0, s), 0, 1e-9 * young * strain);
    EXPECT_NEAR(result.energy, 0, 1e-12 * young * strain * strain);
  }
}

/// Held everywhere, the stress is −E α ΔT / (1 − 2ν) in all directions; −E α ΔT / (1 − ν) in the plane of a thin plate.
TEST(ThermalStrain, ClampedBodies) {
  const double young = 210e3, nu = 0.3, alpha = 1.2e-5, change = 80;
  for (const std::string& type : all_mechanical()) {
    SCOPED_TRACE(type);
    Domain domain;
    ElementBlock& block = add_box_mesh(domain, distorted(type));
    block.set_material(elastic(young, nu, 0, alpha));
    const bool thin = type.starts_with("plane_stress");
    if (type.starts_with("plane")) block.set_section("thickness", 0.7);
    domain.set_reference_temperature(-10);
    prescribe_field(
        domain, skin(domain),
        type.starts_with("solid") ? std::vector<std::string>{"ux", "uy", "uz"} : std::vector<std::string>{"ux", "uy"},
        [](const Position&) { return std::vector<double>(3, 0.0); });
    domain.add_load_case("warm").temperature_field(std::vector<double>(domain.node_count(), change - 10));
    const StepResult result = solve(domain);
    const double s = -young * alpha * change / (thin ? 1 - nu : 1 - 2 * nu);
    for (std::int32_t e = 0; e < block.size(); ++e)
      for (int q = 0; q < result.points[0].points; ++q) {
        EXPECT_NEAR(result.points[0].at(e, q, "sxx"), s, 1e-10 * std::abs(s));
        EXPECT_NEAR(result.points[0].at(e, q, "syy"), s, 1e-10 * std::abs(s));
        EXPECT_NEAR(result.points[0].at(e, q, "szz"), thin ? 0 : s, 1e-10 * std::abs(s));
        EXPECT_NEAR(result.points[0].at(e, q, "sxy"), 0, 1e-10 * std::abs(s));
      }
  }
}

/// An orthotropic block that may expand does so along its own axes.
TEST(ThermalStrain, OrthotropicExpansion) {
  const Constants c;
  const Orientation o = Orientation::rectangular({1, 2, 0.5}, {-1, 1, 0.3});
  const auto a = o.at({0, 0, 0});
  const Matrix3d axes = Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>(a.data());
  const Matrix3d strain =
      80 * axes.transpose() * Vector3d(c.expansion[0], c.expansion[1], c.expansion[2]).asDiagonal() * axes;
  for (const std::string& type : solids) {
    SCOPED_TRACE(type);
    Domain domain;
    ElementBlock& block = add_box_mesh(domain, distorted(type));
    block.set_material(composite(c)).set_orientation(o);
    prescribe_field(domain, skin(domain), {"ux", "uy", "uz"}, [&](const Position& p) {
      const Vector3d u = strain * Vector3d(p[0], p[1], p[2]);
      return std::vector<double>{u[0], u[1], u[2]};
    });
    domain.add_load_case("warm").temperature_field(std::vector<double>(domain.node_count(), 80));
    const StepResult result = solve(domain);
    for (std::int32_t e = 0; e < block.size(); ++e)
      for (const char* s : {"sxx", "syy", "szz", "sxy", "syz", "sxz"})
        EXPECT_NEAR(result.points[0].at(e, 0, s), 0, 1e-7);
  }
}

/// A bar with a modulus and an expansion that vary over temperature, pulled while warm: both are taken at 150 degrees,
/// half-way between the rows of the table.
TEST(ThermalStrain, TablesOverTemperature) {
  for (const std::string& type :
       {std::string("solid.hex8"), std::string("solid.tet10"), std::string("solid.wedge15")}) {
    Domain domain;
    BoxMesh mesh = distorted(type);
    ElementBlock& block = add_box_mesh(domain, mesh);
    auto m = std::make_shared<Material>("table");
    m->set("poisson", 0.3).set("density", 1);
    m->set_table("young", {{0, 200e3}, {100, 180e3}, {200, 120e3}});
    m->set_table("expansion", {{100, 1e-5}, {200, 2e-5}});
    block.set_material(m);
    domain.set_reference_temperature(50);
    domain.prescribe("xmin", "ux");
    domain.prescribe("ymin", "uy");
    domain.prescribe("zmin", "uz");
    domain.add_load_case("warm").temperature_field(std::vector<double>(domain.node_count(), 150));
    domain.add_load_case("pull").traction("xmax", {300, 0, 0});
    const StepResult result = solve(domain);
    const double strain = 300 / 150e3 + 1.5e-5 * 100, across = -0.3 * 300 / 150e3 + 1.5e-5 * 100;
    for (std::int32_t n = 0; n < domain.node_count(); ++n) {
      const Position p = position(domain, n);
      EXPECT_NEAR(result.unknowns.at(n, "ux"), strain * (p[0] - 1), 1e-12) << type;
      EXPECT_NEAR(result.unknowns.at(n, "uy"), across * p[1], 1e-12) << type;
      EXPECT_NEAR(result.unknowns.at(n, "uz"), across * p[2], 1e-12) << type;
    }
    // Energy is elastic: thermal strain stores none.
    expect_relative(result.energy, 0.5 * 300 * 300 / 150e3 * 3, 1e-9, type);
  }
}

/// A beam whose temperature rises linearly through its depth bends into an arc without stress.
TEST(ThermalStrain, LinearTemperatureBendsWithoutStress) {
  const double alpha = 1e-5, g = 30;
  Domain domain;
  BoxMesh mesh;
  mesh.type = "solid.hex20";
  mesh.cells = {4, 2, 2};
  mesh.lower = {0, -0.5, -0.5};
  mesh.upper = {4, 0.5, 0.5};
  ElementBlock& block = add_box_mesh(domain, mesh);
  block.set_material(elastic(210e3, 0.3, 0, alpha));
  std::vector<double> temperature(domain.node_count());
  for (std::int32_t n = 0; n < domain.node_count(); ++n) temperature[n] = g * position(domain, n)[1];
  domain.add_load_case("warm").temperature_field(temperature);
  // Compatible exactly: u = α g x y, v = α g (y² − x² − z²)/2, w = α g y z.
  const auto exact = [&](const Position& p) {
    return std::vector<double>{alpha * g * p[0] * p[1], alpha * g * (p[1] * p[1] - p[0] * p[0] - p[2] * p[2]) / 2,
                               alpha * g * p[1] * p[2]};
  };
  const auto root = domain.node_set("xmin");
  prescribe_field(domain, {root.begin(), root.end()}, {"ux", "uy", "uz"}, exact);
  const StepResult result = solve(domain);
  for (std::int32_t n = 0; n < domain.node_count(); ++n)
    for (int k = 0; k < 3; ++k) EXPECT_NEAR(result.unknowns.at(n, k), exact(position(domain, n))[k], 1e-12);
  for (std::int32_t e = 0; e < block.size(); ++e) EXPECT_NEAR(result.points[0].at(e, 13, "sxx"), 0, 1e-7);
}

}  // namespace
}  // namespace voussoir::validation
