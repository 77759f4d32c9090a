// A coupled element of a user's own, against a closed form: a bar between two walls, warm at one end.
//   thermo_elastic BACKEND...

#include <voussoir/framework/mesh/structured_mesh.hpp>
#include <voussoir/voussoir.hpp>

#include <cmath>
#include <cstdio>
#include <memory>

using namespace voussoir;

namespace {

/// T = t x along a bar of unit length and cross-section, fixed at both ends, and E = 2 μ since λ = 0: the stress is
/// −E α t / 2, the displacement α t (x² − x) / 2, and the heat that flows in at the warm end k t.
bool check(const std::string& backend) {
  constexpr double shear = 80, strain = 1e-3, conductivity = 5, warm = 3;
  auto metal = std::make_shared<Material>("metal");
  metal->set("lame", 0).set("shear", shear).set("thermal_strain", strain).set("conductivity", conductivity);
  Domain domain;
  BoxMesh mesh;
  mesh.type = "thermo_elastic.hex8";
  mesh.cells = {8, 1, 1};
  add_box_mesh(domain, mesh).set_material(metal);
  domain.add_node_set_where("all", [](double, double, double) { return true; });
  domain.prescribe("all", "uy");
  domain.prescribe("all", "uz");
  for (const char* end : {"xmin", "xmax"}) domain.prescribe(end, "ux");
  domain.prescribe("xmin", "T");
  domain.prescribe("xmax", "T", warm);
  const StepResult result = make_static_analysis(domain, Backend::open(backend))->run().front();
  double error = 0;
  for (std::int32_t n = 0; n < domain.node_count(); ++n) {
    const double x = domain.coordinates()[3 * n];
    error = std::max(error, std::abs(result.unknowns.at(n, "T") - warm * x) / warm);
    error = std::max(error, std::abs(result.unknowns.at(n, "ux") / (strain * warm) - (x * x - x) / 2));
  }
  const double force = sum_over(result.reactions, domain, "xmax", "ux"), pushed = -shear * strain * warm;
  const double heat = sum_over(result.reactions, domain, "xmax", "T"), inflow = conductivity * warm;
  std::printf("%-8s thermo-elastic bar: error %.1e, force %.10g (exact %.10g), heat %.10g (exact %.10g)\n",
              backend.c_str(), error, force, pushed, heat, inflow);
  return error < 1e-10 && std::abs(force - pushed) < 1e-10 * std::abs(pushed) &&
         std::abs(heat - inflow) < 1e-10 * inflow;
}

}  // namespace

int main(int count, char** backends) try {
  bool right = count > 1;
  for (int i = 1; i < count; ++i) right = check(backends[i]) && right;
  std::printf(right ? "all checks passed\n" : "WRONG\n");
  return right ? 0 : 1;
} catch (const Error& error) {
  std::printf("%s\n", error.what());
  return 1;
}
