// Natural frequencies against published and closed-form cases.
#include <voussoir/solvers/eigen/eigen_solvers.hpp>

#include "validation/support.hpp"

namespace voussoir::validation {
namespace {

ModeSet lowest(const Domain& domain, int count, MassKind mass = MassKind::consistent) {
  ModalOptions options;
  options.mass = mass;
  EigenRequest request;
  request.modes = count;
  return make_modal_analysis(domain, options)->solve(request);
}

/// NAFEMS FV32: a cantilever membrane, 10 long, from 5 to 1 wide, clamped at its wide end. The reference solution is
/// 44.623 130.03 162.70 246.05 379.90 391.44 Hz.
void build_tapered_membrane(Domain& domain, const std::string& type, int along, int across) {
  BoxMesh mesh;
  mesh.type = type;
  mesh.cells = {along, across, 1};
  mesh.map = [](double s, double t, double) { return Position{10 * s, (t - 0.5) * (5 - 4 * s), 0}; };
  add_box_mesh(domain, mesh).set_material(elastic(200e9, 0.3, 8000)).set_section("thickness", 0.05);
  domain.prescribe("xmin", "all");
}

TEST(FreeVibration, NafemsFv32TaperedMembraneOfQuad8) {
  const double reference[] = {44.623, 130.03, 162.70, 246.05, 379.90, 391.44},
               mesh_16_8[] = {44.623, 130.034, 162.698, 246.053, 379.898, 391.436};
  Domain domain;
  build_tapered_membrane(domain, "plane_stress.quad8", 16, 8);
  const ModeSet modes = lowest(domain, 6);
  EXPECT_EQ(modes.report.completeness, Completeness::verified) << modes.report.statement;
  for (int m = 0; m < 6; ++m) {
    expect_relative(modes.frequency(m), reference[m], 1e-4, "NAFEMS, mode " + std::to_string(m + 1));
    expect_relative(modes.frequency(m), mesh_16_8[m], 2e-5, "mode " + std::to_string(m + 1));
    EXPECT_LT(modes.report.modes[static_cast<std::size_t>(m)].residual, 1e-8);
  }
}

/// A simply supported beam of solid elements: f = (π/2) √(EI/ρA) / L², less what shear and rotary inertia take off
/// (Timoshenko's first-order correction, 1 − (π r/L)² (1 + E/κG)/2).
TEST(FreeVibration, SimplySupportedBeamOfHex20) {
  const double length = 20, height = 1, width = 0.8, young = 2e11, poisson = 0.3, density = 7800;
  Domain domain;
  BoxMesh mesh;
  mesh.type = "solid.hex20";
  mesh.cells = {20, 1, 2};
  mesh.upper = {length, width, height};
  add_box_mesh(domain, mesh).set_material(elastic(young, poisson, density));
  // Held at mid-height of both ends against vertical motion; sideways in the plane of symmetry.
  domain.add_node_set_where("left", [&](double x, double, double z) { return x == 0 && std::abs(z - 0.5) < 1e-9; });
  domain.add_node_set_where("right", [&](double x, double, double z) { return x == 20 && std::abs(z - 0.5) < 1e-9; });
  domain.add_node_set_where("side", [](double, double y, double) { return y == 0; });
  for (const char* end : {"left", "right"}) domain.prescribe(end, "uz");
  domain.prescribe("left", "ux");
  domain.prescribe("side", "uy");
  const ModeSet modes = lowest(domain, 2);
  const double inertia_by_area = height * height / 12, kappa = 10 * (1 + poisson) / (12 + 11 * poisson),
               shear = young / (2 * (1 + poisson));
  for (int n = 1; n <= 2; ++n) {
    const double wave = n * pi / length;
    const double bernoulli = wave * wave * std::sqrt(young * inertia_by_area / density) / (2 * pi);
    const double correction = 1 - 0.5 * wave * wave * inertia_by_area * (1 + young / (kappa * shear));
    expect_relative(modes.frequency(n - 1), bernoulli * correction, 3e-3, "mode " + std::to_string(n));
  }
}

}  // namespace
}  // namespace voussoir::validation
