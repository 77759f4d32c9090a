#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <voussoir/elements/physics/elasticity.hpp>
#include <voussoir/elements/point/point_element.hpp>

#include "elements/element_run.hpp"
#include "support/dense_algebra.hpp"

// What sets the formulations of Quad4 and Hex8 apart.

namespace voussoir {
namespace {

using testing::ElementRun;
using Nodes = std::vector<std::array<double, 3>>;
using Parameters = std::map<std::string, double>;

const double young = 1000, poisson = 0.25, expansion = 1e-3;
Parameters steel(double nu = poisson) {
  return {{"young", young}, {"poisson", nu}, {"density", 1}, {"expansion", expansion}, {"thickness", 1}};
}

/// A rectangle [−a, a] × [−b, b].
Nodes rectangle(double a, double b) { return {{-a, -b, 0}, {a, -b, 0}, {a, b, 0}, {-a, b, 0}}; }
Nodes box(double a, double b, double c) {
  Nodes x;
  for (double z : {-c, c})
    for (const auto& corner : rectangle(a, b)) x.push_back({corner[0], corner[1], z});
  return x;
}

double energy(ElementRun& run, int n) {
  const Eigen::VectorXd u = Eigen::Map<Eigen::VectorXd>(run.unknowns(0), n);
  return 0.5 * u.dot(run.tangent() * u);
}

TEST(Formulations, TheDefaultOfQuad4AndHex8IsIncompatible) {
  for (const char* name : {"solid.hex8", "plane_stress.quad4", "plane_strain.quad4", "axisymmetric.quad4"})
    EXPECT_EQ(ElementLibrary::instance().find(name).kernel(),
              ElementLibrary::instance().find(std::string(name) + ".incompatible").kernel());
}

TEST(Formulations, IncompatibleRectangleBendsAsABeamDoes) {
  // Pure bending of a plate strip, plane stress: u_x = κ x y, u_y = −κ (x² + ν y²)/2, σ_xx = E κ y, all else zero.
  // The height is a tenth of the length: a plain Quad4 is too stiff by about (1 + (a/b)²/2).
  const double a = 10, b = 1, kappa = 0.01;
  for (const std::string form : {"incompatible", "full"}) {
    ElementRun run("plane_stress.quad4." + form);
    const Nodes x = rectangle(a, b);
    run.add(x, steel());
    for (int i = 0; i < 4; ++i) {
      run.unknowns(0)[2 * i] = kappa * x[i][0] * x[i][1];
      run.unknowns(0)[2 * i + 1] = -kappa / 2 * (x[i][0] * x[i][0] + poisson * x[i][1] * x[i][1]);
    }
    const double exact = 0.5 * young * (2 * b * b * b / 3) * kappa * kappa * 2 * a;  // ½ E I κ² L
    if (form == "full") {
      EXPECT_GT(energy(run, 8), 20 * exact);
      continue;
    }
    EXPECT_NEAR(energy(run, 8), exact, 1e-12 * exact);
    for (int q = 0; q < 4; ++q) {
      EXPECT_NEAR(run.recovered("sxx", q), young * kappa * run.recovered("y", q), 1e-12);
      EXPECT_NEAR(run.recovered("syy", q), 0, 1e-12);
      EXPECT_NEAR(run.recovered("sxy", q), 0, 1e-12);
      EXPECT_NEAR(run.recovered("ezz", q), -poisson * kappa * run.recovered("y", q), 1e-14);
    }
  }
}

TEST(Formulations, IncompatibleBoxBendsAsABeamDoes) {
  // u = κ (x y, −(x² + ν (y² − z²))/2, −ν y z): σ_xx = E κ y, all else zero.
  const double a = 8, b = 1, c = 1.5, kappa = 0.01;
  const Nodes x = box(a, b, c);
  ElementRun run("solid.hex8"), full("solid.hex8.full");
  for (ElementRun* r : {&run, &full}) {
    r->add(x, steel());
    for (int i = 0; i < 8; ++i) {
      double* u = r->unknowns(0) + 3 * i;
      u[0] = kappa * x[i][0] * x[i][1];
      u[1] = -kappa / 2 * (x[i][0] * x[i][0] + poisson * (x[i][1] * x[i][1] - x[i][2] * x[i][2]));
      u[2] = -poisson * kappa * x[i][1] * x[i][2];
    }
  }
  const double exact = 0.5 * young * (2 * c * 2 * b * b * b / 3) * kappa * kappa * 2 * a;
  EXPECT_NEAR(energy(run, 24), exact, 1e-12 * exact);
  EXPECT_GT(energy(full, 24), 10 * exact);
  for (int q = 0; q < 8; ++q) {
    EXPECT_NEAR(run.recovered("sxx", q), young * kappa * run.recovered("y", q), 1e-12);
    for (const char* zero : {"syy", "szz", "sxy", "syz", "sxz"}) EXPECT_NEAR(run.recovered(zero, q), 0, 1e-12);
  }
}

TEST(Formulations, IncompatibleRectangleBendsFreelyUnderAThermalGradient) {
  // T = T' y: free of stress with u_x = α T' x y, u_y = α T' (y² − x²)/2 (plane stress).
  const double a = 5, b = 1, slope = 3;
  const Nodes x = rectangle(a, b);
  ElementRun run("plane_stress.quad4");
  run.add(x, steel());
  std::vector<double> temperature;
  for (int i = 0; i < 4; ++i) {
    temperature.push_back(20 + slope * x[i][1]);
    run.unknowns(0)[2 * i] = expansion * slope * x[i][0] * x[i][1];
    run.unknowns(0)[2 * i + 1] = expansion * slope * (x[i][1] * x[i][1] - x[i][0] * x[i][0]) / 2;
  }
  run.set_temperatures(temperature, 20);
  EXPECT_LT(run.residual().cwiseAbs().maxCoeff(), 1e-12 * young * expansion * slope * a);
  for (int q = 0; q < 4; ++q)
    for (const char* zero : {"sxx", "syy", "sxy"}) EXPECT_NEAR(run.recovered(zero, q), 0, 1e-12);
}

/// Stiff motions of a nearly incompressible element: eigenvalues of the order of the bulk modulus.
int volumetric_motions(const std::string& type, const Nodes& x) {
  const double nu = 0.5 - 1e-8;
  ElementRun run(type);
  run.add(x, steel(nu));
  const Eigen::VectorXd values = testing::symmetric_eigenvalues(run.tangent());
  int count = 0;
  for (int i = 0; i < values.size(); ++i) count += values[i] > 1e4 * young ? 1 : 0;
  return count;
}

TEST(Formulations, BBarAndReducedResistOneChangeOfVolumeOnly) {
  // One constraint per element instead of one per point: that is what keeps a mesh from locking as ν → ½.
  const Nodes quad = {{1.0, -1.0, 0}, {3.1, -0.8, 0}, {2.8, 1.2, 0}, {1.2, 0.9, 0}};
  Nodes hex = box(1, 1.2, 0.9);
  hex[6] = {1.2, 1.1, 1.1};
  for (const char* form : {"bbar", "reduced"}) {
    EXPECT_EQ(volumetric_motions(std::string("solid.hex8.") + form, hex), 1);
    EXPECT_EQ(volumetric_motions(std::string("plane_strain.quad4.") + form, quad), 1);
    EXPECT_EQ(volumetric_motions(std::string("axisymmetric.quad4.") + form, quad), 1);
  }
  EXPECT_GT(volumetric_motions("solid.hex8.full", hex), 4);
  EXPECT_GT(volumetric_motions("plane_strain.quad4.full", quad), 1);
}

TEST(Formulations, HourglassStiffnessOfASquareIsWhatTheDocsSay) {
  // Square of side h, u_x = (1, −1, 1, −1): strain-free at the centre. γ · u = 4, Σ b² = 2/h², V = h²:
  // energy ½ · 0.1 μ/16 · V · Σ b² · 4² = 0.1 μ.
  const double h = 3, mu = young / (2 * (1 + poisson));
  ElementRun run("plane_strain.quad4.reduced");
  run.add(rectangle(h / 2, h / 2), steel());
  for (int i = 0; i < 4; ++i) run.unknowns(0)[2 * i] = i % 2 ? -1 : 1;
  EXPECT_NEAR(energy(run, 8), 0.1 * mu, 1e-12 * mu);
  EXPECT_NEAR(run.recovered("exx", 0), 0, 1e-15);
  const Eigen::VectorXd u = Eigen::Map<Eigen::VectorXd>(run.unknowns(0), 8);
  EXPECT_NEAR(0.5 * u.dot(run.residual()), 0.1 * mu, 1e-12 * mu);
}

/// A block of 2 × 2 (× 2) elements with crooked nodes; the force on the one inner node of a linear displacement field.
double inner_force(const std::string& type, int dim, bool ring) {
  const ElementProgram& program = ElementLibrary::instance().find(type).program();
  const auto node = [dim, ring](int i, int j, int k) -> std::array<double, 3> {
    const bool inner = i == 1 && j == 1 && (dim == 2 || k == 1);
    std::array<double, 3> x = {static_cast<double>(i), static_cast<double>(j), dim == 3 ? static_cast<double>(k) : 0.0};
    // Outer nodes are moved too, so that faces are not plane and no element is a parallelepiped.
    x[0] += 0.1 * std::sin(3.0 * i + 5.0 * j + 7.0 * k) + (inner ? 0.2 : 0);
    x[1] += 0.1 * std::cos(2.0 * i + 3.0 * j + 4.0 * k) - (inner ? 0.1 : 0);
    if (dim == 3) x[2] += 0.1 * std::sin(1.0 * i + 4.0 * j + 2.0 * k) + (inner ? 0.15 : 0);
    if (ring) x[0] += 2;
    return x;
  };
  Eigen::Matrix3d g;
  g << 0.3, -0.5, 0.2, 0.7, 0.4, 0.1, -0.3, 0.6, -0.8;
  // In a ring a constant stress is in equilibrium if it has no shear and equal radial and hoop stress.
  if (ring) g << 0.3, 0, 0, 0, 0.4, 0, 0, 0, 0;
  Eigen::VectorXd force = Eigen::VectorXd::Zero(dim);
  double scale = 0;
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j)
      for (int k = 0; k < (dim == 3 ? 2 : 1); ++k) {
        Nodes x;
        int own = -1;
        for (int c = 0; c < (dim == 3 ? 8 : 4); ++c) {
          const int di = c % 4 == 1 || c % 4 == 2, dj = c % 4 >= 2, dk = c / 4;
          if (i + di == 1 && j + dj == 1 && (dim == 2 || k + dk == 1)) own = c;
          x.push_back(node(i + di, j + dj, k + dk));
        }
        ElementRun run(program);
        run.add(x, steel());
        for (std::size_t c = 0; c < x.size(); ++c)
          for (int d = 0; d < dim; ++d)
            run.unknowns(0)[c * dim + d] = g.row(d).dot(Eigen::Vector3d(x[c].data())) + (ring && d == 0 ? 0.0 : 1.0);
        const Eigen::VectorXd r = run.residual();
        force += r.segment(own * dim, dim);
        scale = std::max(scale, r.cwiseAbs().maxCoeff());
      }
  return force.cwiseAbs().maxCoeff() / scale;
}

TEST(Formulations, PassThePatchTest) {
  for (const std::string form : {"full", "reduced", "bbar", "incompatible"}) {
    EXPECT_LT(inner_force("solid.hex8." + form, 3, false), 1e-13) << form;
    EXPECT_LT(inner_force("plane_strain.quad4." + form, 2, false), 1e-13) << form;
    if (form != "bbar") {
      EXPECT_LT(inner_force("plane_stress.quad4." + form, 2, false), 1e-13) << form;
    }
  }
  // A ring's 2 × 2 points integrate σ · B r exactly for every constant stress, since B r has degree two at most.
  for (const std::string form : {"full", "reduced", "bbar", "incompatible"})
    EXPECT_LT(inner_force("axisymmetric.quad4." + form, 2, true), 1e-13) << form;
}

TEST(Formulations, PlaneStressHasNoBBar) {
  // It does not lock: the strain across the plane is free.
  EXPECT_EQ(ElementLibrary::instance().find_if("plane_stress.quad4.bbar"), nullptr);
}

/// A kernel with R = double against the program, which computes packs.
template <class Kernel>
void compare_with_scalar(const std::string& type, const Nodes& x) {
  ElementRun run(type);
  run.add(x, steel());
  typename Kernel::template Input<double> e{};
  const Parameters p = steel();
  double table[1 + Kernel::parameter_count] = {0};
  for (int i = 0; i < Kernel::parameter_count; ++i) table[1 + i] = p.at(Kernel::parameters[i]);
  e.table = table, e.table_rows = 1;
  std::vector<double> temperature;
  for (int a = 0; a < Kernel::nodes; ++a) {
    e.temperature[a] = 20 + a * a;
    e.initial_temperature[a] = 20;
    temperature.push_back(e.temperature[a]);
    for (int k = 0; k < 3; ++k) e.x[a][k] = x[a][k];
  }
  e.has_temperature = true, e.expansion_reference = 20;
  run.set_temperatures(temperature, 20);
  for (int i = 0; i < Kernel::dofs; ++i) run.unknowns(0)[i] = e.u[i] = std::sin(i + 1.0);
  double upper[Kernel::entries], r[Kernel::dofs];
  EXPECT_GT(Kernel::tangent(e, upper), 0);
  EXPECT_GT(Kernel::residual(e, r), 0);
  const Eigen::MatrixXd k = run.tangent();
  const Eigen::VectorXd f = run.residual();
  for (int i = 0, at = 0; i < Kernel::dofs; ++i) {
    EXPECT_NEAR(r[i], f[i], 1e-13 * f.cwiseAbs().maxCoeff());
    for (int j = i; j < Kernel::dofs; ++j, ++at) EXPECT_NEAR(upper[at], k(i, j), 1e-13 * k.cwiseAbs().maxCoeff());
  }
}

TEST(Formulations, PacksComputeWhatSingleNumbersDo) {
  Nodes hex = box(1, 1.2, 0.9);
  hex[6] = {1.2, 1.1, 1.1};
  compare_with_scalar<PointElement<Solid, Hex8, Full>>("solid.hex8.full", hex);
  compare_with_scalar<PointElement<Solid, Hex8, Incompatible>>("solid.hex8.incompatible", hex);
  const Nodes quad = {{1.0, -1.0, 0}, {3.1, -0.8, 0}, {2.8, 1.2, 0}, {1.2, 0.9, 0}};
  compare_with_scalar<PointElement<Axisymmetric, Quad4, BBar>>("axisymmetric.quad4.bbar", quad);
  compare_with_scalar<PointElement<PlaneStrain, Quad4, Reduced>>("plane_strain.quad4.reduced", quad);
}

}  // namespace
}  // namespace voussoir
