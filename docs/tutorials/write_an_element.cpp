// The program of write_an_element.md: an element, a material, a prototype by virtual functions, and an analysis.

#include <voussoir/elements/check_tangent.hpp>
#include <voussoir/framework/domain/host_element.hpp>
#include <voussoir/framework/mesh/structured_mesh.hpp>
#include <voussoir/voussoir.hpp>

#include <cmath>
#include <cstdio>
#include <memory>

using namespace voussoir;

namespace {

// --- a material that computes its numbers -----------------------------------------------------------------------

/// Silicon, whose stiffness falls a little with temperature.
class Silicon : public Material {
 public:
  Silicon() : Material("silicon") {}
  bool has(std::string_view parameter) const override { return parameter[0] == 'C' || parameter == "density"; }
  double value(std::string_view parameter, double temperature) const override {
    const double warm = 1 - 6e-5 * (temperature - 20);
    if (parameter == "C11") return 165.7e9 * warm;
    if (parameter == "C12") return 63.9e9 * warm;
    if (parameter == "C44") return 79.6e9 * warm;
    return 2329;
  }
  std::vector<double> temperatures() const override { return {20, 420}; }  // linear between these
};

// --- a prototype: one element at a time, on the CPU --------------------------------------------------------------

/// A rubber mount: stiff along the line from its first to its second node, soft across it.
class Mount : public HostElement {
 public:
  int nodes() const override { return 2; }
  std::vector<std::string> unknown_names() const override { return {"ux", "uy", "uz"}; }
  std::vector<std::string> parameter_names() const override { return {"along", "across"}; }
  void tangent(const HostElementData& e, std::span<double> matrix) const override {
    double d[3], length = 0;
    for (int i = 0; i < 3; ++i) {
      d[i] = e.x[1][i] - e.x[0][i];
      length += d[i] * d[i];
    }
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) {
        const double k = (e.parameters[0] - e.parameters[1]) * d[i] * d[j] / length + (i == j ? e.parameters[1] : 0);
        for (int a = 0; a < 2; ++a)
          for (int b = 0; b < 2; ++b) matrix[(3 * a + i) * 6 + 3 * b + j] = a == b ? k : -k;
      }
  }
};

// --- an analysis -------------------------------------------------------------------------------------------------

/// Pulls a block of the material and reads its Young's modulus off the force.
class TensileTest : public StaticAnalysis {
 public:
  using StaticAnalysis::StaticAnalysis;
  double young() {
    const StepResult result = run().front();
    return sum_over(result.reactions, domain(), "xmax", "ux") / 1e-3;  // unit area, strain 1e-3
  }
};

double measured_young(const std::string& type, const std::string& backend) {
  Domain domain;
  BoxMesh cube;
  cube.type = type;
  cube.cells = {3, 3, 3};
  cube.distortion = 0.2;
  add_box_mesh(domain, cube).set_material(std::make_shared<Silicon>());
  domain.prescribe("xmin", "ux");
  domain.prescribe("ymin", "uy");
  domain.prescribe("zmin", "uz");
  domain.prescribe("xmax", "ux", 1e-3);
  domain.set_reference_temperature(20);
  StaticOptions options;
  options.backend = backend;
  return TensileTest(domain, make_static_analysis(domain, options)->collaborators()).young();
}

int failures = 0;
void expect(const char* what, double got, double wanted, double tolerance) {
  const bool ok = std::abs(got - wanted) <= tolerance * std::abs(wanted);
  std::printf("%-40s %12.6g  wanted %12.6g  %s\n", what, got, wanted, ok ? "ok" : "WRONG");
  failures += !ok;
}

}  // namespace

int main() try {
  // 1. Is the tangent the derivative of the residual?
  const std::vector<double> corners{0, 0, 0, 1, 0.1, 0, 1.1, 1, 0, 0, 1, 0.1, 0, 0, 1, 1, 0, 1.2, 1, 1, 1, 0.1, 1, 1};
  const std::vector<double> silicon{165.7, 63.9, 79.6, 2329};
  const TangentReport report =
      check_tangent(ElementLibrary::instance().find("cubic_crystal.hex8").program(), corners, silicon);
  std::printf("%s\n", report.text.c_str());
  failures += !report.good();

  // 2. Young's modulus along a cube edge is (C11 − C12)(C11 + 2 C12) / (C11 + C12), on every shape and backend.
  const double young = (165.7e9 - 63.9e9) * (165.7e9 + 2 * 63.9e9) / (165.7e9 + 63.9e9);
  for (const char* shape : {"hex8", "hex20", "tet10"})
    for (const char* backend : {"openmp", "debug:2"})
      expect((std::string(shape) + " on " + backend).c_str(),
             measured_young(std::string("cubic_crystal.") + shape, backend), young, 1e-6);

  // 3. The prototype: two mounts in series carry a force.
  register_host_element("mount", "line2", std::make_shared<Mount>());
  Domain domain;
  domain.add_node(1, 0, 0);
  domain.add_node(2, 1, 0);
  domain.add_node(3, 2, 0);
  ElementBlock& mounts = domain.add_block("mounts", "mount").set_section("along", 1000).set_section("across", 10);
  mounts.add(1, {1, 2});
  mounts.add(2, {2, 3});
  domain.add_node_set("wall", {1});
  domain.add_node_set("end", {3});
  domain.prescribe("wall", "all");
  domain.add_load_case("pull").nodal("end", "ux", 5).nodal("end", "uy", 1);
  const StepResult result = make_static_analysis(domain)->run().front();
  expect("mounts, along", result.unknowns.at(domain.node_index(3), "ux"), 2 * 5.0 / 1000, 1e-12);
  expect("mounts, across", result.unknowns.at(domain.node_index(3), "uy"), 2 * 1.0 / 10, 1e-12);
  return failures ? 1 : 0;
} catch (const Error& error) {
  std::printf("%s\n", error.what());
  return 1;
}
