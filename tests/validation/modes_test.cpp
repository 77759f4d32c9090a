// Natural frequencies and mode superposition against published and closed-form cases.
#include <algorithm>
#include <cstdlib>

#include <voussoir/framework/io/accelerogram/accelerogram_reader.hpp>
#include <voussoir/framework/response/modal_time_history.hpp>
#include <voussoir/framework/response/response_spectrum.hpp>
#include <voussoir/solvers/eigen/eigen_solvers.hpp>
#include <voussoir/solvers/eigen/mode_superposition_problem.hpp>

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

TEST(FreeVibration, NafemsFv32TaperedMembraneOfQuad4) {
  const int meshes[2][2] = {{16, 8}, {8, 4}};
  const double published[2][6] = {{44.905, 132.116, 162.832, 252.990, 393.315, 396.263},
                                  {45.714, 138.066, 163.211, 272.770, 398.811, 442.957}};
  for (int k = 0; k < 2; ++k) {
    Domain domain;
    build_tapered_membrane(domain, "plane_stress.quad4.full", meshes[k][0], meshes[k][1]);
    const ModeSet modes = lowest(domain, 6);
    for (int m = 0; m < 6; ++m)
      expect_relative(
          modes.frequency(m), published[k][m], 1e-4,
          std::to_string(meshes[k][0]) + " × " + std::to_string(meshes[k][1]) + ", mode " + std::to_string(m + 1));
  }
}

/// A free cube of side 1 with E = ρ = 1 and ν = 0.3, 8 × 8 × 8 quadratic bricks: ω of the modes above the six rigid
/// ones, of which most come in pairs and triples.
TEST(FreeVibration, FreeCubeOfHex20HasAllItsRepeatedModes) {
  const std::pair<double, int> published[] = {{1.771472, 2}, {2.385540, 3}, {2.425948, 3}, {2.755454, 2},
                                              {2.755556, 1}, {2.836700, 3}, {2.972525, 3}};
  Domain domain;
  BoxMesh mesh;
  mesh.type = "solid.hex20";
  mesh.cells = {8, 8, 8};
  add_box_mesh(domain, mesh).set_material(elastic(1, 0.3, 1));
  const ModeSet modes = lowest(domain, 23);
  EXPECT_EQ(modes.report.completeness, Completeness::verified) << modes.report.statement;
  ASSERT_EQ(modes.count(), 23);
  int m = 0;
  for (; m < 6; ++m) EXPECT_TRUE(modes.report.modes[static_cast<std::size_t>(m)].free) << m;
  for (const auto& [omega, times] : published)
    for (int k = 0; k < times; ++k, ++m)
      expect_relative(2 * pi * modes.frequency(m), omega, 1e-6, "mode " + std::to_string(m + 1));
}

/// A beam without supports: βL = 4.7300, 7.8532, 10.9956 in pairs, above six rigid motions and below torsion.
TEST(FreeVibration, FreeBeamFollowsEulerAndBernoulli) {
  const int parts = 40;
  const double young = 2e11, density = 7850, area = 1e-4, inertia = 1e-10, length = 2;
  Domain domain;
  for (int i = 0; i <= parts; ++i) domain.add_node(i + 1, length * i / parts, 0, 0);
  ElementBlock& block = domain.add_block("beam", "beam");
  block.set_material(elastic(young, 0.25, density));
  block.set_section("shear_modulus", 8e10).set_section("area", area).set_section("torsion", 2 * inertia);
  block.set_section("inertia_y", inertia).set_section("inertia_z", inertia);
  block.set_section("shear_area_y", 0).set_section("shear_area_z", 0);
  block.set_section("orientation_x", 0).set_section("orientation_y", 1).set_section("orientation_z", 0);
  for (int i = 0; i < parts; ++i) block.add(i + 1, {i + 1, i + 2});
  const ModeSet modes = lowest(domain, 12);
  const double beta[] = {4.7300407449, 7.8532046241, 10.9956078380};
  for (int k = 0; k < 6; ++k) {
    const double exact = std::pow(beta[k / 2] / length, 2) * std::sqrt(young * inertia / (density * area)) / (2 * pi);
    expect_relative(modes.frequency(6 + k), exact, 5e-5, "mode " + std::to_string(7 + k));
  }
}

/// K = (50 −20 0; −20 30 −10; 0 −10 10) is a chain of springs 30, 20 and 10 from the ground on.
TEST(FreeVibration, ThreeMassesOnAChainOfSprings) {
  Domain domain;
  const double stiffness[] = {30, 20, 10}, mass[] = {11.1, 22.2, 33.3},
               published[] = {.139300647653736, 1.05865310768512, 4.9582024008173};
  for (int i = 0; i <= 3; ++i) domain.add_node(i + 1, i, 0, 0);
  for (int i = 0; i < 3; ++i) {
    ElementBlock& bar = domain.add_block("spring" + std::to_string(i), "truss");
    bar.set_material(elastic(stiffness[i], 0)).set_section("area", 1);
    bar.add(i + 1, {i + 1, i + 2});
    domain.add_block("mass" + std::to_string(i), "mass").set_section("mass", mass[i]).add(i + 11, {i + 2});
  }
  domain.add_node_set_where("all", [](double, double, double) { return true; });
  domain.prescribe("all", "uy");
  domain.prescribe("all", "uz");
  domain.prescribe_at(1, "ux");
  const ModeSet modes = lowest(domain, 3);
  for (int m = 0; m < 3; ++m) expect_relative(modes.eigenvalue(m), published[m], 1e-12, "λ" + std::to_string(m + 1));
}

TEST(ForcedVibration, Nafems5tDeepBeamOfHex20ByItsModes) {
  Domain domain;
  const Id centre = build_deep_beam(domain);
  const auto analysis = make_modal_analysis(domain, ModalOptions{});
  EigenRequest request;
  request.modes = 20;
  analysis->solve(request);
  ModeSuperposition beam = make_mode_superposition(*analysis);
  beam.set_damping(ModalDamping::rayleigh(5.36, 7.46e-5));
  beam.add_load_case("load");
  const std::vector<double> times = even_times(0, 0.02, 1e-4);
  const std::vector<double> u = beam.time_history(times).history(centre, "uy");
  const auto peak = static_cast<std::size_t>(std::min_element(u.begin(), u.end()) - u.begin());
  expect_relative(-u[peak], 1.0510e-3, 2e-4, "peak");
  expect_relative(times[peak], 0.0117, 1e-9, "time of the peak");
  expect_relative(-u[peak], 1.043e-3, 0.02, "NAFEMS");
  const double at_rest = -beam.time_history(std::vector<double>{5}).history(centre, "uy")[0];
  expect_relative(at_rest, 0.5402e-3, 2e-4, "at rest");
}

/// The largest displacement of an oscillator under an accelerogram, at the times of its points.
double largest_at_points(const Accelerogram& quake, double period, double ratio) {
  ModalTimeHistory oscillator(ModalSystem({2 * pi / period}, ModalDamping::ratio(ratio)));
  oscillator.add_base_acceleration(std::vector<double>{1}, quake);
  const std::vector<double> times(quake.times().begin(), quake.times().end());
  double largest = 0;
  for (const double u : oscillator.coordinates(times, ModalQuantity::displacement).values)
    largest = std::max(largest, std::abs(u));
  return largest;
}

/// El Centro 1940, north–south, as in Chopra's book: the largest displacements of oscillators at the points of the
/// record, in inches, integrated exactly between them; then a spectrum for 5 % damping in metres. The record is not
/// part of this project: VOUSSOIR_ELCENTRO names a file with its values in g at steps of 0.02 s, eight in a line.
TEST(ForcedVibration, ElCentroAsInChoprasBook) {
  const char* const file = std::getenv("VOUSSOIR_ELCENTRO");
  if (!file) GTEST_SKIP() << "VOUSSOIR_ELCENTRO does not name the record";
  AccelerogramFormat format;
  format.layout = AccelerogramLayout::many_values;
  format.time_step = 0.02;
  format.scale = 386.4;
  const Accelerogram inches = read_accelerogram(file, format);
  ASSERT_GE(inches.times().size(), 1559u);
  const double cases[][3] = {
      {0.5, 0.02, 2.6771}, {1, 0.02, 5.9728}, {2, 0.02, 7.4733}, {2, 0, 9.9226}, {2, 0.05, 5.3775}};
  for (const auto& [period, ratio, peak] : cases)
    expect_relative(largest_at_points(inches, period, ratio), peak, 2e-5,
                    "T = " + std::to_string(period) + ", ζ = " + std::to_string(ratio));
  format.scale = 9.80665;
  const Accelerogram metres = read_accelerogram(file, format);
  const double spectrum[][2] = {{.1, 1.509134e-3}, {.2, 7.874904e-3}, {.3, 1.666584e-2}, {.5, 5.689470e-2},
                                {1, .1128125},     {2, .1364793},     {3, .2746916}};
  for (const auto& [period, displacement] : spectrum) {
    expect_relative(largest_at_points(metres, period, 0.05), displacement, 1e-6, "T = " + std::to_string(period));
    // Peaks between the points are no smaller.
    EXPECT_GE(oscillator_peaks(metres, std::vector<double>{period}, 0.05)[0].displacement, displacement * (1 - 1e-6));
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
